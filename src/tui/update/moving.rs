//! Moving between screens, rows and pages.

use super::changed_rows;
use crate::tui::dialog::Overlay;
use crate::tui::model::{Cursor, ListScreen, Model, Pane, RowKey, Screen};
use crate::tui::rows::PullRow;
use crate::tui::rows::thread::ThreadRow;
use crate::tui::view;
use std::sync::Arc;

pub(super) fn go(model: &mut Model, list: ListScreen) {
    if list != model.screen.list() {
        model.filter_mut().cursor.leave();
        model.lists.thread_cursor.leave();
    }
    model.screen = list.screen();
    model.page.scroll = 0;
    model.dialog.overlay = Overlay::None;
}

/// Goes this many screens to the right, and from the last to the first.
pub(super) fn turn(model: &mut Model, by: usize) {
    let at = model.screen.list() as usize;
    go(model, ListScreen::ALL[(at + by) % ListScreen::ALL.len()]);
}

pub(super) fn page(model: &Model) -> isize {
    isize::try_from((model.size.height / 2).max(1)).unwrap_or(1)
}

/// Moves the cursor, or scrolls a page.
pub(super) fn step(model: &mut Model, by: isize) {
    let moved = |at: usize, most: usize| at.saturating_add_signed(by).min(most);
    match &model.screen {
        Screen::Thread { .. } => view::step_thread(model, by),
        Screen::Record { .. } => {
            model.page.scroll = moved(model.page.scroll, view::most_scroll(model));
        }
        Screen::Watch if model.lists.pane == Pane::Threads => {
            let keys = model.thread_keys();
            let at = model.lists.thread_cursor.index_in(&keys);
            model.lists.thread_cursor.put(moved(at, keys.len()), &keys);
        }
        Screen::FirstRun => {}
        Screen::Watch | Screen::Inbox | Screen::Handoff | Screen::Journal => {
            let list = model.screen.list();
            let keys = model.keys(list);
            let at = model.selected(list);
            put(model, list, moved(at, keys.len()), &keys);
        }
    }
}

/// Selects a row. Another pull request has other threads, so their cursor starts at the first.
pub(super) fn put(model: &mut Model, list: ListScreen, index: usize, keys: &Arc<[RowKey]>) {
    model.lists.filters[list as usize].cursor.put(index, keys);
    if list == ListScreen::Watch {
        model.lists.thread_cursor = Cursor::default();
    }
}

pub(super) fn open(model: &mut Model) {
    let thread = |address: &_, id: &_, from| Screen::Thread {
        address: Clone::clone(address),
        id: Clone::clone(id),
        from,
    };
    let next = match &model.screen {
        Screen::Watch if model.lists.pane == Pane::PullRequests => return to_threads(model),
        Screen::Watch => model
            .selected_pull()
            .zip(model.selected_thread())
            .map(|(pull, row)| thread(&pull.address, &row.id, ListScreen::Watch)),
        Screen::Inbox => {
            let Some(row) = model.selected_inbox() else { return };
            let Some(id) = &row.thread else {
                let name = row.pull.clone();
                return show_pull(model, &name);
            };
            Some(thread(&row.address, id, ListScreen::Inbox))
        }
        Screen::Handoff => model
            .selected_handoff()
            .and_then(|row| Some(thread(&row.address, row.threads.first()?, ListScreen::Handoff))),
        Screen::Journal => model.selected_record().map(|row| Screen::Record { seq: row.seq }),
        Screen::Thread { .. } | Screen::Record { .. } | Screen::FirstRun => None,
    };
    if let Some(next) = next {
        keep_cursor(model);
        model.screen = next;
        model.page.scroll = 0;
        mark_read(model);
    }
}

/// Gives the keyboard to the threads of the selected pull request.
pub(super) fn to_threads(model: &mut Model) {
    keep_cursor(model);
    model.lists.pane = Pane::Threads;
}

