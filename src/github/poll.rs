//! Watches many pull requests for few points.
//!
//! A light query compares up to forty pull requests for one point, and the poller reads only the changed ones
//! in full. A resolved thread or a finished check does not change `updatedAt`, so the light query also reads
//! thread flags and check counts. It cannot see the edit of an older comment: an hourly sweep reads every
//! pull request for that. A single pull request is read in full at every poll.
//!
//! [`Schedule`] decides what to ask and [`PointLedger`] how often; both are pure. [`Poller`] sends the
//! queries.

mod fingerprint;
mod ledger;
mod schedule;

pub(super) use fingerprint::Totals;
pub use fingerprint::{CheckDigest, Fingerprint, FingerprintChange};
pub use ledger::{BudgetStatus, PointLedger};
pub use schedule::{Batch, FullReadReason, PollPlan, Schedule};

use super::call::{ApiReply, Call, PathStep, Transport};
use super::cost::CallCost;
use super::discover::PullRequestAddress;
use super::documents;
use super::error::{Error, RetryAfter};
use super::read::{PullRequestRead, Reader};
use super::wire;
use jiff::Timestamp;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tracing::Instrument;

/// The most that one point pays for: each has four lists, and GitHub rounds 149 requests down to one point.
pub const BATCH_WITH_CHECKS: usize = 37;

/// Without checks each has three lists. GitHub drops items when a query asks for more than forty.
pub const BATCH: usize = 40;

/// Carries out the polls that the schedule plans.
#[derive(Debug)]
pub struct Poller<T> {
    reader: Arc<Reader<T>>,
    schedule: Schedule,
    ledger: PointLedger,
    settings: PollSettings,
    /// The interval of the last poll, to log when it changes.
    last_interval: Duration,
}

#[derive(Debug, Clone, Copy)]
pub struct PollSettings {
    pub interval: Duration,
    pub sweep: Duration,
    /// Full reads at the same time. GitHub allows a hundred concurrent requests.
    pub at_once: usize,
}

impl Default for PollSettings {
    fn default() -> Self {
        Self { interval: Duration::from_mins(1), sweep: Duration::from_hours(1), at_once: 4 }
    }
}

/// One result of a poll. The poller reports each as soon as it has it.
#[derive(Debug, Clone, PartialEq)]
pub enum PollEvent {
    Read {
        /// The address by which the pull request is tracked. GitHub may have answered under another one.
        asked: PullRequestAddress,
        read: Box<PullRequestRead>,
        why: FullReadReason,
    },
    /// The pull request is gone, or hidden from this token. The poller looks for it again once a sweep.
    Gone(PullRequestAddress),
    /// The pull request could not be read; the next poll tries again.
    Failed(PullRequestAddress, Error),
}

/// The summary of a poll.
#[derive(Debug, Clone, PartialEq)]
pub struct PollReport {
    pub spent: CallCost,
    /// GitHub limited us, so the poll stopped; the next one continues with the rest.
    pub limited: Option<(RetryAfter, Error)>,
    pub budget: BudgetStatus,
}

