//! The inbox: threads that only a person can settle, and loops and tasks that do not continue by themselves.

use super::handoff::HandoffStage;
use super::{PullRow, line};
use crate::domain::review_loop::Exit;
use crate::domain::vocabulary::{Severity, ThreadId};
use crate::github::PullRequestAddress;
use crate::supervisor::people::inbox::urgency;
use crate::tui::model::RowKey;
use jiff::Timestamp;

#[derive(Debug, Clone)]
pub struct InboxRow {
    pub address: PullRequestAddress,
    pub pull: String,
    /// None if the row is about the whole pull request.
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
    /// A thread stays the same item when its status or its line changes.
    pub fn key(&self) -> RowKey {
        RowKey::new(match &self.thread {
            Some(thread) => format!("{} {}", self.pull, thread.as_str()),
            None => format!("{} {} {}", self.pull, self.kind, self.place),
        })
    }

    /// The severity for sorting. A whole pull request has none, not an unknown one.
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
        // The author fixes findings, and a thread that needs a person has a row of its own.
        let waits = matches!(
            exit,
            Exit::Timeout { .. } | Exit::WorkflowFailure { .. } | Exit::RoundCap { .. } | Exit::OutOfReach
        );
        if waits {
            rows.push(about(pull.phase.0, line(&exit.to_string())));
        }
    }
    for task in pull.handoff.iter().filter(|task| task.stage == HandoffStage::Stuck) {
        rows.push(InboxRow {
            place: task.path.clone(),
            ..about("stuck task", format!("the task for {} is stuck: {}", task.target, task.reason))
        });
    }
    rows
}
