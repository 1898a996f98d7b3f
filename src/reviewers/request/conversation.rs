//! A thread's replies and their authors' roles, for the request.

use super::{ConversationEntry, RequestSources};
use crate::domain::finding::Thread;
use crate::domain::re_review::{ClassifiedReply, PostedWords, ReplyAuthor};
use crate::domain::snapshot::{Account, AccountKind, ThreadComment};
use crate::domain::vocabulary::Intent;
use crate::replies::{PhraseTables, is_agent_post};
use serde::Serialize;

/// The role of a reply's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeakerRole {
    /// A person other than the pull request's author.
    Person,
    /// The reviewer that gets the request, or another one.
    Reviewer,
    /// A program that is neither a reviewer nor the author, or a program that posts under a person's login
    /// (R5).
    Agent,
    /// The author of the pull request, person or bot.
    Author,
    /// Cloture: a note to the reviewer, or its own post.
    Cloture,
}

/// The replies in order, without the first comment, which is the finding itself.
pub(super) fn replies(thread: &Thread, sources: &RequestSources<'_>) -> Vec<ConversationEntry> {
    let Some(conversation) = (sources.conversation)(&thread.id) else { return Vec::new() };
    let mut entries = Vec::new();
    // The index of a disagreement that the reviewer has not answered.
    let mut disputed: Option<usize> = None;
    for comment in conversation.published_comments().into_iter().skip(1) {
        let role = role_of(comment, sources);
        let (intent, may_override) = match role {
            SpeakerRole::Person | SpeakerRole::Author => intent_of(comment),
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
    if let Some(disagreement) = disputed.and_then(|index| entries.get(index)) {
        let note = concede_or_argue(disagreement);
        entries.push(note);
    }
    entries
}

/// R3: the note for a reviewer that has not answered a person who may overrule it.
fn concede_or_argue(disagreement: &ConversationEntry) -> ConversationEntry {
    let body = format!(
        "{} may overrule you here and disagrees. Either concede with `resolve`, or argue once more with `reply` \
         where that is still legal, and answer the person's argument.",
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
    let marked = match PostedWords::from(comment).writer(&PhraseTables) {
        ReplyAuthor::Cloture => return SpeakerRole::Cloture,
        _ => is_agent_post(&comment.body),
    };
    let is_bot = author.kind == AccountKind::Bot;
    let is_author = sources.snapshot.author.as_ref().is_some_and(|of| of.login == author.login);
    match (is_author, is_bot, marked) {
        (true, true, _) | (true, _, false) => SpeakerRole::Author,
        (_, true, _) | (_, _, true) => SpeakerRole::Agent,
        (false, false, false) => SpeakerRole::Person,
    }
}

/// A person's intent, and whether it may overrule the reviewer (R4).
fn intent_of(comment: &ThreadComment) -> (Option<Intent>, bool) {
    let by_bot = comment
        .author
        .as_ref()
        .is_none_or(|author| !matches!(author.kind, AccountKind::User | AccountKind::EnterpriseUser));
    let reply = ClassifiedReply::read(&PhraseTables, comment.into(), None);
    ((!by_bot).then_some(reply.intent), reply.is_override())
}
