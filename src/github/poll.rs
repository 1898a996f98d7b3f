//! Watches many pull requests for few points.
//!
//! A light query looks at up to forty of them for one point; only what changed is read in full. Resolving a thread
//! and finishing a check bump no time stamp, so the light query looks at the threads' flags and counts the checks.
//! What it cannot see, the edit of an older comment, is caught by a slow sweep that reads each pull request once
//! an hour, spread over the hour. So a push, a merge, a resolved thread, a new or last comment show within the
//! interval, an edit within the sweep; a single pull request is simply read each time, edits included.
//!
//! What to ask is decided in [`Schedule`], what can be afforded in [`PointLedger`], both pure; [`Poller`] only asks.

mod fingerprint;
mod ledger;
mod schedule;

pub(super) use fingerprint::Totals;
pub use fingerprint::{CheckDigest, Fingerprint, FingerprintChange};
pub use ledger::{BudgetStatus, PointLedger};
pub use schedule::{Batch, FullReadReason, PollPlan, Schedule};

use super::call::{ApiReply, Call, PathStep, Transport};
use super::discover::PullRequestAddress;
use super::documents;
use super::error::{Error, RetryAfter};
use super::read::{CallCost, PullRequestRead, Reader};
use super::wire;
use jiff::Timestamp;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// As many as one point pays for: four lists for each, and 149 requests still round to one point.
pub const BATCH_WITH_CHECKS: usize = 37;

/// Without the checks it is three lists; more than forty at once lose items.
pub const BATCH: usize = 40;

/// Asks GitHub what the schedule wants to know.
#[derive(Debug)]
pub struct Poller<T> {
    reader: Arc<Reader<T>>,
    schedule: Schedule,
    ledger: PointLedger,
    settings: PollSettings,
}

#[derive(Debug, Clone, Copy)]
pub struct PollSettings {
    pub interval: Duration,
    pub sweep: Duration,
    /// Full reads at the same time; GitHub allows a hundred of everything together.
    pub at_once: usize,
}

impl Default for PollSettings {
    fn default() -> Self {
        Self { interval: Duration::from_mins(1), sweep: Duration::from_hours(1), at_once: 4 }
    }
}

/// What a poll found, told as it is found.
#[derive(Debug, Clone, PartialEq)]
pub enum PollEvent {
    Read {
        read: Box<PullRequestRead>,
        why: FullReadReason,
    },
    /// It does not exist any more, or not for this token. Until it is forgotten, it is looked for once a sweep.
    Gone(PullRequestAddress),
    /// It could not be looked at; the next poll tries again.
    Failed(PullRequestAddress, Error),
}

/// How a poll went.
#[derive(Debug, Clone, PartialEq)]
pub struct PollReport {
    pub spent: CallCost,
    /// Nothing more may be asked before this; the poll stopped there and the next one takes up the rest.
    pub limited: Option<(RetryAfter, Error)>,
    pub budget: BudgetStatus,
}

