//! Draws the overlay on top of a screen: help, palette, questions, text prompts and menus.

use super::put;
use crate::tui::action::Action;
use crate::tui::dialog::{Confirmation, Menu, Overlay, TextPrompt};
use crate::tui::model::Model;
use crate::tui::rows;
use crate::tui::text::{cut, fit, wrap};
use crate::tui::theme::TextMeaning;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear};

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    match &model.dialog.overlay {
        Overlay::None | Overlay::Filter => {}
        Overlay::Help { scroll } => help(frame, body, model, *scroll),
        Overlay::Palette { query, selected } => palette(frame, body, model, query, *selected),
        Overlay::Working { what } => {
            let inside = window(frame, body, model, "One moment", 40, 1);
            let text = format!(" {what} esc: cancel");
            put(frame, inside, &[Line::styled(text, model.theme.style(TextMeaning::Muted))]);
        }
        Overlay::Ask(question) => ask(frame, body, model, question),
        Overlay::Write(prompt) => write(frame, body, model, prompt),
        Overlay::Menu(menu) => pick(frame, body, model, menu),
    }
}

/// A window in the middle of the body; returns its inner area.
fn window(frame: &mut Frame<'_>, body: Rect, model: &Model, title: &str, width: u16, height: u16) -> Rect {
    let (width, height) = ((width + 2).min(body.width), (height + 2).min(body.height));
    let area =
        Rect { x: body.x + (body.width - width) / 2, y: body.y + (body.height - height) / 2, width, height };
    frame.render_widget(Clear, area);
    let block = Block::bordered()
        .title(format!(" {title} "))
        .style(model.theme.style(TextMeaning::Plain))
        .border_style(model.theme.style(TextMeaning::Heading));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    inside
}

/// Built from the bindings, so it always names the right keys.
fn help(frame: &mut Frame<'_>, body: Rect, model: &Model, scroll: usize) {
    let theme = model.theme;
    let works = Action::all().filter(|action| action.works_on(&model.screen));
    let lines: Vec<Line<'static>> = works
        .map(|action| {
            let keys = model.keymap.keys(action).join(" ");
            Line::from(vec![
                Span::styled(fit(&format!(" {keys}"), 14), theme.style(TextMeaning::Key)),
                Span::styled(fit(&action.name().replace('_', " "), 17), theme.style(TextMeaning::Plain)),
                Span::styled(action.meaning(), theme.style(TextMeaning::Muted)),
            ])
        })
        .collect();
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let inside =
        window(frame, body, model, "Keys of this screen (j k scroll, any other key closes)", 80, height);
    let from = scroll.min(lines.len().saturating_sub(inside.height as usize));
    put(frame, inside, &lines[from..]);
}

fn palette(frame: &mut Frame<'_>, body: Rect, model: &Model, query: &str, selected: usize) {
    let theme = model.theme;
    let found = model.palette(query);
    let inside = window(frame, body, model, "Commands", 74, 16);
    let mut lines = vec![Line::styled(format!(" :{}▏", rows::line(query)), theme.style(TextMeaning::Key))];
    let room = inside.height.saturating_sub(1);
    let from = super::table::first(found.len(), selected, room);
    for (index, action) in found.iter().enumerate().skip(from) {
        let mark = if index == selected { "›" } else { " " };
        let text =
            format!("{mark}{} {}", fit(&action.name().replace('_', " "), 16), fit(action.meaning(), 48));
        let style = theme.style(if index == selected { TextMeaning::Selected } else { TextMeaning::Plain });
        let key = Span::styled(format!(" {}", model.keymap.key(*action)), theme.style(TextMeaning::Key));
        lines.push(Line::from(vec![Span::styled(text, style), key]));
    }
    if found.is_empty() {
        lines.push(Line::styled(" no command matches", theme.style(TextMeaning::Muted)));
    }
    put(frame, inside, &lines);
}

/// An upper bound for the lines of a question in the narrowest window, where scrolling ends.
pub(crate) fn question_lines(question: &Confirmation) -> usize {
    let wrapped = |text: &str| text.len() / 10 + text.lines().count() + 1;
    question.sentences.iter().chain(&question.texts).map(|text| wrapped(text)).sum()
}

