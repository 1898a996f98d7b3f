//! One connection, and what the two databases do differently. Every other statement is the same text for both.

pub(super) mod leases;
pub(super) mod migrations;
pub(super) mod records;
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

/// A connection that is ready for work.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) connection: AnyConnection,
    pub(super) dialect: Dialect,
}

/// What a connection is set up with.
#[derive(Debug, Clone)]
pub(super) struct StoreSetup {
    /// How long to wait for others to finish writing.
    pub(super) patience: Duration,
    /// How many pages an SQLite file may have.
    pub(super) page_limit: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

/// A job, as data: what is asked, and how one attempt at it goes.
pub(super) trait StoreRequest: Send + Sync + 'static {
    type Answer: Send + 'static;

    /// Whether it changes anything: then an answer that does not come leaves a doubt.
    const CHANGES: bool;

    /// Whether followers have something to look for afterwards.
    const IS_NEWS: bool = false;

    /// May be called twice, the second time on a new connection, if the first has changed nothing.
    fn perform(&self, store: &mut Store) -> impl Future<Output = Result<Self::Answer, StorageFault>> + Send;
}

impl Dialect {
    fn of(address: &JournalAddress) -> Dialect {
        if address.path().is_some() { Dialect::Sqlite } else { Dialect::Postgres }
    }

    /// SQLite: whoever writes says so at once. To read first and write later fails if somebody wrote in between.
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

    /// Takes `$1` numbers for records, keeps everybody else from taking any until the end of the transaction, and tells
    /// the last number and the time.
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

    /// What a new connection is told: that a commit is on disk when it is answered, and how long to wait for others.
    /// A server is also told to give up on us should we vanish in the middle of a transaction, because others wait.
    fn settings(self, setup: &StoreSetup) -> Vec<(&'static str, String)> {
        let milliseconds = setup.patience.as_millis();
        match self {
            Dialect::Sqlite => {
                let mut settings = vec![
                    ("PRAGMA busy_timeout = ", milliseconds.to_string()),
                    ("PRAGMA journal_mode = ", "WAL".to_owned()),
                    ("PRAGMA synchronous = ", "FULL".to_owned()),
                    // Kibibytes. The system keeps what was read of the file; a second copy of megabytes is no faster.
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
                // Whoever switched it off for the whole server did not mean a journal; stricter settings stay.
                (
                    "SELECT set_config('synchronous_commit', 'on', false) \
                     WHERE current_setting('synchronous_commit') = ",
                    "'off'".to_owned(),
                ),
            ],
        }
    }
}

impl Store {
    /// Connects and sets the connection up; the tables are not looked at.
    pub(super) async fn connect(address: &JournalAddress, setup: &StoreSetup) -> Result<Store, StorageFault> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let url = address.url().ok_or_else(|| JournalError::Other {
            place: address.to_string(),
            why: "its path is not UTF-8 text; name another place with --state-dir".to_owned(),
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

/// Commits, and tells a failure to do so from everything before it.
pub(super) async fn commit(transaction: Transaction<'_, Any>) -> Result<(), StorageFault> {
    transaction.commit().await.map_err(StorageFault::Commit)
}

pub(super) async fn now(connection: &mut AnyConnection, dialect: Dialect) -> Result<i64, StorageFault> {
    Ok(sqlx::query_scalar(dialect.now()).fetch_one(connection).await?)
}

/// Milliseconds of the database as a time. What no calendar has is a sign of damage, not of time.
pub(super) fn timestamp(milliseconds: i64) -> Result<Timestamp, sqlx::Error> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| sqlx::Error::Decode(error.into()))
}

/// From a moment to a later one; nothing, if it is not later.
pub(super) fn between(earlier: i64, later: i64) -> Duration {
    Duration::from_millis(u64::try_from(later.saturating_sub(earlier)).unwrap_or_default())
}

pub(super) fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// A number that the database keeps with a sign.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> Result<u64, sqlx::Error> {
    u64::try_from(number).map_err(|error| sqlx::Error::Decode(error.into()))
}

/// The pull request that columns from `first` on name: host, repository, number. None where they are empty.
pub(super) fn pull_request(row: &AnyRow, first: usize) -> Result<Option<PullRequestKey>, sqlx::Error> {
    let host: Option<String> = row.try_get(first)?;
    let repository: Option<String> = row.try_get(first + 1)?;
    let number: Option<i64> = row.try_get(first + 2)?;
    let (Some(host), Some(repository), Some(number)) = (host, repository, number) else { return Ok(None) };
    let unknown = || sqlx::Error::Decode(format!("`{repository}` is no repository").into());
    let repository = RepositoryName::parse(&repository).ok_or_else(unknown)?;
    Ok(Some(PullRequestKey { host, repository, number: unsigned(number)? }))
}
