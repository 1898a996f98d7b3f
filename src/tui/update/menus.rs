//! Choices between a few things: the ways out of a loop whose rounds are spent (L6), and the targets of a handoff (H9).

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

/// Has the desk find out what can be done about the whole pull request.
pub(super) fn find_ways_out(model: &mut Model) -> Vec<Effect> {
    let Some(address) = model.concerned().map(|pull| pull.address.clone()) else {
        model.notice = Some("no pull request is selected".to_owned());
        return Vec::new();
    };
    model.ticket = model.ticket.wrapping_add(1);
    model.overlay = Overlay::Working { what: "Looking for the ways out…".to_owned() };
    vec![Effect::FindWaysOut { ticket: model.ticket, address }]
}

pub(super) fn ways_out(
    model: &mut Model,
    ticket: u32,
    address: &PullRequestAddress,
    ways: Result<Vec<WayOut>, String>,
) {
    // Somebody has gone on to something else since.
    if ticket != model.ticket || !matches!(model.overlay, Overlay::Working { .. }) {
        return;
    }
    model.overlay = Overlay::None;
    match ways {
        Err(why) => model.notice = Some(rows::line(&why)),
        Ok(ways) => {
            let entries = ways.into_iter().map(|way| entry(way, address)).collect();
            model.overlay =
                Overlay::Menu(Menu { title: format!("Ways out of {address}"), entries, selected: 0 });
        }
    }
}

fn entry(found: WayOut, address: &PullRequestAddress) -> MenuEntry {
    let WayOut { way, sentences, means } = found;
    let meaning = rows::line(&sentences.join(" "));
    let name = acting::capital(way.name());
    let order = PersonRequest::PullRequest { address: address.clone(), way, reason: None };
    let (meaning, choice) = match means {
        WayOutMeans::Not(why) => {
            let why = rows::line(&format!("not now: {why}"));
            (why.clone(), MenuChoice::Nothing(why))
        }
        WayOutMeans::ByHand => (meaning.clone(), MenuChoice::Nothing(meaning)),
        WayOutMeans::Tell(LoopCommand::GrantRound { .. }) => {
            let sentences = vec![meaning.clone(), "Why?".to_owned()];
            let title = format!("{name} on {address}");
            let then = TextPurpose::Grant(address.clone());
            (meaning, MenuChoice::Write(TextPrompt { title, sentences, long: false, then }))
        }
        WayOutMeans::Tell(_) | WayOutMeans::Write(_) => (meaning, MenuChoice::Order(order)),
    };
    MenuEntry { name, meaning, choice }
}

/// Breaks the glass, or mends it where it is broken.
pub(super) fn break_glass(model: &mut Model) -> Vec<Effect> {
    let Some(pull) = model.concerned() else {
        model.notice = Some("no pull request is selected".to_owned());
        return Vec::new();
    };
    let broken = pull.view.standing.as_ref().is_some_and(|standing| standing.seen.broken_glass.is_some());
    let way = if broken { Way::MendGlass } else { Way::BreakGlass };
    let order = PersonRequest::PullRequest { address: pull.address.clone(), way, reason: None };
    acting::propose(model, order)
}

// Where a finding goes

/// The targets that the configuration knows, and going nowhere.
pub(super) fn targets(model: &mut Model) {
    let threads = model.meant();
    if threads.is_empty() {
        model.notice = Some("no finding is selected".to_owned());
        return;
    }
    let order =
        |to| PersonRequest::Threads { what: ThreadAct::Route(to), threads: threads.clone(), reason: None };
    let known = model.making.config.handoff.known_targets().into_iter();
    let mut entries: Vec<MenuEntry> = known
        .map(|target| MenuEntry {
            name: format!("to {}", rows::line(target.as_str())),
            meaning: "this target gets it, whatever the routes say".to_owned(),
            choice: MenuChoice::Order(order(Destination::Target(target))),
        })
        .collect();
    entries.push(MenuEntry {
        name: "as configured".to_owned(),
        meaning: "the first route that fits decides".to_owned(),
        choice: MenuChoice::Order(order(Destination::AsConfigured)),
    });
    entries.push(MenuEntry {
        name: "nowhere".to_owned(),
        meaning: "it is not handed off unless somebody queues it again".to_owned(),
        choice: MenuChoice::Order(order(Destination::Nowhere)),
    });
    model.overlay = Overlay::Menu(Menu { title: "Hand it off".to_owned(), entries, selected: 0 });
}

/// A key while a menu is open: an entry's number, or the one with the cursor.
pub(super) fn picking(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Overlay::Menu(menu) = &mut model.overlay else { return Vec::new() };
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
            model.overlay = Overlay::None;
            model.notice = Some("nothing was done".to_owned());
            return Vec::new();
        }
        _ => return Vec::new(),
    };
    let Some(entry) = menu.entries.get(picked).cloned() else { return Vec::new() };
    model.overlay = Overlay::None;
    match entry.choice {
        MenuChoice::Order(order) => acting::propose(model, order),
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
