//! The pause that a rate limit asks for (L8). The forge answers one request with it and means all of them.

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
    pub(super) fn begin(&self, now: Timestamp, until: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(PauseSpan { since: now, until });
    }

    /// When the pause ends, or none if there is none now. A time from before the pause comes from a clock
    /// that was set back and says nothing about the time left, so it ends the pause.
    pub(super) fn until(&self, now: Timestamp) -> Option<Timestamp> {
        let span = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        span.filter(|span| (span.since..span.until).contains(&now)).map(|span| span.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_as_long_as_asked_and_no_clock_makes_it_longer() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let pause = RequestPause::default();
        assert_eq!(pause.until(at(100)), None);
        pause.begin(at(100), at(160));
        let until: Vec<_> = [99, 100, 159, 160].map(|now| pause.until(at(now))).into_iter().collect();
        assert_eq!(until, [None, Some(at(160)), Some(at(160)), None]);
    }
}
