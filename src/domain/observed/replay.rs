//! One reviewer's whole history on a pull request, folded onto its threads' machines (C8).
//!
//! Everything that happened is put in order of time and taken one by one. A thread's reviewer has had another turn
//! when it speaks again after somebody else did or after a push, when it raises the same finding again at a newer head,
//! or when it finishes a newer head without a word about the thread.

use super::heads::Heads;
use super::title::title;
use super::{ObservedThread, ReviewThread, ThreadEvent, ThreadEventKind, is_person};
use crate::domain::duplicates::DuplicateIndex;
use crate::domain::finding::{Destination, Finding, Thread};
use crate::domain::machine::{Decision, EscalatedBy, ThreadMachine};
use crate::domain::place::{Anchor, LineRange};
use crate::domain::policy::Policy;
use crate::domain::post::{PostClass, PostPlace, PostReader, ReportedFinding};
use crate::domain::re_review::ClassifiedReply;
use crate::domain::repeats::{FindingMatch, RaisedBy, Repetition, match_finding, raise_again};
use crate::domain::snapshot::{Account, PullRequestSnapshot, ThreadComment};
use crate::domain::vocabulary::{ReviewerAction, ReviewerName, Stance, ThreadId};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// A thread of the reviewer as the forge has it.
struct RootThread<'a> {
    source: &'a ReviewThread,
    first: &'a ThreadComment,
    later: Vec<&'a ThreadComment>,
    head: usize,
    finding: Finding,
    anchor: Anchor,
    /// When an edit of the first comment said that it is settled.
    accepted_by_edit: Option<Timestamp>,
}

/// One finding with every thread that reports it, the first of them standing for all.
struct FindingGroup {
    thread: Thread,
    members: Vec<usize>,
    /// The head of the reviewer's last turn.
    turn: usize,
    /// Whether somebody else has spoken since.
    answered: bool,
    resolve_proposed: bool,
}

/// Something that happened, about one of the roots where it names one. The order decides between things of the same
/// moment: what was said comes before what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ReplayEvent {
    Opened(usize),
    /// The reviewer's own comment, by its place among the later ones.
    ReviewerReplied(usize, usize),
    AcceptedByEdit(usize),
    /// Somebody else's comment.
    OthersReplied(usize, usize),
    Finished(usize),
    /// By its place in the list of what people did.
    Recorded(usize, usize),
}

/// The threads that this reviewer opened, and how many heads it has finished since the pull request was last reopened.
pub(super) fn replay_reviewer(
    reviewer: &ReviewerName,
    threads: &[&ReviewThread],
    finished: &BTreeMap<usize, Timestamp>,
    recorded: &[ThreadEvent],
    context: &ReplayContext<'_>,
) -> (Vec<ObservedThread>, u32) {
    let roots = roots(reviewer, threads, context);
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

/// What every reviewer's fold needs to know.
pub(super) struct ReplayContext<'a> {
    pub(super) snapshot: &'a PullRequestSnapshot,
    pub(super) heads: &'a Heads<'a>,
    pub(super) reads: &'a dyn PostReader,
    pub(super) policy: &'a Policy,
}

impl ReplayContext<'_> {
    fn is_owner(&self, owner: &ReviewerName, comment: &ThreadComment) -> bool {
        let by = |account: &Account| self.reads.reviewer(account, &comment.body);
        comment.author.as_ref().and_then(by).as_ref() == Some(owner)
    }

    /// What comes after the end of a pull request changes nothing any more, however long a bot goes on.
    fn is_over(&self, at: Timestamp) -> bool {
        let ended = self.snapshot.merged_at.or(self.snapshot.closed_at);
        ended.is_some_and(|ended| at > ended)
    }
}

/// In the order in which they were opened.
fn roots<'a>(reviewer: &ReviewerName, threads: &[&'a ReviewThread], context: &ReplayContext<'_>) -> Vec<RootThread<'a>> {
    let mut roots: Vec<RootThread<'a>> = threads
        .iter()
        .filter_map(|&source| {
            let comments = source.published_comments();
            let (&first, later) = comments.split_first()?;
            let reading = context.reads.read(reviewer, PostPlace::ThreadRoot, &first.body);
            let accepted_by_edit = (reading.stance == Some(Stance::Accepts))
                .then(|| first.edited_at.unwrap_or(first.updated_at).max(first.created_at));
            let finding = finding(source, first, reading.findings.into_iter().next());
            let mut anchor = Anchor::new(finding.path.clone(), finding.lines);
            anchor.gone = source.outdated;
            let head = context.heads.of_comment(first);
            Some(RootThread { source, first, later: later.to_vec(), head, finding, anchor, accepted_by_edit })
        })
        .collect();
    roots.sort_by_key(|root| (root.head, root.first.created_at, root.source.id.clone()));
    roots
}

