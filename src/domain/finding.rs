//! A reviewer's finding, and the thread about it.

use super::machine::{Decision, DecisionError, ThreadMachine, ThreadStatus};
use super::place::{Anchor, LineRange};
use super::vocabulary::{Category, FilePath, ReviewerName, Severity, TargetName, ThreadId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One problem, as a reviewer reports it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    pub path: FilePath,
    /// None if the finding is about the whole file.
    pub lines: Option<LineRange>,
    pub title: Arc<str>,
    pub body: Arc<str>,
    /// None if the bot states none. Unknown is not low, and nothing is made up for it.
    pub severity: Option<Severity>,
    pub category: Category,
    /// Replacement code, ready to be applied.
    pub suggestion: Option<Arc<str>>,
    /// The reviewer's own id for the finding. An equal id outweighs any comparison of text (D2).
    pub own_id: Option<Arc<str>>,
}

/// A person's choice of the handoff target. It outweighs the configured routes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// The configured route decides.
    #[default]
    AsConfigured,
    Target(TargetName),
    /// Withheld: automatic handoff skips it.
    Nowhere,
}

/// The conversation about one finding, owned by the reviewer that opened it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Thread {
    pub id: ThreadId,
    pub reviewer: ReviewerName,
    /// As first reported, except that the severity may have risen since.
    pub finding: Finding,
    pub anchor: Anchor,
    pub machine: ThreadMachine,
    /// H5: a coding agent found it while it checked its own fix.
    pub from_verification: bool,
    /// H6: a person queued it for handoff.
    pub queued: bool,
    /// The handoff target that a person chose.
    pub routed: Destination,
    /// H4: it was handed off and is never handed off again.
    pub handed_off: bool,
}

/// A person's act on a thread, with the state before it, so that it can be undone (T6).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UndoableAct {
    /// A decision about the argument.
    Decided { decision: Decision, before: ThreadMachine },
    /// A wish about the handoff: whether the finding is queued, and where it goes.
    Handoff { before: (bool, Destination), after: (bool, Destination) },
}

impl Thread {
    pub fn opened(id: ThreadId, reviewer: ReviewerName, finding: Finding, from_verification: bool) -> Thread {
        let anchor = Anchor::new(finding.path.clone(), finding.lines);
        let machine = ThreadMachine::opened();
        Thread {
            id,
            reviewer,
            finding,
            anchor,
            machine,
            from_verification,
            queued: false,
            routed: Destination::AsConfigured,
            handed_off: false,
        }
    }

    /// H6: queues the finding. That also undoes an earlier decision to withhold it.
    pub(super) fn queue(&mut self) {
        self.queued = true;
        if self.routed == Destination::Nowhere {
            self.routed = Destination::AsConfigured;
        }
    }

    /// Sets the target that a person chose. A withheld finding leaves the queue.
    pub(super) fn route(&mut self, to: Destination) {
        self.queued &= to != Destination::Nowhere;
        self.routed = to;
    }

    /// Applies a person's act, and returns how to undo it. The caller has checked that the act fits.
    pub(super) fn undoably<E>(
        &mut self,
        decision: Option<Decision>,
        act: impl FnOnce(&mut Thread) -> Result<(), E>,
    ) -> Result<UndoableAct, E> {
        let (machine, wish) = (self.machine, (self.queued, self.routed.clone()));
        act(self)?;
        Ok(match decision.filter(|decision| decision.changes_status()) {
            Some(decision) => UndoableAct::Decided { decision, before: machine },
            None => UndoableAct::Handoff { before: wish, after: (self.queued, self.routed.clone()) },
        })
    }

    /// T6: undoes an act, if the thread is still as the act left it.
    pub fn undo(&mut self, act: &UndoableAct) -> Result<(), DecisionError> {
        match act {
            UndoableAct::Decided { decision, before } => self.machine.undo(*decision, *before),
            UndoableAct::Handoff { before, after } => {
                if self.handed_off || (self.queued, &self.routed) != (after.0, &after.1) {
                    return Err(DecisionError::Overtaken);
                }
                (self.queued, self.routed) = before.clone();
                Ok(())
            }
        }
    }

    /// H4: marks the finding as handed off. Earlier wishes for it no longer count.
    pub(super) fn hand_off(&mut self) {
        (self.queued, self.handed_off) = (false, true);
    }

    pub fn status(&self) -> ThreadStatus {
        self.machine.status
    }

    /// Raises the severity; it never falls. True if the new one is strictly higher than a severity stated
    /// before. From unknown to known is not a rise.
    pub fn worsen_to(&mut self, severity: Option<Severity>) -> bool {
        let before = self.finding.severity;
        self.finding.severity = before.max(severity);
        before.is_some() && severity > before
    }
}
