//! Applies one message to the model and returns the effects for the driver. Pure: no clock, no terminal, no
//! network.

mod acting;
mod changed_rows;
mod commands;
mod menus;
mod mouse;
mod moving;
mod startup;
mod writing;

use super::action::Action;
use super::dialog::Overlay;
use super::guide;
use super::message::{Effect, Message};
use super::model::{ListScreen, Model, Screen};
use super::rows::journal::{JournalRow, KEPT};
use super::rows::{self, BoardRows};
use crate::output::sanitize;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Size;

pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    let effects = handle_message(model, message);
    model.follow_rows();
    guide::follow(model);
    super::view::prepare(model);
    effects
}

fn handle_message(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
        Message::Key(key) => {
            model.notice = None;
            pressed(model, key)
        }
        Message::Mouse(event) => mouse::mouse(model, event),
        Message::Pasted(text) if matches!(model.dialog.overlay, Overlay::Write(_)) => {
            writing::pasted(model, &text);
            Vec::new()
        }
        Message::Pasted(text) => {
            typed(model, &sanitize::line(&text));
            Vec::new()
        }
        Message::Resized { width, height } => {
            model.size = Size { width, height };
            Vec::new()
        }
        Message::Board(BoardRows { board, pulls }) => {
            let before = std::mem::replace(&mut model.data.pulls, pulls);
            model.data.version += 1;
            changed_rows::mark_changed_rows(model, &before);
            model.data.board = board;
            startup::confirm(model)
        }
        Message::Records(records) => {
            for record in &records {
                model.data.records.push_front(JournalRow::of(record));
            }
            model.data.records.truncate(KEPT);
            model.data.version += 1;
            Vec::new()
        }
        Message::HandedOff(decided) => {
            model.data.handed_off = decided.iter().map(rows::handoff::decided_task_row).collect();
            model.data.version += 1;
            Vec::new()
        }
        Message::Ring(bytes) => vec![Effect::Ring(bytes)],
        Message::Notice(sentence) => {
            model.notice = Some(sanitize::line(&sentence).into_owned());
            Vec::new()
        }
        Message::Found(outcome) => startup::apply_discovery(model, outcome),
        Message::Start(news) => startup::apply_startup_news(model, news),
        Message::Theme(theme) => {
            model.theme = theme;
            Vec::new()
        }
        Message::Proposed { ticket, proposal } => acting::proposed(model, ticket, proposal),
        Message::RequestFinished(outcome) => acting::request_finished(model, outcome),
        Message::WaysOut { ticket, address, ways } => {
            menus::ways_out(model, ticket, &address, ways);
            Vec::new()
        }
        Message::Edited(outcome) => {
            writing::edited(model, outcome);
            Vec::new()
        }
        Message::Tick(now) => {
            model.now = now;
            Vec::new()
        }
    }
}

/// The overlay on top gets the key, if there is one.
fn pressed(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let interrupted = key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL;
    if interrupted {
        return vec![Effect::Quit];
    }
    match &model.dialog.overlay {
        Overlay::None => match model.keymap.action(key.into()) {
            Some(action) if action.works_on(&model.screen) => act(model, action),
            _ => Vec::new(),
        },
        Overlay::Filter => filtering(model, key),
        Overlay::Palette { .. } => choosing(model, key),
        Overlay::Help { scroll } => {
            let scroll = *scroll;
            match model.keymap.action(key.into()) {
                Some(Action::Down) => model.dialog.overlay = Overlay::Help { scroll: scroll + 1 },
                Some(Action::Up) => model.dialog.overlay = Overlay::Help { scroll: scroll.saturating_sub(1) },
                _ => model.dialog.overlay = Overlay::None,
            }
            Vec::new()
        }
        Overlay::Ask(_) => commands::confirmation_key(model, key),
        Overlay::Write(_) => writing::key(model, key),
        Overlay::Menu(_) => menus::picking(model, key),
        // The person need not wait for a slow proposal.
        Overlay::Working { .. } => {
            if key.code == KeyCode::Esc {
                model.dialog.overlay = Overlay::None;
                model.notice = Some("Nothing was done.".to_owned());
            }
            Vec::new()
        }
    }
}

fn filtering(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    match key.code {
        KeyCode::Enter => model.dialog.overlay = Overlay::None,
        KeyCode::Esc => {
            model.filter_mut().text.clear();
            model.dialog.overlay = Overlay::None;
        }
        KeyCode::Backspace => {
            model.filter_mut().text.pop();
        }
        KeyCode::Up => moving::step(model, -1),
        KeyCode::Down => moving::step(model, 1),
        KeyCode::Char(c) if is_text(key) => typed(model, &c.to_string()),
        _ => {}
    }
    Vec::new()
}

