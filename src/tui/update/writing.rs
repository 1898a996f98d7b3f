//! Text prompts: a reason of a line or two, or a reply of any length, typed here or in the person's own
//! editor.

use super::acting;
use crate::supervisor::LoopCommand;
use crate::tui::action::Action;
use crate::tui::dialog::{Overlay, TextPrompt, TextPurpose};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::theme::{TextMeaning, Theme};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

pub(super) fn empty_text_area(theme: Theme) -> TextArea<'static> {
    text_area(theme, "")
}

fn text_area(theme: Theme, text: &str) -> TextArea<'static> {
    let mut area = TextArea::new(text.lines().map(str::to_owned).collect());
    area.set_wrap_mode(WrapMode::Word);
    area.set_style(theme.style(TextMeaning::Plain));
    area.set_cursor_line_style(theme.style(TextMeaning::Plain));
    area.set_cursor_style(theme.style(TextMeaning::Selected));
    area.move_cursor(CursorMove::Bottom);
    area.move_cursor(CursorMove::End);
    area
}

pub(super) fn text(model: &Model) -> String {
    model.dialog.text.lines().join("\n").trim().to_owned()
}

/// A key while a text prompt is open. Every key goes into the text, except those that end it.
pub(super) fn key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Overlay::Write(TextPrompt { long, .. }) = &model.dialog.overlay else { return Vec::new() };
    let action = model.keymap.action(key.into());
    let plain_return = key.code == KeyCode::Enter && key.modifiers == KeyModifiers::NONE;
    if action == Some(Action::Submit) || (plain_return && !long) {
        return submit(model);
    }
    match (action, key.code) {
        (Some(Action::Editor), _) => vec![Effect::Edit(text(model))],
        (_, KeyCode::Esc) => {
            model.dialog.overlay = Overlay::None;
            model.notice = Some("Nothing was done.".to_owned());
            Vec::new()
        }
        _ => {
            model.dialog.text.input(key);
            Vec::new()
        }
    }
}

pub(super) fn pasted(model: &mut Model, text: &str) {
    model.dialog.text.insert_str(crate::output::sanitize::block(text));
}

/// Takes over the text from the person's editor.
pub(super) fn edited(model: &mut Model, outcome: Result<String, String>) {
    match outcome {
        Ok(text) => model.dialog.text = text_area(model.theme, &crate::output::sanitize::block(&text)),
        Err(why) => model.notice = Some(crate::tui::rows::line(&why)),
    }
}

fn submit(model: &mut Model) -> Vec<Effect> {
    let text = text(model);
    if text.is_empty() {
        model.notice = Some("Type a text first, or press esc to cancel.".to_owned());
        return Vec::new();
    }
    let Overlay::Write(prompt) = std::mem::replace(&mut model.dialog.overlay, Overlay::None) else {
        return Vec::new();
    };
    match prompt.then {
        TextPurpose::Reason(request) => acting::propose(model, request.with_reason(text)),
        TextPurpose::Grant(address) => {
            model.notice = Some(format!("{address} gets one more round."));
            vec![Effect::Tell(address, LoopCommand::GrantRound { by: model.by.clone(), why: text })]
        }
    }
}
