//! Answers to the queries that read a pull request.

use super::{Id, NameWithOwner, WireActor, WireConnection, WireNode, WireOid};
use jiff::Timestamp;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct PullRequestAnswer {
    pub(crate) repository: Option<RepositoryWithPullRequest>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RepositoryWithPullRequest {
    #[serde(flatten)]
    pub(crate) repository: RepositoryNode,
    pub(crate) pull_request: Option<WirePullRequest>,
}

/// A repository's id and its present name.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RepositoryNode {
    pub(crate) id: Option<String>,
    pub(crate) name_with_owner: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WirePullRequest {
    pub(crate) id: String,
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: String,
    pub(crate) url: String,
    pub(crate) state: String,
    pub(crate) is_draft: bool,
    pub(crate) merged: bool,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) closed_at: Option<Timestamp>,
    pub(crate) merged_at: Option<Timestamp>,
    pub(crate) base_ref_name: String,
    pub(crate) base_ref_oid: String,
    pub(crate) head_ref_name: String,
    pub(crate) head_ref_oid: String,
    pub(crate) author_association: String,
    pub(crate) viewer_did_author: bool,
    pub(crate) author: Option<WireActor>,
    pub(crate) head_repository: Option<NameWithOwner>,
    pub(crate) head_commit: WireConnection<HeadCommit>,
    pub(crate) labels: Option<WireConnection<WireLabel>>,
    pub(crate) reviews: Option<WireConnection<WireReview>>,
    pub(crate) comments: WireConnection<WireComment>,
    pub(crate) review_threads: WireConnection<WireThread>,
    pub(crate) timeline_items: WireConnection<WireTimelineItem>,
    /// Present only if the query asked for it; the same holds for the checks.
    pub(crate) review_requests: Option<WireConnection<WireReviewRequest>>,
    pub(crate) checks: Option<WireConnection<CheckedCommit>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeadCommit {
    pub(crate) commit: DatedCommit,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatedCommit {
    pub(crate) oid: String,
    pub(crate) committed_date: Timestamp,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireLabel {
    pub(crate) name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireReview {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) state: String,
    pub(crate) body: String,
    pub(crate) created_at: Timestamp,
    pub(crate) submitted_at: Option<Timestamp>,
    pub(crate) updated_at: Timestamp,
    pub(crate) last_edited_at: Option<Timestamp>,
    pub(crate) author_association: String,
    pub(crate) viewer_did_author: bool,
    pub(crate) is_minimized: bool,
    pub(crate) author: Option<WireActor>,
    pub(crate) commit: Option<WireOid>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireComment {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) body: String,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) last_edited_at: Option<Timestamp>,
    pub(crate) author_association: String,
    pub(crate) viewer_did_author: bool,
    pub(crate) is_minimized: bool,
    pub(crate) minimized_reason: Option<String>,
    pub(crate) author: Option<WireActor>,
}

#[expect(clippy::struct_excessive_bools, reason = "these are GitHub's independent flags, not modes")]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireThread {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
    pub(crate) start_line: Option<u32>,
    pub(crate) original_line: Option<u32>,
    pub(crate) original_start_line: Option<u32>,
    pub(crate) diff_side: String,
    pub(crate) subject_type: String,
    pub(crate) is_outdated: bool,
    pub(crate) is_resolved: bool,
    pub(crate) viewer_can_reply: bool,
    pub(crate) viewer_can_resolve: bool,
    pub(crate) viewer_can_unresolve: bool,
    pub(crate) resolved_by: Option<WireActor>,
    pub(crate) comments: WireConnection<WireThreadComment>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireThreadComment {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) body: String,
    pub(crate) state: String,
    pub(crate) diff_hunk: String,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) last_edited_at: Option<Timestamp>,
    pub(crate) author_association: String,
    pub(crate) viewer_did_author: bool,
    pub(crate) is_minimized: bool,
    pub(crate) minimized_reason: Option<String>,
    pub(crate) author: Option<WireActor>,
    pub(crate) commit: Option<WireOid>,
    pub(crate) original_commit: Option<WireOid>,
    pub(crate) reply_to: Option<Id>,
    pub(crate) pull_request_review: Option<Id>,
}

