//! What goes to coding agents, what was sent, and why not the rest.

use super::table::{self, Cell, Column, List as Listed, cell};
use super::{paragraph, put};
use crate::tui::model::{List, Model};
use crate::tui::rows::handoff::{Going, HandoffRow};
use crate::tui::text::{count, width};
use crate::tui::theme::Meaning;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    let rows = model.visible_handoff();
    let (list, words) = table::list_and_words(body);
    let name = rows.iter().map(|row| width(&row.pull)).max().unwrap_or(12).clamp(8, 24);
    let columns: &[Column] = match body.width {
        0..60 => &[("goes", 8), ("where", 12), ("findings", 0)],
        60..150 => &[("goes", 8), ("pull request", name), ("where", 20), ("findings", 0)],
        _ => &[
            ("goes", 8),
            ("pull request", name),
            ("target", 14),
            ("where", 24),
            ("findings", 0),
            ("why", 56),
        ],
    };
    let empty = if model.finding().filter.is_empty() {
        "Nothing is to be handed off, and nothing was."
    } else {
        "Nothing matches the filter; esc drops it."
    };
    let selected = model.selected(List::Handoff);
    let listed = Listed { columns, count: rows.len(), selected, focused: true, empty, signs: None };
    table::draw(frame, list, model, &listed, |index| {
        rows.get(index)
            .map(|row| columns.iter().map(|(name, _)| row_cell(row, name, model)).collect())
            .unwrap_or_default()
    });
    if let Some(row) = rows.get(selected) {
        put(frame, words, &words_about(row, model, words.width));
    }
}

fn row_cell(row: &HandoffRow, column: &str, model: &Model) -> Cell {
    let theme = model.theme;
    match column {
        "goes" => cell(row.going.name(), theme.style(meaning(row.going))),
        "pull request" => cell(&row.pull, theme.style(Meaning::Plain)),
        "target" => cell(&row.target, theme.style(Meaning::Plain)),
        "where" => cell(&row.path, theme.style(Meaning::Muted)),
        "findings" => cell(row.findings.join(" · "), theme.style(Meaning::Plain)),
        _ => cell(&row.reason, theme.style(Meaning::Muted)),
    }
}

fn meaning(going: Going) -> Meaning {
    match going {
        Going::Stuck => Meaning::Alert,
        Going::Retrying => Meaning::Warning,
        Going::AtMerge => Meaning::Busy,
        Going::Sent => Meaning::Good,
        Going::Not => Meaning::Muted,
    }
}

fn words_about(row: &HandoffRow, model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let task = count(row.findings.len(), "finding", "findings");
    let what = match row.going {
        Going::AtMerge => {
            format!("{} merges → one task for {} about {} with {task}", row.pull, row.target, row.path)
        }
        Going::Not => format!("{} stays where it is", row.path),
        Going::Stuck | Going::Retrying | Going::Sent => {
            let until = row.until.map(|until| until.duration_since(model.now).as_secs().max(0));
            let until = until.map_or_else(String::new, |left| format!(", again in {left}s"));
            format!("task for {} about {} with {task}: {}{until}", row.target, row.path, row.going.name())
        }
    };
    let mut lines = vec![Line::styled("─".repeat(columns as usize), theme.style(Meaning::Muted))];
    lines.extend(paragraph(&what, columns, theme.style(meaning(row.going))));
    lines.extend(paragraph(&row.reason, columns, theme.style(Meaning::Plain)));
    lines.extend(paragraph(&row.findings.join(" · "), columns, theme.style(Meaning::Muted)));
    lines
}
