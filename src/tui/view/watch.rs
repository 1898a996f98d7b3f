//! The watch screen: pull requests, and the loop and threads of the selected one.

use super::table::{self, Cell, Column, TableView, cell};
use super::{in_threads, is_stale, paragraph, put, sign, since};
use crate::domain::machine::ThreadStatus;
use crate::domain::review_loop::Phase;
use crate::domain::vocabulary::{ReviewerAction, Severity, Stance, ThreadId};
use crate::tui::model::{ListScreen, Model};
use crate::tui::rows::PullRow;
use crate::tui::rows::thread::{ThreadCounters, ThreadRow, WhoseTurn};
use crate::tui::text::{count, cut, width};
use crate::tui::theme::{TextMeaning, Theme};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The areas of the screen; one without room is empty.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Panes {
    pub(super) pulls: Rect,
    head: Rect,
    pub(super) threads: Rect,
    words: Rect,
}

/// From this width on, the two lists are side by side.
pub(super) const WIDE: u16 = 150;

/// Side by side on a wide screen, one above the other on a narrow one, and only one of them on a small one.
pub(super) fn panes(model: &Model, body: Rect) -> Panes {
    let (pulls, detail) = if body.width >= WIDE {
        let wide = model
            .lists
            .split
            .columns
            .unwrap_or((body.width * 2 / 5).clamp(44, 84))
            .clamp(24, body.width - 60);
        let [pulls, _, detail] =
            Layout::horizontal([Constraint::Length(wide), Constraint::Length(1), Constraint::Min(0)])
                .areas(body);
        (pulls, detail)
    } else if body.height >= 16 {
        let rows = u16::try_from(model.visible_pulls().len()).unwrap_or(u16::MAX).saturating_add(1);
        let high = rows.clamp(3, body.height * 2 / 5);
        let high = model.lists.split.rows.unwrap_or(high).clamp(3, body.height - 8);
        let [pulls, detail] = Layout::vertical([Constraint::Length(high), Constraint::Min(0)]).areas(body);
        (pulls, detail)
    } else if in_threads(model) {
        (Rect::default(), body)
    } else {
        (body, Rect::default())
    };
    let words = if detail.height >= 12 { 4 } else { 0 };
    let head = if detail.height >= 10 { 5 } else { 2.min(detail.height) };
    let parts = [Constraint::Length(head), Constraint::Min(0), Constraint::Length(words)];
    let [head, threads, words] = Layout::vertical(parts).areas(detail);
    Panes { pulls, head, threads, words }
}

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    let Panes { pulls, head, threads, words } = panes(model, body);
    pull_list(frame, pulls, model);
    let Some(pull) = model.selected_pull() else { return };
    if pulls.y == head.y && pulls.width > 0 {
        let bar = Rect { x: pulls.right(), y: body.y, width: 1, height: body.height };
        put(
            frame,
            bar,
            &vec![Line::styled("│", model.theme.style(TextMeaning::Muted)); body.height as usize],
        );
    }
    put(frame, head, &loop_lines(pull, model, head));
    thread_list(frame, threads, pull, model);
    if let Some(thread) = model.selected_thread().filter(|_| words.height > 0) {
        let mut lines = words_about(thread, model, words.width);
        let key = (pull.address.clone(), thread.id.clone());
        // A problem comes before the counters.
        if let Some(problem) = super::problem(model, &key, words.width) {
            lines.splice(1..1, problem);
        }
        put(frame, words, &lines);
    }
}

fn pull_list(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let rows = model.visible_pulls();
    let name = rows.iter().map(|row| width(&row.name)).max().unwrap_or(12).clamp(8, 24);
    let wide = area.width >= 76;
    let mut columns: Vec<Column> = vec![("pull request", name), ("title", 0)];
    if wide {
        columns.push(("author", if area.width < 100 { 10 } else { 16 }));
    }
    // Only if a pull request is stale.
    if rows.iter().any(|row| is_stale(row, model)) {
        columns.push(("seen", 4));
    }
    columns.push(("loop", if area.width < 50 { 12 } else { 13 }));
    if area.width >= 50 {
        columns.extend([("open", 4), ("stuck", 5)]);
    }
    if wide {
        columns.push(("done", 4));
    }
    if area.width >= 50 {
        columns.push(("age", 4));
    }
    let table = TableView {
        columns: &columns,
        count: rows.len(),
        selected: model.selected(ListScreen::Watch),
        focused: !in_threads(model),
        empty: "No row matches the filter. esc clears it.",
        signs: Some(&|index| match rows.get(index) {
            Some(row)
                if model
                    .marks
                    .unread
                    .range((row.address.clone(), first_thread())..)
                    .next()
                    .is_some_and(|(address, _)| *address == row.address) =>
            {
                ("•", TextMeaning::Busy)
            }
            _ => (" ", TextMeaning::Plain),
        }),
    };
    table::draw(frame, area, model, &table, |index| {
        rows.get(index)
            .map(|row| columns.iter().map(|(name, _)| pull_cell(row, name, model)).collect())
            .unwrap_or_default()
    });
}

