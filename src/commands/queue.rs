//! `cloture queue list`: the findings that a merge hands off, the tasks they form, and why the other findings
//! stay (H8). `cloture queue history` ([`sent_tasks`]): every task that a merge started, and its state.

pub mod sent_tasks;

use crate::agents::targets;
use crate::app::connection::ConnectionSettings;
use crate::app::invocation::Invocation;
use crate::commands::inbox::{InboxQuery, StoredPullRequests, load_stored};
use crate::commands::{Outcome, Report, report};
use crate::config::Config;
use crate::domain::finding::Destination;
use crate::domain::handoff::HandoffTask;
use crate::domain::snapshot::{PullRequestState, RepositoryName};
use crate::domain::vocabulary::{FilePath, Severity, TargetName, ThreadId};
use crate::failure::Failure;
use crate::output::sanitize;
use crate::output::thread_table;
use crate::reviewers::profiles::Profiles;
use crate::supervisor::computed_state::{ComputedState, RepositoryRules};
use crate::supervisor::handoffs::handoffs;
use crate::supervisor::people::stored::StoredPullRequest;
use crate::supervisor::view::{HandoffState, HandoffView};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug, Serialize)]
pub struct QueueReport {
    pull_requests: Vec<QueuePullRequestPart>,
    /// Why some pull requests are missing.
    #[serde(skip)]
    failures: Vec<Failure>,
}

#[derive(Debug, Serialize)]
struct QueuePullRequestPart {
    repository: RepositoryName,
    number: u64,
    title: String,
    url: String,
    state: &'static str,
    /// Seconds since the pull request was polled.
    age_seconds: u64,
    /// The tasks that a merge would start now.
    tasks: Vec<TaskPart>,
    /// The tasks that the merge started.
    handoffs: Vec<HandoffPart>,
    findings: Vec<QueueFindingPart>,
}

#[derive(Debug, Serialize)]
struct TaskPart {
    target: TargetName,
    path: FilePath,
    findings: Vec<ThreadId>,
    /// Why nothing can be sent to the target. Null if it can.
    stuck: Option<String>,
}

#[derive(Debug, Serialize)]
struct HandoffPart {
    target: TargetName,
    path: FilePath,
    findings: Vec<ThreadId>,
    reason: String,
    /// `sent`, `waiting` or `stuck`.
    state: &'static str,
    url: Option<String>,
    /// When a waiting task is tried again.
    until: Option<Timestamp>,
    /// Why it waits or is stuck.
    message: Option<String>,
}

#[expect(clippy::struct_excessive_bools, reason = "independent facts about a finding, as scripts read them")]
#[derive(Debug, Serialize)]
struct QueueFindingPart {
    thread: ThreadId,
    path: FilePath,
    line: Option<u32>,
    title: String,
    severity: Option<Severity>,
    status: &'static str,
    queued: bool,
    /// Its target if it is handed off.
    target: TargetName,
    /// Whether a person chose the target, and not the routes.
    retargeted: bool,
    /// Whether a person keeps it from being handed off.
    withheld: bool,
    /// Whether a merge hands it off.
    goes: bool,
    /// The reason, in one sentence (H8).
    why: String,
}

pub fn run(invocation: &Invocation, pull_requests: &[String], json: bool) -> anyhow::Result<Outcome> {
    let queue = invocation.with_context(async |context| {
        list(pull_requests, &context.settings, &context.profiles, context.state_folder, context.now).await
    })?;
    report::print(&queue, json)
}

