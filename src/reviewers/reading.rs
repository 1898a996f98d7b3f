//! Reads a reviewer's post with the reviewer's profile and returns a [`ParsedPost`].
//!
//! A mark counts only at its [`MarkPosition`]. Nothing is guessed: a post that states no severity, title or
//! stance has none.

mod bodies;
mod title;

use super::document::{PostDocument, PostLine, has_words};
use super::pattern::{Groups, Pattern};
use super::profile::{Mark, MarkPosition, Profile};
use super::profiles::Common;
use crate::domain::place::LineRange;
use crate::domain::post::{ParsedPost, PostClass, PostPlace, ReportedFinding};
use crate::domain::review_loop::PostContent;
use crate::domain::vocabulary::{Category, FilePath, Severity, Sha, Stance};
use std::sync::Arc;

/// Characters of a notice at most. A longer post is a review, and may discuss rate limits without having hit
/// one.
const LONGEST_NOTICE: usize = 1_500;
/// Bytes of a line or hidden comment, and of a whole post, that marks are searched in. GitHub allows no
/// longer post; the limits bound the time that a hostile post takes.
const LONGEST_SPOT: usize = 4 << 10;
const LONGEST_POST: usize = 128 << 10;
/// Bytes of a reply that are searched for phrases.
const LONGEST_REPLY: usize = 16 << 10;
/// Characters of a notice that Cloture quotes as the reason.
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

/// A post, its parsed document and the profile to read it with.
struct PostUnderReading<'a> {
    profile: &'a Profile,
    common: &'a Common,
    body: &'a str,
    document: &'a PostDocument,
    /// Short enough to be a notice.
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
            findings: vec![self.reported_finding(self.body)],
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

    /// Reads the post, or a part of it, as one finding.
    fn reported_finding(&self, body: &str) -> ReportedFinding {
        let comments = || self.document.comments.iter().take(LONGEST_SPOT);
        let (path, lines) = comments()
            .find_map(|comment| {
                self.profile.place.iter().find_map(|pattern| parse_place(pattern, head(comment)))
            })
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
        own.chain(shared).find(|mark| self.has_at(mark.at, &mark.pattern)).map(|mark| mark.is)
    }

    fn category(&self) -> Option<Category> {
        let mut marks = self.profile.category.iter();
        marks.find(|mark| self.has_at(mark.at, &mark.pattern)).map(|mark| mark.is)
    }

    /// Replacement code that GitHub can apply.
    fn suggestion(&self) -> Option<Arc<str>> {
        let fence = self.document.fences.iter().find(|fence| fence.language == "suggestion")?;
        Some(fence.text.as_str().into())
    }

    /// The reviewer's stance in a reply. Its profile's marks come first, then the common phrases. A reply
    /// that insists on anything does not accept.
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
        let sha = self.profile.commit.iter().find_map(|pattern| first_group(pattern, self.body));
        sha.map(|sha| Sha::from(sha.as_str()))
    }

    /// Why the reviewer did not review, in its own words.
    fn reason(&self) -> String {
        let lines = self.document.open_lines().filter(|line| line.has_words()).take(3);
        let mut reason = String::new();
        for line in lines {
            if !reason.is_empty() {
                reason.push_str(if reason.ends_with(['.', '!', '?', ':']) { " " } else { ": " });
            }
            reason.push_str(&line.text);
            if reason.ends_with(['.', '!', '?']) && reason.chars().count() > 40 {
                break;
            }
        }
        match reason.char_indices().nth(LONGEST_REASON) {
            Some((end, _)) => format!("{}…", reason[..end].trim_end()),
            None if reason.is_empty() => "the reviewer says that it could not review".to_owned(),
            None => reason,
        }
    }

    fn has(&self, marks: &[Mark]) -> bool {
        marks.iter().any(|mark| self.has_at(mark.at, &mark.pattern))
    }

    /// Whether the post has a match at this position.
    fn has_at(&self, at: MarkPosition, pattern: &Pattern) -> bool {
        let matches = |text: &str| pattern.matches(head(text));
        let document = self.document;
        match at {
            MarkPosition::Line => self.open_lines().any(|line| matches(&line.text)),
            MarkPosition::Lead => document.lead().is_some_and(|line| matches(&line.text)),
            MarkPosition::Badge => document.badges().take(LONGEST_SPOT).any(matches),
            MarkPosition::Notice => self.is_short && self.open_lines().any(|line| matches(&line.text)),
            MarkPosition::Small => self.open_lines().any(|line| matches(&line.small_text())),
            MarkPosition::Summary => {
                let lines = document.lines.iter().filter(|line| line.is_summary);
                up_to(lines, LONGEST_POST).any(|line| matches(&line.text))
            }
            MarkPosition::Comment => {
                document.comments.iter().take(LONGEST_SPOT).any(|comment| matches(comment))
            }
        }
    }

    fn open_lines(&self) -> impl Iterator<Item = &PostLine> {
        up_to(self.document.open_lines(), LONGEST_POST)
    }

    /// Whether a phrase stands in the reviewer's own text, outside quotes.
    fn says(&self, marks: &[Mark]) -> bool {
        let own = self.document.open_lines().filter(|line| line.quoted == 0);
        let mut own = up_to(own, LONGEST_REPLY);
        own.any(|line| marks.iter().any(|mark| mark.pattern.matches(head(&line.text))))
    }
}

/// The first lines, up to `limit` bytes.
fn up_to<'a>(lines: impl Iterator<Item = &'a PostLine>, limit: usize) -> impl Iterator<Item = &'a PostLine> {
    let mut length = 0;
    lines.take_while(move |line| {
        // Even an empty line costs time.
        length += line.text.len() + 16;
        length <= limit + line.text.len()
    })
}

/// The part of a text that marks are searched in.
fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_SPOT)]
}

fn first_group(pattern: &Pattern, text: &str) -> Option<String> {
    let group = pattern.groups(text)?.at(1)?.trim();
    (!group.is_empty()).then(|| group.to_owned())
}

/// The path and lines that a pattern captures.
fn parse_place(pattern: &Pattern, text: &str) -> Option<(FilePath, Option<LineRange>)> {
    let groups = pattern.groups(text)?;
    let path = groups.named("path").map(str::trim).filter(|path| has_words(path))?;
    Some((FilePath::from(path), line_range(&groups)))
}

/// The lines of the groups `from` and `to`.
fn line_range(groups: &Groups<'_>) -> Option<LineRange> {
    let number = |name| groups.named(name).and_then(|number| number.parse::<u32>().ok());
    let from = number("from")?;
    LineRange::new(from, number("to").unwrap_or(from))
}

#[cfg(test)]
mod tests;
