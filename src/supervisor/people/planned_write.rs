//! What somebody wants written on a pull request, as a deed: under which name the journal knows it.

use crate::domain::snapshot::PullRequestSnapshot;
use crate::github::PullRequestAddress;
use crate::github::write::{MergeMethod, Write};
use crate::supervisor::history::History;
use crate::supervisor::markers;
use crate::supervisor::planned_writes::PlannedWrite;
use jiff::Timestamp;

/// The same wish has the same name until it is concluded, whoever has it and however often it is tried; after that it is
/// another one. So a write that was interrupted is finished under its own name, and a label that was taken off meanwhile can
/// be put on a second time.
pub(crate) fn deed(
    write: Write,
    why: String,
    snapshot: &PullRequestSnapshot,
    history: &History,
) -> PlannedWrite {
    let address = PullRequestAddress { repository: snapshot.repository.clone(), number: snapshot.number };
    let subject = subject(&write, snapshot);
    let name = |turn: u32| format!("{subject}/{turn}");
    let turn = (1..u32::MAX).find(|turn| !history.is_done(&address, &name(*turn)));
    PlannedWrite { name: name(turn.unwrap_or(u32::MAX)), write, why }
}

fn subject(write: &Write, snapshot: &PullRequestSnapshot) -> String {
    let since = snapshot.reopened_at.map_or(0, Timestamp::as_second).to_string();
    let parts: Vec<&str> = match write {
        // A text's own key is made from everything that tells it from another.
        Write::Reply { key, .. }
        | Write::Comment { key, .. }
        | Write::Review { key, .. }
        | Write::OpenIssue { key, .. }
        | Write::Dispatch { key, .. } => return key.as_str().to_owned(),
        Write::Resolve { thread } => vec!["resolve", thread.id.as_str()],
        Write::Unresolve { thread } => vec!["unresolve", thread.id.as_str()],
        Write::Minimize { comment, .. } => vec!["hide", comment],
        Write::RequestReview { reviewer, .. } => vec!["request-review", reviewer.as_str()],
        Write::AddLabel { label, .. } => vec!["label", label],
        Write::RemoveLabel { label, .. } => vec!["unlabel", label],
        // It can be closed once between two reopenings.
        Write::Close { .. } => vec!["close", &since],
        Write::Reopen { .. } => vec!["reopen", &since],
        Write::Merge { head, method, .. } => vec!["merge", head.as_str(), method_name(*method)],
    };
    let parts = [&["person"], parts.as_slice()].concat();
    // Any text has a key; without one the turn alone would tell two wishes apart.
    markers::key(&parts).map_or_else(|| "person".to_owned(), |key| key.as_str().to_owned())
}

fn method_name(method: MergeMethod) -> &'static str {
    match method {
        MergeMethod::Merge => "merge",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    }
}
