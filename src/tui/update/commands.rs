//! Commands to a loop and to the desktop. A command that writes or spends asks first, and says exactly what
//! it will do (U3).

use crate::domain::review_loop::{Exit, Phase};
use crate::supervisor::{LoopCommand, PullRequestView};
use crate::tui::action::Action;
use crate::tui::dialog::{Confirmation, ConfirmedAction, Overlay, TextPrompt, TextPurpose};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::rows::prompt;
use crate::tui::text::count;
use crossterm::event::{KeyCode, KeyEvent};

pub(super) fn command(model: &mut Model, action: Action) -> Vec<Effect> {
    match outcome(model, action) {
        Ok(CommandOutcome::Ask(question)) => {
            model.dialog.overlay = Overlay::Ask(question);
            Vec::new()
        }
        Ok(CommandOutcome::Write(writing)) => {
            super::acting::write(model, writing);
            Vec::new()
        }
        Ok(CommandOutcome::Do(effect, notice)) => {
            model.notice = Some(notice);
            vec![effect]
        }
        Err(refusal) => {
            model.notice = Some(refusal);
            Vec::new()
        }
    }
}

enum CommandOutcome {
    Ask(Confirmation),
    Write(TextPrompt),
    /// At once, with a notice that says so.
    Do(Effect, String),
}

fn refuse<T>(why: &str) -> Result<T, String> {
    Err(why.to_owned())
}

fn outcome(model: &Model, action: Action) -> Result<CommandOutcome, String> {
    if let Action::Browse | Action::CopyLink = action {
        let link = model.link().ok_or("There is no link to it yet.")?;
        // Only web links reach the browser: an answer from GitHub must not choose which program starts here.
        if !(link.starts_with("https://") || link.starts_with("http://")) {
            return refuse("Its link is not a web address.");
        }
        let link = link.to_owned();
        return Ok(match action {
            Action::Browse => {
                CommandOutcome::Do(Effect::OpenInBrowser(link.clone()), format!("Opening {link}"))
            }
            _ => CommandOutcome::Do(Effect::CopyToClipboard(link.clone()), format!("Copied {link}")),
        });
    }
    if action == Action::CopyPrompt {
        let threads = model.marked_or_selected();
        let text = prompt::of(&model.data.pulls, &threads).ok_or("No finding is selected.")?;
        let about = count(threads.len(), "finding", "findings");
        return Ok(CommandOutcome::Do(
            Effect::CopyToClipboard(text),
            format!("Copied a prompt with {about}."),
        ));
    }
    let pull = model.pull_request_in_focus().ok_or("No pull request is selected.")?;
    let (address, name) = (pull.address.clone(), &pull.name);
    let view: &PullRequestView = &pull.view;
    let phase = view.review_loop.phase();
    let tell = |command| Effect::Tell(address.clone(), command);
    let ended = matches!(phase, Phase::Ended(_));
    match action {
        Action::Poll => Ok(CommandOutcome::Do(tell(LoopCommand::PollNow), format!("Polling {name} now."))),
        Action::Pause if ended => refuse("The loop has ended; there is nothing to pause."),
        Action::Pause if matches!(phase, Phase::Paused(_)) => refuse("The loop is already paused."),
        Action::Pause => Ok(CommandOutcome::Do(tell(LoopCommand::Pause), format!("{name} is paused."))),
        Action::Resume if !matches!(phase, Phase::Paused(_)) => refuse("The loop is not paused."),
        Action::Resume => Ok(CommandOutcome::Do(tell(LoopCommand::Resume), format!("{name} continues."))),
        Action::Stop if ended => refuse("The loop has already ended."),
        Action::Stop => Ok(CommandOutcome::Ask(Confirmation {
            title: "Stop this loop?".to_owned(),
            texts: Vec::new(),
            scroll: 0,
            sentences: vec![
                format!(
                    "The loop on {name} ends for good. Cloture no longer polls, asks reviewers or sends the author there."
                ),
                "Its threads on GitHub stay as they are. Cloture writes nothing.".to_owned(),
            ],
            then: ConfirmedAction::Effect(tell(LoopCommand::Stop)),
        })),
        Action::GrantRound if !matches!(view.exit(), Some(Exit::RoundCap { .. })) => {
            refuse("The author still has rounds left, so there is nothing to grant.")
        }
        Action::GrantRound => Ok(CommandOutcome::Write(TextPrompt {
            title: format!("Grant {name} one more round"),
            sentences: vec![
                "Cloture sends the author's agent to work once more, which costs money.".to_owned(),
                format!("The journal records {} as the person who granted it. Why?", model.by),
            ],
            long: false,
            then: TextPurpose::Grant(address.clone()),
        })),
        Action::RetryTask => {
            let row = model.selected_handoff().ok_or("No task is selected.")?;
            let key = row.task_key.clone().ok_or("Only a stuck task can be sent again.")?;
            Ok(CommandOutcome::Ask(Confirmation {
                title: "Send this task again?".to_owned(),
                texts: Vec::new(),
                scroll: 0,
                sentences: vec![
                    format!("Cloture sends the task for {} about {} once more.", row.target, row.path),
                    format!("It is stuck because: {}", row.reason),
                ],
                then: ConfirmedAction::Effect(tell(LoopCommand::RetryTask { key })),
            }))
        }
        _ => refuse("This command does nothing here."),
    }
}

/// Only `y` confirms.
pub(super) fn confirmation_key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Overlay::Ask(question) = &mut model.dialog.overlay else { return Vec::new() };
    match key.code {
        KeyCode::Char('y' | 'Y') => {}
        KeyCode::Esc | KeyCode::Char('n' | 'N') => {
            model.dialog.overlay = Overlay::None;
            model.notice = Some("Nothing was done.".to_owned());
            return Vec::new();
        }
        KeyCode::Up | KeyCode::Char('k') => {
            question.scroll = question.scroll.saturating_sub(1);
            return Vec::new();
        }
        KeyCode::Down | KeyCode::Char('j') => {
            question.scroll =
                question.scroll.saturating_add(1).min(crate::tui::view::question_lines(question));
            return Vec::new();
        }
        _ => return Vec::new(),
    }
    let Overlay::Ask(question) = std::mem::replace(&mut model.dialog.overlay, Overlay::None) else {
        return Vec::new();
    };
    match question.then {
        ConfirmedAction::Effect(effect) => vec![effect],
        ConfirmedAction::Proposal(proposal) => super::acting::carry_out(model, proposal),
    }
}
