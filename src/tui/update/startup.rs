//! Applies the news of the start: journal, token, search and first run, in whatever order they arrive.

use crate::domain::snapshot::PullRequestState;
use crate::failure::Failure;
use crate::github::{PullRequestAddress, PullRequestRef};
use crate::output::sanitize;
use crate::supervisor::PullRequestView;
use crate::tui::dialog::{Confirmation, ConfirmedAction, Overlay};
use crate::tui::message::Effect;
use crate::tui::model::{ListScreen, Model, RowKey, Screen};
use crate::tui::rows::PullRow;
use crate::tui::startup::{DiscoveredPullRequests, StartupNews, StartupStep, WatchScope};

pub(super) fn apply_startup_news(model: &mut Model, news: StartupNews) -> Vec<Effect> {
    match news {
        StartupNews::Scope { scope, first } => {
            model.startup.scope = scope;
            if let Some(first) = first {
                select(model, &first);
            }
        }
        StartupNews::Journal(outcome) => {
            model.startup.journal = StartupStep::from_outcome(outcome.map(|()| String::new()), model.now);
        }
        StartupNews::Token(outcome) => {
            model.startup.token = StartupStep::from_outcome(outcome, model.now);
            let is_missing = model.startup.token.failure().is_some();
            if is_missing {
                model.startup.searching = false;
            }
            if is_missing && model.data.pulls.is_empty() && model.screen == Screen::Watch {
                model.screen = Screen::FirstRun;
            }
        }
        StartupNews::FirstRun(proposal) => {
            model.startup.proposal = Some(proposal);
            if model.data.pulls.is_empty() && model.screen == Screen::Watch {
                model.screen = Screen::FirstRun;
            }
        }
        StartupNews::Written(Ok(path)) => {
            model.startup.proposal = None;
            model.notice = Some(format!("Cloture wrote {path} and uses it now."));
            go_on(model);
        }
        StartupNews::Written(Err(why)) => model.notice = Some(sanitize::line(&why).into_owned()),
        StartupNews::Note(note) => model.notice = Some(sanitize::line(&note).into_owned()),
    }
    Vec::new()
}

/// Tracks the pull requests that a search found. A pull request from before that the search did not find is
/// polled once more, to see whether it ended.
pub(super) fn apply_discovery(
    model: &mut Model,
    outcome: Result<DiscoveredPullRequests, Failure>,
) -> Vec<Effect> {
    model.startup.searching = false;
    let discovered = match outcome {
        Ok(discovered) => discovered,
        Err(why) => {
            model.startup.search = StartupStep::Failed { why, since: model.now };
            return Vec::new();
        }
    };
    model.startup.search = StartupStep::Done(String::new());
    model.startup.found_at = Some(model.now);
    model.startup.notes = discovered.notes.iter().map(|note| sanitize::line(note).into_owned()).collect();
    if let Some(first) = &discovered.first {
        select(model, first);
    }
    if !discovered.is_all {
        return vec![Effect::Track(discovered.pull_requests)];
    }
    // L13: a renamed repository is found under its new name, with the same id.
    let is_found = |row: &PullRow| {
        let node_id = row.view.snapshot().map(|snapshot| &snapshot.node_id);
        let is_row = |found: &PullRequestRef| {
            found.address == row.address || (found.node_id.is_some() && found.node_id.as_ref() == node_id)
        };
        discovered.pull_requests.iter().any(is_row)
    };
    let gone = model.data.pulls.values().filter(|row| !is_found(row));
    model.startup.unconfirmed = gone.map(|row| row.address.clone()).collect();
    if discovered.pull_requests.is_empty() {
        Vec::new()
    } else {
        vec![Effect::Track(discovered.pull_requests)]
    }
}

/// Drops pull requests that are open but no longer watched. One that ended stays, because its tasks are worth
/// seeing.
pub(super) fn confirm(model: &mut Model) -> Vec<Effect> {
    let Some(found_at) = model.startup.found_at else { return Vec::new() };
    let mut dropped = Vec::new();
    let board = &model.data.board.pull_requests;
    model.startup.unconfirmed.retain(|address| {
        let Some(view) = board.get(address) else { return false };
        let is_polled = view.refusal.is_some() || view.seen_at.is_some_and(|seen| seen >= found_at);
        if is_polled && !has_ended(view) {
            dropped.push(address.clone());
        }
        !is_polled
    });
    dropped.into_iter().map(Effect::Forget).collect()
}

fn has_ended(view: &PullRequestView) -> bool {
    let state = view.computed.as_ref().map(|computed| computed.snapshot.state);
    matches!(state, Some(PullRequestState::Merged | PullRequestState::Closed))
}

/// Puts the cursor on a pull request, unless the person has moved it already.
fn select(model: &mut Model, address: &PullRequestAddress) {
    model.lists.filters[ListScreen::Watch as usize].cursor.choose(RowKey::new(address.to_string()));
}

/// Leaves the first-run page if there is something to watch.
pub(super) fn go_on(model: &mut Model) {
    let has_something = !matches!(model.startup.scope, WatchScope::Nothing { .. } | WatchScope::Unknown);
    if model.screen == Screen::FirstRun && has_something {
        model.screen = Screen::Watch;
    }
}

/// U3: the question shows the whole text and its path before Cloture writes the file.
pub(super) fn write_configuration(model: &mut Model) {
    match &model.startup.proposal {
        Some(proposal) => {
            model.dialog.overlay = Overlay::Ask(Confirmation {
                title: "Write this configuration?".to_owned(),
                sentences: vec![
                    format!("Cloture writes this text to {}, a new file:", proposal.path),
                    "With it, Cloture only watches. It writes nothing to a repository until you set `drive = true` for it."
                        .to_owned(),
                ],
                texts: vec![proposal.text.clone()],
                scroll: 0,
                then: ConfirmedAction::Effect(Effect::WriteConfiguration),
            });
        }
        None => model.notice = Some("There is a configuration already.".to_owned()),
    }
}
