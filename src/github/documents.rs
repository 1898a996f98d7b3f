//! Every GraphQL document that Cloture sends, embedded from `assets/graphql`, with the type of its answer.
//!
//! `tests/it/github_documents.rs` validates each document against GitHub's schema, and checks that its answer
//! type accepts a null wherever the schema allows one.

use super::wire;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;

/// One document, with the words that explain a failure.
pub struct GraphqlDocument {
    pub name: &'static str,
    pub text: &'static str,
    /// The purpose, as the beginning of a sentence.
    pub purpose: &'static str,
    /// The permission that a fine-grained token or an app needs.
    pub permission: &'static str,
    accepts: fn(Value) -> Result<(), serde_json::Error>,
}

impl GraphqlDocument {
    /// Whether the answer type accepts this data. The contract tests pass data with nulls.
    pub fn accepts(&self, data: Value) -> Result<(), serde_json::Error> {
        (self.accepts)(data)
    }

    pub fn writes(&self) -> bool {
        self.text.starts_with("mutation")
    }
}

impl fmt::Debug for GraphqlDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphqlDocument({})", self.name)
    }
}

impl PartialEq for GraphqlDocument {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

fn accepts<T: DeserializeOwned>(data: Value) -> Result<(), serde_json::Error> {
    T::deserialize(data).map(drop)
}

macro_rules! text {
    ($($file:literal),+) => {
        concat!($(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/graphql/", $file, ".graphql")),
            "\n"
        ),+)
    };
}

macro_rules! documents {
    ($(
        $constant:ident, $answer:ty, $permission:literal, $purpose:literal,
        [$file:literal $(, $fragment:literal)*];
    )+) => {
        $(pub static $constant: GraphqlDocument = GraphqlDocument {
            name: $file,
            text: text!($file $(, $fragment)*),
            purpose: $purpose,
            permission: $permission,
            accepts: accepts::<$answer>,
        };)+

        /// All documents, for the contract tests.
        pub static ALL: &[&GraphqlDocument] = &[$(&$constant),+];
    };
}

documents! {
    // Reading
    PULL_REQUEST, wire::PullRequestAnswer, "Pull requests: read", "reading the pull request",
        ["pull_request", "fragments/budget", "fragments/page", "fragments/account", "fragments/review",
         "fragments/comment", "fragments/thread", "fragments/thread_comment", "fragments/timeline",
         "fragments/review_requests", "fragments/checks"];
    PULL_REQUEST_PAGES, wire::PagesAnswer, "Pull requests: read", "reading the pull request's further pages",
        ["pull_request_pages", "fragments/budget", "fragments/page", "fragments/account", "fragments/review",
         "fragments/comment", "fragments/thread", "fragments/thread_comment", "fragments/timeline"];
    THREAD_PAGES, wire::ThreadPagesAnswer, "Pull requests: read", "reading a long thread",
        ["thread_pages", "fragments/budget", "fragments/page", "fragments/account",
         "fragments/thread_comment"];
    REVIEW_REQUESTS, wire::ReviewRequestsAnswer, "Pull requests: read", "reading the review requests",
        ["review_requests", "fragments/budget", "fragments/page", "fragments/review_requests"];
    CHECKS, wire::ChecksAnswer, "Checks: read", "reading the checks",
        ["checks", "fragments/budget", "fragments/page", "fragments/account", "fragments/checks"];
    VIEWER, wire::ViewerAnswer, "any", "asking whose token this is",
        ["viewer", "fragments/budget", "fragments/account"];
    PERMISSION, wire::PermissionAnswer, "Metadata: read", "asking for the rights in the repository",
        ["permission", "fragments/budget"];

    // Polling
    LIGHT, wire::LightAnswer, "Pull requests: read", "looking for changes",
        ["light", "fragments/budget", "fragments/page"];
    LIGHT_THREADS, wire::LightThreadsAnswer, "Pull requests: read", "looking for changes in many threads",
        ["light_threads", "fragments/budget", "fragments/page"];
    WHEREABOUTS, wire::WhereaboutsAnswer, "Pull requests: read", "looking for the renamed repository",
        ["whereabouts", "fragments/budget"];

    // Finding pull requests
    SEARCH, wire::SearchAnswer, "Pull requests: read", "searching for pull requests",
        ["search", "fragments/budget", "fragments/page"];
    OPEN_PULL_REQUESTS, wire::OpenPullRequestsAnswer, "Pull requests: read", "listing open pull requests",
        ["open_pull_requests", "fragments/budget", "fragments/page"];
    BRANCH_PULL_REQUESTS, wire::BranchAnswer, "Pull requests: read", "looking for the branch's pull request",
        ["branch_pull_requests", "fragments/budget"];

    // Writing
    REPLY, wire::ReplyAnswer, "Pull requests: write", "replying in the thread", ["reply"];
    RESOLVE, wire::ResolveAnswer, "Contents: write", "resolving the thread", ["resolve"];
    UNRESOLVE, wire::UnresolveAnswer, "Contents: write", "reopening the thread", ["unresolve"];
    ADD_COMMENT, wire::AddCommentAnswer, "Pull requests: write", "commenting", ["add_comment"];
    SUBMIT_REVIEW, wire::SubmitReviewAnswer, "Pull requests: write", "submitting the review",
        ["submit_review"];
    CREATE_LABEL, wire::CreateLabelAnswer, "Issues: write", "creating the label", ["create_label"];
    ADD_LABEL, wire::AddLabelAnswer, "Pull requests: write", "adding the label", ["add_label"];
    REMOVE_LABEL, wire::RemoveLabelAnswer, "Pull requests: write", "removing the label", ["remove_label"];
    CLOSE, wire::CloseAnswer, "Pull requests: write", "closing the pull request", ["close"];
    REOPEN, wire::ReopenAnswer, "Pull requests: write", "reopening the pull request", ["reopen"];
    MERGE, wire::MergeAnswer, "Contents: write", "merging the pull request", ["merge"];
    MINIMIZE, wire::MinimizeAnswer, "Pull requests: write", "hiding the duplicate", ["minimize"];

    // Looking for the effect of a write
    LABEL_ID, wire::LabelIdAnswer, "Issues: read", "looking up the label", ["label_id"];
    THREAD_EVIDENCE, wire::PostsEvidenceAnswer, "Pull requests: read", "looking at the thread",
        ["thread_evidence", "fragments/account"];
    COMMENTS_EVIDENCE, wire::PostsEvidenceAnswer, "Pull requests: read", "looking through our comments",
        ["comments_evidence", "fragments/account"];
    REVIEWS_EVIDENCE, wire::PostsEvidenceAnswer, "Pull requests: read", "looking through our reviews",
        ["reviews_evidence", "fragments/account"];
    STATE_EVIDENCE, wire::StateEvidenceAnswer, "Pull requests: read", "looking at the pull request's state",
        ["state_evidence"];
    MINIMIZED_EVIDENCE, wire::MinimizedEvidenceAnswer, "Pull requests: read", "looking whether it is hidden",
        ["minimized_evidence"];
    ISSUES_EVIDENCE, wire::IssuesEvidenceAnswer, "Issues: read", "looking through our issues",
        ["issues_evidence", "fragments/account"];
}
