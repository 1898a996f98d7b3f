//! The exits of a loop (L4), each with a sentence for people.

use crate::domain::re_review::BrokenGlass;
use crate::domain::vocabulary::ReviewerName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many threads a sentence names.
const NAMED: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Exit {
    Success,
    /// The reviews are in and nothing is left to fix, but threads wait for a person's decision. Each is its
    /// place and title.
    NeedsPerson {
        threads: Vec<String>,
    },
    /// There is something to fix, and no author to send it to. The braces read the field that older versions
    /// stored here.
    IssuesFound {},
    Timeout {
        missing: TimedOutOn,
    },
    WorkflowFailure {
        reviewer: ReviewerName,
        reason: String,
    },
    /// The wait is over, and a review is there that nobody but a person can read (L3).
    Unreadable {
        reviewer: ReviewerName,
        reason: String,
        url: Option<String>,
    },
    RoundCap {
        rounds: u32,
        /// The last round ended without a push.
        #[serde(default)]
        author_gave_up: bool,
    },
    PrMerged,
    PrClosed,
    BreakGlass(BrokenGlass),
    Stopped,
    /// No attempt reached GitHub.
    OutOfReach,
}

/// What a wait timed out on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TimedOutOn {
    Reviews(Vec<ReviewerName>),
    /// C6: Cloture does not ask these reviewers any more, so nobody reviews this head.
    ExhaustedReviewers(Vec<ReviewerName>),
    /// The configuration names no reviewer, and none posted (L3).
    Anybody,
    /// The author's push.
    Push,
    /// The last attempts did not reach GitHub.
    Unknown,
}

impl Exit {
    /// The name in scripts and in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Exit::Success => "success",
            Exit::NeedsPerson { .. } => "needs_person",
            Exit::IssuesFound { .. } => "issues_found",
            Exit::Timeout { .. } => "timeout",
            Exit::WorkflowFailure { .. } | Exit::Unreadable { .. } => "workflow_failure",
            Exit::RoundCap { .. } => "round_cap",
            Exit::PrMerged => "pr_merged",
            Exit::PrClosed => "pr_closed",
            Exit::BreakGlass(_) => "break_glass",
            Exit::Stopped => "stopped",
            Exit::OutOfReach => "out_of_reach",
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Success => write!(f, "every expected review is in, and nothing is left to act on"),
            Exit::NeedsPerson { threads } => {
                let count = threads.len();
                let wait = if count == 1 { "thread waits" } else { "threads wait" };
                write!(f, "{count} {wait} for a person: {}", threads[..count.min(NAMED)].join(", "))?;
                if count > NAMED { write!(f, " and {} more", count - NAMED) } else { Ok(()) }
            }
            Exit::IssuesFound {} => {
                write!(f, "the reviews found something to fix, and no author is configured to fix it")
            }
            Exit::Timeout { missing: TimedOutOn::Reviews(reviewers) } => {
                write!(f, "no review came in time from {}", names(reviewers))
            }
            Exit::Timeout { missing: TimedOutOn::ExhaustedReviewers(reviewers) } => {
                write!(f, "{}", no_more_reviews(reviewers))
            }
            Exit::Timeout { missing: TimedOutOn::Anybody } => {
                write!(f, "no reviewer posted in time; name the expected reviewers in the configuration")
            }
            Exit::Timeout { missing: TimedOutOn::Push } => write!(f, "the author did not push in time"),
            Exit::Timeout { missing: TimedOutOn::Unknown } => {
                write!(f, "the attempts ran out, and the last of them did not reach GitHub")
            }
            Exit::WorkflowFailure { reviewer, reason } => {
                write!(f, "the review by {reviewer} failed: {reason}")
            }
            Exit::Unreadable { reviewer, reason, url } => {
                write!(f, "the review by {reviewer} cannot be read: {reason}")?;
                if let Some(url) = url {
                    write!(f, "; read it at {url}")?;
                }
                Ok(())
            }
            Exit::RoundCap { rounds, author_gave_up } => {
                let count = if *rounds == 1 {
                    "1 author round".to_owned()
                } else {
                    format!("{rounds} author rounds")
                };
                let last = if *author_gave_up { ", and the last one ended without a push" } else { "" };
                write!(
                    f,
                    "{count} did not settle it{last}: merge as it is, force-approve, close and reopen, or push \
                     the last fix by hand"
                )
            }
            Exit::PrMerged => write!(f, "the pull request was merged"),
            Exit::PrClosed => write!(f, "the pull request was closed without merging"),
            Exit::BreakGlass(BrokenGlass::Label(label)) => write!(f, "the label {label} ended the loop"),
            Exit::BreakGlass(BrokenGlass::Phrase { by }) => write!(f, "{by} broke the glass with a comment"),
            Exit::Stopped => write!(f, "a person stopped the loop"),
            Exit::OutOfReach => write!(f, "GitHub could not be reached in any attempt"),
        }
    }
}

/// Reviewers in a sentence.
pub(super) fn names(reviewers: &[ReviewerName]) -> String {
    reviewers.iter().map(ReviewerName::as_str).collect::<Vec<_>>().join(", ")
}

/// C6: why no review of this head will come.
pub(super) fn no_more_reviews(reviewers: &[ReviewerName]) -> String {
    let has = if reviewers.len() == 1 { "has" } else { "have" };
    format!(
        "{} {has} used all reviews of this pull request, so this head stays without one: a person has to review it",
        names(reviewers)
    )
}
