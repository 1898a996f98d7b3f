//! `cloture status`: polls once, and prints the state of every pull request and thread, for people and for
//! scripts.

mod json;
mod table;

use crate::app::connection::ConnectionSettings;
use crate::app::invocation::Invocation;
use crate::app::selection::{self, Selection};
use crate::app::session::existing_journal;
use crate::commands::{Outcome, report};
use crate::config::Config;
use crate::domain::policy::Policy;
use crate::domain::review_loop::{LoopEvent, ReviewLoop, Transition};
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::ReviewerName;
use crate::failure::{Failure, FailureKind};
use crate::github::CallCost;
use crate::github::poll::{BudgetStatus, PollEvent, PollSettings};
use crate::github::read::PullRequestRead;
use crate::github::{Poller, PullRequestAddress, PullRequestRef, Reader};
use crate::journal::Journal;
use crate::reviewers::profiles::Profiles;
use crate::supervisor::computed_state::{ComputedState, RepositoryRules};
use crate::supervisor::history::History;
use crate::supervisor::obeyed_commands::stored_loop;
use crate::supervisor::people::stored;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of one poll.
#[derive(Debug)]
pub struct StatusReport {
    pub pull_requests: Vec<PullRequestStatus>,
    pub spent: CallCost,
    pub budget: BudgetStatus,
    /// Why some pull requests are missing or incomplete.
    pub failures: Vec<Failure>,
    policy: Policy,
}

/// The state of one pull request.
#[derive(Debug)]
pub struct PullRequestStatus {
    pub computed: ComputedState,
    pub review_loop: ReviewLoop,
    pub waiting_for: Vec<ReviewerName>,
}

pub fn run(invocation: &Invocation, pull_requests: &[String], json: bool) -> anyhow::Result<Outcome> {
    let status = invocation.with_context(async |context| {
        status(pull_requests, &context.settings, &context.profiles, context.state_folder, context.now).await
    })?;
    report::print(&status, json)
}

/// Selects the pull requests, polls each once and computes its state. People's decisions come from the
/// journal if there is one; this makes none.
async fn status(
    arguments: &[String],
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<StatusReport, Failure> {
    let host = settings.host()?;
    let named = selection::parse_addresses(arguments, &host)?;
    let forge = settings.connect(host).await?;
    let selection = selection::select(named, settings, &forge.client).await?;
    let reader = Arc::new(Reader::new(forge.client));
    // GitHub's state is worth showing even if the journal cannot be used.
    let (journal, journal_failure) = match existing_journal(settings, state_folder, now).await {
        Ok(journal) => (journal, None),
        Err(failure) => (None, Some(failure)),
    };
    let options =
        StatusOptions { config: settings.config, profiles, journal: journal.as_ref(), now, polls: 1 };
    let mut status = options.poll(&selection, &reader).await;
    status.failures.extend(journal_failure);
    Ok(status)
}

pub(crate) struct StatusOptions<'a> {
    pub(crate) config: &'a Config,
    pub(crate) profiles: &'a Profiles,
    /// Holds people's decisions.
    pub(crate) journal: Option<&'a Journal>,
    pub(crate) now: Timestamp,
    /// How often to poll. Only the second poll shows what a poll costs once everything is cached.
    pub(crate) polls: u32,
}

