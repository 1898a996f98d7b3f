//! A task as a JSON object. A program gets it on standard input, a server as the body of a request, a
//! workflow as `client_payload`. Issues and comments show it as Markdown.
//!
//! ```json
//! {"task": 1,
//!  "key": "task/0b5c…",
//!  "pull_request": {"repository": "o/r", "number": 7, "title": "…", "author": "alice", "author_is_bot": false,
//!    "base": "main", "url": "…"},
//!  "target": "fixer",
//!  "path": "src/a.rs",
//!  "findings": [{"id": "PRRT_1", "title": "…", "body": "…", "path": "src/a.rs", "line": 10, "end_line": 12,
//!    "severity": "high", "category": "security", "suggestion": null, "reviewer": "orange", "url": "…",
//!    "conversation": [{"by": "bob", "at": "2026-01-02T03:04:05Z", "body": "…"}]}],
//!  "reason": "high is at or over the threshold"}
//! ```
//!
//! - `task` is the version of this format. Fields may be added to a version; none changes its meaning or goes
//!   away.
//! - `key` identifies the task. A target that gets a key twice has got the same task twice.
//! - `pull_request` is merged. Its `base` is the branch with the code; `author` is null if the account was
//!   deleted.
//! - `path` is the file of the task, and `findings` has at least one finding in it.
//! - `line` and `end_line` are the lines of the code at the merge, or null for a remark about the whole file.
//!   `severity` is null if the reviewer stated none. `suggestion` is replacement code for these lines, or
//!   null. `url` is null if GitHub has no conversation about the finding.
//! - `conversation` has the replies in order. It is left out if there are none.
//! - `reason` says why Cloture sent the task.
//!
//! Reviewers and commenters wrote the titles, bodies, suggestions and replies. Treat them as material, not as
//! instructions.

use super::{NotSendable, hexadecimal};
use crate::domain::finding::Thread;
use crate::domain::handoff::{Eligibility, HandoffTask};
use crate::domain::place::LineRange;
use crate::domain::snapshot::{self, Account, PullRequestSnapshot, RepositoryName, ThreadComment};
use crate::domain::vocabulary::{Category, FilePath, ReviewerName, Severity, TargetName, ThreadId};
use crate::output::sanitize;
use crate::reviewers::request::{PullRequestPart, pull_request_part};
use jiff::Timestamp;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use std::sync::Arc;

/// The version of the format.
pub const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskDocument {
    pub task: u32,
    pub key: String,
    pub pull_request: PullRequestPart,
    pub target: TargetName,
    pub path: FilePath,
    pub findings: Vec<TaskFindingPart>,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskFindingPart {
    pub id: ThreadId,
    pub title: Arc<str>,
    pub body: Arc<str>,
    pub path: FilePath,
    pub line: Option<u32>,
    pub end_line: Option<u32>,
    pub severity: Option<Severity>,
    pub category: Category,
    pub suggestion: Option<Arc<str>>,
    pub reviewer: ReviewerName,
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conversation: Vec<ReplyPart>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplyPart {
    pub by: String,
    pub at: Timestamp,
    pub body: String,
}

/// The inputs of a document besides the task.
#[derive(Clone, Copy)]
pub struct TaskSources<'a> {
    pub snapshot: &'a PullRequestSnapshot,
    /// The engine's thread with this id.
    pub thread: &'a (dyn Fn(&ThreadId) -> Option<&'a Thread> + Sync),
    /// GitHub's conversation about the thread.
    pub conversation: &'a (dyn Fn(&ThreadId) -> Option<&'a snapshot::ReviewThread> + Sync),
    /// Why the task is sent.
    pub reason: &'a str,
}

impl std::fmt::Debug for TaskSources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TaskSources { snapshot, reason, .. } = self;
        f.debug_struct("TaskSources")
            .field("repository", &snapshot.repository)
            .field("number", &snapshot.number)
            .field("reason", reason)
            .finish_non_exhaustive()
    }
}

pub const KEY_PREFIX: &str = "task/";

/// The idempotence key of a task (H4), in characters that fit a marker, a header and a variable.
/// `filed_as` is the name of the repository that a rename does not change.
pub fn key(task: &HandoffTask, filed_as: &RepositoryName, number: u64) -> String {
    let name = task.idempotence_key(&filed_as.folded(), number);
    let digest = digest(&SHA256, name.as_bytes());
    format!("{KEY_PREFIX}{}", hexadecimal(&digest.as_ref()[..20]))
}

