//! Finds people's replies and acts on the forge that the journal has not recorded yet.
//!
//! The forge and this machine have two clocks, and a reply from before a reviewer's call may be read only
//! after its answer. So the engine takes replies in the order in which they were recorded.

use super::computed_state::{ComputedState, RepositoryRules};
use super::fact::Fact;
use super::history::{History, RecordedActKind};
use super::{markers, planned_writes};
use crate::domain::machine::Decision;
use crate::domain::observed::is_person;
use crate::domain::re_review::ClassifiedReply;
use crate::domain::snapshot::{Account, PullRequestSnapshot, ReviewThread, ThreadComment};
use crate::domain::vocabulary::ThreadId;
use crate::replies::PhraseTables;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A fact that is not recorded yet, and who caused it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnrecordedFact {
    pub fact: Fact,
    pub by: String,
    pub why: &'static str,
}

impl UnrecordedFact {
    fn new(fact: Fact, by: Option<&Account>, why: &'static str) -> UnrecordedFact {
        UnrecordedFact {
            fact,
            by: by.map_or_else(|| "forge".to_owned(), |account| account.login.to_string()),
            why,
        }
    }
}

impl History {
    /// People's acts on threads that only the change between these two snapshots shows. A change that Cloture
    /// itself wrote to the forge is no second act.
    pub fn unrecorded_facts(
        &self,
        before: Option<&PullRequestSnapshot>,
        snapshot: &PullRequestSnapshot,
        rules: &RepositoryRules<'_>,
    ) -> Vec<UnrecordedFact> {
        let mut facts = self.overriding_replies(snapshot);
        let mut changes = self.threads_resolved_by_people(before, snapshot);
        changes.extend(reopened_threads(before, snapshot));
        if !changes.is_empty() {
            let computed = ComputedState::of(Arc::new(snapshot.clone()), self, rules);
            changes.retain(|change| !self.is_echo(&change.fact, &computed));
        }
        facts.extend(changes);
        facts
    }

    /// Whether the journal already gives the thread the status that the forge shows now.
    fn is_echo(&self, change: &Fact, computed: &ComputedState) -> bool {
        match change {
            Fact::ResolvedThere { thread, .. } => {
                let thread = computed.folded.engine.thread(thread);
                thread.is_none_or(|thread| thread.status().is_settled())
            }
            Fact::Reopened { thread } => {
                let shown = computed.thread(thread);
                let is_open = shown.is_some_and(|shown| !shown.thread.status().is_settled());
                let ids =
                    [Some(thread), shown.map(|shown| shown.id()), shown.and_then(|shown| shown.repeats)];
                let ids: Vec<&ThreadId> = ids.into_iter().flatten().collect();
                let opened_here = self.last_record(&ids).is_some_and(|act| {
                    let returned = RecordedActKind::Decided(Decision::Return);
                    [returned, RecordedActKind::Undone, RecordedActKind::Reopened].contains(&act.did)
                });
                // The driver opens what was raised again: a driven thread of which the engine says so, and an
                // observed one of which the journal does.
                let is_driven = shown.is_some_and(|shown| shown.driven);
                is_open && (opened_here || is_driven || self.was_raised_again(&ids))
            }
            _ => false,
        }
    }

    /// Whether the last fact about the thread is that its finding was raised again.
    fn was_raised_again(&self, ids: &[&ThreadId]) -> bool {
        let last = self.facts().rev().find_map(|dated| match &dated.fact {
            Fact::RaisedAgain { thread, .. } if ids.contains(&thread) => Some(true),
            Fact::Decided { thread, .. } | Fact::Undone { thread } | Fact::Reopened { thread }
                if ids.contains(&thread) =>
            {
                Some(false)
            }
            _ => None,
        });
        last == Some(true)
    }

