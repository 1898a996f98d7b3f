//! The journal screen: every decision with its author and reason, and the page of one record.

use super::table::{self, Cell, Column, TableView, cell};
use super::{paragraph, put};
use crate::tui::model::{ListScreen, Model};
use crate::tui::rows::journal::JournalRow;
use crate::tui::text::cut;
use crate::tui::theme::TextMeaning;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    let rows = model.visible_records();
    let (list, words) = table::list_and_words(body);
    let columns: &[Column] = match body.width {
        0..60 => &[("time", 8), ("kind", 12), ("why", 0)],
        60..110 => &[("time", 8), ("about", 16), ("kind", 14), ("why", 0)],
        _ => &[("time", 19), ("about", 22), ("by", 20), ("kind", 18), ("why", 0)],
    };
    let empty = if model.filter().text.is_empty() {
        "The journal is empty."
    } else {
        "No row matches the filter. esc clears it."
    };
    let selected = model.selected(ListScreen::Journal);
    let table = TableView { columns, count: rows.len(), selected, focused: true, empty, signs: None };
    table::draw(frame, list, model, &table, |index| {
        rows.get(index)
            .map(|row| columns.iter().map(|(name, wide)| row_cell(row, name, *wide, model)).collect())
            .unwrap_or_default()
    });
    if let Some(row) = rows.get(selected) {
        let theme = model.theme;
        let mut lines = vec![Line::styled("─".repeat(words.width as usize), theme.style(TextMeaning::Muted))];
        lines.extend(paragraph(
            &format!("{} by {} on {}", row.kind, row.by, row.about),
            words.width,
            theme.style(TextMeaning::Title),
        ));
        lines.extend(paragraph(&row.why, words.width, theme.style(TextMeaning::Plain)));
        put(frame, words, &lines);
    }
}

fn row_cell(row: &JournalRow, column: &str, wide: usize, model: &Model) -> Cell {
    let theme = model.theme;
    let time = row.at.strftime(if wide < 19 { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" }).to_string();
    match column {
        "time" => cell(time, theme.style(TextMeaning::Muted)),
        "about" => cell(&row.about, theme.style(TextMeaning::Plain)),
        "by" => cell(&row.by, theme.style(TextMeaning::Muted)),
        "kind" => cell(&row.kind, theme.style(TextMeaning::Busy)),
        _ => cell(&row.why, theme.style(TextMeaning::Plain)),
    }
}

/// The page of one record.
pub(super) fn page(model: &Model, seq: u64, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let Some(row) = model.data.records.iter().find(|row| row.seq == seq) else {
        return paragraph(
            "This record is too old for the screen. `cloture journal` prints it.",
            columns,
            theme.style(TextMeaning::Muted),
        );
    };
    let (plain, muted) = (theme.style(TextMeaning::Plain), theme.style(TextMeaning::Muted));
    let mut lines =
        paragraph(&format!("#{} {}", row.seq, row.kind), columns, theme.style(TextMeaning::Title));
    lines.extend(paragraph(&format!("{:.0} (UTC) · {} · by {}", row.at, row.about, row.by), columns, muted));
    if !row.why.is_empty() {
        lines.extend(paragraph(&row.why, columns, plain));
    }
    if let Some(key) = &row.key {
        lines.extend(paragraph(&format!("idempotency key {key}"), columns, muted));
    }
    lines.push(Line::default());
    let body = row.body.lines().map(|text| Line::styled(cut(&format!(" {text}"), columns as usize), plain));
    lines.extend(body);
    lines
}
