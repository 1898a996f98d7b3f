//! A post's text, parsed: what a reader sees line by line, and what is hidden, folded away or fenced off.
//!
//! Bots mix Markdown and HTML freely. Both are read by real parsers, in one pass over the text, so that a mark counts only
//! where it really stands: a bold line inside a code fence is no title, and a comment that is quoted as code is no comment.

mod walk;

use std::ops::Range;

/// What a post says, in the order in which it says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PostDocument {
    pub(super) lines: Vec<PostLine>,
    /// Hidden comments, without their delimiters.
    pub(super) comments: Vec<String>,
    pub(super) fences: Vec<Fence>,
}

/// A line as a reader sees it: a break, a paragraph, a heading, a table's row or a list's item ends one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PostLine {
    /// Its words, with single spaces.
    pub(super) text: String,
    pub(super) runs: Vec<StyledText>,
    /// The descriptions of the images in it.
    pub(super) badges: Vec<String>,
    /// Where its links lead.
    pub(super) links: Vec<String>,
    /// 0 for what is no heading.
    pub(super) heading: u8,
    /// In how many folded blocks it is.
    pub(super) folded: u32,
    /// It is what a folded block shows while it is folded.
    pub(super) is_summary: bool,
    pub(super) quoted: u32,
    /// It opens an item of a list.
    pub(super) item: Option<ListItemKind>,
    /// Where it begins in the post.
    pub(super) at: usize,
}

/// An item of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListItemKind {
    Bullet,
    Numbered,
}

/// A stretch of text of one style. Code stands in backticks, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StyledText {
    pub(super) text: String,
    pub(super) style: Style,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "styles combine freely")]
pub(super) struct Style {
    pub(super) strong: bool,
    pub(super) emphasis: bool,
    pub(super) struck: bool,
    /// Set small, above or below the line.
    pub(super) small: bool,
    pub(super) code: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    /// The word behind the opening fence.
    pub(super) language: String,
    pub(super) text: String,
}

impl PostDocument {
    pub(super) fn parse(source: &str) -> PostDocument {
        walk::walk(source)
    }

    /// The lines that stand open: neither folded away nor the label of something that is.
    pub(super) fn open_lines(&self) -> impl Iterator<Item = &PostLine> {
        self.lines.iter().filter(|line| line.folded == 0 && !line.is_summary)
    }

    /// The first open line with words in it.
    pub(super) fn lead(&self) -> Option<&PostLine> {
        self.open_lines().find(|line| line.has_words())
    }

    /// The descriptions of the images that stand before the first words' line ends: a badge opens a post, and an image
    /// further down is a picture.
    pub(super) fn badges(&self) -> impl Iterator<Item = &str> {
        let mut is_over = false;
        let head = self.open_lines().take_while(move |line| {
            let was_over = is_over;
            is_over |= line.has_words();
            !was_over
        });
        head.flat_map(|line| line.badges.iter().map(String::as_str))
    }

    /// How much stands open, in characters.
    pub(super) fn open_length(&self) -> usize {
        self.open_lines().flat_map(|line| &line.runs).map(|run| run.text.chars().count()).sum()
    }
}

impl PostLine {
    pub(super) fn has_words(&self) -> bool {
        self.runs.iter().any(|run| has_words(&run.text))
    }

    /// What of it is set small.
    pub(super) fn small(&self) -> String {
        let small: Vec<StyledText> = self.runs.iter().filter(|run| run.style.small).cloned().collect();
        joined(&small)
    }

    /// Whether everything it says is set in a way: an emphasised line is a label, a struck one is taken back.
    pub(super) fn is_wholly(&self, style: impl Fn(&Style) -> bool) -> bool {
        let mut spoken = self.runs.iter().filter(|run| has_words(&run.text)).peekable();
        spoken.peek().is_some() && spoken.all(|run| style(&run.style))
    }

    /// The bold text that opens it, behind nothing but symbols, and what follows it on the line.
    pub(super) fn opening_strong(&self) -> Option<(String, String)> {
        let first = self.runs.iter().position(|run| has_words(&run.text))?;
        if !self.runs[first].style.strong {
            return None;
        }
        let bold = self.runs[first..].iter().take_while(|run| run.style.strong).count();
        let end = first + bold;
        // A struck title keeps its place, so bold runs of any other style belong to it.
        Some((joined(&self.runs[first..end]), joined(&self.runs[end..])))
    }
}

/// As much of a source as a part of the document takes, without the marks of the quotation that it stands in.
pub(super) fn excerpt(source: &str, range: Range<usize>, quoted: u32) -> String {
    let text = source.get(range).unwrap_or_default();
    if quoted == 0 {
        return text.trim().to_owned();
    }
    let unquoted = text.lines().map(|line| {
        let mut line = line;
        for _ in 0..quoted {
            let Some(inner) = line.trim_start().strip_prefix('>') else { break };
            line = inner.strip_prefix(' ').unwrap_or(inner);
        }
        line
    });
    unquoted.collect::<Vec<_>>().join("\n").trim().to_owned()
}

pub(super) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn joined(runs: &[StyledText]) -> String {
    let mut text = String::new();
    for run in runs {
        for (index, word) in run.text.split_whitespace().enumerate() {
            let apart = index > 0 || run.text.starts_with(char::is_whitespace);
            if apart && !text.is_empty() && !text.ends_with(' ') {
                text.push(' ');
            }
            text.push_str(word);
        }
        if run.text.ends_with(char::is_whitespace) && !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests;
