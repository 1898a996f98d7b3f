//! The journal: all records, the leases, and the last snapshot of every pull request. The only place with
//! SQL.
//!
//! It is an SQLite file, or a PostgreSQL server that several people and machines share; one code path serves
//! both. In reading order: [`record`] has the types that callers see, [`error`] the failures, [`address`] the
//! place of the journal. Inside, `files` guards the file, `store` has the statements, `owner` is the task
//! that runs the jobs in order, and [`follow`] waits for new records.
//!
//! What is absent: no record is ever changed or removed, every time comes from the database's clock, no
//! failure is only logged, and no job reports success before its commit.

pub mod address;
pub mod error;
pub mod follow;
pub mod instance;
pub mod record;
pub mod repositories;

mod files;
mod owner;
mod store;

pub use address::{JournalAddress, JournalAddressError};
pub use error::{JournalError, LostLease};
pub use files::SetAside;
pub use follow::Follower;
pub use record::{
    Acquired, Appended, INTENT, Lease, NewRecord, OUTCOME, PullRequestKey, Record, RecordFilter, RecordOrder,
    SET_ASIDE, StoredSnapshot, StoredSnapshots,
};
pub use repositories::KnownRepositories;

use crate::domain::snapshot::{PullRequestSnapshot, RepositoryName};
use jiff::Timestamp;
use owner::{JournalJob, Owner, PendingJob};
use repositories::KnownRepository;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use store::leases::{Acquire, Leases, Release, Renew};
use store::records::{Append, FindRecord, FindUnconcluded, ReadPage};
use store::repositories::{FirstFiling, LearnRepository, LoadRepositories};
use store::snapshots::{self, ForgetSnapshots, LoadSnapshots, SavePoll, SaveSnapshot, SnapshotRow};
use store::{CheckWritable, Store, StoreRequest, StoreSetup};
use tokio::sync::{mpsc, oneshot, watch};

/// How a journal is opened.
#[derive(Debug, Clone)]
pub struct JournalOptions {
    /// For the name of a damaged file that is set aside. Records take their time from the database.
    pub now: Timestamp,
    /// The wait for other writers.
    pub patience: Duration,
    /// The interval at which a follower looks for records of other instances.
    pub follow_every: Duration,
    /// The most pages of 4 KiB that the file may have. Beyond that, the journal reports a full disk.
    pub page_limit: Option<u32>,
    /// Called after every commit, so that tests can simulate a crash there.
    pub checkpoint: Option<Arc<dyn Checkpoint>>,
}

/// Decides after each commit whether the journal continues. If not, it never answers again, as if the process
/// had been killed between the commit and the answer.
pub trait Checkpoint: fmt::Debug + Send + Sync {
    fn goes_on(&self) -> bool;
}

impl JournalOptions {
    pub fn new(now: Timestamp) -> Self {
        Self {
            now,
            patience: Duration::from_secs(30),
            follow_every: Duration::from_secs(1),
            page_limit: None,
            checkpoint: None,
        }
    }
}

/// An open journal, and the notice to show if the file was damaged.
#[derive(Debug)]
pub struct OpenedJournal {
    pub journal: Journal,
    /// Set if the file was damaged and the journal started a new one.
    pub set_aside: Option<SetAside>,
}

/// A handle. Clones share the task that owns the connection. The task ends when the last handle is dropped,
/// but only [`close`](Journal::close) waits for that.
#[derive(Debug, Clone)]
pub struct Journal {
    jobs: mpsc::Sender<JournalJob>,
    news: watch::Sender<()>,
    follow_every: Duration,
}

/// The channel for the answer to a job.
type PendingAnswer<R> = oneshot::Receiver<Result<<R as StoreRequest>::Answer, JournalError>>;

/// Queue capacity; senders wait when it is full.
const QUEUE: usize = 32;

/// Records per page.
const PAGE: usize = 500;

