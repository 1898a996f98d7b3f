//! Makes text from GitHub safe for a terminal (S1).
//!
//! Anybody who can comment on a pull request can write escape sequences, text that reads backwards and
//! invisible characters. This module removes them at the edge. No other code decides which characters are
//! harmless.

use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// Makes one safe line of a text: nothing in it moves the cursor, changes colours, reverses the reading
/// direction or is invisible. The printable rest of an escape sequence stays, so that readers see that
/// somebody wrote one.
pub fn line(text: &str) -> Cow<'_, str> {
    let mut marks = StackedMarks::default();
    let is_clean = |c: char| (!c.is_whitespace() || c == ' ') && !is_hostile(c) && marks.takes(c);
    if text.chars().all(is_clean) {
        return Cow::Borrowed(text);
    }
    let mut marks = StackedMarks::default();
    let kept = text.chars().filter_map(|c| match c {
        _ if c.is_whitespace() => Some(' ').filter(|blank| marks.takes(*blank)),
        _ if is_hostile(c) => None,
        _ => Some(c).filter(|c| marks.takes(*c)),
    });
    Cow::Owned(kept.collect())
}

/// Counts the combining marks on one character. No script needs more than a few, and a terminal draws
/// hundreds of them over the neighbouring cells.
#[derive(Default)]
struct StackedMarks(u32);

impl StackedMarks {
    const HIGHEST: u32 = 6;

    fn takes(&mut self, c: char) -> bool {
        if c.is_ascii() || c.width() != Some(0) {
            self.0 = 0;
            return true;
        }
        // One variation selector directly after a character is normal. A row of them can hide a message.
        let is_selector = matches!(c, '\u{fe0e}' | '\u{fe0f}');
        if self.0 == Self::HIGHEST || (is_selector && self.0 > 0) {
            return false;
        }
        self.0 += 1;
        true
    }
}

/// Makes several lines safe, each as [`line()`] does. Tabs stay, because code depends on them.
pub fn block(text: &str) -> String {
    let cleaned = |text: &str| text.split('\t').map(line).collect::<Vec<_>>().join("\t");
    text.lines().map(cleaned).collect::<Vec<_>>().join("\n")
}

/// Escapes the same characters in a JSON text: programs that parse it get them back, and terminals never see
/// them.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && is_hostile(c)) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if c == '\n' || !is_hostile(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    Cow::Owned(escaped)
}

/// Whether a character acts on a terminal, or is not visible to a reader.
pub fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // Direction: marks, embeddings, overrides, isolates.
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{206a}'..='\u{206f}'
            // Invisible, without width.
            | '\u{00ad}' | '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Line breaks and interlinear annotations.
            | '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}'
            // Tags and variation selectors, which can hide whole messages. The two that choose between text
            // and emoji stay.
            | '\u{fe00}'..='\u{fe0d}' | '\u{e0000}'..='\u{e0fff}'
            // Code points that Unicode reserves as noncharacters.
            | '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escape_sequences_and_control_characters_are_removed() {
        assert_eq!(line("a\u{1b}[31mred\u{1b}[0m"), "a[31mred[0m");
        assert_eq!(line("\u{1b}]0;title\u{7}x\u{9b}2J\u{90}q\u{7f}\u{0}\u{8}"), "]0;titlex2Jq");
        assert_eq!(line("one\r\ntwo\tthree\u{2028}four\u{85}five"), "one  two three four five");
    }

    #[test]
    fn direction_marks_and_invisible_characters_are_removed() {
        assert_eq!(line("a\u{202e}b\u{2066}c\u{2069}d\u{200f}e\u{61c}"), "abcde");
        assert_eq!(line("pass\u{200b}w\u{200d}o\u{feff}r\u{2060}d\u{ad}"), "password");
        assert_eq!(line("hi\u{e0001}\u{e0041}\u{e007f}\u{e0100}"), "hi");
    }

    #[test]
    fn ordinary_text_stays_unchanged() {
        for text in ["", "plain", "über 日本語 עברית العربية", "⚠️ Potential issue | 🟠 Major", "a  b"]
        {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn marks_do_not_pile_up_and_hide_nothing() {
        let stacked = format!("a{}b", "\u{301}".repeat(500));
        assert_eq!(line(&stacked), format!("a{}b", "\u{301}".repeat(6)));
        assert_eq!(line("x\u{fe0f}\u{fe0e}\u{fe0f}\u{fe0e}y\u{fe01}"), "x\u{fe0f}y");
        for text in ["e\u{301}", "นี้", "ﷺ", "ᄀ\u{1161}\u{11a8}", "1\u{fe0f}\u{20e3}", "क्षि"]
        {
            assert_eq!(line(text), text);
        }
        assert_eq!(line("a\u{fffe}\u{1ffff}\u{fdd0}b"), "ab");
    }

    #[test]
    fn a_block_keeps_its_lines_and_tabs() {
        assert_eq!(block("a:\r\n\tb\u{1b}[2J\n\n\u{202e}c\rd\n"), "a:\n\tb[2J\n\nc d");
    }

    #[test]
    fn a_parser_gets_escaped_characters_back() {
        let hostile = "a\u{9b}b\u{202e}c\u{e0041}d\u{1b}\u{7f}";
        let text = serde_json::to_string(hostile).unwrap();
        let cleaned = json(&text);
        assert!(!cleaned.chars().any(is_hostile), "{cleaned:?}");
        assert_eq!(serde_json::from_str::<String>(&cleaned).unwrap(), hostile);
    }

    proptest! {
        #[test]
        fn no_input_leaves_a_hostile_character(text in any::<String>()) {
            let once = line(&text).into_owned();
            prop_assert!(!once.chars().any(is_hostile));
            prop_assert_eq!(&*line(&once), once.as_str());
            let quoted = serde_json::to_string(&text).unwrap();
            let cleaned = json(&quoted);
            prop_assert!(!cleaned.chars().any(is_hostile));
            prop_assert_eq!(serde_json::from_str::<String>(&cleaned).unwrap(), text);
        }
    }
}
