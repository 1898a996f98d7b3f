//! A thread as JSON, in the same form for every command.

use crate::domain::finding::Thread;
use crate::domain::machine::{ActionSet, ThreadMachine, ThreadStatus};
use crate::domain::policy::Policy;
use crate::domain::vocabulary::{ReviewerAction, ReviewerName, Severity, Stance, ThreadId};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct ThreadLine<'a> {
    id: &'a ThreadId,
    /// Null if no known reviewer opened the thread.
    reviewer: Option<&'a ReviewerName>,
    status: &'static str,
    cause: Option<&'static str>,
    severity: Option<Severity>,
    stance: Option<Stance>,
    round_count: u32,
    flips: u32,
    cycles: u32,
    reopens: u32,
    returns: u32,
    queued: bool,
    handed_off: bool,
    legal: LegalLine,
}

/// The actions that the reviewer's next cycle offers for each stance, in alphabetical order.
#[derive(Debug, Serialize)]
struct LegalLine {
    seeks_change: Vec<&'static str>,
    accepts: Vec<&'static str>,
}

impl<'a> ThreadLine<'a> {
    pub(crate) fn of(thread: &'a Thread, policy: &Policy) -> Self {
        Self::named(&thread.id, thread, policy)
    }

    /// Uses GitHub's id instead of the thread's own.
    pub(crate) fn named(id: &'a ThreadId, thread: &'a Thread, policy: &Policy) -> Self {
        let ThreadMachine { status, counters, reopens, returns } = thread.machine;
        let names = |actions: ActionSet| actions.iter().map(ReviewerAction::name).collect();
        let legal = thread.machine.legal(policy);
        Self {
            id,
            reviewer: Some(&thread.reviewer),
            status: status.name(),
            cause: status.cause(),
            severity: thread.finding.severity,
            stance: counters.stance,
            round_count: counters.round_count,
            flips: counters.flips,
            cycles: counters.cycles,
            reopens,
            returns,
            queued: thread.queued,
            handed_off: thread.handed_off,
            legal: LegalLine { seeks_change: names(legal.seeks_change), accepts: names(legal.accepts) },
        }
    }

    /// A thread of no known reviewer. It has a status, but no counters and no legal actions.
    pub(crate) fn unowned(id: &'a ThreadId, status: ThreadStatus) -> Self {
        Self {
            id,
            reviewer: None,
            status: status.name(),
            cause: status.cause(),
            severity: None,
            stance: None,
            round_count: 0,
            flips: 0,
            cycles: 0,
            reopens: 0,
            returns: 0,
            queued: false,
            handed_off: false,
            legal: LegalLine { seeks_change: Vec::new(), accepts: Vec::new() },
        }
    }
}
