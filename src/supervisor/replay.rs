//! Replays a pull request's history: the engine's own state for driven reviewers, and people's acts on the
//! threads of observed ones.

use super::fact::{CycleTerms, Fact, RecordedAnswer};
use super::history::History;
use super::{markers, planned_writes};
use crate::config::Config;
use crate::domain::cycle::{CycleTrigger, FrozenCycle, ReviewerAnswer, ThreadChoice, Violation};
use crate::domain::driven::{CycleNote, CycleOutcome, DrivenPullRequest, NextCall, Refusal};
use crate::domain::finding::{Finding, UndoableAct};
use crate::domain::handoff::HandoffRules;
use crate::domain::machine::Decision;
use crate::domain::observed::{RaisedAgain, ThreadEvent, ThreadEventKind};
use crate::domain::place::FileChange;
use crate::domain::review_loop::{AuthorState, Exit};
use crate::domain::snapshot::{AccountKind, PullRequestSnapshot, ReviewThread};
use crate::domain::verdict::Verdict;
use crate::domain::vocabulary::{ReviewerName, Sha, ThreadId};
use crate::reviewers::answer;
use crate::reviewers::ask::{ThreadNaming, thread_name};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The result of replaying a history.
#[derive(Debug, Clone)]
pub struct ReplayedHistory {
    /// The driven reviewers' threads and cycles.
    pub engine: DrivenPullRequest,
    /// People's acts on observed threads, and all handoffs.
    pub happened: Vec<ThreadEvent>,
    /// Each completed cycle of a driven reviewer, oldest first.
    pub cycles: Vec<CycleResult>,
    /// The violations in each reviewer's last answer, while its cycle has attempts left.
    pub violations: BTreeMap<ReviewerName, Vec<Violation>>,
    /// Reviewers that were called and have not answered yet.
    pub unanswered: BTreeSet<ReviewerName>,
    /// Reviewers that failed at a head for good (C4), and why.
    pub failed: BTreeMap<ReviewerName, (Sha, String)>,
    /// Author rounds since somebody who may override last reopened the pull request.
    pub dispatched: u32,
    /// Heads that the author was dispatched to, and how far it came.
    pub author_at: BTreeMap<Sha, AuthorState>,
    pub granted: u32,
    /// How the loop ended last and at which head, unless a grant or a reopening came after it.
    pub ended: Option<(Exit, Option<Sha>)>,
    /// The forge's id of each driven thread that is posted, by the engine's id.
    pub posted: BTreeMap<ThreadId, ThreadId>,
    /// The driven findings without a thread, by the engine's id: the address of the review whose text has them.
    pub in_text: BTreeMap<ThreadId, String>,
    /// Every recorded push, oldest first.
    pub pushes: Vec<RecordedPush>,
    /// How often people escalated each thread. An escalation after an undo is a new one.
    pub escalations: BTreeMap<ThreadId, u32>,
    /// How often each observed thread was opened again because its finding was raised again.
    pub raised_again: BTreeMap<ThreadId, u32>,
}

/// A push and the lines that it changed.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedPush {
    pub at: Timestamp,
    pub head: Sha,
    pub changes: Vec<FileChange>,
    /// GitHub does not show what changed.
    pub unseen: bool,
}

/// A completed cycle, as it is posted on the forge.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleResult {
    /// The number of this reviewer's answer in this journal; part of the names of its writes.
    pub number: usize,
    pub reviewer: ReviewerName,
    pub head: Sha,
    pub verdict: Verdict,
    pub opened: Vec<ThreadId>,
    pub choices: Vec<ThreadChoice>,
    pub notes: Vec<CycleNote>,
    pub summary: Option<String>,
    /// Why the reviewer got the whole pull request in a later cycle.
    pub whole: Option<String>,
}

