//! The failures of the journal. Each has a sentence that says what to do.

use super::address::JournalAddress;
use super::instance;
use super::record::PullRequestKey;
use std::path::PathBuf;
use std::{fmt, io};

/// Why a job failed. No variant contains a password.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The lease ended, or another instance holds it. Nothing was written.
    #[error("{0}, so nothing was written")]
    LeaseLost(Box<LostLease>),
    #[error("there is no intent with the key `{key}`, so there is no outcome to record")]
    NotIntended { key: String },
    #[error("a record cannot be kept: {why}")]
    Unfit { why: &'static str },
    #[error(
        "the journal at {place} was written by a newer Cloture: its format is {found}, and this version \
         reads formats up to {supported}; update Cloture, or choose another place for the journal"
    )]
    Newer { place: String, found: u64, supported: u64 },
    #[error(
        "the journal at {place} is damaged ({why}); stop every Cloture that uses it and start again: Cloture \
         then sets the damaged file aside"
    )]
    Damaged { place: String, why: String },
    #[error("the journal at {place} cannot grow: the disk or its quota is full; make room and try again")]
    Full { place: String },
    #[error(
        "the journal at {place} cannot be written: it is read-only for this user; change its permissions, or \
         choose another place with --state-dir"
    )]
    ReadOnly { place: String },
    #[error("the journal at {place} is busy: another process kept it locked; try again")]
    Busy { place: String },
    #[error("the journal at {place} is out of reach: {why}")]
    OutOfReach { place: String, why: String },
    #[error(
        "the journal at {place} refused the login: {why}; check the user, the password and the name of the \
         database"
    )]
    NotAllowed { place: String, why: String },
    /// The answer to a commit was lost, so the commit may have happened.
    #[error(
        "the journal at {place} may or may not have stored the last record: {why}; check it before you try \
         again"
    )]
    Uncertain { place: String, why: String },
    #[error("{}: {why}: {source}", path.display())]
    Files { path: PathBuf, why: &'static str, source: io::Error },
    #[error("the journal at {place} cannot be used: {why}")]
    Other { place: String, why: String },
    #[error("the journal is closed")]
    Closed,
}

/// A lease that is not held any more.
#[derive(Debug, Clone, PartialEq)]
pub struct LostLease {
    pub pull_request: PullRequestKey,
    pub holder: String,
    pub epoch: u64,
    /// None if it ran out and nobody has taken it since.
    pub now_held_by: Option<String>,
}

impl fmt::Display for LostLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostLease { pull_request, holder, epoch, now_held_by } = self;
        let other = now_held_by.as_deref();
        let holder = instance::shown(holder, other.unwrap_or_default());
        write!(f, "{pull_request} is no longer held by {holder} in epoch {epoch}")?;
        match other {
            Some(other) => write!(f, " but by {}", instance::shown(other, &self.holder)),
            None => Ok(()),
        }
    }
}

/// Why one attempt at a job failed. The driver's errors stay inside the journal.
#[derive(Debug)]
pub(super) enum StorageFault {
    /// The attempt failed before its commit, so nothing has changed.
    Storage(sqlx::Error),
    /// The commit failed, or its answer was lost.
    Commit(sqlx::Error),
    /// The database works, and this is the job's own error.
    Final(JournalError),
}

impl From<sqlx::Error> for StorageFault {
    fn from(error: sqlx::Error) -> Self {
        StorageFault::Storage(error)
    }
}

impl From<JournalError> for StorageFault {
    fn from(error: JournalError) -> Self {
        StorageFault::Final(error)
    }
}

impl StorageFault {
    /// Whether the connection is gone and a retry on a new one is safe, because nothing was committed.
    pub(super) fn lost_connection(&self) -> bool {
        matches!(self, StorageFault::Storage(error) if is_lost(error))
    }

    /// Whether the connection is unusable from now on.
    pub(super) fn ends_connection(&self) -> bool {
        match self {
            StorageFault::Storage(error) | StorageFault::Commit(error) => {
                is_lost(error) || ends_transaction(error)
            }
            StorageFault::Final(error) => {
                matches!(error, JournalError::OutOfReach { .. } | JournalError::Uncertain { .. })
            }
        }
    }

