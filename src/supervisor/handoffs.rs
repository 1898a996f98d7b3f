//! How far the tasks that a merge decided have come, as the journal alone tells it: for whoever looks without driving, and
//! for whoever asks what was ever sent.

use super::fact::{Fact, TaskFact};
use super::history::History;
use super::view::{Handoff, HandoffState};
use crate::agents::targets::{self, Backoff, Next, Outcome};
use crate::config::Targets;
use crate::domain::handoff::Task;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::github::PullRequestAddress;
use crate::journal::{Filter, INTENT, Journal, JournalError, OUTCOME, Order, PullRequestKey, Record};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

/// Every task of the merge. `outcome` tells what became of a try, by its name in the journal, and when.
pub fn handoffs<'a>(
    history: &History,
    snapshot: &PullRequestSnapshot,
    targets: &Targets,
    outcome: impl Fn(&str) -> Option<&'a (Timestamp, Value)>,
) -> Vec<Handoff> {
    let merged = history.facts().find_map(|dated| match &dated.fact {
        Fact::Merged { tasks, .. } => Some((dated.at, tasks)),
        _ => None,
    });
    let Some((merged_at, tasks)) = merged else { return Vec::new() };
    let handoff = |fact: &TaskFact| {
        let (reason, task): (String, Task) = (fact.reason.clone(), fact.clone().into());
        let key = targets::key(&task, &snapshot.repository, snapshot.number);
        let state = Tries::of(&key, &outcome).state(&task, merged_at, targets);
        Handoff { key, task, reason, state }
    };
    tasks.iter().map(handoff).collect()
}

/// What the journal says about the tries at one task.
#[derive(Debug, Default)]
pub(super) struct Tries {
    pub(super) made: u32,
    last: Option<(Timestamp, Outcome)>,
}

impl Tries {
    /// `outcome` tells what became of a try, by its name, and when.
    pub(super) fn of<'a>(task: &str, outcome: impl Fn(&str) -> Option<&'a (Timestamp, Value)>) -> Tries {
        let mut tries = Tries::default();
        while let Some((at, body)) = outcome(&try_key(task, tries.made + 1)) {
            tries.add(*at, read_outcome(body));
        }
        tries
    }

    fn add(&mut self, at: Timestamp, outcome: Outcome) {
        self.made += 1;
        self.last = Some((at, outcome));
    }

    pub(super) fn last(&self) -> Option<&Outcome> {
        self.last.as_ref().map(|(_, outcome)| outcome)
    }

    /// How far the task has come.
    fn state(&self, task: &Task, decided_at: Timestamp, targets: &Targets) -> HandoffState {
        match &self.last {
            None => match targets::kind_of(targets, &task.target) {
                Ok(_) => HandoffState::Waiting { until: decided_at, why: None },
                Err(error) => HandoffState::Stuck(error.to_string()),
            },
            Some((at, outcome)) => {
                state_after(self.made, outcome, |wait| at.checked_add(wait).unwrap_or(Timestamp::MAX))
            }
        }
    }
}

/// How far a task has come whose last try of so many ended so. `until` tells when a wait is over.
pub(super) fn state_after(
    made: u32,
    outcome: &Outcome,
    until: impl FnOnce(Duration) -> Timestamp,
) -> HandoffState {
    match Backoff::default().after(made, outcome) {
        Next::Done => {
            let url = if let Outcome::Taken { url } = outcome { url.clone() } else { None };
            HandoffState::Sent { url }
        }
        Next::Stuck(why) => HandoffState::Stuck(why),
        Next::Again(wait) => HandoffState::Waiting { until: until(wait), why: outcome.refusal() },
    }
}

/// The name of a try.
pub(super) fn try_key(task: &str, number: u32) -> String {
    format!("{task}/try-{number}")
}

fn read_outcome(body: &Value) -> Outcome {
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    if let Some(why) = text("refused") {
        Outcome::Refused(why)
    } else if let Some(why) = text("unknown") {
        Outcome::Unknown(why)
    } else {
        Outcome::Taken { url: text("url") }
    }
}

/// What [`read_outcome`] reads.
pub(super) fn written_outcome(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Taken { url } => json!({"taken": true, "url": url}),
        Outcome::Refused(why) => json!({"refused": why}),
        Outcome::Unknown(why) => json!({"unknown": why}),
    }
}

/// A task that some merge decided, be it long ago and of a pull request that nobody tracks any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    pub about: PullRequestKey,
    /// Names it for good.
    pub key: String,
    pub task: Task,
    pub reason: String,
    /// The findings' titles, where they were kept. The forge's text: to be cleaned by whoever shows it.
    pub titles: Vec<String>,
    /// When the merge was seen.
    pub at: Timestamp,
    pub last_try: Option<Try>,
    pub state: HandoffState,
    /// Whether nobody knows if the target has it: the last answer was lost, or somebody is sending it or was interrupted.
    pub is_unknown: bool,
}

/// A time that a task was sent, or was about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Try {
    pub number: u32,
    /// By the database's clock.
    pub at: Timestamp,
    /// The instance.
    pub by: String,
}

/// Every task that was ever decided, newest merge first, or those of one pull request. Only the merges are read, and of
/// each task what became of it, by name: not the rest of the journal.
pub async fn ever(
    journal: &Journal,
    targets: &Targets,
    of: Option<&PullRequestAddress>,
    limit: Option<usize>,
) -> Result<Vec<Decided>, JournalError> {
    let merges = Filter {
        kind: Some(MERGED.to_owned()),
        repository: of.map(|address| address.repository.clone()),
        number: of.map(|address| address.number),
        order: Order::NewestFirst,
        ..Filter::default()
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
            found.push(decided(journal, targets, &about, dated.at, fact).await?);
        }
    }
    Ok(found)
}

/// Whether a record changes what [`ever`] tells.
pub fn concerns(record: &Record) -> bool {
    let is_try = |key: &String| key.starts_with(targets::KEY_PREFIX);
    record.kind == MERGED || record.key.as_ref().is_some_and(is_try)
}

/// The kind of the records that the decisions are in.
const MERGED: &str = "merged";

async fn decided(
    journal: &Journal,
    targets: &Targets,
    about: &PullRequestKey,
    at: Timestamp,
    fact: TaskFact,
) -> Result<Decided, JournalError> {
    let (reason, titles) = (fact.reason.clone(), fact.titles.clone());
    let task: Task = fact.into();
    let key = targets::key(&task, &about.repository, about.number);
    let mut tries = Tries::default();
    let mut last_try = None;
    let attempt = |number: u32, record: &Record| Try { number, at: record.at, by: record.by.clone() };
    let is_taken = |tries: &Tries| matches!(tries.last, Some((_, Outcome::Taken { .. })));
    while !is_taken(&tries)
        && let Some(record) = journal.find(about, OUTCOME, try_key(&key, tries.made + 1)).await?
    {
        tries.add(record.at, read_outcome(&record.body));
        last_try = Some(attempt(tries.made, &record));
    }
    let mut is_unknown = matches!(tries.last, Some((_, Outcome::Unknown(_))));
    if !is_taken(&tries)
        && let Some(record) = journal.find(about, INTENT, try_key(&key, tries.made + 1)).await?
    {
        is_unknown = true;
        last_try = Some(attempt(tries.made + 1, &record));
    }
    let state = tries.state(&task, at, targets);
    Ok(Decided { about: about.clone(), key, task, reason, titles, at, last_try, state, is_unknown })
}
