//! The simulator's state for tests: a snapshot to compare, and the log of every request.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::world::{
    AccountId, CommentId, Dispatch, IssueId, PullId, PullState, ReceivedWrite, SimulatedReviewState, World,
};

/// The whole state. Two runs with the same writes give equal snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub now: Timestamp,
    pub pull_requests: Vec<PullSnapshot>,
    pub issues: Vec<IssueSnapshot>,
    pub dispatches: Vec<Dispatch>,
    /// Every write of a client, in order. Shared with the simulator, because it only grows.
    pub posts: Arc<Vec<ReceivedWrite>>,
    /// Actions of the script that failed.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PullSnapshot {
    pub id: String,
    pub repository: String,
    pub number: i64,
    pub title: String,
    pub author: String,
    pub state: PullState,
    pub draft: bool,
    pub head: String,
    pub updated_at: Timestamp,
    pub labels: Vec<String>,
    pub requested_reviewers: Vec<String>,
    pub threads: Vec<ThreadSnapshot>,
    pub reviews: Vec<ReviewSnapshot>,
    pub comments: Vec<CommentSnapshot>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadSnapshot {
    pub id: String,
    pub path: String,
    pub line: Option<i64>,
    pub outdated: bool,
    pub resolved: bool,
    pub resolved_by: Option<String>,
    pub comments: Vec<CommentSnapshot>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewSnapshot {
    pub id: String,
    pub by: String,
    pub state: SimulatedReviewState,
    pub body: String,
    pub commit: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommentSnapshot {
    pub id: String,
    pub by: String,
    pub body: String,
    pub minimized: Option<String>,
    /// Still in a draft review.
    pub pending: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IssueSnapshot {
    pub id: String,
    pub repository: String,
    pub number: i64,
    pub title: String,
    pub body: String,
    pub by: String,
    pub labels: Vec<String>,
    pub assignees: Vec<String>,
    pub comments: Vec<CommentSnapshot>,
}

/// One request and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    pub at: Timestamp,
    pub method: String,
    pub path: String,
    /// The GraphQL operation's name, or the REST route's template.
    pub operation: String,
    /// The top-level GraphQL fields.
    pub fields: Vec<String>,
    pub writes: bool,
    /// The body of a write.
    pub sent: Option<serde_json::Value>,
    /// The account of the request's token.
    pub by: Option<String>,
    pub points: i64,
    pub nodes: u64,
    /// `None` if the connection was dropped.
    pub status: Option<u16>,
    /// `ok`, `fault: drop_after`, `limit: primary`, `errors: NOT_FOUND` …
    pub outcome: String,
}

pub(crate) fn snapshot(world: &World, problems: &[String]) -> Snapshot {
    Snapshot {
        now: world.now,
        pull_requests: (0..world.pulls.len()).map(|index| pull(world, PullId(index))).collect(),
        issues: issues(world),
        dispatches: world.dispatches.clone(),
        posts: Arc::clone(&world.posts),
        problems: problems.to_vec(),
    }
}

pub(crate) fn pull(world: &World, id: PullId) -> PullSnapshot {
    let pull = &world[id];
    let login = |account: &AccountId| world[*account].login.clone();
    PullSnapshot {
        id: World::pull_node(id),
        repository: world.full_name(pull.repository),
        number: pull.number,
        title: pull.title.clone(),
        author: login(&pull.author),
        state: pull.state,
        draft: pull.draft,
        head: pull.head.to_string(),
        updated_at: pull.updated_at,
        labels: pull.labels.iter().map(|label| world[*label].name.clone()).collect(),
        requested_reviewers: pull.requested.iter().map(login).collect(),
        threads: pull
            .threads
            .iter()
            .map(|id| {
                let thread = &world[*id];
                ThreadSnapshot {
                    id: World::thread_node(*id),
                    path: thread.path.clone(),
                    line: thread.line,
                    outdated: thread.outdated,
                    resolved: thread.resolved_by.is_some(),
                    resolved_by: thread.resolved_by.as_ref().map(login),
                    comments: thread
                        .comments
                        .iter()
                        .map(|id| {
                            let comment = &world[*id];
                            CommentSnapshot {
                                id: World::review_comment_node(*id),
                                by: login(&comment.author),
                                body: comment.body.clone(),
                                minimized: comment.edits.minimized.clone(),
                                pending: world[comment.review].state == SimulatedReviewState::Pending,
                            }
                        })
                        .collect(),
                }
            })
            .collect(),
        reviews: pull
            .reviews
            .iter()
            .filter(|review| !world[**review].deleted)
            .map(|id| {
                let review = &world[*id];
                ReviewSnapshot {
                    id: World::review_node(*id),
                    by: login(&review.author),
                    state: review.state,
                    body: review.body.clone(),
                    commit: review.commit.to_string(),
                }
            })
            .collect(),
        comments: comments(world, &pull.comments),
    }
}

fn comments(world: &World, ids: &[CommentId]) -> Vec<CommentSnapshot> {
    ids.iter()
        .filter(|id| !world[**id].deleted)
        .map(|id| {
            let comment = &world[*id];
            CommentSnapshot {
                id: World::comment_node(*id),
                by: world[comment.author].login.clone(),
                body: comment.body.clone(),
                minimized: comment.edits.minimized.clone(),
                pending: false,
            }
        })
        .collect()
}

pub(crate) fn issues(world: &World) -> Vec<IssueSnapshot> {
    let ids = (0..world.issues.len()).map(IssueId);
    ids.map(|id| {
        let issue = &world[id];
        IssueSnapshot {
            id: World::issue_node(id),
            repository: world.full_name(issue.repository),
            number: issue.number,
            title: issue.title.clone(),
            body: issue.body.clone(),
            by: world[issue.author].login.clone(),
            labels: issue.labels.iter().map(|label| world[*label].name.clone()).collect(),
            assignees: issue.assignees.iter().map(|account| world[*account].login.clone()).collect(),
            comments: comments(world, &issue.comments),
        }
    })
    .collect()
}
