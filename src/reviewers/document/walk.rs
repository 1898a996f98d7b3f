//! The pass over a post's Markdown and the HTML inside it that builds a [`PostDocument`].

use super::{Fence, ListItemKind, PostDocument, PostLine, Style, StyledText, join_runs};
use html5gum::{Token, Tokenizer};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

pub(super) fn walk(source: &str) -> PostDocument {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut walk = DocumentWalk::default();
    for (event, place) in Parser::new_ext(source, options).into_offset_iter() {
        walk.event(event, place.start);
    }
    walk.end_line();
    walk.document.is_cut_off = walk.folded > 0;
    walk.document
}

#[derive(Default)]
struct DocumentWalk {
    document: PostDocument,
    line: PostLine,
    /// Whether the current line has its offset.
    has_offset: bool,
    markdown: Depths,
    /// Styles that HTML tags opened. They end with their Markdown block, closed or not.
    html: Depths,
    folded: u32,
    in_summary: bool,
    /// For each open block quote, the value of `folded` before it. A fold that is left open in a quote ends
    /// with it.
    quotes: Vec<u32>,
    /// For each open list, whether it is numbered.
    lists: Vec<bool>,
    fence: Option<Fence>,
    html_block: Option<String>,
    /// The alt text of the current image.
    image: Option<String>,
}

/// How many times each style is open.
#[derive(Default)]
struct Depths {
    strong: u32,
    emphasis: u32,
    struck: u32,
    small: u32,
    code: u32,
}

impl Depths {
    fn of(&mut self, element: &str) -> Option<&mut u32> {
        match element {
            "b" | "strong" => Some(&mut self.strong),
            "i" | "em" => Some(&mut self.emphasis),
            "s" | "del" | "strike" => Some(&mut self.struck),
            "sub" | "sup" | "small" => Some(&mut self.small),
            "code" | "kbd" | "tt" => Some(&mut self.code),
            _ => None,
        }
    }
}

