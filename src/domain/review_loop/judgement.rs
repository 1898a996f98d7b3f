//! What a look at a pull request says about it (L4). The loop, `status`, the terminal and the merge dialog all
//! ask this one function, so that they cannot differ about whether a pull request is clean.

use super::exit::{names, no_more_reviews};
use super::observation::{Observation, ReviewArrivals, UnreadablePost};
use crate::domain::re_review::BrokenGlass;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::ReviewerName;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The state of a pull request, before any limit of its loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    Merged,
    Closed,
    GlassBroken(BrokenGlass),
    /// An expected reviewer says that it could not review.
    ReviewFailed {
        reviewer: ReviewerName,
        reason: String,
    },
    /// Reviews are missing, or nobody can read them.
    Incomplete {
        missing: Vec<ReviewerName>,
        /// C6: nobody waits for these, because Cloture does not ask them any more.
        exhausted: Vec<ReviewerName>,
        /// C6: the missing ones that Cloture does not ask any more.
        asks_spent: Vec<ReviewerName>,
        unreadable: BTreeMap<ReviewerName, UnreadablePost>,
        /// No reviewer is known yet.
        anybody: bool,
    },
    ToFix(u32),
    /// Nothing is left but threads that wait for a person, each as its place and title.
    NeedsPerson(Vec<String>),
    Clean,
}

/// The numbers behind a judgement, for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StateCounts {
    pub missing: usize,
    pub unreadable: usize,
    pub failed: usize,
    pub to_fix: u32,
    pub for_person: usize,
}

impl Observation {
    pub fn counts(&self) -> StateCounts {
        let ReviewArrivals { missing, exhausted, failed, unreadable, arrived: _ } = self.arrivals();
        StateCounts {
            missing: missing.len() + exhausted.len(),
            unreadable: unreadable.len(),
            failed: failed.len(),
            to_fix: self.to_fix,
            for_person: self.for_person.len(),
        }
    }

    pub fn judge(&self) -> Judgement {
        match self.state {
            PullRequestState::Merged => return Judgement::Merged,
            PullRequestState::Closed => return Judgement::Closed,
            PullRequestState::Open => {}
        }
        if let Some(broken) = &self.broken_glass {
            return Judgement::GlassBroken(broken.clone());
        }
        let ReviewArrivals { missing, exhausted, failed, unreadable, arrived: _ } = self.arrivals();
        if let Some((reviewer, reason)) = failed.into_iter().next() {
            return Judgement::ReviewFailed { reviewer, reason };
        }
        let anybody = self.expected.is_empty() && self.expects_anybody;
        if anybody || !missing.is_empty() || !exhausted.is_empty() || !unreadable.is_empty() {
            let spent = missing.iter().filter(|reviewer| self.asks_spent.contains(reviewer));
            let asks_spent = spent.cloned().collect();
            return Judgement::Incomplete { missing, exhausted, asks_spent, unreadable, anybody };
        }
        if self.to_fix > 0 {
            return Judgement::ToFix(self.to_fix);
        }
        if !self.for_person.is_empty() {
            return Judgement::NeedsPerson(self.for_person.clone());
        }
        Judgement::Clean
    }
}

impl Judgement {
    /// Whether a review may still come, or a post become readable.
    pub fn waits_for_reviews(&self) -> bool {
        match self {
            Judgement::Incomplete { missing, unreadable, anybody, exhausted: _, asks_spent: _ } => {
                *anybody || !missing.is_empty() || !unreadable.is_empty()
            }
            _ => false,
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Judgement::Merged => write!(f, "it is merged"),
            Judgement::Closed => write!(f, "it is closed"),
            Judgement::GlassBroken(_) => write!(f, "the glass is broken"),
            Judgement::ReviewFailed { reviewer, reason } => {
                write!(f, "the review by {reviewer} failed: {reason}")
            }
            Judgement::Incomplete { anybody: true, .. } => write!(f, "no reviewer has posted yet"),
            Judgement::Incomplete { missing, exhausted, asks_spent, unreadable, .. } => {
                let mut parts = Vec::new();
                if !missing.is_empty() {
                    parts.push(format!("the review by {} is missing", names(missing)));
                }
                if !asks_spent.is_empty() {
                    parts.push(format!("Cloture has asked {} as often as it may", names(asks_spent)));
                }
                if !exhausted.is_empty() {
                    parts.push(no_more_reviews(exhausted));
                }
                let unreadable = unreadable.iter();
                parts.extend(unreadable.map(|(reviewer, post)| {
                    format!("the review by {reviewer} cannot be read: {}", post.reason)
                }));
                write!(f, "{}", parts.join("; "))
            }
            Judgement::ToFix(1) => write!(f, "1 finding is left to fix"),
            Judgement::ToFix(count) => write!(f, "{count} findings are left to fix"),
            Judgement::NeedsPerson(threads) => match threads.len() {
                1 => write!(f, "1 thread waits for a person"),
                count => write!(f, "{count} threads wait for a person"),
            },
            Judgement::Clean => write!(f, "every expected review is in, and nothing is left to act on"),
        }
    }
}
