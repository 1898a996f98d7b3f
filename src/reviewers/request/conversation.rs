//! Who said what in a thread, as a reviewer is told it.

use super::{Entry, Sources};
use crate::domain::finding::Thread;
use crate::domain::re_review::Reply;
use crate::domain::snapshot::{Account, AccountKind, ThreadComment};
use crate::domain::vocabulary::Intent;
use crate::replies::{PhraseTables, is_agent_post};
use serde::Serialize;

/// Whose words a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Somebody who is neither of the others.
    Person,
    /// A reviewer: the one that is asked, or another.
    Reviewer,
    /// A program that is neither a reviewer nor the author, or one that posts under a person's login and says so (R5).
    Agent,
    /// Whoever the pull request belongs to, person or bot.
    Author,
    /// Cloture itself: a note to the reviewer, or a post of its own.
    Cloture,
}

/// The replies in order, without the first comment, which is the finding itself.
pub(super) fn replies(thread: &Thread, sources: &Sources<'_>) -> Vec<Entry> {
    let Some(seen) = (sources.conversation)(&thread.id) else { return Vec::new() };
    let mut entries = Vec::new();
    let mut disputed: Option<usize> = None;
    for comment in seen.said().into_iter().skip(1) {
        let role = role_of(comment, sources);
        let (intent, may_override) = match role {
            Role::Person | Role::Author => reading(comment),
            Role::Reviewer | Role::Agent | Role::Cloture => (None, false),
        };
        if may_override && intent == Some(Intent::Disagree) {
            disputed = Some(entries.len());
        } else if role == Role::Reviewer {
            disputed = None;
        }
        let by = comment.author.as_ref().map_or_else(|| "ghost".to_owned(), Account::spelled);
        entries.push(Entry { by, role, intent, at: comment.created_at, body: comment.body.clone() });
    }
    if let Some(at) = disputed.and_then(|index| entries.get(index)) {
        let note = concede_or_argue(at);
        entries.push(note);
    }
    entries
}

/// R3: somebody whose word counts disagrees, and has had no answer.
fn concede_or_argue(disagreement: &Entry) -> Entry {
    let body = format!(
        "{} may overrule you here and disagrees. Either concede with `resolve`, or argue once more with `reply` where \
         that is still legal, and answer what was said.",
        disagreement.by
    );
    Entry { by: "cloture".to_owned(), role: Role::Cloture, intent: None, at: disagreement.at, body }
}

fn role_of(comment: &ThreadComment, sources: &Sources<'_>) -> Role {
    let Some(author) = &comment.author else { return Role::Person };
    if (sources.reviewer_of)(comment).is_some() {
        return Role::Reviewer;
    }
    let marked = is_agent_post(&comment.body);
    if comment.written_by_us && marked {
        return Role::Cloture;
    }
    let is_bot = author.kind == AccountKind::Bot;
    let is_author = sources.snapshot.author.as_ref().is_some_and(|of| of.login == author.login);
    match (is_author, is_bot, marked) {
        (true, true, _) | (true, _, false) => Role::Author,
        (_, true, _) | (_, _, true) => Role::Agent,
        (false, false, false) => Role::Person,
    }
}

/// What a person means, and whether it could overrule a reviewer (R4).
fn reading(comment: &ThreadComment) -> (Option<Intent>, bool) {
    let by_bot = comment
        .author
        .as_ref()
        .is_none_or(|author| !matches!(author.kind, AccountKind::User | AccountKind::EnterpriseUser));
    let reply = Reply::read(&PhraseTables, by_bot, comment.association, &comment.body, None);
    ((!by_bot).then_some(reply.intent), reply.is_override())
}
