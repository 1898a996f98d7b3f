//! The supervisor's state for screens and scripts: plain values, replaced as a whole whenever something
//! changes.

use super::computed_state::ComputedState;
use crate::domain::handoff::HandoffTask;
use crate::domain::review_loop::{Exit, ReviewArrivals, ReviewLoop};
use crate::domain::snapshot::{PullRequestSnapshot, RepositoryName};
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
    /// Other addresses of the same pull requests: they were asked for as well, and lead to these (L13).
    pub aliases: BTreeMap<PullRequestAddress, PullRequestAddress>,
    /// GitHub's rate-limit budget; absent before the first poll.
    pub budget: Option<BudgetStatus>,
    /// Why polling fails, if it does.
    pub trouble: Option<SupervisorProblem>,
    /// Why the journal fails, if it does.
    pub journal_trouble: Option<SupervisorProblem>,
    pub next_poll: Option<Timestamp>,
}

impl Board {
    /// The pull request with this address, by any of its names.
    pub fn get(&self, address: &PullRequestAddress) -> Option<&Arc<PullRequestView>> {
        let tracked = self.aliases.get(address).unwrap_or(address);
        let is_named_so = |view: &&Arc<PullRequestView>| view.name() == *address;
        self.pull_requests.get(tracked).or_else(|| self.pull_requests.values().find(is_named_so))
    }
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
    /// The address by which it is tracked: it never changes, and the repository may have been renamed since.
    pub address: PullRequestAddress,
    /// Absent before the first reading, and until the stored snapshot is computed.
    pub computed: Option<Arc<ComputedState>>,
    /// The stored snapshot from before the start, until its state is computed.
    pub last: Option<Arc<PullRequestSnapshot>>,
    /// When a poll last confirmed this state.
    pub seen_at: Option<Timestamp>,
    pub review_loop: ReviewLoop,
    pub role: DriverRole,
    pub drive: bool,
    /// Driven reviewers that are at work now.
    pub thinking: Vec<ReviewerName>,
    pub author_at_work: bool,
    /// Writes that are due and not done. In a repository that is only watched, these are all due writes.
    pub due: Vec<DueWrite>,
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
    /// Set while the journal fails here. Nothing is done then, because nothing can be recorded.
    pub journal_failure: Option<JournalFailure>,
}

/// A journal that does not work for a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFailure {
    /// How many scheduled polls in a row it has failed at.
    pub polls: u32,
    pub why: String,
}

/// A write that is due and not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueWrite {
    pub sentence: String,
    pub state: DueState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DueState {
    /// Cloture tries it again by itself.
    Waits,
    /// Cloture does not do it here: it only watches, another instance drives, or a person silenced the loop.
    /// Or GitHub does not allow a label that only repeats what another write says.
    LeftOut,
    /// Trying it again is useless until somebody changes something, or was useless too often.
    CannotBeDone(Failure),
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

    /// The address for people: GitHub's present name in GitHub's spelling.
    pub fn name(&self) -> PullRequestAddress {
        let repository = self.snapshot().map_or(&self.address.repository, |snapshot| &snapshot.repository);
        PullRequestAddress { repository: repository.clone(), number: self.address.number }
    }

    /// Every name of the repository, the present one first.
    pub fn repository_names(&self) -> impl Iterator<Item = &RepositoryName> {
        let names = self.snapshot().into_iter().flat_map(PullRequestSnapshot::names);
        names.chain(std::iter::once(&self.address.repository))
    }

    /// Whether the end is certain, and no write waits and no task is still on its way.
    pub fn is_settled(&self) -> bool {
        let on_its_way = |handoff: &HandoffView| matches!(handoff.state, HandoffState::Waiting { .. });
        self.end_is_known && self.waiting_writes() == 0 && !self.handoffs.iter().any(on_its_way)
    }

    /// How many writes Cloture still tries.
    pub fn waiting_writes(&self) -> usize {
        self.due.iter().filter(|due| due.state == DueState::Waits).count()
    }

    /// The writes that cannot be done, each with its reason.
    pub fn impossible_writes(&self) -> impl Iterator<Item = (&str, &Failure)> {
        self.due.iter().filter_map(|due| match &due.state {
            DueState::CannotBeDone(failure) => Some((due.sentence.as_str(), failure)),
            DueState::Waits | DueState::LeftOut => None,
        })
    }

    /// Which expected reviews are in, missing, failed or unreadable.
    pub fn arrivals(&self) -> ReviewArrivals {
        self.computed.as_ref().map_or_else(ReviewArrivals::default, |computed| computed.seen.arrivals())
    }

    pub fn exit(&self) -> Option<&Exit> {
        self.review_loop.exit()
    }
}
