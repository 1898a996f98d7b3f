//! The thread machine (T): the state of the argument about one finding, and the legal next steps.
//!
//! A [`ThreadMachine`] has no text, places or names. It is small and `Copy`, because the model checker walks
//! these functions through every state that they can reach (T8).
//!
//! ```text
//!                 reply (while legal)
//!                    ┌────┐
//!   finding ──────► open ─┴── resolve ──► resolved ──(raised again, D5)──► open | escalated
//!                    │ ▲
//!      veto, escalate│ │return (a person, T6)
//!                    ▼ │
//!             vetoed, escalated ── uphold ──► upheld
//!                                └─ dismiss ─► dismissed
//! ```
//!
//! A person can undo a decision while the thread is still as the decision left it.

use super::policy::Policy;
use super::vocabulary::{Intent, ReviewerAction, Stance};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A thread's status, together with its cause. Only possible pairs exist: a resolved thread cannot have hit
/// the round limit, and an open one has no cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadStatus {
    Open,
    Resolved(ResolvedBy),
    Vetoed(VetoedBy),
    Escalated(EscalatedBy),
    /// A person decided that the finding stands.
    Upheld,
    /// A person decided that nobody will act on the finding.
    Dismissed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResolvedBy {
    /// The reviewer itself. Only such a thread can regress (D5).
    Reviewer,
    Person,
    /// R3: a person with the right to override said that it will not be fixed.
    WontFix,
    /// R3: a person with the right to override acknowledged it.
    Acknowledged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VetoedBy {
    Reviewer,
    Person,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EscalatedBy {
    Reviewer,
    Person,
    /// The reviewer wanted another round, but `reply` was no longer legal (T4).
    RoundLimit,
    /// C4: the reviewer never gave a valid answer.
    ReviewerFailed,
    /// C6: the reviewer has used up its cycles on this pull request.
    IterationCap,
    /// D4: raised again with a higher severity after a person had it.
    Worsened,
    /// D5: resolved and raised again too often.
    Regressed,
}

impl ThreadStatus {
    pub fn name(self) -> &'static str {
        match self {
            ThreadStatus::Open => "open",
            ThreadStatus::Resolved(_) => "resolved",
            ThreadStatus::Vetoed(_) => "vetoed",
            ThreadStatus::Escalated(_) => "escalated",
            ThreadStatus::Upheld => "upheld",
            ThreadStatus::Dismissed => "dismissed",
        }
    }

    pub fn cause(self) -> Option<&'static str> {
        Some(match self {
            ThreadStatus::Open => return None,
            ThreadStatus::Resolved(ResolvedBy::Reviewer)
            | ThreadStatus::Vetoed(VetoedBy::Reviewer)
            | ThreadStatus::Escalated(EscalatedBy::Reviewer) => "reviewer",
            ThreadStatus::Resolved(ResolvedBy::Person)
            | ThreadStatus::Vetoed(VetoedBy::Person)
            | ThreadStatus::Escalated(EscalatedBy::Person)
            | ThreadStatus::Upheld
            | ThreadStatus::Dismissed => "person",
            ThreadStatus::Resolved(ResolvedBy::WontFix) => "wont_fix",
            ThreadStatus::Resolved(ResolvedBy::Acknowledged) => "acknowledged",
            ThreadStatus::Escalated(EscalatedBy::RoundLimit) => "round_limit",
            ThreadStatus::Escalated(EscalatedBy::ReviewerFailed) => "reviewer_failed",
            ThreadStatus::Escalated(EscalatedBy::IterationCap) => "iteration_cap",
            ThreadStatus::Escalated(EscalatedBy::Worsened) => "worsened",
            ThreadStatus::Escalated(EscalatedBy::Regressed) => "regressed",
        })
    }

    /// A settled thread stays as it is unless somebody raises the finding again.
    pub fn is_settled(self) -> bool {
        matches!(self, ThreadStatus::Resolved(_) | ThreadStatus::Dismissed)
    }

    /// T2: in the inbox, and no person has decided yet.
    pub fn waits_for_person(self) -> bool {
        matches!(self, ThreadStatus::Vetoed(_) | ThreadStatus::Escalated(_))
    }

    /// In a person's hands: in the inbox, or upheld by a person who can still change the decision.
    pub fn is_with_a_person(self) -> bool {
        self.waits_for_person() || self == ThreadStatus::Upheld
    }
}

