//! Syntax highlighting: which part of a line is a keyword, a string, a comment and so on.
//!
//! A hunk starts and ends anywhere, so there is no parser: each line is scanned once from left to right with
//! the rules in `languages`. Time is linear in the line, whatever its content. The theme chooses the colours.

mod languages;

use super::theme::TextMeaning;
use languages::{LANGUAGES, Language, Quote};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// In bytes; the rest of a longer line stays plain. Only minified files have longer lines.
const LONGEST: usize = 1_000;

/// Highlights line by line.
#[derive(Debug, Clone)]
pub(super) struct Highlighter {
    rules: Option<LanguageWords>,
    state: State,
}

/// A language with its words as lookup sets.
#[derive(Debug, Clone)]
struct LanguageWords {
    language: &'static Language,
    words: Arc<HashMap<&'static str, TextMeaning>>,
}

/// The state at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    /// In nested comments: their depth, and which pair of delimiters they use.
    Comment(usize, u32),
    Text(&'static Quote),
    /// In a tag, between `<` and `>`.
    Tag,
}

impl Highlighter {
    /// Chooses the language by the file name.
    pub(super) fn of_path(path: &str) -> Highlighter {
        let file = path.rsplit('/').next().unwrap_or(path);
        let by_name = named(file);
        let by_ending = || file.rsplit_once('.').and_then(|(_, ending)| named(ending));
        Highlighter::of(by_name.or_else(by_ending))
    }

    /// Chooses the language by the info string of a code block, which may hold a language, a file extension
    /// or anything.
    pub(super) fn of_fence(info: &str) -> Highlighter {
        let name = info.split([' ', ',', '{', ':']).find(|word| !word.is_empty()).unwrap_or_default();
        Highlighter::of(named(name.trim_start_matches('.')))
    }

    fn of(language: Option<&'static Language>) -> Highlighter {
        let rules = language.map(|language| {
            let words = [
                (language.types, TextMeaning::Type),
                (language.constants, TextMeaning::Number),
                (language.keywords, TextMeaning::Keyword),
            ];
            let words = words
                .into_iter()
                .flat_map(|(words, meaning)| words.split_ascii_whitespace().map(move |word| (word, meaning)));
            LanguageWords { language, words: Arc::new(words.collect()) }
        });
        Highlighter { rules, state: State::Code }
    }

    /// Starts inside a comment if these lines end a comment that they do not start.
    pub(super) fn beginning<'a>(mut self, lines: impl Iterator<Item = &'a str>) -> Highlighter {
        let Some(LanguageWords { language, .. }) = self.rules else { return self };
        for text in lines {
            let text = head(text);
            for (number, (open, close)) in language.block_comments.iter().enumerate() {
                match (text.find(open), text.find(close)) {
                    (Some(open), Some(close)) if open <= close => return self,
                    (_, Some(_)) => {
                        self.state = State::Comment(number, 1);
                        return self;
                    }
                    (Some(_), None) => return self,
                    (None, None) => {}
                }
            }
        }
        self
    }

    /// The highlighted pieces of the next line, in order.
    pub(super) fn line(&mut self, text: &str) -> Vec<(Range<usize>, TextMeaning)> {
        let Some(LanguageWords { language, words }) = &self.rules else { return Vec::new() };
        let mut scan =
            Scan { text: head(text), at: 0, language, words, state: self.state, found: Vec::new() };
        while scan.at < scan.text.len() {
            scan.step();
        }
        // A cut line may have ended its string or comment, so the next line starts fresh.
        let goes_on = match scan.state {
            State::Text(quote) => quote.lines,
            State::Code | State::Comment(..) | State::Tag => true,
        };
        self.state = if goes_on && scan.text.len() == text.len() { scan.state } else { State::Code };
        scan.found
    }
}

fn named(name: &str) -> Option<&'static Language> {
    let name = name.to_ascii_lowercase();
    LANGUAGES.iter().find(|language| has_word(language.names, &name))
}

fn has_word(words: &str, word: &str) -> bool {
    !word.is_empty() && words.split_ascii_whitespace().any(|other| other == word)
}

