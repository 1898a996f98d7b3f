//! Virtual time. It starts at the scenario's `start`, and tests or a speed factor move it.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

/// How virtual time relates to real time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClockMode {
    /// Stands still until `advance`: tests control every second.
    Manual,
    /// Runs at `speed` virtual seconds per real second, for the demo. `advance` jumps ahead.
    Running { speed: f64 },
}

/// The scenario's start plus the advanced time, plus scaled real time if the clock runs.
#[derive(Debug)]
pub(crate) struct VirtualClock {
    start: Timestamp,
    mode: ClockMode,
    advanced: SignedDuration,
    begun: Instant,
}

impl VirtualClock {
    pub(crate) fn new(start: Timestamp, mode: ClockMode) -> Self {
        Self { start, mode, advanced: SignedDuration::ZERO, begun: wall() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        let ran = match self.mode {
            ClockMode::Manual => SignedDuration::ZERO,
            ClockMode::Running { speed } => {
                let real = wall().duration_since(self.begun);
                SignedDuration::try_from_secs_f64(real.as_secs_f64() * speed.max(0.0))
                    .unwrap_or(SignedDuration::ZERO)
            }
        };
        // Time stops at the year 9999. GitHub's timestamps have whole seconds.
        let now = self.start.saturating_add(self.advanced.saturating_add(ran)).unwrap_or(Timestamp::MAX);
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }

    /// Jumps ahead. Virtual time never goes back.
    pub(crate) fn advance(&mut self, by: Duration) {
        let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
        self.advanced = self.advanced.saturating_add(by);
    }
}

/// The simulator reads the real clock only here.
#[expect(clippy::disallowed_methods, reason = "virtual time is mapped from real time here and nowhere else")]
fn wall() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_advanced() {
        let start: Timestamp = "2026-03-02T09:00:00Z".parse().unwrap();
        let mut clock = VirtualClock::new(start, ClockMode::Manual);
        assert_eq!(clock.now(), start);
        clock.advance(Duration::from_secs(90));
        assert_eq!(clock.now().to_string(), "2026-03-02T09:01:30Z");
    }

    #[test]
    fn a_running_clock_never_goes_back() {
        let mut clock = VirtualClock::new(Timestamp::UNIX_EPOCH, ClockMode::Running { speed: 60.0 });
        let first = clock.now();
        clock.advance(Duration::from_mins(1));
        assert!(clock.now() >= first + SignedDuration::from_secs(60));
    }
}
