//! The inbox: threads that wait for a person (T2), in the order in which to look at them (U1).

use crate::domain::duplicates;
use crate::domain::machine::{Decision, EscalatedBy, ThreadStatus, VetoedBy};
use crate::domain::policy::Policy;
use crate::domain::vocabulary::{ReviewerName, Severity, ThreadId};
use crate::supervisor::computed_state::{ComputedState, ThreadView};
use crate::supervisor::history::{History, RecordedActKind};
use crate::supervisor::planned_writes::escalation_sentence;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// One thread that waits.
#[derive(Debug, Clone)]
pub struct InboxThread<'a> {
    pub shown: ThreadView<'a>,
    /// Why it waits, in a sentence without a full stop.
    pub why: String,
    /// When the thread was opened, if it is posted.
    pub since: Option<Timestamp>,
    /// D6: all reviewers that report the same problem.
    pub reviewers: BTreeSet<ReviewerName>,
    /// D6: other reviewers' waiting threads about the same problem. Each needs its own decision.
    pub others: Vec<ThreadId>,
}

/// One arrival of a thread in the inbox; a thread that returns later arrives again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InboxArrival {
    pub thread: ThreadId,
    status: ThreadStatus,
    returns: u32,
    reopens: u32,
}

/// All threads of one pull request that wait for a person, worst and oldest first. An upheld thread no longer
/// waits.
pub fn waiting<'a>(computed: &'a ComputedState, history: &History, policy: &Policy) -> Vec<InboxThread<'a>> {
    let threads: Vec<ThreadView<'a>> =
        computed.threads().into_iter().filter(|shown| shown.repeats.is_none()).collect();
    let problems = duplicates::group_duplicates(threads.iter().map(|shown| shown.thread), policy);
    let problem_of = |id: &ThreadId| problems.iter().position(|problem| problem.threads.contains(id));
    let mut waiting: Vec<_> = threads
        .into_iter()
        .filter_map(|shown| {
            let why = why(&shown, history)?;
            let since = shown.opened_at();
            let problem = problem_of(&shown.thread.id)?;
            let reviewers = problems[problem].reviewers.clone();
            Some((problem, InboxThread { shown, why, since, reviewers, others: Vec::new() }))
        })
        .collect();
    waiting.sort_by_key(|(_, waiting)| waiting.rank());
    let mut shown: Vec<(usize, InboxThread<'a>)> = Vec::new();
    for (problem, waiting) in waiting {
        match shown.iter_mut().find(|(other, _)| *other == problem) {
            Some((_, first)) => first.others.push(waiting.shown.id().clone()),
            None => shown.push((problem, waiting)),
        }
    }
    shown.into_iter().map(|(_, waiting)| waiting).collect()
}

/// An unknown severity may be anything, so it ranks as high.
pub fn urgency(severity: Option<Severity>) -> Severity {
    severity.unwrap_or(Severity::High)
}

impl InboxThread<'_> {
    /// Worst first, then oldest.
    pub fn rank(&self) -> (Reverse<Severity>, bool, Option<Timestamp>, ThreadId) {
        let severity = urgency(self.shown.thread.finding.severity);
        (Reverse(severity), self.since.is_none(), self.since, self.shown.id().clone())
    }

    pub fn arrival(&self) -> InboxArrival {
        let machine = self.shown.thread.machine;
        InboxArrival {
            thread: self.shown.thread.id.clone(),
            status: machine.status,
            returns: machine.returns,
            reopens: machine.reopens,
        }
    }
}

impl InboxArrival {
    /// T7: a person who vetoed a thread needs no notification about it.
    pub fn is_news(&self) -> bool {
        self.status != ThreadStatus::Vetoed(VetoedBy::Person)
    }
}

/// Whether a thread waits for a person.
pub fn waits(shown: &ThreadView<'_>) -> bool {
    shown.repeats.is_none() && why(shown, &History::default()).is_some()
}

/// None if the thread does not wait.
fn why(shown: &ThreadView<'_>, history: &History) -> Option<String> {
    let reviewer: &ReviewerName = &shown.thread.reviewer;
    let ids: Vec<&ThreadId> = vec![&shown.thread.id, shown.id()];
    let somebody = |verb: Decision, did: &str| {
        let act = history.last_decision(&ids).filter(|act| act.did == RecordedActKind::Decided(verb));
        match act {
            Some(act) if act.why.trim().is_empty() => format!("{} {did}", act.by),
            Some(act) => format!("{} {did}: {}", act.by, act.why.trim()),
            None => format!("somebody {did}"),
        }
    };
    match shown.thread.status() {
        ThreadStatus::Vetoed(VetoedBy::Reviewer) => {
            Some(format!("{reviewer} finds it not addressed, and argues no more"))
        }
        ThreadStatus::Vetoed(VetoedBy::Person) => Some(somebody(Decision::Veto, "stopped the argument")),
        ThreadStatus::Escalated(EscalatedBy::Person) => Some(somebody(Decision::Escalate, "escalated it")),
        ThreadStatus::Escalated(cause) => Some(escalation_sentence(cause, reviewer)),
        ThreadStatus::Open | ThreadStatus::Resolved(_) | ThreadStatus::Upheld | ThreadStatus::Dismissed => {
            None
        }
    }
}
