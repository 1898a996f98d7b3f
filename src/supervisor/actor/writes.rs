//! Carries out the loop's effects, the writes that are due, the author's round, and the end of the pull
//! request.

use super::PullRequestActor;
use crate::domain::review_loop::{Exit, LoopEffect, Phase};
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::ThreadId;
use crate::failure::{Failure, FailureKind};
use crate::github::write::Write;
use crate::journal::JournalError;
use crate::supervisor::SupervisorContext;
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::fact::{DatedFact, Fact, TaskFact};
use crate::supervisor::handoffs::handoffs;
use crate::supervisor::perform::{WriteResult, journal_key, perform};
use crate::supervisor::planned_writes::{self, PlannedWrite};
use crate::supervisor::programs;
use crate::supervisor::view::{DriverRole, DueState, DueWrite};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The thread that the write resolves.
fn resolved_thread(write: &Write) -> Option<&ThreadId> {
    match write {
        Write::Resolve { thread } => Some(&thread.id),
        _ => None,
    }
}

impl PullRequestActor {
    /// Carries out the effects, and everything else that the computed state calls for.
    pub(super) async fn act(
        &mut self,
        computed: &Arc<ComputedState>,
        effects: Vec<LoopEffect>,
    ) -> Result<(), JournalError> {
        let (mut dispatch, mut exits) = (None, Vec::new());
        for effect in effects {
            match effect {
                LoopEffect::DispatchAuthor { round } => dispatch = Some(round),
                LoopEffect::Announce(exit) => exits.push(exit),
            }
        }
        let mut writes = Vec::new();
        if computed.snapshot.state == PullRequestState::Open {
            self.record_raised_again(computed).await?;
            writes.extend(self.loop_writes(computed));
            writes.extend(planned_writes::planned_writes(computed, &self.context.config.operator));
        }
        self.carry_out(writes).await?;
        if let Some(round) = dispatch {
            self.dispatch(round).await?;
        }
        for exit in &exits {
            self.announce(exit).await?;
        }
        self.finish(computed).await?;
        if self.drives()
            && let Some(computed) = self.latest.computed.clone()
        {
            self.ask_reviewers(&computed).await?;
        }
        Ok(())
    }

    /// The loop's own writes. They follow from its phase and not from an effect, so a write that fails now is
    /// still due at the next turn.
    fn loop_writes(&self, computed: &ComputedState) -> Vec<PlannedWrite> {
        let review_loop = &self.progress.review_loop;
        if review_loop.anchor() != Some(&computed.seen.anchor) {
            return Vec::new();
        }
        match review_loop.phase() {
            Phase::Waiting => {
                let most = self.context.config.policy.max_review_iterations;
                let to_ask = computed.seen.to_ask();
                let askable =
                    to_ask.iter().filter(|reviewer| planned_writes::may_be_asked(computed, reviewer, most));
                let asks = askable.filter_map(|reviewer| {
                    planned_writes::ask_for_review(computed, reviewer, &self.context.asks.ask(reviewer)?)
                });
                asks.collect()
            }
            Phase::Ended(Exit::RoundCap { rounds, .. }) => {
                planned_writes::round_cap(computed, *rounds, &self.context.config.operator)
                    .into_iter()
                    .collect()
            }
            Phase::WithAuthor | Phase::Paused(_) | Phase::Ended(_) => Vec::new(),
        }
    }

