//! The handoff list: tasks that were sent, tasks that a merge will send, and findings that stay, with the
//! reason (H8).

use super::thread::ThreadRow;
use super::{PullRow, line};
use crate::domain::handoff::Eligibility;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::ThreadId;
use crate::github::PullRequestAddress;
use crate::supervisor::PullRequestView;
use crate::supervisor::computed_state::{ComputedState, RepositoryRules};
use crate::supervisor::handoffs::DecidedTask;
use crate::supervisor::view::{HandoffState, HandoffView};
use crate::tui::model::RowKey;
use jiff::Timestamp;

#[derive(Debug, Clone)]
pub struct HandoffRow {
    pub address: PullRequestAddress,
    pub pull: String,
    pub stage: HandoffStage,
    pub target: String,
    pub path: String,
    /// The titles of its findings.
    pub findings: Vec<String>,
    /// Their threads; the first is the one to open.
    pub threads: Vec<ThreadId>,
    pub reason: String,
    /// The key of a task that can be sent again.
    pub task_key: Option<String>,
    pub until: Option<Timestamp>,
    /// The result on the target, such as an issue.
    pub url: Option<String>,
}

/// In the order on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HandoffStage {
    Stuck,
    Retrying,
    AtMerge,
    Sent,
    Not,
}

impl HandoffStage {
    pub fn name(self) -> &'static str {
        match self {
            HandoffStage::Stuck => "stuck",
            HandoffStage::Retrying => "retrying",
            HandoffStage::AtMerge => "at merge",
            HandoffStage::Sent => "sent",
            HandoffStage::Not => "stays",
        }
    }
}

impl HandoffRow {
    pub fn key(&self) -> RowKey {
        let thread = self.threads.first().map_or("", ThreadId::as_str);
        let name = format!("{} {} {} {thread}", self.pull, self.target, self.path);
        let threads = self.threads.iter().map(|id| (self.address.clone(), id.clone()));
        RowKey::with_threads(name, threads.collect())
    }

    pub fn haystack(&self) -> String {
        let HandoffRow { pull, stage, target, path, findings, reason, .. } = self;
        format!("{pull} {} {target} {path} {} {reason}", stage.name(), findings.join(" "))
    }
}

pub(super) fn rows(view: &PullRequestView, rules: &RepositoryRules<'_>) -> Vec<HandoffRow> {
    let Some(computed) = view.computed.as_deref() else { return Vec::new() };
    if !view.handoffs.is_empty() {
        return view.handoffs.iter().map(|handoff| decided(handoff, computed, view)).collect();
    }
    if computed.seen.state != PullRequestState::Open {
        return Vec::new();
    }
    let mut rows: Vec<HandoffRow> = Vec::new();
    let guards = computed.handoff_guards(rules);
    for task in computed.tasks(rules) {
        let reason = guards.reason_for(&task, computed);
        rows.push(HandoffRow {
            address: view.address.clone(),
            pull: view.name().to_string(),
            stage: HandoffStage::AtMerge,
            target: line(task.target.as_str()),
            path: line(task.path.as_str()),
            findings: titles(&task.findings, computed),
            threads: task.findings.clone(),
            reason,
            task_key: None,
            until: None,
            url: None,
        });
    }
    rows
}

/// Findings that stay are listed only until a merge has decided the tasks.
pub(super) fn is_undecided(view: &PullRequestView) -> bool {
    let is_open =
        view.computed.as_ref().is_some_and(|computed| computed.seen.state == PullRequestState::Open);
    view.handoffs.is_empty() && is_open
}

/// The open findings that will not be handed off, each with the reason.
pub(super) fn not_handed_off(pull: &PullRow) -> Vec<HandoffRow> {
    let open = pull.threads.iter().filter(|row| !row.repeats && !row.status.is_settled());
    let refused = open.filter_map(|row| Some((row, row.handoff.filter(|why| !why.is_eligible())?)));
    let row = |(row, why): (&ThreadRow, Eligibility)| HandoffRow {
        address: pull.address.clone(),
        pull: pull.name.clone(),
        stage: HandoffStage::Not,
        target: "–".to_owned(),
        path: row.place.clone(),
        findings: vec![row.title.clone()],
        threads: vec![row.id.clone()],
        reason: why.to_string(),
        task_key: None,
        until: None,
        url: None,
    };
    refused.map(row).collect()
}

fn decided(handoff: &HandoffView, computed: &ComputedState, view: &PullRequestView) -> HandoffRow {
    let HandoffView { key, task, reason, state } = handoff;
    let (stage, reason, until, url) = match state {
        HandoffState::Sent { url } => (HandoffStage::Sent, reason.clone(), None, url.clone()),
        HandoffState::Waiting { until, why } => {
            let reason = match why {
                Some(why) => format!("not accepted yet, Cloture retries: {why}"),
                None => "not accepted yet, Cloture retries".to_owned(),
            };
            (HandoffStage::Retrying, reason, Some(*until), None)
        }
        HandoffState::Stuck(why) => (HandoffStage::Stuck, why.clone(), None, None),
    };
    HandoffRow {
        address: view.address.clone(),
        pull: view.name().to_string(),
        stage,
        target: line(task.target.as_str()),
        path: line(task.path.as_str()),
        findings: titles(&task.findings, computed),
        threads: task.findings.clone(),
        reason: line(&reason),
        task_key: (stage == HandoffStage::Stuck).then(|| key.clone()),
        until,
        url,
    }
}

/// The row of a task in the journal.
pub fn decided_task_row(decided: &DecidedTask) -> HandoffRow {
    let DecidedTask { about, repository, task, reason, titles, state, is_unknown, .. } = decided;
    let address = PullRequestAddress { repository: repository.clone(), number: about.number };
    let (stage, reason, until, url) = match state {
        HandoffState::Stuck(why) => (HandoffStage::Stuck, why.clone(), None, None),
        _ if *is_unknown => {
            let why = "Cloture was sending it, and the journal has no result";
            (HandoffStage::Stuck, why.to_owned(), None, None)
        }
        HandoffState::Sent { url } => (HandoffStage::Sent, reason.clone(), None, url.clone()),
        HandoffState::Waiting { until, why } => {
            let reason = match why {
                Some(why) => format!("not accepted yet, the instance that watches it retries: {why}"),
                None => "not accepted yet, the instance that watches it retries".to_owned(),
            };
            (HandoffStage::Retrying, reason, Some(*until), None)
        }
    };
    HandoffRow {
        pull: address.to_string(),
        address,
        stage,
        target: line(task.target.as_str()),
        path: line(task.path.as_str()),
        findings: titles.iter().map(|title| line(title)).collect(),
        threads: Vec::new(),
        reason: line(&reason),
        // Only a running loop can send it again.
        task_key: None,
        until,
        url,
    }
}

/// The distinct titles: two reviewers may report the same finding.
fn titles(findings: &[ThreadId], computed: &ComputedState) -> Vec<String> {
    let mut titles = Vec::new();
    for id in findings {
        let shown = computed.thread(id);
        let title = line(shown.as_ref().map_or(id.as_str(), |shown| &shown.thread.finding.title));
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles
}