impl<T: Transport + Send + Sync + 'static> Poller<T> {
    pub fn new(reader: Arc<Reader<T>>, settings: PollSettings) -> Self {
        Self {
            reader,
            schedule: Schedule::new(settings.sweep),
            ledger: PointLedger::default(),
            last_interval: settings.interval,
            settings,
        }
    }

    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// For adding and removing watched pull requests.
    pub fn schedule_mut(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    /// The budget, and the wait until the next poll.
    pub fn budget(&self, now: Timestamp) -> BudgetStatus {
        self.ledger.status(now, self.settings.interval)
    }

    /// Polls everything once. It reports each event at once, so no snapshot stays in memory until the end.
    pub async fn poll(&mut self, now: Timestamp, report: impl FnMut(PollEvent)) -> PollReport {
        self.poll_logged(now, report).instrument(tracing::info_span!("poll")).await
    }

    async fn poll_logged(&mut self, now: Timestamp, mut report: impl FnMut(PollEvent)) -> PollReport {
        let mut emit = |event: PollEvent| {
            event.log();
            report(event);
        };
        let plan = self.schedule.plan(now);
        tracing::debug!(full = plan.full.len(), light = plan.light.len(), "poll planned");
        let mut poll = PollInProgress { spent: CallCost::default(), recurring: 0, limited: None };
        let mut full = plan.full;
        for batch in plan.light {
            if poll.limited.is_none() {
                self.compare(&batch, now, &mut poll, &mut full, &mut emit).await;
            }
        }
        for address in self.reader.wanted_reactions() {
            let is_read = full.iter().any(|(read, _)| *read == address);
            if !is_read && poll.limited.is_none() && self.reader.refresh_reactions(&address).await {
                full.push((address, FullReadReason::Changed(vec![FingerprintChange::Reactions])));
            }
        }
        self.read_all(full, now, &mut poll, &mut emit).await;
        self.ledger.record(poll.spent, poll.recurring);
        let report = PollReport { spent: poll.spent, limited: poll.limited, budget: self.budget(now) };
        self.log(&report);
        report
    }

    fn log(&mut self, report: &PollReport) {
        let PollReport { spent, limited, budget } = report;
        let remaining = spent.budget.map(|budget| budget.remaining);
        let next_poll_s = budget.interval.as_secs();
        tracing::debug!(points = spent.points, remaining, next_poll_s, "poll finished");
        if let Some((retry_after, _)) = limited {
            tracing::warn!(%retry_after, "poll stopped at a rate limit");
        }
        if budget.interval != self.last_interval {
            let why = budget.stretched.as_deref().unwrap_or("the budget allows the configured interval");
            tracing::info!(next_poll_s, why, "the poll interval changed");
            self.last_interval = budget.interval;
        }
    }

    /// Sends one light query, and adds the changed pull requests to the full reads.
    async fn compare(
        &mut self,
        batch: &Batch,
        now: Timestamp,
        poll: &mut PollInProgress,
        full: &mut Vec<(PullRequestAddress, FullReadReason)>,
        emit: &mut impl FnMut(PollEvent),
    ) {
        let (reply, answer, with_checks) = match self.light(batch, poll).await {
            Ok(light) => light,
            Err(error) => {
                poll.failed(batch.members.iter().map(|(address, _)| address), &error, emit);
                return;
            }
        };
        let unreadable = failed_nodes(&reply, Some("statusCheckRollup"));
        let missing = failed_nodes(&reply, None);
        let mut nodes = answer.nodes.into_iter();
        for (index, (address, id)) in batch.members.iter().enumerate() {
            let checks = with_checks && !unreadable.contains(&index);
            if !checks {
                self.schedule.observe_no_checks(address);
            }
            let Some(mut node) = nodes.next().flatten() else {
                let gone = missing.contains(&index) || reply.errors.is_empty();
                let call = Call::graphql(&documents::LIGHT, json!({}));
                if gone {
                    self.schedule.observe_gone(address, now);
                    emit(PollEvent::Gone(address.clone()));
                } else {
                    emit(PollEvent::Failed(address.clone(), reply.absence(&call)));
                }
                continue;
            };
            // GitHub refused the checks of this one: the fingerprint must not claim that there are none.
            if !checks {
                node.status_check_rollup = None;
            }
            let threads = match self.further_threads(id, &node, poll).await {
                Ok(threads) => threads,
                Err(error) => {
                    poll.failed([address], &error, emit);
                    continue;
                }
            };
            match Fingerprint::of_light(node, threads, checks) {
                Some(fingerprint) => {
                    let reason = self.schedule.observe_light(address, fingerprint);
                    full.extend(reason.map(|reason| (address.clone(), reason)));
                }
                None => emit(PollEvent::Gone(address.clone())),
            }
        }
    }

    /// Asks with the checks, and again without them if GitHub refuses the whole query because of them.
    async fn light(
        &self,
        batch: &Batch,
        poll: &mut PollInProgress,
    ) -> Result<(ApiReply, wire::LightAnswer, bool), Error> {
        let ids: Vec<&str> = batch.members.iter().map(|(_, id)| id.as_str()).collect();
        let mut with_checks = batch.with_checks;
        loop {
            let call = Call::graphql(&documents::LIGHT, json!({"ids": ids, "withChecks": with_checks}));
            let outcome = self.reader.transport().send(&call).await;
            poll.count(&outcome);
            match outcome {
                Ok(mut reply) => {
                    let answer = reply.parse(&call)?;
                    return Ok((reply, answer, with_checks));
                }
                Err(Error::Denied { .. }) if with_checks => with_checks = false,
                Err(error) => return Err(error),
            }
        }
    }

    /// The flags of the threads beyond the first page.
    async fn further_threads(
        &self,
        id: &str,
        node: &wire::LightNode,
        poll: &mut PollInProgress,
    ) -> Result<Vec<wire::LightThread>, Error> {
        let mut threads = Vec::new();
        let mut trail = wire::CursorTrail::default();
        let mut after = node.review_threads.as_ref().and_then(wire::WireConnection::next);
        while let Some(cursor) = after {
            let call = Call::graphql(&documents::LIGHT_THREADS, json!({"id": id, "after": cursor}));
            let outcome = self.reader.transport().send(&call).await;
            poll.count(&outcome);
            let mut reply = outcome?;
            let answer: wire::LightThreadsAnswer = reply.parse(&call)?;
            let Some(page) = answer.node.and_then(|node| node.review_threads) else {
                return Err(reply.absence(&call));
            };
            trail.follow(Some(cursor), call.purpose())?;
            after = page.next();
            threads.extend(page.into_items());
        }
        Ok(threads)
    }

    /// Reads in full, a few at once. After a rate limit it starts no further read.
    async fn read_all(
        &mut self,
        full: Vec<(PullRequestAddress, FullReadReason)>,
        now: Timestamp,
        poll: &mut PollInProgress,
        emit: &mut impl FnMut(PollEvent),
    ) {
        let mut waiting = full.into_iter();
        let mut running = JoinSet::new();
        loop {
            while running.len() < self.settings.at_once.max(1)
                && poll.limited.is_none()
                && let Some((address, why)) = waiting.next()
            {
                let reader = Arc::clone(&self.reader);
                let (now_at, node_id) = self.schedule.whereabouts(&address);
                let read = async move {
                    let outcome = match node_id {
                        Some(node_id) => reader.read_again(&now_at, &node_id).await,
                        None => reader.read(&now_at).await,
                    };
                    (address, why, outcome)
                };
                running.spawn(read.in_current_span());
            }
            let Some(finished) = running.join_next().await else { return };
            let Ok((address, why, outcome)) = finished else { continue };
            match outcome {
                Ok(read) => {
                    poll.spent.add(read.spent);
                    if why != FullReadReason::New {
                        poll.recurring += read.spent.points;
                    }
                    self.schedule.observe_full(&address, &read, now);
                    emit(PollEvent::Read { asked: address, read: Box::new(read), why });
                }
                Err(error @ Error::Gone { .. }) => {
                    poll.spent.count_outcome(&Err(error));
                    self.schedule.observe_gone(&address, now);
                    emit(PollEvent::Gone(address));
                }
                Err(error) => {
                    poll.failed([&address], &error, emit);
                    poll.spent.count_outcome(&Err(error));
                }
            }
        }
    }
}