/// The person works with the item at the cursor, so the cursor stays on it.
fn keep_cursor(model: &mut Model) {
    let list = model.screen.list();
    let (index, keys) = (model.selected(list), model.keys(list));
    if !keys.is_empty() {
        model.lists.filters[list as usize].cursor.put(index, &keys);
    }
}

/// An open thread has no news that the person has not seen.
fn mark_read(model: &mut Model) {
    if let Screen::Thread { address, id, .. } = &model.screen {
        let key = (address.clone(), id.clone());
        changed_rows::mark_read(model, &key);
    }
}

/// Shows a pull request on the watch screen, and clears a filter that may hide it.
fn show_pull(model: &mut Model, name: &str) {
    model.lists.filters[ListScreen::Watch as usize].text.clear();
    go(model, ListScreen::Watch);
    let keys = model.keys(ListScreen::Watch);
    if let Some(index) = keys.iter().position(|key| key.name == name) {
        put(model, ListScreen::Watch, index, &keys);
    }
    model.lists.pane = Pane::Threads;
}

/// One step back: leaves a page, clears problems, marks or the filter, or goes from the threads to the pull
/// requests.
pub(super) fn back(model: &mut Model) {
    match &model.screen {
        Screen::Thread { address, id, .. } => {
            // The page showed the problem, so the person has read it.
            model.marks.problems.remove(&(address.clone(), id.clone()));
            go(model, model.screen.list());
        }
        Screen::Record { .. } => go(model, ListScreen::Journal),
        _ if !model.marks.pull_problems.is_empty() => model.marks.pull_problems.clear(),
        _ if !model.marks.marked.is_empty() => model.marks.marked.clear(),
        _ if !model.filter().text.is_empty() => model.filter_mut().text.clear(),
        Screen::Watch => model.lists.pane = Pane::PullRequests,
        Screen::Inbox | Screen::Handoff | Screen::Journal | Screen::FirstRun => {}
    }
}

/// Goes to the next thread that waits for a person. The search starts again at the first pull request.
pub(super) fn next_stuck(model: &mut Model) {
    if !jump(model, |_, row| row.is_stuck()) {
        model.notice = Some("No thread waits for a person.".to_owned());
    }
}

/// Goes to the next unread thread. From the page of a thread it opens the page of the next one.
pub(super) fn next_unread(model: &mut Model) {
    let unread = model.marks.unread.clone();
    let reading = matches!(model.screen, Screen::Thread { .. });
    if reading {
        go(model, ListScreen::Watch);
        model.lists.pane = Pane::Threads;
    }
    let found = jump(model, |pull, row| unread.contains(&(pull.address.clone(), row.id.clone())));
    if !found {
        model.notice = Some("No thread has news.".to_owned());
    } else if reading {
        open(model);
    }
}

/// Goes to the next thread that matches, on the watch screen.
fn jump(model: &mut Model, matches: impl Fn(&PullRow, &ThreadRow) -> bool) -> bool {
    let pulls = model.visible_pulls();
    let at = model.selected(ListScreen::Watch);
    let first = if model.lists.pane == Pane::Threads {
        model.lists.thread_cursor.index_in(&model.thread_keys()) + 1
    } else {
        0
    };
    let matching_from = |pull: &PullRow, from: usize| {
        let mut rows = pull.threads.iter().enumerate().skip(from);
        rows.find(|(_, row)| matches(pull, row)).map(|(index, _)| index)
    };
    let mut order = (0..=pulls.len())
        .map(|offset| ((at + offset) % pulls.len().max(1), if offset == 0 { first } else { 0 }));
    let found = order.find_map(|(index, from)| Some((index, matching_from(pulls.get(index)?, from)?)));
    let Some((pull, thread)) = found else { return false };
    let keys = model.keys(ListScreen::Watch);
    put(model, ListScreen::Watch, pull, &keys);
    let keys = model.thread_keys();
    model.lists.thread_cursor.put(thread, &keys);
    model.lists.pane = Pane::Threads;
    true
}
