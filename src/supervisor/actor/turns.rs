//! The loop's turns: what woke the actor becomes events for the review loop, and the loop's effects are
//! carried out. What is absent: nothing here makes, replaces or resets a loop (T8).

use super::PullRequestActor;
use crate::domain::policy::Policy;
use crate::domain::review_loop::{
    AuthorState, Exit, Judgement, LoopEffect, LoopEvent, ReviewLoop, Transition,
};
use crate::domain::snapshot::{PullRequestSnapshot, PullRequestState};
use crate::journal::JournalError;
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::fact::{Fact, RecordedCommand};
use crate::supervisor::history::History;
use crate::supervisor::obeyed_commands::ObeyedCommands;
use crate::supervisor::polling::PollCause;
use crate::supervisor::view::DriverRole;
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// The loop, and the commands that it has obeyed.
#[derive(Debug, Default)]
pub(super) struct LoopProgress {
    pub(super) review_loop: ReviewLoop,
    obeyed: ObeyedCommands,
    /// Since when the loop has been at its end.
    ended_at: Option<Timestamp>,
}

impl LoopProgress {
    /// Continues the loop that the journal stored.
    pub(super) fn restore(&mut self, stored: Option<&Value>, history: &History) {
        self.review_loop = self.obeyed.restore_loop(stored, history.commands());
    }

    /// For an operator who wants ended and stopped loops to run again.
    pub(super) fn start_again(&mut self, history: &History, policy: &Policy) {
        self.obeyed.skip_to_last_stop(history.commands());
        effects_of(self.review_loop.wake(LoopEvent::Restart, policy));
    }

    /// The loop as the journal stores it.
    pub(super) fn stored(&self) -> Value {
        self.obeyed.stored(&self.review_loop)
    }
}

/// Why the loop takes a turn.
#[derive(Debug, Clone, Copy)]
pub(super) enum LoopTrigger {
    Polled(PollCause),
    Unreachable(PollCause),
    /// Nothing new from GitHub, but maybe from the journal.
    Learned,
    /// A command that is not recorded, because this instance only reads.
    Command(RecordedCommand),
}

impl PullRequestActor {
    /// One turn of the loop. If the journal fails, the turn did not happen and the next wake-up takes it
    /// again.
    pub(super) async fn step(&mut self, trigger: LoopTrigger) -> Result<(), JournalError> {
        self.end_lost_round().await?;
        let now = self.context.clock.now();
        let before = (self.progress.review_loop.clone(), self.progress.obeyed.clone());
        let effects = self.turn(trigger);
        self.stop_programs_at_the_end();
        let Some(computed) = self.latest.computed.clone() else { return Ok(()) };
        if let Err(error) = self.act(&computed, effects).await {
            (self.progress.review_loop, self.progress.obeyed) = before;
            return Err(error);
        }
        let (loop_before, obeyed_before) = before;
        let progress = &mut self.progress;
        if progress.review_loop.phase() != loop_before.phase() {
            tracing::info!(phase = ?progress.review_loop.phase(), "the loop moved on");
        }
        progress.ended_at = progress.review_loop.exit().map(|_| progress.ended_at.unwrap_or(now));
        if progress.review_loop != loop_before || progress.obeyed != obeyed_before {
            self.save_loop().await?;
        }
        Ok(())
    }

    /// Turns the trigger into events for the loop. Before the first reading there is nothing to look at, but
    /// failed attempts to read count (L8).
    fn turn(&mut self, trigger: LoopTrigger) -> Vec<LoopEffect> {
        let computed = self.latest.computed.clone();
        let seen = computed.as_ref().map(|computed| &computed.seen);
        let waits_for_program =
            self.programs.any() || computed.as_ref().is_some_and(|computed| self.driver_waits(computed));
        let progress = &mut self.progress;
        let mut events = Vec::new();
        // Commands come first: people may have given them while another instance drove, or none.
        for (record, command) in progress.obeyed.pending(self.history.commands()) {
            events.push(command.event());
            progress.obeyed.mark_obeyed(record);
        }
        if let LoopTrigger::Command(command) = trigger {
            events.push(command.event());
        }
        match (trigger, seen) {
            // L2: Cloture itself waits for the answer of a program that it runs, so nothing is missing yet. Each
            // program has a time limit of its own.
            (LoopTrigger::Polled(PollCause::Schedule), Some(seen)) if waits_for_program => {
                events.push(LoopEvent::Learned(seen));
            }
            (LoopTrigger::Unreachable(PollCause::Schedule), _) => events.push(LoopEvent::Unreachable),
            (LoopTrigger::Polled(PollCause::Schedule), Some(seen)) => events.push(LoopEvent::Polled(seen)),
            (_, Some(seen)) => events.push(LoopEvent::Learned(seen)),
            (_, None) => {}
        }
        let policy = &self.context.config.policy;
        let transitions = events.into_iter().map(|event| progress.review_loop.wake(event, policy));
        transitions.flat_map(effects_of).collect()
    }

