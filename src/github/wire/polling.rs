//! Answers to the queries that look for changes and that find pull requests.

use super::{NameWithOwner, Rollup, WireConnection, WireNode};
use jiff::Timestamp;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct LightAnswer {
    pub(crate) nodes: Vec<Option<LightNode>>,
}

/// The object at one id. Anything but a pull request has none of the fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LightNode {
    pub(crate) state: Option<String>,
    pub(crate) is_draft: Option<bool>,
    pub(crate) head_ref_oid: Option<String>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) repository: Option<NameWithOwner>,
    pub(crate) review_threads: Option<WireConnection<LightThread>>,
    pub(crate) reviews: Option<WireConnection<LightReview>>,
    pub(crate) comments: Option<WireConnection<LightComment>>,
    pub(crate) status_check_rollup: Option<Rollup>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LightThread {
    pub(crate) id: String,
    pub(crate) is_resolved: bool,
    pub(crate) is_outdated: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LightReview {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) updated_at: Timestamp,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LightComment {
    pub(crate) id: String,
    pub(crate) updated_at: Timestamp,
}

pub(crate) type WhereaboutsAnswer = WireNode<Whereabouts>;

/// Anything but a pull request has none of the fields.
#[derive(Debug, Deserialize)]
pub(crate) struct Whereabouts {
    pub(crate) number: Option<u64>,
    pub(crate) repository: Option<NameWithOwner>,
}

pub(crate) type LightThreadsAnswer = WireNode<LightThreads>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LightThreads {
    pub(crate) review_threads: Option<WireConnection<LightThread>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SearchAnswer {
    pub(crate) search: WireConnection<WirePullRequestRef>,
}

/// A search result. An issue among the results has none of the fields.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WirePullRequestRef {
    pub(crate) id: Option<String>,
    pub(crate) number: Option<u64>,
    pub(crate) state: Option<String>,
    pub(crate) repository: Option<NameWithOwner>,
    pub(crate) head_repository: Option<NameWithOwner>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct OpenPullRequestsAnswer {
    pub(crate) repository: Option<RepositoryPullRequests>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RepositoryPullRequests {
    pub(crate) name_with_owner: String,
    pub(crate) pull_requests: WireConnection<WirePullRequestRef>,
    pub(crate) parent: Option<Box<RepositoryPullRequests>>,
}

pub(crate) type BranchAnswer = OpenPullRequestsAnswer;
