//! The regular expressions of profiles: hundreds of them, most of which are asked a few times and some of which all the time.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::captures::Captures;
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use regex_automata::{Input, PatternID, Span, hybrid};
use serde::Deserialize;
use std::borrow::Cow;
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
    /// Tells where it fits and what it captures. It is asked about texts that are known to fit, which few are.
    whole: OnceLock<Option<Regex>>,
    ascii: Matcher,
    unicode: Matcher,
}

/// A pattern that takes more memory than this to compile was not written to be read.
const LARGEST_PATTERN: usize = 4 << 20;

impl Pattern {
    /// A pattern that is known to compile, or why it does not.
    pub fn checked(source: &str) -> Result<Pattern, String> {
        let whole = compile(source)?;
        let forms = Forms { whole: OnceLock::from(Some(whole)), ..Forms::default() };
        Ok(Pattern { source: source.to_owned(), forms: Arc::new(forms) })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it captures anything.
    pub fn has_group(&self) -> bool {
        self.whole().is_some_and(|whole| whole.captures_len() > 1)
    }

    /// Whether it captures a path and a line.
    pub fn has_place(&self) -> bool {
        let has = |group| {
            self.whole().is_some_and(|whole| whole.group_info().to_index(PatternID::ZERO, group).is_some())
        };
        has("path") && has("from")
    }

    /// Most lines of most posts are plain ASCII. What these are held against need not know all the world's letters, and takes
    /// less memory; it fits exactly where the other would.
    pub(super) fn fits(&self, text: &str) -> bool {
        let told = if text.is_ascii() {
            self.forms.ascii.fits(&self.source, Alphabet::Ascii, text)
        } else {
            self.forms.unicode.fits(&self.source, Alphabet::Unicode, text)
        };
        told.unwrap_or_else(|| self.whole().is_some_and(|whole| whole.is_match(text)))
    }

    /// What it captures where it first fits.
    pub(super) fn groups<'text>(&self, text: &'text str) -> Option<Groups<'text>> {
        if !self.fits(text) {
            return None;
        }
        let whole = self.whole()?;
        let mut found = whole.create_captures();
        whole.captures(text, &mut found);
        found.is_match().then_some(Groups { text, found })
    }

    /// The text without what it fits.
    pub(super) fn taken_from<'text>(&self, text: &'text str) -> Cow<'text, str> {
        let Some(whole) = self.whole().filter(|_| self.fits(text)) else { return Cow::Borrowed(text) };
        let mut left = String::with_capacity(text.len());
        let mut end = 0;
        for found in whole.find_iter(text) {
            left.push_str(&text[end..found.start()]);
            end = found.end();
        }
        left.push_str(&text[end..]);
        Cow::Owned(left)
    }

    /// The program's own patterns are held to compile by a test, and everybody else's are [`Pattern::checked`].
    fn whole(&self) -> Option<&Regex> {
        self.forms.whole.get_or_init(|| compile(&self.source).ok()).as_ref()
    }
}

/// Without the automata that find a text which fits among many that do not: they are most of what a regular expression takes.
fn compile(source: &str) -> Result<Regex, String> {
    let small = meta::Config::new().hybrid(false).nfa_size_limit(Some(LARGEST_PATTERN));
    Regex::builder().configure(small).build(source).map_err(|error| match error.syntax_error() {
        // The last line of a syntax error says what is wrong, the others show where.
        Some(error) => {
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default();
            reason.strip_prefix("error: ").unwrap_or(reason).to_owned()
        }
        None => "it is too large".to_owned(),
    })
}

/// The parts of a text that a pattern's groups stand for.
pub(super) struct Groups<'text> {
    text: &'text str,
    found: Captures,
}

impl<'text> Groups<'text> {
    pub(super) fn at(&self, index: usize) -> Option<&'text str> {
        self.part(self.found.get_group(index)?)
    }

    pub(super) fn named(&self, name: &str) -> Option<&'text str> {
        self.part(self.found.get_group_by_name(name)?)
    }

    fn part(&self, span: Span) -> Option<&'text str> {
        self.text.get(span.range())
    }
}

/// What a text is made of that a pattern is held against.
#[derive(Debug, Clone, Copy)]
enum Alphabet {
    Ascii,
    Unicode,
}

impl Alphabet {
    fn syntax(self) -> syntax::Config {
        match self {
            Alphabet::Ascii => syntax::Config::new().unicode(false).utf8(false),
            Alphabet::Unicode => syntax::Config::new(),
        }
    }

