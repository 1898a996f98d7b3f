//! The latest reading of the pull request, and the state computed from it.

use super::PullRequestActor;
use crate::domain::snapshot::{PullRequestSnapshot, PullRequestState};
use crate::supervisor::computed_state::ComputedState;
use jiff::Timestamp;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct LatestReading {
    /// The journal's snapshot from before the start, until the actor has computed its state.
    stored: Option<Arc<PullRequestSnapshot>>,
    pub(super) computed: Option<Arc<ComputedState>>,
    /// Whether any reading showed the pull request open, so that its merge happened after it was tracked.
    pub(super) seen_open: bool,
    pub(super) seen_at: Option<Timestamp>,
}

impl LatestReading {
    pub(super) fn stored(snapshot: Arc<PullRequestSnapshot>, at: Timestamp) -> LatestReading {
        let seen_open = snapshot.state == PullRequestState::Open;
        LatestReading { stored: Some(snapshot), computed: None, seen_open, seen_at: Some(at) }
    }

    pub(super) fn take_stored(&mut self) -> Option<Arc<PullRequestSnapshot>> {
        self.stored.take()
    }

    pub(super) fn stored_snapshot(&self) -> Option<Arc<PullRequestSnapshot>> {
        self.stored.clone()
    }

    /// The newest snapshot, computed or not.
    pub(super) fn any(&self) -> Option<&Arc<PullRequestSnapshot>> {
        self.snapshot().or(self.stored.as_ref())
    }

    /// The snapshot that the computed state is of.
    pub(super) fn snapshot(&self) -> Option<&Arc<PullRequestSnapshot>> {
        self.computed.as_ref().map(|computed| &computed.snapshot)
    }
}

impl PullRequestActor {
    pub(super) fn recompute(&mut self, snapshot: Arc<PullRequestSnapshot>) {
        self.latest.seen_open |= snapshot.state == PullRequestState::Open;
        let rules = self.context.rules(self.names(Some(&snapshot)));
        let computed = ComputedState::of(snapshot, &self.history, &rules);
        self.latest.computed = Some(Arc::new(computed));
    }

    /// Computes the state again after the history has changed. Returns false before the first reading.
    pub(super) fn recompute_latest(&mut self) -> bool {
        let snapshot = self.latest.snapshot().cloned();
        let is_there = snapshot.is_some();
        if let Some(snapshot) = snapshot {
            self.recompute(snapshot);
        }
        is_there
    }
}
