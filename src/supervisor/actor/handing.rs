//! Handoff (H): sending the tasks that a merge decided, each once.
//!
//! Every try has a name of its own in the journal. What was tried and has no outcome may have arrived: what can be looked
//! for is looked for and sent again, and what cannot is left to a person (H4).

use super::Actor;
use crate::domain::handoff::Task;
use crate::domain::vocabulary::ThreadId;
use crate::journal::{Appended, JournalError, NewRecord};
use crate::supervisor::due;
use crate::supervisor::fact::{Fact, TaskFact};
use crate::supervisor::standing::Standing;
use crate::supervisor::view::{Handoff, HandoffState};
use crate::targets::{self, Backoff, Delivery, Document, Means, Next, Outcome, Sources};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

/// What the journal says about the tries at one task.
struct Tries {
    made: u32,
    /// The last outcome, where there was a try.
    last: Option<Outcome>,
}

impl Actor {
    /// Sends the tasks that are decided and due.
    pub(super) async fn hand_off(&mut self) -> Result<(), JournalError> {
        let Some(Fact::Merged { tasks }) = self.history.merged().cloned() else { return Ok(()) };
        let Some(standing) = self.standing.clone() else { return Ok(()) };
        let mut handoffs = Vec::new();
        for task in tasks {
            handoffs.push(self.hand_over(&standing, task).await?);
        }
        self.handoffs = handoffs;
        Ok(())
    }

    async fn hand_over(&mut self, standing: &Arc<Standing>, fact: TaskFact) -> Result<Handoff, JournalError> {
        let snapshot = &standing.snapshot;
        let reason = fact.reason.clone();
        let task: Task = fact.into();
        let key = targets::key(&task, &snapshot.repository, snapshot.number);
        let shown = |task: Task, state| Handoff { key: key.clone(), task, reason: reason.clone(), state };
        let tries = self.tries(&key);
        let forced = self.forced.contains(&key);
        let now = self.setup.clock.now();
        match tries.last.as_ref().map(|last| Backoff::default().after(tries.made, last)) {
            Some(Next::Done) => {
                let url = match tries.last {
                    Some(Outcome::Taken { url }) => url,
                    _ => None,
                };
                return Ok(shown(task, HandoffState::Sent { url }));
            }
            Some(Next::Stuck(why)) if !forced => return Ok(shown(task, HandoffState::Stuck(why))),
            Some(Next::Again(wait)) if !forced => {
                let at = *self
                    .waits
                    .entry(key.clone())
                    .or_insert_with(|| now.checked_add(wait).unwrap_or(Timestamp::MAX));
                if now < at {
                    let why = tries.last.as_ref().and_then(Outcome::refusal);
                    return Ok(shown(task, HandoffState::Waiting { until: at, why }));
                }
            }
            None | Some(Next::Stuck(_) | Next::Again(_)) => {}
        }
        let delivery = match prepared(standing, &task, &reason, &self.setup.config.targets) {
            Ok(delivery) => delivery,
            Err(why) => return Ok(shown(task, HandoffState::Stuck(why))),
        };
        // L8: a try that the forge is known to turn away is none.
        if matches!(delivery.means, Means::Write(_))
            && !forced
            && let Some(until) = self.setup.left_alone.until(now)
        {
            let why = tries.last.as_ref().and_then(Outcome::refusal);
            return Ok(shown(task, HandoffState::Waiting { until, why }));
        }
        let outcome = self.try_once(&delivery, tries.made + 1).await?;
        self.waits.remove(&key);
        self.forced.remove(&key);
        let state = match Backoff::default().after(tries.made + 1, &outcome) {
            Next::Done => HandoffState::Sent {
                url: match outcome {
                    Outcome::Taken { url } => url,
                    _ => None,
                },
            },
            Next::Stuck(why) => HandoffState::Stuck(why),
            Next::Again(wait) => {
                let until = now.checked_add(wait).unwrap_or(Timestamp::MAX);
                self.waits.insert(key.clone(), until);
                HandoffState::Waiting { until, why: outcome.refusal() }
            }
        };
        Ok(shown(task, state))
    }

    async fn try_once(&mut self, delivery: &Delivery, number: u32) -> Result<Outcome, JournalError> {
        let key = try_key(&delivery.key, number);
        self.hold().await?;
        let Some(lease) = self.lease.clone() else {
            return Ok(Outcome::Refused("another instance has taken over".to_owned()));
        };
        let record = |body| {
            NewRecord::new("", self.setup.instance.clone())
                .about(self.key.clone())
                .because(delivery.sentence.clone())
                .with(body)
        };
        let intended = self
            .setup
            .journal
            .intend(Some(&lease), key.clone(), record(json!({"does": delivery.sentence})))
            .await?;
        let may_be_looked_for = matches!(&delivery.means, Means::Write(write) if write.can_be_looked_for());
        let outcome = match intended {
            Appended::AlreadyThere(_) if !may_be_looked_for => {
                Outcome::Unknown("it was being sent when Cloture was interrupted".to_owned())
            }
            _ => delivery.send(&self.setup.writer, &self.setup.environment).await,
        };
        let body = match &outcome {
            Outcome::Taken { url } => json!({"taken": true, "url": url}),
            Outcome::Refused(why) => json!({"refused": why}),
            Outcome::Unknown(why) => json!({"unknown": why}),
        };
        let concluded = self.setup.journal.conclude(Some(&lease), key, record(body)).await?;
        self.learn(concluded.record());
        Ok(outcome)
    }

    /// What became of the tries so far, as the journal has it.
    fn tries(&self, key: &str) -> Tries {
        let mut tries = Tries { made: 0, last: None };
        while let Some((_, body)) = self.concluded.get(&try_key(key, tries.made + 1)) {
            tries.made += 1;
            tries.last = Some(read_outcome(body));
        }
        tries
    }
}

pub(in crate::supervisor) fn try_key(key: &str, number: u32) -> String {
    format!("{key}/try-{number}")
}

pub(in crate::supervisor) fn read_outcome(body: &Value) -> Outcome {
    let text = |name: &str| body.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    if let Some(why) = text("refused") {
        Outcome::Refused(why)
    } else if let Some(why) = text("unknown") {
        Outcome::Unknown(why)
    } else {
        Outcome::Taken { url: text("url") }
    }
}

/// The task as it will be sent, or the sentence that says why it cannot be.
fn prepared(
    standing: &Standing,
    task: &Task,
    reason: &str,
    targets: &crate::config::Targets,
) -> Result<Delivery, String> {
    let kind = targets::kind_of(targets, &task.target).map_err(|error| error.to_string())?;
    let threads = standing.threads();
    let find = |id: &ThreadId| threads.iter().find(|shown| shown.thread.id == *id);
    let thread = |id: &ThreadId| find(id).map(|shown| shown.thread);
    let conversation = |id: &ThreadId| find(id).and_then(|shown| shown.on_forge);
    let sources =
        Sources { snapshot: &standing.snapshot, thread: &thread, conversation: &conversation, reason };
    let document = Document::of(task, &sources).map_err(|error| error.to_string())?;
    targets::prepare(&document, kind, &due::target(standing)).map_err(|error| error.to_string())
}