fn pull_cell(row: &PullRow, column: &str, model: &Model) -> Cell {
    let theme = model.theme;
    let number = |number: usize, meaning| match number {
        0 => cell("·", theme.style(TextMeaning::Muted)),
        number => cell(number.to_string(), theme.style(meaning)),
    };
    match column {
        "pull request" => cell(&row.name, theme.style(TextMeaning::Plain)),
        "title" => cell(&row.title, theme.style(TextMeaning::Plain)),
        "author" => cell(&row.author, theme.style(TextMeaning::Muted)),
        // A stale state is muted, and has its age beside it.
        "loop" if is_stale(row, model) => cell(row.phase.0, theme.style(TextMeaning::Muted)),
        "seen" if is_stale(row, model) => {
            cell(since(row.view.seen_at, model), theme.style(TextMeaning::Warning))
        }
        "seen" => cell("·", theme.style(TextMeaning::Muted)),
        "loop" => cell(row.phase.0, theme.style(row.phase.1)),
        "open" => number(row.open(), TextMeaning::Plain),
        "stuck" => number(row.stuck(), TextMeaning::Alert),
        "done" => number(row.settled(), TextMeaning::Good),
        _ => cell(since(row.opened_at, model), theme.style(TextMeaning::Muted)),
    }
}

/// The loop in at most five lines: title, state, progress, reviewers, and the next step.
fn loop_lines(pull: &PullRow, model: &Model, area: Rect) -> Vec<Line<'static>> {
    let theme = model.theme;
    let room = area.width as usize;
    let title = format!(" {}  {}", pull.name, pull.title);
    let mut lines = vec![Line::styled(cut(&title, room), theme.style(TextMeaning::Title))];
    // Do not count seconds below a minute, so that a quiet screen need not be drawn.
    let stale = match pull.view.seen_at {
        None => String::new(),
        Some(at) if model.now.duration_since(at).as_secs() < 60 => " · polled just now".to_owned(),
        seen => format!(" · polled {} ago", since(seen, model)),
    };
    let about = format!(" {}, by {}, head {} · {}{stale}", pull.state, pull.author, pull.head, pull.role);
    if area.height > 2 {
        lines.push(Line::styled(cut(&about, room), theme.style(TextMeaning::Muted)));
    }
    match model.marks.pull_problems.get(&pull.address) {
        Some(problem) => {
            lines.push(Line::styled(cut(&format!(" ! {problem}"), room), theme.style(TextMeaning::Alert)));
        }
        None => lines.push(gauge(pull, model, room)),
    }
    lines.push(reviewers(pull, theme, room));
    let more = pull.due.len().saturating_sub(1);
    if let Some(first) = pull.due.first() {
        let lead = if pull.view.drive { "next" } else { "would do next if driven" };
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        lines.push(Line::styled(
            cut(&format!(" {lead}: {first}{more}"), room),
            theme.style(TextMeaning::Busy),
        ));
    }
    lines
}

/// The attempts as a bar with the time until the next poll, or how the loop ended.
fn gauge(pull: &PullRow, model: &Model, room: usize) -> Line<'static> {
    let theme = model.theme;
    if let Some((sentence, meaning)) = &pull.sentence {
        return Line::styled(cut(&format!(" {}: {sentence}", pull.phase.0), room), theme.style(*meaning));
    }
    if matches!(pull.view.review_loop.phase(), Phase::Paused(_)) {
        let key = model.keymap.key(crate::tui::action::Action::Resume);
        return Line::styled(
            cut(&format!(" paused; {key} resumes it"), room),
            theme.style(TextMeaning::Warning),
        );
    }
    let most = pull.max_attempts.max(1);
    let cells = 20.min(room / 4);
    let filled = (cells * pull.attempt.min(most) as usize).div_ceil(most as usize);
    let next = model.data.board.next_poll.map(|at| at.duration_since(model.now).as_secs().max(0));
    let next = next.map_or_else(String::new, |left| format!(" · next poll in {left}s"));
    let what = if pull.phase.0 == "with author" { "waiting for a push, attempt" } else { "attempt" };
    let text = format!(" {what} {} of {most}{next}", pull.attempt);
    Line::from(vec![
        Span::styled(format!(" {}", "█".repeat(filled)), theme.style(TextMeaning::Busy)),
        Span::styled("░".repeat(cells.saturating_sub(filled)), theme.style(TextMeaning::Muted)),
        Span::styled(cut(&text, room.saturating_sub(cells + 1)), theme.style(TextMeaning::Plain)),
    ])
}