/// The place is the thread's; what the problem is, the reviewer's text says.
pub(super) fn finding(source: &ReviewThread, first: &ThreadComment, reported: Option<ReportedFinding>) -> Finding {
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
        // By another clock than the forge's, which may be behind: nothing happens to a thread before it is there.
        events.extend(root.map(|&root| {
            (event.at.max(roots[root].first.created_at), ReplayEvent::Recorded(root, place))
        }));
    }
    events.sort();
    events
}

struct ReviewerReplay<'a> {
    reviewer: &'a ReviewerName,
    roots: &'a [RootThread<'a>],
    context: &'a ReplayContext<'a>,
    groups: Vec<FindingGroup>,
    /// Which group a root was put into, once it was opened.
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
                // The edit of a repetition says nothing about what it repeats.
                if group.members.last() == Some(&root) && !self.context.is_over(at) {
                    // Only an open thread can be resolved by its reviewer; where a person has it, it stays there.
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
            ReplayEvent::Recorded(root, place) => {
                let thread = &mut self.groups[self.group_of[root]].thread;
                apply_event(thread, &recorded[place].what);
            }
        }
    }

    /// A new thread: a finding that is new, or one that was raised before.
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
            };
            self.groups.push(group);
            return;
        };
        self.group_of[root] = group;
        let members = self.groups[group].members.iter();
        let resolved_by_person =
            members.clone().any(|&member| self.was_resolved_by_person(self.roots[member].source));
        let group = &mut self.groups[group];
        let earlier: Vec<&ReviewThread> = group.members.iter().map(|&member| self.roots[member].source).collect();
        group.members.push(root);
        if self.context.is_over(at) {
            return;
        }
        if group.thread.machine.is_open() && earlier.iter().all(|source| source.resolved) {
            // The forge does not say when it was resolved. It must have been before it was raised again, or it
            // would not have had to be.
            resolve(&mut group.thread.machine, resolved_by_person, self.context.policy);
        }
        let new_turn = *head > group.turn;
        group.turn = group.turn.max(*head);
        group.resolve_proposed = false;
        let repetition = Repetition::of(group.thread.status());
        raise_again(&mut group.thread, repetition, finding.severity, new_turn, self.context.policy);
        group.answered &= !new_turn;
    }

    /// D1: the earlier finding that this one repeats. A reviewer tells the findings of one review apart itself, so
    /// they are never compared with each other.
    fn repeated(&self, root: usize) -> Option<usize> {
        let RootThread { finding, head, .. } = &self.roots[root];
        let earlier = self.earlier_findings.overlaps_among(finding, |other| self.roots[other].head < *head);
        let groups: BTreeSet<usize> = earlier.into_iter().map(|other| self.group_of[other]).collect();
        let overlapping = groups.into_iter().map(|group| (group, self.groups[group].thread.status()));
        match match_finding(overlapping, RaisedBy::Observed) {
            FindingMatch::New => None,
            FindingMatch::Violation(group) | FindingMatch::Repeats(group, _) => Some(group),
        }
    }

    fn reviewer_replied(&mut self, root: usize, place: usize, at: Timestamp) {
        let RootThread { source, later, .. } = &self.roots[root];
        // What was said before the reviewer resolved the thread led there, and the resolving is what counts.
        if source.resolved || self.context.is_over(at) {
            return;
        }
        let comment = later[place];
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

    /// The reviewer is done with a head: what it did not mention, it holds or has let go, and C6 counts the look.
    fn finished(&mut self, head: usize, at: Timestamp) {
        if self.context.is_over(at) {
            return;
        }
        for index in 0..self.groups.len() {
            if self.groups[index].turn < head && !self.mentions(index, head) {
                self.reviewer_was_silent(index, head);
            }
        }
        if self.context.snapshot.reopened_at.is_none_or(|reopened| at > reopened) {
            self.completed += 1;
        }
        if self.completed >= self.context.policy.max_review_iterations {
            let roots = self.roots;
            // What the forge shows as resolved is not open, whichever look it was that resolved it.
            let is_open =
                |group: &FindingGroup| !group.members.iter().all(|&member| roots[member].source.resolved);
            for group in self.groups.iter_mut().filter(|group| is_open(group)) {
                group.thread.machine.cut_off(EscalatedBy::IterationCap);
            }
        }
    }

    /// Whether the reviewer says anything about a finding at this head, be it later than its review.
    fn mentions(&self, group: usize, head: usize) -> bool {
        let roots = self.groups[group].members.iter().map(|&member| &self.roots[member]);
        let mut comments = roots.flat_map(|root| &root.later);
        comments.any(|comment| {
            self.context.heads.of_comment(comment) == head && self.context.is_owner(self.reviewer, comment)
        })
    }

    fn reviewer_was_silent(&mut self, group: usize, head: usize) {
        let group = &mut self.groups[group];
        let members = || group.members.iter().map(|&member| self.roots[member].source);
        if members().all(|source| source.resolved) || !group.thread.machine.is_open() {
            return;
        }
        if members().all(|source| source.outdated) {
            group.resolve_proposed = true;
            return;
        }
        let stance = group.thread.machine.counters.stance.unwrap_or(Stance::SeeksChange);
        group.thread.machine.hold(stance, self.context.policy);
        group.turn = head;
    }

    /// What the forge shows as resolved in all its threads is settled; when that happened it does not say.
    fn settle(&mut self) {
        for index in 0..self.groups.len() {
            let mut members = self.groups[index].members.iter().map(|&member| self.roots[member].source);
            if members.clone().all(|source| source.resolved) {
                let by_person = members.any(|source| self.was_resolved_by_person(source));
                resolve(&mut self.groups[index].thread.machine, by_person, self.context.policy);
            }
        }
    }

    /// The forge cannot name a bot that resolved a thread, so nobody means the reviewer.
    fn was_resolved_by_person(&self, source: &ReviewThread) -> bool {
        let is_reviewer = |by: &Account| self.context.reads.reviewer(by, "").as_ref() == Some(self.reviewer);
        source.resolved_by.as_ref().is_some_and(|by| is_person(by) && !is_reviewer(by))
    }

    /// Every thread there is on the forge. One that repeats another stands where that one stands.
    fn into_threads(self) -> Vec<ObservedThread> {
        let ReviewerReplay { roots, groups, .. } = self;
        let mut shown = Vec::with_capacity(roots.len());
        for FindingGroup { thread, members, resolve_proposed, .. } in groups {
            let resolve_proposed = resolve_proposed && thread.machine.is_open();
            for (place, &member) in members.iter().enumerate().rev() {
                let RootThread { source, first, finding, anchor, .. } = &roots[member];
                let mut own = thread.clone();
                let first_of_all = place == 0;
                if !first_of_all {
                    own.id = source.id.clone();
                    own.finding = finding.clone();
                    own.anchor = anchor.clone();
                    // The first alone is handed off, so that it alone is sent anywhere.
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
                });
            }
        }
        shown
    }
}

