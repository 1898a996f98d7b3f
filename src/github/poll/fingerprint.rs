//! Fingerprints: two states of a pull request compared at the price of a light query.

use super::super::wire;
use crate::domain::snapshot::{PullRequestSnapshot, PullRequestState, RepositoryName, ReviewState};
use crate::domain::vocabulary::ThreadId;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt;

/// The part of a pull request that the light query reads. Equal fingerprints mean that nothing changed,
/// except perhaps the text of an older comment: only a full read shows that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    state: PullRequestState,
    draft: bool,
    head: String,
    updated_at: Timestamp,
    /// Absent if GitHub did not name it.
    repository: Option<RepositoryName>,
    threads: BTreeMap<ThreadId, ThreadFlags>,
    reviews: Newest,
    comments: Newest,
    /// Absent if the token may not read them.
    checks: Option<CheckDigest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ThreadFlags {
    resolved: bool,
    outdated: bool,
}

/// The length of a list, and its last element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Newest {
    count: u64,
    last: Option<(String, String, Timestamp)>,
}

/// GitHub's own counts. They include elements that GitHub failed to deliver.
#[derive(Debug, Clone, Copy)]
pub(in crate::github) struct Totals {
    pub(in crate::github) reviews: u64,
    pub(in crate::github) comments: u64,
}

/// The number of checks in each state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckDigest {
    state: Option<String>,
    total: u64,
    counts: BTreeMap<String, u64>,
}

/// A difference between two fingerprints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FingerprintChange {
    State,
    Head,
    /// The repository was renamed or transferred.
    Name,
    Threads,
    Reviews,
    Comments,
    Checks,
    /// Not part of the light query: these are asked for over REST.
    Reactions,
    /// Only the time of the last update changed: a new title, label or review request does that.
    Other,
}

impl Fingerprint {
    pub(in crate::github) fn of(
        snapshot: &PullRequestSnapshot,
        totals: Totals,
        checks: Option<CheckDigest>,
    ) -> Self {
        Self {
            state: snapshot.state,
            draft: snapshot.draft,
            head: snapshot.head.sha.as_str().to_owned(),
            updated_at: snapshot.updated_at,
            repository: Some(snapshot.repository.clone()),
            threads: snapshot
                .threads
                .iter()
                .map(|thread| {
                    let flags = ThreadFlags { resolved: thread.resolved, outdated: thread.outdated };
                    (thread.id.clone(), flags)
                })
                .collect(),
            reviews: Newest {
                count: totals.reviews,
                last: snapshot.reviews.last().map(|review| {
                    (review.id.clone(), review_state(review.state).to_owned(), review.updated_at)
                }),
            },
            comments: Newest {
                count: totals.comments,
                last: snapshot
                    .comments
                    .last()
                    .map(|comment| (comment.id.clone(), String::new(), comment.updated_at)),
            },
            checks,
        }
    }

    /// From a light answer and the further pages of its threads. None if the answer lacks a field.
    pub(in crate::github) fn of_light(
        node: wire::LightNode,
        further_threads: Vec<wire::LightThread>,
        with_checks: bool,
    ) -> Option<Self> {
        let threads = node.review_threads?;
        Some(Self {
            state: super::super::convert::state(&node.state?, false),
            draft: node.is_draft?,
            head: node.head_ref_oid?,
            updated_at: node.updated_at?,
            repository: node.repository.and_then(|found| RepositoryName::parse(&found.name_with_owner)),
            threads: threads
                .into_items()
                .chain(further_threads)
                .map(|thread| {
                    let flags = ThreadFlags { resolved: thread.is_resolved, outdated: thread.is_outdated };
                    (thread.id.into(), flags)
                })
                .collect(),
            reviews: match node.reviews {
                Some(reviews) => Newest {
                    count: reviews.total_count.unwrap_or_default(),
                    last: reviews.into_items().last().map(|review| {
                        let state = review_state(super::super::convert::review_state(&review.state));
                        (review.id, state.to_owned(), review.updated_at)
                    }),
                },
                None => Newest::default(),
            },
            comments: {
                let comments = node.comments?;
                Newest {
                    count: comments.total_count.unwrap_or_default(),
                    last: comments
                        .into_items()
                        .last()
                        .map(|comment| (comment.id, String::new(), comment.updated_at)),
                }
            },
            checks: with_checks
                .then(|| node.status_check_rollup.as_ref().map(CheckDigest::of).unwrap_or_default()),
        })
    }

    /// The differences from `self` to `newer`.
    pub fn changes(&self, newer: &Self) -> Vec<FingerprintChange> {
        let mut changes = Vec::new();
        let mut note = |differs: bool, change| {
            if differs {
                changes.push(change);
            }
        };
        note(self.state != newer.state || self.draft != newer.draft, FingerprintChange::State);
        note(self.head != newer.head, FingerprintChange::Head);
        let names = self.repository.as_ref().zip(newer.repository.as_ref());
        note(names.is_some_and(|(old, new)| old != new), FingerprintChange::Name);
        note(self.threads != newer.threads, FingerprintChange::Threads);
        note(self.reviews != newer.reviews, FingerprintChange::Reviews);
        note(self.comments != newer.comments, FingerprintChange::Comments);
        note(self.checks != newer.checks, FingerprintChange::Checks);
        if changes.is_empty() && self.updated_at != newer.updated_at {
            changes.push(FingerprintChange::Other);
        }
        changes
    }
}

impl CheckDigest {
    pub(in crate::github) fn of(rollup: &wire::Rollup) -> Self {
        let contexts = &rollup.contexts;
        let by_kind = [
            ("run", &contexts.check_run_counts_by_state),
            ("status", &contexts.status_context_counts_by_state),
        ];
        let mut counts = BTreeMap::new();
        for (kind, by_state) in by_kind {
            for entry in by_state.iter().flatten().filter(|entry| entry.count > 0) {
                counts.insert(format!("{kind} {}", entry.state), entry.count);
            }
        }
        Self { state: Some(rollup.state.clone()), total: contexts.total_count, counts }
    }
}

fn review_state(state: ReviewState) -> &'static str {
    match state {
        ReviewState::Approved => "approved",
        ReviewState::ChangesRequested => "changes requested",
        ReviewState::Commented => "commented",
        ReviewState::Dismissed => "dismissed",
        ReviewState::Pending => "pending",
        ReviewState::Other => "other",
    }
}

impl fmt::Display for FingerprintChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FingerprintChange::State => "its state",
            FingerprintChange::Head => "its head",
            FingerprintChange::Name => "its repository's name",
            FingerprintChange::Threads => "its threads",
            FingerprintChange::Reviews => "its reviews",
            FingerprintChange::Comments => "its comments",
            FingerprintChange::Checks => "its checks",
            FingerprintChange::Reactions => "its reactions",
            FingerprintChange::Other => "something else",
        })
    }
}