impl History {
    /// Replays all facts in journal order, then the overriding replies in the snapshot that are not recorded
    /// yet.
    pub fn replay(&self, snapshot: &PullRequestSnapshot, config: &Config) -> ReplayedHistory {
        let author_is_bot = snapshot.author.as_ref().is_some_and(|author| author.kind == AccountKind::Bot);
        let posted = markers::posted_threads(snapshot).into_iter();
        let in_text = markers::findings_in_text(snapshot).into_iter();
        let mut replay = HistoryReplay {
            config,
            folded: ReplayedHistory {
                engine: DrivenPullRequest::new(author_is_bot),
                happened: Vec::new(),
                cycles: Vec::new(),
                violations: BTreeMap::new(),
                unanswered: BTreeSet::new(),
                failed: BTreeMap::new(),
                dispatched: 0,
                author_at: BTreeMap::new(),
                granted: 0,
                ended: None,
                posted: posted.map(|(engine, seen)| (engine, seen.id.clone())).collect(),
                in_text: in_text.map(|(engine, review)| (engine, review.url.clone())).collect(),
                pushes: Vec::new(),
                escalations: BTreeMap::new(),
                raised_again: BTreeMap::new(),
            },
            answers: BTreeMap::new(),
            asked: BTreeMap::new(),
            acts: BTreeMap::new(),
        };
        let engine_id: BTreeMap<ThreadId, ThreadId> =
            replay.folded.posted.iter().map(|(engine, forge)| (forge.clone(), engine.clone())).collect();
        for dated in self.facts() {
            replay.fact(dated.at, &dated.fact, &engine_id);
        }
        replay.folded.unanswered = replay.asked.keys().cloned().collect();
        let resolved = self.resolved_by_engine(snapshot, &replay.folded.raised_again);
        replay.folded.happened.extend(resolved);
        for reply in self.overriding_replies(snapshot) {
            replay.fact(snapshot.updated_at, &reply.fact, &engine_id);
        }
        replay.folded
    }

    /// The driver's own resolutions of observed threads.
    fn resolved_by_engine(
        &self,
        snapshot: &PullRequestSnapshot,
        raised_again: &BTreeMap<ThreadId, u32>,
    ) -> Vec<ThreadEvent> {
        let at = snapshot.updated_at;
        let is_ours = |seen: &&ReviewThread| {
            let let_go = planned_writes::let_go(raised_again.get(&seen.id).copied().unwrap_or(0));
            let turns = [let_go.as_str(), planned_writes::REPEATS];
            let is_done = |turn: &str| self.is_done(snapshot, &planned_writes::resolve_name(&seen.id, turn));
            seen.resolved && turns.into_iter().any(is_done)
        };
        let ours = snapshot.threads.iter().filter(is_ours);
        let what = ThreadEventKind::ResolvedByEngine;
        ours.map(|seen| ThreadEvent { at, thread: seen.id.clone(), what: what.clone() }).collect()
    }
}

struct HistoryReplay<'a> {
    config: &'a Config,
    folded: ReplayedHistory,
    /// The number of answers so far, by reviewer.
    answers: BTreeMap<ReviewerName, usize>,
    /// The call of each reviewer that is not answered yet, and its rules.
    asked: BTreeMap<ReviewerName, UnansweredCall>,
    /// People's acts on each driven thread that are not undone. An act that changed nothing is None.
    acts: BTreeMap<ThreadId, Vec<Option<UndoableAct>>>,
}

struct UnansweredCall {
    frozen: FrozenCycle,
    terms: CycleTerms,
    whole: Option<String>,
}

