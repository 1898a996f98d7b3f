//! The inbox: everything that only a person can move on, in the order in which to look at it (U1). The terminal
//! and `cloture inbox` show the same entries.

use crate::domain::machine::{Decision, EscalatedBy, ThreadStatus, VetoedBy};
use crate::domain::policy::Policy;
use crate::domain::review_loop::Exit;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::{ReviewerName, Severity, ThreadId};
use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::supervisor::computed_state::{ComputedState, ThreadView};
use crate::supervisor::history::{RecordedAct, RecordedActKind};
use crate::supervisor::planned_writes::escalation_sentence;
use crate::supervisor::view::{HandoffState, HandoffView};
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The inputs of one pull request's entries.
#[derive(Debug, Clone, Copy)]
pub struct InboxQuery<'a> {
    pub address: &'a PullRequestAddress,
    /// None before the first reading.
    pub computed: Option<&'a ComputedState>,
    /// How its loop ended, if it has.
    pub exit: Option<&'a Exit>,
    /// Why GitHub refuses everything here. Only a running supervisor knows.
    pub refusal: Option<&'a Failure>,
    pub handoffs: &'a [HandoffView],
    pub policy: &'a Policy,
    /// Include the threads of a merged or closed pull request.
    pub include_ended: bool,
}

/// One entry of the inbox.
#[derive(Debug, Clone)]
pub struct InboxEntry<'a> {
    pub subject: InboxSubject<'a>,
    /// Why it waits, in a sentence without a full stop.
    pub why: String,
    pub rank: InboxRank,
}

#[derive(Debug, Clone)]
pub enum InboxSubject<'a> {
    Thread(InboxThread<'a>),
    /// GitHub refuses the token, or the pull request does not exist.
    Refused,
    /// The loop ended, and does not go on by itself.
    Loop(&'a Exit),
    /// A task that does not reach its target.
    Task(&'a HandoffView),
    /// S2: a text that Cloture did not let out, because it has a secret in it.
    Withheld,
}

/// The place of an entry in the inbox: threads first, the worst and oldest first, then whole pull requests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InboxRank {
    is_whole: bool,
    severity: Reverse<Severity>,
    is_undated: bool,
    since: Option<Timestamp>,
    address: PullRequestAddress,
    within: String,
}

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

/// The entries of one pull request, in order. Sort the entries of several by their rank.
pub fn entries<'a>(query: &InboxQuery<'a>) -> Vec<InboxEntry<'a>> {
    let state = query.computed.map(|computed| computed.snapshot.state);
    let is_open = state.is_none_or(|state| state == PullRequestState::Open);
    let mut entries = Vec::new();
    if let Some(computed) = query.computed.filter(|_| is_open || query.include_ended) {
        entries.extend(waiting(computed, query.policy).into_iter().map(|thread| {
            let (why, rank) = (thread.why.clone(), thread.rank(query.address));
            InboxEntry { subject: InboxSubject::Thread(thread), why, rank }
        }));
    }
    let whole = |subject: InboxSubject<'a>, why: String, within: String| {
        let rank = InboxRank {
            is_whole: true,
            severity: Reverse(Severity::Critical),
            is_undated: true,
            since: None,
            address: query.address.clone(),
            within,
        };
        InboxEntry { subject, why, rank }
    };
    if let Some(refusal) = query.refusal {
        entries.push(whole(InboxSubject::Refused, refusal.to_string(), "refused".to_owned()));
    }
    if let Some(exit) = query.exit.filter(|exit| is_open && needs_person(exit)) {
        entries.push(whole(InboxSubject::Loop(exit), exit.to_string(), exit.name().to_owned()));
    }
    for why in query.computed.filter(|_| is_open).into_iter().flat_map(|computed| &computed.withheld) {
        entries.push(whole(InboxSubject::Withheld, why.clone(), format!("withheld {why}")));
    }
    for handoff in query.handoffs {
        if let HandoffState::Stuck(why) = &handoff.state {
            let why = format!("the task for {} is stuck: {why}", handoff.task.target);
            entries.push(whole(InboxSubject::Task(handoff), why, format!("task {}", handoff.key)));
        }
    }
    entries.sort_by(|a, b| a.rank.cmp(&b.rank));
    entries
}

/// Whether a person has to move a pull request on after this exit. The author fixes findings, and a thread that
/// needs a person has an entry of its own.
fn needs_person(exit: &Exit) -> bool {
    matches!(
        exit,
        Exit::Timeout { .. }
            | Exit::WorkflowFailure { .. }
            | Exit::Unreadable { .. }
            | Exit::RoundCap { .. }
            | Exit::OutOfReach
    )
}

/// All threads of one pull request that wait for a person, worst and oldest first. An upheld thread no longer
/// waits.
pub fn waiting<'a>(computed: &'a ComputedState, policy: &Policy) -> Vec<InboxThread<'a>> {
    let address = crate::supervisor::planned_writes::address(computed);
    let mut waiting: Vec<InboxThread<'a>> = Vec::new();
    for problem in computed.waiting_for_person(policy) {
        let mut threads: Vec<InboxThread<'a>> = problem
            .threads
            .into_iter()
            .map(|shown| InboxThread {
                shown,
                why: why(&shown, computed.decisions.get(&shown.thread.id)),
                since: shown.opened_at(),
                reviewers: problem.reviewers.clone(),
                others: Vec::new(),
            })
            .collect();
        threads.sort_by_key(|thread| thread.rank(&address));
        let mut threads = threads.into_iter();
        if let Some(mut first) = threads.next() {
            first.others = threads.map(|other| other.shown.id().clone()).collect();
            waiting.push(first);
        }
    }
    waiting.sort_by_key(|thread| thread.rank(&address));
    waiting
}

/// An unknown severity may be anything, so it ranks as high.
pub fn urgency(severity: Option<Severity>) -> Severity {
    severity.unwrap_or(Severity::High)
}

impl InboxThread<'_> {
    fn rank(&self, address: &PullRequestAddress) -> InboxRank {
        InboxRank {
            is_whole: false,
            severity: Reverse(urgency(self.shown.thread.finding.severity)),
            is_undated: self.since.is_none(),
            since: self.since,
            address: address.clone(),
            within: self.shown.id().to_string(),
        }
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

/// Why a thread waits.
fn why(shown: &ThreadView<'_>, decision: Option<&RecordedAct>) -> String {
    let reviewer: &ReviewerName = &shown.thread.reviewer;
    let somebody =
        |verb: Decision, did: &str| match decision.filter(|act| act.did == RecordedActKind::Decided(verb)) {
            Some(act) if act.why.trim().is_empty() => format!("{} {did}", act.by),
            Some(act) => format!("{} {did}: {}", act.by, act.why.trim()),
            None => format!("somebody {did}"),
        };
    let why = match shown.thread.status() {
        ThreadStatus::Vetoed(VetoedBy::Person) => somebody(Decision::Veto, "stopped the argument"),
        ThreadStatus::Escalated(EscalatedBy::Person) => somebody(Decision::Escalate, "escalated it"),
        ThreadStatus::Escalated(cause) => escalation_sentence(cause, reviewer),
        // No other status waits.
        _ => format!("{reviewer} finds it not addressed, and argues no more"),
    };
    // R4: the click is worth a look, and decides nothing.
    if shown.resolved_as_argument {
        format!("{why}; the author resolved it on GitHub, but may not decide about it")
    } else {
        why
    }
}
