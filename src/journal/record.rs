//! The stored types, as callers see them.

use super::error::JournalError;
use crate::domain::snapshot::{PullRequestSnapshot, RepositoryName};
use jiff::Timestamp;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// A pull request on a host, as the journal files it. GitHub ignores case, so two spellings are equal here as
/// well. The repository's name is its filing name, which a rename does not change; the
/// [`KnownRepositories`](super::KnownRepositories) have the present one.
#[derive(Debug, Clone)]
pub struct PullRequestKey {
    pub host: String,
    pub repository: RepositoryName,
    pub number: u64,
}

impl PullRequestKey {
    /// One text for all spellings.
    pub(super) fn canonical(&self) -> String {
        format!("{}/{}#{}", self.host.to_lowercase(), self.repository.folded(), self.number)
    }
}

impl PartialEq for PullRequestKey {
    fn eq(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

impl Eq for PullRequestKey {}

impl PartialOrd for PullRequestKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PullRequestKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let host = self.host.to_lowercase().cmp(&other.host.to_lowercase());
        host.then_with(|| (&self.repository, self.number).cmp(&(&other.repository, other.number)))
    }
}

impl fmt::Display for PullRequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repository, self.number)
    }
}

/// A record to append. The journal keeps it for ever.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecord {
    pub pull_request: Option<PullRequestKey>,
    pub kind: String,
    /// A person's login, a reviewer, an author, the engine or an instance.
    pub by: String,
    pub why: String,
    /// The journal stores only one record of a kind with this key on a host, whichever instance appends it.
    pub key: Option<String>,
    /// The journal does not interpret it.
    pub body: Value,
}

impl NewRecord {
    pub fn new(kind: impl Into<String>, by: impl Into<String>) -> Self {
        Self {
            pull_request: None,
            kind: kind.into(),
            by: by.into(),
            why: String::new(),
            key: None,
            body: Value::Null,
        }
    }

    #[must_use]
    pub fn about(self, pull_request: PullRequestKey) -> Self {
        Self { pull_request: Some(pull_request), ..self }
    }

    #[must_use]
    pub fn with_reason(self, why: impl Into<String>) -> Self {
        Self { why: why.into(), ..self }
    }

    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    #[must_use]
    pub fn with(self, body: Value) -> Self {
        Self { body, ..self }
    }

    /// Refuses records that PostgreSQL cannot store: it limits the length of indexed texts and forbids NUL
    /// characters.
    pub(super) fn checked(mut self) -> Result<Self, JournalError> {
        const LONGEST_KEY: usize = 1000;
        const LONGEST_KIND: usize = 100;
        let why = if self.kind.is_empty() || self.kind.len() > LONGEST_KIND {
            Some("its kind must have 1 to 100 bytes")
        } else if self.key.as_ref().is_some_and(|key| key.is_empty() || key.len() > LONGEST_KEY) {
            Some("its key must have 1 to 1000 bytes")
        } else if self.kind.contains('\0') || self.key.as_ref().is_some_and(|key| key.contains('\0')) {
            Some("its kind and key must not have NUL characters")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(JournalError::Unfit { why });
        }
        for text in [&mut self.by, &mut self.why] {
            if text.contains('\0') {
                *text = text.replace('\0', "\u{fffd}");
            }
        }
        Ok(self)
    }
}

/// A stored record.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Grows by one from record to record, in the order in which they became visible to readers.
    pub seq: u64,
    /// By the database's clock.
    pub at: Timestamp,
    pub pull_request: Option<PullRequestKey>,
    pub kind: String,
    pub by: String,
    pub why: String,
    pub key: Option<String>,
    pub body: Value,
}

/// The result of appending a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Appended {
    New(Record),
    /// The key was taken: this is the stored record, perhaps from another instance.
    AlreadyThere(Record),
}

impl Appended {
    pub fn is_new(&self) -> bool {
        matches!(self, Appended::New(_))
    }

    pub fn record(&self) -> &Record {
        match self {
            Appended::New(record) | Appended::AlreadyThere(record) => record,
        }
    }
}

/// The kinds of the two records of every act.
pub const INTENT: &str = "intent";
pub const OUTCOME: &str = "outcome";

