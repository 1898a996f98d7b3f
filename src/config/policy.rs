//! The limits of the limits. They are as wide as can be, because a small or large policy is a team's own
//! business and `cloture bound` tells what it leads to; each end only shuts out what would mean something else
//! than it says.

use super::check::{Checks, Problem};
use super::{TypedValue, typed};
use crate::domain::policy::Policy;
use std::ops::RangeInclusive;
use std::time::Duration;

/// More than anybody means; a larger number is a slip of the keyboard.
const MOST: u32 = 1_000_000_000;
/// With 0 the bound on cycles would not hold: a thread has its opening cycle and one in which to end.
const REPEAT_LIMIT: RangeInclusive<u32> = 1..=MOST;
const FLIP_LIMIT: RangeInclusive<u32> = 0..=MOST;
const REOPEN_LIMIT: RangeInclusive<u32> = 0..=MOST;
const CYCLE_RETRIES: RangeInclusive<u32> = 0..=MOST;
/// With 0 nothing would ever be reviewed.
const MAX_REVIEW_ITERATIONS: RangeInclusive<u32> = 1..=MOST;
const LINE_SLACK: RangeInclusive<u32> = 0..=MOST;
/// The scale of the similarity itself.
const SIMILARITY_THRESHOLD: RangeInclusive<f64> = 0.0..=1.0;
/// Under a second a forge counts polling as abuse; a wait of more than a week between two polls waits for
/// nobody.
const POLL_INTERVAL: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(7 * 24);
/// With 0 the loop would give up before it looked.
const MAX_ATTEMPTS: RangeInclusive<u32> = 1..=MOST;
/// 0 means that findings are never handed to the author. Every round is paid for.
const MAX_ROUNDS: RangeInclusive<u32> = 0..=MOST;
const MAX_RESTARTS: RangeInclusive<u32> = 0..=MOST;
/// With 0 a reviewer could not report anything.
const MAX_FINDINGS_PER_ANSWER: RangeInclusive<u32> = 1..=MOST;
/// Less than this does not hold one finding; more would not be held in memory lightly.
const MAX_ANSWER_BYTES: RangeInclusive<u32> = 1024..=1024 * 1024 * 1024;

impl typed::TypedPolicy {
    /// The policy with its defaults filled in, or everything that is wrong with it.
    pub fn validated(&self) -> Result<Policy, Vec<Problem>> {
        // Taken apart by name, so that a key which is read but never checked does not compile.
        let typed::TypedPolicy {
            repeat_limit,
            flip_limit,
            reopen_limit,
            cycle_retries,
            max_review_iterations,
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
