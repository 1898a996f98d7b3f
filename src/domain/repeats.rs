//! Repeated findings (D3–D5): what happens when a reviewer raises a finding that it raised before.
//!
//! [`match_finding`] decides which earlier thread counts, and [`raise_again`] applies the rule to that
//! thread. Driven and observed reviewers share both; [`RaisedBy`] names the one point in which the rules
//! differ.

use super::cycle::Protocol;
use super::duplicates::Nearness;
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
/// several threads; among threads at one place, the variants stand in the order in which they take precedence.
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

/// D3–D5: which of the overlapping threads a finding repeats, and under which rule.
///
/// The reviewer's own id comes first. A thread whose last known place is here comes before one whose code was
/// elsewhere, because words alone are the weaker sign. Then the status decides, so that a guess never closes an open thread, and then the distance. Between
/// threads that are equal in all of these the first one given wins.
pub fn match_finding<T>(
    overlapping: impl IntoIterator<Item = (T, ThreadStatus, Nearness)>,
    raised_by: RaisedBy,
) -> FindingMatch<T> {
    let candidates = overlapping.into_iter();
    let candidates = candidates.map(|(thread, status, nearness)| (thread, Repetition::of(status), nearness));
    let sign = |nearness: Nearness| match nearness {
        Nearness::SameId => 0,
        Nearness::Here(_) => 1,
        Nearness::Elsewhere(_) => 2,
    };
    let nearest =
        candidates.min_by_key(|(_, repetition, nearness)| (sign(*nearness), *repetition, *nearness));
    match nearest {
        None => FindingMatch::New,
        Some((thread, Repetition::OfOpen, _)) if !raised_by.may_repeat_open_threads() => {
            FindingMatch::Violation(thread)
        }
        Some((thread, repetition, _)) => FindingMatch::Repeats(thread, repetition),
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
    const HERE: Nearness = Nearness::Here(0);

    #[test]
    fn d3_an_open_thread_is_a_violation_only_for_a_reviewer_that_answers_with_actions() {
        let open = || [("open", ThreadStatus::Open, HERE)];
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
        let all = [
            ("resolved", RESOLVED, HERE),
            ("person's", ThreadStatus::Dismissed, HERE),
            ("open", ThreadStatus::Open, HERE),
        ];
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
        let twins = [("first", RESOLVED, HERE), ("second", RESOLVED, HERE)];
        let first = FindingMatch::Repeats("first", Repetition::OfResolved);
        assert_eq!(match_finding(twins, RaisedBy::Observed), first);
    }

    #[test]
    fn the_nearest_last_known_place_decides_between_threads_of_the_same_words() {
        use Nearness::{Elsewhere, Here};
        let open = ThreadStatus::Open;
        let cases = [
            // Of equal status, the nearer one.
            ([(open, Elsewhere(40)), (open, Here(0))], 1),
            ([(open, Here(2)), (open, Here(1))], 1),
            ([(open, Elsewhere(40)), (open, Elsewhere(30))], 1),
            // The thread of this place, even if an open one was elsewhere.
            ([(open, Elsewhere(40)), (ThreadStatus::Dismissed, Here(0))], 1),
            ([(open, Elsewhere(40)), (RESOLVED, Here(3))], 1),
            // At one place, and where no thread is near, an open one comes first.
            ([(RESOLVED, Here(0)), (open, Here(3))], 1),
            ([(ThreadStatus::Dismissed, Elsewhere(10)), (open, Elsewhere(40))], 1),
            // The reviewer's own id outweighs the place.
            ([(open, Here(0)), (RESOLVED, Nearness::SameId)], 1),
        ];
        for (candidates, expected) in cases {
            let overlapping =
                candidates.iter().enumerate().map(|(index, (status, near))| (index, *status, *near));
            let found = match_finding(overlapping, RaisedBy::Observed).thread();
            assert_eq!(found, Some(expected), "{candidates:?}");
        }
    }
}
