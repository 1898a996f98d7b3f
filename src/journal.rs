//! The journal: everything that happened, who holds what, and the last poll of every pull request. The only place with
//! SQL.
//!
//! It is a file on this machine, or a PostgreSQL server that several people and machines share; one code path does
//! both. In reading order: [`record`] is what is kept, as callers see it; [`error`] what can go wrong; [`address`] where
//! it is. Inside, `files` guards the file, `store` holds the statements, `owner` is the one task that does jobs in
//! order, and [`follow`] reads on.
//!
//! What is absent: no record is ever changed or removed, no time comes from any clock but the database's, nothing that
//! failed is only logged, and nothing that was not committed is answered with success.

pub mod address;
pub mod error;
pub mod follow;
pub mod record;

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

use crate::domain::snapshot::PullRequestSnapshot;
use jiff::Timestamp;
use owner::{JournalJob, Owner, PendingJob};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use store::leases::{Acquire, Leases, Release, Renew};
use store::records::{Append, FindRecord, FindUnconcluded, ReadPage};
use store::snapshots::{self, ForgetSnapshots, LoadSnapshots, SavePoll, SaveSnapshot, SnapshotRow};
use store::{Store, StoreRequest, StoreSetup};
use tokio::sync::{mpsc, oneshot, watch};

/// How a journal is opened.
#[derive(Debug, Clone)]
pub struct JournalOptions {
    /// Names a damaged file that is set aside; nothing else takes the time from here.
    pub now: Timestamp,
    /// How long to wait for others that write.
    pub patience: Duration,
    /// How often a follower looks for what other instances appended.
    pub follow_every: Duration,
    /// How many pages of 4 KiB a file may have; what does not fit is refused as if the disk were full.
    pub page_limit: Option<u32>,
    /// Told of every commit; for tests of what a crash at that moment leaves.
    pub checkpoint: Option<Arc<dyn Checkpoint>>,
}

/// Decides after each commit whether the journal goes on. Where it does not, nothing is ever answered again, as if the
/// process had been killed between the commit and its answer.
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

/// A journal that was opened, and what its opener should tell people.
#[derive(Debug)]
pub struct OpenedJournal {
    pub journal: Journal,
    /// The file that was there was damaged, and a new one was begun.
    pub set_aside: Option<SetAside>,
}

/// A handle; clones of it share the one task that owns the connection. When the last is gone the task ends, but only
/// [`close`](Journal::close) waits for it.
#[derive(Debug, Clone)]
pub struct Journal {
    jobs: mpsc::Sender<JournalJob>,
    news: watch::Sender<()>,
    follow_every: Duration,
}

/// Where the answer to a job will be.
type PendingAnswer<R> = oneshot::Receiver<Result<<R as StoreRequest>::Answer, JournalError>>;

/// Jobs that may wait before whoever asks has to.
const QUEUE: usize = 32;

/// Records that are read at a time.
const PAGE: usize = 500;

