//! What a review or comment says about the result: findings, a count, a verdict, or the state of a run (L3).

use super::{PostUnderReading, bodies, first_group, head};
use crate::domain::post::{ParsedPost, PostClass, PostPlace, PostThreads, ResultClaim, StatusRow};
use crate::domain::review_loop::PostContent;
use crate::domain::vocabulary::{Sha, Stance};
use crate::reviewers::document::PostLine;
use crate::reviewers::pattern::Pattern;
use crate::reviewers::profile::{MarkPosition, RunStatus, StatusMark, Verdict};
use std::sync::LazyLock;

/// Bytes at which GitHub refuses a post. Reviewers cut longer texts.
const LONGEST_ON_GITHUB: usize = 65_000;
const A_RUN_FAILED: &str = "its status table says that a review failed";
/// Threads that one post lists; nobody lists more.
const MOST_LISTED: usize = 1_000;

/// Reads a post about the pull request as a whole. It is a finished review only by a positive sign.
pub(super) fn summary(post: &PostUnderReading<'_>, place: PostPlace) -> ParsedPost {
    let profile = post.profile;
    if post.has(&profile.introduction) {
        return ParsedPost::without_result(PostClass::Summary, PostContent::NotReady);
    }
    let findings = bodies::findings(post);
    let claim = claim(post, findings.len());
    let seeks_change =
        !findings.is_empty() || claim.announced > Some(0) || claim.verdict == Some(Stance::SeeksChange);
    let stance = if seeks_change { Some(Stance::SeeksChange) } else { claim.verdict };
    let nothing_said = PostContent::Unreadable("nothing in it says how the review ended".to_owned());
    let unsigned = if post.has(&profile.walkthrough) { PostContent::NotReady } else { nothing_said };
    let mut reading =
        ParsedPost { findings, stance, claim, ..ParsedPost::without_result(PostClass::Summary, unsigned) };
    let content = reading.content_with(PostThreads::default(), None);
    if matches!(reading.content, PostContent::Unreadable(_))
        && content == reading.content
        && place == PostPlace::Comment
        && is_answer(post)
    {
        return ParsedPost::without_result(PostClass::Reply, PostContent::NotReady);
    }
    reading.content = content;
    reading
}

/// Whether a short comment plainly answers somebody: it begins with a mention and has no list, heading or
/// picture that could hold findings.
fn is_answer(post: &PostUnderReading<'_>) -> bool {
    static MENTION: LazyLock<Pattern> =
        LazyLock::new(|| Pattern::from(r"^`?@[A-Za-z0-9][A-Za-z0-9-]*(?:\[bot\])?`?[\s,:!.]".to_owned()));
    let is_plain = |line: &PostLine| line.item.is_none() && line.heading == 0 && line.badges.is_empty();
    post.is_short
        && post.document.lead().is_some_and(|line| MENTION.matches(head(&line.text)))
        && post.document.lines.iter().all(is_plain)
}

fn claim(post: &PostUnderReading<'_>, findings: usize) -> ResultClaim {
    ResultClaim {
        announced: announced(post),
        verdict: verdict(post),
        unreadable: unreadable_part(post, findings),
        listed_threads: listed_threads(post),
    }
}

fn verdict(post: &PostUnderReading<'_>) -> Option<Stance> {
    let has = |verdict: Verdict| {
        let mut marks = post.profile.verdict.iter().filter(|mark| mark.is == verdict);
        marks.any(|mark| post.has_at(mark.at, &mark.pattern))
    };
    if has(Verdict::Changes) {
        Some(Stance::SeeksChange)
    } else {
        (has(Verdict::Clean) || post.has(&post.profile.clean)).then_some(Stance::Accepts)
    }
}

/// The largest number of findings that a line or the title of a folded section states. A line may state one
/// number for each severity; they add up.
fn announced(post: &PostUnderReading<'_>) -> Option<usize> {
    let lines = || post.open_lines().chain(post.summaries());
    let counts = post.profile.count.iter().flat_map(|pattern| {
        lines().filter_map(|line| first_group(pattern, head(&line.text)).map(|text| sum(&text)))
    });
    counts.max()
}

fn sum(text: &str) -> usize {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
    numbers.fold(0, usize::saturating_add)
}

