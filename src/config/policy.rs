//! Checks `[policy]`. The ranges are wide, because `cloture bound` shows the effect of a policy. They exclude
//! only values that would break a rule or are typing mistakes.

use super::check::{Checks, Problem};
use super::{TypedValue, typed};
use crate::domain::policy::Policy;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A larger number is a typing mistake.
const MOST: u32 = 1_000_000_000;
/// With 0 the bound on cycles would not hold: a thread needs one cycle to open and one to end.
const REPEAT_LIMIT: RangeInclusive<u32> = 1..=MOST;
const FLIP_LIMIT: RangeInclusive<u32> = 0..=MOST;
const REOPEN_LIMIT: RangeInclusive<u32> = 0..=MOST;
const CYCLE_RETRIES: RangeInclusive<u32> = 0..=MOST;
/// With 0 nothing would ever be reviewed.
const MAX_REVIEW_ITERATIONS: RangeInclusive<u32> = 1..=MOST;
/// With 0 no observed reviewer is ever asked.
const MAX_ASKS: RangeInclusive<u32> = 0..=MOST;
const LINE_SLACK: RangeInclusive<u32> = 0..=MOST;
/// The scale of the similarity itself.
const SIMILARITY_THRESHOLD: RangeInclusive<f64> = 0.0..=1.0;
/// GitHub takes more frequent polling for abuse.
const POLL_INTERVAL: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(7 * 24);
/// With 0 the loop would give up before its first poll.
const MAX_ATTEMPTS: RangeInclusive<u32> = 1..=MOST;
/// With 0 the author's agent never runs.
const MAX_ROUNDS: RangeInclusive<u32> = 0..=MOST;
const MAX_RESTARTS: RangeInclusive<u32> = 0..=MOST;
/// With 0 a reviewer could not report anything.
const MAX_FINDINGS_PER_ANSWER: RangeInclusive<u32> = 1..=MOST;
/// A smaller answer cannot hold a finding; a larger one takes too much memory.
const MAX_ANSWER_BYTES: RangeInclusive<u32> = 1024..=1024 * 1024 * 1024;

impl typed::TypedPolicy {
    /// The policy with its defaults, or all problems.
    pub fn validated(&self) -> Result<Policy, Vec<Problem>> {
        // Destructured, so that a new key does not compile until it is checked.
        let typed::TypedPolicy {
            repeat_limit,
            flip_limit,
            reopen_limit,
            cycle_retries,
            max_review_iterations,
            max_asks,
            line_slack,
            similarity_threshold,
            poll_interval,
            max_attempts,
            max_rounds,
            max_restarts,
            max_findings_per_answer,
            max_answer_bytes,
        } = self;
        let default = Policy::default();
        let mut checks = Checks::of("policy");
        let similarity_threshold =
            checks.number("similarity_threshold", similarity_threshold.as_ref(), &SIMILARITY_THRESHOLD);
        let poll_interval = checks.duration("poll_interval", poll_interval.as_ref(), &POLL_INTERVAL);
        let mut limit = |key, typed: &Option<TypedValue>, range, default| {
            checks.whole(key, typed.as_ref(), &range).unwrap_or(default)
        };
        let policy = Policy {
            repeat_limit: limit("repeat_limit", repeat_limit, REPEAT_LIMIT, default.repeat_limit),
            flip_limit: limit("flip_limit", flip_limit, FLIP_LIMIT, default.flip_limit),
            reopen_limit: limit("reopen_limit", reopen_limit, REOPEN_LIMIT, default.reopen_limit),
            cycle_retries: limit("cycle_retries", cycle_retries, CYCLE_RETRIES, default.cycle_retries),
            max_review_iterations: limit(
                "max_review_iterations",
                max_review_iterations,
                MAX_REVIEW_ITERATIONS,
                default.max_review_iterations,
            ),
            max_asks: limit("max_asks", max_asks, MAX_ASKS, default.max_asks),
            line_slack: limit("line_slack", line_slack, LINE_SLACK, default.line_slack),
            similarity_threshold: similarity_threshold.unwrap_or(default.similarity_threshold),
            poll_interval: poll_interval.unwrap_or(default.poll_interval),
            max_attempts: limit("max_attempts", max_attempts, MAX_ATTEMPTS, default.max_attempts),
            max_rounds: limit("max_rounds", max_rounds, MAX_ROUNDS, default.max_rounds),
            max_restarts: limit("max_restarts", max_restarts, MAX_RESTARTS, default.max_restarts),
            max_findings_per_answer: limit(
                "max_findings_per_answer",
                max_findings_per_answer,
                MAX_FINDINGS_PER_ANSWER,
                default.max_findings_per_answer,
            ),
            max_answer_bytes: limit(
                "max_answer_bytes",
                max_answer_bytes,
                MAX_ANSWER_BYTES,
                default.max_answer_bytes,
            ),
        };
        checks.finish(policy)
    }
}
