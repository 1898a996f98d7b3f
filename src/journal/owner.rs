//! The task that owns the connection and runs the jobs in the order of their arrival.

use super::Checkpoint;
use super::address::JournalAddress;
use super::error::{JournalError, StorageFault};
use super::files::InUse;
use super::store::leases::{Acquire, Leases, Release, Renew};
use super::store::records::{Append, FindRecord, FindUnconcluded, ReadPage};
use super::store::repositories::{FirstFiling, LearnRepository, LoadRepositories};
use super::store::snapshots::{ForgetSnapshots, LoadSnapshots, SavePoll, SaveSnapshot};
use super::store::{CheckWritable, Store, StoreRequest, StoreSetup};
use sqlx::Connection;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};

/// A job and the channel for its answer. The job runs even if the caller is gone.
#[derive(Debug)]
pub(super) struct PendingJob<R: StoreRequest> {
    pub(super) request: R,
    pub(super) reply: oneshot::Sender<Result<R::Answer, JournalError>>,
}

/// Declares the closed set of jobs. Each is a value and not a closure.
macro_rules! jobs {
    ($($name:ident,)+) => {
        #[derive(Debug)]
        pub(super) enum JournalJob {
            $($name(PendingJob<$name>),)+
            /// The last job: when it is answered, all jobs before it are on disk.
            Close(oneshot::Sender<Result<(), JournalError>>),
        }

        $(impl From<PendingJob<$name>> for JournalJob {
            fn from(pending: PendingJob<$name>) -> JournalJob {
                JournalJob::$name(pending)
            }
        })+

        impl Owner {
            async fn work(&mut self, job: JournalJob) {
                match job {
                    $(JournalJob::$name(pending) => {
                        let started = Instant::now();
                        let answer = self.serve(&pending.request).await;
                        log(stringify!($name), started.elapsed(), answer.as_ref().err());
                        let _nobody_waits = pending.reply.send(answer);
                        if $name::IS_NEWS {
                            self.news.send_replace(());
                        }
                    })+
                    JournalJob::Close(reply) => self.closing.push(reply),
                }
            }
        }
    };
}

jobs! {
    Append,
    FindRecord,
    ReadPage,
    FindUnconcluded,
    Acquire,
    Renew,
    Release,
    Leases,
    SavePoll,
    SaveSnapshot,
    ForgetSnapshots,
    LoadSnapshots,
    LoadRepositories,
    LearnRepository,
    FirstFiling,
    CheckWritable,
}

#[derive(Debug)]
pub(super) struct Owner {
    pub(super) address: JournalAddress,
    pub(super) setup: StoreSetup,
    /// None after the connection was lost; the next job connects again.
    pub(super) store: Option<Store>,
    pub(super) in_use: Option<InUse>,
    /// Wakes the followers.
    pub(super) news: watch::Sender<()>,
    pub(super) closing: Vec<oneshot::Sender<Result<(), JournalError>>>,
    pub(super) checkpoint: Option<Arc<dyn Checkpoint>>,
}

impl Owner {
    /// Runs until a close job or until every handle is gone. It finishes every accepted job.
    pub(super) async fn run(mut self, mut jobs: mpsc::Receiver<JournalJob>) {
        while let Some(job) = jobs.recv().await {
            self.work(job).await;
            if !self.closing.is_empty() {
                // The jobs in the queue still run; the queue accepts no more.
                jobs.close();
            }
        }
        let closed = match self.store.take() {
            Some(store) => {
                let closed = store.connection.close().await;
                closed.map_err(|error| StorageFault::Storage(error).into_journal_error(&self.address))
            }
            None => Ok(()),
        };
        drop(self.in_use.take());
        // Followers notice the end when they wake.
        self.news.send_replace(());
        let mut first = Some(closed);
        for reply in self.closing {
            let _nobody_waits = reply.send(first.take().unwrap_or(Ok(())));
        }
    }

    /// Runs a job. If the connection was lost before the commit, it connects again and retries once.
    async fn serve<R: StoreRequest>(&mut self, request: &R) -> Result<R::Answer, JournalError> {
        let mut outcome = self.attempt(request).await;
        if let Err(fault) = &outcome
            && fault.lost_connection()
        {
            tracing::warn!(place = %self.address, "lost the connection to the journal; connecting again");
            self.disconnect().await;
            outcome = self.attempt(request).await;
        }
        if R::CHANGES && self.checkpoint.as_ref().is_some_and(|checkpoint| !checkpoint.goes_on()) {
            std::future::pending::<()>().await;
        }
        if outcome.as_ref().is_err_and(StorageFault::ends_connection) {
            self.disconnect().await;
        }
        outcome.map_err(|fault| fault.into_journal_error(&self.address))
    }

    /// Drops the connection; the next job connects again. Closing an SQLite file also cleans up its log,
    /// which must be finished before another file can have the same name.
    async fn disconnect(&mut self) {
        if let Some(store) = self.store.take()
            && self.address.path().is_some()
        {
            let _cannot_be_used_anyway = store.connection.close().await;
        }
    }

    async fn attempt<R: StoreRequest>(&mut self, request: &R) -> Result<R::Answer, StorageFault> {
        let limit = self.limit();
        let seconds = limit.unwrap_or_default().as_secs();
        let store = match &mut self.store {
            Some(store) => store,
            none => {
                let connecting = within(limit, Store::connect(&self.address, &self.setup)).await;
                none.insert(
                    connecting
                        .unwrap_or_else(|| Err(JournalError::no_answer(&self.address, seconds).into()))?,
                )
            }
        };
        let Some(outcome) = within(limit, request.perform(store)).await else {
            // The unanswered statement may have been the commit.
            let place = self.address.to_string();
            let why = format!("it did not answer within {seconds} s");
            let fault = if R::CHANGES {
                JournalError::Uncertain { place, why }
            } else {
                JournalError::OutOfReach { place, why }
            };
            return Err(fault.into());
        };
        if let Err(fault) = &outcome
            && !fault.ends_connection()
        {
            // The driver sends the rollback only before its next statement; without the ping, other instances
            // would wait for the locks.
            let settled = within(limit, store.connection.ping()).await;
            if !matches!(settled, Some(Ok(()))) {
                self.store = None;
            }
        }
        outcome
    }

    /// The time limit for a server. A file needs none: it answers, or the wait for its lock runs out.
    fn limit(&self) -> Option<Duration> {
        self.address.path().is_none().then(|| self.setup.patience * 2)
    }
}

/// Logs a job without its content: records and snapshots hold people's texts.
fn log(job: &str, took: Duration, error: Option<&JournalError>) {
    let took_ms = took.as_millis();
    if let Some(error) = error {
        tracing::warn!(job, took_ms, %error, "a journal job failed");
    } else {
        tracing::debug!(job, took_ms, "journal job done");
    }
}

/// None after the time limit.
pub(super) async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => timeout(limit, work).await.ok(),
        None => Some(work.await),
    }
}
