//! The progress of handoff tasks, from the journal alone: for instances that do not drive, and for lists of
//! sent tasks.

use super::fact::{Fact, TaskFact};
use super::history::History;
use super::view::{HandoffState, HandoffView};
use crate::agents::targets::{self, Backoff, DeliveryOutcome, RetryDecision};
use crate::config::TargetKinds;
use crate::domain::handoff::HandoffTask;
use crate::domain::snapshot::{PullRequestSnapshot, RepositoryName};
use crate::github::PullRequestAddress;
use crate::journal::{
    INTENT, Journal, JournalError, OUTCOME, PullRequestKey, Record, RecordFilter, RecordOrder,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

/// Every task of the merge.
pub fn handoffs(
    history: &History,
    snapshot: &PullRequestSnapshot,
    targets: &TargetKinds,
) -> Vec<HandoffView> {
    let merged = history.facts().find_map(|dated| match &dated.fact {
        Fact::Merged { tasks, .. } => Some((dated.at, tasks)),
        _ => None,
    });
    let Some((merged_at, tasks)) = merged else { return Vec::new() };
    let handoff = |fact: &TaskFact| {
        let (reason, task): (String, HandoffTask) = (fact.reason.clone(), fact.clone().into());
        let key = targets::key(&task, snapshot.filed_as(), snapshot.number);
        let state = DeliveryAttempts::of(&key, history).state(&task, merged_at, targets);
        HandoffView { key, task, reason, state }
    };
    tasks.iter().map(handoff).collect()
}

/// The tries at one task that have an outcome in the journal.
#[derive(Debug, Default)]
pub(super) struct DeliveryAttempts {
    pub(super) made: u32,
    /// Those that count: not the ones that met a rate limit (L8).
    pub(super) spent: u32,
    last: Option<LastTry>,
}

/// The last try at a task.
#[derive(Debug)]
struct LastTry {
    outcome: DeliveryOutcome,
    /// By the database's clock.
    recorded_at: Timestamp,
    /// By the clock of the instance that made it. Older versions did not record it.
    ended_at: Option<Timestamp>,
}

impl DeliveryAttempts {
    pub(super) fn of(task: &str, history: &History) -> DeliveryAttempts {
        let mut tries = DeliveryAttempts::default();
        while let Some((at, body)) = history.outcome(&try_key(task, tries.made + 1)) {
            tries.add(*at, body);
        }
        tries
    }

    fn add(&mut self, recorded_at: Timestamp, body: &Value) {
        self.made += 1;
        let outcome = read_outcome(body);
        self.spent += u32::from(!matches!(outcome, DeliveryOutcome::Limited { .. }));
        let ended_at = body.get("ended_at").and_then(Value::as_str).and_then(|at| at.parse().ok());
        self.last = Some(LastTry { outcome, recorded_at, ended_at });
    }

    pub(super) fn last(&self) -> Option<&DeliveryOutcome> {
        self.last.as_ref().map(|last| &last.outcome)
    }

    /// How long ago the last try ended, so that a new process continues the wait before the next one. Each
    /// clock is compared with itself, and one that was set back does not prolong the wait.
    pub(super) fn waited(&self, now: Timestamp, database_now: Option<Timestamp>) -> Duration {
        let Some(last) = &self.last else { return Duration::ZERO };
        let since = |then: Timestamp, now: Timestamp| Duration::try_from(now.duration_since(then)).ok();
        let by_this_clock = last.ended_at.and_then(|then| since(then, now));
        let by_database = database_now.and_then(|now| since(last.recorded_at, now));
        by_this_clock.max(by_database).unwrap_or_default()
    }

    fn state(&self, task: &HandoffTask, decided_at: Timestamp, targets: &TargetKinds) -> HandoffState {
        match &self.last {
            None => match targets::kind_of(targets, &task.target) {
                Ok(_) => HandoffState::Waiting { until: decided_at, why: None },
                Err(error) => HandoffState::Stuck(error.to_string()),
            },
            Some(LastTry { outcome, recorded_at, ended_at }) => {
                let ended_at = ended_at.unwrap_or(*recorded_at);
                let until = |wait| ended_at.checked_add(wait).unwrap_or(Timestamp::MAX);
                state_after(self.spent, outcome, until)
            }
        }
    }
}

/// The state of a task after its last try, of which `spent` counted. `until` turns a waiting time into a point in time.
pub(super) fn state_after(
    spent: u32,
    outcome: &DeliveryOutcome,
    until: impl FnOnce(Duration) -> Timestamp,
) -> HandoffState {
    match Backoff::default().after(spent, outcome) {
        RetryDecision::Done => {
            let url = if let DeliveryOutcome::Taken { url } = outcome { url.clone() } else { None };
            HandoffState::Sent { url }
        }
        RetryDecision::Stuck(why) => HandoffState::Stuck(why),
        RetryDecision::Again(wait) => HandoffState::Waiting { until: until(wait), why: outcome.refusal() },
    }
}

/// The key of a try in the journal.
pub(super) fn try_key(task: &str, number: u32) -> String {
    format!("{task}/try-{number}")
}

fn read_outcome(body: &Value) -> DeliveryOutcome {
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    if let Some(why) = text("withheld") {
        DeliveryOutcome::Withheld(why)
    } else if let Some(why) = text("refused") {
        DeliveryOutcome::Refused(why)
    } else if let Some(reason) = text("limited") {
        let seconds = body.get("wait_seconds").and_then(Value::as_u64).unwrap_or_default();
        DeliveryOutcome::Limited { wait: Duration::from_secs(seconds), reason }
    } else if let Some(why) = text("unknown") {
        DeliveryOutcome::Unknown(why)
    } else {
        DeliveryOutcome::Taken { url: text("url") }
    }
}

/// The form that [`read_outcome`] reads.
pub(super) fn written_outcome(outcome: &DeliveryOutcome, ended_at: Timestamp) -> Value {
    match outcome {
        DeliveryOutcome::Taken { url } => json!({"taken": true, "url": url}),
        DeliveryOutcome::Refused(why) => json!({"refused": why, "ended_at": ended_at.to_string()}),
        DeliveryOutcome::Limited { wait, reason } => {
            json!({"limited": reason, "wait_seconds": wait.as_secs(), "ended_at": ended_at.to_string()})
        }
        // Versions that do not know the first word read the second, and do not send the task again either.
        DeliveryOutcome::Withheld(why) => json!({"withheld": why, "unknown": why}),
        DeliveryOutcome::Unknown(why) => json!({"unknown": why}),
    }
}

/// A task that a merge decided, however long ago, also of a pull request that is no longer tracked.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedTask {
    pub about: PullRequestKey,
    /// The repository's present name.
    pub repository: RepositoryName,
    /// Identifies the task; never changes.
    pub key: String,
    pub task: HandoffTask,
    pub reason: String,
    /// The findings' titles. They are text from the forge: sanitize them before showing them.
    pub titles: Vec<String>,
    /// When the merge was recorded.
    pub at: Timestamp,
    pub last_try: Option<DeliveryAttempt>,
    pub state: HandoffState,
    /// The target may have it: the last answer was lost, or a try has no outcome yet.
    pub is_unknown: bool,
}

