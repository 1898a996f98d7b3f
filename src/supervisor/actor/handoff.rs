//! Handoff (H): sending the tasks that a merge decided, each once.
//!
//! Every try has a name of its own in the journal. What was tried and has no outcome may have arrived: what can be looked
//! for is looked for and sent again, and what cannot is left to a person (H4). The same goes for what a journal that is lost
//! may have sent.

use super::PullRequestActor;
use crate::agents::targets::{self, Delivery, DeliveryMeans, DeliveryOutcome, TaskDocument, TaskSources};
use crate::domain::handoff::HandoffTask;
use crate::domain::vocabulary::ThreadId;
use crate::journal::{Appended, JournalError, NewRecord};
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::fact::{Fact, TaskFact};
use crate::supervisor::handoffs::{DeliveryAttempts, state_after, try_key, written_outcome};
use crate::supervisor::planned_writes;
use crate::supervisor::view::{HandoffState, HandoffView};
use jiff::Timestamp;
use serde_json::json;
use std::sync::Arc;

impl PullRequestActor {
    /// Sends the tasks that are decided and due.
    pub(super) async fn hand_off(&mut self) -> Result<(), JournalError> {
        let Some(Fact::Merged { tasks, may_be_sent }) = self.history.merged().cloned() else { return Ok(()) };
        let Some(standing) = self.standing.clone() else { return Ok(()) };
        let mut handoffs = Vec::new();
        for task in tasks {
            handoffs.push(self.hand_over(&standing, task, may_be_sent).await?);
        }
        self.handoffs = handoffs;
        Ok(())
    }

    async fn hand_over(
        &mut self,
        standing: &Arc<ComputedState>,
        fact: TaskFact,
        may_be_sent: bool,
    ) -> Result<HandoffView, JournalError> {
        let snapshot = &standing.snapshot;
        let reason = fact.reason.clone();
        let task: HandoffTask = fact.into();
        let key = targets::key(&task, &snapshot.repository, snapshot.number);
        let shown =
            |task: HandoffTask, state| HandoffView { key: key.clone(), task, reason: reason.clone(), state };
        let tries = DeliveryAttempts::of(&key, &self.history);
        let forced = self.forced.contains(&key);
        let now = self.setup.clock.now();
        let later = |wait| now.checked_add(wait).unwrap_or(Timestamp::MAX);
        if let Some(last) = tries.last() {
            let until = |wait| *self.waits.entry(key.clone()).or_insert_with(|| later(wait));
            let state = state_after(tries.made, last, until);
            let is_left_alone = match &state {
                HandoffState::Sent { .. } => true,
                HandoffState::Stuck(_) => !forced,
                HandoffState::Waiting { until, .. } => !forced && now < *until,
            };
            if is_left_alone {
                return Ok(shown(task, state));
            }
        }
        let delivery = match prepared(standing, &task, &reason, &self.setup.config.targets) {
            Ok(delivery) => delivery,
            Err(why) => return Ok(shown(task, HandoffState::Stuck(why))),
        };
        // L8: a try that the forge is known to turn away is none.
        if matches!(delivery.means, DeliveryMeans::Write(_))
            && !forced
            && let Some(until) = self.setup.left_alone.until(now)
        {
            let why = tries.last().and_then(DeliveryOutcome::refusal);
            return Ok(shown(task, HandoffState::Waiting { until, why }));
        }
        let outcome = self.try_once(&delivery, tries.made + 1, may_be_sent && !forced).await?;
        self.waits.remove(&key);
        self.forced.remove(&key);
        let state = state_after(tries.made + 1, &outcome, later);
        if let HandoffState::Waiting { until, .. } = &state {
            self.waits.insert(key.clone(), *until);
        }
        Ok(shown(task, state))
    }

    async fn try_once(
        &mut self,
        delivery: &Delivery,
        number: u32,
        may_be_sent: bool,
    ) -> Result<DeliveryOutcome, JournalError> {
        let key = try_key(&delivery.key, number);
        self.hold().await?;
        let Some(lease) = self.lease.clone() else {
            return Ok(DeliveryOutcome::Refused("another instance has taken over".to_owned()));
        };
        let record = |why: String, body| {
            NewRecord::new("", self.setup.instance.clone()).about(self.key.clone()).because(why).with(body)
        };
        let intended = self
            .setup
            .journal
            .intend(
                Some(&lease),
                key.clone(),
                record(delivery.sentence.clone(), json!({"does": delivery.sentence})),
            )
            .await?;
        let may_be_looked_for =
            matches!(&delivery.means, DeliveryMeans::Write(write) if write.can_be_looked_for());
        let outcome = match intended {
            Appended::AlreadyThere(_) if !may_be_looked_for => {
                DeliveryOutcome::Unknown("it was being sent when Cloture was interrupted".to_owned())
            }
            _ if may_be_sent && !may_be_looked_for => {
                DeliveryOutcome::Unknown("the journal that knew whether it was sent was damaged".to_owned())
            }
            _ => delivery.send(&self.setup.writer, &self.setup.environment).await,
        };
        let concluded = self
            .setup
            .journal
            .conclude(Some(&lease), key, record(outcome.sentence(), written_outcome(&outcome)))
            .await?;
        self.history.learn(concluded.record());
        Ok(outcome)
    }
}

/// The task as it will be sent, or the sentence that says why it cannot be.
fn prepared(
    standing: &ComputedState,
    task: &HandoffTask,
    reason: &str,
    targets: &crate::config::TargetKinds,
) -> Result<Delivery, String> {
    let kind = targets::kind_of(targets, &task.target).map_err(|error| error.to_string())?;
    let threads = standing.threads();
    let find = |id: &ThreadId| threads.iter().find(|shown| shown.thread.id == *id);
    let thread = |id: &ThreadId| find(id).map(|shown| shown.thread);
    let conversation = |id: &ThreadId| find(id).and_then(|shown| shown.on_forge);
    let sources =
        TaskSources { snapshot: &standing.snapshot, thread: &thread, conversation: &conversation, reason };
    let document = TaskDocument::of(task, &sources).map_err(|error| error.to_string())?;
    targets::prepare(&document, kind, &planned_writes::target(standing)).map_err(|error| error.to_string())
}
