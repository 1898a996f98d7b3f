//! What an act comes to, given where the pull request stands. Nothing is done here.
//!
//! A text that is posted carries a key, made from the pull request, the thread, the verb, the text and the head. Doing the
//! same again at the same head finds the text and posts nothing; after a push it is a new remark. A caller that names the
//! occasion decides what counts as the same: it takes the head's place.

use super::key::key;
use super::{PlanError, ThreadAct, ThreadPlan, ThreadRequest};
use crate::domain::driven::{Refusal, may_still_go};
use crate::domain::machine::{Decision, EscalatedBy, ResolvedBy, ThreadStatus, VetoedBy};
use crate::domain::snapshot::ReviewThread as Seen;
use crate::domain::vocabulary::ThreadId;
use crate::failure::{Failure, FailureKind};
use crate::github::PullRequestAddress;
use crate::github::write::{ThreadTarget, Write};
use crate::supervisor::computed_state::{ComputedState, RepositoryRules, ThreadView};
use crate::supervisor::fact::{DatedFact, Fact};
use crate::supervisor::history::{History, RecordedAct, RecordedActKind};
use crate::supervisor::planned_writes::{self, PlannedWrite};
use jiff::Timestamp;
use std::fmt::Write as _;
use std::sync::Arc;

/// Turns an act into a plan, or says why it cannot be done.
pub fn plan(
    act: &ThreadRequest,
    standing: &ComputedState,
    history: &History,
    rules: &RepositoryRules<'_>,
    now: Timestamp,
) -> Result<ThreadPlan, PlanError> {
    // Whoever decides has seen all of this, whatever the clock of this machine says.
    let at = history.no_earlier_than_last(now.max(standing.snapshot.updated_at));
    let planner =
        ThreadPlanner { act, standing, history, rules, address: planned_writes::address(standing), at };
    let seen = standing.snapshot.threads.iter().find(|seen| seen.id == act.thread);
    let plan = match (standing.thread(&act.thread), seen) {
        (Some(shown), _) => planner.of_a_reviewer(shown)?,
        (None, Some(seen)) => planner.of_nobody(seen)?,
        (None, None) => {
            let standing = format!("{} has no thread {}", planner.address, act.thread);
            return Err(PlanError::Refused { refusal: Refusal::UnknownThread, standing });
        }
    };
    match plan.deeds.iter().find_map(|deed| deed.write.objection()) {
        Some(objection) => Err(Failure::usage(format_args!("nothing was written: {objection}")).into()),
        None => Ok(plan),
    }
}

pub(super) struct ThreadPlanner<'a> {
    pub(super) act: &'a ThreadRequest,
    pub(super) standing: &'a ComputedState,
    pub(super) history: &'a History,
    pub(super) rules: &'a RepositoryRules<'a>,
    pub(super) address: PullRequestAddress,
    at: Timestamp,
}

/// A finding with all the threads that report it.
pub(super) struct DuplicateThreads<'a> {
    /// The one that was named.
    named: ThreadView<'a>,
    /// The one where the argument is counted.
    pub(super) first: ThreadView<'a>,
    members: Vec<ThreadView<'a>>,
    /// Under which any of it may have been recorded.
    pub(super) ids: Vec<&'a ThreadId>,
}

impl<'a> ThreadPlanner<'a> {
    fn of_a_reviewer(&self, named: ThreadView<'a>) -> Result<ThreadPlan, PlanError> {
        let first = named.repeats.and_then(|id| self.standing.thread(id)).unwrap_or(named);
        let threads = self.standing.threads().into_iter();
        let members: Vec<ThreadView<'a>> = threads
            .filter(|shown| shown.thread.id == first.thread.id || shown.repeats == Some(&first.thread.id))
            .collect();
        let on_forge = members.iter().filter_map(|shown| shown.on_forge).map(|seen| &seen.id);
        let ids = members.iter().map(|shown| &shown.thread.id).chain(on_forge).collect();
        let group = DuplicateThreads { named, first, members, ids };
        match (&self.act.what, named.on_forge) {
            (ThreadAct::Decide(verb), _) => self.decided(*verb, &group),
            (ThreadAct::QueueFor(target), _) => self.queued_for(target, &group),
            (ThreadAct::Route(to), _) => self.routed(to, &group),
            (ThreadAct::Remove, _) => self.removed(&group),
            (ThreadAct::Unresolve, Some(seen)) => self.unresolved(seen, &group),
            (ThreadAct::Reply | ThreadAct::Hide, Some(seen)) => self.of_nobody(seen),
            (ThreadAct::Unresolve | ThreadAct::Reply | ThreadAct::Hide, None) => {
                Err(Failure::usage(format_args!(
                    "nothing was done: {} is not posted on {} yet, so that there is nothing to {}",
                    self.act.thread,
                    self.address,
                    self.act.what.name()
                ))
                .into())
            }
        }
    }

