//! What is new since somebody looked. What the journal knew at the start is not; what the first look at GitHub brings is.

use crate::domain::vocabulary::ThreadId;
use crate::github::PullRequestAddress;
use crate::supervisor::people::request_handler::ThreadAddress;
use crate::tui::model::{Model, Screen};
use crate::tui::rows::thread::ThreadRow;
use crate::tui::rows::{PullRow, PullRows};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compares the rows that were shown with what has taken their place.
pub(super) fn notice(model: &mut Model, before: &PullRows) {
    let replaced = |before: &&Arc<PullRow>| {
        let now = model.pulls.get(&before.address);
        now.is_some_and(|now| !Arc::ptr_eq(&now.threads, &before.threads))
    };
    let replaced: BTreeMap<&PullRequestAddress, &Arc<PullRow>> =
        before.values().filter(replaced).map(|row| (&row.address, row)).collect();
    let open = match &model.screen {
        Screen::Thread { address, id, .. } => Some((address.clone(), id.clone())),
        _ => None,
    };
    for before in replaced.values().filter(|before| before.view.standing.is_some()) {
        let Some(after) = model.pulls.get(&before.address) else { continue };
        let known: BTreeMap<&ThreadId, &ThreadRow> =
            before.threads.iter().map(|old| (&old.id, old)).collect();
        let news = after.threads.iter().filter(|row| known.get(&row.id).is_none_or(|old| is_news(old, row)));
        let news: Vec<ThreadAddress> = news.map(|row| (after.address.clone(), row.id.clone())).collect();
        model.unread.extend(news.into_iter().filter(|key| Some(key) != open.as_ref()));
    }
    let Model { pulls, unread, marked, troubles, .. } = model;
    let is_there = |(address, id): &ThreadAddress| {
        let has = |pull: &PullRow| pull.threads.iter().any(|row| row.id == *id);
        pulls.get(address).is_some_and(|pull| !replaced.contains_key(address) || has(pull))
    };
    unread.retain(is_there);
    marked.retain(is_there);
    troubles.retain(|key, _| is_there(key));
}

/// Something was said, or it stands otherwise.
fn is_news(before: &ThreadRow, after: &ThreadRow) -> bool {
    before.said != after.said || before.status != after.status || before.severity != after.severity
}

/// Somebody looks at a thread, so nothing about it is new any more.
pub(super) fn seen(model: &mut Model, key: &ThreadAddress) {
    model.unread.remove(key);
}
