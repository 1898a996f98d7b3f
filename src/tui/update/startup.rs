//! What the start brings up, one after the other, behind the first frame.

use crate::domain::snapshot::PullRequestState;
use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::output::sanitize;
use crate::supervisor::PullRequestView;
use crate::tui::dialog::{Confirmation, ConfirmedAction, Overlay};
use crate::tui::message::Effect;
use crate::tui::model::{ListScreen, Model, Screen};
use crate::tui::startup::{DiscoveredPullRequests, StartupNews, StartupStep, WatchScope};

pub(super) fn news(model: &mut Model, news: StartupNews) -> Vec<Effect> {
    match news {
        StartupNews::Scope { scope, first } => {
            model.start.scope = scope;
            if let Some(first) = first {
                select(model, &first);
            }
        }
        StartupNews::Journal(outcome) => {
            model.start.journal = StartupStep::of(outcome.map(|()| String::new()), model.now)
        }
        StartupNews::Token(outcome) => {
            model.start.token = StartupStep::of(outcome, model.now);
            let is_missing = model.start.token.failure().is_some();
            if is_missing {
                model.searching = false;
            }
            if is_missing && model.pulls.is_empty() && model.screen == Screen::Watch {
                model.screen = Screen::FirstRun;
            }
        }
        StartupNews::FirstRun(proposal) => {
            model.start.proposal = Some(proposal);
            if model.pulls.is_empty() && model.screen == Screen::Watch {
                model.screen = Screen::FirstRun;
            }
        }
        StartupNews::Written(Ok(path)) => {
            model.start.proposal = None;
            model.notice = Some(format!("{path} was written; it is in force"));
            go_on(model);
        }
        StartupNews::Written(Err(why)) => model.notice = Some(sanitize::line(&why).into_owned()),
        StartupNews::Searching => {
            model.searching = true;
            model.start.search = StartupStep::Waiting;
        }
        StartupNews::Note(note) => model.notice = Some(sanitize::line(&note).into_owned()),
    }
    Vec::new()
}

/// A search came back: what is new is tracked, and what was seen before and is not there any more is looked at once more.
pub(super) fn found(model: &mut Model, outcome: Result<DiscoveredPullRequests, Failure>) -> Vec<Effect> {
    model.searching = false;
    let found = match outcome {
        Ok(found) => found,
        Err(why) => {
            model.start.search = StartupStep::Failed { why, since: model.now };
            return Vec::new();
        }
    };
    model.start.search = StartupStep::Done(String::new());
    model.start.found_at = Some(model.now);
    model.start.notes = found.notes.iter().map(|note| sanitize::line(note).into_owned()).collect();
    if let Some(first) = &found.first {
        select(model, first);
    }
    if !found.is_all {
        return vec![Effect::Track(found.pull_requests)];
    }
    let is_found =
        |address: &PullRequestAddress| found.pull_requests.iter().any(|other| other.address == *address);
    let gone = model.pulls.keys().filter(|address| !is_found(address));
    model.start.unconfirmed = gone.cloned().collect();
    if found.pull_requests.is_empty() { Vec::new() } else { vec![Effect::Track(found.pull_requests)] }
}

/// Drops what was seen before, is still open, and is not what is watched now. What ended stays: its tasks are worth seeing.
pub(super) fn confirm(model: &mut Model) -> Vec<Effect> {
    let Some(found_at) = model.start.found_at else { return Vec::new() };
    let mut dropped = Vec::new();
    let board = &model.board.pull_requests;
    model.start.unconfirmed.retain(|address| {
        let Some(view) = board.get(address) else { return false };
        let looked_at = view.refusal.is_some() || view.seen_at.is_some_and(|seen| seen >= found_at);
        if looked_at && !has_ended(view) {
            dropped.push(address.clone());
        }
        !looked_at
    });
    dropped.into_iter().map(Effect::Forget).collect()
}

fn has_ended(view: &PullRequestView) -> bool {
    let state = view.standing.as_ref().map(|standing| standing.snapshot.state);
    matches!(state, Some(PullRequestState::Merged | PullRequestState::Closed))
}

/// Puts the cursor there, unless somebody has moved it already.
fn select(model: &mut Model, address: &PullRequestAddress) {
    let cursor = &mut model.finding[ListScreen::Watch as usize].cursor;
    if cursor.key.is_none() && cursor.index == 0 {
        cursor.key = Some(address.to_string());
    }
}

/// From the first screen to the loops.
pub(super) fn go_on(model: &mut Model) {
    let has_something = !matches!(model.start.scope, WatchScope::Nothing { .. } | WatchScope::Unknown);
    if model.screen == Screen::FirstRun && has_something {
        model.screen = Screen::Watch;
    }
}

/// U3: what would be written, and where, is on the screen behind the question.
pub(super) fn write_configuration(model: &mut Model) {
    match &model.start.proposal {
        Some(proposal) => {
            model.overlay = Overlay::Ask(Confirmation {
                title: "Write this configuration?".to_owned(),
                sentences: vec![
                    format!("This text is written to {}, a new file:", proposal.path),
                    "It only watches: nothing is written to any repository until `drive = true` for it."
                        .to_owned(),
                ],
                texts: vec![proposal.text.clone()],
                scroll: 0,
                then: ConfirmedAction::Effect(Effect::WriteConfiguration),
            });
        }
        None => model.notice = Some("there is a configuration already".to_owned()),
    }
}
