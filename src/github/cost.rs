//! What calls to GitHub cost.

use super::call::ApiReply;
use super::error::{Error, RequestSent};
use super::limits::RateBudget;

/// The cost of some calls together, and the budget that was left after the last one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCost {
    pub points: u64,
    pub budget: Option<RateBudget>,
}

impl CallCost {
    pub fn count(&mut self, budget: Option<RateBudget>) {
        // Without a price from GitHub, count one point: the least that a call costs.
        self.points += budget.and_then(|budget| budget.cost).unwrap_or(1);
        self.budget = budget.or(self.budget);
    }

    /// GitHub also charges for a call that failed, unless it rejected the call before it ran.
    pub fn count_outcome(&mut self, outcome: &Result<ApiReply, Error>) {
        match outcome {
            Ok(reply) => self.count(reply.budget),
            Err(
                Error::RateLimited { .. }
                | Error::Unauthorised { .. }
                | Error::Transient { sent: RequestSent::No, .. },
            ) => {}
            Err(_) => self.count(None),
        }
    }

    pub fn add(&mut self, other: CallCost) {
        self.points += other.points;
        self.budget = other.budget.or(self.budget);
    }
}
