//! The regular expressions of profiles: hundreds of them, most of which are asked a few times and some of which all the time.

use regex::{Regex, RegexBuilder, bytes};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::{Input, hybrid, util::syntax};
use serde::Deserialize;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// A regular expression. It is compiled when it is first asked, because no run needs all of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    source: String,
    /// Shared by all that were cloned from it, so that none of them is compiled twice.
    forms: Arc<Forms>,
}

#[derive(Debug, Default)]
struct Forms {
    /// For every text, and for what it captures.
    whole: OnceLock<Option<Regex>>,
    /// For texts in ASCII.
    plain: OnceLock<Option<Plain>>,
    /// The same for a pattern that is asked so often that it pays.
    fast: OnceLock<Option<bytes::Regex>>,
    asked: AtomicU32,
}

/// A pattern that takes more memory than this to compile was not written to be read.
const LARGEST_PATTERN: usize = 4 << 20;

/// From so many texts on a pattern gets the form that answers three times as fast, and takes three times the memory and four
/// times as long to make.
const OFTEN: u32 = 20_000;

impl Pattern {
    /// A pattern that is known to compile, or why it does not.
    pub fn checked(source: &str) -> Result<Pattern, String> {
        let regex = compile(source).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            // The last line of a syntax error says what is wrong, the others show where.
            other => {
                let text = other.to_string();
                let reason = text.lines().last().unwrap_or_default();
                reason.strip_prefix("error: ").unwrap_or(reason).to_owned()
            }
        })?;
        let forms = Forms { whole: OnceLock::from(Some(regex)), ..Forms::default() };
        Ok(Pattern { source: source.to_owned(), forms: Arc::new(forms) })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it captures anything.
    pub fn has_group(&self) -> bool {
        self.regex().is_some_and(|regex| regex.captures_len() > 1)
    }

    /// Whether it captures a path and a line.
    pub fn has_place(&self) -> bool {
        let has = |group| {
            self.regex().is_some_and(|regex| regex.capture_names().flatten().any(|name| name == group))
        };
        has("path") && has("from")
    }

    /// The program's own patterns are held to compile by a test, and everybody else's are [`Pattern::checked`].
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.forms.whole.get_or_init(|| compile(&self.source).ok()).as_ref()
    }

    /// Most lines of most posts are plain ASCII. For those there are forms that need not know all the world's letters, and
    /// take a fraction of the memory; they fit exactly where the other would.
    pub(super) fn fits(&self, text: &str) -> bool {
        let plainly = if text.is_ascii() { self.fits_plainly(text) } else { None };
        plainly.unwrap_or_else(|| self.regex().is_some_and(|regex| regex.is_match(text)))
    }

    /// None for a pattern that cannot be put this way.
    fn fits_plainly(&self, text: &str) -> Option<bool> {
        if self.forms.asked.fetch_add(1, Ordering::Relaxed) < OFTEN {
            return self.plain()?.fits(text);
        }
        // A count that runs over begins again, and what was made meanwhile stays.
        Some(self.fast()?.is_match(text.as_bytes()))
    }

    fn plain(&self) -> Option<&Plain> {
        self.forms.plain.get_or_init(|| Plain::new(&in_ascii(&self.source))).as_ref()
    }

    fn fast(&self) -> Option<&bytes::Regex> {
        let compile = || {
            let source = in_ascii(&self.source);
            bytes::RegexBuilder::new(&source).unicode(false).size_limit(LARGEST_PATTERN).build().ok()
        };
        self.forms.fast.get_or_init(compile).as_ref()
    }
}

fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).size_limit(LARGEST_PATTERN).build()
}

/// A character that an ASCII text cannot have is a byte that no text has.
fn in_ascii(source: &str) -> String {
    let mut ascii = String::with_capacity(source.len());
    for character in source.chars() {
        if character.is_ascii() {
            ascii.push(character);
        } else {
            ascii.push_str(r"\xFF");
        }
    }
    ascii
}

/// An automaton whose states are made as texts need them. It tells whether it fits and not where, so that it is half of what
/// a whole regular expression takes, and it knows no shortcuts.
struct Plain {
    automaton: Arc<DFA>,
    states: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync>>,
}

/// States of one automaton are thrown away when they take more than this.
const MOST_STATES: usize = 64 << 10;

impl Plain {
    fn new(source: &str) -> Option<Plain> {
        let bytes = syntax::Config::new().unicode(false).utf8(false);
        let nothing_captured = thompson::Config::new()
            .utf8(false)
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(LARGEST_PATTERN));
        let states = hybrid::dfa::Config::new().cache_capacity(MOST_STATES).skip_cache_capacity_check(true);
        let automaton =
            DFA::builder().configure(states).thompson(nothing_captured).syntax(bytes).build(source);
        let automaton = Arc::new(automaton.ok()?);
        let of = Arc::clone(&automaton);
        let states = Pool::new(Box::new(move || of.create_cache()) as Box<dyn Fn() -> Cache + Send + Sync>);
        Some(Plain { automaton, states })
    }

    /// None if it cannot tell.
    fn fits(&self, text: &str) -> Option<bool> {
        let mut states = self.states.get();
        let found = self.automaton.try_search_fwd(&mut states, &Input::new(text).earliest(true));
        Some(found.ok()?.is_some())
    }
}

impl fmt::Debug for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plain").finish_non_exhaustive()
    }
}

impl From<String> for Pattern {
    fn from(source: String) -> Pattern {
        Pattern { source, forms: Arc::default() }
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
    /// Whether it fits a text in ASCII, by each of the three forms.
    pub(super) fn told_by_each_form(&self, text: &str) -> [Option<bool>; 3] {
        let whole = self.regex().map(|regex| regex.is_match(text));
        let plain = self.plain().and_then(|plain| plain.fits(text));
        [whole, plain, self.fast().map(|regex| regex.is_match(text.as_bytes()))]
    }
}
