//! Repeated findings (D3–D5): what happens when a reviewer raises a finding that it raised before.
//!
//! [`match_finding`] decides which earlier thread counts, and [`raise_again`] applies the rule to that
//! thread. Driven and observed reviewers share both; [`RaisedBy`] names the one point in which the rules
//! differ.

use super::cycle::Protocol;
use super::finding::Thread;
use super::machine::{RegressionOutcome, ResolvedBy, ThreadStatus};
use super::policy::Policy;
use super::vocabulary::{Severity, Stance};

/// Who raised the finding. Only D3 depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaisedBy {
    Driven(Protocol),
    Observed,
}

impl RaisedBy {
    /// D3: a reviewer that answers with actions is told to answer in the open thread, so a second report is a
    /// violation. A list of findings names the open ones again (C7), and a bot was told nothing.
    fn may_repeat_open_threads(self) -> bool {
        match self {
            RaisedBy::Driven(Protocol::Actions) => false,
            RaisedBy::Driven(Protocol::Findings) | RaisedBy::Observed => true,
        }
    }
}

/// The rule for a repeated finding. It follows from the earlier thread's status. A finding can overlap
/// several threads; the variants stand in the order in which they take precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repetition {
    /// D3: the thread is open.
    OfOpen,
    /// D4: a person closed the thread, or it waits for a person.
    OfPersons,
    /// D5: the reviewer resolved the thread itself.
    OfResolved,
}

impl Repetition {
    pub fn of(status: ThreadStatus) -> Repetition {
        match status {
            ThreadStatus::Open => Repetition::OfOpen,
            ThreadStatus::Resolved(ResolvedBy::Reviewer) => Repetition::OfResolved,
            _ => Repetition::OfPersons,
        }
    }
}

/// A finding, compared with the threads that it overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingMatch<T> {
    New,
    /// D3: the reviewer may not raise it, because this open thread reports it already.
    Violation(T),
    Repeats(T, Repetition),
}

impl<T> FindingMatch<T> {
    /// The earlier thread, whatever the rule.
    pub fn thread(self) -> Option<T> {
        match self {
            FindingMatch::New => None,
            FindingMatch::Violation(thread) | FindingMatch::Repeats(thread, _) => Some(thread),
        }
    }
}

/// D3–D5: which of the overlapping threads a finding repeats, and under which rule. Between threads of equal
/// precedence the first one given wins.
pub fn match_finding<T>(
    overlapping: impl IntoIterator<Item = (T, ThreadStatus)>,
    raised_by: RaisedBy,
) -> FindingMatch<T> {
    let candidates = overlapping.into_iter().map(|(thread, status)| (thread, Repetition::of(status)));
    match candidates.min_by_key(|(_, repetition)| *repetition) {
        None => FindingMatch::New,
        Some((thread, Repetition::OfOpen)) if !raised_by.may_repeat_open_threads() => {
            FindingMatch::Violation(thread)
        }
        Some((thread, repetition)) => FindingMatch::Repeats(thread, repetition),
    }
}

/// What raising a finding again did to its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatOutcome {
    /// D3: folded into the open thread.
    Folded,
    /// D4: a person decided or will decide, and the finding is no worse than they know.
    Suppressed,
    /// D4: back in the inbox, because it is strictly worse.
    Worsened,
    /// D5.
    Regressed(RegressionOutcome),
    /// D5: another finding of the same answer has already brought the thread back.
    RegressedAlready,
}

/// D3–D5: applies the rule to the thread. `new_cycle` says whether the repetition is a turn of its own: only
/// then does it count against an open thread (T3).
pub fn raise_again(
    thread: &mut Thread,
    repetition: Repetition,
    severity: Option<Severity>,
    new_cycle: bool,
    policy: &Policy,
) -> RepeatOutcome {
    let worse = thread.worsen_to(severity);
    match repetition {
        Repetition::OfOpen => {
            if new_cycle {
                thread.machine.hold(Stance::SeeksChange, policy);
            }
            RepeatOutcome::Folded
        }
        Repetition::OfPersons if worse => {
            thread.machine.worsen();
            RepeatOutcome::Worsened
        }
        Repetition::OfPersons => RepeatOutcome::Suppressed,
        Repetition::OfResolved if thread.status() == ThreadStatus::Resolved(ResolvedBy::Reviewer) => {
            RepeatOutcome::Regressed(thread.machine.regress(policy))
        }
        Repetition::OfResolved => RepeatOutcome::RegressedAlready,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::machine::{EscalatedBy, VetoedBy};

    const RESOLVED: ThreadStatus = ThreadStatus::Resolved(ResolvedBy::Reviewer);

    #[test]
    fn d3_an_open_thread_is_a_violation_only_for_a_reviewer_that_answers_with_actions() {
        let open = || [("open", ThreadStatus::Open)];
        let actions = RaisedBy::Driven(Protocol::Actions);
        assert_eq!(match_finding(open(), actions), FindingMatch::Violation("open"));
        for raised_by in [RaisedBy::Driven(Protocol::Findings), RaisedBy::Observed] {
            let expected = FindingMatch::Repeats("open", Repetition::OfOpen);
            assert_eq!(match_finding(open(), raised_by), expected, "{raised_by:?}");
        }
    }

    #[test]
    fn d4_every_status_that_is_neither_open_nor_resolved_by_the_reviewer_is_a_persons() {
        for status in [
            ThreadStatus::Resolved(ResolvedBy::Person),
            ThreadStatus::Resolved(ResolvedBy::WontFix),
            ThreadStatus::Resolved(ResolvedBy::Acknowledged),
            ThreadStatus::Vetoed(VetoedBy::Reviewer),
            ThreadStatus::Escalated(EscalatedBy::RoundLimit),
            ThreadStatus::Upheld,
            ThreadStatus::Dismissed,
        ] {
            assert_eq!(Repetition::of(status), Repetition::OfPersons, "{status:?}");
        }
        assert_eq!(Repetition::of(RESOLVED), Repetition::OfResolved);
    }

    #[test]
    fn an_open_thread_precedes_a_persons_and_that_one_a_resolved_thread() {
        let all =
            [("resolved", RESOLVED), ("person's", ThreadStatus::Dismissed), ("open", ThreadStatus::Open)];
        let expected = [
            FindingMatch::Repeats("open", Repetition::OfOpen),
            FindingMatch::Repeats("person's", Repetition::OfPersons),
            FindingMatch::Repeats("resolved", Repetition::OfResolved),
            FindingMatch::New,
        ];
        for (dropped, expected) in expected.into_iter().enumerate() {
            let overlapping = all[..all.len() - dropped].iter().copied();
            assert_eq!(match_finding(overlapping, RaisedBy::Observed), expected);
        }
        let twins = [("first", RESOLVED), ("second", RESOLVED)];
        let first = FindingMatch::Repeats("first", Repetition::OfResolved);
        assert_eq!(match_finding(twins, RaisedBy::Observed), first);
    }
}