impl Journal {
    /// Opens the journal, creates it if it is missing, and migrates it to the current format.
    pub async fn open(
        address: &JournalAddress,
        options: JournalOptions,
    ) -> Result<OpenedJournal, JournalError> {
        let JournalOptions { now, patience, follow_every, page_limit, checkpoint } = options;
        let setup = StoreSetup { patience, page_limit };
        let (address, store, in_use, set_aside) = match address.path() {
            Some(path) => {
                let cannot = |source| JournalError::Files {
                    path: path.to_owned(),
                    why: "cannot make this path absolute",
                    source,
                };
                let path = std::path::absolute(path).map_err(cannot)?;
                let (store, in_use, set_aside) = files::open(&path, &setup, now).await?;
                (JournalAddress::file(path), store, Some(in_use), set_aside)
            }
            None => (address.clone(), connected(address, &setup).await?, None, None),
        };
        tracing::info!(place = %address, "opened the journal");
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (news, _) = watch::channel(());
        let (store, news_of_owner, closing) = (Some(store), news.clone(), Vec::new());
        let owner = Owner { address, setup, store, in_use, news: news_of_owner, closing, checkpoint };
        tokio::spawn(owner.run(queue));
        let journal = Journal { jobs, news, follow_every };
        if let Some(SetAside { to, why }) = &set_aside {
            tracing::warn!(moved_to = %to.display(), why, "set a damaged journal aside");
            let why = format!("the previous journal was damaged ({why}) and is kept as {}", to.display());
            journal.append_one(NewRecord::new(SET_ASIDE, "journal").with_reason(why)).await?;
        }
        Ok(OpenedJournal { journal, set_aside })
    }

    /// Whether this journal replaced a damaged one.
    pub async fn replaces_another(&self) -> Result<bool, JournalError> {
        let filter =
            RecordFilter { kind: Some(SET_ASIDE.to_owned()), limit: Some(1), ..RecordFilter::default() };
        Ok(!self.records(filter).await?.is_empty())
    }

    /// The version of the format. Every open journal has it.
    pub const VERSION: usize = store::migrations::VERSION;

    /// Checks that the journal can be written: it writes, but nothing changes. A full disk shows only in a write.
    pub async fn check_writable(&self) -> Result<(), JournalError> {
        self.ask(CheckWritable).await
    }

