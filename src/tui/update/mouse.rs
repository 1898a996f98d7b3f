//! The mouse: the wheel moves the cursor, a click selects a row, a click on the selected row opens it.

use super::moving;
use crate::tui::dialog::Overlay;
use crate::tui::message::Effect;
use crate::tui::model::{ListScreen, Model, Pane, Screen};
use crate::tui::view::{self, ClickTarget};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

pub(super) fn mouse(model: &mut Model, event: MouseEvent) -> Vec<Effect> {
    match event.kind {
        MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
            let by = if event.kind == MouseEventKind::ScrollDown { 1 } else { -1 };
            match &mut model.dialog.overlay {
                Overlay::None | Overlay::Filter => {
                    let place = view::place(model, event.column, event.row);
                    if let (Screen::Watch, Some(ClickTarget::Pull(_) | ClickTarget::Thread(_))) =
                        (&model.screen, &place)
                    {
                        let over_threads = matches!(place, Some(ClickTarget::Thread(_)));
                        model.lists.pane = if over_threads { Pane::Threads } else { Pane::PullRequests };
                    }
                    moving::step(model, by);
                }
                Overlay::Help { scroll } => *scroll = scroll.saturating_add_signed(by),
                Overlay::Ask(question) => {
                    let most = view::question_lines(question);
                    question.scroll = question.scroll.saturating_add_signed(by).min(most);
                }
                Overlay::Write(_) | Overlay::Menu(_) | Overlay::Palette { .. } | Overlay::Working { .. } => {}
            }
        }
        MouseEventKind::Drag(MouseButton::Left) if model.lists.split.dragging => {
            view::drag(model, event.column, event.row);
        }
        MouseEventKind::Up(MouseButton::Left) => model.lists.split.dragging = false,
        MouseEventKind::Down(MouseButton::Left) if model.dialog.overlay == Overlay::None => {
            model.notice = None;
            clicked(model, view::place(model, event.column, event.row));
        }
        _ => {}
    }
    Vec::new()
}

fn clicked(model: &mut Model, place: Option<ClickTarget>) {
    match place {
        None => {}
        Some(ClickTarget::Split) => model.lists.split.dragging = true,
        Some(ClickTarget::Tab(list)) => moving::go(model, list),
        Some(ClickTarget::Pull(index)) => {
            let again = model.lists.pane == Pane::PullRequests && model.selected(ListScreen::Watch) == index;
            model.lists.pane = Pane::PullRequests;
            let keys = model.keys(ListScreen::Watch);
            if again {
                moving::open(model);
            } else {
                moving::put(model, ListScreen::Watch, index, &keys);
            }
        }
        Some(ClickTarget::Thread(index)) => {
            let keys = model.thread_keys();
            let again =
                model.lists.pane == Pane::Threads && model.lists.thread_cursor.index_in(&keys) == index;
            model.lists.pane = Pane::Threads;
            model.lists.thread_cursor.put(index, &keys);
            if again {
                moving::open(model);
            }
        }
        Some(ClickTarget::Row(index)) => {
            let list = model.screen.list();
            let again = model.selected(list) == index;
            let keys = model.keys(list);
            moving::put(model, list, index, &keys);
            if again {
                moving::open(model);
            }
        }
    }
}
