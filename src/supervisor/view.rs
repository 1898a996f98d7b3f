//! What a screen or a script sees of the supervisor: plain values, replaced whole whenever something changed.

use super::computed_state::ComputedState;
use crate::domain::handoff::HandoffTask;
use crate::domain::review_loop::{Exit, Phase, ReviewLoop};
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::vocabulary::ReviewerName;
use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::github::poll::BudgetStatus;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that is supervised.
#[derive(Debug, Clone, Default)]
pub struct Board {
    pub pull_requests: BTreeMap<PullRequestAddress, Arc<PullRequestView>>,
    /// The points GitHub grants; absent before the first poll.
    pub budget: Option<BudgetStatus>,
    /// What keeps everything from being polled, if something does.
    pub trouble: Option<SupervisorProblem>,
    /// What keeps the journal from being read, if something does.
    pub journal_trouble: Option<SupervisorProblem>,
    pub next_poll: Option<Timestamp>,
}

/// Something that concerns everything that is supervised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisorProblem {
    pub kind: SupervisorProblemKind,
    /// What happened, in a sentence.
    pub why: String,
    pub since: Timestamp,
    /// When it is tried again, where somebody said so.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupervisorProblemKind {
    /// No usable answer comes back.
    OutOfReach,
    /// The forge asks for patience.
    Limited,
    /// The token is not good, or not good enough.
    Refused,
    Journal,
}

impl SupervisorProblem {
    /// The same trouble as before has been there since then.
    pub(super) fn after(self, before: Option<&SupervisorProblem>) -> SupervisorProblem {
        let since =
            before.filter(|before| before.kind == self.kind).map_or(self.since, |before| before.since);
        SupervisorProblem { since, ..self }
    }
}

/// One pull request.
#[derive(Debug, Clone)]
pub struct PullRequestView {
    pub address: PullRequestAddress,
    /// Absent before it was ever read, and until what was read before the start has been put together.
    pub standing: Option<Arc<ComputedState>>,
    /// As it was read before the start, until that has been put together.
    pub last: Option<Arc<PullRequestSnapshot>>,
    /// When it was last seen to be so.
    pub seen_at: Option<Timestamp>,
    pub review_loop: Option<ReviewLoop>,
    /// When the next attempt is due.
    pub next_at: Option<Timestamp>,
    pub role: DriverRole,
    pub drive: bool,
    /// Reviewers that are thinking now.
    pub thinking: Vec<ReviewerName>,
    pub author_at_work: bool,
    /// What is due and not done, in sentences: all that would be done where the repository is only watched.
    pub due: Vec<String>,
    /// The tasks that its merge decided, and how far each has come.
    pub handoffs: Vec<HandoffView>,
    /// Why nothing can be done here at all: the token is refused, or the pull request is not there.
    pub refusal: Option<Failure>,
    /// Whether whoever drives is known to have come to the end that is shown, or to be alive.
    pub end_is_known: bool,
    /// Attempts since the start that did not reach the forge.
    pub attempts_failed: u32,
    pub max_attempts: u32,
    /// The last thing that went wrong here and is still so.
    pub trouble: Option<String>,
}

/// A task on its way to its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffView {
    /// Names it for good.
    pub key: String,
    pub task: HandoffTask,
    pub reason: String,
    pub state: HandoffState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoffState {
    Sent {
        url: Option<String>,
    },
    /// It was not taken, and is tried again.
    Waiting {
        until: Timestamp,
        /// Why not; absent before the first try.
        why: Option<String>,
    },
    /// Not tried again by itself, and why.
    Stuck(String),
}

/// Who drives a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverRole {
    /// Nobody decides anything here: this instance only looks.
    ReadOnly,
    Driver,
    /// Another instance does, and this one would take over.
    Standby {
        holder: String,
    },
}

impl PullRequestView {
    /// The pull request as it was last read.
    pub fn snapshot(&self) -> Option<&PullRequestSnapshot> {
        let standing = self.standing.as_ref().map(|standing| &standing.snapshot);
        standing.or(self.last.as_ref()).map(|snapshot| &**snapshot)
    }

    /// Whether everything that follows from the end of the loop was done, or will not be by itself.
    pub fn is_settled(&self) -> bool {
        let on_its_way = |handoff: &HandoffView| matches!(handoff.state, HandoffState::Waiting { .. });
        self.end_is_known && !self.handoffs.iter().any(on_its_way)
    }

    pub fn exit(&self) -> Option<&Exit> {
        match self.review_loop.as_ref()?.phase() {
            Phase::Ended(exit) => Some(exit),
            Phase::Waiting | Phase::WithAuthor | Phase::Paused(_) => None,
        }
    }
}
