//! What a reviewer's post says, read with its profile: a post in, [`ParsedPost`] out.
//!
//! Marks are looked for where they mean something ([`MarkPosition`]) and nowhere else. Whatever a post does not state is left out:
//! no severity is guessed, no title is made up, and what cannot be told is no position.

mod bodies;
mod title;

use super::document::{PostDocument, PostLine, has_words};
use super::pattern::Pattern;
use super::profile::{Mark, MarkPosition, Profile};
use super::profiles::Common;
use crate::domain::place::LineRange;
use crate::domain::post::{ParsedPost, PostClass, PostPlace, ReportedFinding};
use crate::domain::review_loop::PostContent;
use crate::domain::vocabulary::{Category, FilePath, Severity, Sha, Stance};
use std::sync::Arc;

/// A notice says one thing. What is longer discusses something, and may name a rate limit while it does (trap of every
/// reviewer that reviews network code).
const LONGEST_NOTICE: usize = 1_500;
/// As much of a line or of a hidden comment as marks are looked for in, and as much of a post in all: more than the forge
/// lets anybody write, and few enough to be read at once whatever somebody makes of it.
const LONGEST_SPOT: usize = 4 << 10;
const LONGEST_POST: usize = 128 << 10;
/// As much of a reply as is read for what it says in words.
const LONGEST_REPLY: usize = 16 << 10;
/// As much of a notice as a sentence about it repeats.
const LONGEST_REASON: usize = 240;

pub(super) fn read(profile: &Profile, common: &Common, place: PostPlace, body: &str) -> ParsedPost {
    let document = PostDocument::parse(body);
    let is_short = document.open_length() <= LONGEST_NOTICE;
    let post = PostUnderReading { profile, common, body, document: &document, is_short };
    let commit = post.commit();
    let nothing = |class, content| ParsedPost {
        class,
        findings: Vec::new(),
        stance: None,
        content,
        commit: commit.clone(),
    };
    if !document.lines.iter().any(PostLine::has_words) && document.fences.is_empty() {
        return nothing(PostClass::Noise, PostContent::NotReady);
    }
    if post.has(&profile.failure) {
        return nothing(PostClass::Failure, PostContent::Failure(post.reason()));
    }
    if post.has(&profile.not_ready) {
        return nothing(PostClass::Failure, PostContent::NotReady);
    }
    if post.has(&profile.noise) {
        return nothing(PostClass::Noise, PostContent::NotReady);
    }
    match place {
        PostPlace::ThreadReply => {
            ParsedPost { stance: post.reply_stance(), ..nothing(PostClass::Reply, PostContent::NotReady) }
        }
        PostPlace::ThreadRoot => post.finding(commit),
        PostPlace::Review | PostPlace::Comment if post.has(&profile.finding) => post.finding(commit),
        PostPlace::Review | PostPlace::Comment => post.summary(commit),
    }
}

/// A post with everything that it is read by.
struct PostUnderReading<'a> {
    profile: &'a Profile,
    common: &'a Common,
    body: &'a str,
    document: &'a PostDocument,
    /// It could be a notice.
    is_short: bool,
}

