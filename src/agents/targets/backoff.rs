//! When a task that was not taken is tried again. Pure: it reads no clock and waits for nothing.

use super::DeliveryOutcome;
use std::time::Duration;

/// Waits that double, and an end to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// After the first try.
    pub first: Duration,
    pub longest: Duration,
    /// With this many made, the task is stuck until a person does something.
    pub tries: u32,
}

/// What follows from a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryDecision {
    Done,
    /// To be tried again after this time.
    Again(Duration),
    /// Not tried again by itself, and why.
    Stuck(String),
}

impl Default for Backoff {
    /// Six tries within half an hour: enough for a restart of somebody's server, and not for a weekend.
    fn default() -> Self {
        Self { first: Duration::from_mins(1), longest: Duration::from_hours(1), tries: 6 }
    }
}

impl Backoff {
    /// What follows when `made` tries have been made and the last ended so.
    pub fn after(&self, made: u32, outcome: &DeliveryOutcome) -> RetryDecision {
        match outcome {
            DeliveryOutcome::Taken { .. } => RetryDecision::Done,
            DeliveryOutcome::Unknown(_) => RetryDecision::Stuck(outcome.sentence()),
            DeliveryOutcome::Refused(reason) if made >= self.tries => {
                let times = if made == 1 { "once".to_owned() } else { format!("{made} times") };
                RetryDecision::Stuck(format!(
                    "It was tried {times} and not taken, the last time because: {reason}."
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
    fn the_wait_doubles_up_to_its_longest_and_then_the_task_is_stuck_with_the_reason() {
        let backoff = Backoff { first: Duration::from_secs(10), longest: Duration::from_mins(1), tries: 5 };
        let refused = DeliveryOutcome::Refused("no".to_owned());
        let waits: Vec<RetryDecision> = (1..=4).map(|made| backoff.after(made, &refused)).collect();
        assert_eq!(waits, [10, 20, 40, 60].map(|seconds| RetryDecision::Again(Duration::from_secs(seconds))));
        let stuck = "It was tried 5 times and not taken, the last time because: no.".to_owned();
        assert_eq!(backoff.after(5, &refused), RetryDecision::Stuck(stuck));
        let endless = Backoff { tries: u32::MAX, ..backoff };
        assert_eq!(endless.after(u32::MAX - 1, &refused), RetryDecision::Again(Duration::from_mins(1)));
    }

    #[test]
    fn what_may_have_arrived_is_never_tried_again_by_itself() {
        let unknown = Backoff::default().after(1, &DeliveryOutcome::Unknown("no answer".to_owned()));
        assert!(
            matches!(&unknown, RetryDecision::Stuck(reason) if reason.contains("no answer")),
            "{unknown:?}"
        );
        assert_eq!(Backoff::default().after(1, &DeliveryOutcome::Taken { url: None }), RetryDecision::Done);
    }
}
