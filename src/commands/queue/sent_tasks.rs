//! `cloture queue history`: every task that a merge started, newest first, and its state. It reads only the
//! journal, so it also lists pull requests that nobody watches any more.

use crate::app::connection::ConnectionSettings;
use crate::app::invocation::Invocation;
use crate::app::selection;
use crate::app::session::existing_journal;
use crate::commands::{Outcome, Report, report};
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::{FilePath, TargetName, ThreadId};
use crate::failure::Failure;
use crate::output::sanitize;
use crate::supervisor::handoffs::{DecidedTask, DeliveryAttempt, all_decided_tasks};
use crate::supervisor::view::HandoffState;
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug, Serialize)]
pub struct SentTasks {
    tasks: Vec<SentTask>,
}

#[derive(Debug, Serialize)]
struct SentTask {
    host: String,
    repository: RepositoryName,
    number: u64,
    /// When the poll that saw the merge decided on the task.
    decided_at: Timestamp,
    target: TargetName,
    path: FilePath,
    findings: Vec<ThreadId>,
    /// The findings' titles, if the journal has them.
    titles: Vec<String>,
    /// Why it is handed off.
    reason: String,
    /// `sent`, `waiting`, `stuck` or `unknown`.
    state: &'static str,
    /// Its address, if it was sent to GitHub.
    url: Option<String>,
    /// When a waiting task is tried again.
    until: Option<Timestamp>,
    /// Why it is stuck, or why its state is unknown.
    message: Option<String>,
    /// The number of attempts, including one that may not have left the machine.
    tries: u32,
    /// The time and the instance of the last attempt.
    tried_at: Option<Timestamp>,
    by: Option<String>,
    /// Names it for good.
    key: String,
}

/// The arguments of the command.
#[derive(Debug, Clone, Copy)]
pub struct SentTasksQuery<'a> {
    /// As typed on the command line. None means all.
    pub pull_request: Option<&'a str>,
    /// Only the newest tasks, at most this many.
    pub limit: Option<usize>,
}

pub fn run(invocation: &Invocation, query: &SentTasksQuery<'_>, json: bool) -> anyhow::Result<Outcome> {
    let tasks = invocation.with_context(async |context| {
        history(query, &context.settings, context.state_folder, context.now).await
    })?;
    report::print(&tasks, json)
}

async fn history(
    query: &SentTasksQuery<'_>,
    settings: &ConnectionSettings<'_>,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<SentTasks, Failure> {
    let host = settings.host()?;
    let named = query.pull_request.map(|named| selection::parse_address(named, &host)).transpose()?;
    let Some(journal) = existing_journal(settings, state_folder, now).await? else {
        return Ok(SentTasks { tasks: Vec::new() });
    };
    let decided = all_decided_tasks(&journal, &settings.config.targets, named.as_ref(), query.limit).await?;
    journal.close().await?;
    Ok(SentTasks { tasks: decided.into_iter().map(SentTask::of).collect() })
}

impl SentTask {
    fn of(decided: DecidedTask) -> SentTask {
        let DecidedTask { about, repository, key, task, reason, titles, at, last_try, state, is_unknown } =
            decided;
        let (state, url, until, message) = match state {
            HandoffState::Stuck(why) if is_unknown => ("unknown", None, None, Some(why)),
            _ if is_unknown => {
                let why = "it was being sent, and no outcome was recorded";
                ("unknown", None, None, Some(why.to_owned()))
            }
            HandoffState::Sent { url } => ("sent", url, None, None),
            HandoffState::Waiting { until, why } => ("waiting", None, Some(until), why),
            HandoffState::Stuck(why) => ("stuck", None, None, Some(why)),
        };
        let tries = last_try.as_ref().map_or(0, |last| last.number);
        let (tried_at, by) =
            last_try.map_or((None, None), |DeliveryAttempt { at, by, .. }| (Some(at), Some(by)));
        SentTask {
            host: about.host,
            repository,
            number: about.number,
            decided_at: at,
            target: task.target,
            path: task.path,
            findings: task.findings,
            titles,
            reason,
            state,
            url,
            until,
            message,
            tries,
            tried_at,
            by,
            key,
        }
    }
}

impl Report for SentTasks {
    fn to_json(&self) -> serde_json::Result<String> {
        Ok(sanitize::json(&serde_json::to_string(self)?).into_owned())
    }
}

/// ```text
/// 2026-03-02T09:01:00Z  acme/shop#7  for fixer: src/cart.rs, sent: https://…
///   2 findings: The subtraction underflows; Indexing panics
///   queued by a person; try 1 by here/4711
/// ```
impl fmt::Display for SentTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.tasks.is_empty() {
            return write!(f, "The journal has no task that was handed off.");
        }
        for (index, task) in self.tasks.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{task}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SentTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SentTask { repository, number, decided_at, target, path, reason, state, tries, by, .. } = self;
        let more = match (&self.url, self.until, &self.message) {
            (Some(url), ..) => format!(": {url}"),
            (_, Some(until), _) => format!(" until {until:.0}"),
            (.., Some(message)) => format!(": {message}"),
            (None, None, None) => String::new(),
        };
        let line = format!("{decided_at:.0}  {repository}#{number}  for {target}: {path}, {state}{more}");
        writeln!(f, "{}", sanitize::line(&line))?;
        let ids = || self.findings.iter().map(ToString::to_string).collect();
        let names: Vec<String> = if self.titles.is_empty() { ids() } else { self.titles.clone() };
        let count = match self.findings.len() {
            1 => "1 finding".to_owned(),
            count => format!("{count} findings"),
        };
        writeln!(f, "  {}", sanitize::line(&format!("{count}: {}", names.join("; "))))?;
        let attempts = match (tries, by) {
            (0, _) | (_, None) => "not tried yet".to_owned(),
            (tries, Some(by)) => format!("try {tries} by {by}"),
        };
        write!(f, "  {}", sanitize::line(&format!("{reason}; {attempts}")))
    }
}
