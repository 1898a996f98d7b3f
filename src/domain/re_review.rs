//! Re-review (R): a second cycle continues the first. This module decides who may override a reviewer, what
//! the next cycle covers, whether the prompt fits, and when the glass is broken.

use super::finding::Finding;
use super::place::Delta;
use super::policy::Policy;
use super::snapshot::{Account, Comment, ThreadComment};
use super::vocabulary::{Association, Intent, Login, Severity};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A reply in a thread, reduced to what the thread machine needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClassifiedReply {
    pub writer: ReplyAuthor,
    pub association: Association,
    pub intent: Intent,
}

/// Who wrote a post. The login alone does not tell (R5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplyAuthor {
    Person,
    /// A bot account, or an agent that posts under a person's login and leaves its marker.
    Agent,
    /// Cloture, under the account that it shares with a person.
    Cloture,
}

/// A post that may mean something, with what GitHub says about its writer. Every reading of a post for an intent or
/// a command asks [`PostedWords::writer`] whose words they are.
#[derive(Debug, Clone, Copy)]
pub struct PostedWords<'a> {
    pub by_person: bool,
    /// It has Cloture's key, and Cloture's account wrote it.
    pub posted_by_cloture: bool,
    pub association: Association,
    pub body: &'a str,
}

impl PostedWords<'_> {
    pub fn writer(&self, replies: &dyn ReadsReplies) -> ReplyAuthor {
        if self.posted_by_cloture {
            ReplyAuthor::Cloture
        } else if !self.by_person || replies.is_agent_post(self.body) {
            ReplyAuthor::Agent
        } else {
            ReplyAuthor::Person
        }
    }
}

impl<'a> From<&'a ThreadComment> for PostedWords<'a> {
    fn from(comment: &'a ThreadComment) -> Self {
        PostedWords {
            by_person: comment.author.as_ref().is_some_and(Account::is_person),
            posted_by_cloture: comment.is_posted_by_cloture(),
            association: comment.association,
            body: &comment.body,
        }
    }
}

impl<'a> From<&'a Comment> for PostedWords<'a> {
    fn from(comment: &'a Comment) -> Self {
        PostedWords {
            by_person: comment.author.as_ref().is_some_and(Account::is_person),
            posted_by_cloture: comment.is_posted_by_cloture(),
            association: comment.association,
            body: &comment.body,
        }
    }
}

/// Interprets the text of a reply. The phrase tables in `replies` implement it, outside the pure core.
pub trait ReadsReplies: fmt::Debug + Send + Sync {
    /// The intent of a person's reply (R3).
    fn intent(&self, body: &str) -> Intent;

    /// Whether the text carries a coding agent's marker (R5), whatever the login.
    fn is_agent_post(&self, body: &str) -> bool;

    /// The source lines, trimmed, that are nothing but the person's own plain words: no quotation, with or without
    /// `>`, no code, no folded or hidden text.
    fn own_lines<'a>(&self, body: &'a str) -> Vec<&'a str>;
}

impl ClassifiedReply {
    /// Classifies a reply. A marker decides about the writer even if `intent` is given, because the words are
    /// then not the person's. Cloture's own posts mean nothing.
    pub fn read(
        replies: &dyn ReadsReplies,
        words: PostedWords<'_>,
        intent: Option<Intent>,
    ) -> ClassifiedReply {
        let writer = words.writer(replies);
        let intent = match writer {
            ReplyAuthor::Cloture => Intent::Other,
            ReplyAuthor::Person | ReplyAuthor::Agent => intent.unwrap_or_else(|| replies.intent(words.body)),
        };
        ClassifiedReply { writer, association: words.association, intent }
    }

    /// R4: only an owner, member or collaborator can override. Anyone else's "won't fix" is an argument.
    pub fn is_override(&self) -> bool {
        self.writer == ReplyAuthor::Person && self.association.may_override()
    }
}

/// The code that a cycle may raise new findings about (R2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewScope {
    Everything,
    /// Only the changes since the reviewer's last cycle.
    Delta(Delta),
}