    pub(super) fn into_journal_error(self, address: &JournalAddress) -> JournalError {
        match self {
            StorageFault::Final(error) => error,
            StorageFault::Storage(error) => described(&error, address),
            StorageFault::Commit(error) => match described(&error, address) {
                // These mean that the commit did not happen.
                error @ (JournalError::Full { .. }
                | JournalError::Busy { .. }
                | JournalError::ReadOnly { .. }
                | JournalError::Damaged { .. }) => error,
                _ => JournalError::Uncertain { place: address.to_string(), why: message(&error, address) },
            },
        }
    }
}

/// Reduces the many error codes of the two databases to a few kinds.
fn described(error: &sqlx::Error, address: &JournalAddress) -> JournalError {
    let place = address.to_string();
    let why = message(error, address);
    match kind_of(error) {
        StorageErrorKind::Damaged => JournalError::Damaged { place, why },
        StorageErrorKind::Full => JournalError::Full { place },
        StorageErrorKind::ReadOnly => JournalError::ReadOnly { place },
        StorageErrorKind::Busy => JournalError::Busy { place },
        StorageErrorKind::NotAllowed => JournalError::NotAllowed { place, why },
        StorageErrorKind::Lost => JournalError::OutOfReach { place, why },
        StorageErrorKind::Other => JournalError::Other { place, why },
    }
}

fn is_lost(error: &sqlx::Error) -> bool {
    kind_of(error) == StorageErrorKind::Lost
}

/// Whether SQLite has rolled the transaction back by itself, as it does on a full disk or a failed read. The
/// driver does not notice: its own rollback fails, and it could never begin another transaction.
fn ends_transaction(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else { return false };
    let code = error.code().unwrap_or_default();
    // PostgreSQL's codes have five characters, and PostgreSQL leaves the rollback to us.
    code.len() < 5 && matches!(code.parse::<u32>().map(|code| code & 0xff), Ok(7 | 9 | 10 | 11 | 13 | 26))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StorageErrorKind {
    Damaged,
    Full,
    ReadOnly,
    Busy,
    NotAllowed,
    Lost,
    Other,
}

fn kind_of(error: &sqlx::Error) -> StorageErrorKind {
    let code = match error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => {
            return StorageErrorKind::Lost;
        }
        sqlx::Error::Database(error) => error.code().unwrap_or_default().into_owned(),
        _ => return StorageErrorKind::Other,
    };
    // PostgreSQL's codes have five characters. SQLite's are numbers whose lowest byte is the kind of error.
    match code.as_str() {
        "53100" => return StorageErrorKind::Full,
        "25006" => return StorageErrorKind::ReadOnly,
        "55P03" | "40P01" | "57014" => return StorageErrorKind::Busy,
        "28000" | "28P01" | "3D000" | "42501" => return StorageErrorKind::NotAllowed,
        "XX001" | "XX002" => return StorageErrorKind::Damaged,
        "53300" | "57P01" | "57P02" | "57P03" | "25P03" => return StorageErrorKind::Lost,
        other if other.len() == 5 && other.starts_with("08") => return StorageErrorKind::Lost,
        other if other.len() == 5 => return StorageErrorKind::Other,
        _ => {}
    }
    match code.parse::<u32>().map(|code| code & 0xff) {
        Ok(5 | 6) => StorageErrorKind::Busy,
        Ok(8 | 14 | 3 | 23) => StorageErrorKind::ReadOnly,
        Ok(11 | 26) => StorageErrorKind::Damaged,
        Ok(13) => StorageErrorKind::Full,
        _ => StorageErrorKind::Other,
    }
}

/// The driver's message without passwords.
fn message(error: &sqlx::Error, address: &JournalAddress) -> String {
    match error {
        sqlx::Error::Database(error) => address.without_secrets(error.message()),
        other => address.without_secrets(&other.to_string()),
    }
}

impl JournalError {
    /// Whether a plain retry can succeed later.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            JournalError::Busy { .. } | JournalError::OutOfReach { .. } | JournalError::Full { .. }
        )
    }

    pub(super) fn no_answer(address: &JournalAddress, seconds: impl fmt::Display) -> JournalError {
        JournalError::OutOfReach {
            place: address.to_string(),
            why: format!("it did not answer within {seconds} s"),
        }
    }
}
