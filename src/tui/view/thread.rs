//! The page of one thread: its state in words, its code, and all comments.
//!
//! ```text
//! │ title                                              │
//! │ severity · place · reviewer · status, whose turn   │  does not scroll, if there is room
//! │ stance, rounds, what is legal, and why             │
//! │ ── code, 4 comments ─────────────── comment 2 of 4 │
//! │ the code, and its changes since                    │
//! │ ── who (role) · intent · age                       │  scrolls
//! │    the comment                                     │
//! ```

use super::watch::{actions, rounds, severity_style, stance, status_style};
use super::{paragraph, put, since};
use crate::tui::action::Action;
use crate::tui::highlight::Highlighter;
use crate::tui::markdown::{MarkdownLines, code_rows};
use crate::tui::model::Model;
use crate::tui::rows::page::{CodeHunk, CodeLine, PostedText, ThreadScreenPage};
use crate::tui::rows::thread::{ThreadRow, WhoseTurn};
use crate::tui::text::{count, cut, width};
use crate::tui::theme::{TextMeaning, Theme};
use crate::tui::thread_reading::{FIRST_COMMENT, PageItem, ThreadReading};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

/// The lines of a folded hunk. The end is shown, because the comment is about it.
const HUNK_LINES: usize = 12;

/// The header stays above the comments only if they keep this many rows.
const ROOM: u16 = 10;

/// Lays out the visible part after every message, so that drawing is fast.
pub(super) fn prepare(model: &mut Model, body: Rect) {
    let mut reading = std::mem::take(&mut model.page.reading);
    if reading.refresh(model, body.width) {
        let (_, page) = areas(model, body);
        reading.lay_out_visible(model, page.height as usize);
    }
    model.page.reading = reading;
}

pub(super) fn step(model: &mut Model, body: Rect, by: isize) {
    let mut reading = std::mem::take(&mut model.page.reading);
    if reading.refresh(model, body.width) {
        let (_, page) = areas(model, body);
        reading.step(model, by, page.height as usize);
    }
    model.page.reading = reading;
}

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    let mut reading = model.page.reading.clone();
    if !reading.refresh(model, body.width) {
        let text = "This thread is gone. esc goes back.";
        return put(frame, body, &paragraph(text, body.width, model.theme.style(TextMeaning::Muted)));
    }
    let (above, page) = areas(model, body);
    if !above.is_empty() {
        let mut lines = header(model, above.width);
        lines.push(separator(model, &mut reading, page));
        put(frame, above, &lines);
    }
    let mut lines = Vec::with_capacity(page.height as usize);
    let at = reading.at;
    for item in at.item..reading.count() {
        if lines.len() >= page.height as usize {
            break;
        }
        let shown = reading.item(model, item);
        let skipped = if item == at.item { at.line } else { 0 };
        lines.extend(item_lines(&shown, model, page.width).skip(skipped).take(page.height as usize));
    }
    put(frame, page, &lines);
}

/// The header with its separator, and the part that scrolls. The header is empty if it has no room.
fn areas(model: &Model, body: Rect) -> (Rect, Rect) {
    let needed = u16::try_from(header(model, body.width).len() + 1).unwrap_or(u16::MAX);
    let above = if needed.saturating_add(ROOM) <= body.height { needed } else { 0 };
    let [above, page] = Layout::vertical([Constraint::Length(above), Constraint::Min(0)]).areas(body);
    (above, page)
}

fn item_lines(item: &PageItem, model: &Model, columns: u16) -> impl Iterator<Item = Line<'static>> {
    let heading = item
        .comment
        .as_ref()
        .map(|comment| [Line::default(), heading(comment, item.laid.folded, model, columns)]);
    heading.into_iter().flatten().chain(item.laid.lines.clone().into_iter().map(|mut line| {
        if !line.spans.is_empty() {
            line.spans.insert(0, Span::raw("   "));
        }
        line
    }))
}

/// The number of comments, and the scroll position.
fn separator(model: &Model, reading: &mut ThreadReading, page: Rect) -> Line<'static> {
    let comments = reading.page().map_or(0, ThreadScreenPage::len);
    let at = reading.at;
    let fits = reading.fits(model, page.height as usize);
    let left = format!("── {} ", count(comments, "comment", "comments"));
    let right = match at.item {
        _ if fits => String::new(),
        0..FIRST_COMMENT => " the code ─".to_owned(),
        item => format!(" comment {} of {comments} ─", item - FIRST_COMMENT + 1),
    };
    let fill = (page.width as usize).saturating_sub(width(&left) + width(&right));
    Line::styled(format!("{left}{}{right}", "─".repeat(fill)), model.theme.style(TextMeaning::Muted))
}

