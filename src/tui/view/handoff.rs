//! The handoff screen: tasks for coding agents, and findings that stay, with the reason.

use super::table::{self, Cell, Column, TableView, cell};
use super::{paragraph, put};
use crate::tui::model::{ListScreen, Model};
use crate::tui::rows::handoff::{HandoffRow, HandoffStage};
use crate::tui::text::{count, width};
use crate::tui::theme::TextMeaning;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    let rows = model.visible_handoff();
    let (list, words) = table::list_and_words(body);
    let name = rows.iter().map(|row| width(&row.pull)).max().unwrap_or(12).clamp(8, 24);
    let columns: &[Column] = match body.width {
        0..60 => &[("status", 8), ("where", 12), ("findings", 0)],
        60..150 => &[("status", 8), ("pull request", name), ("where", 20), ("findings", 0)],
        _ => &[
            ("status", 8),
            ("pull request", name),
            ("target", 14),
            ("where", 24),
            ("findings", 0),
            ("why", 56),
        ],
    };
    let empty = if model.filter().text.is_empty() {
        "No finding is queued for handoff, and none was handed off."
    } else {
        "No row matches the filter. esc clears it."
    };
    let selected = model.selected(ListScreen::Handoff);
    let table = TableView { columns, count: rows.len(), selected, focused: true, empty, signs: None };
    table::draw(frame, list, model, &table, |index| {
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
        "status" => cell(row.stage.name(), theme.style(meaning(row.stage))),
        "pull request" => cell(&row.pull, theme.style(TextMeaning::Plain)),
        "target" => cell(&row.target, theme.style(TextMeaning::Plain)),
        "where" => cell(&row.path, theme.style(TextMeaning::Muted)),
        "findings" => cell(row.findings.join(" · "), theme.style(TextMeaning::Plain)),
        _ => cell(&row.reason, theme.style(TextMeaning::Muted)),
    }
}

fn meaning(stage: HandoffStage) -> TextMeaning {
    match stage {
        HandoffStage::Stuck => TextMeaning::Alert,
        HandoffStage::Retrying => TextMeaning::Warning,
        HandoffStage::AtMerge => TextMeaning::Busy,
        HandoffStage::Sent => TextMeaning::Good,
        HandoffStage::Not => TextMeaning::Muted,
    }
}

fn words_about(row: &HandoffRow, model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let task = count(row.findings.len(), "finding", "findings");
    let what = match row.stage {
        HandoffStage::AtMerge => {
            format!("When {} merges: one task for {} about {} with {task}", row.pull, row.target, row.path)
        }
        HandoffStage::Not => format!("{} stays: no coding agent gets it", row.path),
        HandoffStage::Stuck | HandoffStage::Retrying | HandoffStage::Sent => {
            let until = row.until.map(|until| until.duration_since(model.now).as_secs().max(0));
            let until = until.map_or_else(String::new, |left| format!(", next try in {left}s"));
            format!("Task for {} about {} with {task}: {}{until}", row.target, row.path, row.stage.name())
        }
    };
    let mut lines = vec![Line::styled("─".repeat(columns as usize), theme.style(TextMeaning::Muted))];
    lines.extend(paragraph(&what, columns, theme.style(meaning(row.stage))));
    lines.extend(paragraph(&row.reason, columns, theme.style(TextMeaning::Plain)));
    lines.extend(paragraph(&row.findings.join(" · "), columns, theme.style(TextMeaning::Muted)));
    lines
}
