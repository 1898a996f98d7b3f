//! The two menus: the ways out of a loop whose author has no rounds left (L6), and the targets of a handoff
//! (H9).

use super::acting;
use crate::domain::finding::Destination;
use crate::github::PullRequestAddress;
use crate::supervisor::LoopCommand;
use crate::supervisor::people::request_handler::PersonRequest;
use crate::supervisor::people::{ThreadAct, Way, WayOut, WayOutMeans};
use crate::tui::dialog::{Menu, MenuChoice, MenuEntry, Overlay, TextPrompt, TextPurpose};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::rows;
use crossterm::event::{KeyCode, KeyEvent};

// The ways out

/// Asks the request handler for the ways out of the selected pull request.
pub(super) fn find_ways_out(model: &mut Model) -> Vec<Effect> {
    let Some(address) = model.pull_request_in_focus().map(|pull| pull.address.clone()) else {
        model.notice = Some("No pull request is selected.".to_owned());
        return Vec::new();
    };
    model.requests.ticket = model.requests.ticket.wrapping_add(1);
    model.dialog.overlay = Overlay::Working { what: "Finding the ways out…".to_owned() };
    vec![Effect::FindWaysOut { ticket: model.requests.ticket, address }]
}

pub(super) fn ways_out(
    model: &mut Model,
    ticket: u32,
    address: &PullRequestAddress,
    ways: Result<Vec<WayOut>, String>,
) {
    // The person has cancelled it or asked for something else since.
    if ticket != model.requests.ticket || !matches!(model.dialog.overlay, Overlay::Working { .. }) {
        return;
    }
    model.dialog.overlay = Overlay::None;
    match ways {
        Err(why) => model.notice = Some(rows::line(&why)),
        Ok(ways) => {
            let entries = ways.into_iter().map(|way| entry(way, address)).collect();
            model.dialog.overlay =
                Overlay::Menu(Menu { title: format!("Ways out of {address}"), entries, selected: 0 });
        }
    }
}

fn entry(way_out: WayOut, address: &PullRequestAddress) -> MenuEntry {
    let WayOut { way, sentences, means } = way_out;
    let meaning = rows::line(&sentences.join(" "));
    let name = acting::capital(way.name());
    let request = PersonRequest::PullRequest { address: address.clone(), way, reason: None };
    let (meaning, choice) = match means {
        WayOutMeans::Not(why) => {
            let why = rows::line(&format!("Not possible now: {why}"));
            (why.clone(), MenuChoice::Nothing(why))
        }
        WayOutMeans::ByHand => (meaning.clone(), MenuChoice::Nothing(meaning)),
        WayOutMeans::Tell(LoopCommand::GrantRound { .. }) => {
            let sentences = vec![meaning.clone(), "Why?".to_owned()];
            let title = format!("{name} on {address}");
            let then = TextPurpose::Grant(address.clone());
            (meaning, MenuChoice::Write(TextPrompt { title, sentences, long: false, then }))
        }
        WayOutMeans::Tell(_) | WayOutMeans::Write(_) => (meaning, MenuChoice::Request(request)),
    };
    MenuEntry { name, meaning, choice }
}

/// Breaks the glass, or mends it if it is broken.
pub(super) fn break_glass(model: &mut Model) -> Vec<Effect> {
    let Some(pull) = model.pull_request_in_focus() else {
        model.notice = Some("No pull request is selected.".to_owned());
        return Vec::new();
    };
    let broken = pull.view.computed.as_ref().is_some_and(|computed| computed.seen.broken_glass.is_some());
    let way = if broken { Way::MendGlass } else { Way::BreakGlass };
    let request = PersonRequest::PullRequest { address: pull.address.clone(), way, reason: None };
    acting::propose(model, request)
}

// The targets of a handoff

/// The configured targets, the configured routes, and no target at all.
pub(super) fn targets(model: &mut Model) {
    let threads = model.marked_or_selected();
    if threads.is_empty() {
        model.notice = Some("No finding is selected.".to_owned());
        return;
    }
    let request =
        |to| PersonRequest::Threads { what: ThreadAct::Route(to), threads: threads.clone(), reason: None };
    let targets = model.row_builder.config.handoff.known_targets().into_iter();
    let mut entries: Vec<MenuEntry> = targets
        .map(|target| MenuEntry {
            name: format!("to {}", rows::line(target.as_str())),
            meaning: "This target gets it, whatever the configured routes say.".to_owned(),
            choice: MenuChoice::Request(request(Destination::Target(target))),
        })
        .collect();
    entries.push(MenuEntry {
        name: "as configured".to_owned(),
        meaning: "The first configured route that matches decides.".to_owned(),
        choice: MenuChoice::Request(request(Destination::AsConfigured)),
    });
    entries.push(MenuEntry {
        name: "nowhere".to_owned(),
        meaning: "No coding agent gets it, unless somebody queues it again.".to_owned(),
        choice: MenuChoice::Request(request(Destination::Nowhere)),
    });
    model.dialog.overlay = Overlay::Menu(Menu { title: "Hand off".to_owned(), entries, selected: 0 });
}

/// A key while a menu is open. An entry's number picks it, and return picks the entry at the cursor.
pub(super) fn picking(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Overlay::Menu(menu) = &mut model.dialog.overlay else { return Vec::new() };
    let last = menu.entries.len().saturating_sub(1);
    let picked = match key.code {
        KeyCode::Up | KeyCode::Char('k') | KeyCode::BackTab => {
            menu.selected = menu.selected.saturating_sub(1);
            return Vec::new();
        }
        KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => {
            menu.selected = (menu.selected + 1).min(last);
            return Vec::new();
        }
        KeyCode::Enter => menu.selected,
        KeyCode::Char(digit @ '1'..='9') => {
            let index = digit.to_digit(10).map_or(0, |digit| digit as usize - 1);
            if index > last {
                return Vec::new();
            }
            index
        }
        KeyCode::Esc | KeyCode::Char('q') => {
            model.dialog.overlay = Overlay::None;
            model.notice = Some("Nothing was done.".to_owned());
            return Vec::new();
        }
        _ => return Vec::new(),
    };
    let Some(entry) = menu.entries.get(picked).cloned() else { return Vec::new() };
    model.dialog.overlay = Overlay::None;
    match entry.choice {
        MenuChoice::Request(request) => acting::propose(model, request),
        MenuChoice::Write(writing) => {
            acting::write(model, writing);
            Vec::new()
        }
        MenuChoice::Nothing(why) => {
            model.notice = Some(why);
            Vec::new()
        }
    }
}
