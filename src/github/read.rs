//! Reads a pull request completely: every list to its last page.

mod in_progress;
mod pages;

use super::call::{Call, Transport};
use super::convert::PullRequestParts;
use super::cost::CallCost;
use super::discover::PullRequestAddress;
use super::documents;
use super::error::{Error, RequestSent};
use super::identity::Identity;
use super::poll::{Fingerprint, Totals};
use super::reactions::ReactionCache;
use super::wire;
use crate::domain::snapshot::{Account, PullRequestSnapshot, Reaction, RepositoryName};
use in_progress::ReadInProgress;
use jiff::Timestamp;
use pages::PullRequestLists;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use tokio::sync::OnceCell;
use tracing::Instrument;

/// Reads pull requests. It remembers what the token may not see and does not ask for that again.
#[derive(Debug)]
pub struct Reader<T> {
    transport: T,
    abilities: Mutex<BTreeMap<RepositoryName, Abilities>>,
    us: OnceCell<Option<Identity>>,
    reactions: ReactionCache,
}

/// A pull request as read, with the cost and the gaps of the read.
#[derive(Debug, Clone, PartialEq)]
pub struct PullRequestRead {
    pub snapshot: PullRequestSnapshot,
    /// The fingerprint that a light query would have given at that moment.
    pub fingerprint: Fingerprint,
    /// GitHub's errors about fields that it left out. Empty when the snapshot is complete.
    pub gaps: Vec<String>,
    pub spent: CallCost,
    /// The points that the next read will cost, without the probes for permissions.
    pub price: u64,
}

impl PullRequestRead {
    /// The address under which GitHub answered. It may differ from the one that was asked for.
    pub fn address(&self) -> PullRequestAddress {
        PullRequestAddress { repository: self.snapshot.repository.clone(), number: self.snapshot.number }
    }
}

/// Whether the token may read two fields that GitHub hides from some tokens.
#[derive(Debug, Clone, Default)]
struct Abilities {
    requests: Ability,
    checks: Ability,
}

/// The reader probes such a field in a query of its own. After the first success the field joins the main
/// query at no extra cost; after a refusal the reader no longer asks for it.
#[derive(Debug, Clone, Default)]
enum Ability {
    #[default]
    Unknown,
    Proven,
    Refused(String),
}

/// Page sizes for threads. When GitHub fails on a large page, the reader asks for a smaller one.
const THREAD_PAGES: [u32; 3] = [100, 25, 10];

impl<T: Transport + Sync> Reader<T> {
    pub fn new(transport: T) -> Self {
        let (abilities, reactions) = (Mutex::default(), ReactionCache::default());
        Self { transport, abilities, us: OnceCell::new(), reactions }
    }

    /// Asks for reactions to these pull requests from now on, and to no others.
    pub fn want_reactions(&self, addresses: BTreeSet<PullRequestAddress>) {
        self.reactions.want(addresses);
    }

    /// The pull requests to ask for reactions.
    pub(super) fn wanted_reactions(&self) -> Vec<PullRequestAddress> {
        self.reactions.wanted()
    }

    /// Asks for the reactions to this pull request, and returns true if they changed.
    pub async fn refresh_reactions(&self, address: &PullRequestAddress) -> bool {
        self.reactions.refresh(&self.transport, address).await
    }

    /// The reactions as last read.
    pub fn known_reactions(&self, address: &PullRequestAddress) -> Vec<Reaction> {
        self.reactions.known(address)
    }

    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// The account of the token, and GitHub's time.
    pub async fn viewer(&self) -> Result<(Account, Option<Timestamp>), Error> {
        let (identity, outcome) = Identity::ask(&self.transport).await;
        Ok((identity?.account().clone(), outcome?.date))
    }

    /// The account of the token, if a read has already asked for it and GitHub answered.
    pub fn known_viewer(&self) -> Option<&Account> {
        Some(self.us.get()?.as_ref()?.account())
    }

    pub async fn read(&self, address: &PullRequestAddress) -> Result<PullRequestRead, Error> {
        let span = tracing::info_span!("read", pull_request = %address);
        self.read_shrinking(address).instrument(span).await
    }

