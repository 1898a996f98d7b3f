//! One connection, and the differences between the two databases. All other statements are the same text for
//! both.

pub(super) mod leases;
pub(super) mod migrations;
pub(super) mod records;
pub(super) mod repositories;
pub(super) mod snapshots;

use super::address::JournalAddress;
use super::error::{JournalError, StorageFault};
use super::record::PullRequestKey;
use crate::domain::snapshot::RepositoryName;
use jiff::Timestamp;
use sqlx::any::{AnyConnectOptions, AnyRow};
use sqlx::{Any, AnyConnection, ConnectOptions, Connection, Row, Transaction};
use std::sync::Once;
use std::time::Duration;

/// A connection that is set up.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) connection: AnyConnection,
    pub(super) dialect: Dialect,
}

/// The settings of a connection.
#[derive(Debug, Clone)]
pub(super) struct StoreSetup {
    /// The wait for other writers.
    pub(super) patience: Duration,
    /// The most pages that an SQLite file may have.
    pub(super) page_limit: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

/// A job as data, with the code of one attempt.
pub(super) trait StoreRequest: Send + Sync + 'static {
    type Answer: Send + 'static;

    /// Whether it changes the database: then a lost answer leaves the result uncertain.
    const CHANGES: bool;

    /// Whether followers should look for new records afterwards.
    const IS_NEWS: bool = false;

    /// Called again on a new connection if the first attempt changed nothing.
    fn perform(&self, store: &mut Store) -> impl Future<Output = Result<Self::Answer, StorageFault>> + Send;
}

impl Dialect {
    fn of(address: &JournalAddress) -> Dialect {
        if address.path().is_some() { Dialect::Sqlite } else { Dialect::Postgres }
    }

    /// SQLite takes the write lock at once: a transaction that reads first and writes later fails if another
    /// one wrote in between.
    fn begin(self) -> &'static str {
        match self {
            Dialect::Sqlite => "BEGIN IMMEDIATE",
            Dialect::Postgres => "BEGIN",
        }
    }

    /// The database's clock, in milliseconds.
    fn now(self) -> &'static str {
        match self {
            Dialect::Sqlite => "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Dialect::Postgres => "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
        }
    }

    /// Reserves `$1` record numbers and returns the last number and the time. Other writers wait until the
    /// end of the transaction.
    fn take_numbers(self) -> &'static str {
        match self {
            Dialect::Sqlite => {
                "UPDATE counters SET value = value + $1 WHERE name = 'records' \
                 RETURNING value, CAST(unixepoch('subsec') * 1000 AS INTEGER)"
            }
            Dialect::Postgres => {
                "UPDATE counters SET value = value + $1 WHERE name = 'records' \
                 RETURNING value, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
            }
        }
    }

    /// Makes each commit durable before its answer, and sets the wait for locks. A server must also end our
    /// transaction if we disappear in the middle of it, because other instances wait for its locks.
    fn settings(self, setup: &StoreSetup) -> Vec<(&'static str, String)> {
        let milliseconds = setup.patience.as_millis();
        match self {
            Dialect::Sqlite => {
                let mut settings = vec![
                    ("PRAGMA busy_timeout = ", milliseconds.to_string()),
                    ("PRAGMA journal_mode = ", "WAL".to_owned()),
                    ("PRAGMA synchronous = ", "FULL".to_owned()),
                    // Kibibytes. The system caches the file already, and a second copy would not be faster.
                    ("PRAGMA cache_size = ", "-128".to_owned()),
                ];
                settings
                    .extend(setup.page_limit.map(|pages| ("PRAGMA max_page_count = ", pages.to_string())));
                settings
            }
            Dialect::Postgres => vec![
                ("SET client_min_messages = ", "warning".to_owned()),
                ("SET lock_timeout = ", milliseconds.to_string()),
                ("SET idle_in_transaction_session_timeout = ", milliseconds.to_string()),
                ("SET tcp_keepalives_idle = ", "15".to_owned()),
                ("SET tcp_keepalives_interval = ", "5".to_owned()),
                ("SET tcp_keepalives_count = ", "3".to_owned()),
                // A journal needs durable commits even if the server's default is `off`; stricter settings
                // stay.
                (
                    "SELECT set_config('synchronous_commit', 'on', false) \
                     WHERE current_setting('synchronous_commit') = ",
                    "'off'".to_owned(),
                ),
            ],
        }
    }
}

