//! The forge's state: accounts, repositories with real file trees, pull requests and everything said on them.
//!
//! Plain data in arenas, one `Vec` per kind, addressed by small typed indices: nothing is ever removed, so an index
//! stays valid for the life of the world and node ids can be made from it. What changes the world lives in
//! [`changes`]; what two file contents mean as a diff in [`diff`].

mod changes;
pub(crate) mod diff;
mod lookup;
mod posting;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(crate) use changes::{NewCheck, NewPull, TreeEdit};
pub(crate) use lookup::mentions;
pub(crate) use posting::{NewReview, NewSimulatedThread};

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

/// A file tree: path to contents.
pub(crate) type Tree = BTreeMap<String, Arc<str>>;

/// A commit's full name, 40 hexadecimal digits.
pub(crate) type Oid = Arc<str>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedAccountKind {
    #[default]
    User,
    Bot,
    Organization,
    Mannequin,
    Team,
}

#[derive(Debug)]
pub(crate) struct SimulatedAccount {
    /// As GraphQL spells it: a bot's without `[bot]`.
    pub(crate) login: String,
    pub(crate) kind: SimulatedAccountKind,
    pub(crate) name: Option<String>,
    pub(crate) database_id: i64,
    /// What a deleted account wrote stays; its author reads as null.
    pub(crate) deleted: bool,
}

/// What an account is to a repository, from most to least trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedAssociation {
    Owner,
    Member,
    Collaborator,
    Contributor,
    None,
}

impl SimulatedAssociation {
    pub(crate) fn as_graphql(self) -> &'static str {
        match self {
            Self::Owner => "OWNER",
            Self::Member => "MEMBER",
            Self::Collaborator => "COLLABORATOR",
            Self::Contributor => "CONTRIBUTOR",
            Self::None => "NONE",
        }
    }

    pub(crate) fn may_write(self) -> bool {
        self <= Self::Collaborator
    }

    pub(crate) fn permission(self) -> &'static str {
        match self {
            Self::Owner => "ADMIN",
            Self::Member | Self::Collaborator => "WRITE",
            Self::Contributor | Self::None => "READ",
        }
    }
}

#[derive(Debug)]
pub(crate) struct SimulatedRepository {
    pub(crate) owner: AccountId,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) private: bool,
    pub(crate) archived: bool,
    pub(crate) default_branch: String,
    pub(crate) branches: BTreeMap<String, Oid>,
    pub(crate) associations: BTreeMap<AccountId, SimulatedAssociation>,
    pub(crate) labels: Vec<LabelId>,
    pub(crate) pulls: Vec<PullId>,
    pub(crate) issues: Vec<IssueId>,
    pub(crate) created_at: Timestamp,
    pub(crate) pushed_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) oid: Oid,
    pub(crate) repository: RepositoryId,
    pub(crate) parents: Vec<Oid>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) author: AccountId,
    pub(crate) message: String,
    pub(crate) at: Timestamp,
    pub(crate) checks: Vec<CheckId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    Open,
    Closed,
    Merged,
}

#[derive(Debug)]
pub(crate) struct Pull {
    pub(crate) repository: RepositoryId,
    pub(crate) number: i64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) author: AccountId,
    pub(crate) state: PullState,
    pub(crate) draft: bool,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) closed_at: Option<Timestamp>,
    pub(crate) merged_at: Option<Timestamp>,
    pub(crate) merged_by: Option<AccountId>,
    pub(crate) merge_commit: Option<Oid>,
    pub(crate) base_ref: String,
    pub(crate) base: Oid,
    pub(crate) head_ref: String,
    pub(crate) head: Oid,
    /// The branch's repository may be a fork that was deleted since.
    pub(crate) head_repository_deleted: bool,
    /// The commits between base and head, oldest first. A force push replaces them.
    pub(crate) commits: Vec<Oid>,
    pub(crate) labels: Vec<LabelId>,
    pub(crate) assignees: Vec<AccountId>,
    pub(crate) requested: Vec<AccountId>,
    pub(crate) threads: Vec<ThreadId>,
    pub(crate) reviews: Vec<ReviewId>,
    pub(crate) comments: Vec<CommentId>,
    pub(crate) timeline: Vec<SimulatedTimelineItem>,
}

#[derive(Debug)]
pub(crate) struct SimulatedTimelineItem {
    pub(crate) at: Timestamp,
    pub(crate) actor: AccountId,
    pub(crate) what: TimelineEvent,
}

#[derive(Debug, Clone)]
pub(crate) enum TimelineEvent {
    Commit(Oid),
    ForcePushed { before: Oid, after: Oid },
    Commented(CommentId),
    Reviewed(ReviewId),
    ReviewRequested(AccountId),
    ReviewRequestRemoved(AccountId),
    Labeled(LabelId),
    Unlabeled(LabelId),
    ReadyForReview,
    ConvertedToDraft,
    Closed,
    Reopened,
    Merged(Oid),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Left,
    #[default]
    Right,
}

#[derive(Debug)]
pub(crate) struct SimulatedThread {
    pub(crate) pull: PullId,
    pub(crate) path: String,
    /// Where it is now; `None` for a thread about a whole file, and once outdated.
    pub(crate) line: Option<i64>,
    pub(crate) start_line: Option<i64>,
    pub(crate) original_line: Option<i64>,
    pub(crate) original_start_line: Option<i64>,
    pub(crate) side: Side,
    pub(crate) file_level: bool,
    pub(crate) outdated: bool,
    pub(crate) resolved_by: Option<AccountId>,
    pub(crate) comments: Vec<ReviewCommentId>,
}

