//! Markdown as lines on a terminal. What bots hide in their posts for programs is left out, and what they fold is folded.
//! The text was cleaned before it comes here.

use super::text::{count, width, wrap};
use super::theme::{Meaning, Theme};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::fmt::Write as _;

/// Renders a post into so many columns. `unfolded` shows what stands in folds.
pub(super) fn lines(markdown: &str, columns: usize, theme: Theme, unfolded: bool) -> Vec<Line<'static>> {
    let visible = without_noise(markdown, unfolded);
    let mut writer = Writer::new(columns.max(8), theme);
    for event in Parser::new_ext(&visible, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES) {
        writer.take(event);
    }
    writer.finish()
}

/// Comments go, and a fold becomes its summary.
fn without_noise(markdown: &str, unfolded: bool) -> String {
    let mut rest = markdown;
    let mut kept = String::new();
    let mut depth = 0usize;
    loop {
        let next = ["<!--", "<details", "</details>"]
            .iter()
            .filter_map(|mark| Some((rest.find(mark)?, *mark)))
            .min();
        let Some((at, mark)) = next else { break };
        if depth == 0 || unfolded {
            kept.push_str(&rest[..at]);
        }
        rest = &rest[at..];
        match mark {
            "<!--" => rest = rest.find("-->").map_or("", |end| &rest[end + 3..]),
            "<details" => {
                let inner = rest.find('>').map_or("", |end| &rest[end + 1..]);
                let (summary, body) = summary(inner);
                if depth == 0 || unfolded {
                    let sign = if unfolded { '▾' } else { '▸' };
                    let size = folded_lines(body);
                    // Writing to a string does not fail.
                    let _ = write!(kept, "\n\n{sign} *{summary}* ({})\n\n", count(size, "line", "lines"));
                }
                depth += 1;
                rest = body;
            }
            _ => {
                depth = depth.saturating_sub(1);
                rest = rest.strip_prefix("</details>").unwrap_or(rest);
                kept.push_str("\n\n");
            }
        }
    }
    if depth == 0 || unfolded {
        kept.push_str(rest);
    }
    kept
}

fn summary(inner: &str) -> (String, &str) {
    let trimmed = inner.trim_start();
    let Some(after) = trimmed.strip_prefix("<summary>") else { return ("folded".to_owned(), inner) };
    match after.split_once("</summary>") {
        Some((summary, body)) => (without_tags(summary).replace('*', "").trim().to_owned(), body),
        None => ("folded".to_owned(), after),
    }
}

fn folded_lines(body: &str) -> usize {
    let inside = body.split("</details>").next().unwrap_or_default();
    inside.lines().filter(|text| !text.trim().is_empty()).count()
}

fn without_tags(text: &str) -> String {
    let mut depth = 0usize;
    let kept = text.chars().filter(|c| match c {
        '<' => {
            depth += 1;
            false
        }
        '>' if depth > 0 => {
            depth -= 1;
            false
        }
        _ => depth == 0,
    });
    kept.collect()
}

struct Writer {
    columns: usize,
    theme: Theme,
    done: Vec<Line<'static>>,
    /// The paragraph so far: pieces with their styles.
    pieces: Vec<(String, Style)>,
    styles: Vec<Style>,
    /// The number of the next item, for each list that is open.
    lists: Vec<Option<u64>>,
    quotes: usize,
    code: Option<bool>,
    item: Option<String>,
}

