//! The supervisor's state for screens and scripts: plain values, replaced as a whole whenever something
//! changes.

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

/// All pull requests that the supervisor tracks.
#[derive(Debug, Clone, Default)]
pub struct Board {
    pub pull_requests: BTreeMap<PullRequestAddress, Arc<PullRequestView>>,
    /// GitHub's rate-limit budget; absent before the first poll.
    pub budget: Option<BudgetStatus>,
    /// Why polling fails, if it does.
    pub trouble: Option<SupervisorProblem>,
    /// Why the journal fails, if it does.
    pub journal_trouble: Option<SupervisorProblem>,
    pub next_poll: Option<Timestamp>,
}

/// A problem that concerns all pull requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisorProblem {
    pub kind: SupervisorProblemKind,
    /// In a sentence.
    pub why: String,
    pub since: Timestamp,
    /// When the supervisor tries again, if that is known.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupervisorProblemKind {
    /// GitHub gives no usable answer.
    OutOfReach,
    /// GitHub limits requests.
    Limited,
    /// GitHub does not accept the token, or the token lacks a permission.
    Refused,
    Journal,
}

impl SupervisorProblem {
    /// Keeps the start of a problem of the same kind.
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
    /// Absent before the first reading, and until the stored snapshot is computed.
    pub computed: Option<Arc<ComputedState>>,
    /// The stored snapshot from before the start, until its state is computed.
    pub last: Option<Arc<PullRequestSnapshot>>,
    /// When a poll last confirmed this state.
    pub seen_at: Option<Timestamp>,
    pub review_loop: Option<ReviewLoop>,
    /// When the loop's next attempt is due.
    pub next_at: Option<Timestamp>,
    pub role: DriverRole,
    pub drive: bool,
    /// Driven reviewers that are at work now.
    pub thinking: Vec<ReviewerName>,
    pub author_at_work: bool,
    /// Writes that are due and not done, in sentences. In a repository that is only watched, these are all
    /// due writes.
    pub due: Vec<String>,
    /// The tasks that its merge decided.
    pub handoffs: Vec<HandoffView>,
    /// Why nothing works here: GitHub refuses the token, or the pull request does not exist.
    pub refusal: Option<Failure>,
    /// Whether the driver has recorded the end that is shown, or is alive.
    pub end_is_known: bool,
    /// Attempts since the start that did not reach GitHub.
    pub attempts_failed: u32,
    pub max_attempts: u32,
    /// The last problem that is not solved yet.
    pub trouble: Option<String>,
}

/// A task on its way to its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffView {
    /// Identifies the task; never changes.
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
    /// Not sent yet, and tried again.
    Waiting {
        until: Timestamp,
        /// Why the last try failed; absent before the first.
        why: Option<String>,
    },
    /// Needs a person, and why.
    Stuck(String),
}

/// Who drives a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriverRole {
    /// This instance only watches.
    ReadOnly,
    Driver,
    /// Another instance drives; this one takes over when its lease expires.
    Standby {
        holder: String,
    },
}

impl PullRequestView {
    /// The latest snapshot.
    pub fn snapshot(&self) -> Option<&PullRequestSnapshot> {
        let computed = self.computed.as_ref().map(|computed| &computed.snapshot);
        computed.or(self.last.as_ref()).map(|snapshot| &**snapshot)
    }

    /// Whether the end is certain and no task is still on its way.
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
