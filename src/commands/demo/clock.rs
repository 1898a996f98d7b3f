//! The supervisor's clock in the demo: it follows the simulator's virtual time.

use crate::simulator::Simulator;
use crate::supervisor::clock::Clock;
use jiff::Timestamp;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct SimulatedClock {
    simulator: Arc<Simulator>,
    /// How many virtual seconds pass per real second.
    speed: f64,
}

/// Virtual time has whole seconds, so the computed wait can be too short; then this much passes before the next check.
const SHORTEST: Duration = Duration::from_millis(5);

impl SimulatedClock {
    pub(super) fn new(simulator: Arc<Simulator>, speed: f64) -> SimulatedClock {
        SimulatedClock { simulator, speed: speed.max(0.001) }
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        self.simulator.now()
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            loop {
                let left = at.duration_since(self.now());
                if !left.is_positive() {
                    return;
                }
                let real =
                    Duration::try_from_secs_f64(left.as_secs_f64() / self.speed).unwrap_or(Duration::MAX);
                tokio::time::sleep(real.clamp(SHORTEST, Duration::from_hours(1))).await;
            }
        })
    }
}
