//! Reads a pull request completely: every list to its last page.

mod in_progress;
mod pages;

use super::call::Transport;
use super::convert::PullRequestParts;
use super::cost::CallCost;
use super::discover::PullRequestAddress;
use super::error::{Error, RequestSent};
use super::identity::Identity;
use super::poll::{Fingerprint, Totals};
use crate::domain::snapshot::{Account, PullRequestSnapshot, RepositoryName};
use in_progress::ReadInProgress;
use jiff::Timestamp;
use pages::PullRequestLists;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::OnceCell;
use tracing::Instrument;

/// Reads pull requests. It remembers what the token may not see and does not ask for that again.
#[derive(Debug)]
pub struct Reader<T> {
    transport: T,
    abilities: Mutex<BTreeMap<RepositoryName, Abilities>>,
    us: OnceCell<Option<Identity>>,
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
        Self { transport, abilities: Mutex::default(), us: OnceCell::new() }
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

    async fn read_shrinking(&self, address: &PullRequestAddress) -> Result<PullRequestRead, Error> {
        let mut sizes = THREAD_PAGES.into_iter().peekable();
        loop {
            let size = sizes.next().unwrap_or(THREAD_PAGES[2]);
            match self.read_in_pages(address, size).await {
                Err(Error::Transient { sent: RequestSent::Maybe, .. }) if sizes.peek().is_some() => {
                    tracing::info!(page_size = size, "retrying the read with smaller pages");
                }
                outcome => return outcome.map_err(|error| with_address(error, address)),
            }
        }
    }

    async fn read_in_pages(&self, address: &PullRequestAddress, size: u32) -> Result<PullRequestRead, Error> {
        let mut reading = ReadInProgress::new(&self.transport, size);
        let mut abilities = self.abilities(&address.repository);
        let us = self.us.get_or_try_init(async || reading.identity().await).await?.as_ref();
        let (name, mut pull_request) = reading.first_page(address, &mut abilities).await?;
        // GitHub also answers under a renamed repository's old name; show and store the new one.
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
        Error::Malformed { what, detail } => Error::Malformed { what: rename(what), detail },
    }
}
