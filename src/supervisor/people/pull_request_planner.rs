//! Plans a person's writes on a whole pull request: merge, approve, close, reopen. The terminal's menu and
//! `cloture pr` both use this planner, so the same write from either has the same key and the same name in
//! the journal.
//!
//! A text that is posted carries a key, made from the pull request, the verb, the text and the head. The same
//! text at the same head is posted once; after a push it is a new remark. A caller's own key takes the head's
//! place.

use super::key::key;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::verdict::Verdict;
use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::github::write::{MergeMethod, PullRequestTarget, Write, WriteKey};
use crate::supervisor::history::History;
use crate::supervisor::markers;
use crate::supervisor::planned_writes::PlannedWrite;
use jiff::Timestamp;

pub(crate) struct PullRequestPlanner<'a> {
    snapshot: &'a PullRequestSnapshot,
    /// Distinguishes this request from the same one at another time: the caller's key, or the head.
    occasion: &'a str,
}

impl<'a> PullRequestPlanner<'a> {
    pub(crate) fn new(
        snapshot: &'a PullRequestSnapshot,
        callers_key: Option<&'a str>,
    ) -> PullRequestPlanner<'a> {
        PullRequestPlanner { snapshot, occasion: callers_key.unwrap_or(snapshot.head.sha.as_str()) }
    }

    pub(crate) fn address(&self) -> PullRequestAddress {
        PullRequestAddress { repository: self.snapshot.repository.clone(), number: self.snapshot.number }
    }

    pub(crate) fn target(&self) -> PullRequestTarget {
        PullRequestTarget { address: self.address(), node_id: self.snapshot.node_id.clone() }
    }

    pub(crate) fn merge(&self, method: MergeMethod) -> Write {
        Write::Merge { on: self.target(), head: self.snapshot.head.sha.clone(), method }
    }

    pub(crate) fn approve(&self, body: &str) -> Result<Write, Failure> {
        self.review(Verdict::Approve, "approve", body.trim())
    }

    pub(crate) fn request_changes(&self, body: &str) -> Result<Write, Failure> {
        self.review(Verdict::RequestChanges, "request-changes", body)
    }

    pub(crate) fn close(&self) -> Write {
        Write::Close { on: self.target() }
    }

    pub(crate) fn reopen(&self) -> Write {
        Write::Reopen { on: self.target() }
    }

    /// The key of a text.
    pub(crate) fn key(&self, verb: &str, parts: &[&str]) -> Result<WriteKey, Failure> {
        key(verb, &[&[self.snapshot.filed_address().as_str(), self.occasion], parts].concat())
    }

    fn review(&self, verdict: Verdict, verb: &str, body: &str) -> Result<Write, Failure> {
        let (on, head) = (self.target(), self.snapshot.head.sha.clone());
        let key = self.key(verb, &[body])?;
        Ok(Write::Review { on, verdict, head, body: body.to_owned(), threads: Vec::new(), key })
    }

    /// Names a write for the journal. The same write keeps its name until it is done, so an interrupted write
    /// is finished under its own name. After that it gets another one: a label that was taken off can be put
    /// on again.
    pub(crate) fn planned_write(&self, write: Write, why: String, history: &History) -> PlannedWrite {
        let subject = self.subject(&write);
        let name = |turn: u32| format!("{subject}/{turn}");
        let turn = (1..u32::MAX).find(|turn| !history.is_done(self.snapshot, &name(*turn)));
        PlannedWrite { name: name(turn.unwrap_or(u32::MAX)), write, why, only_marks: false }
    }

    fn subject(&self, write: &Write) -> String {
        let since = self.snapshot.reopened_at.map_or(0, Timestamp::as_second).to_string();
        let parts: Vec<&str> = match write {
            // The key of a text identifies it.
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
            // A pull request can be closed once between two reopenings.
            Write::Close { .. } => vec!["close", &since],
            Write::Reopen { .. } => vec!["reopen", &since],
            Write::Merge { head, method, .. } => vec!["merge", head.as_str(), method_name(*method)],
        };
        let parts = [&["person"], parts.as_slice()].concat();
        // Without a key, the turn alone would have to distinguish two writes; `markers::key` gives one to any
        // text.
        markers::key(&parts).map_or_else(|| "person".to_owned(), |key| key.as_str().to_owned())
    }
}

fn method_name(method: MergeMethod) -> &'static str {
    match method {
        MergeMethod::Merge => "merge",
        MergeMethod::Squash => "squash",
        MergeMethod::Rebase => "rebase",
    }
}