impl Journal {
    /// Opens the journal, makes it where there is none, and brings it up to date.
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
                    why: "it cannot be found out where this is",
                    source,
                };
                let path = std::path::absolute(path).map_err(cannot)?;
                let (store, in_use, set_aside) = files::open(&path, &setup, now).await?;
                (JournalAddress::file(path), store, Some(in_use), set_aside)
            }
            None => (address.clone(), connected(address, &setup).await?, None, None),
        };
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (news, _) = watch::channel(());
        let (store, news_of_owner, closing) = (Some(store), news.clone(), Vec::new());
        let owner = Owner { address, setup, store, in_use, news: news_of_owner, closing, checkpoint };
        tokio::spawn(owner.run(queue));
        let journal = Journal { jobs, news, follow_every };
        if let Some(SetAside { to, why }) = &set_aside {
            let why = format!("the journal before was damaged ({why}) and is kept as {}", to.display());
            journal.append_one(NewRecord::new(SET_ASIDE, "journal").because(why)).await?;
        }
        Ok(OpenedJournal { journal, set_aside })
    }

    /// Whether it took a damaged one's place.
    pub async fn replaces_another(&self) -> Result<bool, JournalError> {
        let filter =
            RecordFilter { kind: Some(SET_ASIDE.to_owned()), limit: Some(1), ..RecordFilter::default() };
        Ok(!self.records(filter).await?.is_empty())
    }

    /// The version of the format: what was opened is of this one.
    pub const VERSION: usize = store::migrations::VERSION;

    /// Whether anything could be kept now. It leaves no trace.
    pub async fn check_writable(&self) -> Result<(), JournalError> {
        self.ask(ForgetSnapshots { pull_requests: Vec::new() }).await
    }

    /// Waits until everything that was accepted is on disk, and ends the journal for every handle.
    pub async fn close(self) -> Result<(), JournalError> {
        let (reply, answer) = oneshot::channel();
        if self.jobs.send(JournalJob::Close(reply)).await.is_err() {
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }

    // ---- Records ---------------------------------------------------------------------------------------------

    /// Appends all of these or none. When this returns they are on disk.
    pub async fn append(&self, records: Vec<NewRecord>) -> Result<Vec<Appended>, JournalError> {
        self.ask(Append { records: checked(records)?, held: None }).await
    }

    /// Appends one.
    pub async fn append_one(&self, record: NewRecord) -> Result<Appended, JournalError> {
        first(self.append(vec![record]).await?)
    }

    /// Appends all of these or none, and only while the lease is held: a holder that was cut off for too long and does
    /// not know it yet gets [`JournalError::LeaseLost`].
    pub async fn append_held(
        &self,
        lease: &Lease,
        records: Vec<NewRecord>,
    ) -> Result<Vec<Appended>, JournalError> {
        self.ask(Append { records: checked(records)?, held: Some(lease.clone()) }).await
    }

    /// The records that fit.
    pub async fn records(&self, filter: RecordFilter) -> Result<Vec<Record>, JournalError> {
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let mut beyond = None;
        while found.len() < limit {
            // Text is looked for here, so that as many records may be read as there are.
            let wanted = if filter.text.is_some() { PAGE } else { PAGE.min(limit - found.len()) };
            let page = self.page(filter.clone(), beyond, wanted).await?;
            let Some(last) = page.last() else { break };
            beyond = Some(last.seq);
            let is_last = page.len() < wanted;
            found.extend(page.into_iter().filter(|record| filter.finds(record)));
            if is_last {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// The record that a key stands for on a pull request's host, if there is one.
    pub async fn find(
        &self,
        about: &PullRequestKey,
        kind: impl Into<String>,
        key: impl Into<String>,
    ) -> Result<Option<Record>, JournalError> {
        self.ask(FindRecord { about: about.clone(), kind: kind.into(), key: key.into() }).await
    }

    /// Reads on after a record, whoever appends: 0 begins with the first.
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

    // ---- Intent, act, outcome --------------------------------------------------------------------------------

    /// Says what will be done, before it is done. Only who gets [`Appended::New`] does it: for everybody else it is
    /// under way or over. The kind of the record becomes [`INTENT`]; with a lease it is appended only while that is held.
    pub async fn intend(
        &self,
        lease: Option<&Lease>,
        key: impl Into<String>,
        record: NewRecord,
    ) -> Result<Appended, JournalError> {
        self.keyed(lease, INTENT, key.into(), record).await
    }

    /// Says what became of it. The first outcome stands. Without an intent there is nothing to conclude.
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

    /// What was intended and has no outcome, oldest first: after a crash, what may or may not have been done.
    pub async fn unconcluded(
        &self,
        pull_request: Option<&PullRequestKey>,
    ) -> Result<Vec<Record>, JournalError> {
        self.ask(FindUnconcluded { pull_request: pull_request.cloned() }).await
    }

    // ---- Leases ----------------------------------------------------------------------------------------------

    /// Takes the lease of a pull request for so long, if nobody else has it. One's own is prolonged.
    pub async fn acquire(
        &self,
        pull_request: &PullRequestKey,
        holder: impl Into<String>,
        length: Duration,
    ) -> Result<Acquired, JournalError> {
        self.ask(Acquire { pull_request: pull_request.clone(), holder: holder.into(), length }).await
    }

    /// Prolongs a lease that is still held, to so long from now.
    pub async fn renew(&self, lease: &Lease, length: Duration) -> Result<Lease, JournalError> {
        self.ask(Renew { lease: lease.clone(), length }).await
    }

    /// Gives a lease back. False if it was no longer ours to give.
    pub async fn release(&self, lease: &Lease) -> Result<bool, JournalError> {
        self.ask(Release { lease: lease.clone() }).await
    }

    /// Who holds a pull request now.
    pub async fn holder_of(&self, pull_request: &PullRequestKey) -> Result<Option<Lease>, JournalError> {
        Ok(self.ask(Leases { of: Some(pull_request.clone()) }).await?.pop())
    }

    /// Everything that is held now.
    pub async fn leases(&self) -> Result<Vec<Lease>, JournalError> {
        self.ask(Leases { of: None }).await
    }

    // ---- The last poll ---------------------------------------------------------------------------------------

    /// Keeps the last poll of a pull request in place of the one before, with whatever the poller wants back; who is no
    /// poller leaves that as it is.
    pub async fn save_snapshot(
        &self,
        host: impl Into<String>,
        snapshot: &PullRequestSnapshot,
        poll: Option<&Value>,
    ) -> Result<(), JournalError> {
        let pull_request = PullRequestKey {
            host: host.into(),
            repository: snapshot.repository.clone(),
            number: snapshot.number,
        };
        let cannot = |_| JournalError::Unfit { why: "a snapshot cannot be written as JSON" };
        // The text is as large as everything that was ever said there. Hundreds of them at once do not wait in line.
        let place = self.jobs.reserve().await.map_err(|_| JournalError::Closed)?;
        let snapshot = serde_json::to_string(snapshot).map_err(cannot)?;
        let poll = poll.map(ToString::to_string);
        let (reply, answer) = oneshot::channel();
        place.send(
            PendingJob { request: SaveSnapshot(SnapshotRow { pull_request, snapshot, poll }), reply }.into(),
        );
        answer.await.unwrap_or(Err(JournalError::Closed))
    }

    /// Keeps what the poller wants back where the rest of the last poll is as it was: a few bytes instead of all of it.
    pub async fn save_poll(&self, pull_request: &PullRequestKey, poll: &Value) -> Result<(), JournalError> {
        self.ask(SavePoll { pull_request: pull_request.clone(), poll: poll.to_string() }).await
    }

    /// Forgets pull requests that are no longer watched.
    pub async fn forget_snapshots(&self, pull_requests: Vec<PullRequestKey>) -> Result<(), JournalError> {
        self.ask(ForgetSnapshots { pull_requests }).await
    }

    /// All of them, each with its age. Those that cannot be read any more are named.
    pub async fn load_snapshots(&self) -> Result<StoredSnapshots, JournalError> {
        self.snapshots(None).await
    }

    /// One of them, if it is kept and can be read.
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
            // Megabytes of JSON must not keep a screen or a timer waiting.
            let reading = tokio::task::spawn_blocking(move || snapshots::read(stored, read));
            read = reading.await.map_err(|_| JournalError::Closed)?;
            if is_last {
                return Ok(read);
            }
        }
    }

    async fn ask<R: StoreRequest>(&self, request: R) -> Result<R::Answer, JournalError>
    where
        JournalJob: From<PendingJob<R>>,
    {
        self.submit(request).await?.await.unwrap_or(Err(JournalError::Closed))
    }

    /// Hands a job over. Once it is accepted it is done, whether or not anybody waits for the answer.
    async fn submit<R: StoreRequest>(&self, request: R) -> Result<PendingAnswer<R>, JournalError>
    where
        JournalJob: From<PendingJob<R>>,
    {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(PendingJob { request, reply }.into()).await.map_err(|_| JournalError::Closed)?;
        Ok(answer)
    }
}

/// Connects to a server and brings it up to date, within the patience there is.
async fn connected(address: &JournalAddress, setup: &StoreSetup) -> Result<Store, JournalError> {
    let limit = setup.patience * 2;
    let connecting = async {
        let mut store = Store::connect(address, setup).await?;
        store.migrate(address).await?;
        Ok(store)
    };
    match owner::within(Some(limit), connecting).await {
        Some(connected) => connected.map_err(|fault: error::StorageFault| fault.told(address)),
        None => Err(JournalError::silent(address, limit.as_secs())),
    }
}

fn checked(records: Vec<NewRecord>) -> Result<Vec<NewRecord>, JournalError> {
    records.into_iter().map(NewRecord::checked).collect()
}

/// The answer about the only record. There always is one; without it, the owner did not do its work.
fn first(mut appended: Vec<Appended>) -> Result<Appended, JournalError> {
    appended.pop().ok_or(JournalError::Closed)
}
