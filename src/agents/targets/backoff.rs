//! When to send a refused task again. Pure: reads no clock and does not wait.

use super::DeliveryOutcome;
use std::time::Duration;

/// Waits that double, up to a number of tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first try.
    pub first: Duration,
    pub longest: Duration,
    /// After so many tries the task is stuck until a person acts.
    pub tries: u32,
}

/// What to do after a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryDecision {
    Done,
    /// Try again after this time.
    Again(Duration),
    /// Cloture does not try again, for this reason.
    Stuck(String),
}

impl Default for Backoff {
    /// Six tries within about half an hour, enough for a server to restart.
    fn default() -> Self {
        Self { first: Duration::from_mins(1), longest: Duration::from_hours(1), tries: 6 }
    }
}

impl Backoff {
    /// The decision after `made` tries that count, and this outcome of the last try.
    pub fn after(&self, made: u32, outcome: &DeliveryOutcome) -> RetryDecision {
        match outcome {
            DeliveryOutcome::Taken { .. } => RetryDecision::Done,
            DeliveryOutcome::Unknown(_) | DeliveryOutcome::Withheld(_) => {
                RetryDecision::Stuck(outcome.sentence())
            }
            DeliveryOutcome::Limited { wait, .. } => RetryDecision::Again(*wait),
            DeliveryOutcome::Refused(reason) if made >= self.tries => {
                let times = if made == 1 { "once".to_owned() } else { format!("{made} times") };
                RetryDecision::Stuck(format!(
                    "Cloture tried {times}, and the target refused the task. The last reason: {reason}."
                ))
            }
            DeliveryOutcome::Refused(_) => {
                let doubled = 2_u32.saturating_pow(made.saturating_sub(1));
                RetryDecision::Again(self.first.saturating_mul(doubled).min(self.longest))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_a_limit_until_the_task_is_stuck() {
        let backoff = Backoff { first: Duration::from_secs(10), longest: Duration::from_mins(1), tries: 5 };
        let refused = DeliveryOutcome::Refused("no".to_owned());
        let waits: Vec<RetryDecision> = (1..=4).map(|made| backoff.after(made, &refused)).collect();
        assert_eq!(waits, [10, 20, 40, 60].map(|seconds| RetryDecision::Again(Duration::from_secs(seconds))));
        let stuck = "Cloture tried 5 times, and the target refused the task. The last reason: no.".to_owned();
        assert_eq!(backoff.after(5, &refused), RetryDecision::Stuck(stuck));
        let endless = Backoff { tries: u32::MAX, ..backoff };
        assert_eq!(endless.after(u32::MAX - 1, &refused), RetryDecision::Again(Duration::from_mins(1)));
    }

    #[test]
    fn h4_a_task_that_may_have_arrived_is_not_sent_again() {
        let unknown = Backoff::default().after(1, &DeliveryOutcome::Unknown("no answer".to_owned()));
        assert!(
            matches!(&unknown, RetryDecision::Stuck(reason) if reason.contains("no answer")),
            "{unknown:?}"
        );
        assert_eq!(Backoff::default().after(1, &DeliveryOutcome::Taken { url: None }), RetryDecision::Done);
    }
}