impl Writer {
    fn new(columns: usize, theme: Theme) -> Writer {
        Writer {
            columns,
            theme,
            done: Vec::new(),
            pieces: Vec::new(),
            styles: vec![Style::default()],
            lists: Vec::new(),
            quotes: 0,
            code: None,
            item: None,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => self.code(&text),
            Event::Text(text) => self.push(&text, self.style()),
            Event::Code(text) => self.push(&text, self.theme.style(Meaning::Code)),
            Event::SoftBreak => self.push(" ", self.style()),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.flush();
                let rule = "─".repeat(self.columns.min(40));
                self.done.push(Line::styled(rule, self.theme.style(Meaning::Muted)));
            }
            Event::InlineHtml(tag) if tag.starts_with("<br") => self.flush(),
            Event::Html(html) => {
                let text = without_tags(&html);
                if !text.trim().is_empty() {
                    self.push(text.trim(), self.style());
                    self.flush();
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.gap();
                let mut style = self.theme.style(Meaning::Heading);
                if *level == HeadingLevel::H1 {
                    style = style.add_modifier(Modifier::UNDERLINED);
                }
                self.styles.push(style);
            }
            Tag::Paragraph if self.item.is_none() => self.gap(),
            Tag::Emphasis => self.styles.push(self.style().add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.styles.push(self.style().add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.styles.push(self.style().add_modifier(Modifier::CROSSED_OUT)),
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(*first);
            }
            Tag::Item => {
                self.flush();
                let depth = "  ".repeat(self.lists.len().saturating_sub(1));
                self.item = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{depth}{}. ", *number - 1)
                    }
                    _ => format!("{depth}• "),
                });
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                let is_diff =
                    matches!(kind, pulldown_cmark::CodeBlockKind::Fenced(name) if name.starts_with("diff"));
                self.code = Some(is_diff);
            }
            Tag::TableRow | Tag::TableHead => self.flush(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.pop();
            }
            TagEnd::Paragraph | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead => {
                self.flush();
                self.item = None;
            }
            TagEnd::TableCell => self.push("  ", Style::default()),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.pop(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::CodeBlock => self.code = None,
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn pop(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        self.pieces.push((text.replace('\t', "    "), style));
    }

    fn code(&mut self, text: &str) {
        let is_diff = self.code == Some(true);
        for text in text.lines() {
            let meaning = match text.chars().next() {
                Some('+') if is_diff => Meaning::Added,
                Some('-') if is_diff => Meaning::Removed,
                _ => Meaning::Code,
            };
            let text = super::text::cut(&text.replace('\t', "    "), self.columns.saturating_sub(2));
            self.done.push(Line::styled(format!("  {text}"), self.theme.style(meaning)));
        }
    }

    /// An empty line, except at the beginning and after another.
    fn gap(&mut self) {
        self.flush();
        if self.done.last().is_some_and(|line| line.width() > 0) {
            self.done.push(Line::default());
        }
    }

    /// Wraps what was collected. Pieces break only at blanks, wherever their styles change.
    fn flush(&mut self) {
        let quote = "│ ".repeat(self.quotes);
        let lead = self.item.clone().unwrap_or_default();
        let hang = " ".repeat(width(&lead));
        let columns = self.columns.saturating_sub(width(&quote) + width(&lead)).max(4);
        let pieces = std::mem::take(&mut self.pieces);
        if pieces.iter().all(|(text, _)| text.trim().is_empty()) {
            return;
        }
        let plain: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
        let mut styled =
            pieces.iter().flat_map(|(text, style)| text.chars().map(move |c| (c, *style))).peekable();
        for (index, wrapped) in wrap(&plain, columns).into_iter().enumerate() {
            let mut spans: Vec<Span<'static>> = Vec::new();
            if !quote.is_empty() {
                spans.push(Span::styled(quote.clone(), self.theme.style(Meaning::Muted)));
            }
            spans.push(Span::raw(if index == 0 { lead.clone() } else { hang.clone() }));
            let lead_spans = spans.len();
            for wanted in wrapped.chars() {
                // Blanks at which a line was broken are in the pieces, but in no line.
                while styled.peek().is_some_and(|(c, _)| *c != wanted) {
                    styled.next();
                }
                let Some((c, style)) = styled.next() else { break };
                let has_text = spans.len() > lead_spans;
                match spans.last_mut() {
                    Some(span) if has_text && span.style == style => span.content.to_mut().push(c),
                    _ => spans.push(Span::styled(c.to_string(), style)),
                }
            }
            self.done.push(Line::from(spans));
        }
        if self.item.is_some() {
            self.item = Some(hang);
        }
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        self.flush();
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn rendered(markdown: &str, unfolded: bool) -> Vec<String> {
        let theme = Theme::new(config::Theme::Dark, false);
        lines(markdown, 30, theme, unfolded).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn hidden_comments_are_left_out_and_folds_are_folded() {
        let post = "Fix **this**.\n\n<!-- secret -->\n<details>\n<summary>Prompt</summary>\n\nlong text\n\n</details>\n\nEnd.";
        assert_eq!(rendered(post, false), ["Fix this.", "", "▸ Prompt (1 line)", "", "End."]);
        assert!(rendered(post, true).contains(&"long text".to_owned()));
        assert!(!rendered(post, true).concat().contains("secret"));
    }

    #[test]
    fn lists_quotes_and_code_keep_their_shape() {
        let post = "- one\n- two words that are long enough to be broken\n\n> said\n\n```diff\n-a\n+b\n```";
        let lines = rendered(post, false);
        assert_eq!(lines[0], "• one");
        assert_eq!(lines[2], "  enough to be broken", "{lines:?}");
        assert!(lines.contains(&"│ said".to_owned()), "{lines:?}");
        assert!(lines.contains(&"  +b".to_owned()), "{lines:?}");
    }

    #[test]
    fn what_is_never_closed_does_no_harm() {
        for post in ["<details>", "<!--", "<details><summary>x", "</details>x", "a <b", "```"] {
            let _ = rendered(post, false);
            let _ = rendered(post, true);
        }
        assert_eq!(rendered("x<!-- a", false), ["x"]);
    }
}
