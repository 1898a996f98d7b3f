//! Until when the forge wants to be left alone (L8). It says so to one request and means all of them.

use jiff::Timestamp;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(super) struct RequestPause(Mutex<Option<PauseSpan>>);

#[derive(Debug, Clone, Copy)]
struct PauseSpan {
    since: Timestamp,
    until: Timestamp,
}

impl RequestPause {
    /// The forge asked for patience.
    pub(super) fn begin(&self, now: Timestamp, until: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(PauseSpan { since: now, until });
    }

    /// When it may be written to again; none where it may be now. A time before it asked is that of a clock that was set
    /// back, by which nobody can tell how long is left.
    pub(super) fn until(&self, now: Timestamp) -> Option<Timestamp> {
        let span = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        span.filter(|span| (span.since..span.until).contains(&now)).map(|span| span.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_as_long_as_was_asked_and_no_clock_makes_it_longer() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let left_alone = RequestPause::default();
        assert_eq!(left_alone.until(at(100)), None);
        left_alone.begin(at(100), at(160));
        let until: Vec<_> = [99, 100, 159, 160].map(|now| left_alone.until(at(now))).into_iter().collect();
        assert_eq!(until, [None, Some(at(160)), Some(at(160)), None]);
    }
}