    /// Carries out the writes without an outcome, in order. When one has to wait, the rest waits too, because
    /// it may build on that one.
    async fn carry_out(&mut self, writes: Vec<PlannedWrite>) -> Result<(), JournalError> {
        self.problems.due.clear();
        let mut held_up = None;
        let mut unanswered: BTreeMap<ThreadId, DueState> = BTreeMap::new();
        let mut writes = VecDeque::from(writes);
        while let Some(planned) = writes.pop_front() {
            let key = journal_key(&self.key, &planned.name);
            let sentence = planned.write.sentence();
            if self.problems.due.iter().any(|due| due.sentence == sentence) {
                continue;
            }
            let state = match self.history.outcome(&key) {
                Some(_) => self.refusal_of(&key),
                // A thread is not resolved before its closing reply is there.
                None => match resolved_thread(&planned.write).and_then(|thread| unanswered.get(thread)) {
                    Some(state) => Some(state.clone()),
                    None => self.try_write(&planned, key.clone(), &mut held_up).await?,
                },
            };
            let Some(state) = state else { continue };
            // A reply that GitHub refused for good has an outcome, and nothing waits for it.
            if let Write::Reply { thread, .. } = &planned.write
                && self.history.outcome(&key).is_none()
            {
                unanswered.insert(thread.id.clone(), state.clone());
            }
            if let (Write::Unresolve { thread }, DueState::CannotBeDone(why)) = (&planned.write, &state)
                && let Some(computed) = &self.latest.computed
            {
                let (why, operator) = (why.to_string(), &self.context.config.operator);
                writes.extend(planned_writes::cannot_reopen(computed, &thread.id, &why, operator));
            }
            let state = match state {
                // A mark repeats what another write says, so no end depends on it.
                DueState::CannotBeDone(_) if planned.only_marks => DueState::LeftOut,
                state => state,
            };
            self.problems.due.push(DueWrite { sentence, state });
        }
        Ok(())
    }

    /// Why GitHub refused a write at this head for good. A refusal at an earlier head was told at its end.
    fn refusal_of(&self, key: &str) -> Option<DueState> {
        let (_, outcome) = self.history.outcome(key)?;
        let why = outcome.get("refused")?.as_str()?;
        let head = &self.latest.snapshot()?.head.sha;
        let is_of_this_head = outcome.get("head").and_then(Value::as_str) == Some(head.as_str());
        is_of_this_head.then(|| DueState::CannotBeDone(Failure::new(FailureKind::NotAllowed, why)))
    }

    /// Tries a write, unless an earlier one holds it up. Returns why it is still due, if it is.
    async fn try_write(
        &mut self,
        planned: &PlannedWrite,
        key: String,
        held_up: &mut Option<DueState>,
    ) -> Result<Option<DueState>, JournalError> {
        if !self.drives() || self.is_silenced() {
            return Ok(Some(DueState::LeftOut));
        }
        if held_up.is_some() {
            return Ok(held_up.clone());
        }
        let context = Arc::clone(&self.context);
        let _turn = context.writing.lock().await;
        // L8: a rate limit on one write holds for all of them.
        if context.request_pause.until(context.clock.now()).is_some() {
            return Ok(Some(DueState::Waits));
        }
        // The lease must outlast the write.
        self.keep_lease().await?;
        let Some(lease) = self.lease.held().cloned() else {
            *held_up = Some(DueState::Waits);
            return Ok(held_up.clone());
        };
        let head = self.latest.snapshot().map_or_else(|| "".into(), |snapshot| snapshot.head.sha.clone());
        let (about, by) = (self.key.clone(), context.instance_name());
        let SupervisorContext { journal, writer, .. } = &*context;
        let performed = perform(planned, &head, &about, by, Some(&lease), journal, writer);
        let result = self.lease.renewed_during(journal, context.lease, performed).await?;
        Ok(match result {
            WriteResult::Concluded(_, record) => {
                self.history.learn(&record);
                None
            }
            WriteResult::Refused(record, why) => {
                self.problems.trouble = Some(why);
                self.history.learn(&record);
                self.refusal_of(&key)
            }
            WriteResult::NotAllowed(why) => {
                let failure = Failure::new(FailureKind::NotAllowed, &why);
                self.problems.trouble = Some(why);
                Some(DueState::CannotBeDone(failure))
            }
            WriteResult::Limited(come_back, why) => {
                let now = context.clock.now();
                context.request_pause.begin(now, come_back.when(now));
                self.problems.trouble = Some(why);
                Some(DueState::Waits)
            }
            WriteResult::Later(why) => {
                let failure = Failure::new(FailureKind::OutOfReach, &why);
                self.problems.trouble = Some(why);
                let failed = self.problems.failed_writes.entry(key).or_default();
                *failed += 1;
                // It is tried again at every poll, but no end waits for it any longer.
                let is_hopeless = *failed >= context.config.policy.max_attempts;
                let state = if is_hopeless { DueState::CannotBeDone(failure) } else { DueState::Waits };
                if !planned.only_marks {
                    *held_up = Some(state.clone());
                }
                Some(state)
            }
        })
    }

