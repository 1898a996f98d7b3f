//! The world's records: accounts, repositories, pull requests, threads, reviews, comments, checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    AccountId, CheckId, CommentId, IssueId, LabelId, Oid, PullId, ReactionId, RepositoryId, ReviewCommentId,
    ReviewId, ThreadId, Tree,
};

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
    /// GraphQL's spelling: a bot's login without `[bot]`.
    pub(crate) login: String,
    pub(crate) kind: SimulatedAccountKind,
    pub(crate) name: Option<String>,
    pub(crate) database_id: i64,
    /// The scenario gives the id. GraphQL shows no made-up id of a bot: it would be a look-alike's.
    pub(crate) has_given_id: bool,
    /// The texts of a deleted account stay; their author reads as null.
    pub(crate) deleted: bool,
}

/// An account's relation to a repository, from most to least trusted.
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
    /// Former full names. They lead here until another repository takes them.
    pub(crate) former_names: Vec<String>,
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
    /// True when the head branch was in a fork that no longer exists.
    pub(crate) head_repository_deleted: bool,
    /// The commits between base and head, oldest first. A force push replaces them.
    pub(crate) commits: Vec<Oid>,
    pub(crate) labels: Vec<LabelId>,
    pub(crate) assignees: Vec<AccountId>,
    pub(crate) requested: Vec<AccountId>,
    pub(crate) reactions: Vec<ReactionId>,
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
    /// The current line; `None` for a thread about a whole file, and for an outdated one.
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

/// Later edits of a comment: changed text, or hidden with a reason.
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
    pub(crate) edits: CommentEdits,
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
    pub(crate) edits: CommentEdits,
    /// A pending review that its author deleted. It keeps its index, and nobody sees it.
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
    pub(crate) edits: CommentEdits,
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
    /// `None` while the check runs.
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
