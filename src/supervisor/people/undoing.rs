//! Plans how a person's last act on a thread is undone (T6): the thread is again as it was, counters included.
//!
//! The journal records that the act was undone, and the replay of the journal takes it back in the checked
//! functions of the thread machine. What was posted stays on GitHub; only a resolution is taken back.

use super::planning::{DuplicateThreads, ThreadPlanner, name, place};
use super::{PlanError, ThreadPlan, apply_to_snapshot};
use crate::domain::driven::Refusal;
use crate::domain::machine::Decision;
use crate::failure::Failure;
use crate::supervisor::computed_state::{ComputedState, ThreadView};
use crate::supervisor::fact::{DatedFact, Fact};
use crate::supervisor::history::{RecordedAct, RecordedActKind};
use crate::supervisor::planned_writes::PlannedWrite;
use std::sync::Arc;

impl ThreadPlanner<'_> {
    pub(super) fn undone(&self, group: &DuplicateThreads<'_>) -> Result<ThreadPlan, PlanError> {
        if let Some(plan) = self.finish_undoing(group)? {
            return Ok(plan);
        }
        let standing = self.history.standing_acts(&group.ids);
        let Some((number, last)) = standing.last().copied().filter(|(_, act)| act.did.can_be_undone()) else {
            let first = &group.first;
            return Err(refused(format!("nothing was decided about {} at {}", first.id(), place(first))));
        };
        if !last.by.eq_ignore_ascii_case(&self.act.by) {
            let (by, what) = (&last.by, described(&last.did));
            return Err(refused(format!("the last act there is that of {by} ({what})")));
        }
        // Queueing for a target is recorded as two acts of one moment.
        let acts = standing.iter().rev().take_while(|(_, act)| act.at == last.at && act.by == last.by);
        let first_of_them = acts.clone().last().map_or(last, |(_, act)| *act);
        let undone = Fact::Undone { thread: group.first.thread.id.clone() };
        let facts: Vec<Fact> = acts.map(|_| undone.clone()).collect();
        let writes = self.opening_again(group, last, number, self.turn(group, false))?;
        let after = self.after(&facts, &writes);
        let after = after.thread(&group.first.thread.id);
        let Some(after) = after.filter(|after| after.thread != group.first.thread) else {
            let what = described(&first_of_them.did);
            return Err(refused(format!("{} has changed since ({what})", place(&group.first))));
        };
        let sentence = self.undoing_sentence(&first_of_them.did, &group.first, &after);
        Ok(self.plan(facts, false, Some(sentence), writes))
    }

    /// The rest of an undoing that was interrupted: it is recorded, and a resolution is not taken back yet.
    fn finish_undoing(&self, group: &DuplicateThreads<'_>) -> Result<Option<ThreadPlan>, Failure> {
        let is_own = self.is_own(self.history.last_record(&group.ids), &RecordedActKind::Undone);
        let turn = self.history.count(&group.ids);
        let posted = group.members.iter().filter_map(|shown| shown.on_forge);
        let unfinished =
            posted.filter(|posted| posted.resolved && self.was_resolved_by_undone(group, posted));
        let writes = unfinished.map(|posted| self.unresolve(posted, turn)).collect::<Result<Vec<_>, _>>()?;
        if !is_own || writes.is_empty() || writes.iter().all(|write| self.is_concluded(&write.name)) {
            return Ok(None);
        }
        Ok(Some(self.plan(Vec::new(), true, None, writes)))
    }

    /// Whether an act that does not stand any more resolved the thread.
    fn was_resolved_by_undone(
        &self,
        group: &DuplicateThreads<'_>,
        posted: &crate::domain::snapshot::ReviewThread,
    ) -> bool {
        let standing = self.history.standing_acts(&group.ids);
        let stands = |number: usize| standing.iter().any(|(standing, _)| *standing == number);
        let mut numbers = 1..=self.history.count(&group.ids);
        numbers.any(|number| !stands(number) && self.is_concluded(&name("resolve", &posted.id, number)))
    }

    /// The threads that the act resolved are opened again, and those that a return opened are resolved.
    fn opening_again(
        &self,
        group: &DuplicateThreads<'_>,
        act: &RecordedAct,
        number: usize,
        turn: usize,
    ) -> Result<Vec<PlannedWrite>, Failure> {
        let posted = || group.members.iter().filter_map(|shown| shown.on_forge);
        let was_written = |what: &str, posted: &&crate::domain::snapshot::ReviewThread| {
            self.is_concluded(&name(what, &posted.id, number))
        };
        match act.did {
            RecordedActKind::Decided(Decision::Dismiss | Decision::Resolve) => {
                // The outcome of a write can be lost in a crash; the thread that counts is opened in any case.
                let first = group.first.on_forge.map(|first| &first.id);
                let resolved = posted().filter(|posted| posted.resolved);
                let ours =
                    resolved.filter(|posted| Some(&posted.id) == first || was_written("resolve", posted));
                ours.map(|posted| self.unresolve(posted, turn)).collect()
            }
            RecordedActKind::Decided(Decision::Return) => {
                let opened = posted().filter(|posted| !posted.resolved && was_written("unresolve", posted));
                opened.map(|posted| self.resolve(posted, turn)).collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The state with these facts and writes.
    fn after(&self, facts: &[Fact], writes: &[PlannedWrite]) -> ComputedState {
        let mut history = self.history.clone();
        for fact in facts {
            history.add(DatedFact { at: self.at, fact: fact.clone() }, &self.act.by, "");
        }
        let mut snapshot = (*self.computed.snapshot).clone();
        for planned in writes {
            apply_to_snapshot(&planned.write, &mut snapshot);
        }
        ComputedState::of(Arc::new(snapshot), &history, self.rules)
    }

    fn undoing_sentence(
        &self,
        did: &RecordedActKind,
        first: &ThreadView<'_>,
        after: &ThreadView<'_>,
    ) -> String {
        let at = format!("{} of {}", place(first), self.address);
        let now = match did {
            RecordedActKind::Decided(Decision::Queue | Decision::Unqueue) | RecordedActKind::Routed(_) => {
                let goes = self.computed.eligibility(after.thread, self.rules);
                format!("as for the handoff: {goes}")
            }
            _ => format!("the thread is {} as before, with its counters", after.thread.status().name()),
        };
        let posted = match did {
            RecordedActKind::Decided(Decision::Escalate | Decision::Dismiss) => {
                " What was posted about it stays on GitHub."
            }
            _ => "",
        };
        format!("Undo \"{}\" at {at}: {now}.{posted}", described(did))
    }
}

fn described(did: &RecordedActKind) -> &'static str {
    match did {
        RecordedActKind::Decided(decision) => decision.name(),
        RecordedActKind::Routed(_) => "retarget",
        RecordedActKind::Reopened => "unresolve",
        RecordedActKind::Undone => "undo",
    }
}

fn refused(situation: String) -> PlanError {
    PlanError::Refused { refusal: Refusal::NothingToUndo, situation }
}
