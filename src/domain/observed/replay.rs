//! Replays one reviewer's history on a pull request through the machines of its threads (C8).
//!
//! All events are sorted by time and applied one by one. The reviewer takes a turn on a thread when it
//! replies after somebody else or after a push, raises the finding again at a newer head, or finishes a newer
//! head without mentioning the thread.

use super::heads::Heads;
use super::title::title;
use super::{ObservedThread, RaisedAgain, ReviewThread, ThreadEvent, ThreadEventKind, is_person};
use crate::domain::duplicates::DuplicateIndex;
use crate::domain::finding::{Destination, Finding, Thread, UndoableAct};
use crate::domain::machine::{Decision, DecisionError, EscalatedBy, ThreadMachine};
use crate::domain::place::{Anchor, LineRange};
use crate::domain::policy::Policy;
use crate::domain::post::{PostClass, PostPlace, PostReader, ReportedFinding};
use crate::domain::re_review::ClassifiedReply;
use crate::domain::repeats::{RaisedBy, Repetition, match_finding, raise_again};
use crate::domain::snapshot::{Account, PullRequestSnapshot, ThreadComment};
use crate::domain::vocabulary::{ReviewerAction, ReviewerName, Stance, ThreadId};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// One of the reviewer's threads on GitHub.
struct RootThread<'a> {
    source: &'a ReviewThread,
    first: &'a ThreadComment,
    later: Vec<&'a ThreadComment>,
    head: usize,
    finding: Finding,
    anchor: Anchor,
    /// The time of the edit that marked the first comment as settled, if there was one.
    accepted_by_edit: Option<Timestamp>,
    /// When GitHub last showed the thread unresolved, as far as the journal knows.
    unresolved_at: Option<Timestamp>,
    /// Cloture resolved the thread, and nobody reopened it.
    resolved_by_engine: bool,
    /// R4: GitHub shows the thread resolved, but only by an author who may not override.
    resolved_as_argument: bool,
    /// The threads that raised the finding again while this one was resolved, as far as the journal knows.
    raised_again: Vec<&'a RaisedAgain>,
    /// When the last of these was opened. Before that, this thread counts as resolved.
    resolved_until: Option<Timestamp>,
}

impl RootThread<'_> {
    /// Whether somebody resolved the thread whose resolution counts.
    fn is_resolved(&self) -> bool {
        self.source.resolved && !self.resolved_as_argument
    }

    /// Whether the thread may have been resolved at this time. GitHub tells only that it is resolved now.
    fn is_resolved_at(&self, at: Timestamp) -> bool {
        let is_resolved = self.is_resolved() || self.resolved_until.is_some_and(|until| at < until);
        is_resolved && self.unresolved_at.is_none_or(|unresolved| unresolved < at)
    }

    /// The record that this thread was resolved when the other one raised the finding again.
    fn raised_again_by(&self, other: &ReviewThread) -> Option<&RaisedAgain> {
        self.raised_again.iter().copied().find(|raised| raised.by == other.id)
    }
}

/// One finding with every thread that reports it. `thread` is the first and represents the group.
struct FindingGroup {
    thread: Thread,
    members: Vec<usize>,
    /// The head of the reviewer's last turn.
    turn: usize,
    /// Whether somebody else replied after that turn.
    answered: bool,
    resolve_proposed: bool,
    /// H1: it was queued when the pull request was closed, and nobody unqueued it since.
    queued_at_close: bool,
    /// People's acts that are not undone, oldest first. An act that changed nothing is None.
    acts: Vec<Option<UndoableAct>>,
}

/// An event, with the index of its root thread if it concerns one. The order of the variants decides between
/// events of the same time: a comment comes before its consequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ReplayEvent {
    Opened(usize),
    /// The reviewer's own comment, by its index in `later`.
    ReviewerReplied(usize, usize),
    AcceptedByEdit(usize),
    /// Somebody else's comment, by its index in `later`.
    OthersReplied(usize, usize),
    Finished(usize),
    /// A recorded event, by its index in the list.
    Recorded(usize, usize),
}

