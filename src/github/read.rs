//! Reads a pull request completely: every list to its last page.

use super::call::{ApiReply, Call, Transport};
use super::convert::{CheckPages, PullRequestParts};
use super::discover::PullRequestAddress;
use super::documents;
use super::error::{Error, RequestSent};
use super::identity::{self, Identity};
use super::limits::RateBudget;
use super::poll::{CheckDigest, Fingerprint, Totals};
use super::wire;
use crate::domain::snapshot::{Account, PullRequestSnapshot, RepositoryName, Visible};
use jiff::Timestamp;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::OnceCell;

/// Reads pull requests, and remembers what the token may not see so as not to ask for it every time.
#[derive(Debug)]
pub struct Reader<T> {
    transport: T,
    abilities: Mutex<BTreeMap<RepositoryName, Abilities>>,
    us: OnceCell<Option<Identity>>,
}

/// A pull request, and what reading it was like.
#[derive(Debug, Clone, PartialEq)]
pub struct PullRequestRead {
    pub snapshot: PullRequestSnapshot,
    /// What a light query would have told about it at that moment.
    pub fingerprint: Fingerprint,
    /// What GitHub could not deliver although it answered, in its words. Empty when the snapshot is whole.
    pub gaps: Vec<String>,
    pub spent: CallCost,
    /// What it would cost to read it again, now that it is known what the token may see.
    pub price: u64,
}

/// What some calls cost together, and what was left after the last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCost {
    pub calls: u64,
    pub points: u64,
    pub budget: Option<RateBudget>,
}

impl CallCost {
    pub fn count(&mut self, budget: Option<RateBudget>) {
        self.calls += 1;
        // What GitHub does not price costs at least a point.
        self.points += budget.and_then(|budget| budget.cost).unwrap_or(1);
        self.budget = budget.or(self.budget);
    }

    /// A call that failed was paid for as well, if it came as far as GitHub and was carried out.
    pub fn count_outcome(&mut self, outcome: &Result<ApiReply, Error>) {
        match outcome {
            Ok(reply) => self.count(reply.budget),
            Err(
                Error::RateLimited { .. }
                | Error::Unauthorised { .. }
                | Error::Transient { sent: RequestSent::No, .. },
            ) => {}
            Err(_) => self.count(None),
        }
    }

    pub fn add(&mut self, other: CallCost) {
        self.calls += other.calls;
        self.points += other.points;
        self.budget = other.budget.or(self.budget);
    }
}

/// What is known about two things that only some tokens may read.
#[derive(Debug, Clone, Default)]
struct Abilities {
    requests: Ability,
    checks: Ability,
}

/// Asked for in a query of its own until it worked once; then it may ride along at no extra cost. Once refused
/// it is not asked for again.
#[derive(Debug, Clone, Default)]
enum Ability {
    #[default]
    Unknown,
    Proven,
    Refused(String),
}

/// Page sizes for threads. A server that fails on a large page is asked for less.
const THREAD_PAGES: [u32; 3] = [100, 25, 10];

impl<T: Transport + Sync> Reader<T> {
    pub fn new(transport: T) -> Self {
        Self { transport, abilities: Mutex::default(), us: OnceCell::new() }
    }

    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Whom the token speaks for, and what GitHub's clock showed.
    pub async fn viewer(&self) -> Result<(Account, Option<Timestamp>), Error> {
        let (identity, outcome) = Identity::ask(&self.transport).await;
        Ok((identity?.account().clone(), outcome?.date))
    }

    /// Whose token it is, where a read has found that out already and GitHub says it.
    pub fn known_viewer(&self) -> Option<&Account> {
        Some(self.us.get()?.as_ref()?.account())
    }

    pub async fn read(&self, address: &PullRequestAddress) -> Result<PullRequestRead, Error> {
        let mut sizes = THREAD_PAGES.into_iter().peekable();
        loop {
            let size = sizes.next().unwrap_or(THREAD_PAGES[2]);
            match self.read_in_pages(address, size).await {
                Err(Error::Transient { sent: RequestSent::Maybe, .. }) if sizes.peek().is_some() => {}
                outcome => return outcome.map_err(|error| named(error, address)),
            }
        }
    }

