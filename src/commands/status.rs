//! `cloture status`: one poll, then where every pull request and thread stands, for people and for scripts.

mod json;
mod table;

use crate::app::connection::ConnectionSettings;
use crate::app::selection::{self, Selection};
use crate::app::session::existing_journal;
use crate::config::Config;
use crate::domain::policy::Policy;
use crate::domain::review_loop::{LoopEvent, Phase, ReviewLoop, Transition};
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::ReviewerName;
use crate::failure::{Failure, FailureKind};
use crate::github::poll::{BudgetStatus, PollEvent, PollSettings};
use crate::github::read::{CallCost, PullRequestRead};
use crate::github::{Poller, PullRequestAddress, PullRequestRef, Reader};
use crate::journal::{Journal, PullRequestKey};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::computed_state::{ComputedState, RepositoryRules};
use crate::supervisor::history::History;
use crate::supervisor::people::stored;
use jiff::Timestamp;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Everything one poll told.
#[derive(Debug)]
pub struct StatusReport {
    pub pull_requests: Vec<PullRequestStatus>,
    pub spent: CallCost,
    pub budget: BudgetStatus,
    /// What could not be shown, and why.
    pub failures: Vec<Failure>,
    policy: Policy,
}

/// Where one pull request stands.
#[derive(Debug)]
pub struct PullRequestStatus {
    pub standing: ComputedState,
    pub review_loop: ReviewLoop,
    pub waiting_for: Vec<ReviewerName>,
}

/// Finds out which pull requests are meant, looks at each once and works out where it stands. What people decided is in the
/// journal, where there is one; none is made.
pub async fn status(
    arguments: &[String],
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    now: Timestamp,
) -> Result<StatusReport, Failure> {
    let host = settings.host()?;
    let named = selection::named(arguments, &host)?;
    let forge = settings.connect(host).await?;
    let selection = selection::select(named, settings, &forge.client).await?;
    let reader = Arc::new(Reader::new(forge.client));
    // What GitHub says is worth telling also where the journal cannot be used.
    let (journal, trouble) = match existing_journal(settings, state_folder, now).await {
        Ok(journal) => (journal, None),
        Err(failure) => (None, Some(failure)),
    };
    let look = StatusOptions { config: settings.config, profiles, journal: journal.as_ref(), now, times: 1 };
    let mut status = look.at(&selection, &reader).await;
    status.failures.extend(trouble);
    Ok(status)
}

/// How to look.
pub(crate) struct StatusOptions<'a> {
    pub(crate) config: &'a Config,
    pub(crate) profiles: &'a Profiles,
    /// What people decided is there.
    pub(crate) journal: Option<&'a Journal>,
    pub(crate) now: Timestamp,
    /// How often to poll; the last tells the price of a poll once everything is known.
    pub(crate) times: u32,
}

impl StatusOptions<'_> {
    pub(crate) async fn at(
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
        let mut snapshots = Vec::new();
        for round in 0..self.times {
            let report = poller
                .poll(now, |sighting| match sighting {
                    PollEvent::Read { .. } | PollEvent::Gone(_) | PollEvent::Failed(..) if round > 0 => {}
                    PollEvent::Read { read, .. } => {
                        failures.extend(gaps(&read));
                        snapshots.push(read.snapshot);
                    }
                    PollEvent::Gone(address) => failures.push(Failure::usage(format_args!(
                        "{address} is not there: it was deleted or renamed, or the token may not see it"
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
        let place = |snapshot: &PullRequestSnapshot| {
            let PullRequestSnapshot { repository, number, .. } = snapshot;
            let here = PullRequestAddress { repository: repository.clone(), number: *number };
            selection.pull_requests.iter().position(|found| found.address == here).unwrap_or(usize::MAX)
        };
        snapshots.sort_by_key(place);
        let host = reader.transport().host().name();
        let mut pull_requests = Vec::new();
        for snapshot in snapshots {
            let (history, last) = self.remembered(host, &snapshot).await.unwrap_or_else(|failure| {
                failures.push(failure);
                (History::default(), None)
            });
            pull_requests.push(self.stand(snapshot, &history, last));
        }
        let budget = poller.budget(now);
        StatusReport { pull_requests, spent, budget, failures, policy: config.policy.clone() }
    }

    /// What the journal says about a pull request, and how far its loop had come.
    async fn remembered(
        &self,
        host: &str,
        snapshot: &PullRequestSnapshot,
    ) -> Result<(History, Option<ReviewLoop>), Failure> {
        let Some(journal) = self.journal else { return Ok((History::default(), None)) };
        let PullRequestSnapshot { repository, number, .. } = snapshot;
        let about = PullRequestKey { host: host.to_owned(), repository: repository.clone(), number: *number };
        let mut history = History::load(journal, &about).await?;
        let before = journal.last_snapshot(&about).await?;
        // Whoever supervises will record it; until then it is so all the same.
        let _not_recorded =
            stored::note_transitions(before.as_ref(), snapshot, &about, &mut history, self.now);
        let last = before.and_then(|before| ReviewLoop::deserialize(before.poll?).ok());
        Ok((history, last))
    }

    /// One observation, folded. A loop that somebody supervises at this very head is shown as it stands there.
    fn stand(
        &self,
        snapshot: PullRequestSnapshot,
        history: &History,
        last: Option<ReviewLoop>,
    ) -> PullRequestStatus {
        let policy = &self.config.policy;
        let rules = RepositoryRules::of(self.config, self.profiles, &snapshot.repository, false);
        // Nobody is dispatched for looking.
        let rules = RepositoryRules { author: false, ..rules };
        let standing = ComputedState::of(Arc::new(snapshot), history, &rules);
        let seen = &standing.seen;
        let is_open = seen.state == PullRequestState::Open;
        let waiting_for = if is_open { seen.standing(&standing.expected).missing } else { Vec::new() };
        let nobody_yet = standing.expected.is_empty() && is_open && seen.broken_glass.is_none();
        let last = last.filter(|last| last.anchor() == Some(&seen.anchor));
        let mut review_loop = last.clone().unwrap_or_else(|| ReviewLoop::new(standing.expected.clone(), 0));
        // Where no reviewer has shown itself, there is nothing that could have come in, let alone everything.
        if !nobody_yet {
            let transition = review_loop.wake(LoopEvent::Polled(seen), self.now, policy);
            if let Transition::Ignored(reason) = transition {
                tracing::debug!(reason, "the loop ignored the reading");
            }
        }
        // Looking is no attempt of whoever supervises; only an end that is plain to see is news.
        let review_loop = match last {
            Some(last) if !matches!(review_loop.phase(), Phase::Ended(_)) => last,
            _ => review_loop,
        };
        PullRequestStatus { standing, review_loop, waiting_for }
    }
}

/// What GitHub left out of an answer that it gave all the same.
fn gaps(read: &PullRequestRead) -> Vec<Failure> {
    let PullRequestSnapshot { repository, number, .. } = &read.snapshot;
    let sentence = |gap: &String| {
        Failure::new(
            FailureKind::OutOfReach,
            format_args!("{repository}#{number} was read in part only: {gap}"),
        )
    };
    read.gaps.iter().map(sentence).collect()
}
