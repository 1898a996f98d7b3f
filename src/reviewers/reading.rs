//! Reads a reviewer's post with the reviewer's profile and returns a [`ParsedPost`].
//!
//! A mark counts only at its [`MarkPosition`]. Nothing is guessed: a post that states no severity, title or
//! stance has none.

mod bodies;
mod results;
mod title;

use super::document::{PostDocument, PostLine, has_words};
use super::pattern::{Groups, Pattern};
use super::profile::{Channel, Mark, MarkPosition, Profile};
use super::profiles::Common;
use crate::domain::place::LineRange;
use crate::domain::post::{ParsedPost, PostClass, PostPlace, ReportedFinding};
use crate::domain::review_loop::PostContent;
use crate::domain::vocabulary::{Category, FilePath, Severity, Sha, Stance};
use std::sync::Arc;
use std::time::Duration;

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
    let mut reading = post.read(place);
    reading.commit = post.commit();
    reading.aside = match place {
        PostPlace::Review => !posts_in(profile, Channel::Review),
        PostPlace::Comment => !posts_in(profile, Channel::Comment),
        PostPlace::ThreadRoot | PostPlace::ThreadReply => false,
    };
    reading
}

/// A profile that names no channel leaves open where the reviewer posts.
fn posts_in(profile: &Profile, channel: Channel) -> bool {
    profile.posts.is_empty() || profile.posts.contains(&channel)
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
    fn read(&self, place: PostPlace) -> ParsedPost {
        let profile = self.profile;
        let nothing = ParsedPost::without_result;
        if !self.document.lines.iter().any(PostLine::has_words) && self.document.fences.is_empty() {
            return nothing(PostClass::Noise, PostContent::NotReady);
        }
        if self.has(&profile.status_table) {
            return results::status_table(self);
        }
        let is_about_pull_request = matches!(place, PostPlace::Review | PostPlace::Comment);
        let failure = self.first(&profile.failure).or_else(|| {
            let common = is_about_pull_request && profile.common_marks.0;
            self.first(&self.common.unknown_failure).filter(|_| common)
        });
        if let Some(mark) = failure {
            let content = PostContent::Failure(self.reason(mark));
            return ParsedPost { retry_after: self.retry_after(), ..nothing(PostClass::Failure, content) };
        }
        if self.has(&profile.running) {
            return nothing(PostClass::Failure, PostContent::InProgress);
        }
        if self.has(&profile.not_ready) {
            return nothing(PostClass::Failure, PostContent::NotReady);
        }
        if self.has(&profile.noise) {
            return nothing(PostClass::Noise, PostContent::NotReady);
        }
        match place {
            PostPlace::ThreadReply => {
                ParsedPost { stance: self.reply_stance(), ..nothing(PostClass::Reply, PostContent::NotReady) }
            }
            PostPlace::ThreadRoot => self.finding(),
            PostPlace::Review | PostPlace::Comment if self.has(&profile.finding) => self.finding(),
            PostPlace::Comment if self.has(&profile.chat) => nothing(PostClass::Reply, PostContent::NotReady),
            PostPlace::Review | PostPlace::Comment => results::summary(self, place),
        }
    }

    fn finding(&self) -> ParsedPost {
        let stance = if self.is_marked_accepted() {
            Some(Stance::Accepts)
        } else {
            (!self.has(&self.profile.informs)).then_some(Stance::SeeksChange)
        };
        ParsedPost {
            findings: vec![self.reported_finding(self.body)],
            stance,
            ..ParsedPost::without_result(PostClass::Finding, PostContent::Complete)
        }
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

    /// The reviewer's stance in a reply. Its profile's marks come first, then the common phrases.
    /// Acceptance needs a positive sign, and nothing else in the reply may insist, ask or doubt (C8). Without
    /// a sign the stance is unknown, and the engine takes it as held.
    fn reply_stance(&self) -> Option<Stance> {
        if self.is_marked_accepted() {
            return Some(Stance::Accepts);
        }
        let own = self.own_sentences();
        let common = self.common;
        let matches = |text: &str, marks: &[Mark]| marks.iter().any(|mark| mark.pattern.matches(head(text)));
        let says = |marks: &[Mark]| own.iter().any(|sentence| matches(sentence, marks));
        if self.has(&self.profile.holds) || says(&common.reply_holds) {
            return Some(Stance::SeeksChange);
        }
        if says(&common.reply_doubts) {
            return None;
        }
        let accepts_in = |sentence: &String| matches(sentence, &common.reply_accepts);
        let is_harmless = |sentence: &String| {
            accepts_in(sentence)
                || matches(sentence, &common.reply_concedes)
                || (matches(sentence, &common.reply_benign) && !matches(sentence, &common.reply_problems))
        };
        let concedes =
            || says(&common.reply_concedes) && !says(&common.reply_problems) && own.iter().all(is_harmless);
        let accepts = || {
            let sign = own.iter().rposition(accepts_in);
            sign.is_some_and(|sign| own[sign..].iter().all(is_harmless))
        };
        (says(&common.reply_withdraws) || accepts() || concedes()).then_some(Stance::Accepts)
    }

    /// The reviewer's own sentences, without quotes, code, struck-out text and courtesy.
    fn own_sentences(&self) -> Vec<String> {
        let own = self.document.open_lines().filter(|line| line.quoted == 0);
        let mut sentences = Vec::new();
        for line in up_to(own, LONGEST_REPLY) {
            let runs = line.runs.iter().filter(|run| !run.style.struck);
            let prose: String =
                runs.map(|run| if run.style.code { "`" } else { run.text.as_str() }).collect();
            let courtesy = self.common.reply_courtesy.iter();
            let prose = courtesy.fold(prose, |prose, mark| mark.pattern.removed_from(&prose));
            let parts = prose.split_inclusive(['.', '!', '?', '。', '！', '？']);
            sentences.extend(parts.map(|part| part.trim().to_owned()).filter(|part| is_sentence(part)));
        }
        sentences
    }

    fn commit(&self) -> Option<Sha> {
        let sha = self.profile.commit.iter().find_map(|pattern| first_group(pattern, self.body));
        sha.map(|sha| Sha::from(sha.as_str()))
    }

    /// Why the reviewer did not review, in its own words. A mark in a folded block says where they are.
    fn reason(&self, mark: &Mark) -> String {
        let is_folded = matches!(mark.at, MarkPosition::Summary | MarkPosition::Anywhere);
        let start = if is_folded {
            let lines = &self.document.lines;
            lines.iter().position(|line| mark.pattern.matches(head(&line.text)))
        } else {
            None
        };
        let lines = self.document.lines.iter().skip(start.unwrap_or_default());
        let lines = lines.filter(|line| line.has_words() && (is_folded || is_open(line))).take(3);
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

    /// How long the reviewer is out of quota, if it says so.
    fn retry_after(&self) -> Option<Duration> {
        let mut lines = self.open_lines();
        lines.find_map(|line| {
            self.profile.retry_after.iter().find_map(|pattern| {
                let groups = pattern.groups(head(&line.text))?;
                let part = |name: &str, seconds: u64| {
                    let number = groups.named(name).and_then(|number| number.parse::<u64>().ok());
                    number.unwrap_or_default().saturating_mul(seconds)
                };
                let seconds = part("hours", 3600).saturating_add(part("minutes", 60));
                let seconds = seconds.saturating_add(part("seconds", 1));
                (seconds > 0).then(|| Duration::from_secs(seconds))
            })
        })
    }

    /// Whether the reviewer marked the finding as settled. A mark in a quotation, in a folded block or in struck-out
    /// text is somebody else's, or taken back.
    fn is_marked_accepted(&self) -> bool {
        let own = |line: &&PostLine| line.quoted == 0 && !line.is_wholly(|style| style.struck);
        let marks = || self.profile.accepted.iter().chain(&self.common.accepted);
        let lead = self.document.lead().map(|line| line.at);
        let in_lines = self.open_lines().filter(own).any(|line| {
            marks().any(|mark| match mark.at {
                MarkPosition::Comment | MarkPosition::Badge => false,
                MarkPosition::Lead => lead == Some(line.at) && mark.pattern.matches(head(&line.text)),
                MarkPosition::Notice => self.is_short && mark.pattern.matches(head(&line.text)),
                MarkPosition::Small => mark.pattern.matches(head(&line.small_text())),
                MarkPosition::Heading => line.heading > 0 && mark.pattern.matches(head(&line.text)),
                MarkPosition::Line | MarkPosition::Summary | MarkPosition::Anywhere => {
                    mark.pattern.matches(head(&line.text))
                }
            })
        });
        let comments = self.document.comments.iter().enumerate().take(LONGEST_SPOT);
        let mut comments = comments.filter(|(at, _)| !self.document.enclosed_comments.contains(at));
        in_lines
            || comments.any(|(_, comment)| {
                marks().any(|mark| mark.at == MarkPosition::Comment && mark.pattern.matches(head(comment)))
            })
    }

    fn has(&self, marks: &[Mark]) -> bool {
        self.first(marks).is_some()
    }

    fn first<'m>(&self, marks: &'m [Mark]) -> Option<&'m Mark> {
        marks.iter().find(|mark| self.has_at(mark.at, &mark.pattern))
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
            MarkPosition::Heading => self.open_lines().any(|line| line.heading > 0 && matches(&line.text)),
            MarkPosition::Summary => self.summaries().any(|line| matches(&line.text)),
            MarkPosition::Anywhere => {
                up_to(document.lines.iter(), LONGEST_POST).any(|line| matches(&line.text))
            }
            MarkPosition::Comment => {
                document.comments.iter().take(LONGEST_SPOT).any(|comment| matches(comment))
            }
        }
    }

    fn open_lines(&self) -> impl Iterator<Item = &PostLine> {
        up_to(self.document.open_lines(), LONGEST_POST)
    }

    fn summaries(&self) -> impl Iterator<Item = &PostLine> {
        up_to(self.document.lines.iter().filter(|line| line.is_summary), LONGEST_POST)
    }
}

/// Emoticons have single letters in them.
fn is_sentence(text: &str) -> bool {
    text.chars().filter(|c| c.is_alphanumeric()).count() > 1
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

fn is_open(line: &PostLine) -> bool {
    line.folded == 0 && !line.is_summary
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
