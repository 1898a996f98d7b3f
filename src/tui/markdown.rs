//! Markdown as lines on a terminal, with the HTML that bots mix into it. What they fold, hide or append for programs and
//! advertising is folded away and counted. The text was cleaned before it comes here.

mod code;
mod html;
mod noise;
mod table;

use super::text::{count, cut, width, wrap};
use super::theme::{TextMeaning, Theme};
use crate::output::sanitize;
use code::RenderedCode;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use table::MarkdownTable;

pub(super) use code::code_rows;

/// How a post is to be shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkdownOptions<'a> {
    pub(super) columns: usize,
    pub(super) theme: Theme,
    /// Shows what stands in folds, and what was hidden.
    pub(super) unfolded: bool,
    /// The file it is about, and the lines that a suggestion would replace.
    pub(super) path: &'a str,
    pub(super) replaced: &'a [String],
}

/// A post as lines.
#[derive(Debug, Clone, Default)]
pub(super) struct MarkdownLines {
    pub(super) lines: Vec<Line<'static>>,
    /// Lines that are there and not shown.
    pub(super) folded: usize,
}

/// Addresses are shown so far; longer ones carry other things.
const LONGEST_LINK: usize = 80;

pub(super) fn lay(markdown: &str, look: &MarkdownOptions<'_>) -> MarkdownLines {
    let options = Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM;
    let mut writer = MarkdownWriter::new(look);
    for event in Parser::new_ext(markdown, options) {
        writer.take(event);
    }
    writer.finish()
}

/// Something that stands before every line inside of it, and before its first line perhaps something else.
struct Container {
    first: String,
    rest: String,
    style: Style,
    begun: bool,
}

/// A `<details>` that is open.
struct OpenDetails {
    /// Where its lines begin, and the containers it is in.
    from: usize,
    depth: usize,
    title: String,
    in_summary: bool,
}

struct MarkdownWriter<'a> {
    look: MarkdownOptions<'a>,
    done: Vec<Line<'static>>,
    /// The paragraph so far: pieces with their styles.
    pieces: Vec<(String, Style)>,
    styles: Vec<Style>,
    containers: Vec<Container>,
    /// The number of the next item, for each list that is open.
    lists: Vec<Option<u64>>,
    code: Option<RenderedCode>,
    table: Option<MarkdownTable>,
    /// Where each link that is open goes, and how much was written before it.
    links: Vec<(String, usize)>,
    image: Option<String>,
    html_block: Option<String>,
    elements: Vec<(String, Style)>,
    folds: Vec<OpenDetails>,
    folded: usize,
    /// Inside what a bot says of how it came to its finding; ends with a rule.
    in_chain: Option<usize>,
}

