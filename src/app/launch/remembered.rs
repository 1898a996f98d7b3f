//! Which pull requests of the journal the first frame shows, before GitHub is asked.

use crate::app::selection::WatchSelection;
use crate::domain::snapshot::PullRequestState;
use crate::github::PullRequestAddress;
use crate::journal::StoredSnapshot;
use jiff::{SignedDuration, Timestamp};

/// Pull requests that ended longer ago are left to `cloture journal`.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The stored pull requests that this start probably watches, the branch's first. One that was open at the
/// last poll is kept however old it is: it may have been merged since, with tasks to send.
pub(super) fn likely_watched(
    stored: Vec<StoredSnapshot>,
    host: &str,
    selection: &WatchSelection,
    now: Timestamp,
) -> Vec<StoredSnapshot> {
    let fits = |stored: &StoredSnapshot| {
        let snapshot = &stored.snapshot;
        let ended = snapshot.merged_at.or(snapshot.closed_at).unwrap_or(snapshot.updated_at);
        let is_recent = snapshot.state == PullRequestState::Open || now.duration_since(ended) < RECENT;
        stored.pull_request.host == host && is_recent && selection.may_include(snapshot)
    };
    let mut watched: Vec<StoredSnapshot> = stored.into_iter().filter(fits).collect();
    watched.sort_by_key(|stored| !selection.is_of_branch(&stored.snapshot));
    watched
}

pub(super) fn address(stored: &StoredSnapshot) -> PullRequestAddress {
    let snapshot = &stored.snapshot;
    PullRequestAddress { repository: snapshot.repository.clone(), number: snapshot.number }
}
