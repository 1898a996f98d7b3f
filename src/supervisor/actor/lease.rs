//! The lease: which of several instances drives this pull request.

use super::PullRequestActor;
use crate::journal::{Acquired, Journal, JournalError, Lease, RecordFilter, instance};
use crate::supervisor::view::DriverRole;
use jiff::{SignedDuration, Timestamp};
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

#[derive(Debug)]
pub(super) struct DriverLease {
    held: Option<Lease>,
    /// When to renew the lease, by this process's monotonic clock.
    renew_at: Option<Instant>,
    /// The database's time at a moment of this process's monotonic clock.
    database_time: Option<(Timestamp, Instant)>,
    role: DriverRole,
}

impl DriverLease {
    pub(super) fn new(read_only: bool) -> DriverLease {
        let role =
            if read_only { DriverRole::ReadOnly } else { DriverRole::Standby { holder: String::new() } };
        DriverLease { held: None, renew_at: None, database_time: None, role }
    }

    pub(super) fn held(&self) -> Option<&Lease> {
        self.held.as_ref()
    }

    pub(super) fn role(&self) -> &DriverRole {
        &self.role
    }

    pub(super) fn is_driver(&self) -> bool {
        self.role == DriverRole::Driver
    }

    /// The time by the database's clock, which dates all records. None before the first lease.
    pub(super) fn database_now(&self) -> Option<Timestamp> {
        let (time, at) = self.database_time?;
        time.checked_add(SignedDuration::try_from(at.elapsed()).ok()?).ok()
    }

    fn is_fresh(&self) -> bool {
        self.held.is_some() && self.renew_at.is_some_and(|at| Instant::now() < at)
    }

    fn hold(&mut self, lease: Lease, asked_at: Instant) {
        self.renew_at = Some(asked_at + lease.remaining / 2);
        let remaining = SignedDuration::try_from(lease.remaining).unwrap_or(SignedDuration::ZERO);
        self.database_time = lease.until.checked_sub(remaining).ok().map(|time| (time, asked_at));
        self.held = Some(lease);
    }

    /// Waits for work that may take longer than the lease lasts, and renews the lease meanwhile. If the lease
    /// is lost all the same, the journal refuses whatever the work leads to.
    pub(super) async fn renewed_during<T>(
        &mut self,
        journal: &Journal,
        length: Duration,
        work: impl Future<Output = T>,
    ) -> T {
        tokio::select! {
            biased;
            done = work => done,
            never = self.renew_for_ever(journal, length) => match never {},
        }
    }

    async fn renew_for_ever(&mut self, journal: &Journal, length: Duration) -> Infallible {
        loop {
            self.renewal_is_due().await;
            let Some(lease) = self.held.clone() else { return std::future::pending().await };
            let asked_at = Instant::now();
            match journal.renew(&lease, length).await {
                Ok(lease) => self.hold(lease, asked_at),
                Err(JournalError::LeaseLost(_)) => {
                    tracing::warn!("the lease was lost while work was under way");
                    return std::future::pending().await;
                }
                Err(error) => {
                    tracing::warn!(%error, "could not renew the lease");
                    self.renew_at = Some(Instant::now() + length / 10);
                }
            }
        }
    }

    /// Returns when half of the lease's time is gone. Without a lease, it never returns.
    pub(super) async fn renewal_is_due(&self) {
        match (&self.held, self.renew_at) {
            (Some(_), Some(at)) => sleep_until(at).await,
            _ => std::future::pending().await,
        }
    }
}

impl PullRequestActor {
    /// Takes or renews the lease, by the database's clock. A lease with more than half of its time left is
    /// not renewed: each poll of hundreds of pull requests would otherwise write as many times.
    pub(super) async fn keep_lease(&mut self) -> Result<(), JournalError> {
        if self.context.read_only || self.lease.is_fresh() {
            return Ok(());
        }
        let asked_at = Instant::now();
        let acquired = self
            .context
            .journal
            .acquire(&self.key, self.context.instance.clone(), self.context.lease)
            .await?;
        match acquired {
            Acquired::Held(lease) => {
                // An epoch in between is another instance's: it drove while this one did not notice.
                if self.lease.held.as_ref().is_some_and(|before| lease.epoch > before.epoch + 1) {
                    self.stand_by("another instance".to_owned());
                }
                let is_new = self.lease.held.is_none();
                self.lease.hold(lease, asked_at);
                if is_new {
                    self.catch_up().await?;
                }
                if !self.lease.is_driver() {
                    tracing::info!("this instance drives now");
                }
                self.lease.role = DriverRole::Driver;
            }
            Acquired::Taken(lease) => {
                let holder = instance::shown(&lease.holder, &self.context.instance).to_owned();
                self.stand_by(holder);
            }
        }
        Ok(())
    }

    /// Keeps the lease while a program of this instance runs.
    pub(super) async fn renew_for_programs(&mut self) {
        let role = self.lease.role.clone();
        if let Err(error) = self.keep_lease().await {
            self.failed(&error, false);
            // The journal may be back before the lease ends.
            self.lease.renew_at = Some(Instant::now() + self.context.lease / 10);
        }
        if self.lease.role != role {
            self.publish();
        }
    }

    /// A new driver first reads every record of the driver before it, and continues the loop where that one
    /// stored it.
    async fn catch_up(&mut self) -> Result<(), JournalError> {
        let filter = RecordFilter::about(&self.key);
        let mut is_news = false;
        for record in self.context.journal.records(filter).await? {
            is_news |= self.history.learn(&record);
        }
        if is_news {
            self.recompute_latest();
        }
        if matches!(&self.lease.role, DriverRole::Standby { holder } if !holder.is_empty()) {
            let stored = self.context.journal.last_snapshot(&self.key).await?;
            self.progress.restore(stored.as_ref().and_then(|stored| stored.poll.as_ref()), &self.history);
            if let Some(snapshot) = self.latest.snapshot().cloned() {
                // The driver before may have stopped before it recorded changes that this instance has read.
                let before = stored.as_ref().map(|stored| &stored.snapshot);
                self.record_thread_changes(before, &snapshot).await?;
            }
        }
        Ok(())
    }

    pub(super) fn stand_by(&mut self, holder: String) {
        self.lease.held = None;
        self.lease.role = DriverRole::Standby { holder };
        // Programs that this instance started as the driver are now the new driver's to run.
        self.programs.abort();
    }

    /// Gives the lease back, so that an instance on standby need not wait for it to expire.
    pub(super) async fn release_lease(&mut self) {
        let lease = self.lease.held.take();
        self.stand_by(String::new());
        if let Some(lease) = lease {
            // If the journal does not take it back, the lease expires by itself.
            let _expires = self.context.journal.release(&lease).await;
        }
    }
}
