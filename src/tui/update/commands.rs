//! What a person tells a loop or the desktop. Whatever writes or spends asks first, and says exactly what it will do (U3).

use crate::domain::review_loop::{Exit, Phase, ReviewLoop};
use crate::supervisor::{LoopCommand, PullRequestView};
use crate::tui::action::Action;
use crate::tui::dialog::{Confirmation, ConfirmedAction, Overlay, TextPrompt, TextPurpose};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::rows::prompt;
use crate::tui::text::count;
use crossterm::event::{KeyCode, KeyEvent};

pub(super) fn command(model: &mut Model, action: Action) -> Vec<Effect> {
    match tried(model, action) {
        Ok(CommandOutcome::Ask(question)) => {
            model.overlay = Overlay::Ask(question);
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
        Err(why_not) => {
            model.notice = Some(why_not);
            Vec::new()
        }
    }
}

enum CommandOutcome {
    Ask(Confirmation),
    Write(TextPrompt),
    /// At once, with a sentence that says so.
    Do(Effect, String),
}

fn not<T>(why: &str) -> Result<T, String> {
    Err(why.to_owned())
}

fn tried(model: &Model, action: Action) -> Result<CommandOutcome, String> {
    if let Action::Browse | Action::CopyLink = action {
        let link = model.link().ok_or("there is no link to it yet")?;
        // Only what a browser shows is handed to one: a forge's answer does not choose what is started here.
        if !(link.starts_with("https://") || link.starts_with("http://")) {
            return not("its link is no web address");
        }
        let link = link.to_owned();
        return Ok(match action {
            Action::Browse => {
                CommandOutcome::Do(Effect::OpenInBrowser(link.clone()), format!("opening {link}"))
            }
            _ => CommandOutcome::Do(Effect::CopyToClipboard(link.clone()), format!("copied {link}")),
        });
    }
    if action == Action::CopyPrompt {
        let threads = model.meant();
        let text = prompt::of(&model.pulls, &threads).ok_or("no finding is selected")?;
        let about = count(threads.len(), "finding", "findings");
        return Ok(CommandOutcome::Do(
            Effect::CopyToClipboard(text),
            format!("copied a prompt with {about}"),
        ));
    }
    let pull = model.concerned().ok_or("no pull request is selected")?;
    let (address, name) = (pull.address.clone(), &pull.name);
    let view: &PullRequestView = &pull.view;
    let phase = view.review_loop.as_ref().map(ReviewLoop::phase);
    let tell = |command| Effect::Tell(address.clone(), command);
    let ended = matches!(phase, Some(Phase::Ended(_)));
    match action {
        Action::Poll => Ok(CommandOutcome::Do(tell(LoopCommand::PollNow), format!("looking at {name} now"))),
        Action::Pause if ended => not("the loop has ended; there is nothing to pause"),
        Action::Pause if matches!(phase, Some(Phase::Paused(_))) => not("the loop is paused already"),
        Action::Pause => Ok(CommandOutcome::Do(tell(LoopCommand::Pause), format!("{name} is paused"))),
        Action::Resume if !matches!(phase, Some(Phase::Paused(_))) => not("the loop is not paused"),
        Action::Resume => Ok(CommandOutcome::Do(tell(LoopCommand::Resume), format!("{name} goes on"))),
        Action::Stop if ended => not("the loop has ended already"),
        Action::Stop => Ok(CommandOutcome::Ask(Confirmation {
            title: "Stop this loop?".to_owned(),
            texts: Vec::new(),
            scroll: 0,
            sentences: vec![
                format!(
                    "The loop on {name} ends for good: nothing is polled for, asked or dispatched there any more."
                ),
                "Its threads stay as they are on GitHub. Nothing is written there.".to_owned(),
            ],
            then: ConfirmedAction::Effect(tell(LoopCommand::Stop)),
        })),
        Action::GrantRound if !matches!(view.exit(), Some(Exit::RoundCap { .. })) => {
            not("the author's rounds are not spent; there is nothing to grant")
        }
        Action::GrantRound => Ok(CommandOutcome::Write(TextPrompt {
            title: format!("Grant {name} one more round"),
            sentences: vec![
                "The author's agent is dispatched once more, which costs money.".to_owned(),
                format!("It is recorded as granted by {}. Why?", model.by),
            ],
            long: false,
            then: TextPurpose::Grant(address.clone()),
        })),
        Action::RetryTask => {
            let row = model.selected_handoff().ok_or("no task is selected")?;
            let key = row.task_key.clone().ok_or("only a task that is stuck can be sent again")?;
            Ok(CommandOutcome::Ask(Confirmation {
                title: "Send this task again?".to_owned(),
                texts: Vec::new(),
                scroll: 0,
                sentences: vec![
                    format!("The task for {} about {} is sent once more.", row.target, row.path),
                    format!("It is stuck because: {}", row.reason),
                ],
                then: ConfirmedAction::Effect(tell(LoopCommand::RetryTask { key })),
            }))
        }
        _ => not("this does nothing here"),
    }
}

/// Only `y` agrees.
pub(super) fn answering(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Overlay::Ask(question) = &mut model.overlay else { return Vec::new() };
    match key.code {
        KeyCode::Char('y' | 'Y') => {}
        KeyCode::Esc | KeyCode::Char('n' | 'N') => {
            model.overlay = Overlay::None;
            model.notice = Some("nothing was done".to_owned());
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
    let Overlay::Ask(question) = std::mem::replace(&mut model.overlay, Overlay::None) else {
        return Vec::new();
    };
    match question.then {
        ConfirmedAction::Effect(effect) => vec![effect],
        ConfirmedAction::Proposal(proposal) => super::acting::carry_out(model, proposal),
    }
}
