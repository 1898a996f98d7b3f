//! The driven reviewers' half of a pull request: threads, cycles and the handoff queue.
//!
//! One method applies each event, and the state follows from the events alone. `simulate`, the journal and
//! the proof rely on that: replaying the same events gives the same state. `cycles` holds what reviewers do;
//! this file holds what authors and people do. Observed bots are in [`super::observed`].

mod cycles;

pub use cycles::{CycleNote, CycleOutcome, NextCall};

use super::finding::{Destination, Thread, UndoableAct};
use super::handoff::{HandoffRules, HandoffTask, tasks};
use super::machine::{Decision, DecisionError, EscalatedBy, ResolvedBy, ThreadStatus};
use super::place::{Delta, FileChange, LineMap};
use super::policy::Policy;
use super::re_review::ClassifiedReply;
use super::snapshot::PullRequestState;
use super::vocabulary::{Intent, ReviewerName, Sha, ThreadId};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The state of one pull request for driven reviewers, with one method per event.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DrivenPullRequest {
    author_is_bot: bool,
    state: PullRequestState,
    head: Option<Sha>,
    threads: BTreeMap<ThreadId, Thread>,
    reviewers: BTreeMap<ReviewerName, ReviewerRecord>,
    rounds: u32,
    /// H1: what was queued when the pull request was closed, and nobody unqueued since.
    queued_at_close: BTreeSet<ThreadId>,
}

/// One reviewer's record on the pull request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct ReviewerRecord {
    /// Completed cycles since the last reopening (C6).
    completed: u32,
    /// Calls of the reviewer since the last reopening.
    calls: u32,
    /// The head of its last completed cycle (R1).
    last_reviewed: Option<Sha>,
    /// All heads that it has reviewed. A reopening does not clear them (C5).
    reviewed: BTreeSet<Option<Sha>>,
    /// The changes since its last completed cycle; none before the first (R2).
    since_last_review: Option<Delta>,
    /// A cycle whose answers have all failed so far (C4).
    pending: Option<PendingCycle>,
    threads: Vec<ThreadId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PendingCycle {
    head: Option<Sha>,
    failures: u32,
}

/// Why the engine refuses a person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Refusal {
    #[error("there is no such thread on this pull request")]
    UnknownThread,
    #[error("the thread is not open")]
    NotOpen,
    #[error("the thread does not wait for a person")]
    NotWaiting,
    #[error("the thread is already settled")]
    AlreadySettled,
    #[error("the finding was already handed off, which happens only once")]
    AlreadyHandedOff,
    #[error("there is no act of yours on this thread that can still be undone")]
    NothingToUndo,
}

impl Refusal {
    pub fn kind(self) -> &'static str {
        match self {
            Refusal::UnknownThread => "unknown_thread",
            Refusal::NotOpen => "not_open",
            Refusal::NotWaiting => "not_waiting",
            Refusal::AlreadySettled => "already_settled",
            Refusal::AlreadyHandedOff => "already_handed_off",
            Refusal::NothingToUndo => "nothing_to_undo",
        }
    }
}

impl From<DecisionError> for Refusal {
    fn from(error: DecisionError) -> Self {
        match error {
            DecisionError::NotOpen => Refusal::NotOpen,
            DecisionError::NotWaiting => Refusal::NotWaiting,
            DecisionError::AlreadySettled => Refusal::AlreadySettled,
            DecisionError::Overtaken => Refusal::NothingToUndo,
        }
    }
}

impl DrivenPullRequest {
    pub fn new(author_is_bot: bool) -> DrivenPullRequest {
        DrivenPullRequest {
            author_is_bot,
            state: PullRequestState::Open,
            head: None,
            threads: BTreeMap::new(),
            reviewers: BTreeMap::new(),
            rounds: 0,
            queued_at_close: BTreeSet::new(),
        }
    }

    pub fn author_is_bot(&self) -> bool {
        self.author_is_bot
    }

