//! What a look at a pull request says about it (L4). The loop, `status`, the terminal and the merge dialog all
//! ask this one function, so that they cannot differ about whether a pull request is clean.

use super::exit::names;
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
        let ReviewArrivals { missing, failed, unreadable, arrived: _ } = self.arrivals();
        StateCounts {
            missing: missing.len(),
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
        let ReviewArrivals { missing, failed, unreadable, arrived: _ } = self.arrivals();
        if let Some((reviewer, reason)) = failed.into_iter().next() {
            return Judgement::ReviewFailed { reviewer, reason };
        }
        let anybody = self.expected.is_empty() && self.expects_anybody;
        if anybody || !missing.is_empty() || !unreadable.is_empty() {
            return Judgement::Incomplete { missing, unreadable, anybody };
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
            Judgement::Incomplete { missing, unreadable, .. } => {
                if !missing.is_empty() {
                    write!(f, "the review by {} is missing", names(missing))?;
                }
                for (place, (reviewer, post)) in unreadable.iter().enumerate() {
                    let link = if place > 0 || !missing.is_empty() { "; " } else { "" };
                    write!(f, "{link}the review by {reviewer} cannot be read: {}", post.reason)?;
                }
                Ok(())
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
