//! Rows in columns, and lists that show the row with the cursor.

use crate::tui::model::Model;
use crate::tui::text::{fit, width};
use crate::tui::theme::Meaning;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A column: its heading, and its width, where 0 takes what is left.
pub(super) type Column = (&'static str, usize);

/// A cell: its text and how it looks.
pub(super) type Cell = (String, Style);

/// The first row that is shown, so that the one with the cursor is, too.
pub(super) fn first(count: usize, selected: usize, height: u16) -> usize {
    let height = height as usize;
    if count <= height { 0 } else { selected.saturating_sub(height / 2).min(count - height) }
}

/// Where a list is on a screen that is a list with words about the selected row below.
pub(super) fn list_area(body: Rect) -> Rect {
    list_and_words(body).0
}

pub(super) fn list_and_words(body: Rect) -> (Rect, Rect) {
    let words = if body.height >= 12 { 5 } else { 0 };
    let [list, words] = Layout::vertical([Constraint::Min(0), Constraint::Length(words)]).areas(body);
    (list, words)
}

/// The widths in force, the flexible one filled in.
fn widths(columns: &[Column], room: usize) -> Vec<usize> {
    let fixed: usize = columns.iter().map(|(_, wide)| wide + 1).sum();
    let left = room.saturating_sub(fixed + 1);
    columns.iter().map(|(_, wide)| if *wide == 0 { left } else { *wide }).collect()
}

pub(super) struct List<'a> {
    pub(super) columns: &'a [Column],
    pub(super) count: usize,
    pub(super) selected: usize,
    /// Whether the keyboard is here.
    pub(super) focused: bool,
    /// What is said where there are no rows.
    pub(super) empty: &'a str,
}

/// Draws a heading and the rows that fit; only those are made.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    list: &List<'_>,
    row: impl Fn(usize) -> Vec<Cell>,
) {
    let theme = model.theme;
    let List { columns, count, selected, focused, empty } = *list;
    let widths = widths(columns, area.width as usize);
    let heading =
        columns.iter().zip(&widths).map(|((name, _), wide)| (fit(name, *wide), theme.style(Meaning::Muted)));
    let mut lines = vec![joined(" ", heading.collect())];
    if count == 0 {
        lines.extend(super::paragraph(empty, area.width, theme.style(Meaning::Muted)));
    }
    let from = first(count, selected, area.height.saturating_sub(1));
    for index in (from..count).take(area.height.saturating_sub(1) as usize) {
        let is_selected = index == selected;
        let cells =
            row(index).into_iter().zip(&widths).map(|((text, style), wide)| (fit(&text, *wide), style));
        let mut line = joined(if is_selected { "›" } else { " " }, cells.collect());
        if is_selected {
            let meaning = if focused { Meaning::Selected } else { Meaning::SelectedElsewhere };
            line = line.patch_style(theme.style(meaning));
        }
        lines.push(line);
    }
    super::put(frame, area, &lines);
}

fn joined(lead: &'static str, cells: Vec<Cell>) -> Line<'static> {
    let mut spans = vec![Span::raw(lead)];
    for (text, style) in cells {
        if width(&text) > 0 {
            spans.push(Span::styled(text, style));
            spans.push(Span::raw(" "));
        }
    }
    Line::from(spans)
}