/// The kind of the first record of a journal that replaced a damaged one. It lacks the records of the damaged
/// one.
pub const SET_ASIDE: &str = "set_aside";

/// Selects records. An empty field matches everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordFilter {
    pub host: Option<String>,
    pub repository: Option<RepositoryName>,
    pub number: Option<u64>,
    pub kind: Option<String>,
    pub by: Option<String>,
    pub since: Option<Timestamp>,
    /// Matches any readable part of a record, ignoring case.
    pub text: Option<String>,
    pub order: RecordOrder,
    pub limit: Option<usize>,
}

impl RecordFilter {
    pub fn about(pull_request: &PullRequestKey) -> Self {
        Self {
            host: Some(pull_request.host.clone()),
            repository: Some(pull_request.repository.clone()),
            number: Some(pull_request.number),
            ..Self::default()
        }
    }

    /// Whether a record matches, without regard to order and limit.
    pub fn fits(&self, record: &Record) -> bool {
        let RecordFilter { host, repository, number, kind, by, since, text: _, order: _, limit: _ } = self;
        let about = record.pull_request.as_ref();
        let same_host = |host: &String| about.is_some_and(|about| about.host.eq_ignore_ascii_case(host));
        let same_repository =
            |repository: &RepositoryName| about.is_some_and(|about| about.repository == *repository);
        host.as_ref().is_none_or(same_host)
            && repository.as_ref().is_none_or(same_repository)
            && number.is_none_or(|number| about.is_some_and(|about| about.number == number))
            && kind.as_ref().is_none_or(|kind| record.kind == *kind)
            && by.as_ref().is_none_or(|by| record.by == *by)
            && since.is_none_or(|since| record.at >= since)
            && self.finds(record)
    }

    /// Whether the record contains the text. Not done in SQL, because the two databases fold case
    /// differently.
    pub(super) fn finds(&self, record: &Record) -> bool {
        let Some(text) = &self.text else { return true };
        let text = text.to_lowercase();
        let holds = |part: &str| part.to_lowercase().contains(&text);
        let about = record.pull_request.as_ref().map(ToString::to_string);
        holds(&record.kind)
            || holds(&record.by)
            || holds(&record.why)
            || about.is_some_and(|about| holds(&about))
            || record.key.as_deref().is_some_and(holds)
            || mentions(&record.body, &holds)
    }
}

/// Whether any text or number in a body matches. Field names are the program's own words and do not count.
fn mentions(body: &Value, holds: &impl Fn(&str) -> bool) -> bool {
    match body {
        Value::String(text) => holds(text),
        Value::Number(number) => holds(&number.to_string()),
        Value::Array(items) => items.iter().any(|item| mentions(item, holds)),
        Value::Object(fields) => fields.values().any(|value| mentions(value, holds)),
        Value::Null | Value::Bool(_) => false,
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordOrder {
    #[default]
    OldestFirst,
    NewestFirst,
}

/// The stored snapshot of a pull request.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSnapshot {
    pub pull_request: PullRequestKey,
    /// Its age when it was loaded, by the database's clock.
    pub age: Duration,
    pub snapshot: PullRequestSnapshot,
    /// The poller's data, for a restart.
    pub poll: Option<Value>,
}

/// All stored snapshots.
#[derive(Debug, Default)]
pub struct StoredSnapshots {
    pub readable: Vec<StoredSnapshot>,
    /// Stored in a format that this version cannot read, so the poller must read them again.
    pub unreadable: Vec<(PullRequestKey, String)>,
}

/// The right to act on a pull request for a limited time.
#[derive(Debug, Clone, PartialEq)]
pub struct Lease {
    pub pull_request: PullRequestKey,
    /// The identity of the instance that holds it ([`super::instance`]).
    pub holder: String,
    /// Grows each time an instance takes the lease, so that a former holder differs from the present one.
    pub epoch: u64,
    /// By the database's clock.
    pub until: Timestamp,
    /// The remaining time at the moment of the answer, so that the holder needs only its own clock.
    pub remaining: Duration,
}

/// The result of asking for a lease.
#[derive(Debug, Clone, PartialEq)]
pub enum Acquired {
    Held(Lease),
    /// Another instance has it.
    Taken(Lease),
}
