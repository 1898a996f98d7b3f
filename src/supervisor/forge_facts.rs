//! What people said and did on the forge, as facts: what the journal does not know yet.
//!
//! The forge's times and ours are by two clocks, and what was written before a reviewer was asked may be seen only after it
//! has answered. So the engine takes what people said in the order in which it was recorded.

use super::fact::Fact;
use super::history::History;
use super::markers;
use crate::domain::observed::is_person;
use crate::domain::re_review::ClassifiedReply;
use crate::domain::snapshot::{Account, PullRequestSnapshot, ReviewThread as Seen, ThreadComment};
use crate::domain::vocabulary::ThreadId;
use crate::replies::PhraseTables;
use std::collections::{BTreeMap, BTreeSet};

/// A fact that is not recorded yet, and whose doing it is.
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
    /// Everything that a look tells of what people did to threads and the one after it would not, against the look before it.
    pub fn unrecorded_facts(
        &self,
        before: Option<&PullRequestSnapshot>,
        snapshot: &PullRequestSnapshot,
    ) -> Vec<UnrecordedFact> {
        let mut news = self.overriding_replies(snapshot);
        news.extend(self.resolved_there(before, snapshot));
        news.extend(opened_again(before, snapshot));
        news
    }

    /// The replies that end an argument, and those that did until they were edited; the oldest first.
    pub fn overriding_replies(&self, snapshot: &PullRequestSnapshot) -> Vec<UnrecordedFact> {
        let posted = markers::posted_threads(snapshot);
        let mut replies: Vec<(&ThreadId, &ThreadComment)> = Vec::new();
        for (thread, seen) in &posted {
            let theirs = seen.comments.iter().filter(|reply| !reply.pending && !markers::is_our_own(reply));
            replies.extend(theirs.map(|reply| (thread, reply)));
        }
        if replies.is_empty() {
            return Vec::new();
        }
        replies.sort_by_key(|(_, reply)| reply.created_at);
        let recorded = self.replies();
        let said = replies.into_iter().filter_map(|(thread, reply)| {
            let (turn, settled) = recorded.get(reply.id.as_str()).copied().unwrap_or_default();
            let by_person = reply.author.as_ref().is_some_and(is_person);
            let read = ClassifiedReply::read(&PhraseTables, !by_person, reply.association, &reply.body, None);
            let settles = read.intent.settles();
            // Whoever said it when they might has said it, and only another text takes it back.
            let is_news = if settled { !settles } else { settles && read.is_override() };
            let (thread, comment) = (thread.clone(), reply.id.clone());
            let fact = Fact::Replied { thread, comment, intent: read.intent, turn };
            is_news.then(|| UnrecordedFact::new(fact, reply.author.as_ref(), "said so in the thread"))
        });
        said.collect()
    }

    /// How often each comment was recorded, and whether it ends the argument by the last record.
    fn replies(&self) -> BTreeMap<&str, (u32, bool)> {
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

    /// The threads that a person has resolved there since the look before this one.
    fn resolved_there(
        &self,
        before: Option<&PullRequestSnapshot>,
        snapshot: &PullRequestSnapshot,
    ) -> Vec<UnrecordedFact> {
        let were_resolved = resolved_in(before);
        let resolved = markers::posted_threads(snapshot).into_iter().filter(|(_, seen)| {
            let by_person = seen.resolved_by.as_ref().is_some_and(is_person);
            seen.resolved && by_person && !were_resolved.contains(&seen.id)
        });
        let said = resolved.map(|(thread, seen)| {
            let is_this =
                |fact: &Fact| matches!(fact, Fact::ResolvedThere { thread: known, .. } if *known == thread);
            let turn = self.facts().filter(|dated| is_this(&dated.fact)).count();
            let turn = u32::try_from(turn).unwrap_or(u32::MAX);
            UnrecordedFact::new(
                Fact::ResolvedThere { thread, turn },
                seen.resolved_by.as_ref(),
                "resolved it on the forge",
            )
        });
        said.collect()
    }
}

/// R3: the threads of any reviewer that were resolved then and are open now.
fn opened_again(before: Option<&PullRequestSnapshot>, snapshot: &PullRequestSnapshot) -> Vec<UnrecordedFact> {
    let were_resolved = resolved_in(before);
    let open = snapshot.threads.iter().filter(|seen| !seen.resolved && were_resolved.contains(&seen.id));
    let open: Vec<&Seen> = open.collect();
    if open.is_empty() {
        return Vec::new();
    }
    let posted = markers::posted_threads(snapshot).into_iter();
    // A driven reviewer's thread keeps the engine's name also if somebody deletes it on the forge.
    let own: BTreeMap<&ThreadId, ThreadId> = posted.map(|(own, seen)| (&seen.id, own)).collect();
    let said = open.into_iter().map(|seen| {
        let thread = own.get(&seen.id).unwrap_or(&seen.id).clone();
        let why = "it was resolved, and is open again";
        UnrecordedFact { fact: Fact::Reopened { thread }, by: "engine".to_owned(), why }
    });
    said.collect()
}

fn resolved_in(look: Option<&PullRequestSnapshot>) -> BTreeSet<&ThreadId> {
    let threads = look.into_iter().flat_map(|look| &look.threads);
    threads.filter(|seen| seen.resolved).map(|seen| &seen.id).collect()
}
