//! Finds the head that a comment is about. GitHub does not record it for replies, so it follows from commits
//! and times.

use crate::domain::review_loop::{ReviewerPost, matches_commit};
use crate::domain::snapshot::{PullRequestSnapshot, ThreadComment};
use crate::domain::vocabulary::Sha;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The heads that left a trace, each with the earliest time at which it was the head, sorted by time.
#[derive(Debug)]
pub(super) struct Heads<'a> {
    starts: Vec<(Timestamp, &'a Sha)>,
    /// The commit of each review, by review id.
    reviewed: BTreeMap<&'a str, &'a Sha>,
}

impl<'a> Heads<'a> {
    pub(super) fn of(snapshot: &'a PullRequestSnapshot) -> Self {
        let reviews = snapshot.reviews.iter();
        let reviews = reviews.filter_map(|review| Some((review.commit.as_ref()?, review.published_at())));
        let comments = snapshot.threads.iter().flat_map(|thread| &thread.comments);
        let comments =
            comments.filter_map(|comment| Some((comment.original_commit.as_ref()?, comment.created_at)));
        let pushes = snapshot.force_pushes.iter().filter_map(|push| Some((push.after.as_ref()?, push.at)));
        let mut first: BTreeMap<&Sha, Timestamp> = BTreeMap::new();
        for (sha, at) in reviews.chain(comments).chain(pushes) {
            let earliest = first.entry(sha).or_insert(at);
            *earliest = at.min(*earliest);
        }
        // A commit that first appears after the present head was pushed is an older head, reviewed late.
        let head = &snapshot.head.sha;
        first.retain(|sha, at| *sha != head && *at < snapshot.pushed.at);
        first.insert(head, snapshot.pushed.at);
        let mut starts: Vec<_> = first.into_iter().map(|(sha, at)| (at, sha)).collect();
        starts.sort();
        let commits = snapshot.reviews.iter();
        let reviewed =
            commits.filter_map(|review| Some((review.id.as_str(), review.commit.as_ref()?))).collect();
        Self { starts, reviewed }
    }

    /// The head that a post is about: that of its commit, else the head at the time of the post.
    pub(super) fn of_post(&self, post: &ReviewerPost) -> usize {
        let named = post.commit.as_ref();
        let by_commit =
            named.and_then(|commit| self.starts.iter().position(|(_, sha)| matches_commit(commit, sha)));
        by_commit.map_or_else(|| self.at(post.at), |position| position + 1)
    }

    fn at(&self, moment: Timestamp) -> usize {
        self.starts.partition_point(|(start, _)| *start <= moment)
    }

    /// The position among the heads, by the commit of the comment's review or by its time. The newer one
    /// wins, because a reply may carry the commit of the comment that it answers.
    pub(super) fn of_comment(&self, comment: &ThreadComment) -> usize {
        let by_time = self.at(comment.created_at);
        let commit = comment.review.as_deref().and_then(|review| self.reviewed.get(review));
        let by_commit = commit.and_then(|commit| self.starts.iter().position(|(_, sha)| sha == commit));
        by_time.max(by_commit.map_or(0, |position| position + 1))
    }
}
