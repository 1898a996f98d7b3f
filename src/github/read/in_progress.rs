//! One read in progress: sends the queries of one pull request and collects their pages.

use super::super::call::{ApiReply, Call, Transport};
use super::super::convert::CheckPages;
use super::super::cost::CallCost;
use super::super::discover::PullRequestAddress;
use super::super::documents;
use super::super::error::Error;
use super::super::identity::{self, Identity};
use super::super::poll::CheckDigest;
use super::super::wire;
use super::pages::{Pages, PullRequestLists};
use super::{Abilities, Ability};
use crate::domain::snapshot::Visible;
use serde_json::json;

pub(super) struct ReadInProgress<'a, T> {
    transport: &'a T,
    /// Threads on a page.
    size: u32,
    pub(super) spent: CallCost,
    /// Calls that only found out what the token may see.
    pub(super) probes: u64,
    pub(super) gaps: Vec<String>,
}

impl<'a, T: Transport + Sync> ReadInProgress<'a, T> {
    pub(super) fn new(transport: &'a T, size: u32) -> Self {
        Self { transport, size, spent: CallCost::default(), probes: 0, gaps: Vec::new() }
    }

    async fn send(&mut self, call: &Call) -> Result<ApiReply, Error> {
        let outcome = self.transport.send(call).await;
        self.spent.count_outcome(&outcome);
        outcome
    }

    pub(super) async fn identity(&mut self) -> Result<Option<Identity>, Error> {
        let (identity, outcome) = Identity::ask(self.transport).await;
        self.spent.count_outcome(&outcome);
        self.probes += 1;
        identity::if_allowed(identity)
    }

    /// The first page of everything. Optional fields are part of it while they work; when one fails, the
    /// reader repeats the query without them.
    pub(super) async fn first_page(
        &mut self,
        address: &PullRequestAddress,
        abilities: &mut Abilities,
    ) -> Result<(wire::RepositoryNode, wire::WirePullRequest), Error> {
        loop {
            let with_requests = matches!(abilities.requests, Ability::Proven);
            let with_checks = matches!(abilities.checks, Ability::Proven);
            let call = Call::graphql(
                &documents::PULL_REQUEST,
                json!({
                    "owner": address.repository.owner(), "name": address.repository.name(),
                    "number": address.number,
                    "threads": self.size, "threadComments": 100,
                    "withRequests": with_requests, "withChecks": with_checks,
                }),
            );
            let optional = with_requests || with_checks;
            let mut reply = match self.send(&call).await {
                Err(Error::Denied { .. }) if optional => {
                    tracing::debug!("the token may not read an optional field; reading without it");
                    *abilities = Abilities::default();
                    continue;
                }
                other => other?,
            };
            let answer: wire::PullRequestAnswer = reply.parse(&call)?;
            let found = answer.repository.and_then(|found| Some((found.repository, found.pull_request?)));
            let failed = |field: &str| reply.errors_at(field).next().is_some();
            if (with_requests && failed("reviewRequests")) || (with_checks && failed("checks")) {
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
                .filter(|error| !optional.iter().any(|field| error.concerns_field(field)))
                .map(|error| error.message.clone()),
        );
    }

    /// The next page of each list that has one.
    pub(super) async fn next_pages(&mut self, id: &str, lists: &mut PullRequestLists) -> Result<(), Error> {
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

    pub(super) async fn thread_comments(
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

    pub(super) async fn review_requests(
        &mut self,
        pull_request: &mut wire::WirePullRequest,
        abilities: &mut Abilities,
    ) -> Result<Visible<Vec<wire::WireReviewRequest>>, Error> {
        if let Ability::Refused(reason) = &abilities.requests {
            return Ok(Visible::Hidden(reason.clone()));
        }
        let mut requests = Pages::default();
        let mut first_page = pull_request.review_requests.take();
        self.probes += u64::from(first_page.is_none());
        loop {
            let call = Call::graphql(
                &documents::REVIEW_REQUESTS,
                json!({"id": pull_request.id, "requestsAfter": requests.next}),
            );
            let page = match first_page.take() {
                Some(page) => Ok(page),
                None => match self.optional::<wire::ReviewRequestsAnswer>(&call, "reviewRequests").await? {
                    Ok(answer) => answer
                        .node
                        .and_then(|node| node.review_requests)
                        .ok_or_else(|| "GitHub did not return the review requests".to_owned()),
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

    pub(super) async fn checks(
        &mut self,
        pull_request: &mut wire::WirePullRequest,
        abilities: &mut Abilities,
    ) -> Result<Visible<CheckPages>, Error> {
        if let Ability::Refused(reason) = &abilities.checks {
            return Ok(Visible::Hidden(reason.clone()));
        }
        let mut contexts = Pages::default();
        let mut suites = Vec::new();
        let mut first_page = pull_request.checks.take();
        self.probes += u64::from(first_page.is_none());
        loop {
            let call = Call::graphql(
                &documents::CHECKS,
                json!({"id": pull_request.id, "checksAfter": contexts.next}),
            );
            let page = match first_page.take() {
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
            let digest = commit.status_check_rollup.as_ref().map(CheckDigest::of);
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

    /// The answer to an optional query. Its failure does not fail the read, unless the token is invalid.
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
            return Ok(Err(Absence::from(&error.to_error(call))));
        }
        Ok(reply.parse(call).map_err(|error| Absence::from(&error)))
    }
}

/// Why an optional field is missing, and whether it is worth asking again.
struct Absence {
    reason: String,
    is_passing: bool,
}

impl Absence {
    fn ability(&self) -> Ability {
        if self.is_passing { Ability::Unknown } else { Ability::Refused(self.reason.clone()) }
    }
}

impl From<&Error> for Absence {
    fn from(error: &Error) -> Self {
        Self { reason: error.to_string(), is_passing: error.is_passing() }
    }
}
