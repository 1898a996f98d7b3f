//! Draws the screen from the model and nothing else.
//!
//! ```text
//! ┌ cloture  1 Watch  2 Inbox·3  3 Handoff·2  4 Journal ──────────── next poll in 12s ┐  tabs
//! │ offline: what happened, since when, what to do (only if something is wrong)       │  banner
//! │ pull requests             │ one pull request: its loop and its reviewers          │
//! │   list, or one page       │ its threads                                           │  body
//! │                           │ the selected thread in words                          │
//! │ what to look at now (only in the demo)                                            │  guide
//! └ ⏎ open  / filter  n next stuck  : palette  ? help  q quit ────────────────────────┘  foot
//! ```

mod first_run;
mod handoff;
mod inbox;
mod journal;
mod overlay;
mod table;
mod thread;
mod watch;

use super::action::Action;
use super::dialog::Overlay;
use super::model::{ListScreen, Model, Pane, Screen};
use super::rows::PullRow;
use super::text::{age, cut, width, wrap};
use super::theme::TextMeaning;
use crate::supervisor::people::request_handler::ThreadAddress;
use jiff::SignedDuration;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// A part of the screen that reacts to clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClickTarget {
    Tab(ListScreen),
    Pull(usize),
    Thread(usize),
    Row(usize),
    /// The line between two panes.
    Split,
}

/// Where the parts of a screen are.
#[derive(Debug, Clone, Copy)]
struct Areas {
    tabs: Rect,
    banner: Rect,
    body: Rect,
    guide: Rect,
    foot: Rect,
}

fn areas(model: &Model, whole: Rect) -> Areas {
    let guide = u16::from(model.guide.is_some() && whole.height > 12);
    let banner = first_run::banner(model, whole.width).len().min(if whole.height > 14 { 2 } else { 1 });
    let rows = [
        Constraint::Length(1),
        Constraint::Length(u16::try_from(banner).unwrap_or(0)),
        Constraint::Min(0),
        Constraint::Length(guide),
        Constraint::Length(1),
    ];
    let [tabs, banner, body, guide, foot] = Layout::vertical(rows).areas(whole);
    Areas { tabs, banner, body, guide, foot }
}

pub fn draw(frame: &mut Frame<'_>, model: &Model) {
    // The frame's area counts, not the model's size: they differ for a moment while a window is resized.
    let Areas { tabs, banner, body, guide, foot } = areas(model, frame.area());
    let whole = frame.area();
    frame.buffer_mut().set_style(whole, model.theme.style(TextMeaning::Plain));
    put(frame, tabs, &[tab_line(model, tabs.width)]);
    put(frame, banner, &first_run::banner(model, banner.width));
    match &model.screen {
        Screen::Watch if model.data.pulls.is_empty() => {
            put(frame, body, &first_run::empty(model, body.width));
        }
        Screen::Watch => watch::draw(frame, body, model),
        Screen::Inbox => inbox::draw(frame, body, model),
        Screen::Handoff => handoff::draw(frame, body, model),
        Screen::Journal => journal::draw(frame, body, model),
        Screen::Thread { .. } => thread::draw(frame, body, model),
        Screen::Record { seq } => {
            let lines = journal::page(model, *seq, body.width);
            let from = model.page.scroll.min(lines.len().saturating_sub(body.height as usize));
            put(frame, body, lines.get(from..).unwrap_or_default());
        }
        Screen::FirstRun => put(frame, body, &first_run::lines(model, body.width)),
    }
    if let Some(text) = model.guide_line() {
        let text = cut(&format!(" ▶ {text}"), guide.width as usize);
        put(frame, guide, &[Line::styled(text, model.theme.style(TextMeaning::Heading))]);
    }
    put(frame, foot, &[foot_line(model, foot.width)]);
    overlay::draw(frame, body, model);
}

/// Draws lines into an area, and cuts those that do not fit.
fn put(frame: &mut Frame<'_>, area: Rect, lines: &[Line<'static>]) {
    let area = area.intersection(frame.area());
    if area.is_empty() {
        return;
    }
    let shown = lines.iter().take(area.height as usize).cloned().collect::<Vec<_>>();
    frame.render_widget(Paragraph::new(shown), area);
}

fn whole(model: &Model) -> Rect {
    Rect::new(0, 0, model.size.width, model.size.height)
}

