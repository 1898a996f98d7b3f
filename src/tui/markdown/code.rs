//! Code blocks of a post: highlighted code, a diff, or a suggestion beside the lines that it would replace.

use super::MarkdownWriter;
use crate::tui::highlight::Highlighter;
use crate::tui::text::{columns_of, count};
use crate::tui::theme::{TextMeaning, Theme};
use pulldown_cmark::CodeBlockKind;
use ratatui::style::Style;
use ratatui::text::Span;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A line of code has at most this many rows.
pub(super) const CODE_ROWS: usize = 4;

/// A code block shows at most this many lines, and counts the rest.
const CODE_LINES: usize = 400;

pub(super) struct RenderedCode {
    kind: CodeKind,
    highlighter: Highlighter,
    shown: usize,
    left_out: usize,
    pub(super) text: String,
}

#[derive(PartialEq, Eq)]
enum CodeKind {
    Plain,
    Diff,
    Suggestion,
}

/// Highlights one line of code. A long line continues in further rows, up to a limit.
pub(in crate::tui) fn code_rows(
    text: &str,
    pieces: &[(Range<usize>, TextMeaning)],
    plain: Style,
    theme: Theme,
    columns: usize,
) -> Vec<Vec<Span<'static>>> {
    let columns = columns.max(2);
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let (mut used, mut next) = (0, 0);
    for (at, grapheme) in text.grapheme_indices(true) {
        while pieces.get(next).is_some_and(|(piece, _)| piece.end <= at) {
            next += 1;
        }
        let style = match pieces.get(next) {
            Some((piece, meaning)) if piece.contains(&at) => plain.patch(theme.style(*meaning)),
            _ => plain,
        };
        let (shown, wide) = if grapheme == "\t" { ("    ", 4) } else { (grapheme, columns_of(grapheme)) };
        if used + wide > columns {
            if rows.len() == CODE_ROWS {
                if let Some(last) = rows.last_mut() {
                    last.pop();
                    last.push(Span::styled("…", theme.style(TextMeaning::Muted)));
                }
                return rows;
            }
            rows.push(Vec::new());
            used = 0;
        }
        used += wide;
        let Some(row) = rows.last_mut() else { continue };
        match row.last_mut() {
            Some(span) if span.style == style => span.content.to_mut().push_str(shown),
            _ => row.push(Span::styled(shown.to_owned(), style)),
        }
    }
    rows
}

impl MarkdownWriter<'_> {
    pub(super) fn code_of(&self, kind: &CodeBlockKind<'_>) -> RenderedCode {
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.as_ref(),
            CodeBlockKind::Indented => "",
        };
        let (kind, highlighter) = match info.split_whitespace().next().unwrap_or_default() {
            "suggestion" => (CodeKind::Suggestion, Highlighter::of_path(self.options.path)),
            "diff" | "patch" | "udiff" => (CodeKind::Diff, Highlighter::of_path(self.options.path)),
            _ => (CodeKind::Plain, Highlighter::of_fence(info)),
        };
        RenderedCode { kind, highlighter, shown: 0, left_out: 0, text: String::new() }
    }

    pub(super) fn end_code(&mut self) {
        let Some(mut code) = self.code.take() else { return };
        let text = std::mem::take(&mut code.text);
        match code.kind {
            CodeKind::Plain => {
                for text in text.lines() {
                    self.code_line(&mut code, "", text, TextMeaning::Plain);
                }
            }
            CodeKind::Diff => {
                for text in text.lines() {
                    self.diff_line(&mut code, text);
                }
            }
            CodeKind::Suggestion => {
                let heading = self.options.theme.style(TextMeaning::Muted);
                self.row(vec![Span::styled("suggested change", heading)]);
                let mut before =
                    RenderedCode { highlighter: code.highlighter.clone(), text: String::new(), ..code };
                for text in self.options.replaced {
                    self.code_line(&mut before, "-", text, TextMeaning::Removed);
                }
                for text in text.lines() {
                    self.code_line(&mut before, "+", text, TextMeaning::Added);
                }
                code = before;
            }
        }
        if code.left_out > 0 {
            let text = format!("  … {} more", count(code.left_out, "line", "lines"));
            let style = self.options.theme.style(TextMeaning::Muted);
            self.row(vec![Span::styled(text, style)]);
        }
    }

    fn diff_line(&mut self, code: &mut RenderedCode, text: &str) {
        let (sign, meaning) = match text.chars().next() {
            Some('+') => ("+", TextMeaning::Added),
            Some('-') => ("-", TextMeaning::Removed),
            Some('@') => ("", TextMeaning::Heading),
            Some(' ') => (" ", TextMeaning::Plain),
            _ => ("", TextMeaning::Plain),
        };
        self.code_line(code, sign, text.strip_prefix(sign).unwrap_or(text), meaning);
    }

    fn code_line(&mut self, code: &mut RenderedCode, sign: &'static str, text: &str, meaning: TextMeaning) {
        code.shown += 1;
        if code.shown > CODE_LINES {
            code.left_out += 1;
            return;
        }
        let theme = self.options.theme;
        let style = theme.style(meaning);
        let pieces = if meaning == TextMeaning::Heading { Vec::new() } else { code.highlighter.line(text) };
        let plain = if matches!(meaning, TextMeaning::Added | TextMeaning::Removed) {
            theme.style(TextMeaning::Plain)
        } else {
            style
        };
        let room = self.room().saturating_sub(2 + sign.len());
        for (index, mut row) in code_rows(text, &pieces, plain, theme, room).into_iter().enumerate() {
            let lead =
                if index == 0 { sign } else { &"↪"[..if sign.is_empty() { 0 } else { "↪".len() }] };
            row.insert(0, Span::styled(format!("  {lead}"), style));
            self.row(row);
        }
    }
}
