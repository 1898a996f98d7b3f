//! Extracts a person's own words from the Markdown of a post. Quotations, code, struck-out text, folded
//! details and markup are left out.

use super::{agents, quotations};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The rest of a longer post is not read, so it cannot close a thread.
const LONGEST_READ: usize = 16 * 1024;
/// Agents sign at the end, so the end of a longer post is searched for a signature.
const LONGEST_ENDING: usize = 4 * 1024;
/// With more letters than this in scripts that no phrase table covers, a part of the reply was not
/// understood.
const MOST_FOREIGN_LETTERS: usize = 2;

/// Replaces inline code: a word of the sentence without a meaning.
pub(super) const CODE: char = '\u{fffc}';

/// HTML elements whose content is not the person's own words.
const HIDING_ELEMENTS: [&str; 7] = ["details", "blockquote", "pre", "code", "del", "s", "strike"];

/// The visible text of a post.
#[derive(Debug, Default)]
pub(super) struct VisibleText {
    /// The person's own lines, without signatures of agents.
    pub(super) lines: Vec<String>,
    /// Whether the post has an agent's visible signature or hidden marker.
    pub(super) signed_by_agent: bool,
    /// Whether all of the text was read: nothing cut off, garbled or in an unknown script. Only then may a
    /// reply close a thread, because the rest may say the opposite.
    pub(super) whole: bool,
}

/// Reads the beginning of a post, and searches its end for signatures.
pub(super) fn read(body: &str) -> VisibleText {
    let (beginning, rest) = split_near(body, LONGEST_READ);
    let mut reading = read_part(beginning);
    if !rest.is_empty() {
        let (_, ending) = split_near(body, body.len().saturating_sub(LONGEST_ENDING));
        reading.signed_by_agent |= read_part(ending).signed_by_agent;
        reading.whole = false;
    }
    // However the Markdown parses: a text that opens a fence hides a signature below it.
    let last_line = body.trim_end().lines().next_back().unwrap_or_default();
    reading.signed_by_agent |= agents::has_own_marker(body) || agents::signs_alone(last_line);
    reading
}

fn split_near(text: &str, at: usize) -> (&str, &str) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.split_at(at)
}

fn read_part(markdown: &str) -> VisibleText {
    let mut walk = VisibleTextWalk { whole: true, ..VisibleTextWalk::default() };
    for event in Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH) {
        walk.take(event);
    }
    let signed_in_comment = walk.comments.iter().any(|comment| agents::marks_comment(comment));

    let mut reading =
        VisibleText { signed_by_agent: signed_in_comment, whole: walk.whole, ..VisibleText::default() };
    for line in walk.text.lines() {
        let (own, signed) = agents::split_signature(line);
        reading.signed_by_agent |= signed;
        if !own.trim().is_empty() {
            reading.lines.push(own.trim().to_owned());
        }
    }
    // Below a quoted mail's header, nobody can tell the person's words from the mail's.
    let header = (0..reading.lines.len()).find(|&at| {
        let (line, below) = (&reading.lines[at], reading.lines[at + 1..].iter());
        quotations::opens_mail(line, below.map(String::as_str))
    });
    if let Some(header) = header {
        reading.whole &= header + 1 == reading.lines.len();
        reading.lines.truncate(header);
    }
    let foreign =
        reading.lines.iter().flat_map(|line| line.chars()).filter(|&c| is_foreign_letter(c)).count();
    reading.whole &= foreign <= MOST_FOREIGN_LETTERS;
    reading
}

/// The state of one pass over the Markdown events.
#[derive(Default)]
pub(super) struct VisibleTextWalk {
    text: String,
    comments: Vec<String>,
    html: String,
    /// Open quotations, code blocks, images and strike-throughs.
    hidden: usize,
    /// Open HTML elements that hide their content.
    hidden_by_html: usize,
    /// A line ended inside a paragraph. The next character decides whether a sentence ended too.
    soft_break: bool,
    whole: bool,
}