/// The header as the first item that scrolls, if it has no room above.
pub(in crate::tui) fn header_in_page(model: &Model, columns: u16) -> MarkdownLines {
    let area = super::areas(model, super::whole(model)).body;
    let sticks = !areas(model, Rect { width: columns, ..area }).0.is_empty();
    MarkdownLines { lines: if sticks { Vec::new() } else { header(model, columns) }, folded: 0 }
}

fn header(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let Some((pull, row)) = model.open_thread() else { return Vec::new() };
    let theme = model.theme;
    let room = columns as usize;
    let muted = theme.style(TextMeaning::Muted);
    let mut lines =
        vec![Line::styled(cut(&format!(" {}", row.title), room), theme.style(TextMeaning::Title))];
    let severity = format!(" {} ", row.severity_name());
    let status = format!("{}, {}", row.status_name(), turn(row));
    let left = room.saturating_sub(width(&severity) + width(&status) + 3);
    let place = cut(&format!("{} · {} · {}", row.place, row.reviewer, pull.name), left);
    lines.push(Line::from(vec![
        Span::styled(severity, severity_style(row.severity, theme)),
        Span::styled(format!("{place} · "), muted),
        Span::styled(status, status_style(row, theme)),
    ]));
    if !row.why().is_empty() {
        let why = format!("{}: {}.", row.status.name(), row.why());
        lines.extend(paragraph(&why, columns, status_style(row, theme)));
    }
    let key = (pull.address.clone(), row.id.clone());
    lines.extend(super::problem(model, &key, columns).into_iter().flatten());
    if let Some(counters) = &row.counters {
        let (word, meaning) = stance(counters.stance);
        let mut spans = vec![
            Span::styled(format!(" {word}"), theme.style(meaning)),
            Span::raw(format!("   rounds {}   may: ", rounds(counters))),
        ];
        spans.extend(actions(counters, theme, false));
        lines.push(Line::from(spans));
        let text = format!("{} {}.", row.reviewer, counters.explanation(row.status));
        lines.extend(paragraph(&text, columns, muted));
    } else {
        let text = format!("Opened by {}, who is not a reviewer, so there are no counters.", row.reviewer);
        lines.extend(paragraph(&text, columns, muted));
    }
    lines.extend(paragraph(&format!("Handoff: {}.", row.handoff_reason()), columns, muted));
    lines
}

fn turn(row: &ThreadRow) -> String {
    match row.turn {
        WhoseTurn::You => "your turn".to_owned(),
        WhoseTurn::Nobody => "nobody's turn".to_owned(),
        other => format!("the {}'s turn", other.name()),
    }
}

/// The author and role of a comment, and how much of it is folded.
fn heading(comment: &PostedText, folded: usize, model: &Model, columns: u16) -> Line<'static> {
    let theme = model.theme;
    let age = since(comment.at, model);
    let mut words = vec![format!("({})", comment.role)];
    words.extend(comment.intent.map(str::to_owned));
    if !age.is_empty() {
        words.push(format!("{age} ago"));
    }
    if comment.edited {
        words.push("edited".to_owned());
    }
    if let Some(reason) = &comment.minimized {
        let reason = if reason.is_empty() { String::new() } else { format!(" as {reason}") };
        words.push(format!("hidden on GitHub{reason}"));
    }
    words.extend(comment.left_out.clone());
    if folded > 0 {
        let key = model.keymap.key(Action::Fold);
        let verb = if model.page.unfolded { "folds" } else { "unfolds" };
        let key = if key.is_empty() { String::new() } else { format!(", {key} {verb}") };
        let lines = count(folded, "line", "lines");
        words.push(if model.page.unfolded {
            format!("{lines} unfolded{key}")
        } else {
            format!("{lines} folded{key}")
        });
    }
    let who = format!(" ── {} ", comment.who);
    let room = (columns as usize).saturating_sub(width(&who));
    Line::from(vec![
        Span::styled(who, theme.style(TextMeaning::Heading)),
        Span::styled(cut(&words.join(" · "), room), theme.style(TextMeaning::Muted)),
    ])
}

