//! HTML in a post. Elements with a meaning for the reader keep it; all others become their text.

use super::MarkdownWriter;
use crate::tui::theme::TextMeaning;
use html5gum::{StartTag, Token, Tokenizer};
use ratatui::style::{Modifier, Style};

impl MarkdownWriter<'_> {
    /// Handles one tag or comment, or a block of them.
    pub(super) fn html(&mut self, html: &str) {
        for token in Tokenizer::new(html).flatten() {
            match token {
                Token::Comment(comment) => self.hidden(&String::from_utf8_lossy(&comment)),
                Token::String(text) => {
                    let text = String::from_utf8_lossy(&text);
                    // Clean again: references such as `&#27;` are decoded only here.
                    let text = crate::output::sanitize::line(&text);
                    if !text.trim().is_empty() {
                        self.text(&text);
                    }
                }
                Token::StartTag(tag) => self.open(&tag),
                Token::EndTag(tag) => self.close(&String::from_utf8_lossy(&tag.name)),
                Token::Doctype(_) | Token::Error(_) => {}
            }
        }
    }

    /// An HTML comment is for programs. It shows only when unfolded.
    fn hidden(&mut self, comment: &str) {
        let lines: Vec<&str> = comment.lines().map(str::trim).filter(|text| !text.is_empty()).collect();
        if self.folds.is_empty() {
            self.folded += lines.len();
        }
        if self.options.unfolded {
            let style = self.options.theme.style(TextMeaning::Comment);
            for text in lines {
                self.flush();
                self.push(&format!("<!-- {text} -->"), style);
                self.flush();
            }
        }
    }

    fn open(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        let attribute = |key: &[u8]| {
            let value = tag.attributes.get(key).map(|text| String::from_utf8_lossy(text).into_owned());
            crate::output::sanitize::line(&value.unwrap_or_default()).into_owned()
        };
        match name.as_str() {
            "details" => self.begin_fold(),
            "summary" => {
                self.flush();
                if let Some(fold) = self.folds.last_mut() {
                    fold.in_summary = true;
                }
            }
            "img" => self.picture(&attribute(b"alt")),
            "a" => self.open_link(&attribute(b"href")),
            "br" | "tr" => self.flush(),
            "hr" => self.rule(),
            "li" => {
                self.flush();
                let style = self.style();
                self.push("• ", style);
            }
            "td" | "th" => {
                if !self.pieces.is_empty() {
                    self.text("  ");
                }
            }
            "p" | "div" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" | "pre" | "blockquote" | "ul"
            | "ol" => {
                self.gap();
                self.element(name, tag);
            }
            _ => self.element(name, tag),
        }
    }

    fn element(&mut self, name: String, tag: &StartTag<()>) {
        let theme = self.options.theme;
        let style = match name.as_str() {
            "b" | "strong" => Style::default().add_modifier(Modifier::BOLD),
            "i" | "em" => Style::default().add_modifier(Modifier::ITALIC),
            "s" | "del" | "strike" => Style::default().add_modifier(Modifier::CROSSED_OUT),
            "code" | "kbd" | "tt" | "samp" => theme.style(TextMeaning::Code),
            "sub" | "sup" | "small" => theme.style(TextMeaning::Muted),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => theme.style(TextMeaning::Heading),
            _ => return,
        };
        if !tag.self_closing && self.elements.len() < 64 {
            self.elements.push((name, style));
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "details" => self.end_fold(),
            "summary" => {
                if let Some(fold) = self.folds.last_mut() {
                    fold.in_summary = false;
                    // Unclosed styles of a summary end with it.
                    self.elements.clear();
                }
            }
            "a" => self.close_link(),
            _ => {
                if let Some(at) = self.elements.iter().rposition(|(open, _)| open == name) {
                    self.elements.truncate(at);
                }
            }
        }
        let ends_line = matches!(
            name,
            "p" | "div"
                | "h1"
                | "h2"
                | "h3"
                | "h4"
                | "h5"
                | "h6"
                | "table"
                | "tr"
                | "li"
                | "ul"
                | "ol"
                | "pre"
                | "blockquote"
        );
        if ends_line {
            self.flush();
        }
    }
}