/// The click target under the mouse.
pub(super) fn place(model: &Model, x: u16, y: u16) -> Option<ClickTarget> {
    let Areas { tabs, body, .. } = areas(model, whole(model));
    let at = (x, y).into();
    if tabs.contains(at) {
        let mut from = tabs.x + 9;
        for (list, text) in tab_texts(model, tabs.width) {
            let to = from + u16::try_from(width(&text)).unwrap_or(0) + 2;
            if (from..to).contains(&x) {
                return Some(ClickTarget::Tab(list));
            }
            from = to;
        }
        return None;
    }
    let row = |area: Rect, count: usize, selected: usize| {
        let inside = area.contains(at) && y > area.y;
        let index = table::first(count, selected, area.height.saturating_sub(1))
            + (y.saturating_sub(area.y + 1)) as usize;
        (inside && index < count).then_some(index)
    };
    let list = model.screen.list();
    match &model.screen {
        Screen::Watch => {
            let watch::Panes { pulls, threads, .. } = watch::panes(model, body);
            if is_split(pulls, threads, body, x, y) {
                return Some(ClickTarget::Split);
            }
            let count = model.visible_pulls().len();
            let keys = model.thread_keys();
            row(pulls, count, model.selected(list)).map(ClickTarget::Pull).or_else(|| {
                row(threads, keys.len(), model.lists.thread_cursor.index_in(&keys)).map(ClickTarget::Thread)
            })
        }
        Screen::Inbox | Screen::Handoff | Screen::Journal => {
            let area = table::list_area(body);
            row(area, model.keys(list).len(), model.selected(list)).map(ClickTarget::Row)
        }
        Screen::Thread { .. } | Screen::Record { .. } | Screen::FirstRun => None,
    }
}

/// Whether the point is on the line between the panes.
fn is_split(pulls: Rect, threads: Rect, body: Rect, x: u16, y: u16) -> bool {
    if pulls.is_empty() || threads.is_empty() {
        return false;
    }
    if body.width >= watch::WIDE { x == pulls.right() } else { y == pulls.bottom() }
}

/// Moves the line between the panes.
pub(super) fn drag(model: &mut Model, x: u16, y: u16) {
    let body = areas(model, whole(model)).body;
    if body.width >= watch::WIDE {
        model.lists.split.columns = Some(x.saturating_sub(body.x));
    } else {
        model.lists.split.rows = Some(y.saturating_sub(body.y));
    }
}

/// The sign before a thread: a problem, a mark, or news.
fn sign(model: &Model, key: &ThreadAddress) -> (&'static str, TextMeaning) {
    if model.marks.problems.contains_key(key) {
        ("!", TextMeaning::Alert)
    } else if model.marks.marked.contains(key) {
        ("◆", TextMeaning::Key)
    } else if model.marks.unread.contains(key) {
        ("•", TextMeaning::Busy)
    } else {
        (" ", TextMeaning::Plain)
    }
}

/// The problem with a thread, until the person has read it.
fn problem(model: &Model, key: &ThreadAddress, columns: u16) -> Option<Vec<Line<'static>>> {
    let sentence = model.marks.problems.get(key)?;
    Some(paragraph(&format!("! {sentence}"), columns, model.theme.style(TextMeaning::Alert)))
}

pub(super) use overlay::question_lines;

/// How many lines a record can be scrolled by.
pub(super) fn most_scroll(model: &Model) -> usize {
    let body = areas(model, whole(model)).body;
    let Screen::Record { seq } = &model.screen else { return 0 };
    journal::page(model, *seq, body.width).len().saturating_sub(body.height as usize)
}

/// Lays out slow parts after a message, so no frame waits for them.
pub(super) fn prepare(model: &mut Model) {
    let body = areas(model, whole(model)).body;
    thread::prepare(model, body);
}

pub(super) fn step_thread(model: &mut Model, by: isize) {
    let body = areas(model, whole(model)).body;
    thread::step(model, body, by);
}

pub(super) use thread::{code as thread_code, header_in_page as thread_header_in_page};

fn tab_texts(model: &Model, columns: u16) -> Vec<(ListScreen, String)> {
    let waiting = model.data.pulls.values().map(|pull| pull.inbox.len()).sum::<usize>();
    let tasks = model.data.pulls.values().map(|pull| pull.pending_tasks).sum::<usize>();
    let short = columns < 60;
    let text = |list: ListScreen, name: &str, number: usize| {
        let key = model.keymap.key(list.action());
        let name = if short { name.chars().take(1).collect() } else { name.to_owned() };
        let number = if number == 0 { String::new() } else { format!("·{number}") };
        (list, format!("{key} {name}{number}"))
    };
    vec![
        text(ListScreen::Watch, "Watch", 0),
        text(ListScreen::Inbox, "Inbox", waiting),
        text(ListScreen::Handoff, "Handoff", tasks),
        text(ListScreen::Journal, "Journal", 0),
    ]
}

fn tab_line(model: &Model, columns: u16) -> Line<'static> {
    let theme = model.theme;
    let mut spans = vec![Span::styled(" cloture ", theme.style(TextMeaning::Title))];
    for (list, text) in tab_texts(model, columns) {
        let is_here = model.screen.list() == list && !matches!(model.screen, Screen::FirstRun);
        let style =
            if is_here { theme.style(TextMeaning::Selected) } else { theme.style(TextMeaning::Plain) };
        spans.push(Span::styled(format!(" {text} "), style));
    }
    let used: usize = spans.iter().map(Span::width).sum();
    let (right, meaning) = state(model);
    let room = (columns as usize).saturating_sub(used + 1);
    if room > 8 {
        let right = cut(&right, room);
        spans.push(Span::raw(" ".repeat(room - width(&right))));
        spans.push(Span::styled(right, theme.style(meaning)));
    }
    Line::from(spans)
}

