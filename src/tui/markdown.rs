//! Renders Markdown as lines of a terminal, with the HTML that bots mix into it. Parts that bots fold, hide
//! or append are folded away and counted. The caller has already cleaned the text.

mod code;
mod html;
mod lines;
mod noise;
mod table;

use super::text::{cut, width};
use super::theme::{TextMeaning, Theme};
use crate::output::sanitize;
use code::RenderedCode;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use table::MarkdownTable;

pub(super) use code::code_rows;

/// How to show a post.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkdownOptions<'a> {
    pub(super) columns: usize,
    pub(super) theme: Theme,
    /// Also shows folded and hidden parts.
    pub(super) unfolded: bool,
    /// The file of the thread, for highlighting.
    pub(super) path: &'a str,
    /// The lines that a suggestion would replace.
    pub(super) replaced: &'a [String],
}

/// A post as lines.
#[derive(Debug, Clone, Default)]
pub(super) struct MarkdownLines {
    pub(super) lines: Vec<Line<'static>>,
    /// The number of lines that are folded away.
    pub(super) folded: usize,
}

/// Longer links are cut; they mostly carry tracking data.
const LONGEST_LINK: usize = 80;

pub(super) fn render(markdown: &str, options: &MarkdownOptions<'_>) -> MarkdownLines {
    let extensions = Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM;
    let mut writer = MarkdownWriter::new(options);
    for event in Parser::new_ext(markdown, extensions) {
        writer.take(event);
    }
    writer.finish()
}

/// A quotation or list item: a lead before each of its lines, with a different one before the first.
struct Container {
    first: String,
    rest: String,
    style: Style,
    begun: bool,
}

/// A `<details>` element that is not closed yet.
struct OpenDetails {
    /// The index of its first line, and the number of containers around it.
    from: usize,
    depth: usize,
    title: String,
    in_summary: bool,
}

struct MarkdownWriter<'a> {
    options: MarkdownOptions<'a>,
    done: Vec<Line<'static>>,
    /// The current paragraph as styled pieces.
    pieces: Vec<(String, Style)>,
    styles: Vec<Style>,
    containers: Vec<Container>,
    /// The next number of each open list; none for bullets.
    lists: Vec<Option<u64>>,
    code: Option<RenderedCode>,
    table: Option<MarkdownTable>,
    /// Each open link with its target and the number of pieces before it.
    links: Vec<(String, usize)>,
    image: Option<String>,
    html_block: Option<String>,
    elements: Vec<(String, Style)>,
    folds: Vec<OpenDetails>,
    folded: usize,
    /// The first line of a bot's analysis log, which ends with a rule.
    in_chain: Option<usize>,
}

impl<'a> MarkdownWriter<'a> {
    fn new(options: &MarkdownOptions<'a>) -> MarkdownWriter<'a> {
        MarkdownWriter {
            options: MarkdownOptions { columns: options.columns.max(8), ..*options },
            done: Vec::new(),
            pieces: Vec::new(),
            styles: vec![options.theme.style(TextMeaning::Plain)],
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
            // Clean again: the parser has just decoded references such as `&#27;`.
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
            // The first paragraph of an item starts on the item's line.
            Tag::Paragraph if self.containers.last().is_some_and(|item| !item.begun) => {}
            Tag::Paragraph | Tag::FootnoteDefinition(_) => self.gap(),
            Tag::Emphasis => self.add(Modifier::ITALIC),
            Tag::Strong => self.add(Modifier::BOLD),
            Tag::Strikethrough => self.add(Modifier::CROSSED_OUT),
            Tag::BlockQuote(kind) => {
                self.gap();
                let style = self.meaning(TextMeaning::Muted);
                self.enter("│ ".to_owned(), "│ ".to_owned(), style, true);
                self.styles.push(self.options.theme.style(TextMeaning::Quote));
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
                    let lines = table.lines(room, self.options.theme);
                    for spans in lines {
                        self.row(spans);
                    }
                }
            }
            _ => {}
        }
    }

    /// The style of a meaning on top of the current style.
    fn meaning(&self, meaning: TextMeaning) -> Style {
        self.style().patch(self.options.theme.style(meaning))
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

    /// Shows a picture as its description.
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

    /// Shows the target of a link, unless its text is the target or it holds only a picture.
    fn close_link(&mut self) {
        self.pop();
        let Some((target, from)) = self.links.pop() else { return };
        let text: String = self.pieces.iter().skip(from).map(|(text, _)| text.as_str()).collect();
        let is_picture = text.starts_with('[') && text.ends_with(']');
        let says_it = target.trim_start_matches("mailto:") == text.trim() || target.starts_with('#');
        if !says_it && !is_picture && !target.is_empty() {
            let style = self.options.theme.style(TextMeaning::Muted);
            self.push(&format!(" <{}>", cut(&target, LONGEST_LINK)), style);
        }
    }
}

#[cfg(test)]
mod tests;
