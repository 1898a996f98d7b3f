//! Who said what in a thread, as a reviewer is told it.

use super::{ConversationEntry, RequestSources};
use crate::domain::finding::Thread;
use crate::domain::re_review::ClassifiedReply;
use crate::domain::snapshot::{Account, AccountKind, ThreadComment};
use crate::domain::vocabulary::Intent;
use crate::replies::{PhraseTables, is_agent_post};
use serde::Serialize;

/// Whose words a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeakerRole {
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
pub(super) fn replies(thread: &Thread, sources: &RequestSources<'_>) -> Vec<ConversationEntry> {
    let Some(seen) = (sources.conversation)(&thread.id) else { return Vec::new() };
    let mut entries = Vec::new();
    let mut disputed: Option<usize> = None;
    for comment in seen.published_comments().into_iter().skip(1) {
        let role = role_of(comment, sources);
        let (intent, may_override) = match role {
            SpeakerRole::Person | SpeakerRole::Author => reading(comment),
            SpeakerRole::Reviewer | SpeakerRole::Agent | SpeakerRole::Cloture => (None, false),
        };
        if may_override && intent == Some(Intent::Disagree) {
            disputed = Some(entries.len());
        } else if role == SpeakerRole::Reviewer {
            disputed = None;
        }
        let by = comment.author.as_ref().map_or_else(|| "ghost".to_owned(), Account::spelled);
        entries.push(ConversationEntry {
            by,
            role,
            intent,
            at: comment.created_at,
            body: comment.body.clone(),
        });
    }
    if let Some(at) = disputed.and_then(|index| entries.get(index)) {
        let note = concede_or_argue(at);
        entries.push(note);
    }
    entries
}

/// R3: somebody whose word counts disagrees, and has had no answer.
fn concede_or_argue(disagreement: &ConversationEntry) -> ConversationEntry {
    let body = format!(
        "{} may overrule you here and disagrees. Either concede with `resolve`, or argue once more with `reply` where \
         that is still legal, and answer what was said.",
        disagreement.by
    );
    ConversationEntry {
        by: "cloture".to_owned(),
        role: SpeakerRole::Cloture,
        intent: None,
        at: disagreement.at,
        body,
    }
}

fn role_of(comment: &ThreadComment, sources: &RequestSources<'_>) -> SpeakerRole {
    let Some(author) = &comment.author else { return SpeakerRole::Person };
    if (sources.reviewer_of)(comment).is_some() {
        return SpeakerRole::Reviewer;
    }
    let marked = is_agent_post(&comment.body);
    if comment.written_by_us && marked {
        return SpeakerRole::Cloture;
    }
    let is_bot = author.kind == AccountKind::Bot;
    let is_author = sources.snapshot.author.as_ref().is_some_and(|of| of.login == author.login);
    match (is_author, is_bot, marked) {
        (true, true, _) | (true, _, false) => SpeakerRole::Author,
        (_, true, _) | (_, _, true) => SpeakerRole::Agent,
        (false, false, false) => SpeakerRole::Person,
    }
}

/// What a person means, and whether it could overrule a reviewer (R4).
fn reading(comment: &ThreadComment) -> (Option<Intent>, bool) {
    let by_bot = comment
        .author
        .as_ref()
        .is_none_or(|author| !matches!(author.kind, AccountKind::User | AccountKind::EnterpriseUser));
    let reply = ClassifiedReply::read(&PhraseTables, by_bot, comment.association, &comment.body, None);
    ((!by_bot).then_some(reply.intent), reply.is_override())
}
