//! The loop's turns: what woke the actor becomes events for the review loop, and the loop's effects are
//! carried out.

use super::PullRequestActor;
use crate::domain::review_loop::{Exit, LoopEffect, LoopEvent, Phase, ReviewLoop, TimedOutOn, Transition};
use crate::domain::snapshot::PullRequestState;
use crate::journal::JournalError;
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::history::History;
use crate::supervisor::obeyed_commands::ObeyedCommands;
use crate::supervisor::view::DriverRole;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;

/// The loop and its one timer.
#[derive(Debug, Default)]
pub(super) struct LoopProgress {
    pub(super) review_loop: Option<ReviewLoop>,
    obeyed: ObeyedCommands,
    /// When the loop's next attempt is due.
    pub(super) next_at: Option<Timestamp>,
    /// Since when the loop has been at its end.
    ended_at: Option<Timestamp>,
    /// Polls that found no reviewer to wait for.
    polls_without_reviewers: u32,
}

impl LoopProgress {
    /// Continues the loop that the journal stored.
    pub(super) fn restore(&mut self, stored: Option<&Value>, history: &History) {
        self.review_loop = self.obeyed.restore_loop(stored, history.commands());
        self.next_at = None;
    }

    /// For an operator who wants ended and stopped loops to run again.
    pub(super) fn start_afresh(&mut self, history: &History) {
        if self.obeyed.skip_to_last_stop(history.commands()) || self.has_ended() {
            self.review_loop = None;
        }
    }

    pub(super) fn phase(&self) -> Option<&Phase> {
        self.review_loop.as_ref().map(ReviewLoop::phase)
    }

    fn has_ended(&self) -> bool {
        matches!(self.phase(), Some(Phase::Ended(_)))
    }

    /// The loop as the journal stores it.
    pub(super) fn stored(&self) -> Option<Value> {
        self.review_loop.as_ref().map(|review_loop| self.obeyed.stored(Some(review_loop)))
    }

    /// L6: a reopened pull request has no loop yet, and the journal stores that.
    pub(super) fn stored_without_loop(&self) -> Value {
        self.obeyed.stored(None)
    }
}

/// Why the loop takes a turn.
pub(super) enum LoopTrigger {
    Polled {
        changed: bool,
    },
    Unreachable,
    RateLimited(Timestamp),
    AuthorGaveUp,
    /// A new fact that no poll brought.
    Learned,
    Person(LoopEvent<'static>),
}

impl PullRequestActor {
    /// One turn of the loop. If the journal fails, the turn did not happen and the next wake-up takes it
    /// again.
    pub(super) async fn step(&mut self, trigger: LoopTrigger) -> Result<(), JournalError> {
        let now = self.context.clock.now();
        let Some(computed) = self.latest.computed.clone() else {
            self.count_unread_attempt(&trigger, now);
            return Ok(());
        };
        let progress = &self.progress;
        let before = (progress.review_loop.clone(), progress.next_at, progress.obeyed.clone());
        let effects = self.turn(&trigger, &computed, now);
        if let Err(error) = self.act(&computed, effects).await {
            (self.progress.review_loop, self.progress.next_at, self.progress.obeyed) = before;
            return Err(error);
        }
        let (loop_before, _, obeyed_before) = before;
        let progress = &mut self.progress;
        if progress.phase() != loop_before.as_ref().map(ReviewLoop::phase) {
            tracing::info!(phase = ?progress.phase(), "the loop moved on");
        }
        progress.ended_at = progress.has_ended().then(|| progress.ended_at.unwrap_or(now));
        if progress.review_loop != loop_before || progress.obeyed != obeyed_before {
            self.save_loop().await?;
        }
        Ok(())
    }

    /// Before the first reading there is no reviewer to wait for, but failed attempts to read count (L8).
    fn count_unread_attempt(&mut self, trigger: &LoopTrigger, now: Timestamp) {
        let event = match trigger {
            LoopTrigger::Unreachable => LoopEvent::Unreachable,
            LoopTrigger::RateLimited(until) => LoopEvent::RateLimited { until: *until },
            _ => return,
        };
        let progress = &mut self.progress;
        let review_loop = progress.review_loop.get_or_insert_with(|| ReviewLoop::new(BTreeSet::new(), 0));
        for effect in effects_of(review_loop.wake(event, now, &self.context.config.policy)) {
            if let LoopEffect::WakeAt(at) = effect {
                progress.next_at = Some(at);
            }
        }
    }

