//! The inbox screen: everything that waits for a person, over all pull requests.

use super::table::{self, Cell, Column, TableView, cell};
use super::watch::severity_style;
use super::{paragraph, put, sign, since};
use crate::tui::model::{ListScreen, Model};
use crate::tui::rows::inbox::InboxRow;
use crate::tui::text::width;
use crate::tui::theme::TextMeaning;
use ratatui::Frame;
use ratatui::layout::Rect;

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    let rows = model.visible_inbox();
    let (list, words) = table::list_and_words(body);
    let name = rows.iter().map(|row| width(&row.pull)).max().unwrap_or(12).clamp(8, 24);
    let columns: &[Column] = match body.width {
        0..60 => &[("severity", 8), ("title", 0), ("kind", 10)],
        60..150 => &[("severity", 8), ("pull request", name), ("kind", 13), ("title", 0), ("age", 4)],
        _ => &[
            ("severity", 8),
            ("pull request", name),
            ("kind", 13),
            ("where", 24),
            ("title", 0),
            ("why", 52),
            ("age", 4),
        ],
    };
    let empty = if model.filter().text.is_empty() {
        "Nothing waits for you."
    } else {
        "No row matches the filter. esc clears it."
    };
    let selected = model.selected(ListScreen::Inbox);
    let signs = |index: usize| {
        let key = rows.get(index).and_then(|row| Some((row.address.clone(), row.thread.clone()?)));
        key.map_or((" ", TextMeaning::Plain), |key| sign(model, &key))
    };
    let table = TableView { columns, count: rows.len(), selected, focused: true, empty, signs: Some(&signs) };
    table::draw(frame, list, model, &table, |index| {
        rows.get(index)
            .map(|row| columns.iter().map(|(name, _)| row_cell(row, name, model)).collect())
            .unwrap_or_default()
    });
    if let Some(row) = rows.get(selected) {
        let theme = model.theme;
        let mut lines = vec![ratatui::text::Line::styled(
            "─".repeat(words.width as usize),
            theme.style(TextMeaning::Muted),
        )];
        lines.extend(paragraph(
            &format!("{} · {}", row.pull, row.title),
            words.width,
            theme.style(TextMeaning::Title),
        ));
        let place = if row.place.is_empty() { String::new() } else { format!(" · {}", row.place) };
        lines.extend(paragraph(
            &format!("{}{place}: {}", row.kind, row.why),
            words.width,
            theme.style(TextMeaning::Warning),
        ));
        let key = row.thread.clone().map(|thread| (row.address.clone(), thread));
        lines.extend(key.and_then(|key| super::problem(model, &key, words.width)).into_iter().flatten());
        put(frame, words, &lines);
    }
}

fn row_cell(row: &InboxRow, column: &str, model: &Model) -> Cell {
    let theme = model.theme;
    match column {
        "severity" => cell(row.severity_name(), severity_style(row.severity, theme)),
        "pull request" => cell(&row.pull, theme.style(TextMeaning::Plain)),
        "kind" => cell(row.kind, theme.style(TextMeaning::Warning)),
        "where" => cell(&row.place, theme.style(TextMeaning::Muted)),
        "title" => cell(&row.title, theme.style(TextMeaning::Plain)),
        "why" => cell(&row.why, theme.style(TextMeaning::Muted)),
        _ => cell(since(row.since, model), theme.style(TextMeaning::Muted)),
    }
}
