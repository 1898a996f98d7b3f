//! Which of the pull requests that the journal has seen are shown before anybody is asked.

use crate::app::selection::WatchSelection;
use crate::domain::snapshot::PullRequestState;
use crate::github::PullRequestAddress;
use crate::journal::StoredSnapshot;
use jiff::{SignedDuration, Timestamp};

/// What ended longer ago is history: `cloture journal` has it.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Those that are likely to be watched here, the branch's first. What was open when it was last seen may have been merged
/// since, and its tasks wait to be sent, so it is looked at in any case.
pub(super) fn among(
    stored: Vec<StoredSnapshot>,
    host: &str,
    here: &WatchSelection,
    now: Timestamp,
) -> Vec<StoredSnapshot> {
    let fits = |stored: &StoredSnapshot| {
        let seen = &stored.snapshot;
        let ended = seen.merged_at.or(seen.closed_at).unwrap_or(seen.updated_at);
        let is_recent = seen.state == PullRequestState::Open || now.duration_since(ended) < RECENT;
        stored.pull_request.host == host && is_recent && here.may_include(seen)
    };
    let mut among: Vec<StoredSnapshot> = stored.into_iter().filter(fits).collect();
    among.sort_by_key(|stored| !here.is_of_branch(&stored.snapshot));
    among
}

pub(super) fn address(stored: &StoredSnapshot) -> PullRequestAddress {
    let key = &stored.pull_request;
    PullRequestAddress { repository: key.repository.clone(), number: key.number }
}
