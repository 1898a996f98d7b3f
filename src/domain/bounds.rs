//! The worst case of a configuration (T8): what `cloture bound` prints and the proof checks.

use super::handoff::{HandoffMode, HandoffRules};
use super::policy::Policy;
use serde::Serialize;

/// The most that one call of a driven reviewer costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallPrice {
    pub per_call: f64,
}

/// The most that the configuration in force can lead to, however reviewers and authors misbehave. People's
/// decisions are not counted: each return of a thread, granted round and reopening by somebody who may override
/// adds to these figures. A contributor's reopening adds nothing.
/// Scripts read the field names.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bounds {
    pub cycles_per_thread: u64,
    /// For one driven reviewer on one pull request, since the last reopening by somebody who may override.
    pub calls_per_reviewer: u64,
    pub reviewers: u64,
    pub reviewer_calls_per_pr: u64,
    /// Requests for a review by one observed reviewer, since the last reopening by somebody who may override.
    pub asks_per_observed_reviewer: u64,
    pub author_rounds_per_pr: u64,
    /// As if every finding of a driven reviewer became a task of its own.
    pub handoff_tasks_per_pr: u64,
    pub automatic_chain_depth: u64,
    /// None if a price is missing in the configuration.
    pub money_per_pr: Option<f64>,
}

/// Computes the worst case. `prices` has one entry per driven reviewer. With no reviewer configured, the
/// figures are for one: zero calls would be true and useless.
pub fn bounds(
    policy: &Policy,
    handoff: &HandoffRules,
    prices: &[Option<CallPrice>],
    author_price: Option<CallPrice>,
) -> Bounds {
    let reviewers = prices.len().max(1) as u64;
    let calls_per_reviewer = policy.calls_per_reviewer();
    let author_rounds_per_pr = u64::from(policy.max_rounds);
    let findings_per_reviewer =
        u64::from(policy.max_review_iterations).saturating_mul(u64::from(policy.max_findings_per_answer));
    let spent_on_reviews: Option<f64> =
        prices.iter().map(|price| price.map(|price| price.per_call * as_money(calls_per_reviewer))).sum();
    let spent_on_author = author_price.map_or(0.0, |price| price.per_call * as_money(author_rounds_per_pr));
    Bounds {
        cycles_per_thread: policy.cycles_per_thread(),
        calls_per_reviewer,
        reviewers,
        reviewer_calls_per_pr: reviewers.saturating_mul(calls_per_reviewer),
        asks_per_observed_reviewer: u64::from(policy.max_asks),
        author_rounds_per_pr,
        handoff_tasks_per_pr: reviewers.saturating_mul(findings_per_reviewer),
        automatic_chain_depth: u64::from(handoff.mode != HandoffMode::Off),
        money_per_pr: spent_on_reviews
            .filter(|_| !prices.is_empty())
            .map(|reviews| reviews + spent_on_author),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of calls are far below 2^52, and money is an estimate"
)]
fn as_money(count: u64) -> f64 {
    count as f64
}