impl PostUnderReading<'_> {
    fn finding(&self, commit: Option<Sha>) -> ParsedPost {
        let stance = if self.has(&self.profile.accepted) || self.has(&self.common.accepted) {
            Some(Stance::Accepts)
        } else {
            (!self.has(&self.profile.informs)).then_some(Stance::SeeksChange)
        };
        ParsedPost {
            class: PostClass::Finding,
            findings: vec![self.reported(self.body)],
            stance,
            content: PostContent::Complete,
            commit,
        }
    }

    fn summary(&self, commit: Option<Sha>) -> ParsedPost {
        if self.has(&self.profile.introduction) {
            return ParsedPost {
                class: PostClass::Summary,
                findings: Vec::new(),
                stance: None,
                content: PostContent::NotReady,
                commit,
            };
        }
        let findings = bodies::findings(self);
        let stance = if !findings.is_empty() || self.counts_findings() {
            Some(Stance::SeeksChange)
        } else {
            self.has(&self.profile.clean).then_some(Stance::Accepts)
        };
        ParsedPost { class: PostClass::Summary, findings, stance, content: PostContent::Complete, commit }
    }

    /// The post, or a part of one, as one finding.
    fn reported(&self, body: &str) -> ReportedFinding {
        let comments = || self.document.comments.iter().take(LONGEST_SPOT);
        let (path, lines) = comments()
            .find_map(|comment| self.profile.place.iter().find_map(|pattern| placed(pattern, head(comment))))
            .map_or((None, None), |(path, lines)| (Some(path), lines));
        let own_id = comments().find_map(|comment| {
            self.profile.own_id.iter().find_map(|pattern| first_group(pattern, head(comment)))
        });
        ReportedFinding {
            path,
            lines,
            title: title::title(self.profile, self.document).map(Arc::from),
            body: body.into(),
            severity: self.severity(),
            category: self.category(),
            suggestion: self.suggestion(),
            own_id: own_id.map(Arc::from),
        }
    }

    fn severity(&self) -> Option<Severity> {
        let own = self.profile.severity.iter();
        let shared = self.common.severity.iter().filter(|_| self.profile.common_marks.0);
        own.chain(shared).find(|mark| self.stands(mark.at, &mark.pattern)).map(|mark| mark.is)
    }

    fn category(&self) -> Option<Category> {
        let mut marks = self.profile.category.iter();
        marks.find(|mark| self.stands(mark.at, &mark.pattern)).map(|mark| mark.is)
    }

    /// Replacement code that the forge can apply.
    fn suggestion(&self) -> Option<Arc<str>> {
        let fence = self.document.fences.iter().find(|fence| fence.language == "suggestion")?;
        Some(fence.text.as_str().into())
    }

    /// A reviewer's position in a thread: its own marks decide, then what it says in words. Whoever insists on
    /// anything has not accepted.
    fn reply_stance(&self) -> Option<Stance> {
        if self.has(&self.profile.accepted) || self.has(&self.common.accepted) {
            Some(Stance::Accepts)
        } else if self.has(&self.profile.holds) || self.says(&self.common.reply_holds) {
            Some(Stance::SeeksChange)
        } else {
            self.says(&self.common.reply_accepts).then_some(Stance::Accepts)
        }
    }

    fn counts_findings(&self) -> bool {
        self.profile.count.iter().any(|pattern| {
            let counts = self.open_lines().filter_map(|line| first_group(pattern, head(&line.text)));
            counts.filter_map(|count| count.parse::<u64>().ok()).any(|count| count > 0)
        })
    }

    fn commit(&self) -> Option<Sha> {
        let found = self.profile.commit.iter().find_map(|pattern| first_group(pattern, self.body));
        found.map(|sha| Sha::from(sha.as_str()))
    }

    /// The sentence that a failed reviewer gives for it.
    fn reason(&self) -> String {
        let said = self.document.open_lines().filter(|line| line.has_words()).take(3);
        let mut reason = String::new();
        for line in said {
            if !reason.is_empty() {
                // A heading is followed by what it is about.
                reason.push_str(if reason.ends_with(['.', '!', '?', ':']) { " " } else { ": " });
            }
            reason.push_str(&line.text);
            if reason.ends_with(['.', '!', '?']) && reason.chars().count() > 40 {
                break;
            }
        }
        match reason.char_indices().nth(LONGEST_REASON) {
            Some((end, _)) => format!("{}…", reason[..end].trim_end()),
            None if reason.is_empty() => "it says that it could not review".to_owned(),
            None => reason,
        }
    }

    fn has(&self, marks: &[Mark]) -> bool {
        marks.iter().any(|mark| self.stands(mark.at, &mark.pattern))
    }

    /// Whether a pattern fits where it counts.
    fn stands(&self, at: MarkPosition, pattern: &Pattern) -> bool {
        let fits = |text: &str| pattern.fits(head(text));
        let document = self.document;
        match at {
            MarkPosition::Line => self.open_lines().any(|line| fits(&line.text)),
            MarkPosition::Lead => document.lead().is_some_and(|line| fits(&line.text)),
            MarkPosition::Badge => document.badges().take(LONGEST_SPOT).any(fits),
            MarkPosition::Notice => self.is_short && self.open_lines().any(|line| fits(&line.text)),
            MarkPosition::Small => self.open_lines().any(|line| fits(&line.small())),
            MarkPosition::Summary => {
                let lines = document.lines.iter().filter(|line| line.is_summary);
                read_at_once(lines, LONGEST_POST).any(|line| fits(&line.text))
            }
            MarkPosition::Comment => document.comments.iter().take(LONGEST_SPOT).any(|comment| fits(comment)),
        }
    }

    fn open_lines(&self) -> impl Iterator<Item = &PostLine> {
        read_at_once(self.document.open_lines(), LONGEST_POST)
    }

    /// Whether it says something in its own words, and does not repeat another's.
    fn says(&self, marks: &[Mark]) -> bool {
        let own = self.document.open_lines().filter(|line| line.quoted == 0);
        let mut own = read_at_once(own, LONGEST_REPLY);
        own.any(|line| marks.iter().any(|mark| mark.pattern.fits(head(&line.text))))
    }
}

/// The lines up to the length that is read at all.
fn read_at_once<'a>(
    lines: impl Iterator<Item = &'a PostLine>,
    most: usize,
) -> impl Iterator<Item = &'a PostLine> {
    let mut length = 0;
    lines.take_while(move |line| {
        // Each line costs something, however short it is.
        length += line.text.len() + 16;
        length <= most + line.text.len()
    })
}

/// The beginning of a text.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_SPOT)]
}

fn first_group(pattern: &Pattern, text: &str) -> Option<String> {
    let group = pattern.groups(text)?.at(1)?.trim();
    (!group.is_empty()).then(|| group.to_owned())
}

/// A path and lines by the groups of a pattern.
fn placed(pattern: &Pattern, text: &str) -> Option<(FilePath, Option<LineRange>)> {
    let groups = pattern.groups(text)?;
    let path = groups.named("path").map(str::trim).filter(|path| has_words(path))?;
    let number = |name| groups.named(name).and_then(|number| number.parse().ok());
    let from = number("from");
    let lines = from.and_then(|from: u32| LineRange::new(from, number("to").unwrap_or(from)));
    Some((FilePath::from(path), lines))
}

#[cfg(test)]
mod tests;