    /// Waits until every accepted job is on disk, and closes the journal for all handles.
    pub async fn close(self) -> Result<(), JournalError> {
        let (reply, answer) = oneshot::channel();
        if self.jobs.send(JournalJob::Close(reply)).await.is_err() {
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }

    // ---- Records
    // ---------------------------------------------------------------------------------------------

    /// Appends all of these records or none. When it returns, they are on disk.
    pub async fn append(&self, records: Vec<NewRecord>) -> Result<Vec<Appended>, JournalError> {
        self.ask(Append { records: checked(records)?, held: None }).await
    }

    /// Appends one record.
    pub async fn append_one(&self, record: NewRecord) -> Result<Appended, JournalError> {
        first(self.append(vec![record]).await?)
    }

    /// Appends all of these records or none, and only while the lease is held. A holder whose lease has run
    /// out gets [`JournalError::LeaseLost`].
    pub async fn append_held(
        &self,
        lease: &Lease,
        records: Vec<NewRecord>,
    ) -> Result<Vec<Appended>, JournalError> {
        self.ask(Append { records: checked(records)?, held: Some(lease.clone()) }).await
    }

    /// The records that match the filter.
    pub async fn records(&self, filter: RecordFilter) -> Result<Vec<Record>, JournalError> {
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let mut beyond = None;
        while found.len() < limit {
            // The text is matched here and not in SQL, so a page may contain fewer matches than records.
            let page_size = if filter.text.is_some() { PAGE } else { PAGE.min(limit - found.len()) };
            let page = self.page(filter.clone(), beyond, page_size).await?;
            let Some(last) = page.last() else { break };
            beyond = Some(last.seq);
            let is_last = page.len() < page_size;
            found.extend(page.into_iter().filter(|record| filter.finds(record)));
            if is_last {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The record with this key on the pull request's host, if there is one.
    pub async fn find(
        &self,
        about: &PullRequestKey,
        kind: impl Into<String>,
        key: impl Into<String>,
    ) -> Result<Option<Record>, JournalError> {
        self.ask(FindRecord { about: about.clone(), kind: kind.into(), key: key.into() }).await
    }

    /// Follows the records after number `after`, from all instances. 0 begins with the first record.
    pub fn follow(&self, after: u64) -> Follower {
        Follower::new(self.clone(), after)
    }

    async fn page(
        &self,
        filter: RecordFilter,
        beyond: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, JournalError> {
        self.ask(ReadPage { filter, beyond, limit }).await
    }

    // ---- Intent, act, outcome
    // --------------------------------------------------------------------------------

    /// Records an intent before the act. Only the caller that gets [`Appended::New`] may act: otherwise
    /// another caller has begun or finished. The kind of the record becomes [`INTENT`]; with a lease, it must
    /// be held.
    pub async fn intend(
        &self,
        lease: Option<&Lease>,
        key: impl Into<String>,
        record: NewRecord,
    ) -> Result<Appended, JournalError> {
        self.keyed(lease, INTENT, key.into(), record).await
    }

    /// Records the outcome of an act. Only the first outcome counts, and there must be an intent.
    pub async fn conclude(
        &self,
        lease: Option<&Lease>,
        key: impl Into<String>,
        record: NewRecord,
    ) -> Result<Appended, JournalError> {
        self.keyed(lease, OUTCOME, key.into(), record).await
    }

    async fn keyed(
        &self,
        lease: Option<&Lease>,
        kind: &str,
        key: String,
        record: NewRecord,
    ) -> Result<Appended, JournalError> {
        let record = NewRecord { kind: kind.to_owned(), key: Some(key), ..record };
        let records = checked(vec![record])?;
        first(self.ask(Append { records, held: lease.cloned() }).await?)
    }

    /// The intents without an outcome, oldest first. After a crash these acts may or may not have happened.
    pub async fn unconcluded(
        &self,
        pull_request: Option<&PullRequestKey>,
    ) -> Result<Vec<Record>, JournalError> {
        self.ask(FindUnconcluded { pull_request: pull_request.cloned() }).await
    }

    // ---- Leases
    // ----------------------------------------------------------------------------------------------

    /// Takes the lease of a pull request, if no other instance holds it. A lease of the same holder is
    /// prolonged, so `holder` is an identity and not only a name ([`instance::unique`]).
    pub async fn acquire(
        &self,
        pull_request: &PullRequestKey,
        holder: impl Into<String>,
        length: Duration,
    ) -> Result<Acquired, JournalError> {
        self.ask(Acquire { pull_request: pull_request.clone(), holder: holder.into(), length }).await
    }

    /// Prolongs a lease that is still held, counted from now.
    pub async fn renew(&self, lease: &Lease, length: Duration) -> Result<Lease, JournalError> {
        self.ask(Renew { lease: lease.clone(), length }).await
    }

    /// Gives a lease back. False if it was no longer ours.
    pub async fn release(&self, lease: &Lease) -> Result<bool, JournalError> {
        self.ask(Release { lease: lease.clone() }).await
    }

    /// The current lease of a pull request.
    pub async fn holder_of(&self, pull_request: &PullRequestKey) -> Result<Option<Lease>, JournalError> {
        Ok(self.ask(Leases { of: Some(pull_request.clone()) }).await?.pop())
    }

    /// All current leases.
    pub async fn leases(&self) -> Result<Vec<Lease>, JournalError> {
        self.ask(Leases { of: None }).await
    }

    // ---- Repositories
    // ----------------------------------------------------------------------------------------

    /// Every repository whose id the journal knows, with its names.
    pub async fn repositories(&self) -> Result<KnownRepositories, JournalError> {
        self.ask(LoadRepositories).await
    }

    /// The key of a pull request that was just read. The journal learns the repository's id, its present name
    /// and the name that was asked for, and adds the names that it knows to the snapshot (L13).
    pub async fn identify(
        &self,
        host: &str,
        snapshot: &mut PullRequestSnapshot,
    ) -> Result<PullRequestKey, JournalError> {
        let known = self.repositories().await?;
        if snapshot.repository_id.is_empty() {
            return Ok(known.recognise(host, snapshot));
        }
        let filed_as = match known.with_id(host, &snapshot.repository_id) {
            Some(filed) => {
                let is_spelled_so = filed.name.to_string() == snapshot.repository.to_string();
                let is_known = |name: &RepositoryName| known.is_known_as(host, name, &filed.filed_as);
                if is_spelled_so && snapshot.names().all(is_known) {
                    return Ok(known.recognise(host, snapshot));
                }
                filed.filed_as.clone()
            }
            None => self.first_filing(host, snapshot, &known).await?,
        };
        let (node_id, name) = (snapshot.repository_id.clone(), snapshot.repository.clone());
        let repository = KnownRepository { host: host.to_owned(), filed_as, node_id, name };
        let names = snapshot.names().cloned().collect();
        self.ask(LearnRepository { repository, names }).await?;
        Ok(self.repositories().await?.recognise(host, snapshot))
    }

    /// The filing name of a repository whose id is new to the journal. A version without ids may have filed
    /// it under one of these names.
    async fn first_filing(
        &self,
        host: &str,
        snapshot: &PullRequestSnapshot,
        known: &KnownRepositories,
    ) -> Result<RepositoryName, JournalError> {
        for name in snapshot.names() {
            let request = FirstFiling { host: host.to_owned(), name: name.clone() };
            if known.filed(host, name).is_none()
                && let Some(filed_as) = self.ask(request).await?
            {
                return Ok(filed_as);
            }
        }
        Ok(known.unused_name(host, &snapshot.repository))
    }

    // ---- Snapshots
    // -------------------------------------------------------------------------------------------

    /// Replaces the snapshot of a pull request, and the poller's data if there is any. Callers other than the
    /// poller pass `None` and leave that data as it is.
    pub async fn save_snapshot(
        &self,
        host: impl Into<String>,
        snapshot: &PullRequestSnapshot,
        poll: Option<&Value>,
    ) -> Result<(), JournalError> {
        let pull_request = PullRequestKey {
            host: host.into(),
            repository: snapshot.filed_as().clone(),
            number: snapshot.number,
        };
        let cannot = |_| JournalError::Unfit { why: "a snapshot cannot be written as JSON" };
        // A snapshot's text is large. Reserving a place first keeps hundreds of them from waiting in memory.
        let place = self.jobs.reserve().await.map_err(|_| JournalError::Closed)?;
        let snapshot = serde_json::to_string(snapshot).map_err(cannot)?;
        let poll = poll.map(ToString::to_string);
        let (reply, answer) = oneshot::channel();
        place.send(
            PendingJob { request: SaveSnapshot(SnapshotRow { pull_request, snapshot, poll }), reply }.into(),
        );
        answer.await.unwrap_or(Err(JournalError::Closed))
    }

    /// Stores only the poller's data, when the snapshot did not change.
    pub async fn save_poll(&self, pull_request: &PullRequestKey, poll: &Value) -> Result<(), JournalError> {
        self.ask(SavePoll { pull_request: pull_request.clone(), poll: poll.to_string() }).await
    }

    /// Removes the snapshots of pull requests that are no longer watched.
    pub async fn forget_snapshots(&self, pull_requests: Vec<PullRequestKey>) -> Result<(), JournalError> {
        self.ask(ForgetSnapshots { pull_requests }).await
    }

    /// All snapshots with their ages, and the names of those that this version cannot read.
    pub async fn load_snapshots(&self) -> Result<StoredSnapshots, JournalError> {
        self.snapshots(None).await
    }

    /// The snapshot of one pull request, if it is stored and readable.
    pub async fn last_snapshot(
        &self,
        pull_request: &PullRequestKey,
    ) -> Result<Option<StoredSnapshot>, JournalError> {
        Ok(self.snapshots(Some(pull_request.clone())).await?.readable.pop())
    }

    async fn snapshots(&self, of: Option<PullRequestKey>) -> Result<StoredSnapshots, JournalError> {
        let mut read = StoredSnapshots::default();
        let mut after = None;
        loop {
            let stored = self.ask(LoadSnapshots { of: of.clone(), after }).await?;
            let is_last = stored.len() < snapshots::PAGE;
            after = stored.last().map(|last| last.pull_request().clone());
            // Megabytes of JSON must not block the screen or a timer.
            let reading = tokio::task::spawn_blocking(move || snapshots::read(stored, read));
            read = reading.await.map_err(|_| JournalError::Closed)?;
            if is_last {
                break;
            }
        }
        let known = self.repositories().await?;
        for StoredSnapshot { pull_request, snapshot, .. } in &mut read.readable {
            snapshot.known_as = known.names_of(pull_request, &snapshot.repository);
        }
        Ok(read)
    }

    async fn ask<R: StoreRequest>(&self, request: R) -> Result<R::Answer, JournalError>
    where
        JournalJob: From<PendingJob<R>>,
    {
        self.submit(request).await?.await.unwrap_or(Err(JournalError::Closed))
    }

    /// Hands a job to the owner. An accepted job is done even if the caller stops waiting.
    async fn submit<R: StoreRequest>(&self, request: R) -> Result<PendingAnswer<R>, JournalError>
    where
        JournalJob: From<PendingJob<R>>,
    {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(PendingJob { request, reply }.into()).await.map_err(|_| JournalError::Closed)?;
        Ok(answer)
    }
}

/// Connects to a server and migrates it, within a time limit.
async fn connected(address: &JournalAddress, setup: &StoreSetup) -> Result<Store, JournalError> {
    let limit = setup.patience * 2;
    let connecting = async {
        let mut store = Store::connect(address, setup).await?;
        store.migrate(address).await?;
        Ok(store)
    };
    match owner::within(Some(limit), connecting).await {
        Some(connected) => connected.map_err(|fault: error::StorageFault| fault.into_journal_error(address)),
        None => Err(JournalError::no_answer(address, limit.as_secs())),
    }
}

fn checked(records: Vec<NewRecord>) -> Result<Vec<NewRecord>, JournalError> {
    records.into_iter().map(NewRecord::checked).collect()
}

/// The only element. It is missing only if the owner ended before it finished the job.
fn first(mut appended: Vec<Appended>) -> Result<Appended, JournalError> {
    appended.pop().ok_or(JournalError::Closed)
}
