//! One pull request as the engine sees it: its threads, its reviewers' cycles, its queue.
//!
//! Every event comes in through one method here, and each method is the whole of what that event does. The
//! state is their fold: replaying the same events gives the same state, which is what `simulate`, the
//! journal and the proof all rely on. What reviewers do is in `cycles`, what authors and people do is here.

mod cycles;

pub use cycles::{CycleNote, CycleOutcome, NextCall};

use super::finding::{Destination, Thread};
use super::handoff::{HandoffRules, HandoffTask, tasks};
use super::machine::{Decision, DecisionError, ResolvedBy, ThreadStatus};
use super::place::{Delta, FileChange, LineMap};
use super::re_review::ClassifiedReply;
use super::snapshot::PullRequestState;
use super::vocabulary::{Intent, ReviewerName, Sha, ThreadId};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// See the module's text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DrivenPullRequest {
    author_is_bot: bool,
    state: PullRequestState,
    head: Option<Sha>,
    threads: BTreeMap<ThreadId, Thread>,
    reviewers: BTreeMap<ReviewerName, ReviewerRecord>,
    rounds: u32,
}

/// What is remembered of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct ReviewerRecord {
    /// Completed cycles since the pull request was last reopened (C6).
    completed: u32,
    /// Times the reviewer was asked since then.
    calls: u32,
    /// The last of the heads it is done with (R1).
    last_reviewed: Option<Sha>,
    /// Heads it is done with, whatever was reopened since (C5).
    reviewed: BTreeSet<Option<Sha>>,
    /// What was pushed since its last completed cycle; nothing to tell before the first (R2).
    since_last_review: Option<Delta>,
    /// A cycle whose answers have failed so far (C4).
    pending: Option<PendingCycle>,
    threads: Vec<ThreadId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PendingCycle {
    head: Option<Sha>,
    failures: u32,
}

/// Why it was refused.
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
    #[error("the finding was handed off already, and never goes twice")]
    AlreadyHandedOff,
}

impl Refusal {
    pub fn kind(self) -> &'static str {
        match self {
            Refusal::UnknownThread => "unknown_thread",
            Refusal::NotOpen => "not_open",
            Refusal::NotWaiting => "not_waiting",
            Refusal::AlreadySettled => "already_settled",
            Refusal::AlreadyHandedOff => "already_handed_off",
        }
    }
}

impl From<DecisionError> for Refusal {
    fn from(error: DecisionError) -> Self {
        match error {
            DecisionError::NotOpen => Refusal::NotOpen,
            DecisionError::NotWaiting => Refusal::NotWaiting,
            DecisionError::AlreadySettled => Refusal::AlreadySettled,
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

    /// All threads, by id.
    pub fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.values()
    }

    pub fn thread(&self, id: &ThreadId) -> Option<&Thread> {
        self.threads.get(id)
    }

    /// Completed cycles since the last reopen, of every reviewer that ever completed one.
    pub fn cycles(&self) -> impl Iterator<Item = (&ReviewerName, u32)> {
        let reviewers = self.reviewers.iter().filter(|(_, record)| record.since_last_review.is_some());
        reviewers.map(|(name, record)| (name, record.completed))
    }

    /// Times a reviewer was asked since the last reopen.
    pub fn calls(&self, reviewer: &ReviewerName) -> u32 {
        self.reviewers.get(reviewer).map_or(0, |record| record.calls)
    }

    /// L6: request-changes verdicts since the last reopen.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Takes over a thread that was there before anybody kept a record of it, as the forge shows it. One that is known
    /// already is left as it is.
    pub fn adopt(&mut self, thread: Thread) {
        let id = thread.id.clone();
        if let Entry::Vacant(place) = self.threads.entry(id.clone()) {
            self.reviewers.entry(thread.reviewer.clone()).or_default().threads.push(id);
            place.insert(thread);
        }
    }

    // The author's doing.

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

    // People's doing.

    /// R3–R5: a reply in a thread. True where it settled the thread.
    pub fn reply(&mut self, thread: &ThreadId, reply: &ClassifiedReply) -> Result<bool, Refusal> {
        let intent = if reply.is_override() { reply.intent } else { Intent::Other };
        self.apply_override(thread, intent)
    }

    /// R3: somebody who may has said it. True where that settled the thread.
    pub fn apply_override(&mut self, thread: &ThreadId, intent: Intent) -> Result<bool, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        Ok(thread.machine.apply_override(intent))
    }

    /// They took it back. True where the thread was settled by nothing else.
    pub fn override_withdrawn(&mut self, thread: &ThreadId) -> Result<bool, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        let by_word = [ResolvedBy::WontFix, ResolvedBy::Acknowledged].map(ThreadStatus::Resolved);
        Ok(by_word.contains(&thread.status()) && thread.machine.reopened_by_person())
    }

    /// R3: a person re-opened a settled thread on the forge. True where that changed anything.
    pub fn reopened_by_person(&mut self, thread: &ThreadId) -> Result<bool, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        Ok(thread.machine.reopened_by_person())
    }

    /// T6, T7, H6: a person decides about a thread, or queues it for handoff.
    pub fn decide(&mut self, thread: &ThreadId, decision: Decision) -> Result<(), Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        match decision {
            Decision::Queue => {
                check_can_be_handed_off(thread)?;
                thread.queue();
            }
            Decision::Unqueue => thread.queued = false,
            decision => thread.machine.decide(decision)?,
        }
        Ok(())
    }

    /// A person says where a finding goes at the merge, or that it goes nowhere.
    pub fn route(&mut self, thread: &ThreadId, to: Destination) -> Result<(), Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        check_can_be_handed_off(thread)?;
        thread.route(to);
        Ok(())
    }

    /// H1: a merge fires what is eligible, each once, and drops what was queued and settled meanwhile.
    /// Nothing where the pull request cannot be merged.
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

    /// H1: closing discards the queue. False where the pull request is not open.
    pub fn close(&mut self) -> bool {
        let fits = self.state == PullRequestState::Open;
        if fits {
            self.state = PullRequestState::Closed;
            self.drop_queue();
        }
        fits
    }

    /// L6: a reopened pull request starts counting rounds and cycles again, but what was reviewed stays
    /// reviewed (C5). False where it is not closed.
    pub fn reopen(&mut self) -> bool {
        let fits = self.state == PullRequestState::Closed;
        if fits {
            self.state = PullRequestState::Open;
            self.rounds = 0;
            for record in self.reviewers.values_mut() {
                (record.completed, record.calls) = (0, 0);
            }
        }
        fits
    }

    /// H4: a task that was decided earlier took the finding along.
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

/// Whether there is anything left to say about how a finding is handed off.
pub fn check_can_be_handed_off(thread: &Thread) -> Result<(), Refusal> {
    if thread.handed_off {
        Err(Refusal::AlreadyHandedOff)
    } else if thread.status().is_settled() {
        Err(Refusal::AlreadySettled)
    } else {
        Ok(())
    }
}