    /// Wakes the loop, or starts a new one if the last is stale.
    fn turn(&mut self, trigger: &LoopTrigger, computed: &ComputedState, now: Timestamp) -> Vec<LoopEffect> {
        let policy = &self.context.config.policy;
        let has_no_reviewers = computed.expected.is_empty()
            && self.rules().expected.is_none()
            && computed.seen.state == PullRequestState::Open
            && computed.seen.broken_glass.is_none();
        let review_loop = self.progress.review_loop.as_ref();
        let is_stale = review_loop.is_none_or(|review_loop| is_stale(review_loop, trigger, computed));
        if is_stale {
            if has_no_reviewers {
                return self.wait_for_any_reviewer(trigger, computed);
            }
            self.progress.polls_without_reviewers = 0;
            self.progress.review_loop = Some(new_loop(computed));
        }
        let progress = &mut self.progress;
        let Some(review_loop) = &mut progress.review_loop else { return Vec::new() };
        let mut events = Vec::new();
        // Commands come first: people may have given them while another instance drove, or none.
        for (record, command) in progress.obeyed.pending(self.history.commands()) {
            events.push(command.event());
            progress.obeyed.mark_obeyed(record);
        }
        if computed.folded.granted > review_loop.granted() {
            events.push(LoopEvent::GrantRound);
        }
        let is_due = progress.next_at.is_none_or(|due| now >= due);
        match trigger {
            LoopTrigger::Polled { changed } if is_due || *changed || is_stale => {
                events.push(LoopEvent::Polled(&computed.seen));
            }
            LoopTrigger::Polled { .. } | LoopTrigger::Learned => {}
            LoopTrigger::Unreachable => events.push(LoopEvent::Unreachable),
            LoopTrigger::RateLimited(until) => events.push(LoopEvent::RateLimited { until: *until }),
            LoopTrigger::AuthorGaveUp => events.push(LoopEvent::AuthorGaveUp),
            LoopTrigger::Person(event) => events.push(event.clone()),
        }
        let transitions = events.into_iter().map(|event| review_loop.wake(event, now, policy));
        transitions.flat_map(effects_of).collect()
    }

    /// L3: with no reviewer to wait for, the loop waits until one shows up, and gives up after as many polls
    /// as any wait.
    fn wait_for_any_reviewer(&mut self, trigger: &LoopTrigger, computed: &ComputedState) -> Vec<LoopEffect> {
        if !matches!(trigger, LoopTrigger::Polled { .. }) {
            return Vec::new();
        }
        let progress = &mut self.progress;
        progress.polls_without_reviewers += 1;
        if progress.polls_without_reviewers < self.context.config.policy.max_attempts {
            return Vec::new();
        }
        let polls = std::mem::take(&mut progress.polls_without_reviewers);
        let (folded, anchor) = (&computed.folded, computed.seen.anchor.clone());
        progress.review_loop =
            Some(ReviewLoop::ended_without_reviewers(anchor, polls, folded.dispatched, folded.granted));
        vec![LoopEffect::Announce(Exit::Timeout { missing: TimedOutOn::Anybody })]
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
        let exit = match self.progress.phase() {
            Some(Phase::Ended(exit)) => Some(exit.name()),
            _ => None,
        };
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

/// Whether a new loop has to take this one's place.
fn is_stale(review_loop: &ReviewLoop, trigger: &LoopTrigger, computed: &ComputedState) -> bool {
    let is_open = computed.seen.state == PullRequestState::Open;
    let has_more_reviewers = !computed.expected.is_subset(review_loop.expected());
    let exit = match review_loop.phase() {
        Phase::Ended(exit) => exit,
        Phase::Waiting => return has_more_reviewers,
        Phase::WithAuthor | Phase::Paused(_) => return false,
    };
    // The pull request's own end is the last word, however the loop ended before.
    let is_over = !is_open && !matches!(exit, Exit::PrMerged | Exit::PrClosed);
    let a_reviewer_came = *exit == Exit::Timeout { missing: TimedOutOn::Anybody } && has_more_reviewers;
    // A change may bring the missing review, or settle the findings that were left.
    let may_end_otherwise = matches!(trigger, LoopTrigger::Polled { changed: true }) && exit.is_provisional();
    let has_moved = review_loop.anchor() != Some(&computed.seen.anchor);
    let was_reopened = is_open && *exit == Exit::PrClosed;
    let may_restart = !matches!(exit, Exit::Stopped | Exit::BreakGlass(_));
    is_over || a_reviewer_came || may_end_otherwise || may_restart && (has_moved || was_reopened)
}

/// A loop that continues where the journal says the last one was: rounds that were started stay started, and
/// it waits for an author that is at work on this head.
fn new_loop(computed: &ComputedState) -> ReviewLoop {
    let folded = &computed.folded;
    let at_work = folded.author_at.get(&computed.snapshot.head.sha) == Some(&None);
    ReviewLoop::resumed(
        computed.expected.clone(),
        folded.dispatched,
        folded.granted,
        at_work.then(|| computed.seen.anchor.clone()),
    )
}