impl<'a> MarkdownWriter<'a> {
    fn new(look: &MarkdownOptions<'a>) -> MarkdownWriter<'a> {
        MarkdownWriter {
            look: MarkdownOptions { columns: look.columns.max(8), ..*look },
            done: Vec::new(),
            pieces: Vec::new(),
            styles: vec![look.theme.style(TextMeaning::Plain)],
            containers: Vec::new(),
            lists: Vec::new(),
            code: None,
            table: None,
            links: Vec::new(),
            image: None,
            html_block: None,
            elements: Vec::new(),
            folds: Vec::new(),
            folded: 0,
            in_chain: None,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.code.is_some() => self.text(&text),
            // A reference such as `&#27;` has become a character only now, after everything else was cleaned.
            Event::Text(text) => self.text(&sanitize::line(&text)),
            Event::Code(text) => {
                let style = self.meaning(TextMeaning::Code);
                self.push(&text, style);
            }
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.flush(),
            Event::Rule => self.rule(),
            Event::InlineHtml(tag) => self.html(&tag),
            Event::Html(html) => match &mut self.html_block {
                Some(block) => block.push_str(&html),
                None => self.html(&html),
            },
            Event::TaskListMarker(done) => {
                if let Some(item) = self.containers.last_mut().filter(|item| !item.begun) {
                    item.first = item.first.replace("• ", if done { "☑ " } else { "☐ " });
                }
            }
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.gap();
                let style = self.meaning(TextMeaning::Heading);
                let is_first = level == HeadingLevel::H1;
                self.styles.push(if is_first { style.add_modifier(Modifier::UNDERLINED) } else { style });
            }
            // The first paragraph of an item stands on the item's own line.
            Tag::Paragraph if self.containers.last().is_some_and(|item| !item.begun) => {}
            Tag::Paragraph | Tag::FootnoteDefinition(_) => self.gap(),
            Tag::Emphasis => self.add(Modifier::ITALIC),
            Tag::Strong => self.add(Modifier::BOLD),
            Tag::Strikethrough => self.add(Modifier::CROSSED_OUT),
            Tag::BlockQuote(kind) => {
                self.gap();
                let style = self.meaning(TextMeaning::Muted);
                self.enter("│ ".to_owned(), "│ ".to_owned(), style, true);
                self.styles.push(self.look.theme.style(TextMeaning::Quote));
                if let Some(kind) = kind {
                    let style = self.meaning(TextMeaning::Warning).add_modifier(Modifier::BOLD);
                    self.push(&format!("{kind:?}").to_uppercase(), style);
                    self.flush();
                }
            }
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                let lead = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", number.saturating_sub(1))
                    }
                    _ => "• ".to_owned(),
                };
                let hang = " ".repeat(width(&lead));
                self.enter(lead, hang, Style::default(), false);
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                self.code = Some(self.code_of(&kind));
            }
            Tag::Link { dest_url, .. } => self.open_link(&dest_url),
            Tag::Image { .. } => self.image = Some(String::new()),
            Tag::HtmlBlock => {
                self.flush();
                self.html_block = Some(String::new());
            }
            Tag::Table(_) => {
                self.gap();
                self.table = Some(MarkdownTable::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.pop();
            }
            TagEnd::Paragraph => self.flush(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.pop(),
            TagEnd::BlockQuote(_) => {
                self.leave();
                self.pop();
            }
            TagEnd::Item => self.leave(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::Link => self.close_link(),
            TagEnd::Image => {
                if let Some(description) = self.image.take() {
                    self.picture(&description);
                }
            }
            TagEnd::HtmlBlock => {
                if let Some(html) = self.html_block.take() {
                    self.html(&html);
                }
                self.flush();
            }
            TagEnd::TableCell => {
                let pieces = std::mem::take(&mut self.pieces);
                if let Some(table) = &mut self.table {
                    let text: String = pieces.into_iter().map(|(text, _)| text).collect();
                    table.cell(&text);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let room = self.room();
                    let lines = table.lines(room, self.look.theme);
                    for spans in lines {
                        self.row(spans);
                    }
                }
            }
            _ => {}
        }
    }

    /// A meaning, in the style that is in force.
    fn meaning(&self, meaning: TextMeaning) -> Style {
        self.style().patch(self.look.theme.style(meaning))
    }

    fn style(&self) -> Style {
        let outer = self.styles.last().copied().unwrap_or_default();
        self.elements.iter().fold(outer, |style, (_, element)| style.patch(*element))
    }

    fn add(&mut self, modifier: Modifier) {
        let style = self.styles.last().copied().unwrap_or_default();
        self.styles.push(style.add_modifier(modifier));
    }

    fn pop(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.text.push_str(text);
        } else if let Some(fold) = self.folds.last_mut().filter(|fold| fold.in_summary) {
            fold.title.push_str(text);
        } else {
            let style = self.style();
            self.push(text, style);
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        if let Some(description) = &mut self.image {
            description.push_str(text);
        } else if let Some(fold) = self.folds.last_mut().filter(|fold| fold.in_summary) {
            fold.title.push_str(text);
        } else {
            self.pieces.push((text.replace('\t', "    "), style));
        }
    }

    /// A picture is its description here.
    fn picture(&mut self, description: &str) {
        let description = description.trim();
        let text = if description.is_empty() { "[image]".to_owned() } else { format!("[{description}]") };
        let style = self.meaning(TextMeaning::Muted);
        self.push(&text, style);
    }

    fn open_link(&mut self, target: &str) {
        self.links.push((sanitize::line(target).into_owned(), self.pieces.len()));
        self.add(Modifier::UNDERLINED);
    }

    /// Says where a link goes, unless its own text does or it is only a picture's.
    fn close_link(&mut self) {
        self.pop();
        let Some((target, from)) = self.links.pop() else { return };
        let text: String = self.pieces.iter().skip(from).map(|(text, _)| text.as_str()).collect();
        let is_picture = text.starts_with('[') && text.ends_with(']');
        let says_it = target.trim_start_matches("mailto:") == text.trim() || target.starts_with('#');
        if !says_it && !is_picture && !target.is_empty() {
            let style = self.look.theme.style(TextMeaning::Muted);
            self.push(&format!(" <{}>", cut(&target, LONGEST_LINK)), style);
        }
    }

    fn enter(&mut self, first: String, rest: String, style: Style, begun: bool) {
        self.containers.push(Container { first, rest, style, begun });
    }

    fn leave(&mut self) {
        self.flush();
        if self.containers.last().is_some_and(|item| !item.begun) {
            self.row(Vec::new());
        }
        // A fold ends at the latest with what it stands in.
        while self.folds.last().is_some_and(|fold| fold.depth >= self.containers.len()) {
            self.end_fold();
        }
        self.containers.pop();
    }

    /// The columns that are left beside the containers.
    fn room(&self) -> usize {
        let used: usize = self.shown_containers().map(|container| width(&container.rest)).sum();
        self.look.columns.saturating_sub(used).max(4)
    }

    /// Whoever nests a hundred quotations still leaves room for the text.
    fn shown_containers(&self) -> impl Iterator<Item = &Container> {
        self.containers.iter().take(8)
    }

    /// One line, behind whatever its containers put before it.
    fn row(&mut self, spans: Vec<Span<'static>>) {
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

    /// An empty line, except at the beginning, after another, and where an item begins.
    fn gap(&mut self) {
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

    fn rule(&mut self) {
        self.flush();
        if let Some(from) = self.in_chain.take() {
            return self.fold_lines(from);
        }
        let rule = "─".repeat(self.room().min(40));
        let style = self.look.theme.style(TextMeaning::Muted);
        self.row(vec![Span::styled(rule, style)]);
    }

    /// Wraps what was collected, wherever its styles change.
    fn flush(&mut self) {
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
            if !self.look.unfolded {
                return;
            }
            for (_, style) in &mut pieces {
                *style = self.look.theme.style(TextMeaning::Muted);
            }
        }
        for spans in wrapped(&plain, &pieces, self.room()) {
            self.row(spans);
        }
    }

    fn begin_fold(&mut self) {
        self.flush();
        let (from, depth) = (self.done.len(), self.containers.len());
        self.folds.push(OpenDetails { from, depth, title: String::new(), in_summary: false });
    }

    /// Puts one line in place of everything inside, or above it.
    fn end_fold(&mut self) {
        self.flush();
        let Some(fold) = self.folds.pop() else { return };
        let inside = self.done.iter().skip(fold.from).filter(|line| !is_empty(line)).count();
        let title = fold.title.trim();
        let title = if title.is_empty() { "details" } else { title };
        let lines =
            if self.look.unfolded { self.done.split_off(fold.from.min(self.done.len())) } else { Vec::new() };
        self.done.truncate(fold.from);
        while self.folds.is_empty() && self.done.last().is_some_and(is_empty) {
            self.done.pop();
        }
        if !self.done.is_empty() {
            self.gap();
        }
        let (sign, size) = if self.look.unfolded {
            ("▾", String::new())
        } else {
            ("▸", format!(" ({} folded)", count(inside, "line", "lines")))
        };
        if self.folds.is_empty() {
            self.folded += inside;
        }
        let style = self.look.theme.style(TextMeaning::Muted);
        let text = format!("{sign} {title}{size}");
        for text in wrap(&text, self.room()) {
            self.row(vec![Span::styled(text, style)]);
        }
        self.done.extend(lines);
    }

    /// Takes the lines from one on out, or shows them as what they are.
    fn fold_lines(&mut self, from: usize) {
        let inside = self.done.iter().skip(from).filter(|line| !is_empty(line)).count();
        self.folded += inside;
        if !self.look.unfolded {
            self.done.truncate(from);
        }
    }

    fn finish(mut self) -> MarkdownLines {
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

/// Breaks pieces of text into lines as [`wrap`] breaks the text, each piece in its style.
fn wrapped(plain: &str, pieces: &[(String, Style)], columns: usize) -> Vec<Vec<Span<'static>>> {
    let mut styled =
        pieces.iter().flat_map(|(text, style)| text.chars().map(move |c| (c, *style))).peekable();
    let line = |text: String| {
        let mut spans: Vec<Span<'static>> = Vec::new();
        for wanted in text.chars() {
            // Blanks at which a line was broken are in the pieces, but in no line.
            while styled.peek().is_some_and(|(c, _)| *c != wanted) {
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

#[cfg(test)]
mod tests;