    async fn read_in_pages(&self, address: &PullRequestAddress, size: u32) -> Result<PullRequestRead, Error> {
        let mut reading = ReadInProgress {
            transport: &self.transport,
            size,
            spent: CallCost::default(),
            probes: 0,
            gaps: Vec::new(),
        };
        let mut abilities = self.abilities(&address.repository);
        let us = self.us.get_or_try_init(async || reading.identity().await).await?.as_ref();
        let (name, mut pull_request) = reading.first_page(address, &mut abilities).await?;
        // A renamed repository answers under its old name; the new one is the one to show and to remember.
        let repository = RepositoryName::parse(&name).unwrap_or_else(|| address.repository.clone());

        let totals = Totals {
            reviews: pull_request
                .reviews
                .as_ref()
                .and_then(|reviews| reviews.total_count)
                .unwrap_or_default(),
            comments: pull_request.comments.total_count.unwrap_or_default(),
        };
        let mut lists = PullRequestLists::take(&mut pull_request);
        while lists.unfinished() {
            reading.next_pages(&pull_request.id, &mut lists).await?;
        }
        let mut threads = Vec::with_capacity(lists.threads.items.len());
        for mut thread in lists.threads.items {
            let comments = reading.thread_comments(&mut thread).await?;
            threads.push((thread, comments));
        }
        let review_requests = reading.review_requests(&mut pull_request, &mut abilities).await?;
        let checks = reading.checks(&mut pull_request, &mut abilities).await?;
        self.remember(&address.repository, abilities);

        let digest = checks.seen().map(|checks| checks.digest.clone().unwrap_or_default());
        let parts = PullRequestParts {
            repository,
            pull_request,
            labels: lists.labels.items,
            reviews: lists.reviews.items,
            comments: lists.comments.items,
            threads,
            timeline: lists.timeline.items,
            review_requests,
            checks,
        };
        let snapshot = parts.into_snapshot(us);
        let fingerprint = Fingerprint::of(&snapshot, totals, digest);
        let price = reading.spent.points.saturating_sub(reading.probes).max(1);
        Ok(PullRequestRead { snapshot, fingerprint, gaps: reading.gaps, spent: reading.spent, price })
    }

    fn abilities(&self, repository: &RepositoryName) -> Abilities {
        let known = self.abilities.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(repository).cloned().unwrap_or_default()
    }

    fn remember(&self, repository: &RepositoryName, abilities: Abilities) {
        let mut known = self.abilities.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(repository.clone(), abilities);
    }
}

/// One reading in progress.
struct ReadInProgress<'a, T> {
    transport: &'a T,
    size: u32,
    spent: CallCost,
    /// Calls that only found out what the token may see.
    probes: u64,
    gaps: Vec<String>,
}

