//! The lease: which of several instances drives this pull request.

use super::PullRequestActor;
use crate::journal::{Acquired, JournalError, Lease, RecordFilter};
use crate::supervisor::view::DriverRole;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct DriverLease {
    held: Option<Lease>,
    /// When to renew the lease, by this process's monotonic clock.
    renew_at: Option<Instant>,
    role: DriverRole,
}

impl DriverLease {
    pub(super) fn new(read_only: bool) -> DriverLease {
        let role =
            if read_only { DriverRole::ReadOnly } else { DriverRole::Standby { holder: String::new() } };
        DriverLease { held: None, renew_at: None, role }
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

    fn is_fresh(&self) -> bool {
        self.held.is_some() && self.renew_at.is_some_and(|at| Instant::now() < at)
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
                let is_new = self.lease.held.is_none();
                self.lease.renew_at = Some(asked_at + lease.remaining / 2);
                self.lease.held = Some(lease);
                if is_new {
                    self.catch_up().await?;
                }
                if !self.lease.is_driver() {
                    tracing::info!("this instance drives now");
                }
                self.lease.role = DriverRole::Driver;
            }
            Acquired::Taken(lease) => self.stand_by(lease.holder),
        }
        Ok(())
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
