//! What polling costs, and how often it can be afforded.

use super::super::limits::RateBudget;
use super::super::read::CallCost;
use jiff::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// Keeps count of the points.
#[derive(Debug, Clone, Default)]
pub struct PointLedger {
    budget: Option<RateBudget>,
    spent: u64,
    /// The price of the last polls, without what first reads of new pull requests cost: that does not recur.
    recent: VecDeque<u64>,
}

/// The budget as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetStatus {
    /// Points that polling has spent since it began.
    pub spent: u64,
    /// Points an hour, if it goes on like this.
    pub per_hour: u64,
    /// What the token has left, and until when; absent until GitHub said so.
    pub left: Option<(u64, Timestamp)>,
    /// How long to wait until the next poll.
    pub interval: Duration,
    /// Why the interval is longer than configured, in one sentence.
    pub stretched: Option<String>,
}

const REMEMBERED: usize = 5;

/// The part of the hourly limit that polling leaves for writing and for whatever else uses the token.
const RESERVED_TENTHS: u64 = 1;

impl PointLedger {
    pub fn record(&mut self, all: CallCost, recurring: u64) {
        self.spent += all.points;
        self.budget = all.budget.or(self.budget);
        self.recent.push_back(recurring);
        if self.recent.len() > REMEMBERED {
            self.recent.pop_front();
        }
    }

    /// The state of the budget, and the interval it allows.
    pub fn status(&self, now: Timestamp, wanted: Duration) -> BudgetStatus {
        let price = self.price();
        let (interval, stretched) = self.interval(now, wanted, price);
        let per_hour = price * 3600 / interval.as_secs().max(1);
        BudgetStatus {
            spent: self.spent,
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

    fn interval(&self, now: Timestamp, wanted: Duration, price: u64) -> (Duration, Option<String>) {
        let Some(budget) = self.budget.filter(|budget| budget.reset_at > now && price > 0) else {
            return (wanted, None);
        };
        let until_reset = budget.reset_at.duration_since(now).unsigned_abs();
        let reserved = budget.limit * RESERVED_TENTHS / 10;
        let affordable = budget.remaining.saturating_sub(reserved) / price;
        let left = format!(
            "{} points are left until {:.0}, {reserved} of them kept for writing, and a poll costs {price}",
            budget.remaining, budget.reset_at
        );
        if affordable == 0 {
            let sentence = format!("Polling rests for {} s: {left}.", until_reset.as_secs());
            return (until_reset.max(wanted), Some(sentence));
        }
        let slowest_needed = until_reset.as_secs().div_ceil(affordable);
        if slowest_needed <= wanted.as_secs() {
            return (wanted, None);
        }
        let sentence =
            format!("Polling every {slowest_needed} s instead of every {} s: {left}.", wanted.as_secs());
        (Duration::from_secs(slowest_needed), Some(sentence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(remaining: u64, price: u64, until_reset: i64) -> BudgetStatus {
        let mut ledger = PointLedger::default();
        let reset_at = Timestamp::from_second(1_000 + until_reset).unwrap();
        let budget = RateBudget { limit: 5_000, remaining, used: 0, reset_at, cost: Some(price) };
        ledger.record(CallCost { calls: 1, points: price, budget: Some(budget) }, price);
        ledger.status(Timestamp::from_second(1_000).unwrap(), Duration::from_mins(1))
    }

    #[test]
    fn a_budget_that_suffices_changes_nothing() {
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
                 500 of them kept for writing, and a poll costs 14."
            )
        );
        assert_eq!(status.per_hour, 420);
    }

    #[test]
    fn without_any_points_it_rests_until_the_reset() {
        let status = status(510, 14, 1_234);
        assert_eq!(status.interval.as_secs(), 1_234);
        assert!(status.stretched.unwrap().starts_with("Polling rests for 1234 s"));
    }

    #[test]
    fn a_budget_from_before_the_reset_says_nothing() {
        assert_eq!(status(0, 14, -1).stretched, None);
    }
}
