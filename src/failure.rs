//! Why a command failed, or could do only a part of its work: one sentence, and the exit code that scripts
//! read.

use crate::domain::review_loop::Exit;
use crate::github::discover::{CheckoutError, PullRequestAddressError};
use crate::github::host::HostError;
use crate::github::token::TokenError;
use crate::github::{Error, PullRequestAddress};
use crate::output::sanitize;
use std::fmt;

/// One sentence for a person, safe for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Failure {
    pub kind: FailureKind,
    sentence: String,
}

/// The kinds that scripts tell apart. If several occur, the first in this order chooses the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// No token, or not allowed.
    NotAllowed,
    /// GitHub did not answer, or sent no usable answer.
    OutOfReach,
    /// GitHub's rate limit asks us to wait.
    Limited,
    /// The journal cannot be used.
    Journal,
    /// Wrong usage, or something that does not exist.
    Usage,
    /// A person interrupted the command, or answered no.
    Stopped,
    /// The pull request is merged, so there is nothing to review.
    Merged,
    /// The pull request is closed, so there is nothing to review.
    Closed,
    /// A driven reviewer gave no valid answer.
    ReviewerFailed,
    /// Everything worked, and the reviewer found problems.
    IssuesFound,
    /// A check of `doctor` failed, although everything answers.
    Unfit,
}

/// Every exit code of the program, for every command. `docs/commands.md` lists them for users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    Success = 0,
    /// A check of `doctor` failed, although everything answers.
    Unfit = 1,
    /// Wrong usage or bad input, a pull request that does not exist included.
    Usage = 2,
    Configuration = 3,
    /// No token, or not allowed.
    NotAllowed = 4,
    /// GitHub did not answer, or its rate limit asks us to wait.
    OutOfReach = 5,
    IssuesFound = 10,
    Timeout = 11,
    /// A review failed, or cannot be read.
    ReviewFailed = 12,
    /// Threads wait for a person's decision.
    NeedsPerson = 13,
    RoundCap = 14,
    Merged = 15,
    Closed = 16,
    BreakGlass = 17,
    /// A person stopped the command, or answered no.
    Stopped = 18,
    /// A bug in Cloture.
    Bug = 70,
    /// The journal cannot be used, or standard output cannot be written.
    InputOutput = 74,
    /// The reader of standard output has gone: 128 and the number of SIGPIPE, as shells report it. It is no
    /// success, because nobody read the result.
    OutputClosed = 141,
}

impl ExitStatus {
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<&Exit> for ExitStatus {
    /// The exit code of each end of a loop (L4).
    fn from(exit: &Exit) -> Self {
        match exit {
            Exit::Success => ExitStatus::Success,
            Exit::NeedsPerson { .. } => ExitStatus::NeedsPerson,
            Exit::OutOfReach => ExitStatus::OutOfReach,
            Exit::IssuesFound { .. } => ExitStatus::IssuesFound,
            Exit::Timeout { .. } => ExitStatus::Timeout,
            Exit::WorkflowFailure { .. } | Exit::Unreadable { .. } => ExitStatus::ReviewFailed,
            Exit::RoundCap { .. } => ExitStatus::RoundCap,
            Exit::PrMerged => ExitStatus::Merged,
            Exit::PrClosed => ExitStatus::Closed,
            Exit::BreakGlass(_) => ExitStatus::BreakGlass,
            Exit::Stopped => ExitStatus::Stopped,
        }
    }
}

impl FailureKind {
    pub fn exit_status(self) -> ExitStatus {
        match self {
            FailureKind::Unfit => ExitStatus::Unfit,
            FailureKind::Usage => ExitStatus::Usage,
            FailureKind::NotAllowed => ExitStatus::NotAllowed,
            FailureKind::OutOfReach | FailureKind::Limited => ExitStatus::OutOfReach,
            FailureKind::IssuesFound => ExitStatus::IssuesFound,
            FailureKind::ReviewerFailed => ExitStatus::ReviewFailed,
            FailureKind::Merged => ExitStatus::Merged,
            FailureKind::Closed => ExitStatus::Closed,
            FailureKind::Stopped => ExitStatus::Stopped,
            FailureKind::Journal => ExitStatus::InputOutput,
        }
    }

    pub fn of(error: &Error) -> FailureKind {
        match error {
            Error::Denied { .. } | Error::Unauthorised { .. } => FailureKind::NotAllowed,
            Error::Transient { .. } | Error::Malformed { .. } => FailureKind::OutOfReach,
            Error::RateLimited { .. } => FailureKind::Limited,
            Error::Gone { .. } | Error::Refused { .. } | Error::Withheld { .. } => FailureKind::Usage,
        }
    }
}

impl Failure {
    pub fn new(kind: FailureKind, sentence: impl fmt::Display) -> Self {
        Self { kind, sentence: sanitize::line(&sentence.to_string()).into_owned() }
    }

    pub fn usage(sentence: impl fmt::Display) -> Self {
        Self::new(FailureKind::Usage, sentence)
    }

    /// Why one pull request could not be read.
    pub fn about(address: &PullRequestAddress, error: &Error) -> Self {
        Self::new(FailureKind::of(error), format_args!("{address}: {error}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(FailureKind::of(&error), error)
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        Self::new(FailureKind::NotAllowed, error)
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        Self::usage(error)
    }
}

impl From<PullRequestAddressError> for Failure {
    fn from(error: PullRequestAddressError) -> Self {
        Self::usage(error)
    }
}

impl From<CheckoutError> for Failure {
    fn from(error: CheckoutError) -> Self {
        Self::usage(error)
    }
}

#[cfg(test)]
mod tests {
    use super::ExitStatus;
    use crate::domain::re_review::BrokenGlass;
    use crate::domain::review_loop::{Exit, TimedOutOn};

    /// U6, L4: scripts rely on these codes, and `docs/watching.md` lists them.
    #[test]
    fn each_exit_of_a_loop_has_its_own_documented_code() {
        let codes = [
            (Exit::Success, 0),
            (Exit::OutOfReach, 5),
            (Exit::IssuesFound {}, 10),
            (Exit::NeedsPerson { threads: Vec::new() }, 13),
            (Exit::Timeout { missing: TimedOutOn::Anybody }, 11),
            (Exit::WorkflowFailure { reviewer: "orange".into(), reason: "It crashed.".to_owned() }, 12),
            (Exit::RoundCap { rounds: 3, author_gave_up: false }, 14),
            (Exit::PrMerged, 15),
            (Exit::PrClosed, 16),
            (Exit::BreakGlass(BrokenGlass::Label("stop".to_owned())), 17),
            (Exit::Stopped, 18),
        ];
        let page = include_str!("../docs/watching.md");
        for (exit, code) in codes {
            assert_eq!(ExitStatus::from(&exit).code(), code, "{exit:?}");
            let row = format!("| {code} | `{}` |", exit.name());
            assert!(page.contains(&row), "docs/watching.md has no row {row}");
        }
    }
}