impl<T: Transport + Sync> ReadInProgress<'_, T> {
    async fn send(&mut self, call: &Call) -> Result<ApiReply, Error> {
        let outcome = self.transport.send(call).await;
        self.spent.count_outcome(&outcome);
        outcome
    }

    async fn identity(&mut self) -> Result<Option<Identity>, Error> {
        let (identity, outcome) = Identity::ask(self.transport).await;
        self.spent.count_outcome(&outcome);
        self.probes += 1;
        identity::if_allowed(identity)
    }

    /// The first page of everything. What only some tokens may read rides along where it is proven to work; if
    /// it stops working, the rest is asked for without it.
    async fn first_page(
        &mut self,
        address: &PullRequestAddress,
        abilities: &mut Abilities,
    ) -> Result<(String, wire::WirePullRequest), Error> {
        loop {
            let with_requests = matches!(abilities.requests, Ability::Proven);
            let with_checks = matches!(abilities.checks, Ability::Proven);
            let call = Call::graphql(
                &documents::PULL_REQUEST,
                json!({
                    "owner": address.repository.owner(), "name": address.repository.name(), "number": address.number,
                    "threads": self.size, "threadComments": 100,
                    "withRequests": with_requests, "withChecks": with_checks,
                }),
            );
            let optional = with_requests || with_checks;
            let mut reply = match self.send(&call).await {
                Err(Error::Denied { .. }) if optional => {
                    *abilities = Abilities::default();
                    continue;
                }
                other => other?,
            };
            let answer: wire::PullRequestAnswer = reply.parse(&call)?;
            let found = answer.repository.and_then(|repository| {
                repository.pull_request.map(|pull_request| (repository.name_with_owner, pull_request))
            });
            let struck = |field: &str| reply.errors_at(field).next().is_some();
            if (with_requests && struck("reviewRequests")) || (with_checks && struck("checks")) {
                *abilities = Abilities::default();
                if found.is_none() {
                    continue;
                }
            }
            let Some(found) = found else { return Err(reply.absence(&call)) };
            self.note_gaps(&reply);
            return Ok(found);
        }
    }

    fn note_gaps(&mut self, reply: &ApiReply) {
        let optional = ["reviewRequests", "checks"];
        self.gaps.extend(
            reply
                .errors
                .iter()
                .filter(|error| !optional.iter().any(|field| error.strikes(field)))
                .map(|error| error.message.clone()),
        );
    }

    /// The next page of each list that has one.
    async fn next_pages(&mut self, id: &str, lists: &mut PullRequestLists) -> Result<(), Error> {
        let call = Call::graphql(
            &documents::PULL_REQUEST_PAGES,
            json!({
                "id": id, "threads": self.size, "threadComments": 100,
                "withLabels": lists.labels.next.is_some(), "labelsAfter": lists.labels.next,
                "withReviews": lists.reviews.next.is_some(), "reviewsAfter": lists.reviews.next,
                "withComments": lists.comments.next.is_some(), "commentsAfter": lists.comments.next,
                "withThreads": lists.threads.next.is_some(), "threadsAfter": lists.threads.next,
                "withTimeline": lists.timeline.next.is_some(), "timelineAfter": lists.timeline.next,
            }),
        );
        let mut reply = self.send(&call).await?;
        let answer: wire::PagesAnswer = reply.parse(&call)?;
        let Some(pages) = answer.node else { return Err(reply.absence(&call)) };
        self.note_gaps(&reply);
        lists.labels.append(pages.labels, &call)?;
        lists.reviews.append(pages.reviews, &call)?;
        lists.comments.append(pages.comments, &call)?;
        lists.threads.append(pages.review_threads, &call)?;
        lists.timeline.append(pages.timeline_items, &call)
    }

    async fn thread_comments(
        &mut self,
        thread: &mut wire::WireThread,
    ) -> Result<Vec<wire::WireThreadComment>, Error> {
        let mut comments = Pages::take(&mut thread.comments);
        while let Some(after) = &comments.next {
            let call = Call::graphql(&documents::THREAD_PAGES, json!({"id": thread.id, "after": after}));
            let mut reply = self.send(&call).await?;
            let answer: wire::ThreadPagesAnswer = reply.parse(&call)?;
            let Some(page) = answer.node else { return Err(reply.absence(&call)) };
            self.note_gaps(&reply);
            comments.append(page.comments, &call)?;
        }
        Ok(comments.items)
    }

    async fn review_requests(
        &mut self,
        pull_request: &mut wire::WirePullRequest,
        abilities: &mut Abilities,
    ) -> Result<Visible<Vec<wire::WireReviewRequest>>, Error> {
        if let Ability::Refused(reason) = &abilities.requests {
            return Ok(Visible::Hidden(reason.clone()));
        }
        let mut requests = Pages::default();
        let mut known = pull_request.review_requests.take();
        self.probes += u64::from(known.is_none());
        loop {
            let call = Call::graphql(
                &documents::REVIEW_REQUESTS,
                json!({"id": pull_request.id, "requestsAfter": requests.next}),
            );
            let page = match known.take() {
                Some(page) => Ok(page),
                None => match self.optional::<wire::ReviewRequestsAnswer>(&call, "reviewRequests").await? {
                    Ok(answer) => answer
                        .node
                        .and_then(|node| node.review_requests)
                        .ok_or_else(|| "GitHub did not say who is asked for a review".to_owned()),
                    Err(absence) => {
                        abilities.requests = absence.ability();
                        Err(absence.reason)
                    }
                },
            };
            match page {
                Ok(page) => requests.append(Some(page), &call)?,
                Err(reason) => return Ok(Visible::Hidden(reason)),
            }
            if requests.next.is_none() {
                abilities.requests = Ability::Proven;
                return Ok(Visible::Seen(requests.items));
            }
        }
    }

    async fn checks(
        &mut self,
        pull_request: &mut wire::WirePullRequest,
        abilities: &mut Abilities,
    ) -> Result<Visible<CheckPages>, Error> {
        if let Ability::Refused(reason) = &abilities.checks {
            return Ok(Visible::Hidden(reason.clone()));
        }
        let mut contexts = Pages::default();
        let mut suites = Vec::new();
        let mut known = pull_request.checks.take();
        self.probes += u64::from(known.is_none());
        loop {
            let call = Call::graphql(
                &documents::CHECKS,
                json!({"id": pull_request.id, "checksAfter": contexts.next}),
            );
            let page = match known.take() {
                Some(page) => Some(page),
                None => match self.optional::<wire::ChecksAnswer>(&call, "checks").await? {
                    Ok(answer) => answer.node.and_then(|node| node.checks),
                    Err(absence) => {
                        abilities.checks = absence.ability();
                        return Ok(Visible::Hidden(absence.reason));
                    }
                },
            };
            let commit = page.and_then(|page| page.into_items().next()).map(|node| node.commit);
            let Some(commit) = commit else { return Ok(Visible::Seen(CheckPages::default())) };
            if suites.is_empty() {
                suites = commit.check_suites.map(|page| page.into_items().collect()).unwrap_or_default();
            }
            let digest = commit.status_check_rollup.as_ref().map(CheckDigest::of_rollup);
            contexts.append(commit.status_check_rollup.map(|rollup| rollup.contexts.page), &call)?;
            if contexts.next.is_none() {
                abilities.checks = Ability::Proven;
                return Ok(Visible::Seen(CheckPages {
                    commit: Some(commit.oid),
                    suites,
                    contexts: contexts.items,
                    digest,
                }));
            }
        }
    }

    /// An answer that may be missing without sinking the rest. Only a bad token is everybody's problem.
    async fn optional<A: serde::de::DeserializeOwned>(
        &mut self,
        call: &Call,
        field: &str,
    ) -> Result<Result<A, Absence>, Error> {
        let mut reply = match self.send(call).await {
            Err(error @ Error::Unauthorised { .. }) => return Err(error),
            Err(error) => return Ok(Err(Absence::from(&error))),
            Ok(reply) => reply,
        };
        if let Some(error) = reply.errors_at(field).next() {
            return Ok(Err(Absence::from(&error.judge(call))));
        }
        Ok(reply.parse(call).map_err(|error| Absence::from(&error)))
    }
}

