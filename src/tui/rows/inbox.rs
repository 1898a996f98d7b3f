//! The inbox: threads that only a person can settle, and loops and tasks that do not continue by themselves.

use super::{PullRow, line};
use crate::domain::policy::Policy;
use crate::domain::vocabulary::{ReviewerName, Severity, ThreadId};
use crate::github::PullRequestAddress;
use crate::supervisor::people::inbox::{self, InboxEntry, InboxQuery, InboxRank, InboxSubject, urgency};
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
    /// Its place in the list.
    pub rank: InboxRank,
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

pub(super) fn rows(pull: &PullRow, policy: &Policy) -> Vec<InboxRow> {
    let about = |entry: &InboxEntry<'_>, kind: &'static str| InboxRow {
        address: pull.address.clone(),
        pull: pull.name.clone(),
        thread: None,
        severity: None,
        kind,
        place: String::new(),
        title: pull.title.clone(),
        why: line(&entry.why),
        since: pull.view.seen_at,
        url: pull.url.clone(),
        rank: entry.rank.clone(),
    };
    let query = InboxQuery {
        address: &pull.address,
        computed: pull.view.computed.as_deref(),
        exit: pull.view.exit(),
        refusal: pull.view.refusal.as_ref(),
        handoffs: &pull.view.handoffs,
        policy,
        include_ended: false,
    };
    let row = |entry: InboxEntry<'_>| match &entry.subject {
        InboxSubject::Thread(waiting) => {
            let thread = pull.threads.iter().find(|thread| thread.id == *waiting.shown.id());
            let row = about(&entry, waiting.shown.thread.status().name());
            let names: Vec<&str> = waiting.reviewers.iter().map(ReviewerName::as_str).collect();
            let why = match names.len() {
                0 | 1 => row.why.clone(),
                // D6: one item with all its reviewers.
                _ => line(&format!("{} ({})", entry.why, names.join(", "))),
            };
            InboxRow {
                thread: Some(waiting.shown.id().clone()),
                severity: waiting.shown.thread.finding.severity,
                place: thread.map_or_else(String::new, |thread| thread.place.clone()),
                title: line(&waiting.shown.thread.finding.title),
                why,
                since: waiting.since,
                url: waiting.shown.url().map(str::to_owned).or_else(|| pull.url.clone()),
                ..row
            }
        }
        InboxSubject::Refused => about(&entry, "refused"),
        InboxSubject::Loop(_) => about(&entry, pull.phase.0),
        InboxSubject::Withheld => about(&entry, "withheld"),
        InboxSubject::Task(handoff) => {
            InboxRow { place: line(handoff.task.path.as_str()), ..about(&entry, "stuck task") }
        }
    };
    inbox::entries(&query).into_iter().map(row).collect()
}
