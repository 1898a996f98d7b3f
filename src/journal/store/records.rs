//! The statements for records.

use super::{Dialect, Store, StoreRequest, commit, pull_request, signed, timestamp, unsigned};
use crate::journal::error::{JournalError, StorageFault};
use crate::journal::record::{
    Appended, INTENT, Lease, NewRecord, OUTCOME, PullRequestKey, Record, RecordFilter, RecordOrder,
};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::{AnyConnection, Arguments, Row};
use std::fmt::Write;

/// Appends all records or none, with a lease or without.
#[derive(Debug)]
pub(in crate::journal) struct Append {
    pub(in crate::journal) records: Vec<NewRecord>,
    pub(in crate::journal) held: Option<Lease>,
}

impl StoreRequest for Append {
    type Answer = Vec<Appended>;
    const CHANGES: bool = true;
    const IS_NEWS: bool = true;

    async fn perform(&self, store: &mut Store) -> Result<Vec<Appended>, StorageFault> {
        let dialect = store.dialect;
        let mut transaction = store.begin().await?;
        let held_until = match &self.held {
            Some(lease) => Some((lease, lease.locked(&mut transaction).await?)),
            None => None,
        };
        let count = signed(self.records.len() as u64);
        let (last, now) = take_numbers(&mut transaction, dialect, count).await?;
        if let Some((lease, until)) = held_until
            && until <= now
        {
            return Err(lease.lost(None).into());
        }
        let mut next = last - count + 1;
        let mut appended = Vec::with_capacity(self.records.len());
        for record in &self.records {
            let outcome = insert(&mut transaction, record, next, now).await?;
            if outcome.is_new() {
                next += 1;
            }
            appended.push(outcome);
        }
        if next <= last {
            let give_back =
                sqlx::query("UPDATE counters SET value = $1 WHERE name = 'records'").bind(next - 1);
            give_back.execute(&mut *transaction).await?;
        }
        commit(transaction).await?;
        Ok(appended)
    }
}

