//! The statements for leases. The database's clock decides when a lease ends.

use super::{
    Store, StoreRequest, between, commit, milliseconds, now, pull_request, signed, timestamp, unsigned,
};
use crate::journal::error::{JournalError, LostLease, StorageFault};
use crate::journal::record::{Acquired, Lease, PullRequestKey};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};
use std::time::Duration;

/// Takes a free lease, or prolongs the holder's own.
#[derive(Debug)]
pub(in crate::journal) struct Acquire {
    pub(in crate::journal) pull_request: PullRequestKey,
    pub(in crate::journal) holder: String,
    pub(in crate::journal) length: Duration,
}

impl StoreRequest for Acquire {
    type Answer = Acquired;
    const CHANGES: bool = true;

    async fn perform(&self, store: &mut Store) -> Result<Acquired, StorageFault> {
        let dialect = store.dialect;
        let mut transaction = store.begin().await?;
        // The clock is read before the row is locked. A time that is too early only lets another's lease live
        // longer.
        let now = now(&mut transaction, dialect).await?;
        let until = now.saturating_add(milliseconds(self.length));
        let epoch: Option<i64> = sqlx::query_scalar(
            "INSERT INTO leases (pull_request, host, repository, number, holder, epoch, held_until) \
             VALUES ($1, $2, $3, $4, $5, 1, $6) \
             ON CONFLICT (pull_request) DO UPDATE SET \
             holder = excluded.holder, held_until = excluded.held_until, \
             epoch = leases.epoch + CASE WHEN leases.holder = excluded.holder AND leases.held_until > $7 \
             THEN 0 ELSE 1 END \
             WHERE leases.held_until <= $7 OR leases.holder = excluded.holder RETURNING epoch",
        )
        .bind(self.pull_request.canonical())
        .bind(self.pull_request.host.clone())
        .bind(self.pull_request.repository.to_string())
        .bind(signed(self.pull_request.number))
        .bind(self.holder.clone())
        .bind(until)
        .bind(now)
        .fetch_optional(&mut *transaction)
        .await?;
        let acquired = if let Some(epoch) = epoch {
            Acquired::Held(Lease {
                pull_request: self.pull_request.clone(),
                holder: self.holder.clone(),
                epoch: unsigned(epoch)?,
                until: timestamp(until)?,
                remaining: between(now, until),
            })
        } else {
            let row = sqlx::query(ONE).bind(self.pull_request.canonical()).fetch_one(&mut *transaction);
            Acquired::Taken(lease(&row.await?, now)?)
        };
        commit(transaction).await?;
        Ok(acquired)
    }
}

const ONE: &str =
    "SELECT host, repository, number, holder, epoch, held_until FROM leases WHERE pull_request = $1";

const ALL: &str =
    "SELECT host, repository, number, holder, epoch, held_until FROM leases ORDER BY pull_request";

/// Prolongs a lease that is still held.
#[derive(Debug)]
pub(in crate::journal) struct Renew {
    pub(in crate::journal) lease: Lease,
    pub(in crate::journal) length: Duration,
}

impl StoreRequest for Renew {
    type Answer = Lease;
    const CHANGES: bool = true;

    async fn perform(&self, store: &mut Store) -> Result<Lease, StorageFault> {
        let dialect = store.dialect;
        let mut transaction = store.begin().await?;
        let held_until = self.lease.locked(&mut transaction).await?;
        let now = now(&mut transaction, dialect).await?;
        if held_until <= now {
            return Err(self.lease.lost(None).into());
        }
        let until = now.saturating_add(milliseconds(self.length));
        let prolong = sqlx::query("UPDATE leases SET held_until = $1 WHERE pull_request = $2")
            .bind(until)
            .bind(self.lease.pull_request.canonical());
        prolong.execute(&mut *transaction).await?;
        commit(transaction).await?;
        Ok(Lease { until: timestamp(until)?, remaining: between(now, until), ..self.lease.clone() })
    }
}

/// Ends a lease if it is still this one, and returns whether it was.
#[derive(Debug)]
pub(in crate::journal) struct Release {
    pub(in crate::journal) lease: Lease,
}

impl StoreRequest for Release {
    type Answer = bool;
    const CHANGES: bool = true;

    async fn perform(&self, store: &mut Store) -> Result<bool, StorageFault> {
        let mut transaction = store.begin().await?;
        let ended = sqlx::query(
            "UPDATE leases SET held_until = 0 WHERE pull_request = $1 AND holder = $2 AND epoch = $3",
        )
        .bind(self.lease.pull_request.canonical())
        .bind(self.lease.holder.clone())
        .bind(signed(self.lease.epoch))
        .execute(&mut *transaction)
        .await?;
        commit(transaction).await?;
        Ok(ended.rows_affected() > 0)
    }
}

/// Reads the current leases: all, or that of one pull request.
#[derive(Debug)]
pub(in crate::journal) struct Leases {
    pub(in crate::journal) of: Option<PullRequestKey>,
}

impl StoreRequest for Leases {
    type Answer = Vec<Lease>;
    const CHANGES: bool = false;

    async fn perform(&self, store: &mut Store) -> Result<Vec<Lease>, StorageFault> {
        let now = now(&mut store.connection, store.dialect).await?;
        let query = match &self.of {
            Some(one) => sqlx::query(ONE).bind(one.canonical()),
            None => sqlx::query(ALL),
        };
        let rows = query.fetch_all(&mut store.connection).await?;
        let mut leases = Vec::new();
        for row in &rows {
            let lease = lease(row, now)?;
            if !lease.remaining.is_zero() {
                leases.push(lease);
            }
        }
        Ok(leases)
    }
}

impl Lease {
    /// Locks the lease until the end of the transaction, and returns its end. An error if another lease has
    /// replaced it.
    pub(super) async fn locked(&self, connection: &mut AnyConnection) -> Result<i64, StorageFault> {
        let until: Option<i64> = sqlx::query_scalar(
            "UPDATE leases SET epoch = epoch WHERE pull_request = $1 AND holder = $2 AND epoch = $3 \
             RETURNING held_until",
        )
        .bind(self.pull_request.canonical())
        .bind(self.holder.clone())
        .bind(signed(self.epoch))
        .fetch_optional(&mut *connection)
        .await?;
        if let Some(until) = until {
            return Ok(until);
        }
        let row = sqlx::query(ONE).bind(self.pull_request.canonical()).fetch_optional(connection).await?;
        let holder: Option<String> = row.map(|row| row.try_get(3)).transpose()?;
        Err(self.lost(holder).into())
    }

    pub(super) fn lost(&self, now_held_by: Option<String>) -> JournalError {
        JournalError::LeaseLost(Box::new(LostLease {
            pull_request: self.pull_request.clone(),
            holder: self.holder.clone(),
            epoch: self.epoch,
            now_held_by,
        }))
    }
}

fn lease(row: &AnyRow, now: i64) -> Result<Lease, sqlx::Error> {
    let until: i64 = row.try_get(5)?;
    Ok(Lease {
        pull_request: pull_request(row, 0)?.ok_or(sqlx::Error::RowNotFound)?,
        holder: row.try_get(3)?,
        epoch: unsigned(row.try_get(4)?)?,
        until: timestamp(until)?,
        remaining: between(now, until),
    })
}
