//! Plans a person's act on one thread. Nothing is done here.
//!
//! A text that is posted carries a key, made from the pull request, the thread, the verb, the text and the
//! head. The same text at the same head is posted once; after a push it is a new remark. A caller's own key
//! takes the head's place.

use super::key::key;
use super::{PlanError, ThreadAct, ThreadPlan, ThreadRequest};
use crate::domain::driven::{Refusal, check_can_be_handed_off};
use crate::domain::machine::{Decision, EscalatedBy, ResolvedBy, ThreadStatus, VetoedBy};
use crate::domain::snapshot::ReviewThread;
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
    computed: &ComputedState,
    history: &History,
    rules: &RepositoryRules<'_>,
) -> Result<ThreadPlan, PlanError> {
    // The decision comes after everything in the snapshot and before everything later, whatever this machine's
    // clock says.
    let at = history.thread_event_time(&computed.snapshot);
    let planner =
        ThreadPlanner { act, computed, history, rules, address: planned_writes::address(computed), at };
    let on_forge = computed.snapshot.threads.iter().find(|thread| thread.id == act.thread);
    let plan = match (computed.thread(&act.thread), on_forge) {
        (Some(shown), _) => planner.plan_reviewer_thread(shown)?,
        (None, Some(thread)) => planner.plan_other_thread(thread)?,
        (None, None) => {
            let situation = format!("{} has no thread {}", planner.address, act.thread);
            return Err(PlanError::Refused { refusal: Refusal::UnknownThread, situation });
        }
    };
    match plan.writes.iter().find_map(|planned| planned.write.objection()) {
        Some(objection) => Err(Failure::usage(format_args!("nothing was written: {objection}")).into()),
        None => Ok(plan),
    }
}

pub(super) struct ThreadPlanner<'a> {
    pub(super) act: &'a ThreadRequest,
    pub(super) computed: &'a ComputedState,
    pub(super) history: &'a History,
    pub(super) rules: &'a RepositoryRules<'a>,
    pub(super) address: PullRequestAddress,
    pub(super) at: Timestamp,
}

/// A finding with all threads that report it.
pub(super) struct DuplicateThreads<'a> {
    /// The thread that the person named.
    pub(super) named: ThreadView<'a>,
    /// The thread that the argument is counted in (D3).
    pub(super) first: ThreadView<'a>,
    pub(super) members: Vec<ThreadView<'a>>,
    /// The ids under which acts may be recorded.
    pub(super) ids: Vec<&'a ThreadId>,
}

impl DuplicateThreads<'_> {
    /// A decision about the finding.
    pub(super) fn decided(&self, verb: Decision) -> Fact {
        let unresolved = self.members.iter().filter_map(|shown| shown.on_forge);
        let unresolved = unresolved.filter(|posted| !posted.resolved).map(|posted| posted.id.clone());
        Fact::Decided { thread: self.first.thread.id.clone(), verb, unresolved: unresolved.collect() }
    }
}

impl<'a> ThreadPlanner<'a> {
    fn plan_reviewer_thread(&self, named: ThreadView<'a>) -> Result<ThreadPlan, PlanError> {
        let first = named.repeats.and_then(|id| self.computed.thread(id)).unwrap_or(named);
        let threads = self.computed.threads().into_iter();
        let members: Vec<ThreadView<'a>> = threads
            .filter(|shown| shown.thread.id == first.thread.id || shown.repeats == Some(&first.thread.id))
            .collect();
        let on_forge = members.iter().filter_map(|shown| shown.on_forge).map(|posted| &posted.id);
        let ids = members.iter().map(|shown| &shown.thread.id).chain(on_forge).collect();
        let group = DuplicateThreads { named, first, members, ids };
        match (&self.act.what, named.on_forge) {
            (ThreadAct::Decide(verb), _) => self.decided(*verb, &group),
            (ThreadAct::QueueFor(target), _) => self.queued_for(target, &group),
            (ThreadAct::Route(to), _) => self.routed(to, &group),
            (ThreadAct::Remove, _) => self.removed(&group),
            (ThreadAct::Undo, _) => self.undone(&group),
            (ThreadAct::Unresolve, Some(posted)) => self.unresolved(posted, &group),
            (ThreadAct::Reply | ThreadAct::Hide, Some(posted)) => self.plan_other_thread(posted),
            (ThreadAct::Unresolve | ThreadAct::Reply | ThreadAct::Hide, None) => {
                Err(Failure::usage(format_args!(
                    "nothing was done: {} is not posted on {} yet, so there is nothing to {}",
                    self.act.thread,
                    self.address,
                    self.act.what.name()
                ))
                .into())
            }
        }
    }