impl ReviewScope {
    /// R2: a finding about unchanged code is out of scope unless it is critical.
    pub fn admits(&self, finding: &Finding, policy: &Policy) -> bool {
        match self {
            ReviewScope::Everything => true,
            ReviewScope::Delta(delta) => {
                finding.severity == Some(Severity::Critical)
                    || delta.covers(&finding.path, finding.lines, policy.line_slack)
            }
        }
    }
}

/// A part of a prompt, for estimating the size (R6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPiece<'a> {
    pub text: &'a str,
    /// Whether the prompt still makes sense without it: an old reply may go, the question may not.
    pub may_be_cut: bool,
}

/// How a prompt fits a reviewer's context window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFit {
    /// The size of all pieces, before any cut.
    pub estimated_tokens: u64,
    pub window_tokens: u64,
    /// The pieces to leave out, oldest first.
    pub cut: Vec<usize>,
    /// The prompt is too large even without them.
    pub still_too_large: bool,
}

impl PromptFit {
    pub fn uses_over_half_the_window(&self) -> bool {
        self.estimated_tokens.saturating_mul(2) > self.window_tokens
    }
}

impl fmt::Display for PromptFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PromptFit { estimated_tokens, window_tokens, cut, still_too_large } = self;
        write!(f, "the prompt is about {estimated_tokens} tokens for a window of {window_tokens}")?;
        match cut.len() {
            0 => {}
            1 => write!(f, "; the oldest part was cut")?,
            parts => write!(f, "; the {parts} oldest parts were cut")?,
        }
        if *still_too_large { write!(f, "; it is still too large") } else { Ok(()) }
    }
}

/// R6: estimates the size of the pieces, given oldest first, and chooses the ones to cut.
pub fn fit(pieces: &[PromptPiece<'_>], window_tokens: u64) -> PromptFit {
    let sizes: Vec<u64> = pieces.iter().map(|piece| estimated_tokens(piece.text)).collect();
    let estimated_tokens = sizes.iter().sum();
    let mut left: u64 = estimated_tokens;
    let mut cut = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        if left <= window_tokens {
            break;
        }
        if piece.may_be_cut {
            left -= sizes[index];
            cut.push(index);
        }
    }
    PromptFit { estimated_tokens, window_tokens, cut, still_too_large: left > window_tokens }
}

/// About one token for four ASCII characters, and one for any other character. Too high is safer than too
/// low: Cloture reports a cut, but a prompt that overflows fails.
fn estimated_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii.div_ceil(4) + other
}

/// The label and the phrase with which a person ends the loop at once (R7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakGlassRules {
    pub label: String,
    pub phrase: String,
}

impl Default for BreakGlassRules {
    fn default() -> Self {
        Self { label: "cloture:break-glass".to_owned(), phrase: "/cloture break-glass".to_owned() }
    }
}

/// A comment that may contain the phrase.
#[derive(Debug, Clone, Copy)]
pub struct BreakGlassComment<'a> {
    pub by: &'a Login,
    pub words: PostedWords<'a>,
}

/// How the glass was broken. The journal stores it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum BrokenGlass {
    Label(String),
    Phrase { by: Login },
}

/// R7: whether the glass is broken. Setting a label needs write access on GitHub. The phrase counts only from
/// people who may override (R4), and only as a line of its own in their own words.
pub fn broken_glass<'a>(
    replies: &dyn ReadsReplies,
    rules: &BreakGlassRules,
    labels: impl IntoIterator<Item = &'a str>,
    remarks: impl IntoIterator<Item = BreakGlassComment<'a>>,
) -> Option<BrokenGlass> {
    if !rules.label.is_empty() && labels.into_iter().any(|label| label.eq_ignore_ascii_case(&rules.label)) {
        return Some(BrokenGlass::Label(rules.label.clone()));
    }
    if rules.phrase.is_empty() {
        return None;
    }
    let phrase = rules.phrase.trim().to_lowercase();
    let breaks_glass = |remark: &BreakGlassComment<'_>| {
        let words = remark.words;
        ClassifiedReply::read(replies, words, Some(Intent::Other)).is_override()
            && replies.own_lines(words.body).iter().any(|line| line.to_lowercase() == phrase)
    };
    remarks.into_iter().find(breaks_glass).map(|remark| BrokenGlass::Phrase { by: remark.by.clone() })
}