/// The code under the thread, and its changes since.
pub(in crate::tui) fn code(model: &Model, page: &ThreadScreenPage, columns: u16) -> MarkdownLines {
    let theme = model.theme;
    let muted = theme.style(TextMeaning::Muted);
    let room = (columns as usize).saturating_sub(4);
    let mut laid = MarkdownLines::default();
    if !page.code.lines.is_empty() {
        let folded = if model.page.unfolded { 0 } else { page.code.lines.len().saturating_sub(HUNK_LINES) };
        let above = folded + page.code.left_out;
        if above > 0 {
            let key = model.keymap.key(Action::Fold);
            let how = if folded > 0 && !key.is_empty() { format!(", {key} unfolds") } else { String::new() };
            let text = format!("▸ {} above{how}", count(above, "line", "lines"));
            laid.lines.push(Line::styled(cut(&text, room), muted));
        }
        laid.lines.extend(hunk(&page.code, folded, &page.path, theme, room));
        laid.folded = folded;
    }
    if let Some(since) = &page.since {
        let (sign, meaning) =
            if since.changed { ("Δ", TextMeaning::Warning) } else { ("=", TextMeaning::Muted) };
        let style = theme.style(meaning);
        for (index, text) in
            crate::tui::text::wrap(&since.sentence, room.saturating_sub(2)).into_iter().enumerate()
        {
            let lead = if index == 0 { sign } else { " " };
            laid.lines.push(Line::styled(format!("{lead} {text}"), style));
        }
    }
    if !laid.lines.is_empty() {
        laid.lines.insert(0, Line::default());
    }
    laid
}

/// Line numbers, a mark at the lines of the comment, the diff's sign, and highlighted code. Colour is never
/// the only sign.
fn hunk(code: &CodeHunk, skipped: usize, path: &str, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let side = |is_new: bool| {
        let lines = code
            .lines
            .iter()
            .filter(move |line| line.sign != '@' && line.sign != if is_new { '-' } else { '+' });
        Highlighter::of_path(path).beginning(lines.map(|line| line.text.as_str()))
    };
    let (mut before, mut after) = (side(false), side(true));
    let highest = code.lines.iter().flat_map(|line| [line.old, line.new]).flatten().max().unwrap_or(0);
    let digits = highest.to_string().len();
    let both = room >= 60;
    let muted = theme.style(TextMeaning::Muted);
    let mut lines = Vec::new();
    for (index, line) in code.lines.iter().enumerate() {
        let CodeLine { sign, old, new, text, about } = line;
        // Each side highlights all of its lines, because a comment or string may start above.
        let pieces = match sign {
            '-' => before.line(text),
            '+' => after.line(text),
            ' ' => {
                before.line(text);
                after.line(text)
            }
            _ => Vec::new(),
        };
        if index < skipped {
            continue;
        }
        if *sign == '@' || *sign == '\\' {
            let meaning = if *sign == '@' { TextMeaning::Heading } else { TextMeaning::Muted };
            lines.push(Line::styled(cut(text, room), theme.style(meaning)));
            continue;
        }
        let number = |number: Option<u32>| {
            let text = number.map_or_else(String::new, |number| number.to_string());
            format!("{text:>digits$} ")
        };
        let mark = if *about { "▌" } else { " " };
        let gutter = if both { format!("{}{}", number(*old), number(*new)) } else { number(new.or(*old)) };
        let (meaning, plain) = match sign {
            '+' => (TextMeaning::Added, theme.style(TextMeaning::Plain)),
            '-' => (TextMeaning::Removed, theme.style(TextMeaning::Plain)),
            _ => (TextMeaning::Plain, theme.style(TextMeaning::Plain)),
        };
        let used = width(&gutter) + 2;
        for (row, spans) in
            code_rows(text, &pieces, plain, theme, room.saturating_sub(used)).into_iter().enumerate()
        {
            let (gutter, sign) = if row == 0 {
                (gutter.clone(), sign.to_string())
            } else {
                (" ".repeat(width(&gutter)), "↪".to_owned())
            };
            let mut all = vec![
                Span::styled(gutter, muted),
                Span::styled(mark, theme.style(TextMeaning::Warning)),
                Span::styled(sign, theme.style(meaning)),
            ];
            all.extend(spans);
            lines.push(Line::from(all));
        }
    }
    lines
}