    pub fn state(&self) -> PullRequestState {
        self.state
    }

    pub fn head(&self) -> Option<&Sha> {
        self.head.as_ref()
    }

    /// All threads, sorted by id.
    pub fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.values()
    }

    pub fn thread(&self, id: &ThreadId) -> Option<&Thread> {
        self.threads.get(id)
    }

    /// Completed cycles since the last reopening, for every reviewer that ever completed one.
    pub fn cycles(&self) -> impl Iterator<Item = (&ReviewerName, u32)> {
        let reviewers = self.reviewers.iter().filter(|(_, record)| record.since_last_review.is_some());
        reviewers.map(|(name, record)| (name, record.completed))
    }

    /// Calls of a reviewer since the last reopening.
    pub fn calls(&self, reviewer: &ReviewerName) -> u32 {
        self.reviewers.get(reviewer).map_or(0, |record| record.calls)
    }

    /// L6: request-changes verdicts since the last reopening.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Adds a thread that GitHub shows and the journal has no record of. A thread that is here already stays
    /// as it is.
    pub fn adopt(&mut self, thread: Thread) {
        let id = thread.id.clone();
        if let Entry::Vacant(place) = self.threads.entry(id.clone()) {
            self.reviewers.entry(thread.reviewer.clone()).or_default().threads.push(id);
            place.insert(thread);
        }
    }

    // Events caused by the author.

    pub fn push(&mut self, head: Sha, changes: &[FileChange]) {
        let route = LineMap::from_changes(changes);
        self.head = Some(head);
        for thread in self.threads.values_mut() {
            thread.anchor.follow(&route);
        }
        for delta in self.reviewers.values_mut().filter_map(|record| record.since_last_review.as_mut()) {
            delta.extend(&route);
        }
    }

    /// A push whose changes GitHub does not show. The threads keep their places, and every reviewer's next cycle
    /// is about everything (R2).
    pub fn push_unseen(&mut self, head: Sha) {
        self.head = Some(head);
        for delta in self.reviewers.values_mut().filter_map(|record| record.since_last_review.as_mut()) {
            delta.widen();
        }
    }

    /// R2: the reviewer is given the whole pull request in its next cycle, so it may report anything there.
    pub fn widen_scope(&mut self, reviewer: &ReviewerName) {
        let record = self.reviewers.get_mut(reviewer);
        if let Some(delta) = record.and_then(|record| record.since_last_review.as_mut()) {
            delta.widen();
        }
    }

    // Events caused by people.

    /// R3–R5: a reply in a thread. True if it settled the thread.
    pub fn reply(&mut self, thread: &ThreadId, reply: &ClassifiedReply) -> Result<bool, Refusal> {
        let intent = if reply.is_override() { reply.intent } else { Intent::Other };
        self.apply_override(thread, intent)
    }

    /// R3: a reply by a person with the right to override (R4). True if it settled the thread.
    pub fn apply_override(&mut self, thread: &ThreadId, intent: Intent) -> Result<bool, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        Ok(thread.machine.apply_override(intent))
    }

    /// That person deleted or changed the reply. True if nothing else had settled the thread, so that it is
    /// open again.
    pub fn override_withdrawn(&mut self, thread: &ThreadId) -> Result<bool, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        let by_word = [ResolvedBy::WontFix, ResolvedBy::Acknowledged].map(ThreadStatus::Resolved);
        Ok(by_word.contains(&thread.status()) && thread.machine.reopened_by_person())
    }

    /// R3: a person reopened a settled thread on GitHub. True if that changed anything.
    pub fn reopened_by_person(&mut self, thread: &ThreadId) -> Result<bool, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        Ok(thread.machine.reopened_by_person())
    }

    /// T6, T7, H6: a person decides about a thread, or queues it for handoff.
    pub fn decide(&mut self, thread: &ThreadId, decision: Decision) -> Result<UndoableAct, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        if decision == Decision::Unqueue {
            self.queued_at_close.remove(&thread.id);
        }
        thread.undoably(Some(decision), |thread| {
            match decision {
                Decision::Queue => {
                    check_can_be_handed_off(thread)?;
                    thread.queue();
                }
                Decision::Unqueue => thread.queued = false,
                decision => thread.machine.decide(decision)?,
            }
            Ok(())
        })
    }

    /// A person chooses the handoff target of a finding, or withholds it.
    pub fn route(&mut self, thread: &ThreadId, to: Destination) -> Result<UndoableAct, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        if to == Destination::Nowhere {
            self.queued_at_close.remove(&thread.id);
        }
        thread.undoably(None, |thread| {
            check_can_be_handed_off(thread)?;
            thread.route(to);
            Ok(())
        })
    }

    /// T6: a person undoes an act. A thread that is open again although its reviewer's cycles are spent would
    /// wait for nobody, so C6 applies to it.
    pub fn undo(&mut self, thread: &ThreadId, act: &UndoableAct, policy: &Policy) -> Result<(), Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        thread.undo(act)?;
        let completed = self.reviewers.get(&thread.reviewer).map_or(0, |record| record.completed);
        if completed >= policy.max_review_iterations {
            thread.machine.cut_off(EscalatedBy::IterationCap);
        }
        Ok(())
    }

    /// H1: at the merge, hands off every eligible finding once and clears the queue. Returns no tasks if the
    /// pull request is not open.
    pub fn merge(&mut self, rules: &HandoffRules) -> Vec<HandoffTask> {
        if self.state != PullRequestState::Open {
            return Vec::new();
        }
        self.state = PullRequestState::Merged;
        let tasks = tasks(self.threads.values(), self.author_is_bot, rules);
        for finding in tasks.iter().flat_map(|task| &task.findings) {
            if let Some(thread) = self.threads.get_mut(finding) {
                thread.hand_off();
            }
        }
        self.drop_queue();
        tasks
    }

    /// H1: closing clears the queue. False if the pull request is not open.
    pub fn close(&mut self) -> bool {
        let fits = self.state == PullRequestState::Open;
        if fits {
            self.state = PullRequestState::Closed;
            let queued = self.threads.values().filter(|thread| thread.queued);
            self.queued_at_close = queued.map(|thread| thread.id.clone()).collect();
            self.drop_queue();
        }
        fits
    }

    /// L6, C6: a pull request that somebody reopened who may override (`resets`) counts rounds and cycles from zero, but
    /// reviewed heads stay reviewed (C5). Whoever reopened it, findings that were queued at the close are queued again
    /// if they still can be (H1). False if it is not closed.
    pub fn reopen(&mut self, resets: bool) -> bool {
        if self.state != PullRequestState::Closed {
            return false;
        }
        self.state = PullRequestState::Open;
        for id in std::mem::take(&mut self.queued_at_close) {
            if let Some(thread) = self.threads.get_mut(&id) {
                thread.queued |= check_can_be_handed_off(thread).is_ok();
            }
        }
        if resets {
            self.rounds = 0;
            for record in self.reviewers.values_mut() {
                (record.completed, record.calls) = (0, 0);
            }
        }
        true
    }

    /// H4: an earlier task already contains the finding.
    pub fn handed_off(&mut self, thread: &ThreadId) {
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.hand_off();
        }
    }

    fn drop_queue(&mut self) {
        for thread in self.threads.values_mut() {
            thread.queued = false;
        }
    }
}

/// Refuses a decision about the handoff of a finding that is settled or handed off.
pub fn check_can_be_handed_off(thread: &Thread) -> Result<(), Refusal> {
    if thread.handed_off {
        Err(Refusal::AlreadyHandedOff)
    } else if thread.status().is_settled() {
        Err(Refusal::AlreadySettled)
    } else {
        Ok(())
    }
}
