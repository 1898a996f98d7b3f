//! The regular expressions of the reviewers' profiles.
//!
//! The built-in profiles have over 300 of them and one run needs few, so each is compiled on first use. Most
//! texts are ASCII. For them a pattern is compiled without Unicode classes, which takes a fraction of the
//! memory: 2 MB less in the demo.

use regex_automata::PatternID;
use regex_automata::meta::{self, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;
use serde::Deserialize;
use std::sync::{Arc, OnceLock};

/// A regular expression that compiles itself on first use.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    source: String,
    /// Clones share it, so each pattern is compiled once.
    compiled: Arc<Compiled>,
}

/// The compiled forms. None: the pattern does not compile and matches nothing.
#[derive(Debug, Default)]
struct Compiled {
    unicode: OnceLock<Option<Regex>>,
    /// For ASCII texts only. It matches exactly where the other form does.
    ascii: OnceLock<Option<Regex>>,
}

/// Bytes that a compiled pattern may take. A pattern that needs more is a mistake.
const LARGEST_PATTERN: usize = 4 << 20;

impl Pattern {
    /// Compiles the pattern at once and says why it does not compile.
    pub fn checked(source: &str) -> Result<Pattern, String> {
        let unicode = OnceLock::from(Some(compile(source, syntax::Config::new())?));
        let compiled = Compiled { unicode, ..Compiled::default() };
        Ok(Pattern { source: source.to_owned(), compiled: Arc::new(compiled) })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the pattern has a capture group.
    pub fn has_group(&self) -> bool {
        self.unicode().is_some_and(|regex| regex.captures_len() > 1)
    }

    /// Whether the pattern captures a path and a line.
    pub fn has_place(&self) -> bool {
        self.has_named("path") && self.has_named("from")
    }

    /// Whether the pattern captures a time.
    pub fn has_time(&self) -> bool {
        ["hours", "minutes", "seconds"].into_iter().any(|group| self.has_named(group))
    }

    fn has_named(&self, group: &str) -> bool {
        self.unicode().is_some_and(|regex| regex.group_info().to_index(PatternID::ZERO, group).is_some())
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex_for(text).is_some_and(|regex| regex.is_match(text))
    }

    /// The capture groups of the first match.
    pub(super) fn groups<'text>(&self, text: &'text str) -> Option<Groups<'text>> {
        let regex = self.regex_for(text)?;
        let mut captures = regex.create_captures();
        regex.captures(text, &mut captures);
        captures.is_match().then_some(Groups { text, captures })
    }

    /// The text without its matches.
    pub(super) fn removed_from(&self, text: &str) -> String {
        let Some(regex) = self.regex_for(text) else { return text.to_owned() };
        let mut rest = String::with_capacity(text.len());
        let mut end = 0;
        for matched in regex.find_iter(text) {
            rest.push_str(&text[end..matched.start()]);
            end = matched.end();
        }
        rest.push_str(&text[end..]);
        rest
    }

    fn regex_for(&self, text: &str) -> Option<&Regex> {
        if text.is_ascii() { self.ascii() } else { self.unicode() }
    }

    /// A test compiles all built-in patterns, and the configuration's are [`Pattern::checked`].
    fn unicode(&self) -> Option<&Regex> {
        let regex = || compile(&self.source, syntax::Config::new()).ok();
        self.compiled.unicode.get_or_init(regex).as_ref()
    }

    fn ascii(&self) -> Option<&Regex> {
        let regex = || {
            // An ASCII text has no byte 0xFF, so this stands for a character that the text cannot have.
            let source = self.source.replace(|character: char| !character.is_ascii(), r"\xFF");
            compile(&source, syntax::Config::new().unicode(false).utf8(false)).ok()
        };
        self.compiled.ascii.get_or_init(regex).as_ref()
    }
}

fn compile(source: &str, syntax: syntax::Config) -> Result<Regex, String> {
    // The lazy DFA would double the speed, and take up to twice the memory.
    let config = meta::Config::new().hybrid(false).nfa_size_limit(Some(LARGEST_PATTERN));
    Regex::builder().configure(config).syntax(syntax).build(source).map_err(|error| {
        match error.syntax_error() {
            // The last line of a syntax error says what is wrong; the lines above it show where.
            Some(error) => {
                let text = error.to_string();
                let reason = text.lines().last().unwrap_or_default();
                reason.strip_prefix("error: ").unwrap_or(reason).to_owned()
            }
            None => "it is too large".to_owned(),
        }
    })
}

/// The parts of a text that a pattern's groups captured.
pub(super) struct Groups<'text> {
    text: &'text str,
    captures: Captures,
}

impl<'text> Groups<'text> {
    pub(super) fn at(&self, index: usize) -> Option<&'text str> {
        self.text.get(self.captures.get_group(index)?.range())
    }

    pub(super) fn named(&self, name: &str) -> Option<&'text str> {
        self.text.get(self.captures.get_group_by_name(name)?.range())
    }
}

impl From<String> for Pattern {
    fn from(source: String) -> Pattern {
        Pattern { source, compiled: Arc::default() }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

#[cfg(test)]
impl Pattern {
    /// Whether each form that can read this text matches it.
    pub(super) fn matches_by_form(&self, text: &str) -> Vec<bool> {
        let forms = [self.unicode(), self.ascii().filter(|_| text.is_ascii())];
        forms.into_iter().flatten().map(|regex| regex.is_match(text)).collect()
    }
}
