//! `cloture queue list`: what is handed off when its pull request is merged, how it groups into tasks, and why not the rest
//! (H8). `cloture queue history` ([`sent`]): what was ever handed off, and what became of it.

pub mod sent_tasks;

use crate::agents::targets;
use crate::app::connection::ConnectionSettings;
use crate::commands::inbox::{InboxQuery, StoredPullRequests, gather};
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

/// What the journal knows about handing findings off.
#[derive(Debug, Serialize)]
pub struct QueueReport {
    pull_requests: Vec<QueuePullRequestPart>,
    /// What could not be shown, and why.
    #[serde(skip)]
    pub failures: Vec<Failure>,
}

#[derive(Debug, Serialize)]
struct QueuePullRequestPart {
    repository: RepositoryName,
    number: u64,
    title: String,
    url: String,
    state: &'static str,
    /// How long ago the pull request was looked at.
    age_seconds: u64,
    /// What would go if it were merged now.
    tasks: Vec<TaskPart>,
    /// What went or is to go because it was merged.
    handoffs: Vec<HandoffPart>,
    findings: Vec<QueueFindingPart>,
}

#[derive(Debug, Serialize)]
struct TaskPart {
    target: TargetName,
    path: FilePath,
    findings: Vec<ThreadId>,
    /// Why nothing can be sent to the target; null where it can.
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
    /// When it is tried again, where it waits.
    until: Option<Timestamp>,
    /// Why it is stuck.
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
    /// Where it goes if it is handed off.
    target: TargetName,
    /// Whether a person said so, and not the rules.
    retargeted: bool,
    /// Whether a person took it off the list of what goes by itself.
    withheld: bool,
    /// Whether it will be handed off.
    goes: bool,
    /// H8, in one sentence.
    why: String,
}

/// Those named are looked at first; without names, everything is as the journal last saw it.
pub async fn list(
    pull_requests: &[String],
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<QueueReport, Failure> {
    let wanted = InboxQuery { pull_requests, fresh: !pull_requests.is_empty(), all: true };
    let StoredPullRequests { known, failures } =
        gather(&wanted, settings, profiles, state_folder, now).await?;
    let part = |known: &StoredPullRequest| {
        let rules = RepositoryRules::of(settings.config, profiles, &known.about.repository, false);
        part(known, &rules, settings.config)
    };
    let parts = known.iter().map(part);
    let parts = parts.filter(|part| !part.is_over() || !pull_requests.is_empty());
    Ok(QueueReport { pull_requests: parts.collect(), failures })
}

fn part(known: &StoredPullRequest, rules: &RepositoryRules<'_>, config: &Config) -> QueuePullRequestPart {
    let StoredPullRequest { standing, history, age, .. } = known;
    let snapshot = &standing.snapshot;
    let name = |id: &ThreadId| standing.thread(id).map_or_else(|| id.clone(), |shown| shown.id().clone());
    let names = |task: &HandoffTask| task.findings.iter().map(name).collect();
    // What a merge decided stays decided, and what was closed without one goes nowhere.
    let is_decided = history.merged().is_some() || snapshot.state == PullRequestState::Closed;
    let tasks = if is_decided { Vec::new() } else { standing.tasks(rules) };
    let decided = handoffs(history, snapshot, &config.targets);
    let findings = standing.threads().into_iter().filter(|shown| shown.repeats.is_none()).map(|shown| {
        let eligibility = standing.eligibility(shown.thread, rules);
        let (goes, why) = match eligibility.is_eligible() {
            true if is_decided => {
                (false, "the pull request has ended, and it was not queued before".to_owned())
            }
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
        handoffs: decided.into_iter().map(|handoff| handed(&handoff, names(&handoff.task))).collect(),
    }
}

fn handed(handoff: &HandoffView, findings: Vec<ThreadId>) -> HandoffPart {
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
    /// Whether there is nothing left to say about it.
    fn is_over(&self) -> bool {
        self.state != PullRequestState::Open.name() && self.tasks.is_empty() && self.handoffs.is_empty()
    }
}

impl QueueReport {
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(sanitize::json(&serde_json::to_string(self)?).into_owned())
    }
}

/// ```text
/// acme/shop#7  Add a discount to the cart (open, seen 5 min ago)
///   at merge, for fixer: src/cart.rs, 2 findings (PRRT_1, PRRT_2)
///   PRRT_1  src/cart.rs:12  queued by a person: it will be handed off at merge
///   PRRT_2  src/cart.rs:14  queued by a person: it will be handed off at merge; a person sent it to fixer
///   PRRT_3  src/cart.rs:30  automatic handoff is off, and nobody queued it
/// ```
impl fmt::Display for QueueReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pull_requests.is_empty() {
            return write!(f, "The journal knows no pull request that anything could be handed off from.");
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
        write!(f, "{repository}#{number}  {} ({state}, seen {ago})", sanitize::line(title))?;
        let print = |f: &mut fmt::Formatter<'_>, line: String| write!(f, "\n  {}", sanitize::line(&line));
        for TaskPart { target, path, findings, stuck } in &self.tasks {
            let stuck = stuck.as_ref().map_or_else(String::new, |why| format!("; {why}"));
            print(f, format!("at merge, for {target}: {path}, {}{stuck}", counted(findings)))?;
        }
        for handoff in &self.handoffs {
            let HandoffPart { target, path, findings, state, url, until, message, .. } = handoff;
            let more = match (url, until, message) {
                (Some(url), ..) => format!(": {url}"),
                (_, Some(until), _) => format!(" until {until:.0}"),
                (.., Some(message)) => format!(": {message}"),
                (None, None, None) => String::new(),
            };
            print(f, format!("for {target}: {path}, {}, {state}{more}", counted(findings)))?;
        }
        for QueueFindingPart { thread, path, line, why, target, retargeted, .. } in &self.findings {
            let place = line.map_or_else(|| path.to_string(), |line| format!("{path}:{line}"));
            let sent = if *retargeted { format!("; a person sent it to {target}") } else { String::new() };
            print(f, format!("{thread}  {place}  {why}{sent}"))?;
        }
        if self.findings.is_empty() {
            write!(f, "\n  no findings")?;
        }
        Ok(())
    }
}

fn counted(findings: &[ThreadId]) -> String {
    let names: Vec<&str> = findings.iter().map(ThreadId::as_str).collect();
    let count = if names.len() == 1 { "1 finding".to_owned() } else { format!("{} findings", names.len()) };
    format!("{count} ({})", names.join(", "))
}
