//! Tables: rows in columns, scrolled so that the row with the cursor is visible.

use crate::tui::model::Model;
use crate::tui::text::{cut, fit, width};
use crate::tui::theme::TextMeaning;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A column: its heading and its width; 0 takes the remaining width.
pub(super) type Column = (&'static str, usize);

/// A cell: pieces of text with their styles.
pub(super) type Cell = Vec<(String, Style)>;

/// A cell in one style.
pub(super) fn cell(text: impl Into<String>, style: Style) -> Cell {
    vec![(text.into(), style)]
}

/// The sign between the cursor and a row, one column wide.
pub(super) type RowMarkers<'a> = &'a dyn Fn(usize) -> (&'static str, TextMeaning);

/// The first visible row, chosen so that the selected one is visible.
pub(super) fn first(count: usize, selected: usize, height: u16) -> usize {
    let height = height as usize;
    if count <= height { 0 } else { selected.saturating_sub(height / 2).min(count - height) }
}

/// The area of the list on a screen with words about the selected row below it.
pub(super) fn list_area(body: Rect) -> Rect {
    list_and_words(body).0
}

pub(super) fn list_and_words(body: Rect) -> (Rect, Rect) {
    let words = if body.height >= 12 { 5 } else { 0 };
    let [list, words] = Layout::vertical([Constraint::Min(0), Constraint::Length(words)]).areas(body);
    (list, words)
}

/// The widths of all columns, the flexible one filled in.
fn widths(columns: &[Column], room: usize) -> Vec<usize> {
    let fixed: usize = columns.iter().map(|(_, wide)| wide + 1).sum();
    let left = room.saturating_sub(fixed + 1);
    columns.iter().map(|(_, wide)| if *wide == 0 { left } else { *wide }).collect()
}

pub(super) struct TableView<'a> {
    pub(super) columns: &'a [Column],
    pub(super) count: usize,
    pub(super) selected: usize,
    /// Whether this list has the keyboard.
    pub(super) focused: bool,
    /// The text if there are no rows.
    pub(super) empty: &'a str,
    /// None if the rows have no signs.
    pub(super) signs: Option<RowMarkers<'a>>,
}

/// Draws a heading and the visible rows. Only those are built.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    list: &TableView<'_>,
    row: impl Fn(usize) -> Vec<Cell>,
) {
    let theme = model.theme;
    let TableView { columns, count, selected, focused, empty, signs } = *list;
    let lead = if signs.is_some() { 2 } else { 1 };
    let widths = widths(columns, (area.width as usize + 1).saturating_sub(lead));
    let heading = columns
        .iter()
        .zip(&widths)
        .map(|((name, _), wide)| fitted(cell(*name, theme.style(TextMeaning::Muted)), *wide));
    let mut lines = vec![joined(vec![Span::raw(" ".repeat(lead))], heading)];
    if count == 0 {
        lines.extend(super::paragraph(empty, area.width, theme.style(TextMeaning::Muted)));
    }
    let from = first(count, selected, area.height.saturating_sub(1));
    for index in (from..count).take(area.height.saturating_sub(1) as usize) {
        let is_selected = index == selected;
        let mut lead = vec![Span::raw(if is_selected { "›" } else { " " })];
        if let Some(signs) = signs {
            let (sign, meaning) = signs(index);
            lead.push(Span::styled(sign, theme.style(meaning)));
        }
        let cells = row(index).into_iter().zip(&widths).map(|(cell, wide)| fitted(cell, *wide));
        let mut line = joined(lead, cells);
        if is_selected {
            let meaning = if focused { TextMeaning::Selected } else { TextMeaning::SelectedElsewhere };
            line = line.patch_style(theme.style(meaning));
        }
        lines.push(line);
    }
    super::put(frame, area, &lines);
}

/// Cuts or pads a cell to this width.
fn fitted(cell: Cell, columns: usize) -> Cell {
    let whole: usize = cell.iter().map(|(text, _)| width(text)).sum();
    if let [(text, style)] = cell.as_slice() {
        return vec![(fit(text, columns), *style)];
    }
    let mut room = columns;
    let mut pieces: Cell = Vec::new();
    for (text, style) in cell {
        let text = cut(&text, room);
        room -= width(&text);
        pieces.push((text, style));
    }
    pieces.push((" ".repeat(columns.saturating_sub(whole.min(columns))), Style::default()));
    pieces
}

fn joined(lead: Vec<Span<'static>>, cells: impl Iterator<Item = Cell>) -> Line<'static> {
    let mut spans = lead;
    for cell in cells {
        let before = spans.len();
        spans.extend(
            cell.into_iter()
                .filter(|(text, _)| !text.is_empty())
                .map(|(text, style)| Span::styled(text, style)),
        );
        if spans.len() > before {
            spans.push(Span::raw(" "));
        }
    }
    Line::from(spans)
}