fn reviewers(pull: &PullRow, theme: Theme, room: usize) -> Line<'static> {
    let mut spans = Vec::new();
    let mut part = |label: &str, names: &[String], sign: &str, meaning| {
        if !names.is_empty() {
            let names = names.iter().map(|name| format!("{sign} {name}")).collect::<Vec<_>>().join(", ");
            spans.push(Span::styled(format!(" {label} {names}"), theme.style(meaning)));
        }
    };
    part("reviewed:", &pull.arrived, "✓", TextMeaning::Good);
    part("missing:", &pull.missing, "…", TextMeaning::Warning);
    part("failed:", &pull.failed, "✗", TextMeaning::Alert);
    part("thinking:", &pull.thinking, "*", TextMeaning::Busy);
    if pull.view.author_at_work {
        spans.push(Span::styled(" the author is working", theme.style(TextMeaning::Busy)));
    }
    if spans.is_empty() && pull.view.computed.is_none() {
        return Line::default();
    }
    if spans.is_empty() {
        return Line::styled(cut(" no reviewer has posted yet", room), theme.style(TextMeaning::Muted));
    }
    Line::from(spans)
}

fn thread_list(frame: &mut Frame<'_>, area: Rect, pull: &PullRow, model: &Model) {
    let columns: &[Column] = match area.width {
        0..56 => &[("severity", 8), ("title", 0), ("status", 10)],
        56..90 => {
            &[("severity", 8), ("where", 18), ("title", 0), ("stance", 9), ("rounds", 6), ("status", 10)]
        }
        90..112 => &[
            ("severity", 8),
            ("where", 20),
            ("title", 0),
            ("stance", 14),
            ("rounds", 7),
            ("status", 10),
            ("turn", 8),
        ],
        112..132 => &[
            ("severity", 8),
            ("where", 18),
            ("title", 0),
            ("stance", 9),
            ("rounds", 7),
            ("actions", SHORT_ACTIONS),
            ("status", 10),
            ("turn", 8),
        ],
        _ => &[
            ("severity", 8),
            ("where", 26),
            ("title", 0),
            ("stance", 14),
            ("rounds", 7),
            ("actions", 32),
            ("status", 20),
            ("turn", 8),
        ],
    };
    let empty = match pull.in_bodies {
        _ if pull.view.last.is_some() => "Loading the state of the last run…".to_owned(),
        0 => "No thread yet.".to_owned(),
        number => format!("No thread yet. The text of reviews has {}.", count(number, "finding", "findings")),
    };
    let table = TableView {
        columns,
        count: pull.threads.len(),
        selected: model.lists.thread_cursor.index_in(&model.thread_keys()),
        focused: in_threads(model),
        empty: &empty,
        signs: Some(&|index| match pull.threads.get(index) {
            Some(row) => sign(model, &(pull.address.clone(), row.id.clone())),
            None => (" ", TextMeaning::Plain),
        }),
    };
    table::draw(frame, area, model, &table, |index| {
        let Some(row) = pull.threads.get(index) else { return Vec::new() };
        columns.iter().map(|(name, wide)| thread_cell(row, name, *wide, model.theme)).collect()
    });
}

fn thread_cell(row: &ThreadRow, column: &str, wide: usize, theme: Theme) -> Cell {
    let plain = theme.style(TextMeaning::Plain);
    match (column, &row.counters) {
        ("severity", _) => cell(row.severity_name(), severity_style(row.severity, theme)),
        ("where", _) => cell(tail(&row.place, wide), theme.style(TextMeaning::Muted)),
        ("title", _) => cell(&row.title, plain),
        ("stance", Some(counters)) => {
            let (word, meaning) = stance(counters.stance);
            let word = if wide < 14 { word.replace("seeks change", "seeks") } else { word.to_owned() };
            cell(word, theme.style(meaning))
        }
        ("rounds", Some(counters)) => cell(rounds(counters), plain),
        ("actions", Some(counters)) if row.status == ThreadStatus::Open => {
            let spans = actions(counters, theme, wide <= SHORT_ACTIONS).into_iter();
            spans.map(|span| (span.content.into_owned(), span.style)).collect()
        }
        ("status", _) => cell(row.status_name(), status_style(row, theme)),
        ("turn", _) => {
            let meaning = if row.turn == WhoseTurn::You { TextMeaning::Warning } else { TextMeaning::Muted };
            cell(row.turn.name(), theme.style(meaning))
        }
        _ => cell("–", theme.style(TextMeaning::Muted)),
    }
}

