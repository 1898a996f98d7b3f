//! What the actor does: effects of the loop, deeds that are due, programs that are to run.

use super::PullRequestActor;
use crate::domain::review_loop::{Exit, LoopEffect, Phase, ReviewLoop};
use crate::domain::snapshot::PullRequestState;
use crate::journal::JournalError;
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::fact::{DatedFact, Fact, TaskFact};
use crate::supervisor::handoffs::handoffs;
use crate::supervisor::perform::{WriteResult, journal_key, perform};
use crate::supervisor::planned_writes::{self, PlannedWrite};
use crate::supervisor::programs;
use crate::supervisor::view::DriverRole;
use std::sync::Arc;

impl PullRequestActor {
    /// Carries out what the loop wants and whatever else the standing asks for.
    pub(super) async fn act(
        &mut self,
        standing: &Arc<ComputedState>,
        effects: Vec<LoopEffect>,
    ) -> Result<(), JournalError> {
        let mut dispatch = None;
        for effect in &effects {
            match effect {
                // The hub polls; the loop only says when its next attempt is due.
                LoopEffect::Poll | LoopEffect::Announce(_) => self.next_at = None,
                LoopEffect::WakeAt { at, .. } => self.next_at = Some(*at),
                // Both follow from where the loop stands, so that what cannot be sent now is not forgotten.
                LoopEffect::AskForReviews { .. } | LoopEffect::PostRoundCap { .. } => {}
                LoopEffect::DispatchAuthor { round } => dispatch = Some(*round),
            }
        }
        let mut deeds = Vec::new();
        if standing.snapshot.state == PullRequestState::Open {
            deeds.extend(self.loop_deeds(standing));
            deeds.extend(planned_writes::deeds(standing, &self.setup.config.operator));
        }
        self.carry_out(deeds).await?;
        if let Some(round) = dispatch {
            self.dispatch(round).await?;
        }
        for effect in &effects {
            self.announce(effect).await?;
        }
        self.finish(standing).await?;
        if self.drives()
            && let Some(standing) = self.standing.clone()
        {
            self.ask_reviewers(&standing).await?;
        }
        Ok(())
    }

    /// What the loop itself wants to be on the forge, by where it stands.
    fn loop_deeds(&self, standing: &ComputedState) -> Vec<PlannedWrite> {
        let Some(review_loop) = &self.review_loop else { return Vec::new() };
        if review_loop.anchor() != Some(&standing.seen.anchor) {
            return Vec::new();
        }
        match review_loop.phase() {
            Phase::Waiting => {
                let most = self.setup.config.policy.max_review_iterations;
                let missing = standing.seen.standing(review_loop.expected()).missing;
                let askable =
                    missing.iter().filter(|reviewer| planned_writes::may_be_asked(standing, reviewer, most));
                let asks = askable.filter_map(|reviewer| {
                    planned_writes::ask_for_review(standing, reviewer, &self.setup.asks.ask(reviewer)?)
                });
                asks.collect()
            }
            Phase::Ended(Exit::RoundCap { rounds }) => {
                planned_writes::round_cap(standing, *rounds, &self.setup.config.operator)
                    .into_iter()
                    .collect()
            }
            Phase::WithAuthor | Phase::Paused(_) | Phase::Ended(_) => Vec::new(),
        }
    }

    /// Writes what is due and not yet concluded, in order. At the first that has to wait, the rest waits too: what comes
    /// later may build on it.
    async fn carry_out(&mut self, deeds: Vec<PlannedWrite>) -> Result<(), JournalError> {
        self.due.clear();
        let mut waits = false;
        for deed in deeds {
            let key = journal_key(&self.key, &deed.name);
            if self.history.outcome(&key).is_some() || self.due.contains(&deed.write.sentence()) {
                continue;
            }
            if waits || !self.drives() || self.is_silenced() {
                self.due.push(deed.write.sentence());
                continue;
            }
            let setup = Arc::clone(&self.setup);
            let _turn = setup.writing.lock().await;
            // L8: the forge that asked one write for patience asked all of them.
            if setup.left_alone.until(setup.clock.now()).is_some() {
                self.due.push(deed.write.sentence());
                waits = true;
                continue;
            }
            // The lease must outlast the write, so it is prolonged where half of it is gone.
            self.hold().await?;
            let Some(lease) = self.lease.clone() else {
                self.due.push(deed.write.sentence());
                waits = true;
                continue;
            };
            match perform(&deed, &self.key, &setup.instance, Some(&lease), &setup.journal, &setup.writer)
                .await?
            {
                WriteResult::Concluded(_, record) => {
                    self.history.learn(&record);
                }
                WriteResult::Refused(record, why) => {
                    self.trouble = Some(why);
                    self.history.learn(&record);
                }
                WriteResult::NotAllowed(why) => {
                    self.trouble = Some(why);
                    self.due.push(deed.write.sentence());
                }
                WriteResult::Limited(come_back, why) => {
                    let now = setup.clock.now();
                    setup.left_alone.begin(now, come_back.when(now));
                    self.trouble = Some(why);
                    self.due.push(deed.write.sentence());
                    waits = true;
                }
                WriteResult::Later(why) => {
                    self.trouble = Some(why);
                    self.due.push(deed.write.sentence());
                    waits = true;
                }
            }
        }
        Ok(())
    }