/// Writes without changing anything.
#[derive(Debug)]
pub(super) struct CheckWritable;

impl StoreRequest for CheckWritable {
    type Answer = ();
    const CHANGES: bool = false;

    async fn perform(&self, store: &mut Store) -> Result<(), StorageFault> {
        let write = match store.dialect {
            // Nothing uses this number. SQLite writes its page even if the number stays the same.
            Dialect::Sqlite => "PRAGMA user_version = 0",
            // A read-only server refuses it, and it locks no row.
            Dialect::Postgres => "UPDATE counters SET value = value WHERE false",
        };
        let mut transaction = store.begin().await?;
        sqlx::raw_sql(write).execute(&mut *transaction).await?;
        commit(transaction).await
    }
}

impl Store {
    /// Connects and sets the connection up, without checking the tables.
    pub(super) async fn connect(address: &JournalAddress, setup: &StoreSetup) -> Result<Store, StorageFault> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let url = address.url().ok_or_else(|| JournalError::Other {
            place: address.to_string(),
            why: "its path is not UTF-8 text; choose another place with --state-dir".to_owned(),
        })?;
        let options: AnyConnectOptions = url.parse()?;
        let connection = options.disable_statement_logging().connect().await?;
        let mut store = Store { connection, dialect: Dialect::of(address) };
        for (setting, value) in store.dialect.settings(setup) {
            let statement = sqlx::AssertSqlSafe(format!("{setting}{value}"));
            sqlx::raw_sql(statement).execute(&mut store.connection).await?;
        }
        Ok(store)
    }

    pub(super) async fn begin(&mut self) -> Result<Transaction<'_, Any>, StorageFault> {
        Ok(self.connection.begin_with(self.dialect.begin()).await?)
    }
}

/// Commits. A failure here is a [`StorageFault::Commit`].
pub(super) async fn commit(transaction: Transaction<'_, Any>) -> Result<(), StorageFault> {
    transaction.commit().await.map_err(StorageFault::Commit)
}

pub(super) async fn now(connection: &mut AnyConnection, dialect: Dialect) -> Result<i64, StorageFault> {
    Ok(sqlx::query_scalar(dialect.now()).fetch_one(connection).await?)
}

/// The database's milliseconds as a time. A value out of range means damage.
pub(super) fn timestamp(milliseconds: i64) -> Result<Timestamp, sqlx::Error> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| sqlx::Error::Decode(error.into()))
}

/// The time between two moments; zero if the second is not later.
pub(super) fn between(earlier: i64, later: i64) -> Duration {
    Duration::from_millis(u64::try_from(later.saturating_sub(earlier)).unwrap_or_default())
}

pub(super) fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A number for a signed column.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> Result<u64, sqlx::Error> {
    u64::try_from(number).map_err(|error| sqlx::Error::Decode(error.into()))
}

/// The pull request in the columns from `first` on: host, repository, number. None if they are empty.
pub(super) fn pull_request(row: &AnyRow, first: usize) -> Result<Option<PullRequestKey>, sqlx::Error> {
    let host: Option<String> = row.try_get(first)?;
    let repository: Option<String> = row.try_get(first + 1)?;
    let number: Option<i64> = row.try_get(first + 2)?;
    let (Some(host), Some(repository), Some(number)) = (host, repository, number) else { return Ok(None) };
    let unknown = || sqlx::Error::Decode(format!("`{repository}` is not a repository's name").into());
    let repository = RepositoryName::parse(&repository).ok_or_else(unknown)?;
    Ok(Some(PullRequestKey { host, repository, number: unsigned(number)? }))
}