/// Keeps the end of a path, which says more than its start.
fn tail(place: &str, wide: usize) -> String {
    let chars: Vec<char> = place.chars().collect();
    if width(place) <= wide || wide == 0 {
        return place.to_owned();
    }
    let mut from = chars.len().saturating_sub(wide.saturating_sub(1));
    while width(&chars[from..].iter().collect::<String>()) + 1 > wide && from < chars.len() {
        from += 1;
    }
    format!("…{}", chars[from..].iter().collect::<String>())
}

pub(super) fn severity_style(severity: Option<Severity>, theme: Theme) -> Style {
    theme.style(match severity {
        Some(Severity::Critical | Severity::High) => TextMeaning::Alert,
        Some(Severity::Medium) => TextMeaning::Warning,
        _ => TextMeaning::Muted,
    })
}

pub(super) fn status_style(row: &ThreadRow, theme: Theme) -> Style {
    theme.style(match row.status {
        _ if row.is_stuck() => TextMeaning::Alert,
        ThreadStatus::Open => TextMeaning::Plain,
        ThreadStatus::Upheld => TextMeaning::Warning,
        _ => TextMeaning::Good,
    })
}

pub(super) fn stance(stance: Option<Stance>) -> (&'static str, TextMeaning) {
    match stance {
        None => ("· none yet", TextMeaning::Muted),
        Some(Stance::SeeksChange) => ("✗ seeks change", TextMeaning::Warning),
        Some(Stance::Accepts) => ("✓ accepts", TextMeaning::Good),
    }
}

pub(super) fn rounds(counters: &ThreadCounters) -> String {
    let dots = if counters.repeat_limit <= 3 { counters.rounds_bar() } else { String::new() };
    format!("{dots} {}/{}", counters.rounds, counters.repeat_limit).trim_start().to_owned()
}

/// The width of all four actions as three letters each, some in brackets.
const SHORT_ACTIONS: usize = 19;

/// The four actions. Illegal ones are struck out and in brackets, because colour must not be the only sign.
pub(super) fn actions(counters: &ThreadCounters, theme: Theme, short: bool) -> Vec<Span<'static>> {
    let span = |(action, legal): &(ReviewerAction, bool)| {
        let name = if short { &action.name()[..3] } else { action.name() };
        let shown = if *legal {
            Span::styled(name, theme.style(TextMeaning::Good))
        } else {
            Span::styled(format!("({name})"), theme.style(TextMeaning::Illegal))
        };
        [shown, Span::raw(" ")]
    };
    counters.legal.iter().flat_map(span).collect()
}

/// The selected thread in words: its reviewer, the legal actions, and why.
fn words_about(thread: &ThreadRow, model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let rule = Line::styled("─".repeat(columns as usize), theme.style(TextMeaning::Muted));
    let mut lines = vec![rule];
    let turn = match thread.turn {
        WhoseTurn::You => "your turn".to_owned(),
        WhoseTurn::Nobody => "nobody's turn".to_owned(),
        other => format!("the {}'s turn", other.name()),
    };
    let why = thread.why();
    let why = if why.is_empty() { String::new() } else { format!(": {why}") };
    let muted = theme.style(TextMeaning::Muted);
    let Some(counters) = &thread.counters else {
        let text = format!("Opened by {}, who is not a reviewer, so there are no counters.", thread.reviewer);
        lines.extend(paragraph(&text, columns, muted));
        return lines;
    };
    let mut spans = vec![Span::raw(format!(" {} may: ", thread.reviewer))];
    spans.extend(actions(counters, theme, false));
    lines.push(Line::from(spans));
    let text = format!("{} {}", thread.reviewer, counters.explanation(thread.status));
    let status = format!("{}{why}; {turn}", thread.status_name());
    if thread.is_stuck() {
        lines.extend(paragraph(&status, columns, theme.style(TextMeaning::Warning)));
        lines.extend(paragraph(&text, columns, muted));
    } else {
        lines.extend(paragraph(&text, columns, muted));
        lines.extend(paragraph(&status, columns, muted));
    }
    lines
}

/// Sorts before every thread id.
fn first_thread() -> ThreadId {
    "".into()
}
