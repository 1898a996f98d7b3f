//! Tables: narrowed to the available width, or shown as a list if that is unreadable.

use crate::tui::text::{fit, width, wrap};
use crate::tui::theme::{TextMeaning, Theme};
use ratatui::style::Style;
use ratatui::text::Span;

#[derive(Debug, Default)]
pub(super) struct MarkdownTable {
    /// The first row is the heading.
    rows: Vec<Vec<String>>,
}

/// A narrower column is unreadable.
const NARROWEST: usize = 6;

/// The separator of two columns.
const BETWEEN: &str = " │ ";

impl MarkdownTable {
    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self, text: &str) {
        if let Some(row) = self.rows.last_mut() {
            row.push(text.trim().to_owned());
        }
    }

    pub(super) fn lines(self, columns: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
        let count = self.rows.first().map_or(0, Vec::len);
        let room = columns.saturating_sub(count.saturating_sub(1) * width(BETWEEN));
        if count == 0 {
            return Vec::new();
        }
        if room < count * NARROWEST {
            return self.listed(columns, theme);
        }
        let widths = self.widths(count, room);
        let muted = theme.style(TextMeaning::Muted);
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let style = if index == 0 { theme.style(TextMeaning::Heading) } else { Style::default() };
            let empty = String::new();
            let cells: Vec<Vec<String>> = widths
                .iter()
                .enumerate()
                .map(|(at, wide)| wrap(row.get(at).unwrap_or(&empty), *wide))
                .collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut spans = Vec::new();
                for (at, (cell, wide)) in cells.iter().zip(&widths).enumerate() {
                    if at > 0 {
                        spans.push(Span::styled(BETWEEN, muted));
                    }
                    let text = cell.get(line).map_or("", String::as_str);
                    spans.push(Span::styled(fit(text, *wide), style));
                }
                lines.push(spans);
            }
            if index == 0 {
                let rule = widths.iter().map(|wide| "─".repeat(*wide)).collect::<Vec<_>>().join("─┼─");
                lines.push(vec![Span::styled(rule, muted)]);
            }
        }
        lines
    }

    /// Each column is as wide as its widest cell. If that is too wide, the widest columns shrink.
    fn widths(&self, count: usize, room: usize) -> Vec<usize> {
        let widest =
            |at: usize| self.rows.iter().filter_map(|row| row.get(at)).map(|text: &String| width(text)).max();
        let mut widths: Vec<usize> = (0..count).map(|at| widest(at).unwrap_or(0).max(1)).collect();
        // Limit every column to the full width first, so that few steps are left.
        for wide in &mut widths {
            *wide = (*wide).min(room);
        }
        while widths.iter().sum::<usize>() > room {
            let Some(most) = widths.iter_mut().max() else { break };
            *most = most.saturating_sub(1).max(1);
        }
        widths
    }

    fn listed(self, columns: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
        let mut rows = self.rows.into_iter();
        let heading = rows.next().unwrap_or_default();
        let mut lines = Vec::new();
        for row in rows {
            for (at, text) in row.iter().enumerate() {
                let name = heading.get(at).map_or("", String::as_str);
                let lead = if at == 0 { "• " } else { "  " };
                for (index, part) in
                    wrap(&format!("{name}: {text}"), columns.saturating_sub(2)).into_iter().enumerate()
                {
                    let lead = if index == 0 { lead } else { "  " };
                    lines.push(vec![Span::styled(lead, theme.style(TextMeaning::Muted)), Span::raw(part)]);
                }
            }
        }
        lines
    }
}
