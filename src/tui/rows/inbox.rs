//! What waits for a person: threads that the bounds cut off, and loops and tasks that do not go on by themselves.

use super::handoff::HandoffStage;
use super::{PullRow, line};
use crate::domain::review_loop::Exit;
use crate::domain::vocabulary::{Severity, ThreadId};
use crate::github::PullRequestAddress;
use crate::supervisor::people::inbox::urgency;
use jiff::Timestamp;

#[derive(Debug, Clone)]
pub struct InboxRow {
    pub address: PullRequestAddress,
    pub pull: String,
    /// None for something about the whole pull request.
    pub thread: Option<ThreadId>,
    pub severity: Option<Severity>,
    pub kind: &'static str,
    pub place: String,
    pub title: String,
    pub why: String,
    pub since: Option<Timestamp>,
    pub url: Option<String>,
}

impl InboxRow {
    pub fn key(&self) -> String {
        let thread = self.thread.as_ref().map_or("", ThreadId::as_str);
        format!("{} {} {} {}", self.pull, self.kind, thread, self.place)
    }

    /// How bad it is taken to be. What is about a whole pull request has no severity, not an unknown one.
    pub fn urgency(&self) -> Option<Severity> {
        if self.thread.is_some() { Some(urgency(self.severity)) } else { self.severity }
    }

    pub fn severity_name(&self) -> &'static str {
        self.severity.map_or("–", Severity::name)
    }

    pub fn haystack(&self) -> String {
        format!(
            "{} {} {} {} {} {}",
            self.pull,
            self.severity_name(),
            self.kind,
            self.place,
            self.title,
            self.why
        )
    }
}

pub(super) fn rows(pull: &PullRow) -> Vec<InboxRow> {
    let about = |kind: &'static str, why: String| InboxRow {
        address: pull.address.clone(),
        pull: pull.name.clone(),
        thread: None,
        severity: None,
        kind,
        place: String::new(),
        title: pull.title.clone(),
        why,
        since: pull.view.seen_at,
        url: pull.url.clone(),
    };
    let stuck = pull.threads.iter().filter(|thread| thread.is_stuck()).map(|thread| InboxRow {
        thread: Some(thread.id.clone()),
        severity: thread.severity,
        place: thread.place.clone(),
        title: thread.title.clone(),
        since: thread.since,
        url: thread.url.clone().or_else(|| pull.url.clone()),
        ..about(thread.status.name(), thread.why().to_owned())
    });
    let mut rows: Vec<InboxRow> = stuck.collect();
    if let Some(refusal) = &pull.view.refusal {
        rows.push(about("refused", line(&refusal.to_string())));
    }
    let over = matches!(pull.state, "merged" | "closed");
    if let Some(exit) = pull.view.exit().filter(|_| !over) {
        // Findings are the author's to fix, and a thread that needs a person waits by itself.
        let waits = matches!(
            exit,
            Exit::Timeout { .. } | Exit::WorkflowFailure { .. } | Exit::RoundCap { .. } | Exit::OutOfReach
        );
        if waits {
            rows.push(about(pull.phase.0, line(&exit.to_string())));
        }
    }
    for task in pull.handoff.iter().filter(|task| task.going == HandoffStage::Stuck) {
        rows.push(InboxRow {
            place: task.path.clone(),
            ..about("stuck task", format!("the task for {} does not go on: {}", task.target, task.reason))
        });
    }
    rows
}
