//! Migrations of the tables. They only move forward.

use super::{Dialect, Store, commit, signed, unsigned};
use crate::journal::address::JournalAddress;
use crate::journal::error::{JournalError, StorageFault};

/// Each leads from one version to the next; the first creates version 1.
const MIGRATIONS: [&str; 3] = [
    include_str!("../migrations/0001_records_snapshots_leases.sql"),
    include_str!("../migrations/0002_once_for_each_host.sql"),
    include_str!("../migrations/0003_repositories_by_id.sql"),
];

/// The version of the tables that this program writes.
pub(in crate::journal) const VERSION: usize = MIGRATIONS.len();

impl Store {
    /// Migrates the tables in one transaction, one instance at a time. Refuses tables of a newer Cloture.
    pub(in crate::journal) async fn migrate(&mut self, address: &JournalAddress) -> Result<(), StorageFault> {
        let dialect = self.dialect;
        let supported = MIGRATIONS.len() as u64;
        let mut transaction = self.begin().await?;
        if dialect == Dialect::Postgres {
            // Held until the end of the transaction. The number spells "cloture", so that no other program
            // uses it.
            sqlx::query("SELECT pg_advisory_xact_lock(27985248645378661)").execute(&mut *transaction).await?;
        }
        let exists: i64 = sqlx::query_scalar(dialect.has_version()).fetch_one(&mut *transaction).await?;
        let mut version = 0;
        if exists > 0 {
            let found: Option<i64> = sqlx::query_scalar("SELECT version FROM cloture_schema")
                .fetch_optional(&mut *transaction)
                .await?;
            version = unsigned(found.unwrap_or_default())?;
        }
        if version > supported {
            let place = address.to_string();
            return Err(JournalError::Newer { place, found: version, supported }.into());
        }
        if version == supported {
            // An explicit rollback: after a plain drop, the driver would keep the lock until its next
            // statement.
            transaction.rollback().await?;
            return Ok(());
        }
        if exists == 0 {
            let create = "CREATE TABLE cloture_schema (version BIGINT NOT NULL)";
            sqlx::raw_sql(create).execute(&mut *transaction).await?;
            sqlx::raw_sql("INSERT INTO cloture_schema (version) VALUES (0)")
                .execute(&mut *transaction)
                .await?;
        }
        for (before, migration) in (0_u64..).zip(MIGRATIONS) {
            if before >= version {
                sqlx::raw_sql(migration).execute(&mut *transaction).await?;
            }
        }
        let update = sqlx::query("UPDATE cloture_schema SET version = $1").bind(signed(supported));
        update.execute(&mut *transaction).await?;
        commit(transaction).await
    }
}

impl Dialect {
    fn has_version(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'cloture_schema'"
            }
            Dialect::Postgres => {
                "SELECT CAST(CASE WHEN to_regclass('cloture_schema') IS NULL THEN 0 ELSE 1 END AS BIGINT)"
            }
        }
    }
}