    /// A thread without a reviewer, or an act that the thread machine does not know.
    fn plan_other_thread(&self, posted: &ReviewThread) -> Result<ThreadPlan, PlanError> {
        let reason = self.act.reason.as_deref();
        let mut writes = Vec::new();
        match &self.act.what {
            ThreadAct::Decide(Decision::Resolve) => {
                writes.extend(reason.map(|reason| self.reply(posted, reason, 0)).transpose()?);
                writes.push(self.resolve(posted, 0)?);
            }
            ThreadAct::Unresolve => {
                writes.extend(reason.map(|reason| self.reply(posted, reason, 0)).transpose()?);
                writes.push(self.unresolve(posted, 0)?);
            }
            ThreadAct::Reply => writes.push(self.reply(posted, reason.unwrap_or_default(), 0)?),
            ThreadAct::Hide => writes.push(self.hide(posted)?),
            what @ (ThreadAct::Decide(_)
            | ThreadAct::QueueFor(_)
            | ThreadAct::Route(_)
            | ThreadAct::Undo
            | ThreadAct::Remove) => {
                let situation = format!(
                    "no known reviewer opened {}, so there is nothing to {}; resolve, unresolve, reply \
                     and hide work there",
                    posted.id,
                    what.name()
                );
                return Err(PlanError::Refused { refusal: Refusal::UnknownThread, situation });
            }
        }
        Ok(self.plan(Vec::new(), false, None, writes))
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
        let fact = group.decided(verb);
        let writes = match verb {
            Decision::Veto | Decision::Uphold | Decision::Queue | Decision::Unqueue => Vec::new(),
            Decision::Resolve | Decision::Dismiss => self.settling(group, reason, turn)?,
            Decision::Return => {
                let resolved = group.members.iter().filter_map(|shown| shown.on_forge);
                let resolved = resolved.filter(|posted| posted.resolved);
                resolved.map(|posted| self.unresolve(posted, turn)).collect::<Result<_, _>>()?
            }
            Decision::Escalate => self.escalation(group, &fact, already)?,
        };
        let write_says_it = verb == Decision::Resolve && !writes.is_empty();
        let sentence = (!write_says_it).then(|| self.sentence(verb, &group.first));
        let facts = if already { Vec::new() } else { vec![fact] };
        Ok(self.plan(facts, already, sentence, writes))
    }

    fn unresolved(
        &self,
        posted: &'a ReviewThread,
        group: &DuplicateThreads<'a>,
    ) -> Result<ThreadPlan, PlanError> {
        let was_settled = posted.resolved && group.first.thread.status().is_settled();
        let already = was_settled
            && self.is_own(self.history.last_decision(&group.ids), &RecordedActKind::Reopened)
            && !self.is_concluded(&name("unresolve", &posted.id, self.history.count(&group.ids)));
        let turn = self.turn(group, already);
        let mut writes = Vec::new();
        if let Some(reason) = &self.act.reason {
            writes.push(self.reply(posted, reason, turn)?);
        }
        writes.push(self.unresolve(posted, turn)?);
        let fact = Fact::Reopened { thread: group.first.thread.id.clone() };
        let facts = if was_settled && !already { vec![fact] } else { Vec::new() };
        Ok(self.plan(facts, already, None, writes))
    }

    pub(super) fn plan(
        &self,
        facts: Vec<Fact>,
        already: bool,
        sentence: Option<String>,
        writes: Vec<PlannedWrite>,
    ) -> ThreadPlan {
        let facts = facts.into_iter().map(|fact| (self.at, fact)).collect();
        ThreadPlan { act: self.act.clone(), facts, already, sentence, writes }
    }

