//! What a poll saw, and which of it counts for the wait (L1, L3).

use crate::domain::re_review::BrokenGlass;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::{ReviewerName, Sha};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The head a wait is tied to. The push time is part of it: the same commit pushed again is a new wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WaitAnchor {
    pub head: Sha,
    pub pushed_at: Timestamp,
}

/// One poll's worth of facts, already read by whoever knows the forge and the bots.
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
    /// L6: author rounds as the forge's own review history has them, since the last reopen.
    pub rounds_on_forge: u32,
}

/// Something a recognised reviewer left on the pull request. People's comments never become posts, so that
/// nothing they write can pass for a failure (L4).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReviewerPost {
    pub reviewer: ReviewerName,
    pub kind: PostKind,
    pub at: Timestamp,
    /// The commit it was made on or names.
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
    /// A review that says something.
    Complete,
    /// L3: empty, malformed or still in progress.
    NotReady,
    /// The reviewer says that it could not review.
    Failure(String),
}

/// Who is in, who is missing, who failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewArrivals {
    pub arrived: Vec<ReviewerName>,
    pub missing: Vec<ReviewerName>,
    pub failed: BTreeMap<ReviewerName, String>,
}

impl ReviewerPost {
    /// Whether it is a review that says something.
    pub fn is_complete(&self) -> bool {
        matches!(
            self.kind,
            PostKind::Review(PostContent::Complete) | PostKind::Comment(PostContent::Complete)
        )
    }

    /// L1: a review or check counts if it was made on the anchored commit; a comment if it is younger than
    /// the push and, where it names a commit, names that one.
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

/// Bots name commits by their first characters.
pub fn matches_commit(named: &Sha, head: &Sha) -> bool {
    let named = named.as_str();
    named == head.as_str() || named.len() >= 7 && head.as_str().starts_with(named)
}

impl Observation {
    /// Sorts the expected reviewers by what they left for the anchored head. A review that arrived outweighs
    /// a failure, which may have been retried.
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