/// A set of the four actions, iterated in alphabetical order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ActionSet(u8);

impl ActionSet {
    pub const NONE: ActionSet = ActionSet(0);

    #[must_use]
    pub fn with(self, action: ReviewerAction) -> ActionSet {
        ActionSet(self.0 | (1 << action as u8))
    }

    pub fn contains(self, action: ReviewerAction) -> bool {
        self.0 & (1 << action as u8) != 0
    }

    pub fn iter(self) -> impl Iterator<Item = ReviewerAction> {
        ReviewerAction::ALL.into_iter().filter(move |&action| self.contains(action))
    }
}

impl fmt::Debug for ActionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// The legal actions of the reviewer's next cycle, for each stance it can declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LegalActions {
    pub seeks_change: ActionSet,
    pub accepts: ActionSet,
}

impl LegalActions {
    pub fn for_stance(self, stance: Stance) -> ActionSet {
        match stance {
            Stance::SeeksChange => self.seeks_change,
            Stance::Accepts => self.accepts,
        }
    }
}

/// T3's counters. They survive the end of the thread, because a regression continues them (D5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counters {
    /// None only after a person returned the thread: its next cycle opens it again.
    pub stance: Option<Stance>,
    pub round_count: u32,
    pub flips: u32,
    /// Cycles that the thread took since it was opened or returned, including the first.
    pub cycles: u32,
}

impl Counters {
    const RETURNED: Counters = Counters { stance: None, round_count: 0, flips: 0, cycles: 0 };

    /// T3, and the only place that counts. The flip budget makes the loop end: if every flip reset the count,
    /// a reviewer that alternates could reply for ever.
    fn after(self, declared: Stance, policy: &Policy) -> Counters {
        let cycles = self.cycles + 1;
        match self.stance {
            None => Counters { stance: Some(declared), round_count: 0, flips: 0, cycles },
            Some(held) if held == declared => Counters { round_count: self.round_count + 1, cycles, ..self },
            Some(_) if self.flips < policy.flip_limit => {
                Counters { stance: Some(declared), round_count: 0, flips: self.flips + 1, cycles }
            }
            Some(_) => Counters { stance: Some(declared), round_count: self.round_count + 1, cycles, ..self },
        }
    }

    /// T4: whether one more reply is legal.
    fn allow_reply(self, policy: &Policy) -> bool {
        self.round_count < policy.repeat_limit
    }
}

/// The reviewer chose an action that is not legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionNotAllowed;

/// Why a person's decision does not fit the thread's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DecisionError {
    /// Only an open thread can be vetoed or escalated.
    NotOpen,
    /// Only a thread that waits for a person can be upheld, dismissed or returned.
    NotWaiting,
    /// The thread is resolved or dismissed.
    AlreadySettled,
    /// The thread has changed since the decision, so the decision cannot be undone.
    Overtaken,
}

/// A person's decision about a thread (T6, T7, H6). The command line, the terminal, traces and the journal
/// all use this type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Ends the argument. The thread stays with the person who decided.
    Veto,
    /// Ends the argument. The operator has to act next.
    Escalate,
    Resolve,
    Uphold,
    Dismiss,
    Return,
    /// Hands the finding off at the merge. The status does not change.
    Queue,
    Unqueue,
}

impl Decision {
    /// The decisions that change a thread's status. The two about the queue do not.
    pub const CHANGING_STATUS: [Decision; 6] = [
        Decision::Veto,
        Decision::Escalate,
        Decision::Resolve,
        Decision::Uphold,
        Decision::Dismiss,
        Decision::Return,
    ];