/// Only the two kinds of event that the query asks for have fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireTimelineItem {
    #[serde(rename = "__typename")]
    pub(crate) kind: String,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) actor: Option<WireActor>,
    pub(crate) before_commit: Option<WireOid>,
    pub(crate) after_commit: Option<WireOid>,
}

pub(crate) type PagesAnswer = WireNode<PullRequestPages>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PullRequestPages {
    pub(crate) labels: Option<WireConnection<WireLabel>>,
    pub(crate) reviews: Option<WireConnection<WireReview>>,
    pub(crate) comments: Option<WireConnection<WireComment>>,
    pub(crate) review_threads: Option<WireConnection<WireThread>>,
    pub(crate) timeline_items: Option<WireConnection<WireTimelineItem>>,
}

pub(crate) type ThreadPagesAnswer = WireNode<ThreadPage>;

#[derive(Debug, Deserialize)]
pub(crate) struct ThreadPage {
    pub(crate) comments: Option<WireConnection<WireThreadComment>>,
}

pub(crate) type ReviewRequestsAnswer = WireNode<WithRequests>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WithRequests {
    pub(crate) review_requests: Option<WireConnection<WireReviewRequest>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireReviewRequest {
    pub(crate) as_code_owner: bool,
    pub(crate) requested_reviewer: Option<WireRequestedReviewer>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireRequestedReviewer {
    #[serde(rename = "__typename")]
    pub(crate) kind: String,
    pub(crate) login: Option<String>,
    pub(crate) database_id: Option<u64>,
    pub(crate) combined_slug: Option<String>,
}

pub(crate) type ChecksAnswer = WireNode<WithChecks>;

#[derive(Debug, Deserialize)]
pub(crate) struct WithChecks {
    pub(crate) checks: Option<WireConnection<CheckedCommit>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CheckedCommit {
    pub(crate) commit: CommitChecks,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommitChecks {
    pub(crate) oid: String,
    pub(crate) check_suites: Option<WireConnection<CheckSuite>>,
    pub(crate) status_check_rollup: Option<Rollup>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckSuite {
    pub(crate) created_at: Timestamp,
}

/// The combined state of a commit's checks.
#[derive(Debug, Deserialize)]
pub(crate) struct Rollup {
    pub(crate) state: String,
    pub(crate) contexts: CheckContexts,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckContexts {
    pub(crate) total_count: u64,
    pub(crate) check_run_counts_by_state: Option<Vec<StateCount>>,
    pub(crate) status_context_counts_by_state: Option<Vec<StateCount>>,
    /// The checks themselves. The light query asks only for the counts.
    #[serde(flatten)]
    pub(crate) page: WireConnection<CheckContext>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct StateCount {
    pub(crate) state: String,
    pub(crate) count: u64,
}

/// A check run or a commit status. Each has its own part of the fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckContext {
    #[serde(rename = "__typename")]
    pub(crate) kind: String,
    pub(crate) name: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) conclusion: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) completed_at: Option<Timestamp>,
    pub(crate) details_url: Option<String>,
    pub(crate) check_suite: Option<SuiteApp>,
    pub(crate) context: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) target_url: Option<String>,
    pub(crate) creator: Option<WireActor>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SuiteApp {
    pub(crate) app: Option<App>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct App {
    pub(crate) slug: String,
    pub(crate) database_id: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ViewerAnswer {
    pub(crate) viewer: WireActor,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PermissionAnswer {
    pub(crate) repository: Option<RepositoryPermission>,
}

#[expect(clippy::struct_excessive_bools, reason = "these are GitHub's independent flags, not modes")]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RepositoryPermission {
    pub(crate) is_archived: bool,
    pub(crate) viewer_permission: Option<String>,
    pub(crate) viewer_default_merge_method: String,
    pub(crate) merge_commit_allowed: bool,
    pub(crate) squash_merge_allowed: bool,
    pub(crate) rebase_merge_allowed: bool,
}

/// A reaction, as REST gives it.
#[derive(Debug, Deserialize)]
pub(crate) struct WireReaction {
    pub(crate) user: Option<WireReactionUser>,
    pub(crate) content: String,
    pub(crate) created_at: Timestamp,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireReactionUser {
    pub(crate) login: String,
    pub(crate) id: Option<u64>,
}