impl DocumentWalk {
    fn event(&mut self, event: Event<'_>, at: usize) {
        match event {
            Event::Start(tag) => self.start(tag, at),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, at),
            Event::Code(text) => self.code(&text, at),
            Event::InlineHtml(html) => {
                self.begin(at);
                self.html(&html, at);
            }
            Event::Html(html) => match &mut self.html_block {
                Some(block) => block.push_str(&html),
                None => self.html(&html, at),
            },
            Event::SoftBreak | Event::HardBreak => match &mut self.image {
                Some(description) => description.push(' '),
                None => self.end_line(),
            },
            Event::Rule => self.end_line(),
            Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, at: usize) {
        if is_inline(&tag) {
            self.begin(at);
        }
        match tag {
            Tag::Strong => self.markdown.strong += 1,
            Tag::Emphasis => self.markdown.emphasis += 1,
            Tag::Strikethrough => self.markdown.struck += 1,
            Tag::Superscript | Tag::Subscript => self.markdown.small += 1,
            Tag::Link { dest_url, .. } => self.line.links.push(dest_url.into_string()),
            Tag::Image { .. } => self.image = Some(String::new()),
            Tag::CodeBlock(kind) => {
                self.end_line();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or("").to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.fence = Some(Fence { language, text: String::new() });
            }
            Tag::HtmlBlock => {
                self.end_line();
                self.begin(at);
                self.html_block = Some(String::new());
            }
            Tag::Heading { level, .. } => {
                self.end_line();
                self.line.heading = level as u8;
                self.begin(at);
            }
            Tag::BlockQuote(_) => {
                self.end_line();
                self.quotes.push(self.folded);
            }
            Tag::List(first) => {
                self.end_line();
                self.lists.push(first.is_some());
            }
            Tag::Item => {
                self.end_line();
                let is_numbered = self.lists.last().copied().unwrap_or_default();
                self.line.item =
                    Some(if is_numbered { ListItemKind::Numbered } else { ListItemKind::Bullet });
                self.begin(at);
            }
            // The first paragraph of a list item continues the item's line.
            Tag::Paragraph if self.line.item.is_some() => {}
            _ => self.end_line(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        let close = |depth: &mut u32| *depth = depth.saturating_sub(1);
        match tag {
            TagEnd::Strong => close(&mut self.markdown.strong),
            TagEnd::Emphasis => close(&mut self.markdown.emphasis),
            TagEnd::Strikethrough => close(&mut self.markdown.struck),
            TagEnd::Superscript | TagEnd::Subscript => close(&mut self.markdown.small),
            TagEnd::Link => {}
            TagEnd::TableCell => self.push(" ", Style::default()),
            TagEnd::Image => {
                if let Some(description) = self.image.take() {
                    self.line.badges.push(description);
                }
            }
            TagEnd::CodeBlock => {
                if let Some(fence) = self.fence.take() {
                    self.document.fences.push(fence);
                }
            }
            TagEnd::HtmlBlock => {
                let at = self.line.at;
                if let Some(html) = self.html_block.take() {
                    self.html(&html, at);
                }
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.end_block();
                if let Some(folded) = self.quotes.pop() {
                    self.folded = folded;
                    self.in_summary = false;
                }
            }
            TagEnd::List(_) => {
                self.end_block();
                self.lists.pop();
            }
            _ => self.end_block(),
        }
    }

    fn text(&mut self, text: &str, at: usize) {
        if let Some(fence) = &mut self.fence {
            fence.text.push_str(text);
        } else if let Some(description) = &mut self.image {
            description.push_str(text);
        } else {
            self.begin(at);
            let style = self.style();
            match self.line.runs.last_mut() {
                // The parser may cut the text of one `<code>` element into several events.
                Some(last) if style.code && last.style == style => {
                    last.text.pop();
                    last.text.push_str(text);
                    last.text.push('`');
                }
                _ if style.code => self.push(&format!("`{text}`"), style),
                _ => self.push(text, style),
            }
        }
    }

    fn code(&mut self, text: &str, at: usize) {
        if let Some(description) = &mut self.image {
            description.push_str(text);
            return;
        }
        self.begin(at);
        let style = Style { code: true, ..self.style() };
        self.push(&format!("`{text}`"), style);
    }

    /// Reads one inline tag or a whole HTML block.
    fn html(&mut self, html: &str, at: usize) {
        for token in Tokenizer::new(html).flatten() {
            match token {
                Token::Comment(comment) => {
                    if self.folded > 0 || !self.quotes.is_empty() {
                        self.document.enclosed_comments.insert(self.document.comments.len());
                    }
                    self.document.comments.push(String::from_utf8_lossy(&comment).into_owned());
                }
                Token::String(text) => {
                    for (index, line) in String::from_utf8_lossy(&text).split('\n').enumerate() {
                        if index > 0 {
                            self.end_line();
                        }
                        if !line.is_empty() {
                            self.text(line, at);
                        }
                    }
                }
                Token::StartTag(tag) => {
                    let name = String::from_utf8_lossy(&tag.name).into_owned();
                    if name == "img" {
                        let description = tag.attributes.get(b"alt".as_slice());
                        let description = description.map(|text| String::from_utf8_lossy(text).into_owned());
                        self.begin(at);
                        self.line.badges.push(description.unwrap_or_default());
                    } else if name == "a" {
                        let target = tag.attributes.get(b"href".as_slice());
                        self.line.links.extend(target.map(|text| String::from_utf8_lossy(text).into_owned()));
                    } else if !tag.self_closing {
                        self.open(&name, at);
                    } else if is_block(&name) {
                        self.end_line();
                    }
                }
                Token::EndTag(tag) => self.close(&String::from_utf8_lossy(&tag.name)),
                Token::Doctype(_) | Token::Error(_) => {}
            }
        }
    }

    fn open(&mut self, name: &str, at: usize) {
        if let Some(depth) = self.html.of(name) {
            *depth = depth.saturating_add(1);
            return;
        }
        if !is_block(name) {
            return;
        }
        self.end_line();
        self.begin(at);
        match name {
            "details" => self.folded = self.folded.saturating_add(1),
            "summary" => self.in_summary = true,
            _ => self.line.heading = heading(name),
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(depth) = self.html.of(name) {
            *depth = depth.saturating_sub(1);
            return;
        }
        if !is_block(name) {
            return;
        }
        self.end_line();
        match name {
            "details" => self.folded = self.folded.saturating_sub(1),
            "summary" => self.in_summary = false,
            _ => {}
        }
    }

    fn style(&self) -> Style {
        Style {
            strong: self.markdown.strong + self.html.strong > 0,
            emphasis: self.markdown.emphasis + self.html.emphasis > 0,
            struck: self.markdown.struck + self.html.struck > 0,
            small: self.markdown.small + self.html.small > 0,
            code: self.html.code > 0,
        }
    }

    /// Sets the line's offset, unless it has one.
    fn begin(&mut self, at: usize) {
        if !self.has_offset {
            self.has_offset = true;
            self.line.at = at;
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        match self.line.runs.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            _ => self.line.runs.push(StyledText { text: text.to_owned(), style }),
        }
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        self.has_offset = false;
        if line.runs.iter().all(|run| run.text.trim().is_empty()) && line.badges.is_empty() {
            return;
        }
        line.text = join_runs(&line.runs);
        line.folded = self.folded;
        line.is_summary = self.in_summary;
        line.quoted = u32::try_from(self.quotes.len()).unwrap_or(u32::MAX);
        self.document.lines.push(line);
    }

    fn end_block(&mut self) {
        self.end_line();
        self.html = Depths::default();
    }
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Strong
            | Tag::Emphasis
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
    )
}

/// Whether an HTML element starts a new line.
fn is_block(name: &str) -> bool {
    let others = [
        "details",
        "summary",
        "p",
        "div",
        "br",
        "hr",
        "pre",
        "blockquote",
        "ul",
        "ol",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "section",
        "header",
        "footer",
        "center",
    ];
    heading(name) > 0 || others.contains(&name)
}

fn heading(name: &str) -> u8 {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => level - b'0',
        _ => 0,
    }
}