    /// A thread that the machine does not run on, or an act that is none of its business.
    fn of_nobody(&self, seen: &Seen) -> Result<ThreadPlan, PlanError> {
        let reason = self.act.reason.as_deref();
        let mut deeds = Vec::new();
        match &self.act.what {
            ThreadAct::Decide(Decision::Resolve) => {
                deeds.extend(reason.map(|reason| self.reply(seen, reason, 0)).transpose()?);
                deeds.push(self.resolve(seen, 0)?);
            }
            ThreadAct::Unresolve => {
                deeds.extend(reason.map(|reason| self.reply(seen, reason, 0)).transpose()?);
                deeds.push(self.unresolve(seen, 0)?);
            }
            ThreadAct::Reply => deeds.push(self.reply(seen, reason.unwrap_or_default(), 0)?),
            ThreadAct::Hide => deeds.push(self.hide(seen)?),
            what @ (ThreadAct::Decide(_)
            | ThreadAct::QueueFor(_)
            | ThreadAct::Route(_)
            | ThreadAct::Remove) => {
                let standing = format!(
                    "no reviewer that is known opened {}, so that there is nothing to {}; resolve, unresolve, reply and \
                     hide work there",
                    seen.id,
                    what.name()
                );
                return Err(PlanError::Refused { refusal: Refusal::UnknownThread, standing });
            }
        }
        Ok(self.plan(Vec::new(), false, None, deeds))
    }

    fn decided(&self, verb: Decision, group: &DuplicateThreads<'a>) -> Result<ThreadPlan, PlanError> {
        let reason = self.act.reason.as_deref();
        let needed =
            matches!(verb, Decision::Veto | Decision::Escalate | Decision::Dismiss | Decision::Return);
        if needed && reason.is_none_or(|reason| reason.trim().is_empty()) {
            return Err(Failure::usage(format_args!(
                "nothing was done: a reason is missing; to {} a thread, say why with --reason",
                verb.name()
            ))
            .into());
        }
        let already = self.already(verb, group);
        if !already {
            check(verb, &group.first)?;
        }
        let turn = self.turn(group, already);
        let fact = Fact::Decided { thread: group.first.thread.id.clone(), verb };
        let deeds = match verb {
            Decision::Veto | Decision::Uphold | Decision::Queue | Decision::Unqueue => Vec::new(),
            Decision::Resolve | Decision::Dismiss => self.settling(group, reason, turn)?,
            Decision::Return => {
                let resolved = group.members.iter().filter_map(|shown| shown.on_forge);
                let resolved = resolved.filter(|seen| seen.resolved);
                resolved.map(|seen| self.unresolve(seen, turn)).collect::<Result<_, _>>()?
            }
            Decision::Escalate => self.escalation(group, &fact, already)?,
        };
        let told_by_deed = verb == Decision::Resolve && !deeds.is_empty();
        let sentence = (!told_by_deed).then(|| self.sentence(verb, &group.first));
        let facts = if already { Vec::new() } else { vec![fact] };
        Ok(self.plan(facts, already, sentence, deeds))
    }

    fn unresolved(&self, seen: &'a Seen, group: &DuplicateThreads<'a>) -> Result<ThreadPlan, PlanError> {
        let was_settled = seen.resolved && group.first.thread.status().is_settled();
        let already = was_settled
            && self.is_own(self.history.last_decision(&group.ids), &RecordedActKind::Reopened)
            && !self.is_concluded(&name("unresolve", &seen.id, self.history.count(&group.ids)));
        let turn = self.turn(group, already);
        let mut deeds = Vec::new();
        if let Some(reason) = &self.act.reason {
            deeds.push(self.reply(seen, reason, turn)?);
        }
        deeds.push(self.unresolve(seen, turn)?);
        let fact = Fact::Reopened { thread: group.first.thread.id.clone() };
        let facts = if was_settled && !already { vec![fact] } else { Vec::new() };
        Ok(self.plan(facts, already, None, deeds))
    }

    pub(super) fn plan(
        &self,
        facts: Vec<Fact>,
        already: bool,
        sentence: Option<String>,
        deeds: Vec<PlannedWrite>,
    ) -> ThreadPlan {
        let facts = facts.into_iter().map(|fact| (self.at, fact)).collect();
        ThreadPlan { act: self.act.clone(), facts, already, sentence, deeds }
    }