    /// L10, R7: after a person paused or ended the loop, Cloture writes nothing by itself. The writes stay
    /// due and are shown.
    fn is_silenced(&self) -> bool {
        matches!(
            self.progress.review_loop.phase(),
            Phase::Paused(_) | Phase::Ended(Exit::Stopped | Exit::BreakGlass(_))
        )
    }

    /// L6: the round is recorded before the agent starts, so no crash starts it twice.
    async fn dispatch(&mut self, round: u32) -> Result<(), JournalError> {
        let Some(computed) = self.latest.computed.clone() else { return Ok(()) };
        let head = computed.snapshot.head.sha.clone();
        if !self.drives() {
            return Ok(());
        }
        let findings = computed.actionable().actionable;
        let why = format!("round {round}, {} findings", findings.len());
        let number = self.history.author_rounds();
        let dispatched = Fact::Dispatched { head, round, findings, number };
        if !self.record_held(dispatched, "engine", &why).await? {
            // Another instance dispatched it before this one took over.
            return Ok(());
        }
        self.save_loop().await?;
        let working = self.context.busy.begin();
        let author = &self.context.config.author;
        let reports = self.programs.reports.clone();
        self.programs.author = Some(programs::dispatch(author, &computed, round, reports, working));
        Ok(())
    }

    /// H1: the merge decides the tasks, once and for all, and the actor sends them; a close discards the
    /// queue.
    async fn finish(&mut self, computed: &Arc<ComputedState>) -> Result<(), JournalError> {
        match self.lease.role() {
            DriverRole::Driver => {}
            DriverRole::Standby { .. } => {
                let targets = &self.context.config.targets;
                self.handoffs.tasks = handoffs(&self.history, &computed.snapshot, targets);
                return Ok(());
            }
            DriverRole::ReadOnly => return Ok(()),
        }
        match computed.snapshot.state {
            PullRequestState::Open => Ok(()),
            PullRequestState::Closed => {
                let at = computed.snapshot.closed_at.unwrap_or(computed.snapshot.updated_at);
                let is_recorded =
                    self.history.facts().any(|dated| dated.fact == Fact::Closed && dated.at == at);
                if !is_recorded {
                    self.record_at(at, Fact::Closed).await?;
                }
                Ok(())
            }
            PullRequestState::Merged => {
                if self.history.merged().is_none() {
                    let tasks = self.decided_tasks(computed);
                    let why = match tasks.len() {
                        0 => "nothing is handed off".to_owned(),
                        1 => "one task is handed off".to_owned(),
                        count => format!("{count} tasks are handed off"),
                    };
                    // H4: the journal before this one may have sent them.
                    let is_adopted = tasks.iter().any(|task| self.history.has_adopted(&task.findings));
                    let may_be_sent = !self.saw_it_open()
                        && (is_adopted || self.context.journal.replaces_another().await?);
                    self.record_held(Fact::Merged { tasks, may_be_sent }, "engine", &why).await?;
                }
                self.hand_off().await
            }
        }
    }

    /// Whether Cloture knew the pull request before its merge.
    fn saw_it_open(&self) -> bool {
        let is_of_the_merge = |dated: &DatedFact| {
            matches!(dated.fact, Fact::Ended { exit: Exit::PrMerged, .. } | Fact::Adopted { .. })
        };
        self.latest.seen_open || !self.history.facts().all(is_of_the_merge)
    }

    fn decided_tasks(&self, computed: &ComputedState) -> Vec<TaskFact> {
        let rules = self.rules();
        let guards = computed.handoff_guards(&rules);
        let tasks = computed.tasks(&rules).into_iter();
        tasks
            .map(|task| {
                let reason = guards.reason_for(&task, computed);
                let titles = task.findings.iter().filter_map(|id| computed.thread(id));
                let secrets = self.context.writer.secrets();
                let titles = titles.map(|shown| secrets.redacted(&shown.thread.finding.title).into_owned());
                let titles = titles.collect();
                TaskFact::new(task, reason, titles)
            })
            .collect()
    }
}