/// R3–R5: what somebody else's reply does to the thread.
fn apply_reply(machine: &mut ThreadMachine, comment: &ThreadComment, reads: &dyn PostReader) {
    let by_person = comment.author.as_ref().is_some_and(is_person);
    let reply = ClassifiedReply::read(reads, !by_person, comment.association, &comment.body, None);
    if reply.is_override() {
        machine.apply_override(reply.intent);
    }
}

fn resolve(machine: &mut ThreadMachine, by_person: bool, policy: &Policy) {
    if machine.status.is_settled() {
        // Somebody who may had ended it with a reply; the click that followed adds nothing.
        return;
    }
    let by_reviewer = !by_person && machine.act(Stance::Accepts, ReviewerAction::Resolve, policy).is_ok();
    if !by_reviewer {
        // A thread that is not settled can always be resolved by a person, so there is nothing to refuse.
        let _always_fits = machine.decide(Decision::Resolve);
    }
}

/// Something that the forge does not know. Whether it fitted was decided when it was recorded; what no longer fits,
/// because the forge tells more by now, changes nothing.
fn apply_event(thread: &mut Thread, what: &ThreadEventKind) {
    match what {
        ThreadEventKind::Act(Decision::Queue) if thread.handed_off => thread.queued = false,
        ThreadEventKind::Act(Decision::Queue) => thread.queue(),
        ThreadEventKind::Act(Decision::Unqueue) => thread.queued = false,
        ThreadEventKind::Act(decision) => {
            let _overtaken = thread.machine.decide(*decision);
        }
        ThreadEventKind::Routed(_) if thread.handed_off => {}
        ThreadEventKind::Routed(to) => thread.route(to.clone()),
        ThreadEventKind::Reopened => {
            thread.machine.reopened_by_person();
        }
        ThreadEventKind::HandedOff => thread.hand_off(),
    }
}