    /// What makes the names of this act's deeds its own: how many acts there are with it.
    fn turn(&self, group: &DuplicateThreads<'_>, already: bool) -> usize {
        self.history.count(&group.ids) + usize::from(!already)
    }

    // Whether it fits

    /// Whether this person has done exactly this already: then only what is missing on the forge is left to do.
    pub(super) fn already(&self, verb: Decision, group: &DuplicateThreads<'_>) -> bool {
        let thread = group.first.thread;
        let status = thread.status();
        let decision = self.history.last_decision(&group.ids);
        let is_last = || self.is_own(decision, &RecordedActKind::Decided(verb));
        let on_forge = group.first.on_forge;
        match verb {
            Decision::Queue => {
                thread.queued
                    && self.is_own(
                        self.history.last_queueing(&group.ids),
                        &RecordedActKind::Decided(Decision::Queue),
                    )
            }
            Decision::Unqueue => !thread.queued,
            Decision::Veto => status == ThreadStatus::Vetoed(VetoedBy::Person) && is_last(),
            Decision::Escalate => status == ThreadStatus::Escalated(EscalatedBy::Person) && is_last(),
            Decision::Uphold => status == ThreadStatus::Upheld && is_last(),
            Decision::Dismiss => status == ThreadStatus::Dismissed && is_last(),
            Decision::Resolve => {
                let by_us = |seen: &Seen| {
                    let by = seen.resolved_by.as_ref().map(crate::domain::snapshot::Account::spelled);
                    seen.resolved && by.is_some_and(|by| by.eq_ignore_ascii_case(&self.act.by))
                };
                status == ThreadStatus::Resolved(ResolvedBy::Person)
                    && (is_last() || on_forge.is_some_and(by_us))
            }
            Decision::Return => {
                let name = |seen: &Seen| name("unresolve", &seen.id, self.history.count(&group.ids));
                let unfinished =
                    on_forge.is_some_and(|seen| seen.resolved && !self.is_concluded(&name(seen)));
                is_last() && (status == ThreadStatus::Open || unfinished)
            }
        }
    }

    pub(super) fn is_own(&self, acted: Option<&RecordedAct>, did: &RecordedActKind) -> bool {
        acted.is_some_and(|acted| acted.did == *did && acted.by.eq_ignore_ascii_case(&self.act.by))
    }

    fn is_concluded(&self, name: &str) -> bool {
        self.history.is_done(&self.address, name)
    }

    // What is written

    /// The reason where it was asked for, then everything that reports the finding is resolved.
    fn settling(
        &self,
        group: &DuplicateThreads<'_>,
        reason: Option<&str>,
        turn: usize,
    ) -> Result<Vec<PlannedWrite>, Failure> {
        let mut deeds = Vec::new();
        if let Some(seen) = group.named.on_forge {
            deeds.extend(reason.map(|reason| self.reply(seen, reason, turn)).transpose()?);
            deeds.push(self.resolve(seen, turn)?);
        }
        let others = group.members.iter().filter_map(|shown| shown.on_forge);
        for seen in others.filter(|seen| !seen.resolved && seen.id != *group.named.id()) {
            deeds.push(self.resolve(seen, turn)?);
        }
        Ok(deeds)
    }

    /// T7: what the engine's own escalations are addressed with, and what this person has to say.
    fn escalation(
        &self,
        group: &DuplicateThreads<'_>,
        fact: &Fact,
        already: bool,
    ) -> Result<Vec<PlannedWrite>, Failure> {
        if let Some(seen) = group.first.on_forge {
            self.may(seen.viewer_can_reply, "reply in", seen)?;
        }
        let mut history = self.history.clone();
        if !already {
            let why = self.act.reason.as_deref().unwrap_or_default();
            history.add(DatedFact { at: self.at, fact: fact.clone() }, &self.act.by, why);
        }
        let after = ComputedState::of(Arc::clone(&self.standing.snapshot), &history, self.rules);
        let mut deeds = Vec::new();
        if let Some(shown) = after.thread(&group.first.thread.id) {
            planned_writes::escalation_writes(&after, &shown, &self.rules.config.operator, &mut deeds);
        }
        for deed in &mut deeds {
            if let (Write::Reply { body, .. }, Some(reason)) = (&mut deed.write, &self.act.reason) {
                let _infallible = write!(body, "\n\n{} says: {}", self.act.by, reason.trim());
            }
        }
        Ok(deeds)
    }

