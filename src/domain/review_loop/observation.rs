//! The facts of one poll, and which of them count for the wait (L1, L3).

use crate::domain::policy::Policy;
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
    /// The last reopening, whoever did it.
    pub reopened_at: Option<Timestamp>,
    /// L6: the last reopening by somebody who may override (R4). The counts start at it.
    pub counts_from: Option<Timestamp>,
    /// The reviewers that the loop waits for.
    pub expected: BTreeSet<ReviewerName>,
    /// C6: driven reviewers that have used all their cycles on this pull request. Cloture asks them nothing more.
    pub exhausted: BTreeSet<ReviewerName>,
    /// C6: observed reviewers that Cloture has asked for a review `max_asks` times. It asks them no more, but they may
    /// come by themselves.
    pub asks_spent: BTreeSet<ReviewerName>,
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
    /// Its last round ended without a push, or was interrupted.
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
    /// It is not where this reviewer states its results, such as an empty review around inline comments or a
    /// chat comment. Then it replaces no other post, and a finished review outweighs it.
    pub aside: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PostKind {
    Review(PostContent),
    Comment(PostContent),
    /// A reaction to the pull request: clean, or running.
    Reaction(PostContent),
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
    /// When its present text was written.
    pub at: Timestamp,
}

/// The state of each expected review.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReviewArrivals {
    pub arrived: Vec<ReviewerName>,
    pub missing: Vec<ReviewerName>,
    /// C6: not in, and Cloture asks for it no more. They are not in `missing`.
    pub exhausted: Vec<ReviewerName>,
    pub failed: BTreeMap<ReviewerName, String>,
    /// These did post, but nobody knows what. They are not in `missing`.
    pub unreadable: BTreeMap<ReviewerName, UnreadablePost>,
}

impl ReviewerPost {
    /// Whether it is a finished review.
    pub fn is_complete(&self) -> bool {
        self.content() == Some(&PostContent::Complete)
    }

    fn is_review(&self) -> bool {
        matches!(self.kind, PostKind::Review(_))
    }

    pub fn is_reaction(&self) -> bool {
        matches!(self.kind, PostKind::Reaction(_))
    }

    /// None for a check.
    pub fn content(&self) -> Option<&PostContent> {
        match &self.kind {
            PostKind::Review(content) | PostKind::Comment(content) | PostKind::Reaction(content) => {
                Some(content)
            }
            PostKind::CheckRunFailed(_) => None,
        }
    }

    /// L1: a review or check counts if it was made on the anchored commit. A comment counts if it is younger
    /// than the push and names no other commit.
    pub fn counts_for(&self, anchor: &WaitAnchor) -> bool {
        match self.kind {
            PostKind::Review(_) | PostKind::CheckRunFailed(_) => self.commit.as_ref() == Some(&anchor.head),
            PostKind::Comment(_) | PostKind::Reaction(_) => {
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
    /// C6: takes the requests for reviews into account that were made since the counts began.
    pub fn count_asks(&mut self, asked: &BTreeMap<ReviewerName, u32>, policy: &Policy) {
        let spent = asked.iter().filter(|(_, asked)| **asked >= policy.max_asks);
        self.asks_spent = spent.map(|(reviewer, _)| reviewer.clone()).collect();
    }

    /// The reviewers whose review of this head is missing, and that may still be asked for it (C6).
    pub fn to_ask(&self) -> Vec<ReviewerName> {
        let missing = self.arrivals().missing.into_iter();
        missing.filter(|reviewer| !self.asks_spent.contains(reviewer)).collect()
    }

    /// The state of every expected review.
    pub fn arrivals(&self) -> ReviewArrivals {
        self.arrivals_of(&self.expected)
    }

    /// Sorts reviewers by their posts for the anchored head (L3). In this order: a review that runs is
    /// missing, a post that cannot be read holds the reviewer up, and a finished review counts. A failure
    /// gives way to a finished review, because a reviewer may fail at a second attempt that nobody needed.
    pub fn arrivals_of(&self, reviewers: &BTreeSet<ReviewerName>) -> ReviewArrivals {
        let mut arrivals = ReviewArrivals::default();
        for reviewer in reviewers {
            let own = self.posts.iter().filter(|p| p.reviewer == *reviewer && p.counts_for(&self.anchor));
            let own: Vec<&ReviewerPost> = own.collect();
            let reviewer = reviewer.clone();
            if own.iter().any(|post| is_running(post, &own)) {
                arrivals.missing.push(reviewer);
            } else if let Some(post) = unreadable(&own) {
                arrivals.unreadable.insert(reviewer, post);
            } else if own.iter().any(|post| post.is_complete()) {
                arrivals.arrived.push(reviewer);
            } else if let Some(reason) = failure(&own) {
                arrivals.failed.insert(reviewer, reason);
            } else if self.exhausted.contains(&reviewer) {
                arrivals.exhausted.push(reviewer);
            } else {
                arrivals.missing.push(reviewer);
            }
        }
        arrivals
    }
}

/// Whether the post says that a review runs. Reviewers edit such posts in place, so a newer post does not end
/// the run. A reaction may be left behind, so a newer finished post does.
fn is_running(post: &ReviewerPost, own: &[&ReviewerPost]) -> bool {
    let is_over = || own.iter().any(|other| other.is_complete() && other.at > post.at);
    post.content() == Some(&PostContent::InProgress) && !(post.is_reaction() && is_over())
}

/// The newest unreadable post that no later post of its kind replaced. A finished review outweighs a chat
/// comment, which would otherwise hold up the reviewer until the next push.
fn unreadable(own: &[&ReviewerPost]) -> Option<UnreadablePost> {
    let is_replaced = |unreadable: &ReviewerPost| {
        own.iter().filter(|post| post.is_complete() && !post.aside && !post.is_reaction()).any(|post| {
            unreadable.aside || post.is_review() == unreadable.is_review() && post.at > unreadable.at
        })
    };
    let unreadable = own.iter().filter_map(|post| match post.content() {
        Some(PostContent::Unreadable(reason)) if !is_replaced(post) => Some((post, reason)),
        _ => None,
    });
    let (post, reason) = unreadable.max_by_key(|(post, _)| post.at)?;
    Some(UnreadablePost { reason: reason.clone(), url: post.url.clone(), at: post.at })
}

fn failure(own: &[&ReviewerPost]) -> Option<String> {
    let failures = own.iter().filter_map(|post| match &post.kind {
        PostKind::Review(PostContent::Failure(reason))
        | PostKind::Comment(PostContent::Failure(reason))
        | PostKind::CheckRunFailed(reason) => Some((post.at, reason)),
        _ => None,
    });
    failures.max_by_key(|(at, _)| *at).map(|(_, reason)| reason.clone())
}

#[cfg(test)]
mod tests;
