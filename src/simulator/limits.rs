//! GitHub's documented rate limits, counted in virtual time: points per hour, points per minute, new content.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::world::AccountId;

/// The limits; a scenario may change them.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatedLimits {
    pub graphql_points_per_hour: i64,
    pub rest_requests_per_hour: i64,
    /// The secondary limit. A mutation counts five points.
    pub points_per_minute: i64,
    pub content_per_minute: usize,
    pub content_per_hour: usize,
    pub nodes_per_call: u64,
}

impl Default for SimulatedLimits {
    fn default() -> Self {
        Self {
            graphql_points_per_hour: 5_000,
            rest_requests_per_hour: 5_000,
            points_per_minute: 2_000,
            content_per_minute: 80,
            content_per_hour: 500,
            nodes_per_call: 500_000,
        }
    }
}

/// GitHub counts GraphQL and REST separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Resource {
    Graphql,
    Core,
}

impl Resource {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Graphql => "graphql",
            Self::Core => "core",
        }
    }
}

/// The budget of one hour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HourlyBudget {
    pub(crate) limit: i64,
    pub(crate) used: i64,
    pub(crate) reset_at: Timestamp,
}

impl HourlyBudget {
    pub(crate) fn remaining(&self) -> i64 {
        (self.limit - self.used).max(0)
    }
}

/// Which limit a request exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exceeded {
    Primary,
    Secondary { retry_after: i64 },
}

/// The usage of each account.
#[derive(Debug)]
pub(crate) struct UsageLedger {
    limits: SimulatedLimits,
    budgets: BTreeMap<(AccountId, Resource), HourlyBudget>,
    spent: BTreeMap<AccountId, VecDeque<(Timestamp, i64)>>,
    content: BTreeMap<AccountId, VecDeque<Timestamp>>,
}

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

impl UsageLedger {
    pub(crate) fn new(limits: SimulatedLimits) -> Self {
        Self { limits, budgets: BTreeMap::new(), spent: BTreeMap::new(), content: BTreeMap::new() }
    }

    pub(crate) fn limits(&self) -> SimulatedLimits {
        self.limits
    }

    /// The current budget. A new hour starts with the first request after the last hour ended.
    pub(crate) fn budget(&mut self, who: AccountId, resource: Resource, now: Timestamp) -> HourlyBudget {
        let limit = match resource {
            Resource::Graphql => self.limits.graphql_points_per_hour,
            Resource::Core => self.limits.rest_requests_per_hour,
        };
        let fresh = HourlyBudget { limit, used: 0, reset_at: later(now, HOUR) };
        let budget = self.budgets.entry((who, resource)).or_insert(fresh);
        if budget.reset_at <= now {
            *budget = fresh;
        }
        *budget
    }

    /// Charges a request to its budgets, or names the exhausted one. A refused request costs nothing.
    pub(crate) fn charge(
        &mut self,
        who: AccountId,
        resource: Resource,
        points: i64,
        creates_content: bool,
        now: Timestamp,
    ) -> Result<HourlyBudget, Exceeded> {
        let budget = self.budget(who, resource, now);
        if budget.remaining() == 0 {
            return Err(Exceeded::Primary);
        }
        let weight = if creates_content { 5 } else { 1 };
        let spent = self.spent.entry(who).or_default();
        while spent.front().is_some_and(|(at, _)| later(*at, MINUTE) <= now) {
            spent.pop_front();
        }
        if spent.iter().map(|(_, points)| points).sum::<i64>() + weight > self.limits.points_per_minute {
            return Err(Exceeded::Secondary { retry_after: 60 });
        }
        if creates_content {
            let made = self.content.entry(who).or_default();
            while made.front().is_some_and(|at| later(*at, HOUR) <= now) {
                made.pop_front();
            }
            let recent = made.iter().filter(|at| later(**at, MINUTE) > now).count();
            if recent >= self.limits.content_per_minute || made.len() >= self.limits.content_per_hour {
                return Err(Exceeded::Secondary { retry_after: 60 });
            }
            made.push_back(now);
        }
        spent.push_back((now, weight));
        let budget = self.budgets.entry((who, resource)).or_insert(budget);
        budget.used = (budget.used + points).min(budget.limit);
        Ok(*budget)
    }
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHO: AccountId = AccountId(0);

    #[test]
    fn an_hourly_budget_runs_out_and_comes_back() {
        let now = Timestamp::UNIX_EPOCH;
        let mut ledger =
            UsageLedger::new(SimulatedLimits { graphql_points_per_hour: 3, ..SimulatedLimits::default() });
        assert_eq!(ledger.charge(WHO, Resource::Graphql, 2, false, now).unwrap().remaining(), 1);
        assert_eq!(ledger.charge(WHO, Resource::Graphql, 2, false, now).unwrap().remaining(), 0);
        assert_eq!(ledger.charge(WHO, Resource::Graphql, 1, false, now).unwrap_err(), Exceeded::Primary);
        assert_eq!(ledger.charge(WHO, Resource::Core, 1, false, now).unwrap().used, 1);
        let next = now + HOUR;
        assert_eq!(ledger.charge(WHO, Resource::Graphql, 1, false, next).unwrap().used, 1);
    }

    #[test]
    fn new_content_is_limited_per_minute() {
        let now = Timestamp::UNIX_EPOCH;
        let mut ledger =
            UsageLedger::new(SimulatedLimits { content_per_minute: 2, ..SimulatedLimits::default() });
        for _ in 0..2 {
            assert!(ledger.charge(WHO, Resource::Core, 1, true, now).is_ok());
        }
        let refused = ledger.charge(WHO, Resource::Core, 1, true, now).unwrap_err();
        assert_eq!(refused, Exceeded::Secondary { retry_after: 60 });
        assert!(ledger.charge(WHO, Resource::Core, 1, true, now + MINUTE).is_ok());
    }
}