    /// L10, R7: where a person paused or ended the loop, nothing is written by itself, whatever the threads call for. What is due
    /// is shown, and done once somebody resumes it.
    fn is_silenced(&self) -> bool {
        match self.review_loop.as_ref().map(ReviewLoop::phase) {
            Some(Phase::Paused(_) | Phase::Ended(Exit::Stopped | Exit::BreakGlass(_))) => true,
            Some(Phase::Waiting | Phase::WithAuthor | Phase::Ended(_)) | None => false,
        }
    }

    /// L6: the round is recorded before the agent starts, and there is one a head, so that no crash starts it twice.
    async fn dispatch(&mut self, round: u32) -> Result<(), JournalError> {
        let Some(standing) = self.standing.clone() else { return Ok(()) };
        let head = standing.snapshot.head.sha.clone();
        if !self.drives() || standing.folded.author_at.contains_key(&head) {
            return Ok(());
        }
        let findings = standing.actionable().actionable;
        let why = format!("round {round}, {} findings", findings.len());
        if !self.record_held(Fact::Dispatched { head, round, findings }, "engine", &why).await? {
            // Another instance sent it before this one took over.
            return Ok(());
        }
        self.save_loop().await?;
        let working = self.setup.busy.begin();
        let author = &self.setup.config.author;
        self.author = Some(programs::dispatch(author, &standing, round, self.programs.clone(), working));
        Ok(())
    }

    /// H1: at the merge the tasks are decided, once and for good, and then sent; a close discards the queue.
    async fn finish(&mut self, standing: &Arc<ComputedState>) -> Result<(), JournalError> {
        match self.role {
            DriverRole::Driver => {}
            DriverRole::Standby { .. } => {
                // How far the driver has come, as the journal tells it.
                let targets = &self.setup.config.targets;
                self.handoffs = handoffs(&self.history, &standing.snapshot, targets);
                return Ok(());
            }
            DriverRole::ReadOnly => return Ok(()),
        }
        match standing.snapshot.state {
            PullRequestState::Open => Ok(()),
            PullRequestState::Closed => {
                let at = standing.snapshot.closed_at.unwrap_or(standing.snapshot.updated_at);
                let known = self.history.facts().any(|dated| dated.fact == Fact::Closed && dated.at == at);
                if !known {
                    // What was queued is not any more.
                    self.record_at(at, Fact::Closed).await?;
                }
                Ok(())
            }
            PullRequestState::Merged => {
                if self.history.merged().is_none() {
                    let tasks = self.decided_tasks(standing);
                    let why = match tasks.len() {
                        0 => "nothing is handed off".to_owned(),
                        1 => "one task is handed off".to_owned(),
                        count => format!("{count} tasks are handed off"),
                    };
                    let may_be_sent = !self.saw_it_open() && self.setup.journal.replaces_another().await?;
                    self.record_held(Fact::Merged { tasks, may_be_sent }, "engine", &why).await?;
                }
                self.hand_off().await
            }
        }
    }

    /// Whether the journal knows the pull request from before its merge.
    fn saw_it_open(&self) -> bool {
        let is_of_the_merge =
            |dated: &DatedFact| matches!(dated.fact, Fact::Ended { exit: Exit::PrMerged, .. });
        self.seen_open || !self.history.facts().all(is_of_the_merge)
    }

    fn decided_tasks(&self, standing: &ComputedState) -> Vec<TaskFact> {
        let rules = self.rules();
        let guards = standing.handoff_guards(&rules);
        let tasks = standing.tasks(&rules).into_iter();
        tasks
            .map(|task| {
                let reason = guards.reason_for(&task, standing);
                let titles = task.findings.iter().filter_map(|id| standing.thread(id));
                let titles = titles.map(|shown| shown.thread.finding.title.to_string()).collect();
                TaskFact::new(task, reason, titles)
            })
            .collect()
    }
}
