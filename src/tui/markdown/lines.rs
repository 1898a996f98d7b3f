//! The lines of a post: containers, wrapping and folds.

use super::{Container, MarkdownLines, MarkdownWriter, OpenDetails, noise};
use crate::tui::text::{count, width, wrap};
use crate::tui::theme::TextMeaning;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

impl MarkdownWriter<'_> {
    pub(super) fn enter(&mut self, first: String, rest: String, style: Style, begun: bool) {
        self.containers.push(Container { first, rest, style, begun });
    }

    pub(super) fn leave(&mut self) {
        self.flush();
        if self.containers.last().is_some_and(|item| !item.begun) {
            self.row(Vec::new());
        }
        // A fold ends at the latest with its container.
        while self.folds.last().is_some_and(|fold| fold.depth >= self.containers.len()) {
            self.end_fold();
        }
        self.containers.pop();
    }

    /// The width that the containers leave.
    pub(super) fn room(&self) -> usize {
        let used: usize = self.shown_containers().map(|container| width(&container.rest)).sum();
        self.options.columns.saturating_sub(used).max(4)
    }

    /// Deeper containers have no lead, so that the text keeps some width.
    fn shown_containers(&self) -> impl Iterator<Item = &Container> {
        self.containers.iter().take(8)
    }

    /// Adds one line, with the leads of its containers.
    pub(super) fn row(&mut self, spans: Vec<Span<'static>>) {
        let mut line: Vec<Span<'static>> = Vec::with_capacity(spans.len() + self.containers.len());
        for container in self.containers.iter_mut().take(8) {
            let begun = std::mem::replace(&mut container.begun, true);
            let lead = if begun { &container.rest } else { &container.first };
            line.push(Span::styled(lead.clone(), container.style));
        }
        self.containers.iter_mut().skip(8).for_each(|container| container.begun = true);
        line.extend(spans);
        self.done.push(Line::from(line));
    }

    /// Adds an empty line, unless the text starts here, the last line is empty, or an item starts here.
    pub(super) fn gap(&mut self) {
        self.flush();
        let is_item = self.containers.last().is_some_and(|item| !item.begun);
        let after_text = self.done.last().is_some_and(|line| !is_empty(line));
        let at_fold = self.folds.last().is_some_and(|fold| fold.from == self.done.len());
        if after_text && !is_item && !at_fold {
            let lead = self.shown_containers().map(|it| Span::styled(it.rest.clone(), it.style));
            let line = Line::from(lead.collect::<Vec<_>>());
            self.done.push(line);
        }
    }

    pub(super) fn rule(&mut self) {
        self.flush();
        if let Some(from) = self.in_chain.take() {
            return self.fold_lines(from);
        }
        let rule = "─".repeat(self.room().min(40));
        let style = self.options.theme.style(TextMeaning::Muted);
        self.row(vec![Span::styled(rule, style)]);
    }

    /// Wraps the current paragraph into lines.
    pub(super) fn flush(&mut self) {
        let mut pieces = std::mem::take(&mut self.pieces);
        let plain: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
        if plain.trim().is_empty() {
            return;
        }
        if noise::begins_chain(&plain) && self.folds.is_empty() && self.in_chain.is_none() {
            self.in_chain = Some(self.done.len());
        }
        let is_footer = noise::is_footer(&plain);
        if is_footer {
            self.folded += 1;
            if !self.options.unfolded {
                return;
            }
            for (_, style) in &mut pieces {
                *style = self.options.theme.style(TextMeaning::Muted);
            }
        }
        for spans in wrapped(&plain, &pieces, self.room()) {
            self.row(spans);
        }
    }

    pub(super) fn begin_fold(&mut self) {
        self.flush();
        let (from, depth) = (self.done.len(), self.containers.len());
        self.folds.push(OpenDetails { from, depth, title: String::new(), in_summary: false });
    }

    /// Replaces the lines of a fold by its title, or puts the title above them if unfolded.
    pub(super) fn end_fold(&mut self) {
        self.flush();
        let Some(fold) = self.folds.pop() else { return };
        let inside = self.done.iter().skip(fold.from).filter(|line| !is_empty(line)).count();
        let title = fold.title.trim();
        let title = if title.is_empty() { "details" } else { title };
        let lines = if self.options.unfolded {
            self.done.split_off(fold.from.min(self.done.len()))
        } else {
            Vec::new()
        };
        self.done.truncate(fold.from);
        while self.folds.is_empty() && self.done.last().is_some_and(is_empty) {
            self.done.pop();
        }
        if !self.done.is_empty() {
            self.gap();
        }
        let (sign, size) = if self.options.unfolded {
            ("▾", String::new())
        } else {
            ("▸", format!(" ({} folded)", count(inside, "line", "lines")))
        };
        if self.folds.is_empty() {
            self.folded += inside;
        }
        let style = self.options.theme.style(TextMeaning::Muted);
        let text = format!("{sign} {title}{size}");
        for text in wrap(&text, self.room()) {
            self.row(vec![Span::styled(text, style)]);
        }
        self.done.extend(lines);
    }

    /// Folds all lines from this one on.
    fn fold_lines(&mut self, from: usize) {
        let inside = self.done.iter().skip(from).filter(|line| !is_empty(line)).count();
        self.folded += inside;
        if !self.options.unfolded {
            self.done.truncate(from);
        }
    }

    pub(super) fn finish(mut self) -> MarkdownLines {
        self.flush();
        if self.code.is_some() {
            self.end_code();
        }
        while !self.folds.is_empty() {
            self.end_fold();
        }
        let is_idle =
            |line: &Line<'_>| is_empty(line) || line.spans.iter().all(|span| span.content.starts_with('─'));
        while self.done.last().is_some_and(is_idle) {
            self.done.pop();
        }
        MarkdownLines { lines: self.done, folded: self.folded }
    }
}

fn is_empty(line: &Line<'_>) -> bool {
    line.spans.iter().all(|span| span.content.trim_matches(['│', ' ']).is_empty())
}

/// Breaks styled pieces into lines as [`wrap`] breaks the plain text.
fn wrapped(plain: &str, pieces: &[(String, Style)], columns: usize) -> Vec<Vec<Span<'static>>> {
    let mut styled =
        pieces.iter().flat_map(|(text, style)| text.chars().map(move |c| (c, *style))).peekable();
    let line = |text: String| {
        let mut spans: Vec<Span<'static>> = Vec::new();
        for character in text.chars() {
            // The pieces still hold the blanks at line breaks.
            while styled.peek().is_some_and(|(c, _)| *c != character) {
                styled.next();
            }
            let Some((c, style)) = styled.next() else { break };
            match spans.last_mut() {
                Some(span) if span.style == style => span.content.to_mut().push(c),
                _ => spans.push(Span::styled(c.to_string(), style)),
            }
        }
        spans
    };
    wrap(plain, columns).into_iter().map(line).collect()
}
