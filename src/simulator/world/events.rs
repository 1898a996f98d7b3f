//! How the world reports a change: in the timeline, as an event to the script, as a write to tests.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AccountId, PullId, RepositoryId, SimulatedTimelineItem, ThreadId, TimelineEvent, World};

/// A `repository_dispatch` that a client sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    pub at: Timestamp,
    pub repository: String,
    pub by: String,
    pub event_type: String,
    pub client_payload: serde_json::Value,
}

/// One write of a client that took effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceivedWrite {
    pub at: Timestamp,
    pub by: String,
    /// `comment`, `reply`, `review`, `thread`, `resolve`, `label`, `issue`, `dispatch` …
    pub what: String,
    /// `owner/name#number`, or `owner/name` where no pull request or issue is concerned.
    pub on: String,
    /// The node id of the record that was created or changed.
    pub id: String,
    /// The text, the label's name, the requested reviewer or the event type.
    pub text: String,
    /// True when the reply or thread went into a pending review, which only its author sees.
    pub pending: bool,
}

/// The kinds of events that start a scenario's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorldEventKind {
    Opened,
    Push,
    ReviewRequested,
    Comment,
    /// A comment, reply or review that mentions an account with `@`. The trigger decides this; the world never emits it.
    Mention,
    Reply,
    Review,
    Resolved,
    Unresolved,
    Labeled,
    Unlabeled,
    Ready,
    Closed,
    Reopened,
    Merged,
    Issue,
    Dispatch,
}

/// One event, with everything that a trigger may ask about it.
#[derive(Debug, Clone)]
pub(crate) struct WorldEvent {
    pub(crate) kind: WorldEventKind,
    pub(crate) by: AccountId,
    pub(crate) repository: RepositoryId,
    pub(crate) pull: Option<PullId>,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) of: Option<AccountId>,
    pub(crate) text: String,
}

impl World {
    /// Adds an event to the pull request's timeline, which also moves its `updatedAt`.
    pub(super) fn add_to_timeline(&mut self, pull: PullId, actor: AccountId, what: TimelineEvent) {
        let at = self.now;
        self[pull].timeline.push(SimulatedTimelineItem { at, actor, what });
        self.touch(pull);
    }

    pub(crate) fn touch(&mut self, pull: PullId) {
        self[pull].updated_at = self.now;
    }

    /// Tells the script about a change of a pull request.
    pub(super) fn emit_event(
        &mut self,
        kind: WorldEventKind,
        by: AccountId,
        pull: PullId,
        thread: Option<ThreadId>,
        of: Option<AccountId>,
        text: &str,
    ) {
        let repository = self[pull].repository;
        let text = text.to_owned();
        self.events.push(WorldEvent { kind, by, repository, pull: Some(pull), thread, of, text });
    }

    /// Tells the script about a change that concerns no pull request.
    pub(super) fn emit_repository_event(
        &mut self,
        kind: WorldEventKind,
        by: AccountId,
        repository: RepositoryId,
        text: &str,
    ) {
        let text = text.to_owned();
        self.events.push(WorldEvent { kind, by, repository, pull: None, thread: None, of: None, text });
    }

    /// Records a client's write. Scripted changes are not recorded: tests ask what the program under test wrote.
    pub(crate) fn record_write(
        &mut self,
        by: AccountId,
        what: &str,
        on: String,
        id: String,
        text: &str,
        pending: bool,
    ) {
        if self.serving {
            let (at, by) = (self.now, self[by].login.clone());
            let (what, text) = (what.to_owned(), text.to_owned());
            let post = ReceivedWrite { at, by, what, on, id, text, pending };
            Arc::make_mut(&mut self.posts).push(post);
        }
    }
}