    /// The number of this act on the thread. It makes the names of its writes unique.
    pub(super) fn turn(&self, group: &DuplicateThreads<'_>, already: bool) -> usize {
        self.history.count(&group.ids) + usize::from(!already)
    }

    // Whether the act is possible

    /// Whether this person has already recorded this act. Then only its missing writes are left to do.
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
                let by_us = |posted: &ReviewThread| {
                    let by = posted.resolved_by.as_ref().map(crate::domain::snapshot::Account::spelled);
                    posted.resolved && by.is_some_and(|by| by.eq_ignore_ascii_case(&self.act.by))
                };
                status == ThreadStatus::Resolved(ResolvedBy::Person)
                    && (is_last() || on_forge.is_some_and(by_us))
            }
            Decision::Return => {
                let name =
                    |posted: &ReviewThread| name("unresolve", &posted.id, self.history.count(&group.ids));
                let unfinished =
                    on_forge.is_some_and(|posted| posted.resolved && !self.is_concluded(&name(posted)));
                is_last() && (status == ThreadStatus::Open || unfinished)
            }
        }
    }

    pub(super) fn is_own(&self, act: Option<&RecordedAct>, kind: &RecordedActKind) -> bool {
        act.is_some_and(|act| act.did == *kind && act.by.eq_ignore_ascii_case(&self.act.by))
    }

    pub(super) fn is_concluded(&self, name: &str) -> bool {
        self.history.is_done(&self.computed.snapshot, name)
    }

    // The writes

    /// Replies with the reason in the named thread, then resolves all threads that report the finding.
    fn settling(
        &self,
        group: &DuplicateThreads<'_>,
        reason: Option<&str>,
        turn: usize,
    ) -> Result<Vec<PlannedWrite>, Failure> {
        let mut writes = Vec::new();
        if let Some(posted) = group.named.on_forge {
            writes.extend(reason.map(|reason| self.reply(posted, reason, turn)).transpose()?);
            writes.push(self.resolve(posted, turn)?);
        } else if let Some(reason) = reason {
            // Without a thread, nothing else on the forge would show the decision.
            let done = format!("{} wants to {} it", self.act.by, self.act.what.name());
            let (turn, body) = (format!("person/{turn}"), format!("{done}: {}", reason.trim()));
            writes.extend(planned_writes::comment_about(
                self.computed,
                &group.named,
                &turn,
                &body,
                self.why(),
            ));
        }
        let others = group.members.iter().filter_map(|shown| shown.on_forge);
        for posted in others.filter(|posted| !posted.resolved && posted.id != *group.named.id()) {
            writes.push(self.resolve(posted, turn)?);
        }
        Ok(writes)
    }

    /// T7: the same writes as for the engine's own escalations, with the person's reason added.
    fn escalation(
        &self,
        group: &DuplicateThreads<'_>,
        fact: &Fact,
        already: bool,
    ) -> Result<Vec<PlannedWrite>, Failure> {
        if let Some(posted) = group.first.on_forge {
            self.may(posted.viewer_can_reply, "reply in", posted)?;
        }
        let mut history = self.history.clone();
        if !already {
            let why = self.act.reason.as_deref().unwrap_or_default();
            history.add(DatedFact { at: self.at, fact: fact.clone() }, &self.act.by, why);
        }
        let after = ComputedState::of(Arc::clone(&self.computed.snapshot), &history, self.rules);
        let mut writes = Vec::new();
        if let Some(shown) = after.thread(&group.first.thread.id) {
            planned_writes::escalation_writes(&after, &shown, &self.rules.config.operator, &mut writes);
        }
        for planned in &mut writes {
            if let (Write::Reply { body, .. } | Write::Comment { body, .. }, Some(reason)) =
                (&mut planned.write, &self.act.reason)
            {
                let _infallible = write!(body, "\n\n{} says: {}", self.act.by, reason.trim());
            }
        }
        Ok(writes)
    }

    fn reply(&self, posted: &ReviewThread, body: &str, turn: usize) -> Result<PlannedWrite, Failure> {
        self.may(posted.viewer_can_reply, "reply in", posted)?;
        let verb = self.act.what.name();
        let head = self.computed.snapshot.head.sha.as_str();
        let occasion = self.act.callers_key.as_deref().unwrap_or(head);
        let key = key(verb, &[&self.computed.snapshot.filed_address(), occasion, posted.id.as_str(), body])?;
        // Without a recorded fact there is no turn to count, and the key identifies the reply.
        let name = if turn == 0 { key.as_str().to_owned() } else { name("reply", &posted.id, turn) };
        let write = Write::Reply { thread: self.target(posted), body: body.to_owned(), key };
        Ok(PlannedWrite { name, write, why: self.why(), only_marks: false })
    }

    pub(super) fn resolve(&self, posted: &ReviewThread, turn: usize) -> Result<PlannedWrite, Failure> {
        self.may(posted.resolved || posted.viewer_can_resolve, "resolve", posted)?;
        let write = Write::Resolve { thread: self.target(posted) };
        let name = name("resolve", &posted.id, turn);
        Ok(PlannedWrite { name, write, why: self.why(), only_marks: false })
    }

    pub(super) fn unresolve(&self, posted: &ReviewThread, turn: usize) -> Result<PlannedWrite, Failure> {
        self.may(!posted.resolved || posted.viewer_can_unresolve, "open again", posted)?;
        let write = Write::Unresolve { thread: self.target(posted) };
        let name = name("unresolve", &posted.id, turn);
        Ok(PlannedWrite { name, write, why: self.why(), only_marks: false })
    }

    fn hide(&self, posted: &ReviewThread) -> Result<PlannedWrite, Failure> {
        let Some(comment) = posted.opening() else {
            return Err(Failure::usage(format_args!("the thread {} has no comment to hide", posted.id)));
        };
        let write = Write::Minimize { on: self.address.clone(), comment: comment.id.clone() };
        let name = format!("hide/{}", comment.id);
        Ok(PlannedWrite { name, write, why: self.why(), only_marks: false })
    }

    fn may(&self, is_allowed: bool, what: &str, posted: &ReviewThread) -> Result<(), Failure> {
        if is_allowed {
            return Ok(());
        }
        let sentence = format!("GitHub does not let you {what} the thread {} of {}", posted.id, self.address);
        Err(Failure::new(FailureKind::NotAllowed, format_args!("{sentence}; the write role would be enough")))
    }

    fn target(&self, posted: &ReviewThread) -> ThreadTarget {
        ThreadTarget {
            pull_request: self.address.clone(),
            id: posted.id.clone(),
            path: posted.path.clone(),
            line: posted.line.or(posted.original_line),
        }
    }

    fn why(&self) -> String {
        self.act
            .reason
            .clone()
            .filter(|reason| !reason.trim().is_empty())
            .unwrap_or_else(|| format!("{} wants to {}", self.act.by, self.act.what.name()))
    }

    /// T7: the sentence has to make the difference between the decisions plain.
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

/// Whether the thread's status allows the decision.
pub(super) fn check(decision: Decision, first: &ThreadView<'_>) -> Result<(), PlanError> {
    let thread = first.thread;
    let fits = match decision {
        Decision::Queue => check_can_be_handed_off(thread),
        decision => thread.machine.admits(decision).map_err(Refusal::from),
    };
    fits.map_err(|refusal| {
        let situation = format!("{} at {} is {}", first.id(), place(first), thread.status().name());
        PlanError::Refused { refusal, situation }
    })
}

/// The name of a write, unique on the pull request.
pub(super) fn name(what: &str, thread: &ThreadId, turn: usize) -> String {
    format!("{what}/{thread}/person/{turn}")
}

pub(super) fn place(shown: &ThreadView<'_>) -> String {
    let path = &shown.thread.anchor.path;
    let line = shown.line().or_else(|| shown.on_forge.and_then(|posted| posted.original_line));
    line.map_or_else(|| path.to_string(), |line| format!("{path}:{line}"))
}
