//! The state of the simulated GitHub: accounts, repositories with file trees, pull requests, conversations.
//!
//! Every kind of record has one `Vec`, addressed by a typed index. Records are never removed, so an index stays
//! valid for the life of the world, and node ids are made from it. `entities` has the records; `commits`, `pulls`,
//! `issues` and `posting` change them; `events` reports changes; `lookup` finds records and names them.

mod commits;
pub(crate) mod diff;
mod entities;
mod events;
mod issues;
mod lookup;
mod posting;
mod pulls;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

pub use entities::{PullState, Side, SimulatedAccountKind, SimulatedAssociation, SimulatedReviewState};
pub use events::{Dispatch, ReceivedWrite, WorldEventKind};

pub(crate) use commits::TreeEdit;
pub(crate) use entities::{
    CommentEdits, Commit, Issue, Pull, Reaction, ReviewComment, SimulatedAccount, SimulatedCheck,
    SimulatedComment, SimulatedLabel, SimulatedRepository, SimulatedReview, SimulatedThread,
    SimulatedTimelineItem, Subject, TimelineEvent,
};
pub(crate) use events::WorldEvent;
pub(crate) use issues::NewCheck;
pub(crate) use lookup::mentions;
pub(crate) use posting::{NewReview, NewSimulatedThread};
pub(crate) use pulls::NewPull;

macro_rules! ids {
    ($($name:ident),*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(pub(crate) usize);
    )*};
}
ids!(
    AccountId,
    RepositoryId,
    PullId,
    ThreadId,
    ReviewId,
    ReviewCommentId,
    CommentId,
    IssueId,
    LabelId,
    CheckId,
    ReactionId
);

macro_rules! database_ids {
    ($($name:ident, $first:literal);* $(;)?) => {$(
        impl $name {
            /// The numeric id, which REST and GraphQL both show.
            pub(crate) fn database_id(self) -> i64 {
                $first + i64::try_from(self.0).unwrap_or_default()
            }
        }
    )*};
}
database_ids! {
    RepositoryId, 500_001;
    CommentId, 1_000_001;
    PullId, 2_000_001;
    ReviewCommentId, 3_000_001;
    ReviewId, 4_000_001;
    CheckId, 5_000_001;
    IssueId, 6_000_001;
}

/// A file tree: path to contents.
pub(crate) type Tree = BTreeMap<String, Arc<str>>;

/// A commit's full name, 40 hexadecimal digits.
pub(crate) type Oid = Arc<str>;

/// The whole simulated GitHub.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Timestamp,
    /// True while a client's request is carried out. It separates a client's changes from scripted ones.
    pub(crate) serving: bool,
    pub(crate) base_url: String,
    pub(crate) accounts: Vec<SimulatedAccount>,
    pub(crate) repositories: Vec<SimulatedRepository>,
    pub(crate) commits: BTreeMap<Oid, Commit>,
    pub(crate) pulls: Vec<Pull>,
    pub(crate) threads: Vec<SimulatedThread>,
    pub(crate) reviews: Vec<SimulatedReview>,
    pub(crate) review_comments: Vec<ReviewComment>,
    pub(crate) comments: Vec<SimulatedComment>,
    pub(crate) issues: Vec<Issue>,
    pub(crate) labels: Vec<SimulatedLabel>,
    pub(crate) checks: Vec<SimulatedCheck>,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) dispatches: Vec<Dispatch>,
    pub(crate) posts: Arc<Vec<ReceivedWrite>>,
    pub(crate) events: Vec<WorldEvent>,
}

impl World {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            now,
            serving: false,
            base_url: "https://github.example".to_owned(),
            accounts: Vec::new(),
            repositories: Vec::new(),
            commits: BTreeMap::new(),
            pulls: Vec::new(),
            threads: Vec::new(),
            reviews: Vec::new(),
            review_comments: Vec::new(),
            comments: Vec::new(),
            issues: Vec::new(),
            labels: Vec::new(),
            checks: Vec::new(),
            reactions: Vec::new(),
            dispatches: Vec::new(),
            posts: Arc::default(),
            events: Vec::new(),
        }
    }
}

macro_rules! arena {
    ($($id:ident, $item:ident, $field:ident);* $(;)?) => {$(
        impl std::ops::Index<$id> for World {
            type Output = $item;
            fn index(&self, id: $id) -> &$item {
                &self.$field[id.0]
            }
        }
        impl std::ops::IndexMut<$id> for World {
            fn index_mut(&mut self, id: $id) -> &mut $item {
                &mut self.$field[id.0]
            }
        }
    )*};
}
arena! {
    AccountId, SimulatedAccount, accounts;
    RepositoryId, SimulatedRepository, repositories;
    PullId, Pull, pulls;
    ThreadId, SimulatedThread, threads;
    ReviewId, SimulatedReview, reviews;
    ReviewCommentId, ReviewComment, review_comments;
    CommentId, SimulatedComment, comments;
    IssueId, Issue, issues;
    LabelId, SimulatedLabel, labels;
    CheckId, SimulatedCheck, checks;
    ReactionId, Reaction, reactions;
}

/// Why the simulated GitHub refused a change. The kinds are GitHub's own error types.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WorldRefusal {
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Forbidden(String),
    #[error("{0}")]
    Unprocessable(String),
}

impl WorldRefusal {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "NOT_FOUND",
            Self::Forbidden(_) => "FORBIDDEN",
            Self::Unprocessable(_) => "UNPROCESSABLE",
        }
    }
}