impl HistoryReplay<'_> {
    fn fact(&mut self, at: Timestamp, fact: &Fact, engine_id: &BTreeMap<ThreadId, ThreadId>) {
        let folded = &mut self.folded;
        match fact {
            Fact::Decided { thread, verb, unresolved } => {
                // Older versions did not record which threads were unresolved.
                let unresolved =
                    if unresolved.is_empty() { std::slice::from_ref(thread) } else { unresolved };
                let event = |thread: &ThreadId, what| ThreadEvent { at, thread: thread.clone(), what };
                let shown = unresolved.iter().map(|thread| event(thread, ThreadEventKind::Unresolved));
                folded.happened.extend(shown);
                folded.happened.push(event(thread, ThreadEventKind::Act(*verb)));
                if *verb == Decision::Escalate {
                    *folded.escalations.entry(thread.clone()).or_default() += 1;
                }
                self.act_on_driven(thread, engine_id, |engine, thread| engine.decide(thread, *verb));
            }
            Fact::Routed { thread, to } => {
                let what = ThreadEventKind::Routed(to.clone());
                folded.happened.push(ThreadEvent { at, thread: thread.clone(), what });
                self.act_on_driven(thread, engine_id, |engine, thread| engine.route(thread, to.clone()));
            }
            Fact::Undone { thread } => {
                let what = ThreadEventKind::Undone;
                folded.happened.push(ThreadEvent { at, thread: thread.clone(), what });
                let own = engine_id.get(thread).unwrap_or(thread);
                if let Some(act) = self.acts.get_mut(own).and_then(Vec::pop).flatten() {
                    // The act was undone in the journal's order, so it is still undone in this one.
                    let _overtaken = folded.engine.undo(own, &act, &self.config.policy);
                }
            }
            Fact::Reopened { thread } => {
                let own = engine_id.get(thread).unwrap_or(thread);
                if folded.engine.reopened_by_person(own).is_err() {
                    folded.happened.push(ThreadEvent {
                        at,
                        thread: thread.clone(),
                        what: ThreadEventKind::Reopened,
                    });
                }
            }
            Fact::RaisedAgain { thread, by, resolved_by_person } => {
                let raised = RaisedAgain { by: by.clone(), resolved_by_person: *resolved_by_person };
                self.raised_again(at, thread, raised);
            }
            Fact::Replied { thread, intent, .. } => {
                // A thread that the engine does not know was opened with a journal that is lost.
                let _unknown = if intent.settles() {
                    folded.engine.apply_override(thread, *intent)
                } else {
                    folded.engine.override_withdrawn(thread)
                };
            }
            Fact::ResolvedThere { thread, .. } => {
                let _settled_already = folded.engine.decide(thread, Decision::Resolve);
            }
            Fact::Granted { .. } => {
                folded.granted += 1;
                folded.ended = None;
            }
            Fact::Pushed { head, changes, unseen, .. } => self.pushed(at, head, changes, *unseen),
            Fact::Dispatched { head, .. } => {
                folded.dispatched += 1;
                folded.author_at.insert(head.clone(), AuthorState::AtWork);
            }
            Fact::AuthorEnded { head, pushed, .. } => {
                let state = if *pushed { AuthorState::Pushed } else { AuthorState::GaveUp };
                folded.author_at.insert(head.clone(), state);
            }
            Fact::Merged { tasks, .. } => {
                // The fact holds the tasks, so today's handoff rules must not decide again.
                folded.engine.merge(&HandoffRules::default());
                for thread in tasks.iter().flat_map(|task| &task.findings) {
                    folded.engine.handed_off(thread);
                    folded.happened.push(ThreadEvent {
                        at,
                        thread: thread.clone(),
                        what: ThreadEventKind::HandedOff,
                    });
                }
                self.change_queue(at, &ThreadEventKind::QueueDiscarded);
            }
            Fact::Closed => {
                folded.engine.close();
                self.change_queue(at, &ThreadEventKind::QueueSuspended);
            }
            Fact::ReopenedPullRequest { resets } => self.reopened(at, *resets),
            Fact::Ended { exit, head } => folded.ended = Some((exit.clone(), head.clone())),
            Fact::Told { .. } | Fact::UnreadablePost { .. } => {}
            Fact::Adopted { adopted } => folded.engine.adopt(adopted.thread()),
            Fact::Asked { reviewer, head, terms, whole, .. } => {
                if whole.is_some() {
                    folded.engine.widen_scope(reviewer);
                }
                self.asked(reviewer, head, terms.as_ref(), whole.clone());
            }
            Fact::Unreviewable { reviewer, head, reason } => {
                folded.failed.insert(reviewer.clone(), (head.clone(), reason.clone()));
            }
            Fact::Answered { reviewer, head, answer, .. } => self.answered(reviewer, head, answer),
        }
    }

    fn pushed(&mut self, at: Timestamp, head: &Sha, changes: &[FileChange], unseen: bool) {
        let engine = &mut self.folded.engine;
        if unseen {
            engine.push_unseen(head.clone());
        } else {
            engine.push(head.clone(), changes);
        }
        let (head, changes) = (head.clone(), changes.to_vec());
        self.folded.pushes.push(RecordedPush { at, head, changes, unseen });
    }

    fn raised_again(&mut self, at: Timestamp, thread: &ThreadId, raised: RaisedAgain) {
        *self.folded.raised_again.entry(thread.clone()).or_default() += 1;
        let what = ThreadEventKind::RaisedAgain(raised);
        self.folded.happened.push(ThreadEvent { at, thread: thread.clone(), what });
    }

    /// L6: the counts start again only if somebody reopened the pull request who may override.
    fn reopened(&mut self, at: Timestamp, resets: bool) {
        let folded = &mut self.folded;
        folded.engine.reopen(resets);
        folded.ended = None;
        if resets {
            (folded.dispatched, folded.granted) = (0, 0);
            // An agent that is at work goes on. The others may be sent to the same head again.
            folded.author_at.retain(|_, state| *state == AuthorState::AtWork);
        }
        self.change_queue(at, &ThreadEventKind::QueueRestored);
    }

    /// H1: the queue is for one merge. After it, and while the pull request is closed, it is empty.
    fn change_queue(&mut self, at: Timestamp, what: &ThreadEventKind) {
        let happened = &mut self.folded.happened;
        let touched: BTreeSet<ThreadId> = happened.iter().map(|h| h.thread.clone()).collect();
        let at = happened.iter().map(|h| h.at).fold(at, Timestamp::max);
        happened.extend(touched.into_iter().map(|thread| ThreadEvent { at, thread, what: what.clone() }));
    }

    /// Applies a person's act to a driven thread, and keeps how to undo it. An act that does not fit changes
    /// nothing. The same act on an observed thread is applied with the forge's history.
    fn act_on_driven(
        &mut self,
        thread: &ThreadId,
        engine_id: &BTreeMap<ThreadId, ThreadId>,
        act: impl FnOnce(&mut DrivenPullRequest, &ThreadId) -> Result<UndoableAct, Refusal>,
    ) {
        let own = engine_id.get(thread).unwrap_or(thread);
        let undoable = act(&mut self.folded.engine, own).ok();
        self.acts.entry(own.clone()).or_default().push(undoable);
    }

    /// A call counts even if no answer ever came.
    fn asked(
        &mut self,
        reviewer: &ReviewerName,
        head: &Sha,
        terms: Option<&CycleTerms>,
        whole: Option<String>,
    ) {
        let terms = terms.cloned().unwrap_or_else(|| self.todays_terms(reviewer));
        match self.folded.engine.next_call(reviewer, CycleTrigger::Review, &terms.policy) {
            NextCall::Ask(frozen) => {
                self.asked.insert(reviewer.clone(), UnansweredCall { frozen, terms, whole });
            }
            NextCall::ClosedUnasked => {
                let reason = "its calls on this pull request are spent".to_owned();
                self.folded.failed.insert(reviewer.clone(), (head.clone(), reason));
            }
            NextCall::Skip(_) => {}
        }
    }

    /// For calls recorded by a version that did not record the rules.
    fn todays_terms(&self, reviewer: &ReviewerName) -> CycleTerms {
        let configured = self.config.reviewers.iter().find(|configured| configured.name == *reviewer);
        let protocol = configured.map(|configured| configured.protocol).unwrap_or_default();
        CycleTerms { policy: self.config.policy.clone(), protocol, naming: ThreadNaming::default() }
    }

    /// Gives an answer to the engine exactly as on its arrival.
    fn answered(&mut self, reviewer: &ReviewerName, head: &Sha, answer: &RecordedAnswer) {
        let number = self.answers.entry(reviewer.clone()).or_default();
        *number += 1;
        let number = *number;
        let folded = &mut self.folded;
        let Some(UnansweredCall { frozen, terms, whole }) = self.asked.remove(reviewer) else { return };
        let CycleTerms { policy, protocol, naming } = terms;
        let read = match answer {
            RecordedAnswer::Printed(text) => {
                let name = |index, finding: &Finding| thread_name(&frozen, index, finding, naming);
                answer::read(text.as_bytes(), protocol, &policy, name)
            }
            RecordedAnswer::Failed { oversized: true, message, .. } => {
                Err(Violation::OversizedAnswer(message.clone()))
            }
            RecordedAnswer::Failed { oversized: false, message, .. } => {
                Err(Violation::MalformedAnswer(message.clone()))
            }
        };
        let (received, summary) = match read {
            Ok(received) => (Ok(received.answer), received.summary),
            Err(violation) => (Err(violation), None),
        };
        let choices = match &received {
            Ok(ReviewerAnswer::Actions { choices, .. }) => choices.clone(),
            _ => Vec::new(),
        };
        folded.violations.remove(reviewer);
        match folded.engine.answer(&frozen, received, &policy) {
            CycleOutcome::Completed { verdict, notes } => {
                let opened = notes.iter().filter_map(|note| match note {
                    CycleNote::Opened(thread) => Some(thread.clone()),
                    _ => None,
                });
                folded.failed.remove(reviewer);
                folded.cycles.push(CycleResult {
                    number,
                    reviewer: reviewer.clone(),
                    head: head.clone(),
                    verdict,
                    opened: opened.collect(),
                    choices,
                    notes,
                    summary,
                    whole,
                });
            }
            CycleOutcome::Failed { violations, closed: true } => {
                let last: Vec<String> = violations.iter().map(ToString::to_string).collect();
                let reason =
                    format!("it never gave an answer that could be used; the last: {}", last.join("; "));
                folded.failed.insert(reviewer.clone(), (head.clone(), reason));
            }
            CycleOutcome::Failed { closed: false, violations } => {
                folded.violations.insert(reviewer.clone(), violations);
            }
            CycleOutcome::Overtaken => {}
        }
    }
}