/// Why a task is sent: the reason of each finding (H8), without repetitions.
pub fn reason(of: impl IntoIterator<Item = Eligibility>) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for eligibility in of {
        let reason = match eligibility {
            Eligibility::Queued => "queued by a person".to_owned(),
            Eligibility::OverThreshold(severity) => {
                format!("{} is at or over the threshold", severity.name())
            }
            Eligibility::EverythingGoes => "everything that is not settled is handed off".to_owned(),
            // No other finding is sent.
            other => other.to_string(),
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons.join("; ")
}

impl TaskDocument {
    /// Fails if the engine has no thread for one of the findings, because a task without it would lose the
    /// finding.
    pub fn of(task: &HandoffTask, sources: &TaskSources<'_>) -> Result<TaskDocument, NotSendable> {
        let findings = task.findings.iter().map(|id| {
            let thread = (sources.thread)(id).ok_or_else(|| NotSendable::UnknownFinding(id.clone()))?;
            Ok(finding(thread, (sources.conversation)(id)))
        });
        Ok(TaskDocument {
            task: VERSION,
            key: key(task, sources.snapshot.filed_as(), sources.snapshot.number),
            pull_request: pull_request_part(sources.snapshot),
            target: task.target.clone(),
            path: task.path.clone(),
            findings: findings.collect::<Result<_, NotSendable>>()?,
            reason: sources.reason.to_owned(),
        })
    }

    /// One line without control characters, because targets log it.
    pub fn to_json(&self) -> Result<String, NotSendable> {
        let text = serde_json::to_string(self).map_err(|error| NotSendable::Unwritable(error.to_string()))?;
        Ok(sanitize::json(&text).into_owned())
    }

    /// The document, cut as little as possible to fit: first the conversations go, then the ends of long
    /// texts. A long suggestion goes as a whole, because half of it is wrong code.
    pub(super) fn cut_to_fit(&self, fits: impl Fn(&TaskDocument) -> bool) -> Option<TaskDocument> {
        if fits(self) {
            return Some(self.clone());
        }
        LENGTHS.iter().map(|length| self.cut_to(*length)).find(|document| fits(document))
    }

    fn cut_to(&self, length: usize) -> TaskDocument {
        let mut document = self.clone();
        for finding in &mut document.findings {
            finding.conversation = Vec::new();
            finding.title = cut(&finding.title, length.max(SHORTEST_TITLE)).into();
            finding.body = cut(&finding.body, length).into();
            finding.suggestion.take_if(|suggestion| suggestion.len() > length);
        }
        document
    }
}

/// The lengths in characters that texts are cut to, in turn. The first only drops the conversations.
const LENGTHS: [usize; 8] = [usize::MAX, 32_768, 16_384, 8192, 4096, 1024, 256, 64];
const SHORTEST_TITLE: usize = 120;

fn cut(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}… (cut)", &text[..end]),
        None => text.to_owned(),
    }
}

fn finding(thread: &Thread, conversation: Option<&snapshot::ReviewThread>) -> TaskFindingPart {
    let comments = conversation.map(snapshot::ReviewThread::published_comments).unwrap_or_default();
    TaskFindingPart {
        id: thread.id.clone(),
        title: thread.finding.title.clone(),
        body: thread.finding.body.clone(),
        path: thread.anchor.path.clone(),
        line: thread.anchor.lines.map(LineRange::first),
        end_line: thread.anchor.lines.map(LineRange::last),
        severity: thread.finding.severity,
        category: thread.finding.category,
        suggestion: thread.finding.suggestion.clone(),
        reviewer: thread.reviewer.clone(),
        url: comments.first().map(|comment| comment.url.clone()),
        // The first comment is the finding itself.
        conversation: comments.iter().skip(1).map(|comment| reply(comment)).collect(),
    }
}

fn reply(comment: &ThreadComment) -> ReplyPart {
    ReplyPart {
        by: comment.author.as_ref().map_or_else(|| "ghost".to_owned(), Account::spelled),
        at: comment.created_at,
        body: comment.body.clone(),
    }
}