/// Whether readers are told that a comment was edited, hidden or superseded.
#[derive(Debug, Default)]
pub(crate) struct CommentEdits {
    pub(crate) edited_at: Option<Timestamp>,
    pub(crate) edited_by: Option<AccountId>,
    pub(crate) minimized: Option<String>,
}

#[derive(Debug)]
pub(crate) struct ReviewComment {
    pub(crate) thread: ThreadId,
    pub(crate) review: ReviewId,
    pub(crate) author: AccountId,
    pub(crate) body: String,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) commit: Oid,
    pub(crate) original_commit: Oid,
    pub(crate) hunk: String,
    pub(crate) reply_to: Option<ReviewCommentId>,
    pub(crate) marks: CommentEdits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedReviewState {
    #[default]
    Commented,
    Approved,
    ChangesRequested,
    Dismissed,
    Pending,
}

impl SimulatedReviewState {
    pub(crate) fn as_graphql(self) -> &'static str {
        match self {
            Self::Commented => "COMMENTED",
            Self::Approved => "APPROVED",
            Self::ChangesRequested => "CHANGES_REQUESTED",
            Self::Dismissed => "DISMISSED",
            Self::Pending => "PENDING",
        }
    }
}

#[derive(Debug)]
pub(crate) struct SimulatedReview {
    pub(crate) pull: PullId,
    pub(crate) author: AccountId,
    pub(crate) state: SimulatedReviewState,
    pub(crate) body: String,
    pub(crate) commit: Oid,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) submitted_at: Option<Timestamp>,
    pub(crate) comments: Vec<ReviewCommentId>,
    pub(crate) marks: CommentEdits,
    /// A pending review that its author threw away; it stays in the arena, out of sight.
    pub(crate) deleted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Pull(PullId),
    Issue(IssueId),
}

#[derive(Debug)]
pub(crate) struct SimulatedComment {
    pub(crate) subject: Subject,
    pub(crate) author: AccountId,
    pub(crate) body: String,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) marks: CommentEdits,
    pub(crate) deleted: bool,
}

#[derive(Debug)]
pub(crate) struct Issue {
    pub(crate) repository: RepositoryId,
    pub(crate) number: i64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) author: AccountId,
    pub(crate) labels: Vec<LabelId>,
    pub(crate) assignees: Vec<AccountId>,
    pub(crate) comments: Vec<CommentId>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

#[derive(Debug)]
pub(crate) struct SimulatedLabel {
    pub(crate) repository: RepositoryId,
    pub(crate) name: String,
    pub(crate) color: String,
    pub(crate) description: Option<String>,
    pub(crate) created_at: Timestamp,
}

#[derive(Debug)]
pub(crate) struct SimulatedCheck {
    pub(crate) commit: Oid,
    pub(crate) app: AccountId,
    pub(crate) name: String,
    /// `None` while it runs.
    pub(crate) conclusion: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) started_at: Timestamp,
    pub(crate) completed_at: Option<Timestamp>,
}

#[derive(Debug)]
pub(crate) struct Reaction {
    pub(crate) by: AccountId,
    pub(crate) content: String,
    pub(crate) at: Timestamp,
}

/// A `repository_dispatch` that was received.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    pub at: Timestamp,
    pub repository: String,
    pub by: String,
    pub event_type: String,
    pub client_payload: serde_json::Value,
}

/// Something that came in over the API and changed the forge, in the order it took effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceivedWrite {
    pub at: Timestamp,
    pub by: String,
    /// `comment`, `reply`, `review`, `thread`, `resolve`, `label`, `issue`, `dispatch` …
    pub what: String,
    /// `owner/name#number`, or `owner/name` where no pull request or issue is concerned.
    pub on: String,
    /// The node id of what was made or changed.
    pub id: String,
    /// The text, the label's name, the reviewer asked, the event type.
    pub text: String,
    /// True for a reply or thread that went into a pending review, where nobody but its author sees it.
    pub pending: bool,
}

/// What scripted accounts react to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorldEventKind {
    Opened,
    Push,
    ReviewRequested,
    Comment,
    /// A comment, reply or review that names somebody with `@`; decided by the filter, never emitted by itself.
    Mention,
    Reply,
    Review,
    Resolved,
    Unresolved,
    Labeled,
    Unlabeled,
    Ready,
    Closed,
    Reopened,
    Merged,
    Issue,
    Dispatch,
}

/// One event with what a filter may ask about it.
#[derive(Debug, Clone)]
pub(crate) struct WorldEvent {
    pub(crate) event: WorldEventKind,
    pub(crate) by: AccountId,
    pub(crate) repository: RepositoryId,
    pub(crate) pull: Option<PullId>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) of: Option<AccountId>,
    pub(crate) text: String,
}

/// The whole forge.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Timestamp,
    /// Set while a request is being carried out, so that scripted changes are told from a client's.
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
    pub(crate) happenings: Vec<WorldEvent>,
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
            happenings: Vec::new(),
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

/// Why the forge refused a change; the kinds are GitHub's own error types.
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
