//! The facts of one poll, and which of them count for the wait (L1, L3).

use crate::domain::re_review::BrokenGlass;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::{ReviewerName, Sha};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The head that a wait is tied to. The push time is part of it: pushing the same commit again starts a new
/// wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WaitAnchor {
    pub head: Sha,
    pub pushed_at: Timestamp,
}

/// The facts of one poll, independent of GitHub's and the bots' formats.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Observation {
    pub state: PullRequestState,
    pub anchor: WaitAnchor,
    pub posts: Vec<ReviewerPost>,
    pub broken_glass: Option<BrokenGlass>,
    /// L7: whether any open finding is actionable.
    pub something_to_fix: bool,
    /// Whether an author is configured for this pull request.
    pub has_author: bool,
    /// L6: author rounds since the last reopening, counted from GitHub's review history.
    pub rounds_on_forge: u32,
}

/// A post of a recognised reviewer. People's comments never become posts, so they cannot look like a failure
/// (L4).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReviewerPost {
    pub reviewer: ReviewerName,
    pub kind: PostKind,
    pub at: Timestamp,
    /// The commit that it was made on, or that it names.
    pub commit: Option<Sha>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PostKind {
    Review(PostContent),
    Comment(PostContent),
    CheckRunFailed(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PostContent {
    /// A finished review.
    Complete,
    /// L3: empty, malformed or in progress.
    NotReady,
    /// The reviewer says that it could not review.
    Failure(String),
}

/// The state of each expected review.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewArrivals {
    pub arrived: Vec<ReviewerName>,
    pub missing: Vec<ReviewerName>,
    pub failed: BTreeMap<ReviewerName, String>,
}

impl ReviewerPost {
    /// Whether it is a finished review.
    pub fn is_complete(&self) -> bool {
        matches!(
            self.kind,
            PostKind::Review(PostContent::Complete) | PostKind::Comment(PostContent::Complete)
        )
    }

    /// L1: a review or check counts if it was made on the anchored commit. A comment counts if it is younger
    /// than the push and names no other commit.
    pub fn counts_for(&self, anchor: &WaitAnchor) -> bool {
        match self.kind {
            PostKind::Review(_) | PostKind::CheckRunFailed(_) => self.commit.as_ref() == Some(&anchor.head),
            PostKind::Comment(_) => {
                self.at > anchor.pushed_at
                    && self.commit.as_ref().is_none_or(|commit| matches_commit(commit, &anchor.head))
            }
        }
    }
}

/// Whether two names mean the same commit. Bots abbreviate commits.
pub fn matches_commit(named: &Sha, head: &Sha) -> bool {
    let named = named.as_str();
    named == head.as_str() || named.len() >= 7 && head.as_str().starts_with(named)
}

impl Observation {
    /// Sorts the expected reviewers by their posts for the anchored head. A finished review outweighs a
    /// failure, because the reviewer may have retried.
    pub fn arrivals(&self, expected: &BTreeSet<ReviewerName>) -> ReviewArrivals {
        let mut arrivals = ReviewArrivals::default();
        for reviewer in expected {
            let mut failure = None;
            let mut arrived = false;
            for post in self.posts.iter().filter(|p| p.reviewer == *reviewer && p.counts_for(&self.anchor)) {
                match &post.kind {
                    PostKind::Review(PostContent::Complete) | PostKind::Comment(PostContent::Complete) => {
                        arrived = true;
                    }
                    PostKind::Review(PostContent::NotReady) | PostKind::Comment(PostContent::NotReady) => {}
                    PostKind::Review(PostContent::Failure(reason))
                    | PostKind::Comment(PostContent::Failure(reason))
                    | PostKind::CheckRunFailed(reason) => failure = Some(reason.clone()),
                }
            }
            match (arrived, failure) {
                (true, _) => arrivals.arrived.push(reviewer.clone()),
                (false, Some(reason)) => {
                    arrivals.failed.insert(reviewer.clone(), reason);
                }
                (false, None) => arrivals.missing.push(reviewer.clone()),
            }
        }
        arrivals
    }
}
