//! The points that polling costs, and the interval that they allow.

use super::super::cost::CallCost;
use super::super::limits::RateBudget;
use jiff::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// Counts the points that polls cost.
#[derive(Debug, Clone, Default)]
pub struct PointLedger {
    budget: Option<RateBudget>,
    /// The prices of the last polls, without the first reads of new pull requests: those do not recur.
    recent: VecDeque<u64>,
}

/// The budget as Cloture shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetStatus {
    /// Points an hour at the present rate.
    pub per_hour: u64,
    /// The points that the token has left and when they reset, once GitHub has stated them.
    pub left: Option<(u64, Timestamp)>,
    /// The wait until the next poll.
    pub interval: Duration,
    /// Why the interval is longer than configured, in one sentence.
    pub stretched: Option<String>,
}

const REMEMBERED: usize = 5;

/// The tenths of the hourly limit that polling leaves for writes and for other users of the token.
const RESERVED_TENTHS: u64 = 1;

impl PointLedger {
    pub fn record(&mut self, all: CallCost, recurring: u64) {
        self.budget = all.budget.or(self.budget);
        self.recent.push_back(recurring);
        if self.recent.len() > REMEMBERED {
            self.recent.pop_front();
        }
    }

    /// The state of the budget, and the interval that it allows.
    pub fn status(&self, now: Timestamp, configured: Duration) -> BudgetStatus {
        let price = self.price();
        let (interval, stretched) = self.interval(now, configured, price);
        let per_hour = price * 3600 / interval.as_secs().max(1);
        BudgetStatus {
            per_hour,
            left: self.budget.map(|budget| (budget.remaining, budget.reset_at)),
            interval,
            stretched,
        }
    }

    /// The price of a poll: the average of the last few, rounded up.
    fn price(&self) -> u64 {
        let polls = self.recent.len() as u64;
        if polls == 0 { 0 } else { self.recent.iter().sum::<u64>().div_ceil(polls) }
    }

    fn interval(&self, now: Timestamp, configured: Duration, price: u64) -> (Duration, Option<String>) {
        let Some(budget) = self.budget.filter(|budget| budget.reset_at > now && price > 0) else {
            return (configured, None);
        };
        let until_reset = budget.reset_at.duration_since(now).unsigned_abs();
        let reserved = budget.limit * RESERVED_TENTHS / 10;
        let affordable = budget.remaining.saturating_sub(reserved) / price;
        let left = format!(
            "{} points are left until {:.0}, {reserved} of them for writing, and a poll costs {price}",
            budget.remaining, budget.reset_at
        );
        if affordable == 0 {
            let sentence = format!("Polling pauses for {} s: {left}.", until_reset.as_secs());
            return (until_reset.max(configured), Some(sentence));
        }
        let affordable_interval = until_reset.as_secs().div_ceil(affordable);
        if affordable_interval <= configured.as_secs() {
            return (configured, None);
        }
        let sentence = format!(
            "Polling every {affordable_interval} s instead of every {} s: {left}.",
            configured.as_secs()
        );
        (Duration::from_secs(affordable_interval), Some(sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(remaining: u64, price: u64, until_reset: i64) -> BudgetStatus {
        let mut ledger = PointLedger::default();
        let reset_at = Timestamp::from_second(1_000 + until_reset).unwrap();
        let budget = RateBudget { limit: 5_000, remaining, reset_at, cost: Some(price) };
        ledger.record(CallCost { points: price, budget: Some(budget) }, price);
        ledger.status(Timestamp::from_second(1_000).unwrap(), Duration::from_mins(1))
    }

    #[test]
    fn a_sufficient_budget_keeps_the_configured_interval() {
        let status = status(4_000, 14, 3_600);
        assert_eq!((status.interval.as_secs(), status.per_hour, status.stretched), (60, 840, None));
    }

    #[test]
    fn a_budget_that_would_run_out_stretches_the_interval_and_says_so() {
        let status = status(920, 14, 3_600);
        // 420 points to spend, 14 each: 30 polls until the reset.
        assert_eq!(status.interval.as_secs(), 120);
        assert_eq!(
            status.stretched.as_deref(),
            Some(
                "Polling every 120 s instead of every 60 s: 920 points are left until 1970-01-01T01:16:40Z, \
                 500 of them for writing, and a poll costs 14."
            )
        );
        assert_eq!(status.per_hour, 420);
    }

    #[test]
    fn without_spare_points_polling_pauses_until_the_reset() {
        let status = status(510, 14, 1_234);
        assert_eq!(status.interval.as_secs(), 1_234);
        assert!(status.stretched.unwrap().starts_with("Polling pauses for 1234 s"));
    }

    #[test]
    fn a_budget_from_before_the_reset_is_ignored() {
        assert_eq!(status(0, 14, -1).stretched, None);
    }
}
