//! The regular expressions of the reviewers' profiles.
//!
//! The built-in profiles have over 300 of them and one run needs few, so each is compiled on first use. They
//! have no lazy DFA: it would make matching twice as fast, but take 5 MB of the demo's memory.

use regex_automata::PatternID;
use regex_automata::meta::{self, Regex};
use regex_automata::util::captures::Captures;
use serde::Deserialize;
use std::sync::{Arc, OnceLock};

/// A regular expression that compiles itself on first use.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    source: String,
    /// Clones share it, so each pattern is compiled once. None: the pattern does not compile and matches
    /// nothing.
    compiled: Arc<OnceLock<Option<Regex>>>,
}

/// Bytes that a compiled pattern may take. A pattern that needs more is a mistake.
const LARGEST_PATTERN: usize = 4 << 20;

impl Pattern {
    /// Compiles the pattern at once and says why it does not compile.
    pub fn checked(source: &str) -> Result<Pattern, String> {
        let compiled = compile(source)?;
        Ok(Pattern { source: source.to_owned(), compiled: Arc::new(OnceLock::from(Some(compiled))) })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the pattern has a capture group.
    pub fn has_group(&self) -> bool {
        self.regex().is_some_and(|regex| regex.captures_len() > 1)
    }

    /// Whether the pattern captures a path and a line.
    pub fn has_place(&self) -> bool {
        let has = |group| {
            self.regex().is_some_and(|regex| regex.group_info().to_index(PatternID::ZERO, group).is_some())
        };
        has("path") && has("from")
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// The capture groups of the first match.
    pub(super) fn groups<'text>(&self, text: &'text str) -> Option<Groups<'text>> {
        let regex = self.regex()?;
        let mut captures = regex.create_captures();
        regex.captures(text, &mut captures);
        captures.is_match().then_some(Groups { text, captures })
    }

    /// The text without its matches.
    pub(super) fn removed_from(&self, text: &str) -> String {
        let Some(regex) = self.regex() else { return text.to_owned() };
        let mut rest = String::with_capacity(text.len());
        let mut end = 0;
        for matched in regex.find_iter(text) {
            rest.push_str(&text[end..matched.start()]);
            end = matched.end();
        }
        rest.push_str(&text[end..]);
        rest
    }

    /// A test compiles all built-in patterns, and the configuration's are [`Pattern::checked`].
    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| compile(&self.source).ok()).as_ref()
    }
}

fn compile(source: &str) -> Result<Regex, String> {
    let config = meta::Config::new().hybrid(false).nfa_size_limit(Some(LARGEST_PATTERN));
    Regex::builder().configure(config).build(source).map_err(|error| match error.syntax_error() {
        // The last line of a syntax error says what is wrong; the lines above it show where.
        Some(error) => {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default();
            reason.strip_prefix("error: ").unwrap_or(reason).to_owned()
        }
        None => "it is too large".to_owned(),
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
