//! The limits in force. They are the whole of what a team can tune about termination, and what
//! [`crate::domain::bounds`] computes the worst case from.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Every limit the engine obeys. Which values make sense is decided where they are typed (`config`); here
/// they are taken as given, so that a proof can also run with values no configuration would allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    /// T4: how often a reviewer may hold the same stance before `reply` is off the table.
    pub repeat_limit: u32,
    /// T3: how many changes of stance reset the count.
    pub flip_limit: u32,
    /// D5: how often a resolved finding may come back before a person has to look.
    pub reopen_limit: u32,
    /// C4: how often a failed answer is asked for again.
    pub cycle_retries: u32,
    /// C6: completed cycles per reviewer and pull request.
    pub max_review_iterations: u32,
    /// D2, R2: how far apart two places may be and still be the same place.
    pub line_slack: u32,
    /// D2: from which similarity two texts at the same place report the same problem.
    pub similarity_threshold: f64,
    /// L2: the time between two polls of a wait.
    pub poll_interval: Duration,
    /// L2: polls per wait.
    pub max_attempts: u32,
    /// L6: author rounds per pull request since it was last reopened.
    pub max_rounds: u32,
    /// L6: author rounds one loop may start.
    pub max_restarts: u32,
    /// C2: findings in one answer; one more and the answer is oversized.
    pub max_findings_per_answer: u32,
    /// C2: bytes in one answer; one more and the answer is oversized.
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
    /// T5: the cycles within which a thread leaves the AI's hands.
    pub fn cycles_per_thread(&self) -> u64 {
        u64::from(self.repeat_limit) * (u64::from(self.flip_limit) + 1) + 1
    }

    /// C4, C6: how often one reviewer may be asked on one pull request, retries included.
    pub fn calls_per_reviewer(&self) -> u64 {
        u64::from(self.max_review_iterations) * (u64::from(self.cycle_retries) + 1)
    }
}
