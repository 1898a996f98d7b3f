//! Handoff (H): sends the tasks that a merge decided, each once.
//!
//! Every try has a key of its own in the journal. A try without an outcome may have arrived. If the target
//! can be searched, the sender looks for the task and sends it if it is missing; otherwise a person decides
//! (H4). The same goes for tasks that a damaged or lost journal may have sent.

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
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct HandoffProgress {
    /// The tasks that the merge decided.
    pub(super) tasks: Vec<HandoffView>,
    /// Keys of tasks that a person wants tried again, stuck or not.
    pub(super) forced: BTreeSet<String>,
}

impl PullRequestActor {
    /// Sends the tasks that are due.
    pub(super) async fn hand_off(&mut self) -> Result<(), JournalError> {
        let Some(Fact::Merged { tasks, may_be_sent }) = self.history.merged().cloned() else { return Ok(()) };
        let Some(computed) = self.latest.computed.clone() else { return Ok(()) };
        let mut handoffs = Vec::new();
        for task in tasks {
            handoffs.push(self.hand_over(&computed, task, may_be_sent).await?);
        }
        self.handoffs.tasks = handoffs;
        Ok(())
    }

    async fn hand_over(
        &mut self,
        computed: &Arc<ComputedState>,
        fact: TaskFact,
        may_be_sent: bool,
    ) -> Result<HandoffView, JournalError> {
        let snapshot = &computed.snapshot;
        let reason = fact.reason.clone();
        let task: HandoffTask = fact.into();
        let key = targets::key(&task, snapshot.filed_as(), snapshot.number);
        let shown =
            |task: HandoffTask, state| HandoffView { key: key.clone(), task, reason: reason.clone(), state };
        let tries = DeliveryAttempts::of(&key, &self.history);
        let forced = self.handoffs.forced.contains(&key);
        let now = self.context.clock.now();
        let later = |wait| now.checked_add(wait).unwrap_or(Timestamp::MAX);
        if let Some(last) = tries.last() {
            let waited = tries.waited(now, self.lease.database_now());
            let state = state_after(tries.spent, last, |wait| later(wait.saturating_sub(waited)));
            let has_to_wait = match &state {
                HandoffState::Sent { .. } => true,
                HandoffState::Stuck(_) => !forced,
                HandoffState::Waiting { until, .. } => !forced && now < *until,
            };
            if has_to_wait {
                return Ok(shown(task, state));
            }
        }
        let delivery = match prepared(computed, &task, &reason, &self.context.config.targets) {
            Ok(delivery) => delivery,
            Err(why) => return Ok(shown(task, HandoffState::Stuck(why))),
        };
        // L8: while the forge limits requests, a try would only fail.
        if matches!(delivery.means, DeliveryMeans::Write(_))
            && !forced
            && let Some(until) = self.context.request_pause.until(now)
        {
            let why = tries.last().and_then(DeliveryOutcome::refusal);
            return Ok(shown(task, HandoffState::Waiting { until, why }));
        }
        let outcome = self.try_once(&delivery, tries.made + 1, may_be_sent && !forced).await?;
        self.handoffs.forced.remove(&key);
        if let DeliveryOutcome::Limited { wait, .. } = outcome {
            // The forge means every other write, too.
            let now = self.context.clock.now();
            self.context.request_pause.begin(now, now.checked_add(wait).unwrap_or(Timestamp::MAX));
        }
        Ok(shown(task, state_after(tries.spent + 1, &outcome, later)))
    }

    async fn try_once(
        &mut self,
        delivery: &Delivery,
        number: u32,
        may_be_sent: bool,
    ) -> Result<DeliveryOutcome, JournalError> {
        let key = try_key(&delivery.key, number);
        self.keep_lease().await?;
        let Some(lease) = self.lease.held().cloned() else {
            return Ok(DeliveryOutcome::Refused("another instance has taken over".to_owned()));
        };
        let (by, about) = (self.context.instance_name().to_owned(), self.key.clone());
        let sentence = self.context.writer.secrets().redacted(&delivery.sentence).into_owned();
        let record = |why: String, body| {
            NewRecord::new("", by.clone()).about(about.clone()).with_reason(why).with(body)
        };
        let intended = self
            .context
            .journal
            .intend(Some(&lease), key.clone(), record(sentence.clone(), json!({"does": sentence})))
            .await?;
        let can_be_searched =
            matches!(&delivery.means, DeliveryMeans::Write(write) if write.can_be_looked_for());
        let outcome = match intended {
            Appended::AlreadyThere(_) if !can_be_searched => {
                DeliveryOutcome::Unknown("it was being sent when Cloture was interrupted".to_owned())
            }
            _ if may_be_sent && !can_be_searched => DeliveryOutcome::Unknown(
                "the journal that knew whether it was sent was damaged or lost".to_owned(),
            ),
            // A command may run for longer than the lease lasts.
            _ => {
                let context = Arc::clone(&self.context);
                let now = || context.clock.now();
                let sending = delivery.send(&context.writer, &context.environment, &now);
                self.lease.renewed_during(&context.journal, context.lease, sending).await
            }
        };
        let ended_at = self.context.clock.now();
        let concluded = self
            .context
            .journal
            .conclude(Some(&lease), key, record(outcome.sentence(), written_outcome(&outcome, ended_at)))
            .await?;
        self.history.learn(concluded.record());
        Ok(outcome)
    }
}

/// The task in the form that its target takes, or a sentence that says why it cannot be sent.
fn prepared(
    computed: &ComputedState,
    task: &HandoffTask,
    reason: &str,
    targets: &crate::config::TargetKinds,
) -> Result<Delivery, String> {
    let kind = targets::kind_of(targets, &task.target).map_err(|error| error.to_string())?;
    let threads = computed.threads();
    let find = |id: &ThreadId| threads.iter().find(|shown| shown.thread.id == *id);
    let thread = |id: &ThreadId| find(id).map(|shown| shown.thread);
    let conversation = |id: &ThreadId| find(id).and_then(|shown| shown.on_forge);
    let sources =
        TaskSources { snapshot: &computed.snapshot, thread: &thread, conversation: &conversation, reason };
    let document = TaskDocument::of(task, &sources).map_err(|error| error.to_string())?;
    targets::prepare(&document, kind, &planned_writes::target(computed)).map_err(|error| error.to_string())
}