fn ask(frame: &mut Frame<'_>, body: Rect, model: &Model, question: &Confirmation) {
    let theme = model.theme;
    let width = body.width.saturating_sub(4).min(84);
    let room = (width as usize).saturating_sub(2);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for sentence in &question.sentences {
        lines.extend(wrap(sentence, room).into_iter().map(|text| Line::raw(format!(" {text}"))));
    }
    let quoted = theme.style(TextMeaning::Quote);
    for text in &question.texts {
        lines.push(Line::default());
        for part in text.lines() {
            lines.extend(
                wrap(part, room.saturating_sub(2))
                    .into_iter()
                    .map(|text| Line::styled(format!(" │ {text}"), quoted)),
            );
        }
    }
    let keys = " y yes   n or esc no";
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
    let inside = window(frame, body, model, &question.title, width, height);
    // The keys are always visible; the text scrolls.
    let shown = (inside.height as usize).saturating_sub(2);
    let from = question.scroll.min(lines.len().saturating_sub(shown));
    let more = lines.len().saturating_sub(from + shown);
    let mut visible: Vec<Line<'static>> = lines.into_iter().skip(from).take(shown).collect();
    let rest =
        if more > 0 || from > 0 { format!("   ↓↑ scroll, {more} more lines") } else { String::new() };
    visible.push(Line::default());
    visible.push(Line::styled(
        cut(&format!("{keys}{rest}"), inside.width as usize),
        theme.style(TextMeaning::Muted),
    ));
    let keep = visible.len().saturating_sub(inside.height as usize);
    put(frame, inside, &visible[keep..]);
}

/// A text area, with what will happen to the text above it.
fn write(frame: &mut Frame<'_>, body: Rect, model: &Model, prompt: &TextPrompt) {
    let theme = model.theme;
    let width = body.width.saturating_sub(4).min(if prompt.long { 100 } else { 76 });
    let room = (width as usize).saturating_sub(2);
    let sentences = prompt.sentences.iter().flat_map(|sentence| wrap(sentence, room));
    let above: Vec<Line<'static>> = sentences.map(|text| Line::raw(format!(" {text}"))).collect();
    let rows: u16 = if prompt.long { 12 } else { 3 };
    let words = u16::try_from(above.len()).unwrap_or(u16::MAX);
    let inside = window(frame, body, model, &prompt.title, width, words.saturating_add(rows + 1));
    // With little room, the text area comes before the words.
    let words = words.min(inside.height.saturating_sub(rows.min(2) + 1));
    let parts = [Constraint::Length(words), Constraint::Min(0), Constraint::Length(1)];
    let [head, text, foot] = Layout::vertical(parts).areas(inside);
    put(frame, head, &above);
    let text = Rect { x: text.x + 1.min(text.width), width: text.width.saturating_sub(2), ..text };
    if !text.is_empty() {
        frame.render_widget(&model.dialog.text, text);
    }
    let submit = model.keymap.key(Action::Submit);
    let editor = model.keymap.key(Action::Editor);
    let keys = if prompt.long {
        format!(" {submit} continue   {editor} your editor   esc cancel")
    } else {
        format!(" ⏎ continue   alt-⏎ new line   {editor} your editor   esc cancel")
    };
    put(frame, foot, &[Line::styled(cut(&keys, foot.width as usize), theme.style(TextMeaning::Muted))]);
}

fn pick(frame: &mut Frame<'_>, body: Rect, model: &Model, menu: &Menu) {
    let theme = model.theme;
    let width = body.width.saturating_sub(4).min(84);
    let room = (width as usize).saturating_sub(5);
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut first = 0;
    for (index, entry) in menu.entries.iter().enumerate() {
        let is_selected = index == menu.selected;
        if is_selected {
            first = lines.len();
        }
        let mark = if is_selected { "›" } else { " " };
        let style = theme.style(if is_selected { TextMeaning::Selected } else { TextMeaning::Plain });
        let key = Span::styled(format!("{mark}{} ", index + 1), theme.style(TextMeaning::Key));
        lines.push(Line::from(vec![key, Span::styled(cut(&entry.name, room), style)]));
        let meaning = wrap(&entry.meaning, room).into_iter();
        lines.extend(meaning.map(|text| Line::styled(format!("   {text}"), theme.style(TextMeaning::Muted))));
    }
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(1);
    let inside = window(frame, body, model, &menu.title, width, height);
    let shown = (inside.height as usize).saturating_sub(1);
    let from = if lines.len() > shown { first.min(lines.len() - shown) } else { 0 };
    let mut visible: Vec<Line<'static>> = lines.into_iter().skip(from).take(shown).collect();
    visible.push(Line::styled(" ⏎ or number: choose   esc: cancel", theme.style(TextMeaning::Muted)));
    put(frame, inside, &visible);
}
