//! The ways in which a call to GitHub fails. Each has one sentence: what failed, why, and what to do next.

use crate::agents::secret::SecretFound;
use jiff::Timestamp;
use std::fmt;
use std::time::Duration;

/// Why a call failed. The caller decides by the variant and shows the sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The network or the server failed; the next attempt may work.
    #[error("{what} failed: {cause}; it is tried again later")]
    Transient { what: String, cause: String, sent: RequestSent },
    /// GitHub asks us to slow down.
    #[error("{what} has to wait: GitHub's {kind} limit is reached; try again {retry_after}")]
    RateLimited { what: String, kind: LimitKind, retry_after: RetryAfter },
    /// The token is valid but lacks a permission.
    #[error("{what} is not allowed: {missing}")]
    Denied { what: String, missing: String },
    /// The token is missing or invalid.
    #[error("{what} was refused because the token is not valid; set a new one or run `gh auth login`")]
    Unauthorised { what: String },
    /// The object does not exist, or GitHub hides it from this token.
    #[error("{what} found nothing there: it was deleted or renamed, or the token may not see it")]
    Gone { what: String },
    /// GitHub understood the request and rejected it.
    #[error("{what} was refused by GitHub: {message}")]
    Refused { what: String, message: String },
    /// S2: Cloture itself does not send the write.
    #[error(
        "{what} was not sent, because its text contains {secret}; Cloture sends no secrets. Remove it from the \
         text"
    )]
    Withheld { what: String, secret: SecretFound },
    /// The answer is not what GitHub documents.
    #[error(
        "{what} got an answer that Cloture cannot read: {detail}; check the API's address, and report a bug \
         if it is right"
    )]
    Malformed { what: String, detail: String },
}

impl Error {
    /// An answer beyond a limit. A write may have taken effect all the same.
    pub(super) fn too_large(what: &str, limit: &str) -> Error {
        Error::Malformed { what: what.to_owned(), detail: format!("{TOO_LARGE}{limit}") }
    }

    /// Whether a request for less could succeed.
    pub(super) fn is_too_large(&self) -> bool {
        matches!(self, Error::Malformed { detail, .. } if detail.starts_with(TOO_LARGE))
    }

    /// The sentence without "it is tried again later", for callers other than the poller.
    pub fn event(&self) -> String {
        match self {
            Error::Transient { what, cause, .. } => format!("{what} failed: {cause}"),
            other => other.to_string(),
        }
    }

    /// Whether the call may have taken effect although no proper answer arrived. The writer looks for the
    /// effect of such a write before it retries.
    pub fn leaves_doubt(&self) -> bool {
        matches!(self, Error::Transient { sent: RequestSent::Maybe, .. } | Error::Malformed { .. })
    }

    /// Whether a plain retry can succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Error::Transient { .. } | Error::RateLimited { .. })
    }
}

const TOO_LARGE: &str = "it has more than ";

/// Whether the request reached the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestSent {
    /// No: there was no connection.
    No,
    /// Perhaps, and it may have taken effect.
    Maybe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// The points per hour are spent.
    Primary,
    /// Requests came too fast, too many at once, or with too much content.
    Secondary,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LimitKind::Primary => "hourly",
            LimitKind::Secondary => "secondary",
        })
    }
}

/// When to retry a limited call, as GitHub stated it: a time on its clock, or a delay from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    After(Duration),
    At(Timestamp),
}

impl RetryAfter {
    /// The time on our clock, and never in the past.
    pub fn when(self, now: Timestamp) -> Timestamp {
        match self {
            RetryAfter::After(wait) => now.checked_add(wait).unwrap_or(Timestamp::MAX),
            RetryAfter::At(moment) => moment.max(now),
        }
    }
}

impl fmt::Display for RetryAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Minutes are easier to read than so many seconds.
            RetryAfter::After(wait) if *wait >= Duration::from_mins(10) => {
                write!(f, "in {} min", wait.as_secs().div_ceil(60))
            }
            RetryAfter::After(wait) => write!(f, "in {} s", wait.as_secs()),
            RetryAfter::At(moment) => write!(f, "at {moment:.0}"),
        }
    }
}