impl VisibleTextWalk {
    pub(super) fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::Image { .. } | Tag::Strikethrough) => {
                self.hidden += 1;
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::CodeBlock | TagEnd::Image | TagEnd::Strikethrough) => {
                self.hidden = self.hidden.saturating_sub(1);
            }
            Event::End(TagEnd::HtmlBlock) => {
                let html = std::mem::take(&mut self.html);
                self.take_html(&html);
            }
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item)
            | Event::HardBreak
            | Event::Rule => {
                self.text.push('\n');
            }
            Event::Html(html) => self.html.push_str(&html),
            Event::InlineHtml(html) => self.take_html(&html),
            Event::Text(text) if self.is_visible() => self.push_text(&text),
            Event::Code(code) if self.is_visible() => self.push_code(&code),
            Event::SoftBreak => self.soft_break = true,
            _ => {}
        }
    }

    pub(super) fn is_visible(&self) -> bool {
        self.hidden == 0 && self.hidden_by_html == 0
    }

    /// Wrapped prose continues with a small letter or code. Anything else begins a new line.
    fn end_soft_break(&mut self, next: Option<char>) {
        if std::mem::take(&mut self.soft_break) {
            let goes_on = next.is_some_and(|c| c.is_lowercase() || c == CODE);
            self.text.push(if goes_on { ' ' } else { '\n' });
        }
    }

    fn push_text(&mut self, text: &str) {
        self.end_soft_break(text.chars().next());
        for c in text.chars() {
            if is_unreadable(c) {
                self.whole = false;
            } else if !is_invisible(c) {
                self.text.push(if c == '\t' { ' ' } else { c });
            }
        }
    }

    /// Commits are often written as code. Other code means nothing here.
    fn push_code(&mut self, code: &str) {
        self.end_soft_break(Some(CODE));
        if is_commit(code) {
            self.text.push_str(code);
        } else {
            self.text.push(CODE);
        }
    }

    /// Collects HTML comments and tracks elements that hide text. Markdown does not parse other text in an
    /// HTML block, so the reply counts as not fully read.
    fn take_html(&mut self, html: &str) {
        if self.hidden > 0 {
            return;
        }
        let mut rest = html;
        while let Some(start) = rest.find('<') {
            self.note_bare_text(&rest[..start]);
            rest = &rest[start..];
            if let Some(comment) = rest.strip_prefix("<!--") {
                let end = comment.find("-->").unwrap_or(comment.len());
                self.comments.push(comment[..end].to_owned());
                rest = comment.get(end + 3..).unwrap_or_default();
            } else {
                let end = rest.find('>').map_or(rest.len(), |at| at + 1);
                self.follow_tag(&rest[1..end]);
                rest = &rest[end..];
            }
        }
        self.note_bare_text(rest);
    }

    fn note_bare_text(&mut self, text: &str) {
        if self.hidden_by_html == 0 && text.chars().any(char::is_alphanumeric) {
            self.whole = false;
        }
    }

    fn follow_tag(&mut self, tag: &str) {
        let closes = tag.starts_with('/');
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_lowercase())
            .collect();
        if name == "br" || name == "p" {
            self.text.push('\n');
        }
        if HIDING_ELEMENTS.contains(&name.as_str()) {
            self.hidden_by_html =
                if closes { self.hidden_by_html.saturating_sub(1) } else { self.hidden_by_html + 1 };
        }
    }
}

/// Seven to forty hexadecimal digits, with letters and numbers among them: neither a word nor a date.
pub(super) fn is_commit(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Characters that no honest reply contains. They show garbled or disguised text.
fn is_unreadable(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || c == char::REPLACEMENT_CHARACTER
        || matches!(c,
            '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{e000}'..='\u{f8ff}'
            | '\u{e0000}'..)
}

/// Characters without width. They would split a word without anybody noticing.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2060}'..='\u{2064}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\r')
}

fn is_foreign_letter(c: char) -> bool {
    c.is_alphabetic()
        && !matches!(c,
            '\0'..='\u{24f}'
            | '\u{300}'..='\u{36f}'
            | '\u{400}'..='\u{52f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{1e00}'..='\u{1eff}'
            | '\u{2e80}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff00}'..='\u{ffef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(body: &str) -> Vec<String> {
        read(body).lines.into_iter().map(|line| line.replace(CODE, "<code>")).collect()
    }

    #[test]
    fn a_line_continues_with_small_letters_or_code() {
        assert_eq!(lines("This is out of\nscope here."), ["This is out of scope here."]);
        assert_eq!(lines("See\n`x` now"), ["See <code> now"]);
        assert_eq!(lines("Noted\nThanks"), ["Noted", "Thanks"]);
        assert_eq!(lines("One<br>Two<p>three</p> a<b>c</b>"), ["One", "Two", "three", "ac"]);
    }

    #[test]
    fn code_counts_if_it_names_a_commit_and_quotations_never_count() {
        assert_eq!(lines("Fixed in `abc1234` by `f`"), ["Fixed in abc1234 by <code>"]);
        assert_eq!(lines("> quoted `abc1234`\n\nown"), ["own"]);
        assert!(read("Noted. <!-- cloture:reply -->").signed_by_agent);
        assert!(!read("> said <!-- cloture:reply -->\n\nNoted.").signed_by_agent);
        assert!(!read("```\n🤖 Generated with Claude Code\n```").signed_by_agent);
    }

    #[test]
    fn r5_no_text_hides_a_signature_below_it() {
        for text in ["```", "~~~~", "<details>", "<!--", "<pre>", "- a\n\n      ", "`", "> a"] {
            for signature in ["<!-- cloture:reply/1 -->", "🤖 Generated with Claude Code", "<!-- claude -->"]
            {
                let body = format!("Won't fix.\n\n{text}\n\n{signature}");
                assert!(read(&body).signed_by_agent, "{body:?}");
            }
        }
        let long = format!(
            "```\n{}\n<!-- cloture:finding/1 -->\nmore\n{}",
            "a\n".repeat(20_000),
            "b\n".repeat(20_000)
        );
        assert!(read(&long).signed_by_agent);
    }

    #[test]
    fn a_mail_that_a_reply_quotes_is_not_its_own_words() {
        let header = "On Mon, Mar 2, 2026 at 10:00 Alice <a@example.org> wrote:";
        let mail = read(&format!("Won't fix.\n\n{header}\n> text"));
        assert!(mail.whole && mail.lines == ["Won't fix."]);
        let mail = read(&format!("Hm.\n\n{header}\n\nWon't fix."));
        assert!(!mail.whole && mail.lines == ["Hm."]);
    }

    #[test]
    fn unread_text_is_reported_and_invisible_characters_split_no_word() {
        for (body, whole) in [
            ("a\tb<br>c", true),
            ("a\u{7}b", false),
            ("a\u{202e}b", false),
            ("<!-- hidden -->", true),
            ("<!-- hidden -->and more", false),
            ("<div>text</div>", false),
            ("<details>\nhidden text\n</details>\n\nNoted.", true),
        ] {
            assert_eq!(read(body).whole, whole, "{body:?}");
        }
        assert_eq!(lines("won\u{200b}'t fix"), ["won't fix"]);
    }
}