impl StatusOptions<'_> {
    pub(crate) async fn poll(
        &self,
        selection: &Selection,
        reader: &Arc<Reader<crate::github::Client>>,
    ) -> StatusReport {
        let (config, now) = (self.config, self.now);
        let interval = config.policy.poll_interval;
        let mut poller =
            Poller::new(Arc::clone(reader), PollSettings { interval, ..PollSettings::default() });
        for PullRequestRef { address, node_id: id } in &selection.pull_requests {
            poller.schedule_mut().track(address.clone(), id.clone());
        }
        let mut failures = selection.failures.clone();
        let mut spent = selection.spent;
        let mut snapshots: Vec<(PullRequestAddress, PullRequestSnapshot)> = Vec::new();
        for round in 0..self.polls {
            let report = poller
                .poll(now, |event| match event {
                    PollEvent::Read { .. } | PollEvent::Gone(_) | PollEvent::Failed(..) if round > 0 => {}
                    PollEvent::Read { asked, read, .. } => {
                        failures.extend(gaps(&read));
                        snapshots.push((asked, read.snapshot));
                    }
                    PollEvent::Gone(address) => failures.push(Failure::usage(format_args!(
                        "{address} does not exist: it was deleted or renamed, or the token may not see it"
                    ))),
                    PollEvent::Failed(address, error) => failures.push(Failure::about(&address, &error)),
                })
                .await;
            spent.add(report.spent);
            if let Some((_, error)) = report.limited {
                failures.push(Failure::new(FailureKind::OutOfReach, error));
                break;
            }
        }
        let position = |(asked, _): &(PullRequestAddress, PullRequestSnapshot)| {
            selection.pull_requests.iter().position(|found| found.address == *asked)
        };
        snapshots.sort_by_key(position);
        let host = reader.transport().host().name();
        let mut pull_requests = Vec::new();
        let mut shown = BTreeSet::new();
        for (_, mut snapshot) in snapshots {
            // Two names of one repository lead to one pull request (L13).
            if !shown.insert(snapshot.node_id.clone()) {
                continue;
            }
            let loaded = self.load_history(host, &mut snapshot).await;
            let (history, last) = loaded.unwrap_or_else(|failure| {
                failures.push(failure);
                (History::default(), stored_loop(None))
            });
            let mut status = self.status_of(snapshot.clone(), &history, last.clone());
            if status.computed.waits_for_reaction(self.profiles) {
                let PullRequestSnapshot { repository, number, .. } = &snapshot;
                let address = PullRequestAddress { repository: repository.clone(), number: *number };
                reader.refresh_reactions(&address).await;
                let reactions = reader.known_reactions(&address);
                status = self.status_of(PullRequestSnapshot { reactions, ..snapshot }, &history, last);
            }
            pull_requests.push(status);
        }
        let budget = poller.budget(now);
        StatusReport { pull_requests, spent, budget, failures, policy: config.policy.clone() }
    }

    /// The journal's history of a pull request, and the last state of its loop.
    async fn load_history(
        &self,
        host: &str,
        snapshot: &mut PullRequestSnapshot,
    ) -> Result<(History, ReviewLoop), Failure> {
        let Some(journal) = self.journal else { return Ok((History::default(), stored_loop(None))) };
        let key = journal.repositories().await?.recognise(host, snapshot);
        let mut history = History::load(journal, &key).await?;
        let before = journal.last_snapshot(&key).await?;
        // The driver will record these changes. Until then they count here all the same.
        let rules = RepositoryRules::of_names(self.config, self.profiles, snapshot.names(), false);
        let _not_recorded = stored::note_transitions(before.as_ref(), snapshot, &key, &mut history, &rules);
        let stored = before.and_then(|before| before.poll);
        Ok((history, stored_loop(stored.as_ref())))
    }

    /// Computes the state from one snapshot. If a driver's loop stands at this head, its state is shown.
    fn status_of(
        &self,
        snapshot: PullRequestSnapshot,
        history: &History,
        mut review_loop: ReviewLoop,
    ) -> PullRequestStatus {
        let policy = &self.config.policy;
        let rules = RepositoryRules::of_names(self.config, self.profiles, snapshot.names(), false);
        // Printing the state must not dispatch the author.
        let rules = RepositoryRules { author: false, ..rules };
        let computed = ComputedState::of(Arc::new(snapshot), history, &rules);
        let is_open = computed.seen.state == PullRequestState::Open;
        let waiting_for = if is_open { computed.seen.arrivals().missing } else { Vec::new() };
        // This look is no attempt of the driver's loop.
        let transition = review_loop.wake(LoopEvent::Learned(&computed.seen), policy);
        if let Transition::Ignored(reason) = transition {
            tracing::debug!(reason, "the loop ignored the look");
        }
        PullRequestStatus { computed, review_loop, waiting_for }
    }
}

/// The parts that GitHub left out of its answer.
fn gaps(read: &PullRequestRead) -> Vec<Failure> {
    let PullRequestSnapshot { repository, number, .. } = &read.snapshot;
    let sentence = |gap: &String| {
        Failure::new(
            FailureKind::OutOfReach,
            format_args!("GitHub sent only a part of {repository}#{number}: {gap}"),
        )
    };
    read.gaps.iter().map(sentence).collect()
}
