//! The one task that owns the connection and does the jobs in the order in which they came.

use super::Checkpoint;
use super::address::JournalAddress;
use super::error::{JournalError, StorageFault};
use super::files::InUse;
use super::store::leases::{Acquire, Leases, Release, Renew};
use super::store::records::{Append, FindRecord, FindUnconcluded, ReadPage};
use super::store::snapshots::{ForgetSnapshots, LoadSnapshots, SavePoll, SaveSnapshot};
use super::store::{Store, StoreRequest, StoreSetup};
use sqlx::Connection;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

/// A job and where its answer goes. Whoever asked may have gone; the job is done all the same.
#[derive(Debug)]
pub(super) struct PendingJob<R: StoreRequest> {
    pub(super) request: R,
    pub(super) reply: oneshot::Sender<Result<R::Answer, JournalError>>,
}

/// Declares the closed set of jobs, so that each is a value and none is a closure.
macro_rules! jobs {
    ($($name:ident,)+) => {
        #[derive(Debug)]
        pub(super) enum JournalJob {
            $($name(PendingJob<$name>),)+
            /// The last one: everything before it is on disk when it is answered.
            Close(oneshot::Sender<Result<(), JournalError>>),
        }

        $(impl From<PendingJob<$name>> for JournalJob {
            fn from(ask: PendingJob<$name>) -> JournalJob {
                JournalJob::$name(ask)
            }
        })+

        impl Owner {
            async fn work(&mut self, job: JournalJob) {
                match job {
                    $(JournalJob::$name(ask) => {
                        let answer = self.serve(&ask.request).await;
                        let _nobody_waits = ask.reply.send(answer);
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
}

#[derive(Debug)]
pub(super) struct Owner {
    pub(super) address: JournalAddress,
    pub(super) setup: StoreSetup,
    /// None after the connection was lost: the next job connects anew.
    pub(super) store: Option<Store>,
    pub(super) in_use: Option<InUse>,
    /// Tells followers that there is something new.
    pub(super) news: watch::Sender<()>,
    pub(super) closing: Vec<oneshot::Sender<Result<(), JournalError>>>,
    pub(super) checkpoint: Option<Arc<dyn Checkpoint>>,
}

impl Owner {
    /// Runs until it is told to close or every handle is gone, and leaves nothing undone that was accepted.
    pub(super) async fn run(mut self, mut jobs: mpsc::Receiver<JournalJob>) {
        while let Some(job) = jobs.recv().await {
            self.work(job).await;
            if !self.closing.is_empty() {
                // What is in the queue is still done; nothing more gets in.
                jobs.close();
            }
        }
        let closed = match self.store.take() {
            Some(store) => {
                let closed = store.connection.close().await;
                closed.map_err(|error| StorageFault::Storage(error).told(&self.address))
            }
            None => Ok(()),
        };
        drop(self.in_use.take());
        // Followers learn of the end when they look.
        self.news.send_replace(());
        let mut first = Some(closed);
        for reply in self.closing {
            let _nobody_waits = reply.send(first.take().unwrap_or(Ok(())));
        }
    }

    /// Does a job. A connection that was lost before anything was committed is made anew, once.
    async fn serve<R: StoreRequest>(&mut self, request: &R) -> Result<R::Answer, JournalError> {
        let mut outcome = self.attempt(request).await;
        if let Err(fault) = &outcome
            && fault.lost_connection()
        {
            self.disconnect().await;
            outcome = self.attempt(request).await;
        }
        if R::CHANGES && self.checkpoint.as_ref().is_some_and(|checkpoint| !checkpoint.goes_on()) {
            std::future::pending::<()>().await;
        }
        if outcome.as_ref().is_err_and(StorageFault::ends_connection) {
            self.disconnect().await;
        }
        outcome.map_err(|fault| fault.told(&self.address))
    }

    /// The next job connects anew. That to a file is waited for: it tidies up behind itself, and must not do so when another
    /// file has that name.
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
                    connecting.unwrap_or_else(|| Err(JournalError::silent(&self.address, seconds).into()))?,
                )
            }
        };
        let Some(outcome) = within(limit, request.perform(store)).await else {
            // It may have been the commit that was not answered.
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
            // The driver sends the end of a transaction that was given up only before its next statement, and until
            // then others would wait for what is locked.
            let settled = within(limit, store.connection.ping()).await;
            if !matches!(settled, Some(Ok(()))) {
                self.store = None;
            }
        }
        outcome
    }

    /// How long a server may take. A file needs no such limit: it answers, or the wait for its lock runs out.
    fn limit(&self) -> Option<Duration> {
        self.address.path().is_none().then(|| self.setup.patience * 2)
    }
}

/// None if it took longer.
pub(super) async fn within<T>(limit: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match limit {
        Some(limit) => timeout(limit, work).await.ok(),
        None => Some(work.await),
    }
}
