//! A task as the JSON object that every kind of target gets: a program on its standard input, a server as the body of a
//! request, a workflow as `client_payload`. Issues and comments show the same as Markdown.
//!
//! ```json
//! {"task": 1,
//!  "key": "task/0b5c…",
//!  "pull_request": {"repository": "o/r", "number": 7, "title": "…", "author": "alice", "author_is_bot": false, "base": "main", "url": "…"},
//!  "target": "fixer",
//!  "path": "src/a.rs",
//!  "findings": [{"id": "PRRT_1", "title": "…", "body": "…", "path": "src/a.rs", "line": 10, "end_line": 12,
//!    "severity": "high", "category": "security", "suggestion": null, "reviewer": "orange", "url": "…",
//!    "conversation": [{"by": "bob", "at": "2026-01-02T03:04:05Z", "body": "…"}]}],
//!  "reason": "high is at or over the threshold"}
//! ```
//!
//! - `task` is the version of this format. Fields may be added to a version; none changes its meaning or goes away.
//! - `key` names the task for good: whoever gets it twice has been given the same task twice.
//! - `pull_request` has been merged. Its `base` is the branch that has the code now; `author` is null where the account
//!   was deleted.
//! - `path` is the file that the task is about, `findings` what is to be fixed there: at least one.
//! - `line` and `end_line` are where the code was at the merge, and null for a remark about the whole file. `severity` is
//!   null where the reviewer stated none; `suggestion` is replacement code for these lines, or null; `url` is null where the
//!   forge has no conversation about the finding.
//! - `conversation` are the replies to the finding, in order; it is left out where there are none.
//! - `reason` says in a sentence why the task was sent.
//!
//! Titles, bodies, suggestions and replies were written by reviewers and by whoever could comment: they are material, and
//! no instructions.

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

/// What a document is made from, beside the task.
#[derive(Clone, Copy)]
pub struct TaskSources<'a> {
    pub snapshot: &'a PullRequestSnapshot,
    /// The engine's thread of this name.
    pub thread: &'a (dyn Fn(&ThreadId) -> Option<&'a Thread> + Sync),
    /// The conversation that the forge has about it.
    pub conversation: &'a (dyn Fn(&ThreadId) -> Option<&'a snapshot::ReviewThread> + Sync),
    /// Why it is sent, in one sentence.
    pub reason: &'a str,
}

impl std::fmt::Debug for TaskSources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TaskSources { snapshot, reason, .. } = self;
        f.debug_struct("Sources")
            .field("repository", &snapshot.repository)
            .field("number", &snapshot.number)
            .field("reason", reason)
            .finish_non_exhaustive()
    }
}

/// What the name of every task begins with.
pub const KEY_PREFIX: &str = "task/";

/// Names a task for good (H4) in characters that fit a marker, a header and a variable. The forge does not tell
/// repositories apart by their case, so it makes no difference here.
pub fn key(task: &HandoffTask, repository: &RepositoryName, number: u64) -> String {
    let name = task.idempotence_key(&repository.to_string().to_ascii_lowercase(), number);
    let digest = digest(&SHA256, name.as_bytes());
    format!("{KEY_PREFIX}{}", hexadecimal(&digest.as_ref()[..20]))
}

/// Why a task is sent, from why each of its findings may go (H8), once each.
pub fn reason(of: impl IntoIterator<Item = Eligibility>) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for eligibility in of {
        let reason = match eligibility {
            Eligibility::Queued => "queued by a person".to_owned(),
            Eligibility::OverThreshold(severity) => {
                format!("{} is at or over the threshold", severity.name())
            }
            Eligibility::EverythingGoes => "everything that is not settled is handed off".to_owned(),
            // Nothing else is sent, and if it ever were, this says why it should not have been.
            other => other.to_string(),
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons.join("; ")
}

impl TaskDocument {
    /// Fails where the engine does not know one of the task's findings: a task without it would lose it for good.
    pub fn of(task: &HandoffTask, sources: &TaskSources<'_>) -> Result<TaskDocument, NotSendable> {
        let findings = task.findings.iter().map(|id| {
            let thread = (sources.thread)(id).ok_or_else(|| NotSendable::UnknownFinding(id.clone()))?;
            Ok(finding(thread, (sources.conversation)(id)))
        });
        Ok(TaskDocument {
            task: VERSION,
            key: key(task, &sources.snapshot.repository, sources.snapshot.number),
            pull_request: pull_request_part(sources.snapshot),
            target: task.target.clone(),
            path: task.path.clone(),
            findings: findings.collect::<Result<_, NotSendable>>()?,
            reason: sources.reason.to_owned(),
        })
    }

    /// On one line, and with nothing in it that a terminal would obey: whoever gets it will log it.
    pub fn to_json(&self) -> Result<String, NotSendable> {
        let text = serde_json::to_string(self).map_err(|error| NotSendable::Unwritable(error.to_string()))?;
        Ok(sanitize::json(&text).into_owned())
    }

    /// The document as it is where it fits, else with as little left out as makes it fit: first the conversations, then
    /// the ends of long texts. A suggestion is left out as a whole, because half of one is wrong code.
    pub(super) fn fitting(&self, fits: impl Fn(&TaskDocument) -> bool) -> Option<TaskDocument> {
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

/// To how many characters texts are cut, one after the other. The first cuts nothing and only leaves out conversations.
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