/// The state of the whole: a problem first, then the next poll and the remaining API points.
fn state(model: &Model) -> (String, TextMeaning) {
    let stale = oldest(model).map(|age| format!(" · last polled {age} ago")).unwrap_or_default();
    if let Some(blocker) = first_run::startup_blocker(model) {
        return (format!("{}{stale}", blocker.what), TextMeaning::Alert);
    }
    if model.startup.searching {
        return (format!("searching for pull requests…{stale}"), TextMeaning::Busy);
    }
    let mut parts = Vec::new();
    if model.requests.under_way > 0 {
        parts
            .push(format!("{} running", super::text::count(model.requests.under_way, "request", "requests")));
    }
    if !model.marks.marked.is_empty() {
        parts.push(format!("{} marked", model.marks.marked.len()));
    }
    if !stale.is_empty() {
        parts.push(stale.trim_start_matches(" · ").to_owned());
    }
    if model.row_builder.read_only {
        parts.push("read-only".to_owned());
    }
    if let Some(next) = model.data.board.next_poll {
        parts.push(format!("next poll in {}s", next.duration_since(model.now).as_secs().max(0)));
    }
    if let Some((points, _)) = model.data.board.budget.as_ref().and_then(|budget| budget.left) {
        parts.push(format!("{points} API points left"));
    }
    (parts.join(" · "), TextMeaning::Muted)
}

/// The age of the oldest stale pull request.
fn oldest(model: &Model) -> Option<String> {
    let stale = model.data.pulls.values().filter(|pull| is_stale(pull, model));
    stale.filter_map(|pull| pull.view.seen_at).min().map(|seen| age(seen, model.now))
}

/// Whether a pull request missed its last polls. One that has ended is never stale.
fn is_stale(pull: &PullRow, model: &Model) -> bool {
    let planned = model.data.board.budget.as_ref().map(|budget| budget.interval);
    let interval = planned.unwrap_or(model.row_builder.config.policy.poll_interval);
    let most = SignedDuration::try_from(interval.saturating_mul(2)).unwrap_or(SignedDuration::MAX);
    let seen = pull.view.seen_at.filter(|_| !matches!(pull.state, "merged" | "closed"));
    seen.is_some_and(|seen| {
        model.now.duration_since(seen) > most.saturating_add(SignedDuration::from_secs(10))
    })
}

fn foot_line(model: &Model, columns: u16) -> Line<'static> {
    let theme = model.theme;
    let columns = columns as usize;
    let filter = model.filter();
    if model.dialog.overlay == Overlay::Filter {
        let text = format!(" /{}▏", super::rows::line(&filter.text));
        let hint = "  ⏎ keep · esc clear";
        return Line::from(vec![
            Span::styled(cut(&text, columns), theme.style(TextMeaning::Key)),
            Span::styled(hint, theme.style(TextMeaning::Muted)),
        ]);
    }
    if let Some(notice) = &model.notice {
        return Line::styled(cut(&format!(" {notice}"), columns), theme.style(TextMeaning::Warning));
    }
    let mut spans = Vec::new();
    let mut used = 1;
    if !filter.text.is_empty() {
        let text = format!(" filter: {} ", super::rows::line(&filter.text));
        used += width(&text);
        spans.push(Span::styled(text, theme.style(TextMeaning::Warning)));
    }
    let is_empty = model.screen == Screen::Watch && model.data.pulls.is_empty();
    let hints = if is_empty {
        &[Action::Poll, Action::Palette, Action::Help, Action::Quit]
    } else {
        Action::hints(&model.screen)
    };
    for action in hints {
        let key = model.keymap.key(*action);
        let name = action.name().replace('_', " ");
        let wide = width(&key) + width(&name) + 3;
        if key.is_empty() || used + wide > columns {
            continue;
        }
        used += wide;
        spans.push(Span::styled(format!(" {key}"), theme.style(TextMeaning::Key)));
        spans.push(Span::styled(format!(" {name} "), theme.style(TextMeaning::Muted)));
    }
    Line::from(spans)
}

/// Wraps text into indented lines.
fn paragraph(text: &str, columns: u16, style: Style) -> Vec<Line<'static>> {
    let room = (columns as usize).saturating_sub(2);
    wrap(text, room).into_iter().map(|text| Line::styled(format!(" {text}"), style)).collect()
}

/// The age of a time; empty without one.
fn since(at: Option<jiff::Timestamp>, model: &Model) -> String {
    at.map_or_else(String::new, |at| age(at, model.now))
}

fn in_threads(model: &Model) -> bool {
    model.lists.pane == Pane::Threads
}
