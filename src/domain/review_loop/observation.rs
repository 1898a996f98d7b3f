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

/// Everything the loop knows about a pull request: one poll and the journal's counts, independent of GitHub's
/// and the bots' formats.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Observation {
    pub state: PullRequestState,
    pub anchor: WaitAnchor,
    /// L6: the last reopening. The counts of author rounds start at it.
    pub reopened_at: Option<Timestamp>,
    /// The reviewers that the loop waits for.
    pub expected: BTreeSet<ReviewerName>,
    /// L3: the configuration names no reviewer, so the loop waits until one shows itself.
    pub expects_anybody: bool,
    pub posts: Vec<ReviewerPost>,
    pub broken_glass: Option<BrokenGlass>,
    /// L7: how many findings somebody has to fix.
    pub to_fix: u32,
    /// Threads that wait for a person's decision, each as its place and title.
    pub for_person: Vec<String>,
    pub author: AuthorState,
    /// L6: author rounds since the last reopening, counted from GitHub's review history.
    pub rounds_on_forge: u32,
    /// L6: author rounds since the last reopening, counted from the journal.
    pub rounds_recorded: u32,
    /// L6: rounds that people granted beyond the caps since the last reopening.
    pub granted: u32,
}

/// The author's agent and its work on the anchored head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuthorState {
    /// No agent is configured for this pull request.
    Absent,
    /// Not sent to this head.
    Idle,
    AtWork,
    /// It ended and says that it pushed, so the head will move.
    Pushed,
    /// It ended without a push.
    GaveUp,
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
    /// Its address, for people who have to read it themselves.
    pub url: Option<String>,
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
    /// L3: empty, malformed or without a word about the result.
    NotReady,
    /// The reviewer says that it is still at work.
    InProgress,
    /// L3: the reviewer's profile cannot read it, for this reason. It never counts as clean.
    Unreadable(String),
    /// The reviewer says that it could not review.
    Failure(String),
}

/// A post that nobody but a person can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadablePost {
    pub reason: String,
    pub url: Option<String>,
}

/// The state of each expected review.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewArrivals {
    pub arrived: Vec<ReviewerName>,
    pub missing: Vec<ReviewerName>,
    pub failed: BTreeMap<ReviewerName, String>,
    /// These did post, but nobody knows what. They are not in `missing`.
    pub unreadable: BTreeMap<ReviewerName, UnreadablePost>,
}

impl ReviewerPost {
    /// Whether it is a finished review.
    pub fn is_complete(&self) -> bool {
        matches!(
            self.kind,
            PostKind::Review(PostContent::Complete) | PostKind::Comment(PostContent::Complete)
        )
    }

    /// Whether it says nothing about the result, not even that it cannot be read.
    fn is_without_result(&self) -> bool {
        matches!(
            self.kind,
            PostKind::Review(PostContent::NotReady) | PostKind::Comment(PostContent::NotReady)
        )
    }

    /// Why the reviewer could not review, if the post says so.
    fn failure(&self) -> Option<&str> {
        match &self.kind {
            PostKind::Review(PostContent::Failure(reason))
            | PostKind::Comment(PostContent::Failure(reason))
            | PostKind::CheckRunFailed(reason) => Some(reason),
            PostKind::Review(_) | PostKind::Comment(_) => None,
        }
    }

    fn unreadable(&self) -> Option<UnreadablePost> {
        match &self.kind {
            PostKind::Review(PostContent::Unreadable(reason))
            | PostKind::Comment(PostContent::Unreadable(reason)) => {
                Some(UnreadablePost { reason: reason.clone(), url: self.url.clone() })
            }
            _ => None,
        }
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
    /// Sorts the expected reviewers by their posts for the anchored head. The newest post decides. Only a
    /// failure gives way to an older finished review, because a reviewer may fail at a second attempt that
    /// nobody needed.
    pub fn arrivals(&self) -> ReviewArrivals {
        let mut arrivals = ReviewArrivals::default();
        for reviewer in &self.expected {
            let own = self.posts.iter().filter(|p| p.reviewer == *reviewer && p.counts_for(&self.anchor));
            let failure = own.clone().filter(|post| post.failure().is_some()).max_by_key(|post| post.at);
            let result = own.filter(|post| post.failure().is_none() && !post.is_without_result());
            let result = result.max_by_key(|post| post.at);
            let reviewer = reviewer.clone();
            match (result, failure) {
                (Some(result), _) if result.is_complete() => arrivals.arrived.push(reviewer),
                (result, Some(failure)) if result.is_none_or(|result| result.at < failure.at) => {
                    arrivals.failed.insert(reviewer, failure.failure().unwrap_or_default().to_owned());
                }
                (Some(result), _) => match result.unreadable() {
                    Some(unreadable) => {
                        arrivals.unreadable.insert(reviewer, unreadable);
                    }
                    None => arrivals.missing.push(reviewer),
                },
                (None, _) => arrivals.missing.push(reviewer),
            }
        }
        arrivals
    }
}