impl PollEvent {
    /// A routine full read goes to the debug log; changes and failures to the normal one.
    fn log(&self) {
        match self {
            PollEvent::Read { read, why, .. } => {
                let (repository, number) = (&read.snapshot.repository, read.snapshot.number);
                let (points, gaps) = (read.spent.points, read.gaps.len());
                match why {
                    FullReadReason::New | FullReadReason::Changed(_) => {
                        tracing::info!(%repository, number, ?why, points, gaps, "read a pull request");
                    }
                    FullReadReason::Only | FullReadReason::Sweep => {
                        tracing::debug!(%repository, number, ?why, points, gaps, "read a pull request");
                    }
                }
            }
            PollEvent::Gone(address) => tracing::info!(pull_request = %address, "not found on GitHub"),
            PollEvent::Failed(address, error) => {
                tracing::info!(pull_request = %address, %error, "could not read a pull request");
            }
        }
    }
}

struct PollInProgress {
    spent: CallCost,
    /// Points without those for the first reads of new pull requests.
    recurring: u64,
    limited: Option<(RetryAfter, Error)>,
}

impl PollInProgress {
    fn count(&mut self, outcome: &Result<ApiReply, Error>) {
        let before = self.spent.points;
        self.spent.count_outcome(outcome);
        self.recurring += self.spent.points - before;
    }

    /// A rate limit stops the poll and is reported once; any other error is reported for each pull request.
    fn failed<'a>(
        &mut self,
        addresses: impl IntoIterator<Item = &'a PullRequestAddress>,
        error: &Error,
        emit: &mut impl FnMut(PollEvent),
    ) {
        if let Error::RateLimited { retry_after, .. } = error {
            self.limited = Some((*retry_after, error.clone()));
            return;
        }
        for address in addresses {
            emit(PollEvent::Failed(address.clone(), error.clone()));
        }
    }
}

/// The indexes of the nodes with an error at this field or, without a field, of the nodes that GitHub did not
/// find.
fn failed_nodes(reply: &ApiReply, field: Option<&str>) -> BTreeSet<usize> {
    let concerns = |error: &&super::call::GraphqlError| match field {
        Some(field) => error.concerns_field(field),
        None => error.kind.as_deref() == Some("NOT_FOUND") && error.path.len() == 2,
    };
    reply
        .errors
        .iter()
        .filter(concerns)
        .filter_map(|error| match error.path.get(1) {
            Some(PathStep::Index(index)) => Some(*index),
            _ => None,
        })
        .collect()
}