    fn reply(&self, seen: &Seen, body: &str, turn: usize) -> Result<PlannedWrite, Failure> {
        self.may(seen.viewer_can_reply, "reply in", seen)?;
        let verb = self.act.what.name();
        let head = self.standing.snapshot.head.sha.as_str();
        let occasion = self.act.occasion.as_deref().unwrap_or(head);
        let key = key(verb, &[&self.address.to_string(), occasion, seen.id.as_str(), body])?;
        // Without a fact nothing counts turns, and the text itself tells one reply from another.
        let name = if turn == 0 { key.as_str().to_owned() } else { name("reply", &seen.id, turn) };
        let write = Write::Reply { thread: self.target(seen), body: body.to_owned(), key };
        Ok(PlannedWrite { name, write, why: self.why() })
    }

    fn resolve(&self, seen: &Seen, turn: usize) -> Result<PlannedWrite, Failure> {
        self.may(seen.resolved || seen.viewer_can_resolve, "resolve", seen)?;
        let write = Write::Resolve { thread: self.target(seen) };
        Ok(PlannedWrite { name: name("resolve", &seen.id, turn), write, why: self.why() })
    }

    fn unresolve(&self, seen: &Seen, turn: usize) -> Result<PlannedWrite, Failure> {
        self.may(!seen.resolved || seen.viewer_can_unresolve, "open again", seen)?;
        let write = Write::Unresolve { thread: self.target(seen) };
        Ok(PlannedWrite { name: name("unresolve", &seen.id, turn), write, why: self.why() })
    }

    fn hide(&self, seen: &Seen) -> Result<PlannedWrite, Failure> {
        let Some(comment) = seen.opening() else {
            return Err(Failure::usage(format_args!("the thread {} has no comment to hide", seen.id)));
        };
        let write = Write::Minimize { on: self.address.clone(), comment: comment.id.clone() };
        Ok(PlannedWrite { name: format!("hide/{}", comment.id), write, why: self.why() })
    }

    fn may(&self, is_allowed: bool, what: &str, seen: &Seen) -> Result<(), Failure> {
        if is_allowed {
            return Ok(());
        }
        let sentence = format!("GitHub does not let you {what} the thread {} of {}", seen.id, self.address);
        Err(Failure::new(FailureKind::NotAllowed, format_args!("{sentence}; the write role would be enough")))
    }

    fn target(&self, seen: &Seen) -> ThreadTarget {
        ThreadTarget {
            pull_request: self.address.clone(),
            id: seen.id.clone(),
            path: seen.path.clone(),
            line: seen.line.or(seen.original_line),
        }
    }

    fn why(&self) -> String {
        self.act
            .reason
            .clone()
            .filter(|reason| !reason.trim().is_empty())
            .unwrap_or_else(|| format!("{} wants to {}", self.act.by, self.act.what.name()))
    }

    /// T7: the difference between the verbs must be plain.
    fn sentence(&self, verb: Decision, first: &ThreadView<'_>) -> String {
        let at = format!("{} of {}", place(first), self.address);
        match verb {
            Decision::Veto => {
                format!("Stop the argument at {at}: it waits in the inbox for {}.", self.act.by)
            }
            Decision::Escalate => format!("Escalate the thread at {at}: it is addressed to the operator."),
            Decision::Resolve => format!("Resolve the finding at {at}."),
            Decision::Uphold => format!("Uphold the finding at {at}: it stands."),
            Decision::Dismiss => format!("Dismiss the finding at {at}: it will not be fixed."),
            Decision::Return => format!("Return the thread at {at} to the loop, with fresh counters."),
            Decision::Queue => self.queueing_sentence(first),
            Decision::Unqueue => self.unqueueing_sentence(first),
        }
    }
}

/// Whether it fits where the thread stands.
pub(super) fn check(decision: Decision, first: &ThreadView<'_>) -> Result<(), PlanError> {
    let thread = first.thread;
    let fits = match decision {
        Decision::Queue => may_still_go(thread),
        decision => thread.machine.admits(decision).map_err(Refusal::from),
    };
    fits.map_err(|refusal| {
        let standing = format!("{} at {} is {}", first.id(), place(first), thread.status().name());
        PlanError::Refused { refusal, standing }
    })
}

/// The name of a deed, unique on the pull request.
fn name(what: &str, thread: &ThreadId, turn: usize) -> String {
    format!("{what}/{thread}/person/{turn}")
}

pub(super) fn place(shown: &ThreadView<'_>) -> String {
    let path = &shown.thread.anchor.path;
    let line = shown.line().or_else(|| shown.on_forge.and_then(|seen| seen.original_line));
    line.map_or_else(|| path.to_string(), |line| format!("{path}:{line}"))
}