/// The threads that this reviewer opened, and how many heads it finished since the last reopening.
pub(super) fn replay_reviewer(
    reviewer: &ReviewerName,
    threads: &[&ReviewThread],
    finished: &BTreeMap<usize, Timestamp>,
    recorded: &[ThreadEvent],
    context: &ReplayContext<'_>,
) -> (Vec<ObservedThread>, u32) {
    let roots = roots(reviewer, threads, recorded, context);
    let mut replay = ReviewerReplay {
        reviewer,
        roots: &roots,
        context,
        groups: Vec::new(),
        group_of: vec![0; roots.len()],
        earlier_findings: DuplicateIndex::new(context.policy),
        completed: 0,
    };
    for (at, event) in timeline(reviewer, &roots, finished, recorded, context) {
        replay.apply(at, event, recorded);
    }
    replay.settle();
    let completed = replay.completed;
    (replay.into_threads(), completed)
}

/// The inputs that every reviewer's replay shares.
pub(super) struct ReplayContext<'a> {
    pub(super) snapshot: &'a PullRequestSnapshot,
    pub(super) heads: &'a Heads<'a>,
    pub(super) reads: &'a dyn PostReader,
    pub(super) policy: &'a Policy,
}

impl ReplayContext<'_> {
    fn is_owner(&self, owner: &ReviewerName, comment: &ThreadComment) -> bool {
        let by = |account: &Account| self.reads.reviewer(account, &comment.body);
        !comment.is_posted_by_cloture() && comment.author.as_ref().and_then(by).as_ref() == Some(owner)
    }

    /// Posts after the end of a pull request change nothing.
    fn is_over(&self, at: Timestamp) -> bool {
        let ended = self.snapshot.merged_at.or(self.snapshot.closed_at);
        ended.is_some_and(|ended| at > ended)
    }
}

/// Sorted by head, then by time.
fn roots<'a>(
    reviewer: &ReviewerName,
    threads: &[&'a ReviewThread],
    recorded: &'a [ThreadEvent],
    context: &ReplayContext<'_>,
) -> Vec<RootThread<'a>> {
    let has = |source: &ReviewThread, what: &ThreadEventKind| {
        recorded.iter().any(|event| event.thread == source.id && event.what == *what)
    };
    let mut unresolved: BTreeMap<&ThreadId, Timestamp> = BTreeMap::new();
    for event in recorded.iter().filter(|event| event.what == ThreadEventKind::Unresolved) {
        let last = unresolved.entry(&event.thread).or_insert(event.at);
        *last = event.at.max(*last);
    }
    let opened_at = |id: &ThreadId| {
        let thread = threads.iter().find(|thread| thread.id == *id)?;
        Some(thread.opening()?.created_at)
    };
    let mut roots: Vec<RootThread<'a>> = threads
        .iter()
        .filter_map(|&source| {
            let own = recorded.iter().filter(|event| event.thread == source.id);
            let raised_again = own.filter_map(|event| match &event.what {
                ThreadEventKind::RaisedAgain(raised) => Some(raised),
                _ => None,
            });
            let raised_again: Vec<&RaisedAgain> = raised_again.collect();
            let comments = source.published_comments();
            let (&first, later) = comments.split_first()?;
            let reading = context.reads.read(reviewer, PostPlace::ThreadRoot, &first.body);
            let may_accept = first.edited_at.is_some() || context.reads.accepts_unedited(reviewer);
            let accepted_by_edit = (may_accept && reading.stance == Some(Stance::Accepts))
                .then(|| first.edited_at.unwrap_or(first.updated_at).max(first.created_at));
            let finding = finding(source, first, reading.findings.into_iter().next());
            let mut anchor = Anchor::new(finding.path.clone(), finding.lines);
            anchor.gone = source.outdated;
            let head = context.heads.of_comment(first);
            let resolved_by_engine =
                has(source, &ThreadEventKind::ResolvedByEngine) && !has(source, &ThreadEventKind::Reopened);
            Some(RootThread {
                source,
                first,
                later: later.to_vec(),
                head,
                finding,
                anchor,
                accepted_by_edit,
                unresolved_at: unresolved.get(&source.id).copied(),
                resolved_by_engine,
                resolved_as_argument: !resolved_by_engine && context.snapshot.is_resolved_as_argument(source),
                resolved_until: raised_again.iter().filter_map(|raised| opened_at(&raised.by)).max(),
                raised_again,
            })
        })
        .collect();
    roots.sort_by_key(|root| (root.head, root.first.created_at, root.source.id.clone()));
    roots
}

