//! The faults: the columns of the matrix.

use cloture::simulator::{Fault, FaultKind, Simulator};
use jiff::SignedDuration;
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    // The forge and the way to it
    ServerError,
    /// The request took effect anyway.
    BadGateway,
    DroppedBefore,
    DroppedAfter,
    Truncated,
    /// An answer that comes byte by byte and never ends.
    SlowLoris,
    /// No answer at all, or a program that does not end.
    Hangs,
    BadToken,
    NotAllowed,
    Gone,
    SecondaryLimit,
    HourlyLimit,
    PartialData,
    NoSuchHost,

    // This machine
    ClockForward,
    ClockBack,
    DiskFull,
    JournalLocked,
    JournalDamaged,
}

/// A reserved name that never resolves.
pub(crate) const NOBODY: &str = "https://nothing.invalid";

impl Trouble {
    pub(crate) const ALL: [Trouble; 19] = [
        Trouble::ServerError,
        Trouble::BadGateway,
        Trouble::DroppedBefore,
        Trouble::DroppedAfter,
        Trouble::Truncated,
        Trouble::SlowLoris,
        Trouble::Hangs,
        Trouble::BadToken,
        Trouble::NotAllowed,
        Trouble::Gone,
        Trouble::SecondaryLimit,
        Trouble::HourlyLimit,
        Trouble::PartialData,
        Trouble::NoSuchHost,
        Trouble::ClockForward,
        Trouble::ClockBack,
        Trouble::DiskFull,
        Trouble::JournalLocked,
        Trouble::JournalDamaged,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Trouble::ServerError => "500",
            Trouble::BadGateway => "502 as HTML",
            Trouble::DroppedBefore => "dropped before",
            Trouble::DroppedAfter => "dropped after",
            Trouble::Truncated => "truncated",
            Trouble::SlowLoris => "slow-loris",
            Trouble::Hangs => "hangs",
            Trouble::BadToken => "401",
            Trouble::NotAllowed => "403",
            Trouble::Gone => "404",
            Trouble::SecondaryLimit => "secondary limit",
            Trouble::HourlyLimit => "hourly limit",
            Trouble::PartialData => "partial data",
            Trouble::NoSuchHost => "no such host",
            Trouble::ClockForward => "clock +6 h",
            Trouble::ClockBack => "clock -6 h",
            Trouble::DiskFull => "disk full",
            Trouble::JournalLocked => "journal locked",
            Trouble::JournalDamaged => "journal damaged",
        }
    }

    /// The simulator's fault. `field` is the part that a partial answer leaves out.
    pub(crate) fn on_forge(self, field: &str) -> Option<FaultKind> {
        Some(match self {
            Trouble::ServerError => {
                FaultKind::Status { status: 500, message: String::new(), takes_effect: false }
            }
            Trouble::BadGateway => FaultKind::BadGateway { takes_effect: true },
            Trouble::DroppedBefore => FaultKind::DropBefore,
            Trouble::DroppedAfter => FaultKind::DropAfter,
            Trouble::Truncated => FaultKind::Truncated,
            Trouble::SlowLoris => FaultKind::Endless { millis: 20 },
            Trouble::Hangs => FaultKind::Stall { millis: 600_000 },
            Trouble::BadToken => FaultKind::Unauthorized,
            Trouble::NotAllowed => FaultKind::Forbidden {
                message: "Resource not accessible by personal access token".to_owned(),
            },
            Trouble::Gone => FaultKind::NotFound,
            Trouble::SecondaryLimit => FaultKind::SecondaryLimit { retry_after: 90, as_success: false },
            Trouble::HourlyLimit => {
                FaultKind::PrimaryLimit { reset_in: 1800, error_type: "RATE_LIMITED".to_owned() }
            }
            Trouble::PartialData => FaultKind::Partial {
                path: vec![json!(field)],
                error_type: "INTERNAL".to_owned(),
                message: "Something broke.".to_owned(),
            },
            Trouble::NoSuchHost
            | Trouble::ClockForward
            | Trouble::ClockBack
            | Trouble::DiskFull
            | Trouble::JournalLocked
            | Trouble::JournalDamaged => return None,
        })
    }

    pub(crate) fn jump(self) -> Option<SignedDuration> {
        match self {
            Trouble::ClockForward => Some(SignedDuration::from_hours(6)),
            Trouble::ClockBack => Some(SignedDuration::from_hours(-6)),
            _ => None,
        }
    }

    /// Whether no sentence is needed, because nobody has to act and nothing is late.
    pub(crate) fn is_silent(self) -> bool {
        self.jump().is_some()
    }

    /// Whether the fault is in the whole forge and not in one answer.
    pub(crate) fn is_everywhere(self) -> bool {
        matches!(self, Trouble::BadToken | Trouble::Gone | Trouble::SecondaryLimit | Trouble::HourlyLimit)
    }

    /// Begins on the forge and lasts until the test clears the faults.
    pub(crate) fn begin(self, simulator: &Simulator, aim: &str, field: &str) {
        if let Some(kind) = self.on_forge(field) {
            simulator.inject(Fault::always(aim, kind));
        }
    }
}

/// The number of requests that a fault struck.
pub(crate) fn struck(simulator: &Simulator) -> usize {
    simulator.requests().iter().filter(|request| request.outcome.starts_with("fault: ")).count()
}

/// Text in these sentences that no person may see.
pub(crate) fn leak(shown: &[String]) -> Option<String> {
    let bad = |text: &&String| {
        text.contains("secret") || text.contains(crate::support::program::TOKEN) || text.contains("panicked")
    };
    shown.iter().find(bad).cloned()
}
