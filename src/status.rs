//! `cloture status`: one poll, then where every pull request and thread stands, for people and for scripts.

mod json;
mod table;

use crate::config::Config;
use crate::domain::observed::{self, Observed, UnownedThread};
use crate::domain::policy::Policy;
use crate::domain::post::Reads;
use crate::domain::pull_request::PrState;
use crate::domain::review_loop::{ReviewLoop, Wake};
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::vocabulary::ReviewerName;
use crate::failure::{Failure, Kind};
use crate::forge::{self, Settings, Targets};
use crate::github::poll::{BudgetStatus, PollSettings, Sighting};
use crate::github::read::{Read, Spent};
use crate::github::{Poller, PullRequestAddress, Reader};
use crate::reviewers::profiles::Profiles;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Everything one poll told.
#[derive(Debug)]
pub struct Status {
    pub pull_requests: Vec<Standing>,
    pub spent: Spent,
    pub budget: BudgetStatus,
    /// What could not be shown, and why.
    pub failures: Vec<Failure>,
    policy: Policy,
}

/// Where one pull request stands.
#[derive(Debug)]
pub struct Standing {
    pub snapshot: PullRequestSnapshot,
    pub observed: Observed,
    /// Threads that no recognised reviewer opened.
    pub unowned: Vec<UnownedThread>,
    /// Every reviewer that left something here or was asked to.
    pub recognised: BTreeSet<ReviewerName>,
    pub review_loop: ReviewLoop,
    pub waiting_for: Vec<ReviewerName>,
}

/// Finds out which pull requests are meant, looks at each once and works out where it stands.
pub async fn status(
    arguments: &[String],
    settings: &Settings<'_>,
    profiles: &Profiles,
    now: Timestamp,
) -> Result<Status, Failure> {
    let host = settings.host()?;
    let named = forge::named(arguments, &host)?;
    let forge = settings.connect(host).await?;
    let targets = forge::targets(named, settings, &forge.client).await?;
    let reader = Arc::new(Reader::new(forge.client));
    Ok(look(&targets, &reader, settings.config, profiles, now, 1).await)
}

/// Polls so many times; the last tells the price of a poll once everything is known.
pub(crate) async fn look(
    targets: &Targets,
    reader: &Arc<Reader<crate::github::Client>>,
    config: &Config,
    profiles: &Profiles,
    now: Timestamp,
    times: u32,
) -> Status {
    let interval = config.policy.poll_interval;
    let mut poller = Poller::new(Arc::clone(reader), PollSettings { interval, ..PollSettings::default() });
    for (address, id) in &targets.pull_requests {
        poller.schedule_mut().track(address.clone(), id.clone());
    }
    let mut failures = targets.failures.clone();
    let mut spent = targets.spent;
    let mut standings = Vec::new();
    for round in 0..times {
        let report = poller
            .poll(now, |sighting| match sighting {
                Sighting::Read { .. } | Sighting::Gone(_) | Sighting::Failed(..) if round > 0 => {}
                Sighting::Read { read, .. } => {
                    failures.extend(gaps(&read));
                    standings.push(stand(read.snapshot, config, profiles, now));
                }
                Sighting::Gone(address) => failures.push(Failure::usage(format_args!(
                    "{address} is not there: it was deleted or renamed, or the token may not see it"
                ))),
                Sighting::Failed(address, error) => failures.push(Failure::about(&address, &error)),
            })
            .await;
        spent.add(report.spent);
        if let Some((_, error)) = report.limited {
            failures.push(Failure::new(Kind::OutOfReach, error));
            break;
        }
    }
    let place = |standing: &Standing| {
        let PullRequestSnapshot { repository, number, .. } = &standing.snapshot;
        let here = PullRequestAddress { repository: repository.clone(), number: *number };
        targets.pull_requests.iter().position(|(address, _)| *address == here).unwrap_or(usize::MAX)
    };
    standings.sort_by_key(place);
    let budget = poller.budget(now);
    Status { pull_requests: standings, spent, budget, failures, policy: config.policy.clone() }
}

/// What GitHub left out of an answer that it gave all the same.
fn gaps(read: &Read) -> Vec<Failure> {
    let PullRequestSnapshot { repository, number, .. } = &read.snapshot;
    let sentence = |gap: &String| {
        Failure::new(Kind::OutOfReach, format_args!("{repository}#{number} was read in part only: {gap}"))
    };
    read.gaps.iter().map(sentence).collect()
}

/// One observation, folded. Reviewers are those recognised here and those configured.
fn stand(snapshot: PullRequestSnapshot, config: &Config, profiles: &Profiles, now: Timestamp) -> Standing {
    let reads: &dyn Reads = profiles;
    let observed = observed::observe(&snapshot, &[], reads, &config.policy);
    let unowned = observed::unowned(&snapshot, reads);
    let recognised = observed::reviewers(&snapshot, reads);
    let mut expected = recognised.clone();
    expected.extend(config.reviewers.iter().map(|reviewer| reviewer.name.clone()));
    let seen = observed::observation(&snapshot, &observed, reads, &config.break_glass, false);
    let is_open = seen.state == PrState::Open;
    let waiting_for = if is_open { seen.standing(&expected).missing } else { Vec::new() };
    let nobody_yet = expected.is_empty() && is_open && seen.broken_glass.is_none();
    let mut review_loop = ReviewLoop::new(expected, 0);
    // Where no reviewer has shown itself, there is nothing that could have come in, let alone everything.
    if !nobody_yet {
        review_loop.wake(Wake::Polled(&seen), now, &config.policy);
    }
    Standing { snapshot, observed, unowned, recognised, review_loop, waiting_for }
}