/// Why something optional is not there, and whether it is worth asking again.
struct Absence {
    reason: String,
    passing: bool,
}

impl Absence {
    fn ability(&self) -> Ability {
        if self.passing { Ability::Unknown } else { Ability::Refused(self.reason.clone()) }
    }
}

impl From<&Error> for Absence {
    fn from(error: &Error) -> Self {
        Self { reason: error.to_string(), passing: error.is_passing() }
    }
}

/// A list that is being read page by page.
#[derive(Debug)]
struct Pages<T> {
    items: Vec<T>,
    next: Option<String>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { items: Vec::new(), next: None }
    }
}

impl<T> Pages<T> {
    fn take(connection: &mut wire::WireConnection<T>) -> Self {
        let next = connection.next();
        Self { items: connection.nodes.take().into_iter().flatten().flatten().collect(), next }
    }

    /// Adds a page and moves on to the next. A cursor that does not move would never end.
    fn append(&mut self, page: Option<wire::WireConnection<T>>, call: &Call) -> Result<(), Error> {
        let asked = self.next.take();
        let Some(page) = page else { return Ok(()) };
        self.next = page.next();
        if self.next.is_some() && self.next == asked {
            return Err(Error::Malformed {
                what: call.purpose().to_owned(),
                detail: "the next page is the same page".to_owned(),
            });
        }
        self.items.extend(page.into_items());
        Ok(())
    }
}

/// The lists on a pull request itself.
struct PullRequestLists {
    labels: Pages<wire::WireLabel>,
    reviews: Pages<wire::WireReview>,
    comments: Pages<wire::WireComment>,
    threads: Pages<wire::WireThread>,
    timeline: Pages<wire::WireTimelineItem>,
}

impl PullRequestLists {
    fn take(pull_request: &mut wire::WirePullRequest) -> Self {
        Self {
            labels: pull_request.labels.as_mut().map(Pages::take).unwrap_or_default(),
            reviews: pull_request.reviews.as_mut().map(Pages::take).unwrap_or_default(),
            comments: Pages::take(&mut pull_request.comments),
            threads: Pages::take(&mut pull_request.review_threads),
            timeline: Pages::take(&mut pull_request.timeline_items),
        }
    }

    fn unfinished(&self) -> bool {
        self.labels.next.is_some()
            || self.reviews.next.is_some()
            || self.comments.next.is_some()
            || self.threads.next.is_some()
            || self.timeline.next.is_some()
    }
}

/// The same error, saying which pull request it was about.
pub(super) fn named(error: Error, address: &PullRequestAddress) -> Error {
    let rename = |what: String| format!("{what} ({address})");
    match error {
        Error::Transient { what, cause, sent } => Error::Transient { what: rename(what), cause, sent },
        Error::RateLimited { what, kind, come_back } => {
            Error::RateLimited { what: rename(what), kind, come_back }
        }
        Error::Denied { what, missing } => Error::Denied { what: rename(what), missing },
        Error::Unauthorised { what } => Error::Unauthorised { what: rename(what) },
        Error::Gone { what } => Error::Gone { what: rename(what) },
        Error::Refused { what, message } => Error::Refused { what: rename(what), message },
        Error::Malformed { what, detail } => Error::Malformed { what: rename(what), detail },
    }
}