    pub fn changes_status(self) -> bool {
        Decision::CHANGING_STATUS.contains(&self)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Decision::Veto => "veto",
            Decision::Escalate => "escalate",
            Decision::Resolve => "resolve",
            Decision::Uphold => "uphold",
            Decision::Dismiss => "dismiss",
            Decision::Return => "return",
            Decision::Queue => "queue",
            Decision::Unqueue => "unqueue",
        }
    }
}

/// What happened to a resolved finding that was raised again (D5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegressionOutcome {
    /// The thread is open again, and this cycle counts.
    Reopened,
    /// The thread is in the inbox.
    Escalated,
}

/// The state of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadMachine {
    pub status: ThreadStatus,
    pub counters: Counters,
    /// How often the reviewer resolved the finding and raised it again.
    pub reopens: u32,
    /// How often a person returned the thread to the loop.
    pub returns: u32,
}

impl ThreadMachine {
    /// A new thread. Its opening cycle is counted.
    pub fn opened() -> ThreadMachine {
        let counters = Counters { stance: Some(Stance::SeeksChange), round_count: 0, flips: 0, cycles: 1 };
        ThreadMachine { status: ThreadStatus::Open, counters, reopens: 0, returns: 0 }
    }

    /// A thread that its reviewer had resolved when it was adopted from GitHub.
    pub fn adopted_as_resolved() -> ThreadMachine {
        ThreadMachine { status: ThreadStatus::Resolved(ResolvedBy::Reviewer), ..ThreadMachine::opened() }
    }

    /// A thread that waited for a person when it was adopted from GitHub.
    pub fn adopted_as_escalated(cause: EscalatedBy, returns: u32, reopens: u32) -> ThreadMachine {
        ThreadMachine { status: ThreadStatus::Escalated(cause), reopens, returns, ..ThreadMachine::opened() }
    }

    pub fn is_open(&self) -> bool {
        self.status == ThreadStatus::Open
    }

    /// T4: the legal actions of the next cycle. All other code asks this function.
    pub fn legal(&self, policy: &Policy) -> LegalActions {
        LegalActions {
            seeks_change: self.legal_for_stance(Stance::SeeksChange, policy),
            accepts: self.legal_for_stance(Stance::Accepts, policy),
        }
    }

    fn legal_for_stance(&self, declared: Stance, policy: &Policy) -> ActionSet {
        if !self.is_open() {
            return ActionSet::NONE;
        }
        let ends = ActionSet::NONE
            .with(ReviewerAction::Resolve)
            .with(ReviewerAction::Veto)
            .with(ReviewerAction::Escalate);
        if self.counters.after(declared, policy).allow_reply(policy) {
            ends.with(ReviewerAction::Reply)
        } else {
            ends
        }
    }

    /// T1: the reviewer acts on its open thread. The cycle counts before the action applies (T3).
    pub fn act(
        &mut self,
        declared: Stance,
        action: ReviewerAction,
        policy: &Policy,
    ) -> Result<(), ActionNotAllowed> {
        if !self.legal(policy).for_stance(declared).contains(action) {
            return Err(ActionNotAllowed);
        }
        self.counters = self.counters.after(declared, policy);
        self.status = match action {
            ReviewerAction::Reply => ThreadStatus::Open,
            ReviewerAction::Resolve => ThreadStatus::Resolved(ResolvedBy::Reviewer),
            ReviewerAction::Veto => ThreadStatus::Vetoed(VetoedBy::Reviewer),
            ReviewerAction::Escalate => ThreadStatus::Escalated(EscalatedBy::Reviewer),
        };
        Ok(())
    }

    /// The reviewer holds its stance without choosing an action (C7, C8). That counts as `reply` if legal;
    /// otherwise the engine escalates for it.
    pub fn hold(&mut self, declared: Stance, policy: &Policy) {
        if self.act(declared, ReviewerAction::Reply, policy).is_err() && self.is_open() {
            self.counters = self.counters.after(declared, policy);
            self.status = ThreadStatus::Escalated(EscalatedBy::RoundLimit);
        }
    }

