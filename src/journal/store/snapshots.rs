//! The statements for snapshots.

use super::{Store, StoreRequest, between, commit, now, pull_request, signed, timestamp};
use crate::journal::error::StorageFault;
use crate::journal::record::{PullRequestKey, StoredSnapshot, StoredSnapshots};
use sqlx::Row;

/// Replaces the snapshot of a pull request.
#[derive(Debug)]
pub(in crate::journal) struct SaveSnapshot(pub(in crate::journal) SnapshotRow);

/// A snapshot as stored; the texts are JSON.
#[derive(Debug)]
pub(in crate::journal) struct SnapshotRow {
    pub(in crate::journal) pull_request: PullRequestKey,
    pub(in crate::journal) snapshot: String,
    /// The poller's data. None leaves the stored data as it is.
    pub(in crate::journal) poll: Option<String>,
}

impl StoreRequest for SaveSnapshot {
    type Answer = ();
    const CHANGES: bool = true;

    async fn perform(&self, store: &mut Store) -> Result<(), StorageFault> {
        let SnapshotRow { pull_request, snapshot, poll } = &self.0;
        let dialect = store.dialect;
        let mut transaction = store.begin().await?;
        let now = now(&mut transaction, dialect).await?;
        let save = sqlx::query(
            "INSERT INTO snapshots (pull_request, host, repository, number, saved_at, snapshot, poll) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (pull_request) DO UPDATE SET \
             host = excluded.host, repository = excluded.repository, saved_at = excluded.saved_at, \
             snapshot = excluded.snapshot, poll = COALESCE(excluded.poll, snapshots.poll)",
        )
        .bind(pull_request.canonical())
        .bind(pull_request.host.clone())
        .bind(pull_request.repository.to_string())
        .bind(signed(pull_request.number))
        .bind(now)
        .bind(snapshot.clone())
        .bind(poll.clone());
        save.execute(&mut *transaction).await?;
        commit(transaction).await
    }
}

/// Stores the poller's data, and marks the snapshot as still current.
#[derive(Debug)]
pub(in crate::journal) struct SavePoll {
    pub(in crate::journal) pull_request: PullRequestKey,
    pub(in crate::journal) poll: String,
}

impl StoreRequest for SavePoll {
    type Answer = ();
    const CHANGES: bool = true;

    async fn perform(&self, store: &mut Store) -> Result<(), StorageFault> {
        let dialect = store.dialect;
        let mut transaction = store.begin().await?;
        let now = now(&mut transaction, dialect).await?;
        let save = sqlx::query("UPDATE snapshots SET poll = $1, saved_at = $2 WHERE pull_request = $3")
            .bind(self.poll.clone())
            .bind(now)
            .bind(self.pull_request.canonical());
        save.execute(&mut *transaction).await?;
        commit(transaction).await
    }
}

/// Removes the snapshots of pull requests that are no longer watched.
#[derive(Debug)]
pub(in crate::journal) struct ForgetSnapshots {
    pub(in crate::journal) pull_requests: Vec<PullRequestKey>,
}

impl StoreRequest for ForgetSnapshots {
    type Answer = ();
    const CHANGES: bool = true;

    async fn perform(&self, store: &mut Store) -> Result<(), StorageFault> {
        let mut transaction = store.begin().await?;
        for pull_request in &self.pull_requests {
            let forget =
                sqlx::query("DELETE FROM snapshots WHERE pull_request = $1").bind(pull_request.canonical());
            forget.execute(&mut *transaction).await?;
        }
        commit(transaction).await
    }
}

/// Loads a page of snapshots or a single one, as text: parsing so much JSON would block the owner.
#[derive(Debug)]
pub(in crate::journal) struct LoadSnapshots {
    pub(in crate::journal) of: Option<PullRequestKey>,
    /// The page begins after this one, in the order of the names.
    pub(in crate::journal) after: Option<PullRequestKey>,
}

/// Snapshots per page, so that hundreds of texts are not in memory together.
pub(in crate::journal) const PAGE: usize = 32;

/// A stored snapshot with its age.
#[derive(Debug)]
pub(in crate::journal) struct AgedSnapshotRow {
    row: SnapshotRow,
    saved_at: i64,
    now: i64,
}

impl AgedSnapshotRow {
    pub(in crate::journal) fn pull_request(&self) -> &PullRequestKey {
        &self.row.pull_request
    }
}

impl StoreRequest for LoadSnapshots {
    type Answer = Vec<AgedSnapshotRow>;
    const CHANGES: bool = false;

    async fn perform(&self, store: &mut Store) -> Result<Vec<AgedSnapshotRow>, StorageFault> {
        let now = now(&mut store.connection, store.dialect).await?;
        let name =
            |key: &Option<PullRequestKey>| key.as_ref().map(PullRequestKey::canonical).unwrap_or_default();
        let rows = sqlx::query(
            "SELECT host, repository, number, saved_at, snapshot, poll FROM snapshots \
             WHERE ($1 = '' OR pull_request = $1) AND pull_request > $2 ORDER BY pull_request LIMIT $3",
        )
        .bind(name(&self.of))
        .bind(name(&self.after))
        .bind(signed(PAGE as u64))
        .fetch_all(&mut store.connection)
        .await?;
        let mut stored = Vec::with_capacity(rows.len());
        for row in rows {
            let pull_request = pull_request(&row, 0)?.ok_or(sqlx::Error::RowNotFound)?;
            let snapshot = SnapshotRow { pull_request, snapshot: row.try_get(4)?, poll: row.try_get(5)? };
            stored.push(AgedSnapshotRow { row: snapshot, saved_at: row.try_get(3)?, now });
        }
        Ok(stored)
    }
}

/// Parses the JSON. A snapshot that another version stored in another format is listed as unreadable: the
/// poller reads it again.
pub(in crate::journal) fn read(
    stored: Vec<AgedSnapshotRow>,
    mut snapshots: StoredSnapshots,
) -> StoredSnapshots {
    for AgedSnapshotRow { row: SnapshotRow { pull_request, snapshot, poll }, saved_at, now } in stored {
        let poll = poll.map(|poll| serde_json::from_str(&poll)).transpose();
        match (serde_json::from_str(&snapshot), poll, timestamp(saved_at)) {
            (Ok(snapshot), Ok(poll), Ok(_)) => snapshots.readable.push(StoredSnapshot {
                pull_request,
                age: between(saved_at, now),
                snapshot,
                poll,
            }),
            (Err(error), _, _) | (_, Err(error), _) => {
                snapshots.unreadable.push((pull_request, error.to_string()));
            }
            (_, _, Err(error)) => snapshots.unreadable.push((pull_request, error.to_string())),
        }
    }
    snapshots
}
