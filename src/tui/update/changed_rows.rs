//! Marks threads with news as unread. Threads that the journal knew at the start are read; changes that the
//! first poll brings are news.

use crate::domain::vocabulary::ThreadId;
use crate::github::PullRequestAddress;
use crate::supervisor::people::request_handler::ThreadAddress;
use crate::tui::model::{Model, Screen, ThreadMarks};
use crate::tui::rows::thread::ThreadRow;
use crate::tui::rows::{PullRow, PullRows};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compares the rows before and after a poll, and drops the marks of threads that are gone.
pub(super) fn mark_changed_rows(model: &mut Model, before: &PullRows) {
    let replaced = |before: &&Arc<PullRow>| {
        let now = model.data.pulls.get(&before.address);
        now.is_some_and(|now| !Arc::ptr_eq(&now.threads, &before.threads))
    };
    let replaced: BTreeMap<&PullRequestAddress, &Arc<PullRow>> =
        before.values().filter(replaced).map(|row| (&row.address, row)).collect();
    let open = match &model.screen {
        Screen::Thread { address, id, .. } => Some((address.clone(), id.clone())),
        _ => None,
    };
    for before in replaced.values().filter(|before| before.view.computed.is_some()) {
        let Some(after) = model.data.pulls.get(&before.address) else { continue };
        let old_rows: BTreeMap<&ThreadId, &ThreadRow> =
            before.threads.iter().map(|old| (&old.id, old)).collect();
        let news =
            after.threads.iter().filter(|row| old_rows.get(&row.id).is_none_or(|old| is_news(old, row)));
        let news: Vec<ThreadAddress> = news.map(|row| (after.address.clone(), row.id.clone())).collect();
        model.marks.unread.extend(news.into_iter().filter(|key| Some(key) != open.as_ref()));
    }
    let (pulls, ThreadMarks { unread, marked, problems, .. }) = (&model.data.pulls, &mut model.marks);
    let is_there = |(address, id): &ThreadAddress| {
        let has = |pull: &PullRow| pull.threads.iter().any(|row| row.id == *id);
        pulls.get(address).is_some_and(|pull| !replaced.contains_key(address) || has(pull))
    };
    unread.retain(is_there);
    marked.retain(is_there);
    problems.retain(|key, _| is_there(key));
}

/// A new comment, status or severity.
fn is_news(before: &ThreadRow, after: &ThreadRow) -> bool {
    before.comments != after.comments || before.status != after.status || before.severity != after.severity
}

/// The person opened the thread.
pub(super) fn mark_read(model: &mut Model, key: &ThreadAddress) {
    model.marks.unread.remove(key);
}
