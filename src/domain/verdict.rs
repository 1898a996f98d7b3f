//! The verdict (V): what a driven reviewer's cycle says about the pull request as a whole.

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

/// What a cycle left unsettled of one reviewer's threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnsettledThreads {
    /// The worst of those that were there before the cycle.
    pub worst_carried_over: Option<Severity>,
    /// The worst of those that the cycle opened.
    pub worst_new: Option<Severity>,
}

/// V1: a person's pull request is only ever commented on. V2: a bot's is blocked by what was carried over at
/// `high` or above and by what is new only at `critical`, and otherwise approved, because a perfectionist
/// never converges. V3 follows: once the old criticals are gone, nothing but approval is left.
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