    fn source(self, source: &str) -> Cow<'_, str> {
        match self {
            // A character that an ASCII text cannot have is a byte that no text has.
            Alphabet::Ascii => Cow::Owned(source.replace(|character: char| !character.is_ascii(), r"\xFF")),
            Alphabet::Unicode => Cow::Borrowed(source),
        }
    }
}

/// Tells whether a pattern fits a text of one alphabet.
#[derive(Debug, Default)]
struct Matcher {
    small: OnceLock<Option<Automaton>>,
    /// For a pattern that is asked so often that it pays.
    fast: OnceLock<Option<Regex>>,
    asked: AtomicU32,
}

/// From so many texts on a pattern gets the form that answers three times as fast, and takes several times the memory and the
/// time to make.
const OFTEN: u32 = 20_000;

impl Matcher {
    /// None if it cannot tell.
    fn fits(&self, source: &str, alphabet: Alphabet, text: &str) -> Option<bool> {
        if self.asked.fetch_add(1, Ordering::Relaxed) < OFTEN {
            return self.small(source, alphabet)?.fits(text);
        }
        // A count that runs over begins again, and what was made meanwhile stays.
        Some(self.fast(source, alphabet)?.is_match(text))
    }

    fn small(&self, source: &str, alphabet: Alphabet) -> Option<&Automaton> {
        self.small.get_or_init(|| Automaton::new(source, alphabet)).as_ref()
    }

    fn fast(&self, source: &str, alphabet: Alphabet) -> Option<&Regex> {
        let compile = || {
            let nothing_captured = meta::Config::new()
                .which_captures(WhichCaptures::Implicit)
                .nfa_size_limit(Some(LARGEST_PATTERN));
            let mut builder = Regex::builder();
            builder.configure(nothing_captured).syntax(alphabet.syntax()).build(&alphabet.source(source)).ok()
        };
        self.fast.get_or_init(compile).as_ref()
    }
}

/// Its states are made as texts need them. It tells whether it fits and not where, so that it is a small part of what a whole
/// regular expression takes, and it knows no shortcuts.
struct Automaton {
    states: Arc<DFA>,
    made: Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync>>,
}

/// States of one automaton are thrown away when they take more than this.
const MOST_STATES: usize = 64 << 10;

impl Automaton {
    fn new(source: &str, alphabet: Alphabet) -> Option<Automaton> {
        let nothing_captured = thompson::Config::new()
            .utf8(matches!(alphabet, Alphabet::Unicode))
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(LARGEST_PATTERN));
        // Where a word ends among all the world's letters it cannot tell, and says so.
        let few_states = hybrid::dfa::Config::new()
            .cache_capacity(MOST_STATES)
            .skip_cache_capacity_check(true)
            .unicode_word_boundary(true);
        let states = DFA::builder()
            .configure(few_states)
            .thompson(nothing_captured)
            .syntax(alphabet.syntax())
            .build(&alphabet.source(source));
        let states = Arc::new(states.ok()?);
        let of = Arc::clone(&states);
        let made = Pool::new(Box::new(move || of.create_cache()) as Box<dyn Fn() -> Cache + Send + Sync>);
        Some(Automaton { states, made })
    }

    /// None if it cannot tell.
    fn fits(&self, text: &str) -> Option<bool> {
        let mut made = self.made.get();
        let found = self.states.try_search_fwd(&mut made, &Input::new(text).earliest(true));
        Some(found.ok()?.is_some())
    }
}

impl fmt::Debug for Automaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Automaton").finish_non_exhaustive()
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
    /// Whether it fits a text, by each of the forms that can tell.
    pub(super) fn told_by_each_form(&self, text: &str) -> Vec<bool> {
        let Forms { ascii, unicode, .. } = &*self.forms;
        let mut alphabets = vec![(unicode, Alphabet::Unicode)];
        alphabets.extend(text.is_ascii().then_some((ascii, Alphabet::Ascii)));
        let by = |(matcher, alphabet): (&Matcher, Alphabet)| {
            let small = matcher.small(&self.source, alphabet).and_then(|small| small.fits(text));
            let fast = matcher.fast(&self.source, alphabet).map(|fast| fast.is_match(text));
            [small, fast]
        };
        let whole = self.whole().map(|whole| whole.is_match(text));
        alphabets.into_iter().flat_map(by).chain([whole]).flatten().collect()
    }
}
