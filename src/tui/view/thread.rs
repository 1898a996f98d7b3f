//! One thread: where it stands in words, the code it is about, and everything that was said.

use super::watch::{actions, rounds, severity_style, stance, status_style};
use super::{paragraph, since};
use crate::tui::markdown;
use crate::tui::model::Model;
use crate::tui::rows::page::Said;
use crate::tui::text::cut;
use crate::tui::theme::Meaning;
use ratatui::text::{Line, Span};

/// As much of a hunk as is shown; its end is what the comment is about.
const HUNK_LINES: usize = 12;

pub(super) fn page(model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let Some((pull, row, page)) = model.open_thread() else {
        return paragraph(
            "This thread is not there any more; esc goes back.",
            columns,
            theme.style(Meaning::Muted),
        );
    };
    let room = columns as usize;
    let muted = theme.style(Meaning::Muted);
    let mut lines = vec![Line::styled(cut(&format!(" {}", row.title), room), theme.style(Meaning::Title))];
    lines.push(Line::from(vec![
        Span::styled(format!(" {} ", row.severity_name()), severity_style(row.severity, theme)),
        Span::styled(format!("{} · {} · {} · ", row.place, row.reviewer, pull.name), muted),
        Span::styled(row.status_name(), status_style(row, theme)),
    ]));
    if !row.why().is_empty() {
        lines.extend(paragraph(
            &format!("{}: {}", row.status.name(), row.why()),
            columns,
            status_style(row, theme),
        ));
    }
    let key = (pull.address.clone(), row.id.clone());
    lines.extend(super::trouble(model, &key, columns).into_iter().flatten());
    if let Some(counted) = &row.counted {
        let (word, meaning) = stance(counted.stance);
        let mut spans = vec![
            Span::styled(format!(" {word}"), theme.style(meaning)),
            Span::raw(format!("   rounds {}   may: ", rounds(counted))),
        ];
        spans.extend(actions(counted, theme));
        lines.push(Line::from(spans));
        let text = format!("{} {}.", row.reviewer, counted.explained(row.status));
        lines.extend(paragraph(&text, columns, muted));
    }
    lines.extend(paragraph(&format!("Handoff: {}.", row.handoff), columns, muted));
    if !page.hunk.is_empty() {
        lines.push(Line::default());
        let skipped = page.hunk.len().saturating_sub(HUNK_LINES);
        for text in page.hunk.iter().skip(skipped) {
            let meaning = match text.chars().next() {
                Some('+') => Meaning::Added,
                Some('-') => Meaning::Removed,
                Some('@') => Meaning::Heading,
                _ => Meaning::Plain,
            };
            lines.push(Line::styled(cut(&format!("   {text}"), room), theme.style(meaning)));
        }
    }
    for said in &page.said {
        lines.extend(comment(said, model, columns));
    }
    lines
}

fn comment(said: &Said, model: &Model, columns: u16) -> Vec<Line<'static>> {
    let theme = model.theme;
    let intent = said.intent.map_or_else(String::new, |intent| format!(" · {intent}"));
    let age = since(said.at, model);
    let age = if age.is_empty() { age } else { format!(" · {age} ago") };
    let hidden = if said.minimized { " · hidden on GitHub" } else { "" };
    let head = Line::from(vec![
        Span::styled(format!(" ── {} ", said.who), theme.style(Meaning::Heading)),
        Span::styled(format!("({}){intent}{age}{hidden}", said.role), theme.style(Meaning::Muted)),
    ]);
    let body =
        markdown::lines(&said.body, (columns as usize).saturating_sub(4).min(100), theme, model.unfolded);
    let indented = body.into_iter().map(|mut line| {
        line.spans.insert(0, Span::raw("   "));
        line
    });
    [Line::default(), head].into_iter().chain(indented).collect()
}