/// Why a part of the post may hold findings that were not read: its end is missing, a section announces more
/// findings than it has, or a section with a number is unknown.
fn unreadable_part(post: &PostUnderReading<'_>, findings: usize) -> Option<String> {
    if post.document.is_cut_off || post.body.len() >= LONGEST_ON_GITHUB {
        return Some("its end is missing".to_owned());
    }
    let profile = post.profile;
    let mut in_sections: usize = 0;
    let mut section_depth = None;
    for line in post.summaries() {
        if section_depth.is_some_and(|depth| line.folded > depth) {
            continue;
        }
        section_depth = None;
        let text = head(&line.text);
        if profile.body_sections.iter().any(|mark| mark.pattern.matches(text)) {
            section_depth = Some(line.folded);
            in_sections = in_sections.saturating_add(title_count(text));
        } else if !profile.other_sections.iter().chain(&profile.count).any(|known| known.matches(text))
            && post.common.counted_sections.iter().any(|pattern| pattern.matches(text))
        {
            return Some(format!("its section \"{text}\" is unknown to the profile"));
        }
    }
    if in_sections > findings {
        let were = if findings == 1 { "was" } else { "were" };
        return Some(format!("its sections announce {in_sections} findings, and {findings} {were} found"));
    }
    None
}

/// The number in parentheses at the end of a section's title.
fn title_count(title: &str) -> usize {
    static COUNT: LazyLock<Pattern> = LazyLock::new(|| Pattern::from(r"\((\d+)\)\s*$".to_owned()));
    first_group(&COUNT, title).map_or(0, |number| sum(&number))
}

/// The threads that the post links to, as in the addresses of their comments.
fn listed_threads(post: &PostUnderReading<'_>) -> Vec<String> {
    let links = post.document.lines.iter().flat_map(|line| &line.links);
    let anchors = links.filter_map(|link| link.rsplit_once('#').map(|(_, anchor)| anchor));
    let listed = anchors.filter(|anchor| anchor.starts_with("discussion_r"));
    listed.take(MOST_LISTED).map(ToOwned::to_owned).collect()
}

/// Reads a table with a row for each of the reviewer's runs. It is a status: never a finding, never clean. A
/// row that names a commit and no known state cannot be read.
pub(super) fn status_table(post: &PostUnderReading<'_>) -> ParsedPost {
    let comments = post.document.comments.iter().map(String::as_str);
    let hidden = comments.filter_map(|comment| row(post, MarkPosition::Comment, head(comment), None));
    let rows = post.body.lines().filter(|line| line.contains('|')).filter_map(|line| {
        let text = head(line);
        row(post, MarkPosition::Line, text, row_commit(text))
    });
    let status: Vec<StatusRow> = hidden.chain(rows).collect();
    let is = |wanted: fn(&PostContent) -> bool| status.iter().any(|row| wanted(&row.content));
    let (class, content) = if is(|content| *content == PostContent::InProgress) {
        (PostClass::Failure, PostContent::InProgress)
    } else if is(|content| matches!(content, PostContent::Failure(_))) {
        (PostClass::Failure, PostContent::Failure(A_RUN_FAILED.to_owned()))
    } else {
        (PostClass::Summary, PostContent::NotReady)
    };
    ParsedPost { status, ..ParsedPost::without_result(class, content) }
}

fn row(
    post: &PostUnderReading<'_>,
    at: MarkPosition,
    text: &str,
    named: Option<String>,
) -> Option<StatusRow> {
    let is_at = |mark: &&StatusMark| (mark.at == MarkPosition::Comment) == (at == MarkPosition::Comment);
    let mut marks = post.profile.status.iter().filter(is_at);
    let mark = marks.find(|mark| mark.pattern.matches(text));
    let commit = mark.and_then(|mark| first_group(&mark.pattern, text)).or(named);
    let content = match mark.map(|mark| mark.is) {
        Some(RunStatus::Running) => PostContent::InProgress,
        Some(RunStatus::Completed) => PostContent::NotReady,
        Some(RunStatus::Failed) => PostContent::Failure(A_RUN_FAILED.to_owned()),
        None if commit.is_some() => {
            PostContent::Unreadable("its status table has a row in an unknown state".to_owned())
        }
        None => return None,
    };
    Some(StatusRow { content, commit: commit.map(|commit| Sha::from(commit.as_str())) })
}

/// The commit that a row of the table names.
fn row_commit(text: &str) -> Option<String> {
    static COMMIT: LazyLock<Pattern> = LazyLock::new(|| Pattern::from(r"`([0-9a-f]{7,40})`".to_owned()));
    first_group(&COMMIT, text)
}
