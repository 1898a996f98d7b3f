//! The task of an author's agent, as one JSON object:
//!
//! ```json
//! {"protocol": 1, "round": 2, "head": "9f…",
//!  "pull_request": {"repository": "o/r", "number": 7, "title": "…", "author": "alice", "author_is_bot": false,
//!    "base": "main", "url": "…"},
//!  "push": {"remote": "origin", "branch": "feature"},
//!  "findings": [{"thread": "PRRT_1", "reviewer": "orange", "path": "src/a.rs", "line": 10, "end_line": 12,
//!    "title": "…", "body": "…", "severity": "high", "category": "bug", "suggestion": null}],
//!  "skipped": [{"thread": "PRRT_2", "title": "…", "reason": "a matter of style"}]}
//! ```

use crate::domain::actionable;
use crate::domain::finding::Thread;
use crate::domain::place::LineRange;
use crate::domain::snapshot::{PullRequestSnapshot, RepositoryName};
use crate::domain::vocabulary::{Category, FilePath, ReviewerName, Severity, Sha, ThreadId};
use crate::reviewers::request::{PROTOCOL, PullRequestPart, pull_request_part};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuthorTask {
    pub protocol: u32,
    /// The number of the author round, from 1 (L6).
    pub round: u32,
    /// The commit of the work tree.
    pub head: Sha,
    pub pull_request: PullRequestPart,
    pub push: PushPart,
    /// L7: the findings to fix.
    pub findings: Vec<AuthorFindingPart>,
    /// L7: the findings to leave alone, with the reason.
    pub skipped: Vec<SkippedPart>,
    /// The repository of the branch. For a fork it differs from the pull request's.
    #[serde(skip)]
    pub head_repository: Option<RepositoryName>,
    /// Former names of that repository. The checkout's remote may still have one, and GitHub redirects it.
    #[serde(skip)]
    pub former_names: Vec<RepositoryName>,
}

/// Where the agent pushes its fixes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PushPart {
    /// The remote's name in the work tree.
    pub remote: Option<String>,
    pub branch: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuthorFindingPart {
    pub thread: ThreadId,
    pub reviewer: ReviewerName,
    pub path: FilePath,
    pub line: Option<u32>,
    pub end_line: Option<u32>,
    pub title: Arc<str>,
    pub body: Arc<str>,
    pub severity: Option<Severity>,
    pub category: Category,
    pub suggestion: Option<Arc<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedPart {
    pub thread: ThreadId,
    pub title: Arc<str>,
    pub reason: String,
}

impl AuthorTask {
    /// The task of a round: the open, actionable findings (L7), and the titles of the others.
    pub fn of<'a>(
        snapshot: &PullRequestSnapshot,
        threads: impl Iterator<Item = &'a Thread>,
        round: u32,
    ) -> AuthorTask {
        let threads: BTreeMap<&ThreadId, &Thread> = threads.map(|thread| (&thread.id, thread)).collect();
        let sorted = actionable::triage(threads.values().copied());
        let find = |id: &ThreadId| threads.get(id).copied();
        AuthorTask {
            protocol: PROTOCOL,
            round,
            head: snapshot.head.sha.clone(),
            pull_request: pull_request_part(snapshot),
            push: PushPart { remote: None, branch: snapshot.head.name.clone() },
            findings: sorted.actionable.iter().filter_map(|id| Some(finding(find(id)?))).collect(),
            skipped: sorted
                .skipped
                .iter()
                .filter_map(|(id, reason)| {
                    let title = find(id)?.finding.title.clone();
                    Some(SkippedPart { thread: id.clone(), title, reason: reason.to_string() })
                })
                .collect(),
            head_repository: snapshot.head_repository.clone(),
            former_names: match &snapshot.head_repository {
                Some(head) if *head == snapshot.repository => snapshot.known_as.others.clone(),
                Some(_) | None => Vec::new(),
            },
        }
    }
}

impl AuthorTask {
    /// Whether the branch is in another repository than the pull request.
    pub(super) fn is_fork(&self) -> bool {
        let name = self.head_repository.as_ref();
        let own = RepositoryName::parse(&self.pull_request.repository);
        name.is_some_and(|name| own.as_ref() != Some(name) && !self.former_names.contains(name))
    }
}

fn finding(thread: &Thread) -> AuthorFindingPart {
    AuthorFindingPart {
        thread: thread.id.clone(),
        reviewer: thread.reviewer.clone(),
        path: thread.anchor.path.clone(),
        line: thread.anchor.lines.map(LineRange::first),
        end_line: thread.anchor.lines.map(LineRange::last),
        title: thread.finding.title.clone(),
        body: thread.finding.body.clone(),
        severity: thread.finding.severity,
        category: thread.finding.category,
        suggestion: thread.finding.suggestion.clone(),
    }
}
