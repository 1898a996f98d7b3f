//! A post, parsed into visible lines, hidden comments and code fences.
//!
//! Bots mix Markdown and HTML. Real parsers read both in one pass, so a bold line inside a code fence is not
//! taken for a title, nor a comment that is quoted as code for a comment.

mod walk;

use std::collections::BTreeSet;
use std::ops::Range;

/// The parts of a post, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PostDocument {
    pub(super) lines: Vec<PostLine>,
    /// Hidden comments, without their delimiters.
    pub(super) comments: Vec<String>,
    /// The comments that are in a block quote or a folded block, by their index in `comments`.
    pub(super) enclosed_comments: BTreeSet<usize>,
    pub(super) fences: Vec<Fence>,
    /// The post ends inside a folded block or an HTML comment: the rest is missing.
    pub(super) is_cut_off: bool,
}

/// A line as GitHub shows it. A break, a paragraph, a heading, a table row or a list item ends it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct PostLine {
    /// The words of the line, with single spaces.
    pub(super) text: String,
    pub(super) runs: Vec<StyledText>,
    /// The alt texts of the images in the line.
    pub(super) badges: Vec<String>,
    /// The targets of its links.
    pub(super) links: Vec<String>,
    /// 1 to 6 for a heading, 0 for any other line.
    pub(super) heading: u8,
    /// How many `<details>` blocks the line is in.
    pub(super) folded: u32,
    /// The line is the `<summary>` of a folded block.
    pub(super) is_summary: bool,
    /// How many block quotes the line is in.
    pub(super) quoted: u32,
    /// Set on the first line of a list item.
    pub(super) item: Option<ListItemKind>,
    /// Byte offset of the line in the post.
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListItemKind {
    Bullet,
    Numbered,
}

/// Text of one style. Code keeps its backticks.
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
    /// Subscript, superscript or `<small>`.
    pub(super) small: bool,
    pub(super) code: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    /// The word after the opening fence.
    pub(super) language: String,
    pub(super) text: String,
}

impl PostDocument {
    pub(super) fn parse(source: &str) -> PostDocument {
        walk::walk(source)
    }

    /// The lines that GitHub shows unfolded, without the summaries of folded blocks.
    pub(super) fn open_lines(&self) -> impl Iterator<Item = &PostLine> {
        self.lines.iter().filter(|line| line.folded == 0 && !line.is_summary)
    }

    /// The first open line with words in it.
    pub(super) fn lead(&self) -> Option<&PostLine> {
        self.open_lines().find(|line| line.has_words())
    }

    /// The alt texts of the images up to the first line with words. A badge opens a post; later images are
    /// pictures.
    pub(super) fn badges(&self) -> impl Iterator<Item = &str> {
        let mut words_began = false;
        let head = self.open_lines().take_while(move |line| {
            let comes_after = words_began;
            words_began |= line.has_words();
            !comes_after
        });
        head.flat_map(|line| line.badges.iter().map(String::as_str))
    }

    /// The length of the unfolded text in characters.
    pub(super) fn open_length(&self) -> usize {
        self.open_lines().flat_map(|line| &line.runs).map(|run| run.text.chars().count()).sum()
    }
}

impl PostLine {
    pub(super) fn has_words(&self) -> bool {
        self.runs.iter().any(|run| has_words(&run.text))
    }

    /// The small text of the line.
    pub(super) fn small_text(&self) -> String {
        let small: Vec<StyledText> = self.runs.iter().filter(|run| run.style.small).cloned().collect();
        join_runs(&small)
    }

    /// Whether all words of the line have a style. A wholly emphasised line is a label; a struck one is
    /// withdrawn.
    pub(super) fn is_wholly(&self, style: impl Fn(&Style) -> bool) -> bool {
        let mut worded = self.runs.iter().filter(|run| has_words(&run.text)).peekable();
        worded.peek().is_some() && worded.all(|run| style(&run.style))
    }

    /// The bold text at the start of the line (only symbols may come before it), and the rest of the line.
    pub(super) fn opening_strong(&self) -> Option<(String, String)> {
        let first = self.runs.iter().position(|run| has_words(&run.text))?;
        if !self.runs[first].style.strong {
            return None;
        }
        let bold = self.runs[first..].iter().take_while(|run| run.style.strong).count();
        let end = first + bold;
        Some((join_runs(&self.runs[first..end]), join_runs(&self.runs[end..])))
    }
}

/// A part of the post's source, without the `>` of the block quotes around it.
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

/// The text of the runs, with single spaces.
fn join_runs(runs: &[StyledText]) -> String {
    let mut text = String::new();
    for run in runs {
        for (index, word) in run.text.split_whitespace().enumerate() {
            let needs_space = index > 0 || run.text.starts_with(char::is_whitespace);
            if needs_space && !text.is_empty() && !text.ends_with(' ') {
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