/// The thread gives the place; the reviewer's text gives the rest.
pub(super) fn finding(
    source: &ReviewThread,
    first: &ThreadComment,
    reported: Option<ReportedFinding>,
) -> Finding {
    let last = source.line.or(source.original_line);
    let start = source.start_line.or(source.original_start_line).or(last);
    let lines = last.and_then(|last| LineRange::new(start.unwrap_or(last).min(last), last));
    let reported = reported.unwrap_or_else(|| ReportedFinding::without_details(&first.body));
    reported.at(source.path.clone(), lines, || title(&first.body).into())
}

fn timeline(
    reviewer: &ReviewerName,
    roots: &[RootThread<'_>],
    finished: &BTreeMap<usize, Timestamp>,
    recorded: &[ThreadEvent],
    context: &ReplayContext<'_>,
) -> Vec<(Timestamp, ReplayEvent)> {
    let mut events = Vec::new();
    let mut by_thread: BTreeMap<&ThreadId, usize> = BTreeMap::new();
    for (index, root) in roots.iter().enumerate() {
        by_thread.insert(&root.source.id, index);
        events.push((root.first.created_at, ReplayEvent::Opened(index)));
        events.extend(root.accepted_by_edit.map(|at| (at, ReplayEvent::AcceptedByEdit(index))));
        for (place, comment) in root.later.iter().enumerate() {
            let event = if context.is_owner(reviewer, comment) {
                ReplayEvent::ReviewerReplied(index, place)
            } else {
                ReplayEvent::OthersReplied(index, place)
            };
            events.push((comment.created_at, event));
        }
    }
    events.extend(finished.iter().map(|(&head, &at)| (at, ReplayEvent::Finished(head))));
    for (place, event) in recorded.iter().enumerate() {
        let root = by_thread.get(&event.thread);
        // Recorded events carry our clock, which may be behind GitHub's. No event comes before its thread was
        // opened.
        events.extend(
            root.map(|&root| {
                (event.at.max(roots[root].first.created_at), ReplayEvent::Recorded(root, place))
            }),
        );
    }
    events.sort();
    events
}

struct ReviewerReplay<'a> {
    reviewer: &'a ReviewerName,
    roots: &'a [RootThread<'a>],
    context: &'a ReplayContext<'a>,
    groups: Vec<FindingGroup>,
    /// The group of each root thread, set when it is opened.
    group_of: Vec<usize>,
    earlier_findings: DuplicateIndex<'a, usize>,
    completed: u32,
}

impl<'a> ReviewerReplay<'a> {
    fn apply(&mut self, at: Timestamp, event: ReplayEvent, recorded: &[ThreadEvent]) {
        let policy = self.context.policy;
        match event {
            ReplayEvent::Opened(root) => self.opened(root, at),
            ReplayEvent::ReviewerReplied(root, comment) => self.reviewer_replied(root, comment, at),
            ReplayEvent::AcceptedByEdit(root) => {
                let group = &mut self.groups[self.group_of[root]];
                // An edit of an earlier thread says nothing about a later repetition.
                if group.members.last() == Some(&root) && !self.context.is_over(at) {
                    // The reviewer can resolve only an open thread. One that waits for a person stays there.
                    let _waits_for_a_person =
                        group.thread.machine.act(Stance::Accepts, ReviewerAction::Resolve, policy);
                }
            }
            ReplayEvent::OthersReplied(root, comment) => {
                let comment = self.roots[root].later[comment];
                let group = &mut self.groups[self.group_of[root]];
                group.answered = true;
                apply_reply(&mut group.thread.machine, comment, self.context.reads);
            }
            ReplayEvent::Finished(head) => self.finished(head, at),
            ReplayEvent::Recorded(root, place) => self.recorded(root, &recorded[place].what),
        }
    }

