//! One thread: where it stands in words, the code it is about, and everything that was said.
//!
//! ```text
//! │ title                                              │
//! │ severity · place · reviewer · status, whose turn   │  stays where it is, if there is room
//! │ stance, rounds, what is legal, and why             │
//! │ ── code, 4 comments ─────────────── comment 2 of 4 │
//! │ the code, and what became of it since              │
//! │ ── who (role) · intent · age                       │  scrolls
//! │    what they said                                  │
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

/// As much of a hunk as is shown before it is unfolded; its end is what the comment is about.
const HUNK_LINES: usize = 12;

/// What has to be left for the conversation, if the header is to stay above it.
const ROOM: u16 = 10;

/// Lays out what will be drawn. Called after every message, so that drawing itself has nothing to compute.
pub(super) fn prepare(model: &mut Model, body: Rect) {
    let mut reading = std::mem::take(&mut model.reading);
    if reading.refresh(model, body.width) {
        let (_, page) = areas(model, body);
        reading.settle(model, page.height as usize);
    }
    model.reading = reading;
}

/// Goes so many lines up or down.
pub(super) fn step(model: &mut Model, body: Rect, by: isize) {
    let mut reading = std::mem::take(&mut model.reading);
    if reading.refresh(model, body.width) {
        let (_, page) = areas(model, body);
        reading.step(model, by, page.height as usize);
    }
    model.reading = reading;
}

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    let mut reading = model.reading.clone();
    if !reading.refresh(model, body.width) {
        let text = "This thread is not there any more; esc goes back.";
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

/// The header with its rule, and what scrolls; no header where there is no room for it.
fn areas(model: &Model, body: Rect) -> (Rect, Rect) {
    let wanted = u16::try_from(header(model, body.width).len() + 1).unwrap_or(u16::MAX);
    let above = if wanted.saturating_add(ROOM) <= body.height { wanted } else { 0 };
    let [above, page] = Layout::vertical([Constraint::Length(above), Constraint::Min(0)]).areas(body);
    (above, page)
}

fn item_lines(item: &PageItem, model: &Model, columns: u16) -> impl Iterator<Item = Line<'static>> {
    let heading =
        item.said.as_ref().map(|said| [Line::default(), heading(said, item.laid.folded, model, columns)]);
    heading.into_iter().flatten().chain(item.laid.lines.clone().into_iter().map(|mut line| {
        if !line.spans.is_empty() {
            line.spans.insert(0, Span::raw("   "));
        }
        line
    }))
}

/// How much there is, and where in it one reads.
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

/// Where there is no room above, it is the first thing that scrolls.
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
    lines.extend(super::trouble(model, &key, columns).into_iter().flatten());
    if let Some(counted) = &row.counted {
        let (word, meaning) = stance(counted.stance);
        let mut spans = vec![
            Span::styled(format!(" {word}"), theme.style(meaning)),
            Span::raw(format!("   rounds {}   may: ", rounds(counted))),
        ];
        spans.extend(actions(counted, theme, false));
        lines.push(Line::from(spans));
        let text = format!("{} {}.", row.reviewer, counted.explained(row.status));
        lines.extend(paragraph(&text, columns, muted));
    } else {
        let text = format!("Opened by {}, who is no reviewer: nothing is counted here.", row.reviewer);
        lines.extend(paragraph(&text, columns, muted));
    }
    lines.extend(paragraph(&format!("Handoff: {}.", row.why_it_goes_or_stays()), columns, muted));
    lines
}

fn turn(row: &ThreadRow) -> String {
    match row.turn {
        WhoseTurn::You => "your turn".to_owned(),
        WhoseTurn::Nobody => "nobody's turn".to_owned(),
        other => format!("the {}'s turn", other.name()),
    }
}

/// Who speaks, as what, and how much of it is folded.
fn heading(said: &PostedText, folded: usize, model: &Model, columns: u16) -> Line<'static> {
    let theme = model.theme;
    let age = since(said.at, model);
    let mut words = vec![format!("({})", said.role)];
    words.extend(said.intent.map(str::to_owned));
    if !age.is_empty() {
        words.push(format!("{age} ago"));
    }
    if said.edited {
        words.push("edited".to_owned());
    }
    if let Some(reason) = &said.minimized {
        let reason = if reason.is_empty() { String::new() } else { format!(" as {reason}") };
        words.push(format!("hidden on GitHub{reason}"));
    }
    words.extend(said.left_out.clone());
    if folded > 0 {
        let key = model.keymap.key(Action::Fold);
        let verb = if model.unfolded { "folds" } else { "unfolds" };
        let key = if key.is_empty() { String::new() } else { format!(", {key} {verb}") };
        let lines = count(folded, "line", "lines");
        words.push(if model.unfolded {
            format!("{lines} unfolded{key}")
        } else {
            format!("{lines} folded{key}")
        });
    }
    let who = format!(" ── {} ", said.who);
    let room = (columns as usize).saturating_sub(width(&who));
    Line::from(vec![
        Span::styled(who, theme.style(TextMeaning::Heading)),
        Span::styled(cut(&words.join(" · "), room), theme.style(TextMeaning::Muted)),
    ])
}

/// The lines that the thread was written under, and what became of them.
pub(in crate::tui) fn code(model: &Model, page: &ThreadScreenPage, columns: u16) -> MarkdownLines {
    let theme = model.theme;
    let muted = theme.style(TextMeaning::Muted);
    let room = (columns as usize).saturating_sub(4);
    let mut laid = MarkdownLines::default();
    if !page.code.lines.is_empty() {
        let folded = if model.unfolded { 0 } else { page.code.lines.len().saturating_sub(HUNK_LINES) };
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

/// Numbers, a mark at what is meant, the sign of the diff, and the code in colours. Signs and marks say everything that
/// colours do.
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
        // Both sides go through every line of theirs, so that a comment that began above is one below.
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