async fn take_numbers(
    connection: &mut AnyConnection,
    dialect: Dialect,
    count: i64,
) -> Result<(i64, i64), StorageFault> {
    let row = sqlx::query(dialect.take_numbers()).bind(count).fetch_one(connection).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

async fn insert(
    connection: &mut AnyConnection,
    record: &NewRecord,
    seq: i64,
    now: i64,
) -> Result<Appended, StorageFault> {
    let NewRecord { pull_request, kind, by, why, key, body } = record;
    if kind == OUTCOME
        && let Some(key) = key
        && find(connection, pull_request.as_ref(), INTENT, key).await?.is_none()
    {
        return Err(JournalError::NotIntended { key: key.clone() }.into());
    }
    let place = pull_request.as_ref();
    let inserted = sqlx::query(
        "INSERT INTO records (seq, recorded_at, host, repository, number, kind, who, why, once_key, body) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
         ON CONFLICT (once_key, kind, coalesce(lower(host), '')) DO NOTHING",
    )
    .bind(seq)
    .bind(now)
    .bind(place.map(|place| place.host.clone()))
    .bind(place.map(|place| place.repository.to_string()))
    .bind(place.map(|place| signed(place.number)))
    .bind(kind.clone())
    .bind(by.clone())
    .bind(why.clone())
    .bind(key.clone())
    .bind(body.to_string())
    .execute(&mut *connection)
    .await?;
    if inserted.rows_affected() == 0
        && let Some(key) = key
    {
        let there = find(connection, place, kind, key).await?;
        return Ok(Appended::AlreadyThere(there.ok_or(sqlx::Error::RowNotFound)?));
    }
    Ok(Appended::New(Record {
        seq: unsigned(seq)?,
        at: timestamp(now)?,
        pull_request: pull_request.clone(),
        kind: kind.clone(),
        by: by.clone(),
        why: why.clone(),
        key: key.clone(),
        body: body.clone(),
    }))
}

/// Finds the record with a key on a pull request's host.
#[derive(Debug)]
pub(in crate::journal) struct FindRecord {
    pub(in crate::journal) about: PullRequestKey,
    pub(in crate::journal) kind: String,
    pub(in crate::journal) key: String,
}

impl StoreRequest for FindRecord {
    type Answer = Option<Record>;
    const CHANGES: bool = false;

    async fn perform(&self, store: &mut Store) -> Result<Option<Record>, StorageFault> {
        find(&mut store.connection, Some(&self.about), &self.kind, &self.key).await
    }
}

async fn find(
    connection: &mut AnyConnection,
    about: Option<&PullRequestKey>,
    kind: &str,
    key: &str,
) -> Result<Option<Record>, StorageFault> {
    let mut query = RecordQuery::new("FROM records WHERE ");
    query.condition("once_key = ", key.to_owned());
    query.condition("kind = ", kind.to_owned());
    let host = about.map(|about| about.host.to_ascii_lowercase()).unwrap_or_default();
    query.condition("coalesce(lower(host), '') = ", host);
    Ok(query.run(connection).await?.pop())
}

/// Reads a page of records: those that match the filter beyond a number, without its text and its limit.
#[derive(Debug)]
pub(in crate::journal) struct ReadPage {
    pub(in crate::journal) filter: RecordFilter,
    pub(in crate::journal) beyond: Option<u64>,
    pub(in crate::journal) limit: usize,
}

impl StoreRequest for ReadPage {
    type Answer = Vec<Record>;
    const CHANGES: bool = false;

    async fn perform(&self, store: &mut Store) -> Result<Vec<Record>, StorageFault> {
        let RecordFilter { host, repository, number, kind, by, since, text: _, order, limit: _ } =
            &self.filter;
        let (beyond, in_order) = match order {
            RecordOrder::OldestFirst => ("seq > ", " ORDER BY seq LIMIT "),
            RecordOrder::NewestFirst => ("seq < ", " ORDER BY seq DESC LIMIT "),
        };
        let from = match order {
            RecordOrder::OldestFirst => 0,
            RecordOrder::NewestFirst => u64::MAX,
        };
        let mut query = RecordQuery::new("FROM records WHERE ");
        query.condition(beyond, signed(self.beyond.unwrap_or(from)));
        if let Some(repository) = repository {
            query.condition("lower(repository) = ", repository.folded());
        }
        if let Some(number) = number {
            query.condition("number = ", signed(*number));
        }
        if let Some(host) = host {
            query.condition("lower(host) = ", host.to_ascii_lowercase());
        }
        if let Some(kind) = kind {
            query.condition("kind = ", kind.clone());
        }
        if let Some(by) = by {
            query.condition("who = ", by.clone());
        }
        if let Some(since) = since {
            query.condition("recorded_at >= ", since.as_millisecond());
        }
        query.end(in_order, signed(self.limit as u64));
        query.run(&mut store.connection).await
    }
}

/// Finds intents without an outcome, oldest first.
#[derive(Debug)]
pub(in crate::journal) struct FindUnconcluded {
    pub(in crate::journal) pull_request: Option<PullRequestKey>,
}

impl StoreRequest for FindUnconcluded {
    type Answer = Vec<Record>;
    const CHANGES: bool = false;

    async fn perform(&self, store: &mut Store) -> Result<Vec<Record>, StorageFault> {
        let mut query = RecordQuery::new(
            "FROM records WHERE NOT EXISTS (SELECT 1 FROM records done \
             WHERE done.once_key = records.once_key \
             AND done.kind = 'outcome' \
             AND coalesce(lower(done.host), '') = coalesce(lower(records.host), '')) AND ",
        );
        query.condition("kind = ", INTENT.to_owned());
        if let Some(place) = &self.pull_request {
            query.condition("lower(repository) = ", place.repository.folded());
            query.condition("number = ", signed(place.number));
            query.condition("lower(host) = ", place.host.to_ascii_lowercase());
        }
        query.text.push_str(" ORDER BY seq");
        query.run(&mut store.connection).await
    }
}

/// A query for records. Its text consists of pieces from this file only, and every value is bound.
struct RecordQuery {
    text: String,
    values: AnyArguments,
    conditions: usize,
    /// The error for a value that the driver refused; `run` returns it.
    refused: Option<sqlx::Error>,
}

impl RecordQuery {
    fn new(from: &'static str) -> Self {
        let columns = "SELECT seq, recorded_at, host, repository, number, kind, who, why, once_key, body ";
        Self {
            text: format!("{columns}{from}"),
            values: AnyArguments::default(),
            conditions: 0,
            refused: None,
        }
    }

    fn condition<T>(&mut self, condition: &'static str, value: T)
    where
        T: for<'t> sqlx::Encode<'t, sqlx::Any> + sqlx::Type<sqlx::Any>,
    {
        if self.conditions > 0 {
            self.text.push_str(" AND ");
        }
        self.conditions += 1;
        self.end(condition, value);
    }

    fn end<T>(&mut self, piece: &'static str, value: T)
    where
        T: for<'t> sqlx::Encode<'t, sqlx::Any> + sqlx::Type<sqlx::Any>,
    {
        if let Err(error) = self.values.add(value) {
            self.refused = Some(sqlx::Error::Encode(error));
        }
        self.text.push_str(piece);
        // Writing to a string does not fail.
        let _ = write!(self.text, "${}", self.values.len());
    }

    async fn run(self, connection: &mut AnyConnection) -> Result<Vec<Record>, StorageFault> {
        if let Some(error) = self.refused {
            return Err(error.into());
        }
        let rows =
            sqlx::query_with(sqlx::AssertSqlSafe(self.text), self.values).fetch_all(connection).await?;
        let records: Result<Vec<Record>, sqlx::Error> = rows.iter().map(record).collect();
        Ok(records?)
    }
}

fn record(row: &AnyRow) -> Result<Record, sqlx::Error> {
    let body: String = row.try_get(9)?;
    Ok(Record {
        seq: unsigned(row.try_get(0)?)?,
        at: timestamp(row.try_get(1)?)?,
        pull_request: pull_request(row, 2)?,
        kind: row.try_get(5)?,
        by: row.try_get(6)?,
        why: row.try_get(7)?,
        key: row.try_get(8)?,
        body: serde_json::from_str(&body).map_err(|error| sqlx::Error::Decode(error.into()))?,
    })
}
