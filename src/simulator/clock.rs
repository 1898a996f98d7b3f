//! Virtual time. The simulated forge lives at an instant the scenario names, and moves on only as told.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

/// How virtual time relates to the wall's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClockMode {
    /// Stands still until somebody advances it: tests own every second.
    Manual,
    /// Runs at so many virtual seconds a real one; advancing it jumps ahead. For the demo.
    Running { speed: f64 },
}

/// Virtual time since the scenario's start, from what was advanced by hand and, where it runs, from the wall.
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
        // A scenario that runs past the year 9999 stands still there. GitHub's instants have whole seconds.
        let now = self.start.saturating_add(self.advanced.saturating_add(ran)).unwrap_or(Timestamp::MAX);
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }

    /// Jumps ahead; virtual time never goes back.
    pub(crate) fn advance(&mut self, by: Duration) {
        let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
        self.advanced = self.advanced.saturating_add(by);
    }
}

/// The simulator's only look at the wall clock.
#[expect(clippy::disallowed_methods, reason = "virtual time is mapped from real time here and nowhere else")]
fn wall() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_by_hand_only() {
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
