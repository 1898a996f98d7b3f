//! Why a command that talks to GitHub could not do all it was asked: one sentence, and the exit code scripts know.

use crate::github::discover::{AddressError, CheckoutError};
use crate::github::host::HostError;
use crate::github::token::TokenError;
use crate::github::{Error, PullRequestAddress};
use crate::output::sanitize;
use std::fmt;

/// A sentence for a person, already safe for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Failure {
    pub kind: Kind,
    sentence: String,
}

/// The kinds that scripts tell apart, the one to report first where several came together first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// No token, or not allowed.
    NotAllowed,
    /// No usable answer came back.
    OutOfReach,
    /// GitHub wants us to wait.
    Limited,
    /// The journal cannot be used.
    Journal,
    /// What was asked for makes no sense or is not there.
    Usage,
    /// A person interrupted it, or was asked and said no.
    Stopped,
    /// There is nothing to review any more.
    Merged,
    Closed,
    /// A reviewer that was asked never gave an answer that counts.
    ReviewerFailed,
    /// Everything worked, and what it found is for somebody to fix.
    IssuesFound,
    /// Something is there and works, but not as it should: only `doctor` says so.
    Unfit,
}

impl Kind {
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Unfit => 1,
            Kind::Usage => 2,
            Kind::NotAllowed => 4,
            Kind::OutOfReach | Kind::Limited => 5,
            Kind::IssuesFound => 10,
            Kind::ReviewerFailed => 12,
            Kind::Merged => 15,
            Kind::Closed => 16,
            Kind::Stopped => 18,
            Kind::Journal => 74,
        }
    }

    pub fn of(error: &Error) -> Kind {
        match error {
            Error::Denied { .. } | Error::Unauthorised { .. } => Kind::NotAllowed,
            Error::Transient { .. } | Error::Malformed { .. } => Kind::OutOfReach,
            Error::RateLimited { .. } => Kind::Limited,
            Error::Gone { .. } | Error::Refused { .. } => Kind::Usage,
        }
    }
}

impl Failure {
    pub fn new(kind: Kind, sentence: impl fmt::Display) -> Self {
        Self { kind, sentence: sanitize::line(&sentence.to_string()).into_owned() }
    }

    pub fn usage(sentence: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, sentence)
    }

    /// What kept one pull request from being read.
    pub fn about(address: &PullRequestAddress, error: &Error) -> Self {
        Self::new(Kind::of(error), format_args!("{address}: {error}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(Kind::of(&error), error)
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        Self::new(Kind::NotAllowed, error)
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        Self::usage(error)
    }
}

impl From<AddressError> for Failure {
    fn from(error: AddressError) -> Self {
        Self::usage(error)
    }
}

impl From<CheckoutError> for Failure {
    fn from(error: CheckoutError) -> Self {
        Self::usage(error)
    }
}
