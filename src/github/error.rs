//! The few ways in which a call to GitHub goes wrong, each with one sentence: what happened, to what, and what
//! to do about it.

use jiff::Timestamp;
use std::fmt;
use std::time::Duration;

/// What went wrong. Small on purpose: whoever handles it decides by the kind, and shows the sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The network or the server failed; the next attempt may work.
    #[error("{what} failed: {cause}; it is tried again later")]
    Transient { what: String, cause: String, sent: RequestSent },
    /// The server asks for patience.
    #[error("{what} has to wait: GitHub's {kind} limit is reached, come back {come_back}")]
    RateLimited { what: String, kind: LimitKind, come_back: RetryAfter },
    /// The token is good, but not for this.
    #[error("{what} is not allowed: {missing}")]
    Denied { what: String, missing: String },
    /// The token is not good.
    #[error("{what} was refused because the token is not valid; set a new one or run `gh auth login`")]
    Unauthorised { what: String },
    /// It is not there, or this token may not know that it is.
    #[error("{what} found nothing there: it was deleted or renamed, or the token may not see it")]
    Gone { what: String },
    /// GitHub understood and said no.
    #[error("{what} was refused by GitHub: {message}")]
    Refused { what: String, message: String },
    /// The answer is not what GitHub documents.
    #[error("{what} got an answer that makes no sense: {detail}; check the API's address, else report this")]
    Malformed { what: String, detail: String },
}

impl Error {
    /// What happened, for whoever decides what follows: only a poll is tried again in any case.
    pub fn event(&self) -> String {
        match self {
            Error::Transient { what, cause, .. } => format!("{what} failed: {cause}"),
            other => other.to_string(),
        }
    }

    /// Whether the call may have taken effect although no proper answer came back. A write in doubt is looked
    /// for before it is tried again.
    pub fn leaves_doubt(&self) -> bool {
        matches!(self, Error::Transient { sent: RequestSent::Maybe, .. } | Error::Malformed { .. })
    }

    /// Whether the same call can work later without anybody doing anything.
    pub fn is_passing(&self) -> bool {
        matches!(self, Error::Transient { .. } | Error::RateLimited { .. })
    }
}

/// Whether the request reached the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestSent {
    /// Certainly not: there was no connection.
    No,
    /// It may have, and it may have taken effect.
    Maybe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// Points an hour.
    Primary,
    /// Too fast, too much at once, or too much content.
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

/// When a limited call may be tried again, as the server said it: a moment on its clock, or a while from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    After(Duration),
    At(Timestamp),
}

impl RetryAfter {
    /// The moment on our clock. A moment that has passed already means now.
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
            // Nobody counts that many seconds.
            RetryAfter::After(wait) if *wait >= Duration::from_mins(10) => {
                write!(f, "in {} min", wait.as_secs().div_ceil(60))
            }
            RetryAfter::After(wait) => write!(f, "in {} s", wait.as_secs()),
            RetryAfter::At(moment) => write!(f, "at {moment:.0}"),
        }
    }
}