    /// Reads a pull request that was read before, by its last known address. If that address belongs to
    /// another pull request now, the id decides (L13).
    pub async fn read_again(
        &self,
        address: &PullRequestAddress,
        node_id: &str,
    ) -> Result<PullRequestRead, Error> {
        let read = self.read(address).await;
        let is_another = match &read {
            Ok(read) => read.snapshot.node_id != node_id,
            Err(error) => matches!(error, Error::Gone { .. }),
        };
        if !is_another {
            return read;
        }
        match self.whereabouts(node_id).await {
            Ok(now_at) if now_at != *address => {
                let again = self.read(&now_at).await?;
                let mut spent = read.map(|read| read.spent).unwrap_or_default();
                spent.add(again.spent);
                Ok(PullRequestRead { spent, ..again })
            }
            // GitHub has another id for the same pull request now.
            Ok(_) => read,
            Err(error) => Err(with_address(error, address)),
        }
    }

    /// The present address of a pull request.
    async fn whereabouts(&self, node_id: &str) -> Result<PullRequestAddress, Error> {
        let call = Call::graphql(&documents::WHEREABOUTS, json!({"id": node_id}));
        let mut reply = self.transport.send(&call).await?;
        let answer: wire::WhereaboutsAnswer = reply.parse(&call)?;
        let found = answer.node.and_then(|node| {
            let repository = RepositoryName::parse(&node.repository?.name_with_owner)?;
            Some(PullRequestAddress { repository, number: node.number? })
        });
        found.ok_or_else(|| reply.absence(&call))
    }

    async fn read_shrinking(&self, address: &PullRequestAddress) -> Result<PullRequestRead, Error> {
        let mut sizes = THREAD_PAGES.into_iter().peekable();
        loop {
            let size = sizes.next().unwrap_or(THREAD_PAGES[2]);
            match self.read_in_pages(address, size).await {
                Err(Error::Transient { sent: RequestSent::Maybe, .. }) if sizes.peek().is_some() => {
                    tracing::info!(page_size = size, "retrying the read with smaller pages");
                }
                Err(error) if error.is_too_large() && sizes.peek().is_some() => {
                    tracing::info!(page_size = size, "the answer is too large; asking for smaller pages");
                }
                outcome => return outcome.map_err(|error| with_address(error, address)),
            }
        }
    }

    async fn read_in_pages(&self, address: &PullRequestAddress, size: u32) -> Result<PullRequestRead, Error> {
        let mut reading = ReadInProgress::new(&self.transport, size);
        let mut abilities = self.abilities(&address.repository);
        let us = self.us.get_or_try_init(async || reading.identity().await).await?.as_ref();
        let (answered_by, mut pull_request) = reading.first_page(address, &mut abilities).await?;
        // GitHub also answers under a renamed repository's old name; show and store the new one.
        let repository = RepositoryName::parse(&answered_by.name_with_owner);
        let repository = repository.unwrap_or_else(|| address.repository.clone());

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
            asked: address.repository.clone(),
            repository,
            repository_id: answered_by.id.unwrap_or_default(),
            pull_request,
            labels: lists.labels.items,
            reviews: lists.reviews.items,
            comments: lists.comments.items,
            threads,
            timeline: lists.timeline.items,
            review_requests,
            checks,
        };
        let mut snapshot = parts.into_snapshot(us);
        if self.reactions.wanted().contains(address) {
            self.refresh_reactions(address).await;
        }
        snapshot.reactions = self.known_reactions(address);
        let fingerprint = Fingerprint::of(&snapshot, totals, digest);
        let price = reading.spent.points.saturating_sub(reading.probes).max(1);
        Ok(PullRequestRead { snapshot, fingerprint, gaps: reading.gaps, spent: reading.spent, price })
    }

    fn abilities(&self, repository: &RepositoryName) -> Abilities {
        let abilities = self.abilities.lock().unwrap_or_else(PoisonError::into_inner);
        abilities.get(repository).cloned().unwrap_or_default()
    }

    fn remember(&self, repository: &RepositoryName, abilities: Abilities) {
        let mut remembered = self.abilities.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.insert(repository.clone(), abilities);
    }
}

/// The same error with the pull request's address added.
fn with_address(error: Error, address: &PullRequestAddress) -> Error {
    let rename = |what: String| format!("{what} ({address})");
    match error {
        Error::Transient { what, cause, sent } => Error::Transient { what: rename(what), cause, sent },
        Error::RateLimited { what, kind, retry_after } => {
            Error::RateLimited { what: rename(what), kind, retry_after }
        }
        Error::Denied { what, missing } => Error::Denied { what: rename(what), missing },
        Error::Unauthorised { what } => Error::Unauthorised { what: rename(what) },
        Error::Gone { what } => Error::Gone { what: rename(what) },
        Error::Refused { what, message } => Error::Refused { what: rename(what), message },
        Error::Withheld { what, secret } => Error::Withheld { what: rename(what), secret },
        Error::Malformed { what, detail } => Error::Malformed { what: rename(what), detail },
    }
}