    /// Replies that end an argument, and replies that no longer do after an edit; oldest first.
    pub fn overriding_replies(&self, snapshot: &PullRequestSnapshot) -> Vec<UnrecordedFact> {
        let posted = markers::posted_threads(snapshot);
        let mut replies: Vec<(&ThreadId, &ThreadComment)> = Vec::new();
        for (thread, seen) in &posted {
            let theirs = seen.comments.iter().filter(|reply| !reply.pending && !reply.is_posted_by_cloture());
            replies.extend(theirs.map(|reply| (thread, reply)));
        }
        if replies.is_empty() {
            return Vec::new();
        }
        replies.sort_by_key(|(_, reply)| reply.created_at);
        let recorded = self.recorded_replies();
        let facts = replies.into_iter().filter_map(|(thread, reply)| {
            let (turn, settled) = recorded.get(reply.id.as_str()).copied().unwrap_or_default();
            let read = ClassifiedReply::read(&PhraseTables, reply.into(), None);
            let settles = read.intent.settles();
            // A reply that counted once keeps counting until its text changes.
            let is_new = if settled { !settles } else { settles && read.is_override() };
            let (thread, comment) = (thread.clone(), reply.id.clone());
            let fact = Fact::Replied { thread, comment, intent: read.intent, turn };
            is_new.then(|| UnrecordedFact::new(fact, reply.author.as_ref(), "said so in the thread"))
        });
        facts.collect()
    }

    /// How many records each comment has, and whether the last one ends the argument.
    fn recorded_replies(&self) -> BTreeMap<&str, (u32, bool)> {
        let mut replies: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
        for dated in self.facts() {
            if let Fact::Replied { comment, intent, .. } = &dated.fact {
                let (turn, settles) = replies.entry(comment).or_default();
                *turn += 1;
                *settles = intent.settles();
            }
        }
        replies
    }

    /// Driven threads that a person resolved on the forge since the snapshot before.
    fn threads_resolved_by_people(
        &self,
        before: Option<&PullRequestSnapshot>,
        snapshot: &PullRequestSnapshot,
    ) -> Vec<UnrecordedFact> {
        let were_resolved = resolved_in(before);
        let resolved = markers::posted_threads(snapshot).into_iter().filter(|(_, seen)| {
            let by_person =
                seen.resolved_by.as_ref().is_some_and(|by| is_person(by) && snapshot.may_decide(by));
            // Without an earlier snapshot nobody knows when it was resolved. If Cloture's account did it and the
            // journal has that write, it was no person.
            let is_ours = before.is_none()
                && seen.opening().is_some_and(|first| first.author == seen.resolved_by)
                && self.has_done(snapshot, &planned_writes::resolve_name(&seen.id, ""));
            seen.resolved && by_person && !is_ours && !were_resolved.contains(&seen.id)
        });
        let facts = resolved.map(|(thread, seen)| {
            let is_this =
                |fact: &Fact| matches!(fact, Fact::ResolvedThere { thread: other, .. } if *other == thread);
            let turn = self.facts().filter(|dated| is_this(&dated.fact)).count();
            let turn = u32::try_from(turn).unwrap_or(u32::MAX);
            UnrecordedFact::new(
                Fact::ResolvedThere { thread, turn },
                seen.resolved_by.as_ref(),
                "resolved it on the forge",
            )
        });
        facts.collect()
    }
}

/// R3: any reviewer's threads that were resolved in the snapshot before and are open now. An author who may not
/// override settles nothing by resolving, so opening such a thread again is nothing new either.
fn reopened_threads(
    before: Option<&PullRequestSnapshot>,
    snapshot: &PullRequestSnapshot,
) -> Vec<UnrecordedFact> {
    let were_resolved = resolved_in(before);
    let open = snapshot.threads.iter().filter(|seen| !seen.resolved && were_resolved.contains(&seen.id));
    let open: Vec<&ReviewThread> = open.collect();
    if open.is_empty() {
        return Vec::new();
    }
    let posted = markers::posted_threads(snapshot).into_iter();
    // A driven thread is recorded under the engine's id, which stays if the forge's thread is deleted.
    let own: BTreeMap<&ThreadId, ThreadId> = posted.map(|(own, seen)| (&seen.id, own)).collect();
    let facts = open.into_iter().map(|seen| {
        let thread = own.get(&seen.id).unwrap_or(&seen.id).clone();
        let why = "it was resolved, and is open again";
        UnrecordedFact { fact: Fact::Reopened { thread }, by: "engine".to_owned(), why }
    });
    facts.collect()
}

fn resolved_in(snapshot: Option<&PullRequestSnapshot>) -> BTreeSet<&ThreadId> {
    let Some(snapshot) = snapshot else { return BTreeSet::new() };
    let resolved = snapshot.threads.iter().filter(|seen| seen.resolved);
    resolved.filter(|seen| !snapshot.is_resolved_as_argument(seen)).map(|seen| &seen.id).collect()
}