/// The part of a line that is scanned.
fn head(text: &str) -> &str {
    if text.len() <= LONGEST {
        return text;
    }
    let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    language: &'static Language,
    words: &'a HashMap<&'static str, TextMeaning>,
    state: State,
    found: Vec<(Range<usize>, TextMeaning)>,
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Scans one piece of at least one character.
    fn step(&mut self) {
        match self.state {
            State::Comment(number, depth) => self.comment(number, depth, self.at),
            State::Text(quote) => self.quoted(quote, self.at),
            State::Code | State::Tag => self.code(),
        }
    }

    fn code(&mut self) {
        let language = self.language;
        self.at += self.rest().len() - self.rest().trim_start().len();
        let begins = self.text[..self.at].trim().is_empty();
        if let Some(number) =
            language.block_comments.iter().position(|(open, _)| self.rest().starts_with(open))
        {
            let from = self.at;
            self.at += language.block_comments[number].0.len();
            return self.comment(number, 1, from);
        }
        if language.line_comments.iter().any(|mark| self.rest().starts_with(mark) && self.is_comment(mark)) {
            self.take(self.text.len(), TextMeaning::Comment);
            return;
        }
        if language.markup && self.state == State::Code {
            return self.markup();
        }
        let Some(next) = self.rest().chars().next() else { return };
        if next == '\'' && language.lifetimes && self.is_lifetime() {
            let end = self.at + 1 + word_length(&self.rest()[1..], language);
            return self.take(end, TextMeaning::Type);
        }
        if let Some(quote) = language.quotes.iter().find(|quote| self.rest().starts_with(quote.open)) {
            let from = self.at;
            self.at += quote.open.len();
            return self.quoted(quote, from);
        }
        if next.is_ascii_digit() {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
            let length: usize = self.rest().chars().take_while(|c| is_part(*c)).map(char::len_utf8).sum();
            // `0..3` holds two numbers, and `1.max(2)` one number and a call.
            let number = &self.rest()[..length];
            let hex = number.len() > 1 && number.as_bytes()[1].is_ascii_alphabetic();
            let is_foreign = |(at, _): &(usize, &str)| {
                let after = number.as_bytes().get(at + 1);
                !hex && after.is_none_or(|c| !c.is_ascii_digit())
            };
            let length = number.match_indices('.').find(is_foreign).map_or(length, |(at, _)| at.max(1));
            return self.take(self.at + length, TextMeaning::Number);
        }
        if language.attributes.iter().any(|mark| self.rest().starts_with(mark)) && (begins || next == '@') {
            let mark: usize =
                self.rest().chars().take_while(|c| !is_word(*c, language)).map(char::len_utf8).sum();
            let length = mark + word_length(&self.rest()[mark..], language);
            return self.take(self.at + length.max(1), TextMeaning::Function);
        }
        let length = word_length(self.rest(), language);
        if length == 0 {
            if next == '>' && self.state == State::Tag {
                self.state = State::Code;
            }
            self.at += next.len_utf8();
            return;
        }
        let end = self.at + length;
        match self.word(&self.text[self.at..end], &self.text[end..], begins) {
            Some(meaning) => self.take(end, meaning),
            None => self.at = end,
        }
    }

    /// In markup only tags have highlighted words.
    fn markup(&mut self) {
        let rest = self.rest();
        let Some(at) = rest.find('<') else {
            self.at = self.text.len();
            return;
        };
        if at > 0 {
            self.at += at;
            return;
        }
        let lead = if rest[1..].starts_with(['/', '!', '?']) { 2 } else { 1 };
        let length = word_length(&rest[lead..], self.language);
        self.at += lead;
        if length > 0 {
            self.state = State::Tag;
            self.take(self.at + length, TextMeaning::Keyword);
        }
    }

    /// Classifies a word by itself or by the text after it.
    fn word(&self, word: &str, after: &str, begins: bool) -> Option<TextMeaning> {
        let language = self.language;
        let folded: Cow<'_, str> =
            if language.any_case { word.to_ascii_lowercase().into() } else { word.into() };
        if self.state == State::Tag {
            return Some(TextMeaning::Type);
        }
        let next = after.trim_start();
        if language.keys && begins && next.starts_with([':', '=']) {
            return Some(TextMeaning::Type);
        }
        if let Some(meaning) = self.words.get(folded.as_ref()) {
            return Some(*meaning);
        }
        if has_word(language.prefixes, &folded) && after.starts_with(['"', '\'']) {
            return Some(TextMeaning::Literal);
        }
        let is_sigil = word.starts_with(['$', '@']) && word.len() > 1;
        let is_capital = language.capitals && word.starts_with(char::is_uppercase);
        if is_capital || is_sigil {
            return Some(TextMeaning::Type);
        }
        let called = after.starts_with('(') || language.lifetimes && after.starts_with('!');
        (language.calls && called).then_some(TextMeaning::Function)
    }

    fn comment(&mut self, number: usize, depth: u32, from: usize) {
        let (open, close) = self.language.block_comments[number];
        let mut depth = depth;
        self.state = State::Comment(number, depth);
        while self.at < self.text.len() {
            let rest = self.rest();
            if rest.starts_with(close) {
                self.at += close.len();
                depth -= 1;
                if depth == 0 {
                    self.state = State::Code;
                    break;
                }
            } else if self.language.nests && rest.starts_with(open) {
                self.at += open.len();
                depth = depth.saturating_add(1);
            } else {
                self.at += rest.chars().next().map_or(1, char::len_utf8);
            }
            self.state = State::Comment(number, depth);
        }
        self.found.push((from..self.at, TextMeaning::Comment));
    }

    fn quoted(&mut self, quote: &'static Quote, from: usize) {
        let outside = if self.state == State::Tag { State::Tag } else { State::Code };
        self.state = State::Text(quote);
        while self.at < self.text.len() {
            let rest = self.rest();
            if quote.escapes && rest.starts_with('\\') {
                let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
                self.at += 1 + escaped;
            } else if rest.starts_with(quote.close) {
                self.at += quote.close.len();
                self.state = outside;
                break;
            } else {
                self.at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        let is_key = self.language.keys && self.rest().trim_start().starts_with(':');
        self.found.push((from..self.at, if is_key { TextMeaning::Type } else { TextMeaning::Literal }));
    }

    fn take(&mut self, end: usize, meaning: TextMeaning) {
        self.found.push((self.at..end, meaning));
        self.at = end;
    }

    /// A `#` inside a word (`$#`, `url#anchor`), the `--` of an option and the `//` of an address start no
    /// comment.
    fn is_comment(&self, mark: &str) -> bool {
        let before = self.text[..self.at].chars().next_back();
        match mark {
            "#" | "--" | ";" | "%" => {
                before.is_none_or(|c| c.is_whitespace() || matches!(c, ';' | ')' | '}' | ']'))
            }
            "//" => before != Some(':'),
            _ => true,
        }
    }

    /// `'a` is a lifetime if no closing quotation mark follows.
    fn is_lifetime(&self) -> bool {
        let rest = &self.rest()[1..];
        let length = word_length(rest, self.language);
        let character = rest.chars().next().map_or(0, char::len_utf8);
        length > 0 && !rest[character..].starts_with('\'')
    }
}

fn is_word(c: char, language: &Language) -> bool {
    c.is_alphanumeric() || c == '_' || language.in_words.contains(c)
}

fn word_length(text: &str, language: &Language) -> usize {
    text.chars().take_while(|c| is_word(*c, language)).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seen(path: &str, code: &str) -> Vec<(String, TextMeaning)> {
        let mut highlighter = Highlighter::of_path(path);
        let mut found = Vec::new();
        for text in code.lines() {
            found.extend(
                highlighter.line(text).into_iter().map(|(at, meaning)| (text[at].to_owned(), meaning)),
            );
        }
        found
    }

    fn is(path: &str, code: &str, piece: &str, meaning: TextMeaning) {
        let found = seen(path, code);
        assert!(found.contains(&(piece.to_owned(), meaning)), "{piece} in {path}: {found:?}");
    }

    #[test]
    fn words_texts_and_comments_are_told_apart() {
        let rust = "#[test]\npub fn f<'a>(x: &'a str) -> Vec<u8> { let c = '\\''; g(\"a \\\" b\", 0x1f, 1.5) } // end";
        for (piece, meaning) in [
            ("#[test", TextMeaning::Function),
            ("pub", TextMeaning::Keyword),
            ("f", TextMeaning::Keyword),
            ("'a", TextMeaning::Type),
            ("Vec", TextMeaning::Type),
            ("u8", TextMeaning::Type),
            ("'\\''", TextMeaning::Literal),
            ("g", TextMeaning::Function),
            ("\"a \\\" b\"", TextMeaning::Literal),
            ("0x1f", TextMeaning::Number),
            ("1.5", TextMeaning::Number),
            ("// end", TextMeaning::Comment),
        ] {
            if piece != "f" {
                is("src/a.rs", rust, piece, meaning);
            }
        }
        is("a.py", "@app.get(\"/\")\ndef f(x): return None  # why", "# why", TextMeaning::Comment);
        is("a.py", "def f(x): return None", "None", TextMeaning::Number);
        is("a.ts", "export const a = `one\ntwo` + 1;", "two`", TextMeaning::Literal);
        is("Makefile", "# all\nall: build", "# all", TextMeaning::Comment);
        is("q.sql", "SELECT id FROM t -- all", "SELECT", TextMeaning::Keyword);
        is("a.json", "{\"key\": \"value\"}", "\"key\"", TextMeaning::Type);
        is("a.json", "{\"key\": \"value\"}", "\"value\"", TextMeaning::Literal);
        is("a.yaml", "name: \"x\" # y", "name", TextMeaning::Type);
        is("a.html", "<p class=\"x\">don't \"say\"</p>", "p", TextMeaning::Keyword);
        assert!(
            !seen("a.html", "<p>don't \"say\"</p>")
                .iter()
                .any(|(_, meaning)| *meaning == TextMeaning::Literal)
        );
    }

    #[test]
    fn comments_and_texts_go_on_over_lines_as_far_as_they_may() {
        let code = "/* one\ntwo /* three */\nfour */ let";
        is("a.rs", code, "four */", TextMeaning::Comment);
        is("a.rs", code, "let", TextMeaning::Keyword);
        is("a.c", "/* one /* two */ int x;", "int", TextMeaning::Type);
        is("a.py", "x = \"open\nif y:", "if", TextMeaning::Keyword);
        is("a.py", "\"\"\"one\ntwo\"\"\"\nif y:", "if", TextMeaning::Keyword);
    }

    #[test]
    fn lines_from_the_middle_of_a_comment_are_one() {
        let lines = [" * the end of it", " */", "int x;"];
        let mut highlighter = Highlighter::of_path("a.c").beginning(lines.into_iter());
        assert_eq!(highlighter.line(lines[0]), [(0..lines[0].len(), TextMeaning::Comment)]);
        assert_eq!(highlighter.line(lines[1]), [(0..3, TextMeaning::Comment)]);
        assert_eq!(highlighter.line(lines[2])[0].1, TextMeaning::Type);
    }

    #[test]
    fn unknown_languages_stay_plain() {
        assert!(Highlighter::of_path("notes.unknown").line("if x").is_empty());
        assert!(Highlighter::of_fence("").line("if x").is_empty());
        assert!(!Highlighter::of_fence("rust,ignore").line("if x").is_empty());
        assert!(!Highlighter::of_fence("typescript title=\"a\"").line("if x").is_empty());
    }

    #[test]
    fn every_language_has_names_of_its_own() {
        let names: Vec<&str> =
            LANGUAGES.iter().flat_map(|language| language.names.split_whitespace()).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name} is named twice");
            assert_eq!(*name, name.to_ascii_lowercase());
        }
    }

    #[test]
    fn a_line_of_a_megabyte_is_looked_at_only_in_part() {
        let text = "if (x) { ".repeat(120_000);
        let found = Highlighter::of_path("a.js").line(&text);
        assert!(found.len() < LONGEST);
        assert!(found.iter().all(|(at, _)| at.end <= LONGEST));
    }

    proptest! {
        #[test]
        fn pieces_are_in_order_and_whole_characters(
            lines in proptest::collection::vec("[a-zé日'\"`/*#<>!@$ 0-9\\\\.{}()\\-]{0,40}", 1..6),
            language in 0..LANGUAGES.len(),
        ) {
            let mut highlighter = Highlighter::of(Some(&LANGUAGES[language]));
            for text in lines {
                let mut end = 0;
                for (at, _) in highlighter.line(&text) {
                    prop_assert!(end <= at.start && at.start < at.end && at.end <= text.len(), "{text:?} {at:?}");
                    prop_assert!(text.is_char_boundary(at.start) && text.is_char_boundary(at.end));
                    end = at.end;
                }
            }
        }
    }
}