    /// A thread was opened. Its finding is new or repeats an earlier one.
    fn opened(&mut self, root: usize, at: Timestamp) {
        let roots: &'a [RootThread<'a>] = self.roots;
        let RootThread { source, finding, anchor, head, .. } = &roots[root];
        let repeated = self.repeated(root);
        self.earlier_findings.add_thread(root, finding, anchor);
        let Some(group) = repeated else {
            self.group_of[root] = self.groups.len();
            let mut thread = Thread::opened(source.id.clone(), self.reviewer.clone(), finding.clone(), false);
            thread.anchor.clone_from(anchor);
            let group = FindingGroup {
                thread,
                members: vec![root],
                turn: *head,
                answered: false,
                resolve_proposed: false,
                queued_at_close: false,
                acts: Vec::new(),
            };
            self.groups.push(group);
            return;
        };
        self.group_of[root] = group;
        let members = || self.groups[group].members.iter().map(|&member| &roots[member]);
        let recorded = members().find_map(|member| member.raised_again_by(source));
        let by_person = || members().any(|member| self.was_resolved_by_person(member));
        let resolved_by_person = recorded.map_or_else(by_person, |raised| raised.resolved_by_person);
        let all_resolved = recorded.is_some() || members().all(|member| member.is_resolved_at(at));
        let group = &mut self.groups[group];
        group.members.push(root);
        if self.context.is_over(at) {
            return;
        }
        if group.thread.machine.is_open() && all_resolved {
            // GitHub does not say when a thread was resolved. It must have been before the reviewer raised
            // the finding again.
            resolve(&mut group.thread.machine, resolved_by_person, self.context.policy);
        }
        let new_turn = *head > group.turn;
        group.turn = group.turn.max(*head);
        group.resolve_proposed = false;
        let repetition = Repetition::of(group.thread.status());
        raise_again(&mut group.thread, repetition, finding.severity, new_turn, self.context.policy);
        group.answered &= !new_turn;
    }

    /// D1: the earlier finding that this one repeats. A reviewer tells the findings of one review apart
    /// itself, so they are never compared with each other.
    fn repeated(&self, root: usize) -> Option<usize> {
        let RootThread { finding, head, .. } = &self.roots[root];
        let earlier = self.earlier_findings.overlaps_among(finding, |other| self.roots[other].head < *head);
        let overlapping = earlier.into_iter().map(|overlap| {
            let group = self.group_of[overlap.key];
            (group, self.groups[group].thread.status(), overlap.nearness)
        });
        match_finding(overlapping, RaisedBy::Observed).thread()
    }

    fn reviewer_replied(&mut self, root: usize, place: usize, at: Timestamp) {
        // GitHub shows the thread as resolved; the resolution outweighs the comments before it.
        if self.roots[root].is_resolved_at(at) || self.context.is_over(at) {
            return;
        }
        let comment = self.roots[root].later[place];
        let reading = self.context.reads.read(self.reviewer, PostPlace::ThreadReply, &comment.body);
        if matches!(reading.class, PostClass::Noise | PostClass::Failure) {
            return;
        }
        let head = self.context.heads.of_comment(comment);
        let group = &mut self.groups[self.group_of[root]];
        group.resolve_proposed = false;
        if head > group.turn || group.answered {
            let stance = group.thread.machine.counters.stance.unwrap_or(Stance::SeeksChange);
            group.thread.machine.hold(reading.stance.unwrap_or(stance), self.context.policy);
            group.turn = group.turn.max(head);
            group.answered = false;
        }
    }

    /// The reviewer finished a head. For each finding that it did not mention, it holds its stance or Cloture
    /// proposes to resolve. C6 counts the head.
    fn finished(&mut self, head: usize, at: Timestamp) {
        if self.context.is_over(at) {
            return;
        }
        for index in 0..self.groups.len() {
            if self.groups[index].turn < head && !self.mentions(index, head) {
                self.reviewer_was_silent(index, head, at);
            }
        }
        if self.context.snapshot.counts_from.is_none_or(|reopened| at > reopened) {
            self.completed += 1;
        }
        if self.completed >= self.context.policy.max_review_iterations {
            let roots = self.roots;
            // GitHub does not say which cycle resolved a thread, so a resolved one is never cut off.
            let is_open =
                |group: &FindingGroup| !group.members.iter().all(|&member| roots[member].is_resolved_at(at));
            for group in self.groups.iter_mut().filter(|group| is_open(group)) {
                group.thread.machine.cut_off(EscalatedBy::IterationCap);
            }
        }
    }

    /// Whether the reviewer comments on a finding at this head, even after its review.
    fn mentions(&self, group: usize, head: usize) -> bool {
        let roots = self.groups[group].members.iter().map(|&member| &self.roots[member]);
        let mut comments = roots.flat_map(|root| &root.later);
        comments.any(|comment| {
            self.context.heads.of_comment(comment) == head && self.context.is_owner(self.reviewer, comment)
        })
    }

    fn reviewer_was_silent(&mut self, group: usize, head: usize, at: Timestamp) {
        let group = &mut self.groups[group];
        let members = || group.members.iter().map(|&member| &self.roots[member]);
        if members().all(|root| root.is_resolved_at(at)) || !group.thread.machine.is_open() {
            return;
        }
        if members().all(|root| root.source.outdated) {
            group.resolve_proposed = true;
            return;
        }
        let stance = group.thread.machine.counters.stance.unwrap_or(Stance::SeeksChange);
        group.thread.machine.hold(stance, self.context.policy);
        group.turn = head;
    }

    /// Applies an event from the journal. It was valid when it was recorded. If GitHub has since shown more and
    /// it no longer fits, it changes nothing.
    fn recorded(&mut self, root: usize, what: &ThreadEventKind) {
        let group = &mut self.groups[self.group_of[root]];
        let thread = &mut group.thread;
        match what {
            ThreadEventKind::Act(decision) => {
                let decision = *decision;
                group.queued_at_close &= decision != Decision::Unqueue;
                take_over(&mut thread.machine, decision);
                group.acts.push(thread.undoably(Some(decision), |thread| decide(thread, decision)).ok());
            }
            ThreadEventKind::Routed(to) => {
                group.queued_at_close &= *to != Destination::Nowhere;
                let act = thread.undoably(None, |thread| {
                    if !thread.handed_off {
                        thread.route(to.clone());
                    }
                    Ok::<(), DecisionError>(())
                });
                group.acts.push(act.ok());
            }
            ThreadEventKind::Undone => {
                let undone = group.acts.pop().flatten().is_some_and(|act| thread.undo(&act).is_ok());
                // C6: the reviewer's cycles may have been spent while a person had the thread.
                if undone && self.completed >= self.context.policy.max_review_iterations {
                    thread.machine.cut_off(EscalatedBy::IterationCap);
                }
            }
            ThreadEventKind::Reopened => {
                thread.machine.reopened_by_person();
            }
            ThreadEventKind::HandedOff => thread.hand_off(),
            ThreadEventKind::QueueDiscarded => (thread.queued, group.queued_at_close) = (false, false),
            ThreadEventKind::QueueSuspended => {
                group.queued_at_close |= thread.queued;
                thread.queued = false;
            }
            ThreadEventKind::QueueRestored => {
                let can_be_sent = !thread.handed_off && !thread.status().is_settled();
                thread.queued |= std::mem::take(&mut group.queued_at_close) && can_be_sent;
            }
            // `roots` has taken these into account.
            ThreadEventKind::Unresolved
            | ThreadEventKind::ResolvedByEngine
            | ThreadEventKind::RaisedAgain(_) => {}
        }
    }

    /// Settles every finding whose threads are all resolved on GitHub, at whatever time that happened.
    fn settle(&mut self) {
        for index in 0..self.groups.len() {
            let members = || self.groups[index].members.iter().map(|&member| &self.roots[member]);
            let counts = if members().any(|root| root.resolved_as_argument) {
                // The reviewer accepted, and the author closed the thread: they agree.
                self.groups[index].thread.machine.counters.stance == Some(Stance::Accepts)
                    && members().all(|root| root.source.resolved)
            } else {
                members().all(RootThread::is_resolved)
            };
            if counts {
                let by_person = members().any(|root| self.was_resolved_by_person(root));
                resolve(&mut self.groups[index].thread.machine, by_person, self.context.policy);
            }
        }
    }

    /// GitHub does not name a bot that resolved a thread, so a missing name means the reviewer.
    fn was_resolved_by_person(&self, root: &RootThread<'_>) -> bool {
        let RootThread { source, resolved_by_engine, resolved_as_argument, .. } = root;
        let is_reviewer = |by: &Account| self.context.reads.reviewer(by, "").as_ref() == Some(self.reviewer);
        let by_person = source.resolved_by.as_ref().is_some_and(|by| is_person(by) && !is_reviewer(by));
        by_person && !resolved_by_engine && !resolved_as_argument
    }

    /// D4, D5: whether GitHub shows the first thread resolved although a later one raised the finding again.
    fn raised_again(&self, group: &FindingGroup) -> Option<RaisedAgain> {
        let (first, last) = (&self.roots[*group.members.first()?], &self.roots[*group.members.last()?]);
        let is_raised = first.source.id != last.source.id
            && first.is_resolved()
            && !last.source.resolved
            && !group.thread.status().is_settled();
        is_raised.then(|| RaisedAgain {
            by: last.source.id.clone(),
            resolved_by_person: self.was_resolved_by_person(first),
        })
    }

    /// Every thread on GitHub. A repetition has the state of the first thread.
    fn into_threads(self) -> Vec<ObservedThread> {
        let roots = self.roots;
        let mut shown = Vec::with_capacity(roots.len());
        for group in &self.groups {
            let FindingGroup { thread, members, .. } = group;
            let resolve_proposed = group.resolve_proposed && thread.machine.is_open();
            for (place, &member) in members.iter().enumerate().rev() {
                let RootThread { source, first, finding, anchor, .. } = &roots[member];
                let mut own = thread.clone();
                let first_of_all = place == 0;
                if !first_of_all {
                    own.id = source.id.clone();
                    own.finding = finding.clone();
                    own.anchor = anchor.clone();
                    // Only the first thread is handed off, so the finding is sent once.
                    (own.queued, own.handed_off) = (false, false);
                    own.routed = Destination::AsConfigured;
                }
                shown.push(ObservedThread {
                    thread: own,
                    line: source.line,
                    url: first.url.clone(),
                    outdated: source.outdated,
                    repeats: (!first_of_all).then(|| thread.id.clone()),
                    resolve_proposed,
                    raised_again: self.raised_again(group).filter(|_| first_of_all),
                });
            }
        }
        shown
    }
}

