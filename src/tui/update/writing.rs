//! Writing a text: a reason in a line or two, or a reply of any length, here or in the person's own editor.

use super::acting;
use crate::supervisor::LoopCommand;
use crate::tui::action::Action;
use crate::tui::dialog::{Overlay, TextPrompt, TextPurpose};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::theme::{TextMeaning, Theme};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::{CursorMove, TextArea, WrapMode};

/// An empty text area.
pub(super) fn area(theme: Theme) -> TextArea<'static> {
    filled(theme, "")
}

fn filled(theme: Theme, text: &str) -> TextArea<'static> {
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
    model.text.lines().join("\n").trim().to_owned()
}

/// A key while a text is written: everything goes into the text, but what ends it.
pub(super) fn key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    let Overlay::Write(TextPrompt { long, .. }) = &model.overlay else { return Vec::new() };
    let called = model.keymap.action(key.into());
    let plain_return = key.code == KeyCode::Enter && key.modifiers == KeyModifiers::NONE;
    if called == Some(Action::Submit) || (plain_return && !long) {
        return submit(model);
    }
    match (called, key.code) {
        (Some(Action::Editor), _) => vec![Effect::Edit(text(model))],
        (_, KeyCode::Esc) => {
            // A long text is not lost to one wrong key: it is there again when the next one is written.
            model.overlay = Overlay::None;
            model.notice = Some("nothing was done".to_owned());
            Vec::new()
        }
        _ => {
            model.text.input(key);
            Vec::new()
        }
    }
}

pub(super) fn pasted(model: &mut Model, text: &str) {
    model.text.insert_str(crate::output::sanitize::block(text));
}

/// What the person's own editor left takes the text's place.
pub(super) fn edited(model: &mut Model, outcome: Result<String, String>) {
    match outcome {
        Ok(text) => model.text = filled(model.theme, &crate::output::sanitize::block(&text)),
        Err(why) => model.notice = Some(crate::tui::rows::line(&why)),
    }
}

fn submit(model: &mut Model) -> Vec<Effect> {
    let text = text(model);
    if text.is_empty() {
        model.notice = Some("there is no text yet; esc leaves without one".to_owned());
        return Vec::new();
    }
    let Overlay::Write(writing) = std::mem::replace(&mut model.overlay, Overlay::None) else {
        return Vec::new();
    };
    match writing.then {
        TextPurpose::Order(order) => acting::propose(model, order.with_reason(text)),
        TextPurpose::Grant(address) => {
            model.notice = Some(format!("{address} gets one more round"));
            vec![Effect::Tell(address, LoopCommand::GrantRound { by: model.by.clone(), why: text })]
        }
    }
}
