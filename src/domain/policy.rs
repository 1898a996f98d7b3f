//! The limits in force: everything that a team can tune about termination. [`crate::domain::bounds`] computes
//! the worst case from them.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Every limit that the engine obeys. `config` checks the values; this type takes any, so that the proof can
/// run with values that no configuration allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// T4: how often a reviewer may hold the same stance before `reply` is illegal.
    pub repeat_limit: u32,
    /// T3: how many changes of stance reset the count.
    pub flip_limit: u32,
    /// D5: how often a resolved finding may come back before it goes to the inbox.
    pub reopen_limit: u32,
    /// C4: how often the engine retries a failed cycle.
    pub cycle_retries: u32,
    /// C6: completed cycles per reviewer and pull request.
    pub max_review_iterations: u32,
    /// C6: requests for a review per observed reviewer and pull request.
    pub max_asks: u32,
    /// D2, R2: how many lines apart two places may be and still count as the same.
    pub line_slack: u32,
    /// D2: the similarity from which two texts at the same place report the same problem.
    pub similarity_threshold: f64,
    /// L2: the time between two polls.
    pub poll_interval: Duration,
    /// L2: polls per wait.
    pub max_attempts: u32,
    /// L6: author rounds per pull request since the last reopening by somebody who may override.
    pub max_rounds: u32,
    /// L6: author rounds that one loop may start.
    pub max_restarts: u32,
    /// C2: the most findings in one answer. With more, the answer is oversized.
    pub max_findings_per_answer: u32,
    /// C2: the most bytes in one answer. With more, the answer is oversized.
    pub max_answer_bytes: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            repeat_limit: 2,
            flip_limit: 1,
            reopen_limit: 1,
            cycle_retries: 2,
            max_review_iterations: 5,
            max_asks: 8,
            line_slack: 3,
            similarity_threshold: super::similarity::SAME_FINDING,
            poll_interval: Duration::from_mins(1),
            max_attempts: 10,
            max_rounds: 3,
            max_restarts: 3,
            max_findings_per_answer: 100,
            max_answer_bytes: 1024 * 1024,
        }
    }
}

impl Policy {
    /// T5: within how many cycles a thread leaves the reviewer's hands.
    pub fn cycles_per_thread(&self) -> u64 {
        u64::from(self.repeat_limit) * (u64::from(self.flip_limit) + 1) + 1
    }

    /// C4, C6: the most calls of one reviewer on one pull request, including retries.
    pub fn calls_per_reviewer(&self) -> u64 {
        u64::from(self.max_review_iterations) * (u64::from(self.cycle_retries) + 1)
    }
}
