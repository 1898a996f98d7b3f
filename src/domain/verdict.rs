//! The verdict (V): a driven reviewer's result for the pull request as a whole.

use super::vocabulary::Severity;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Comment,
    Approve,
    RequestChanges,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Comment => "comment",
            Verdict::Approve => "approve",
            Verdict::RequestChanges => "request_changes",
        }
    }
}

/// The threads of one reviewer that a cycle left unsettled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnsettledThreads {
    /// The highest severity among threads from before the cycle.
    pub worst_carried_over: Option<Severity>,
    /// The highest severity among threads that the cycle opened.
    pub worst_new: Option<Severity>,
}

/// V1: on a person's pull request the verdict is always a comment. V2: on a bot's, an older thread blocks
/// from `high` and a new one only at `critical`; anything else is approved, because a perfectionist never
/// converges. V3 follows: once the old critical threads are settled, only approval is left.
pub fn verdict(author_is_bot: bool, unsettled: UnsettledThreads) -> Verdict {
    if !author_is_bot {
        Verdict::Comment
    } else if unsettled.worst_carried_over >= Some(Severity::High)
        || unsettled.worst_new >= Some(Severity::Critical)
    {
        Verdict::RequestChanges
    } else {
        Verdict::Approve
    }
}