/// Polls the named pull requests. Without names, lists every pull request as the journal last recorded it.
async fn list(
    pull_requests: &[String],
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<QueueReport, Failure> {
    let query = InboxQuery { pull_requests, fresh: !pull_requests.is_empty(), all: true };
    let stored = load_stored(&query, settings, profiles, state_folder, now).await?;
    let StoredPullRequests { pull_requests: stored, failures } = stored;
    let part = |stored: &StoredPullRequest| {
        let rules =
            RepositoryRules::of_names(settings.config, profiles, stored.computed.snapshot.names(), false);
        part(stored, &rules, settings.config)
    };
    let parts = stored.iter().map(part);
    let parts = parts.filter(|part| !part.is_finished() || !pull_requests.is_empty());
    Ok(QueueReport { pull_requests: parts.collect(), failures })
}

fn part(stored: &StoredPullRequest, rules: &RepositoryRules<'_>, config: &Config) -> QueuePullRequestPart {
    let StoredPullRequest { computed, history, age, .. } = stored;
    let snapshot = &computed.snapshot;
    let name = |id: &ThreadId| computed.thread(id).map_or_else(|| id.clone(), |shown| shown.id().clone());
    let names = |task: &HandoffTask| task.findings.iter().map(name).collect();
    // A merge decides once and for all, and a pull request that was closed hands nothing off.
    let is_decided = history.merged().is_some() || snapshot.state == PullRequestState::Closed;
    let tasks = if is_decided { Vec::new() } else { computed.tasks(rules) };
    let decided = handoffs(history, snapshot, &config.targets);
    let findings = computed.threads().into_iter().filter(|shown| shown.repeats.is_none()).map(|shown| {
        let eligibility = computed.eligibility(shown.thread, rules);
        let (goes, why) = match eligibility.is_eligible() {
            true if is_decided => (false, "the pull request ended before this finding was queued".to_owned()),
            goes => (goes, eligibility.to_string()),
        };
        let finding = &shown.thread.finding;
        QueueFindingPart {
            thread: shown.id().clone(),
            path: shown.thread.anchor.path.clone(),
            line: shown.line(),
            title: finding.title.to_string(),
            severity: finding.severity,
            status: shown.thread.status().name(),
            queued: shown.thread.queued,
            target: ComputedState::target_of(shown.thread, rules),
            retargeted: matches!(shown.thread.routed, Destination::Target(_)),
            withheld: shown.thread.routed == Destination::Nowhere,
            goes,
            why,
        }
    });
    QueuePullRequestPart {
        repository: snapshot.repository.clone(),
        number: snapshot.number,
        title: snapshot.title.clone(),
        url: snapshot.url.clone(),
        state: snapshot.state.name(),
        age_seconds: age.as_secs(),
        findings: findings.collect(),
        tasks: tasks
            .into_iter()
            .map(|task| TaskPart {
                findings: names(&task),
                stuck: targets::kind_of(&config.targets, &task.target).err().map(|error| error.to_string()),
                target: task.target,
                path: task.path,
            })
            .collect(),
        handoffs: decided.into_iter().map(|handoff| handoff_part(&handoff, names(&handoff.task))).collect(),
    }
}

fn handoff_part(handoff: &HandoffView, findings: Vec<ThreadId>) -> HandoffPart {
    let HandoffView { task, reason, state, .. } = handoff;
    let (name, url, until, message) = match state {
        HandoffState::Sent { url } => ("sent", url.clone(), None, None),
        HandoffState::Waiting { until, why } => ("waiting", None, Some(*until), why.clone()),
        HandoffState::Stuck(why) => ("stuck", None, None, Some(why.clone())),
    };
    let (target, path, reason) = (task.target.clone(), task.path.clone(), reason.clone());
    HandoffPart { target, path, findings, reason, state: name, url, until, message }
}

impl QueuePullRequestPart {
    /// Whether it has ended and handed nothing off.
    fn is_finished(&self) -> bool {
        self.state != PullRequestState::Open.name() && self.tasks.is_empty() && self.handoffs.is_empty()
    }
}

impl Report for QueueReport {
    fn to_json(&self) -> serde_json::Result<String> {
        Ok(sanitize::json(&serde_json::to_string(self)?).into_owned())
    }

    fn failures(&self) -> Vec<Failure> {
        self.failures.clone()
    }
}

/// ```text
/// acme/shop#7  Add a discount to the cart (open, polled 5 min ago)
///   at merge, for fixer: src/cart.rs, 2 findings (PRRT_1, PRRT_2)
///   PRRT_1  src/cart.rs:12  queued by a person: it will be handed off at merge
///   PRRT_2  src/cart.rs:14  queued by a person: it will be handed off at merge; a person chose fixer
///   PRRT_3  src/cart.rs:30  automatic handoff is off, and nobody queued it
/// ```
impl fmt::Display for QueueReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pull_requests.is_empty() {
            return write!(f, "The journal has no open pull request, and no merged one with tasks.");
        }
        for (index, part) in self.pull_requests.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for QueuePullRequestPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueuePullRequestPart { repository, number, title, state, age_seconds, .. } = self;
        let ago = thread_table::ago(std::time::Duration::from_secs(*age_seconds));
        write!(f, "{repository}#{number}  {} ({state}, polled {ago})", sanitize::line(title))?;
        let print = |f: &mut fmt::Formatter<'_>, line: String| write!(f, "\n  {}", sanitize::line(&line));
        for TaskPart { target, path, findings, stuck } in &self.tasks {
            let stuck = stuck.as_ref().map_or_else(String::new, |why| format!("; {why}"));
            print(f, format!("at merge, for {target}: {path}, {}{stuck}", count_and_names(findings)))?;
        }
        for handoff in &self.handoffs {
            let HandoffPart { target, path, findings, state, url, until, message, .. } = handoff;
            let more = match (url, until, message) {
                (Some(url), ..) => format!(": {url}"),
                (_, Some(until), _) => format!(" until {until:.0}"),
                (.., Some(message)) => format!(": {message}"),
                (None, None, None) => String::new(),
            };
            print(f, format!("for {target}: {path}, {}, {state}{more}", count_and_names(findings)))?;
        }
        for QueueFindingPart { thread, path, line, why, target, retargeted, .. } in &self.findings {
            let place = line.map_or_else(|| path.to_string(), |line| format!("{path}:{line}"));
            let choice = if *retargeted { format!("; a person chose {target}") } else { String::new() };
            print(f, format!("{thread}  {place}  {why}{choice}"))?;
        }
        if self.findings.is_empty() {
            write!(f, "\n  no findings")?;
        }
        Ok(())
    }
}

fn count_and_names(findings: &[ThreadId]) -> String {
    let names: Vec<&str> = findings.iter().map(ThreadId::as_str).collect();
    let count = if names.len() == 1 { "1 finding".to_owned() } else { format!("{} findings", names.len()) };
    format!("{count} ({})", names.join(", "))
}