    /// The engine escalates an open thread (C4, C6). No cycle is counted.
    pub fn cut_off(&mut self, cause: EscalatedBy) {
        if self.is_open() {
            self.status = ThreadStatus::Escalated(cause);
        }
    }

    /// D5: the reviewer raised a finding that it had resolved. That counts as a repetition, never as a flip:
    /// with a fresh count, resolving and raising in turn would never end.
    pub fn regress(&mut self, policy: &Policy) -> RegressionOutcome {
        self.reopens += 1;
        self.counters.stance = Some(Stance::SeeksChange);
        self.counters.round_count += 1;
        if self.counters.allow_reply(policy) && self.reopens <= policy.reopen_limit {
            self.counters.cycles += 1;
            self.status = ThreadStatus::Open;
            RegressionOutcome::Reopened
        } else {
            self.status = ThreadStatus::Escalated(EscalatedBy::Regressed);
            RegressionOutcome::Escalated
        }
    }

    /// D4: a finding that a person had got worse. It goes to the inbox, never into the loop.
    pub fn worsen(&mut self) {
        self.status = ThreadStatus::Escalated(EscalatedBy::Worsened);
    }

    /// Whether a person's decision fits the thread's status.
    pub fn admits(&self, decision: Decision) -> Result<(), DecisionError> {
        let status = self.status;
        match decision {
            Decision::Veto | Decision::Escalate if !self.is_open() => Err(DecisionError::NotOpen),
            Decision::Uphold | Decision::Dismiss if !status.is_with_a_person() => {
                Err(DecisionError::NotWaiting)
            }
            Decision::Return if !status.is_with_a_person() && status != ThreadStatus::Dismissed => {
                Err(DecisionError::NotWaiting)
            }
            Decision::Resolve if status.is_settled() => Err(DecisionError::AlreadySettled),
            _ => Ok(()),
        }
    }

    /// T6, T7: applies a person's decision. T4 does not apply, and no cycle is counted.
    pub fn decide(&mut self, decision: Decision) -> Result<(), DecisionError> {
        self.admits(decision)?;
        self.status = match decision {
            Decision::Veto => ThreadStatus::Vetoed(VetoedBy::Person),
            Decision::Escalate => ThreadStatus::Escalated(EscalatedBy::Person),
            Decision::Resolve => ThreadStatus::Resolved(ResolvedBy::Person),
            Decision::Uphold => ThreadStatus::Upheld,
            Decision::Dismiss => ThreadStatus::Dismissed,
            Decision::Return => {
                self.return_to_the_loop();
                ThreadStatus::Open
            }
            Decision::Queue | Decision::Unqueue => self.status,
        };
        Ok(())
    }

    /// T6: undoes a decision. `before` is the machine as the decision found it, counters included. It fits only
    /// while the thread is still as the decision left it, so no event in between is lost.
    pub fn undo(&mut self, decision: Decision, before: ThreadMachine) -> Result<(), DecisionError> {
        let mut decided = before;
        decided.decide(decision)?;
        if decided != *self {
            return Err(DecisionError::Overtaken);
        }
        *self = before;
        Ok(())
    }

    /// R3: a person reopened a settled thread on GitHub. That counts as a return, because the argument starts
    /// afresh.
    pub fn reopened_by_person(&mut self) -> bool {
        let was_settled = self.status.is_settled();
        if was_settled {
            self.return_to_the_loop();
            self.status = ThreadStatus::Open;
        }
        was_settled
    }

    fn return_to_the_loop(&mut self) {
        self.counters = Counters::RETURNED;
        self.returns += 1;
    }

    /// R3: a reply by a person with the right to override. Only the two intents that settle have an effect,
    /// and only on an unsettled thread.
    pub fn apply_override(&mut self, intent: Intent) -> bool {
        let by = match intent {
            Intent::WontFix => ResolvedBy::WontFix,
            Intent::Acknowledged => ResolvedBy::Acknowledged,
            Intent::Disagree | Intent::Fixed | Intent::Question | Intent::Other => return false,
        };
        if self.status.is_settled() {
            return false;
        }
        self.status = ThreadStatus::Resolved(by);
        true
    }
}
