//! Answers to the mutations, and to the queries that look for the effect of a write.

use super::{WireActor, WireConnection, WireNode, WireOid};
use serde::Deserialize;

/// Declares the answer of a mutation: one field with a payload that may be null, which holds one nullable
/// object.
macro_rules! mutations {
    ($($answer:ident { $field:ident -> $payload:ident { $thing:ident: $type:ty } })+) => {$(
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $answer {
            pub(crate) $field: Option<$payload>,
        }

        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $payload {
            pub(crate) $thing: Option<$type>,
        }

        impl $answer {
            /// The object that proves that the write took effect.
            pub(crate) fn proof(self) -> Option<$type> {
                self.$field?.$thing
            }
        }
    )+};
}

mutations! {
    ReplyAnswer { add_pull_request_review_thread_reply -> ReplyPayload { comment: WrittenNode } }
    ResolveAnswer { resolve_review_thread -> ResolvePayload { thread: ThreadFlag } }
    UnresolveAnswer { unresolve_review_thread -> UnresolvePayload { thread: ThreadFlag } }
    AddCommentAnswer { add_comment -> AddCommentPayload { comment_edge: WireEdge } }
    SubmitReviewAnswer { add_pull_request_review -> SubmitReviewPayload { pull_request_review: WrittenNode } }
    CreateLabelAnswer { create_label -> CreateLabelPayload { label: LabelWithId } }
    AddLabelAnswer { add_labels_to_labelable -> AddLabelPayload { labelable: IgnoredAnswer } }
    RemoveLabelAnswer { remove_labels_from_labelable -> RemoveLabelPayload { labelable: IgnoredAnswer } }
    CloseAnswer { close_pull_request -> ClosePayload { pull_request: WrittenNode } }
    ReopenAnswer { reopen_pull_request -> ReopenPayload { pull_request: WrittenNode } }
    MergeAnswer { merge_pull_request -> MergePayload { pull_request: WrittenNode } }
    MinimizeAnswer { minimize_comment -> MinimizePayload { minimized_comment: MinimizedFlag } }
}

/// The object that was written or changed.
#[derive(Debug, Deserialize)]
pub(crate) struct WrittenNode {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) state: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThreadFlag {
    pub(crate) id: String,
    pub(crate) is_resolved: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireEdge {
    pub(crate) node: Option<WrittenNode>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LabelWithId {
    pub(crate) id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct IgnoredAnswer {}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MinimizedFlag {
    /// Absent on a node that GitHub cannot hide.
    pub(crate) is_minimized: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LabelIdAnswer {
    pub(crate) repository: Option<RepositoryLabel>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RepositoryLabel {
    pub(crate) id: String,
    pub(crate) label: Option<LabelWithId>,
}

pub(crate) type PostsEvidenceAnswer = WireNode<PostsEvidence>;

/// A page of posts: a thread's comments, or a pull request's comments or reviews.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostsEvidence {
    /// Only a thread has it.
    pub(crate) is_resolved: Option<bool>,
    #[serde(alias = "comments", alias = "reviews")]
    pub(crate) posts: Option<WireConnection<WirePost>>,
}

/// A text that may be ours: a comment, a review or an issue.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WirePost {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) body: String,
    pub(crate) viewer_did_author: bool,
    pub(crate) author: Option<WireActor>,
    pub(crate) state: Option<String>,
    pub(crate) commit: Option<WireOid>,
}

pub(crate) type StateEvidenceAnswer = WireNode<StateEvidence>;

#[derive(Debug, Deserialize)]
pub(crate) struct StateEvidence {
    pub(crate) state: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) labels: Option<WireConnection<super::WireLabel>>,
}

pub(crate) type MinimizedEvidenceAnswer = WireNode<MinimizedFlag>;

#[derive(Debug, Deserialize)]
pub(crate) struct IssuesEvidenceAnswer {
    pub(crate) repository: Option<RepositoryIssues>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RepositoryIssues {
    pub(crate) issues: WireConnection<WirePost>,
}

/// REST: the requested reviewers.
#[derive(Debug, Deserialize)]
pub(crate) struct RequestedReviewers {
    #[serde(default)]
    pub(crate) users: Vec<RestAccount>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RestAccount {
    pub(crate) login: String,
}

/// REST: the opened issue.
#[derive(Debug, Deserialize)]
pub(crate) struct RestIssue {
    pub(crate) html_url: String,
    pub(crate) node_id: Option<String>,
}
