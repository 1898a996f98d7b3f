//! Going from place to place.

use super::changed_rows;
use crate::tui::dialog::Overlay;
use crate::tui::model::{Cursor, ListScreen, Model, Pane, Screen};
use crate::tui::rows::PullRow;
use crate::tui::rows::thread::ThreadRow;
use crate::tui::view;

pub(super) fn go(model: &mut Model, list: ListScreen) {
    model.screen = list.screen();
    model.scroll = 0;
    model.overlay = Overlay::None;
}

/// So many screens to the right, round and round.
pub(super) fn turn(model: &mut Model, by: usize) {
    let at = model.screen.list() as usize;
    go(model, ListScreen::ALL[(at + by) % ListScreen::ALL.len()]);
}

pub(super) fn page(model: &Model) -> isize {
    isize::try_from((model.height / 2).max(1)).unwrap_or(1)
}

/// Moves the cursor, or scrolls where there is none.
pub(super) fn step(model: &mut Model, by: isize) {
    let moved = |at: usize, most: usize| at.saturating_add_signed(by).min(most);
    match &model.screen {
        Screen::Thread { .. } => view::step_thread(model, by),
        Screen::Record { .. } => {
            model.scroll = moved(model.scroll, view::most_scroll(model));
        }
        Screen::Watch if model.pane == Pane::Threads => {
            let keys = model.thread_keys();
            let at = model.thread.among(&keys);
            model.thread.put(moved(at, keys.len()), &keys);
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

/// Another pull request has other threads.
pub(super) fn put(model: &mut Model, list: ListScreen, index: usize, keys: &[String]) {
    model.finding[list as usize].cursor.put(index, keys);
    if list == ListScreen::Watch {
        model.thread = Cursor::default();
    }
}

pub(super) fn open(model: &mut Model) {
    let thread = |address: &_, id: &_, from| Screen::Thread {
        address: Clone::clone(address),
        id: Clone::clone(id),
        from,
    };
    let next = match &model.screen {
        Screen::Watch if model.pane == Pane::PullRequests => {
            model.pane = Pane::Threads;
            return;
        }
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
        model.screen = next;
        model.scroll = 0;
        look(model);
    }
}

/// Whoever opens a thread has seen what is new there.
fn look(model: &mut Model) {
    if let Screen::Thread { address, id, .. } = &model.screen {
        let key = (address.clone(), id.clone());
        changed_rows::seen(model, &key);
    }
}

/// Goes to a pull request on the watch screen, whatever is filtered there.
fn show_pull(model: &mut Model, name: &str) {
    model.finding[ListScreen::Watch as usize].filter.clear();
    go(model, ListScreen::Watch);
    let keys = model.keys(ListScreen::Watch);
    if let Some(index) = keys.iter().position(|key| key == name) {
        put(model, ListScreen::Watch, index, &keys);
    }
    model.pane = Pane::Threads;
}

/// One step out: of a page, of a filter, of the threads.
pub(super) fn back(model: &mut Model) {
    match &model.screen {
        Screen::Thread { address, id, .. } => {
            // What went wrong here was on the screen until now.
            model.troubles.remove(&(address.clone(), id.clone()));
            go(model, model.screen.list());
        }
        Screen::Record { .. } => go(model, ListScreen::Journal),
        _ if !model.pull_troubles.is_empty() => model.pull_troubles.clear(),
        _ if !model.marked.is_empty() => model.marked.clear(),
        _ if !model.finding().filter.is_empty() => model.finding_mut().filter.clear(),
        Screen::Watch => model.pane = Pane::PullRequests,
        Screen::Inbox | Screen::Handoff | Screen::Journal | Screen::FirstRun => {}
    }
}

/// The next thread that waits for a person, in this pull request or one further down, round and round.
pub(super) fn next_stuck(model: &mut Model) {
    if !jump(model, |_, row| row.is_stuck()) {
        model.notice = Some("nothing waits for a person here".to_owned());
    }
}

/// The next thread about which there is something new. From a thread's page it goes to the next page.
pub(super) fn next_unread(model: &mut Model) {
    let unread = model.unread.clone();
    let reading = matches!(model.screen, Screen::Thread { .. });
    if reading {
        go(model, ListScreen::Watch);
        model.pane = Pane::Threads;
    }
    let found = jump(model, |pull, row| unread.contains(&(pull.address.clone(), row.id.clone())));
    if !found {
        model.notice = Some("nothing is new".to_owned());
    } else if reading {
        open(model);
    }
}

/// Goes to the next thread that fits, on the watch screen.
fn jump(model: &mut Model, fits: impl Fn(&PullRow, &ThreadRow) -> bool) -> bool {
    let pulls = model.visible_pulls();
    let at = model.selected(ListScreen::Watch);
    let first = if model.pane == Pane::Threads { model.thread.among(&model.thread_keys()) + 1 } else { 0 };
    let fitting_from = |pull: &PullRow, from: usize| {
        let mut rows = pull.threads.iter().enumerate().skip(from);
        rows.find(|(_, row)| fits(pull, row)).map(|(index, _)| index)
    };
    let mut order = (0..=pulls.len())
        .map(|offset| ((at + offset) % pulls.len().max(1), if offset == 0 { first } else { 0 }));
    let found = order.find_map(|(index, from)| Some((index, fitting_from(pulls.get(index)?, from)?)));
    let Some((pull, thread)) = found else { return false };
    let keys = model.keys(ListScreen::Watch);
    put(model, ListScreen::Watch, pull, &keys);
    let keys = model.thread_keys();
    model.thread.put(thread, &keys);
    model.pane = Pane::Threads;
    true
}
