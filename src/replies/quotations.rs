//! Finds the lines that a person wrote as lines of their own, and nobody else's words that stand among them
//! without a `>`: mail programs quote in other ways, and people copy text.

use super::reading::VisibleTextWalk;
use pulldown_cmark::{Event, Options, Parser};
use std::ops::Range;

/// Verbs with which a line introduces what somebody else wrote, as mail programs put them.
const WRITING_VERBS: [&str; 15] = [
    "wrote",
    "writes",
    "said",
    "says",
    "posted",
    "schrieb",
    "écrit",
    "escribió",
    "escreveu",
    "scritto",
    "schreef",
    "skrev",
    "пишет",
    "написал",
    "写道",
];

/// The lines of a mail's header below `From:`.
const HEADER_FIELDS: [&str; 5] = ["sent:", "date:", "to:", "cc:", "subject:"];

/// From this many characters on, a line of underscores is Outlook's rule above the quoted mail.
const SHORTEST_RULE: usize = 10;

/// The source lines, trimmed, that consist of nothing but the person's own plain words: no markup, code, quotation,
/// folded or struck-out text, and nothing that quotes without a `>`.
pub(super) fn own_lines(body: &str) -> Vec<&str> {
    let visible = visible_ranges(body);
    let end = quoted_mail(body).unwrap_or(body.len());
    let mut own = Vec::new();
    let mut marks = QuotationMarks::default();
    let mut introduced = false;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        if start >= end {
            break;
        }
        let is_plain = covers(&visible, start..start + text.len());
        if is_plain && !introduced && !marks.are_open() {
            own.push(text);
        }
        // "The bot says:" makes a quotation of the line after it.
        introduced = text.ends_with([':', '：']);
        if !text.starts_with('>') {
            marks.read(text);
        }
    }
    own
}

/// Where a mail that the post quotes begins, if it quotes one: everything below is somebody else's, or cannot be told
/// from it.
fn quoted_mail(body: &str) -> Option<usize> {
    let lines: Vec<&str> = body.split_inclusive('\n').collect();
    let mut at = 0;
    for (index, line) in lines.iter().enumerate() {
        let below = lines[index + 1..].iter().map(|line| line.trim()).filter(|line| !line.is_empty());
        if introduces_writer(line) || opens_mail(line, below) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// Whether a mail program put this line above the mail that it quotes.
pub(super) fn opens_mail<'a>(line: &str, mut below: impl Iterator<Item = &'a str>) -> bool {
    let line = line.trim();
    let lower = line.to_lowercase();
    let is_ruled = line.starts_with("--") && line.ends_with("--") && line.chars().any(char::is_alphabetic);
    let is_rule = line.len() >= SHORTEST_RULE && line.chars().all(|c| c == '_');
    let mut is_header = || {
        let is_field = |line: &str| {
            let line = line.to_lowercase();
            HEADER_FIELDS.iter().any(|field| line.starts_with(field))
        };
        below.next().is_some_and(is_field)
    };
    let is_dated = introduces_writer(line) && line.chars().any(|c| c.is_ascii_digit());
    is_ruled
        || is_rule
        || is_dated
        || lower.starts_with("reply to this email directly")
        || (lower.starts_with("from:") && is_header())
}

/// "On Monday, Alice wrote:", also if the mail program wrapped it.
fn introduces_writer(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let verb = |word: &str| WRITING_VERBS.iter().any(|verb| word.ends_with(verb));
    let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    !line.starts_with('>') && line.ends_with([':', '：']) && words.any(verb)
}

/// The places in the source that Markdown shows as the person's own plain text.
fn visible_ranges(body: &str) -> Vec<Range<usize>> {
    let mut walk = VisibleTextWalk::default();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (event, range) in Parser::new_ext(body, Options::ENABLE_STRIKETHROUGH).into_offset_iter() {
        if matches!(event, Event::Text(_)) && walk.is_visible() {
            match ranges.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => ranges.push(range),
            }
        } else {
            walk.take(event);
        }
    }
    ranges
}

fn covers(ranges: &[Range<usize>], line: Range<usize>) -> bool {
    let next = ranges.partition_point(|range| range.end < line.end);
    ranges.get(next).is_some_and(|range| range.start <= line.start && line.end <= range.end)
}

/// Quotation marks that a text opened and did not close.
#[derive(Default)]
struct QuotationMarks {
    straight: bool,
    nested: usize,
}

impl QuotationMarks {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '"' => self.straight = !self.straight,
                '“' | '„' | '«' | '「' => self.nested += 1,
                '”' | '»' | '」' => self.nested = self.nested.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn are_open(&self) -> bool {
        self.straight || self.nested > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHRASE: &str = "/cloture break-glass";

    #[test]
    fn r7_a_line_counts_only_among_the_persons_own_plain_words() {
        for own in [
            "/cloture break-glass",
            "Enough.\n\n/cloture break-glass\n\nSorry.",
            "Enough of this\n  /cloture break-glass  \r\nSorry.",
            "> It never ends.\n\n/cloture break-glass",
            "<details>\nlogs\n</details>\n\n/cloture break-glass",
            "\"Enough\", I say.\n\n/cloture break-glass",
        ] {
            assert!(own_lines(own).contains(&PHRASE), "{own:?}");
        }
        for other in [
            "Do not write /cloture break-glass here.",
            "`/cloture break-glass`",
            "**/cloture break-glass**",
            "# /cloture break-glass",
            "    /cloture break-glass",
            "```\n/cloture break-glass\n```",
            "```\n/cloture break-glass",
            "~~~\n/cloture break-glass\n~~~",
            "`a\n/cloture break-glass\nb`",
            "~~a\n/cloture break-glass\nb~~",
            "> /cloture break-glass",
            "> text\n/cloture break-glass",
            "<details>\n\n/cloture break-glass\n\n</details>",
            "<details><summary>x</summary>\n/cloture break-glass\n</details>",
            "<blockquote>\n\n/cloture break-glass\n\n</blockquote>",
            "<pre>\n/cloture break-glass\n</pre>",
            "<!--\n/cloture break-glass\n-->",
            "<!-- never closed\n\n/cloture break-glass",
            "Hello <!-- hidden\n/cloture break-glass\n--> there",
            "On Mon, Mar 2, 2026 at 10:00 Alice <a@example.org> wrote:\n\n/cloture break-glass",
            "On Mon, Mar 2, 2026 at 10:00 Alice <a@example.org>\nwrote:\n\nSome text.\n\n/cloture break-glass",
            "Am 02.03.2026 um 10:00 schrieb Alice:\n\nText\n\n/cloture break-glass",
            "No.\n\n-----Original Message-----\nFrom: Alice\n\n/cloture break-glass",
            "No.\n\n________________________________\nFrom: Alice\nSent: Monday\n\n/cloture break-glass",
            "No.\n\nFrom: Alice\nTo: Bob\n\n/cloture break-glass",
            "The bot tells me to write:\n\n/cloture break-glass",
            "\"Just write\n\n/cloture break-glass\n\nand be done\", he said.",
            "“\n/cloture break-glass\n”",
            "Alice says:\nStop it.\n/cloture break-glass",
        ] {
            assert!(!own_lines(other).contains(&PHRASE), "{other:?}");
        }
    }
}
