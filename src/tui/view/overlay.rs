//! What lies on top of a screen: help, palette, a question; and the screen for who has nothing to watch yet.

use super::{paragraph, put};
use crate::tui::action::Action;
use crate::tui::model::{Model, Overlay, Question};
use crate::tui::rows;
use crate::tui::text::{cut, fit, wrap};
use crate::tui::theme::Meaning;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear};

pub(super) fn draw(frame: &mut Frame<'_>, body: Rect, model: &Model) {
    match &model.overlay {
        Overlay::None | Overlay::Filter => {}
        Overlay::Help { scroll } => help(frame, body, model, *scroll),
        Overlay::Palette { query, selected } => palette(frame, body, model, query, *selected),
        Overlay::Ask(question) => ask(frame, body, model, question),
    }
}

/// A frame in the middle, as large as it has to be; returns what is inside.
fn window(frame: &mut Frame<'_>, body: Rect, model: &Model, title: &str, width: u16, height: u16) -> Rect {
    let (width, height) = ((width + 2).min(body.width), (height + 2).min(body.height));
    let area =
        Rect { x: body.x + (body.width - width) / 2, y: body.y + (body.height - height) / 2, width, height };
    frame.render_widget(Clear, area);
    let block =
        Block::bordered().title(format!(" {title} ")).border_style(model.theme.style(Meaning::Heading));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    inside
}

/// Made from the bindings, so it cannot be wrong about them.
fn help(frame: &mut Frame<'_>, body: Rect, model: &Model, scroll: usize) {
    let theme = model.theme;
    let works = Action::all().filter(|action| action.works_on(&model.screen));
    let lines: Vec<Line<'static>> = works
        .map(|action| {
            let keys = model.keymap.keys(action).join(" ");
            Line::from(vec![
                Span::styled(fit(&format!(" {keys}"), 14), theme.style(Meaning::Key)),
                Span::styled(fit(&action.name().replace('_', " "), 17), theme.style(Meaning::Plain)),
                Span::styled(action.meaning(), theme.style(Meaning::Muted)),
            ])
        })
        .collect();
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let inside = window(frame, body, model, "Keys of this screen (any other key closes)", 80, height);
    let from = scroll.min(lines.len().saturating_sub(inside.height as usize));
    put(frame, inside, &lines[from..]);
}

fn palette(frame: &mut Frame<'_>, body: Rect, model: &Model, query: &str, selected: usize) {
    let theme = model.theme;
    let found = model.palette(query);
    let inside = window(frame, body, model, "Commands", 74, 16);
    let mut lines = vec![Line::styled(format!(" :{}▏", rows::line(query)), theme.style(Meaning::Key))];
    let room = inside.height.saturating_sub(1);
    let from = super::table::first(found.len(), selected, room);
    for (index, action) in found.iter().enumerate().skip(from) {
        let mark = if index == selected { "›" } else { " " };
        let text =
            format!("{mark}{} {}", fit(&action.name().replace('_', " "), 16), fit(action.meaning(), 48));
        let style = theme.style(if index == selected { Meaning::Selected } else { Meaning::Plain });
        let key = Span::styled(format!(" {}", model.keymap.key(*action)), theme.style(Meaning::Key));
        lines.push(Line::from(vec![Span::styled(text, style), key]));
    }
    if found.is_empty() {
        lines.push(Line::styled(" no command is called that", theme.style(Meaning::Muted)));
    }
    put(frame, inside, &lines);
}

fn ask(frame: &mut Frame<'_>, body: Rect, model: &Model, question: &Question) {
    let theme = model.theme;
    let width = body.width.saturating_sub(4).min(72);
    let room = (width as usize).saturating_sub(2);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for sentence in &question.sentences {
        lines.extend(wrap(sentence, room).into_iter().map(|text| Line::raw(format!(" {text}"))));
    }
    lines.push(Line::default());
    let keys = match &question.reason {
        Some(reason) => {
            let text = cut(&format!(" > {}▏", rows::line(reason)), room);
            lines.push(Line::styled(text, theme.style(Meaning::Key)));
            " ⏎ agree with this reason   esc refuse"
        }
        None => " y agree   n or esc refuse",
    };
    lines.push(Line::styled(keys, theme.style(Meaning::Muted)));
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let inside = window(frame, body, model, question.title, width, height);
    // Where there is no room for all, the keys matter more than the beginning.
    let from = lines.len().saturating_sub(inside.height as usize);
    put(frame, inside, &lines[from..]);
}

pub(super) fn first_run(model: &Model, why: &str, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let plain = theme.style(Meaning::Plain);
    let mut lines = vec![Line::default()];
    lines.extend(paragraph("Nothing can be watched yet.", columns, theme.style(Meaning::Title)));
    lines.extend(paragraph(
        &format!("{}.", why.trim_end_matches('.')),
        columns,
        theme.style(Meaning::Warning),
    ));
    lines.push(Line::default());
    let demo = model.keymap.key(Action::Demo);
    for text in [
        format!("{demo}  play the demo: a GitHub inside this program, with bots that argue. It needs no token and no network."),
        "1. Give Cloture a token: set GH_TOKEN, or sign in with `gh auth login`.".to_owned(),
        "2. Start it in a checkout whose branch has a pull request, or add a [[watch]] rule to the configuration.".to_owned(),
        "3. `cloture doctor` says what is still missing. Nothing is written to a repository until `drive = true` for it.".to_owned(),
    ] {
        lines.extend(paragraph(&text, columns, plain));
    }
    lines
}