/// R3–R5: applies somebody else's reply.
fn apply_reply(machine: &mut ThreadMachine, comment: &ThreadComment, reads: &dyn PostReader) {
    let reply = ClassifiedReply::read(reads, comment.into(), None);
    if reply.is_override() {
        machine.apply_override(reply.intent);
    }
}

fn resolve(machine: &mut ThreadMachine, by_person: bool, policy: &Policy) {
    if machine.status.is_settled() {
        // A reply of a person with the right to override settled it before.
        return;
    }
    if by_person {
        // A person can resolve any thread that is not settled.
        let _always_fits = machine.decide(Decision::Resolve);
    } else {
        // A reviewer can resolve only an open thread. One that waits for a person stays there (T2).
        let _waits_for_a_person = machine.act(Stance::Accepts, ReviewerAction::Resolve, policy);
    }
}

/// A thread that a person decided about waited for one. If the replay no longer shows why, because a post was
/// deleted or a limit was raised, the person took it over then.
fn take_over(machine: &mut ThreadMachine, decision: Decision) {
    let needs_a_waiting_thread = matches!(decision, Decision::Uphold | Decision::Dismiss | Decision::Return);
    if needs_a_waiting_thread && machine.is_open() {
        // A veto fits every open thread.
        let _always_fits = machine.decide(Decision::Veto);
    }
}

/// T6, T7, H6: applies a recorded decision.
fn decide(thread: &mut Thread, decision: Decision) -> Result<(), DecisionError> {
    match decision {
        Decision::Queue if thread.handed_off => thread.queued = false,
        Decision::Queue => thread.queue(),
        Decision::Unqueue => thread.queued = false,
        decision => thread.machine.decide(decision)?,
    }
    Ok(())
}