impl<T: Transport + Send + Sync + 'static> Poller<T> {
    pub fn new(reader: Arc<Reader<T>>, settings: PollSettings) -> Self {
        Self { reader, schedule: Schedule::new(settings.sweep), ledger: PointLedger::default(), settings }
    }

    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Which pull requests are watched.
    pub fn schedule_mut(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    /// The budget, and how long to wait for the next poll.
    pub fn budget(&self, now: Timestamp) -> BudgetStatus {
        self.ledger.status(now, self.settings.interval)
    }

    /// Looks at everything once, and tells each sighting as soon as it is there: nothing is kept until the end.
    pub async fn poll(&mut self, now: Timestamp, mut tell: impl FnMut(PollEvent)) -> PollReport {
        let plan = self.schedule.plan(now);
        let mut poll = PollInProgress { spent: CallCost::default(), recurring: 0, limited: None };
        let mut full = plan.full;
        for batch in plan.light {
            if poll.limited.is_none() {
                self.look(&batch, now, &mut poll, &mut full, &mut tell).await;
            }
        }
        self.read_all(full, now, &mut poll, &mut tell).await;
        self.ledger.record(poll.spent, poll.recurring);
        PollReport { spent: poll.spent, limited: poll.limited, budget: self.budget(now) }
    }

    /// One light query. What changed is added to what will be read in full.
    async fn look(
        &mut self,
        batch: &Batch,
        now: Timestamp,
        poll: &mut PollInProgress,
        full: &mut Vec<(PullRequestAddress, FullReadReason)>,
        tell: &mut impl FnMut(PollEvent),
    ) {
        let (reply, answer, with_checks) = match self.light(batch, poll).await {
            Ok(light) => light,
            Err(error) => {
                poll.failed(batch.members.iter().map(|(address, _)| address), &error, tell);
                return;
            }
        };
        let unreadable = struck(&reply, Some("statusCheckRollup"));
        let missing = struck(&reply, None);
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
                    tell(PollEvent::Gone(address.clone()));
                } else {
                    tell(PollEvent::Failed(address.clone(), reply.absence(&call)));
                }
                continue;
            };
            // The checks were refused for this one: the fingerprint must not claim that there are none.
            if !checks {
                node.status_check_rollup = None;
            }
            let threads = match self.further_threads(id, &node, poll).await {
                Ok(threads) => threads,
                Err(error) => {
                    poll.failed([address], &error, tell);
                    continue;
                }
            };
            match Fingerprint::of_light(node, threads, checks) {
                Some(seen) => {
                    full.extend(self.schedule.observe_light(address, seen).map(|why| (address.clone(), why)));
                }
                None => tell(PollEvent::Gone(address.clone())),
            }
        }
    }

    /// Asks with the checks, and without them where they would sink the rest.
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

    /// The flags of the threads that a light query has no room for.
    async fn further_threads(
        &self,
        id: &str,
        node: &wire::LightNode,
        poll: &mut PollInProgress,
    ) -> Result<Vec<wire::LightThread>, Error> {
        let mut threads = Vec::new();
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
            after = page.next().filter(|next| *next != cursor);
            threads.extend(page.into_items());
        }
        Ok(threads)
    }

    /// Reads in full, a few at once. At a limit nothing more is begun.
    async fn read_all(
        &mut self,
        full: Vec<(PullRequestAddress, FullReadReason)>,
        now: Timestamp,
        poll: &mut PollInProgress,
        tell: &mut impl FnMut(PollEvent),
    ) {
        let mut waiting = full.into_iter();
        let mut running = JoinSet::new();
        loop {
            while running.len() < self.settings.at_once.max(1)
                && poll.limited.is_none()
                && let Some((address, why)) = waiting.next()
            {
                let reader = Arc::clone(&self.reader);
                running.spawn(async move {
                    let outcome = reader.read(&address).await;
                    (address, why, outcome)
                });
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
                    tell(PollEvent::Read { read: Box::new(read), why });
                }
                Err(error @ Error::Gone { .. }) => {
                    poll.spent.count_outcome(&Err(error));
                    self.schedule.observe_gone(&address, now);
                    tell(PollEvent::Gone(address));
                }
                Err(error) => {
                    poll.failed([&address], &error, tell);
                    poll.spent.count_outcome(&Err(error));
                }
            }
        }
    }
}

/// One poll in progress.
struct PollInProgress {
    spent: CallCost,
    recurring: u64,
    limited: Option<(RetryAfter, Error)>,
}

impl PollInProgress {
    fn count(&mut self, outcome: &Result<ApiReply, Error>) {
        let before = self.spent.points;
        self.spent.count_outcome(outcome);
        self.recurring += self.spent.points - before;
    }

    /// A limit concerns everybody and is told once; anything else is told of each that it kept from being seen.
    fn failed<'a>(
        &mut self,
        addresses: impl IntoIterator<Item = &'a PullRequestAddress>,
        error: &Error,
        tell: &mut impl FnMut(PollEvent),
    ) {
        if let Error::RateLimited { come_back, .. } = error {
            self.limited = Some((*come_back, error.clone()));
            return;
        }
        for address in addresses {
            tell(PollEvent::Failed(address.clone(), error.clone()));
        }
    }
}

/// Which of the nodes an error struck: at a field, or (where none is named) the node itself as not found.
fn struck(reply: &ApiReply, field: Option<&str>) -> BTreeSet<usize> {
    let concerns = |error: &&super::call::GraphqlError| match field {
        Some(field) => error.strikes(field),
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