    /// Whether the instance that drives waits for a program, as its records say.
    fn driver_waits(&self, computed: &ComputedState) -> bool {
        let is_driven_elsewhere =
            matches!(self.lease.role(), DriverRole::Standby { holder } if !holder.is_empty());
        let runs = computed.seen.author == AuthorState::AtWork || !computed.folded.unanswered.is_empty();
        is_driven_elsewhere && runs
    }

    /// Records the end of an author's round that died with its process. Only the driver starts agents, so a
    /// round that is under way in the journal and not here has nobody at work.
    async fn end_lost_round(&mut self) -> Result<(), JournalError> {
        let author = self.latest.computed.as_ref().map(|computed| computed.seen.author);
        if author != Some(AuthorState::AtWork) || self.programs.author.is_some() || !self.drives() {
            return Ok(());
        }
        let Some(head) = self.latest.snapshot().map(|snapshot| snapshot.head.sha.clone()) else {
            return Ok(());
        };
        let number = self.history.author_rounds().saturating_sub(1);
        let outcome = "Cloture stopped before the author's agent ended".to_owned();
        let ended = Fact::AuthorEnded { head, outcome: outcome.clone(), pushed: false, number };
        self.record_held(ended, "engine", &outcome).await?;
        Ok(())
    }

    /// R7: stops the programs if this snapshot shows broken glass or the end of the pull request. The turn does
    /// the same, but a failing journal or a slow request may keep it from happening.
    pub(super) fn stop_programs_after(&mut self, snapshot: &Arc<PullRequestSnapshot>) {
        if !self.programs.any() {
            return;
        }
        let rules = self.context.rules(self.names(Some(snapshot)));
        let exit = match ComputedState::of(Arc::clone(snapshot), &self.history, &rules).seen.judge() {
            Judgement::GlassBroken(broken) => Exit::BreakGlass(broken),
            Judgement::Merged => Exit::PrMerged,
            Judgement::Closed => Exit::PrClosed,
            _ => return,
        };
        self.programs.stop(&exit.to_string());
    }

    /// L10, R7: nothing works on for a loop that a person ended, or whose pull request is at its end.
    fn stop_programs_at_the_end(&mut self) {
        if let Some(exit @ (Exit::BreakGlass(_) | Exit::Stopped | Exit::PrClosed | Exit::PrMerged)) =
            self.progress.review_loop.exit()
        {
            self.programs.stop(&exit.to_string());
        }
    }

    /// Whether the end of the loop is certain. An instance on standby cannot see whether the driver is alive.
    /// It is certain once the driver has recorded the same end, or has renewed its lease since; until then
    /// this instance may have to take over.
    pub(super) fn is_end_known(&self) -> bool {
        let (DriverRole::Standby { .. }, Some(computed)) = (self.lease.role(), &self.latest.computed) else {
            return true;
        };
        let outlived = self.progress.ended_at.and_then(|at| at.checked_add(self.context.lease).ok());
        // Each poll asks for the lease. If another instance still held it then, that instance renewed it
        // after the end.
        if outlived.is_some() && self.latest.seen_at >= outlived {
            return true;
        }
        let head = &computed.snapshot.head.sha;
        let exit = self.progress.review_loop.exit().map(Exit::name);
        let recorded = computed.folded.ended.as_ref();
        let recorded = recorded.filter(|(_, at)| at.as_ref().is_none_or(|at| at == head));
        let recorded = recorded.map(|(exit, _)| exit.name());
        let undecided = computed.seen.state == PullRequestState::Merged && self.history.merged().is_none();
        exit == recorded && !undecided
    }
}

/// The effects of a transition. An ignored event goes into the log with its reason.
fn effects_of(transition: Transition) -> Vec<LoopEffect> {
    match transition {
        Transition::Do(effects) => effects,
        Transition::Ignored(reason) => {
            tracing::debug!(reason, "the loop ignored an event");
            Vec::new()
        }
    }
}