fn choosing(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Overlay::Palette { query, selected } = &model.dialog.overlay else { return Vec::new() };
    let (found, at) = (model.palette(query), *selected);
    let to = match key.code {
        KeyCode::Esc => {
            model.dialog.overlay = Overlay::None;
            return Vec::new();
        }
        KeyCode::Enter => {
            model.dialog.overlay = Overlay::None;
            return found.get(at).map_or_else(Vec::new, |action| act(model, *action));
        }
        KeyCode::Up | KeyCode::BackTab => at.saturating_sub(1),
        KeyCode::Down | KeyCode::Tab => (at + 1).min(found.len().saturating_sub(1)),
        KeyCode::Backspace => {
            if let Overlay::Palette { query, .. } = &mut model.dialog.overlay {
                query.pop();
            }
            0
        }
        KeyCode::Char(c) if is_text(key) => {
            typed(model, &c.to_string());
            0
        }
        _ => at,
    };
    if let Overlay::Palette { selected, .. } = &mut model.dialog.overlay {
        *selected = to;
    }
    Vec::new()
}

/// Adds text to the filter or the palette, whichever is open.
fn typed(model: &mut Model, text: &str) {
    match &mut model.dialog.overlay {
        Overlay::Filter => {
            let filter = model.filter_mut();
            filter.text.push_str(text);
            filter.cursor = super::model::Cursor::default();
        }
        Overlay::Palette { query, .. } => query.push_str(text),
        Overlay::None
        | Overlay::Help { .. }
        | Overlay::Ask(_)
        | Overlay::Write(_)
        | Overlay::Menu(_)
        | Overlay::Working { .. } => {}
    }
}

fn is_text(key: KeyEvent) -> bool {
    !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// Carries out a command, called by its key or from the palette.
pub(super) fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Watch => moving::go(model, ListScreen::Watch),
        Action::Inbox => moving::go(model, ListScreen::Inbox),
        Action::Handoff => moving::go(model, ListScreen::Handoff),
        Action::Journal => moving::go(model, ListScreen::Journal),
        Action::NextScreen => moving::turn(model, 1),
        Action::PreviousScreen => moving::turn(model, 3),
        Action::Up => moving::step(model, -1),
        Action::Down => moving::step(model, 1),
        Action::PageUp => moving::step(model, -moving::page(model)),
        Action::PageDown => moving::step(model, moving::page(model)),
        Action::Top => moving::step(model, isize::MIN / 2),
        Action::Bottom => moving::step(model, isize::MAX / 2),
        Action::Left => model.lists.pane = super::model::Pane::PullRequests,
        Action::Right => moving::to_threads(model),
        Action::Open if model.screen == Screen::FirstRun => startup::go_on(model),
        Action::Open => moving::open(model),
        Action::Back => moving::back(model),
        Action::NextStuck => moving::next_stuck(model),
        Action::Filter => model.dialog.overlay = Overlay::Filter,
        Action::Palette => model.dialog.overlay = Overlay::Palette { query: String::new(), selected: 0 },
        Action::Help => model.dialog.overlay = Overlay::Help { scroll: 0 },
        Action::Sort if model.screen == Screen::Inbox => model.lists.inbox_by_age = !model.lists.inbox_by_age,
        Action::Sort => model.lists.sort = model.lists.sort.next(),
        Action::Fold => model.page.unfolded = !model.page.unfolded,
        Action::NextComment => model.page.reading.jump(1),
        Action::PreviousComment => model.page.reading.jump(-1),
        Action::NextUnread => moving::next_unread(model),
        Action::Mark => acting::mark(model),
        Action::MarkAll => acting::mark_all(model),
        Action::Undo => return acting::undo(model),
        Action::Decide(_) | Action::Unresolve | Action::Reply | Action::Queue => {
            return acting::begin(model, action);
        }
        Action::Retarget => {
            menus::targets(model);
            return Vec::new();
        }
        Action::WaysOut => return menus::find_ways_out(model),
        Action::BreakGlass => return menus::break_glass(model),
        Action::Submit | Action::Editor => {}
        Action::Poll if model.screen == Screen::FirstRun || model.data.pulls.is_empty() => {
            model.notice = Some("Searching for pull requests again.".to_owned());
            return vec![Effect::LookAgain];
        }
        Action::WriteConfiguration => startup::write_configuration(model),
        Action::Poll
        | Action::Pause
        | Action::Resume
        | Action::Stop
        | Action::GrantRound
        | Action::RetryTask
        | Action::Browse
        | Action::CopyPrompt
        | Action::CopyLink => return commands::command(model, action),
        Action::Demo => return vec![Effect::PlayDemo],
        Action::Quit => return vec![Effect::Quit],
    }
    Vec::new()
}