/// A try at sending a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAttempt {
    pub number: u32,
    /// By the database's clock.
    pub at: Timestamp,
    /// The instance that sent it.
    pub by: String,
}

/// All tasks that were ever decided, or those of one pull request; newest merge first. Reads only the merges
/// and each task's tries by key, not the rest of the journal.
pub async fn all_decided_tasks(
    journal: &Journal,
    targets: &TargetKinds,
    of: Option<&PullRequestAddress>,
    limit: Option<usize>,
) -> Result<Vec<DecidedTask>, JournalError> {
    let known = journal.repositories().await?;
    let merges = RecordFilter {
        kind: Some(MERGED.to_owned()),
        repository: of.map(|address| known.filed_anywhere(&address.repository)),
        number: of.map(|address| address.number),
        order: RecordOrder::NewestFirst,
        ..RecordFilter::default()
    };
    let limit = limit.unwrap_or(usize::MAX);
    let mut found = Vec::new();
    for record in journal.records(merges).await? {
        let (Some(about), Some(dated)) = (record.pull_request.clone(), Fact::read(&record)) else { continue };
        let Fact::Merged { tasks, .. } = dated.fact else { continue };
        for fact in tasks {
            if found.len() >= limit {
                return Ok(found);
            }
            let repository = known.present_name(&about).clone();
            let task = decided(journal, targets, &about, dated.at, fact).await?;
            found.push(DecidedTask { repository, ..task });
        }
    }
    Ok(found)
}

/// Whether a record changes the result of [`all_decided_tasks`].
pub fn concerns(record: &Record) -> bool {
    let is_try = |key: &String| key.starts_with(targets::KEY_PREFIX);
    record.kind == MERGED || record.key.as_ref().is_some_and(is_try)
}

/// The kind of the records that hold the tasks.
const MERGED: &str = "merged";

async fn decided(
    journal: &Journal,
    targets: &TargetKinds,
    about: &PullRequestKey,
    at: Timestamp,
    fact: TaskFact,
) -> Result<DecidedTask, JournalError> {
    let (reason, titles) = (fact.reason.clone(), fact.titles.clone());
    let task: HandoffTask = fact.into();
    let key = targets::key(&task, &about.repository, about.number);
    let mut tries = DeliveryAttempts::default();
    let mut last_try = None;
    let attempt =
        |number: u32, record: &Record| DeliveryAttempt { number, at: record.at, by: record.by.clone() };
    let is_taken = |tries: &DeliveryAttempts| matches!(tries.last(), Some(DeliveryOutcome::Taken { .. }));
    while !is_taken(&tries)
        && let Some(record) = journal.find(about, OUTCOME, try_key(&key, tries.made + 1)).await?
    {
        tries.add(record.at, &record.body);
        last_try = Some(attempt(tries.made, &record));
    }
    let mut is_unknown = matches!(tries.last(), Some(DeliveryOutcome::Unknown(_)));
    if !is_taken(&tries)
        && let Some(record) = journal.find(about, INTENT, try_key(&key, tries.made + 1)).await?
    {
        is_unknown = true;
        last_try = Some(attempt(tries.made + 1, &record));
    }
    let state = tries.state(&task, at, targets);
    let (about, repository) = (about.clone(), about.repository.clone());
    Ok(DecidedTask { about, repository, key, task, reason, titles, at, last_try, state, is_unknown })
}
