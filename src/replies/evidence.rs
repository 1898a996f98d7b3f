//! Collects the signals of one sentence, after negations and conditions.

use super::phrases::{Signal, find, spend};
use super::sentence::{COMMIT, Sentence, is_unspaced};
use std::collections::BTreeSet;
use std::ops::Range;

/// How many words before a phrase a negation may be: "I don't think this is out of scope".
const REACH_OF_NEGATION: usize = 5;
/// The same for reports of changes, which are close to their verb.
const REACH_BEFORE_FIXED: usize = 3;

/// Signals that close a thread if nothing casts doubt on them. Longer phrases come first.
const CLOSING: [Signal; 8] = [
    Signal::Declines,
    Signal::Keeps,
    Signal::Intends,
    Signal::Rests,
    Signal::DefersRest,
    Signal::Defers,
    Signal::Agrees,
    Signal::Acknowledges,
];

/// Words before a participle that make it a wish or a plan.
const NOT_DONE: [&str; 16] = [
    "be",
    "if",
    "when",
    "once",
    "until",
    "unless",
    "should",
    "could",
    "would",
    "can",
    "to",
    "must",
    "needs",
    "sera",
    "wird",
    "будет",
];

/// Articles, copulas and prepositions. They show that a text is English even if it contains no known phrase.
const SMALL_WORDS: [&str; 22] = [
    "the", "a", "an", "is", "are", "was", "were", "of", "to", "in", "on", "for", "by", "with", "this",
    "that", "it", "it's", "and", "so", "from", "at",
];

/// The signals of a sentence.
#[derive(Debug, Default)]
pub(super) struct SentenceEvidence {
    signals: BTreeSet<Signal>,
    pub(super) names_commit: bool,
    /// A closing phrase is negated, hedged, conditional or quoted.
    pub(super) doubted: bool,
    /// The number of words outside all phrases. Two ideographs count as one word.
    pub(super) unexplained: usize,
    /// The number of words.
    pub(super) length: usize,
    /// The number of [`SMALL_WORDS`].
    pub(super) small_words: usize,
}

impl SentenceEvidence {
    pub(super) fn has(&self, signal: Signal) -> bool {
        self.signals.contains(&signal)
    }

    pub(super) fn has_any(&self, signals: &[Signal]) -> bool {
        signals.iter().any(|signal| self.has(*signal))
    }
}

/// Collects the signals. The order matters, because a phrase spends its words: the "agree" in "don't agree"
/// and the "not" in "not by accident" count once.
pub(super) fn weigh(mut sentence: Sentence) -> SentenceEvidence {
    let mut evidence = SentenceEvidence {
        names_commit: sentence.words.iter().any(|word| word.text == COMMIT),
        length: count_words(&sentence, |_| true),
        small_words: sentence.words.iter().filter(|word| SMALL_WORDS.contains(&word.text.as_str())).count(),
        ..SentenceEvidence::default()
    };
    let asks = sentence.asks || !find(&sentence, Signal::Asks).is_empty();
    note(&mut evidence, Signal::Asks, asks);
    for signal in [Signal::Withholds, Signal::Neutral, Signal::Disputes] {
        let found = !spend(&mut sentence, signal).is_empty();
        note(&mut evidence, signal, found);
    }

    let doubts = Doubts::of(&sentence);
    let mut last_word = None;
    for signal in CLOSING {
        for range in spend(&mut sentence, signal) {
            last_word = last_word.max(Some(range.end));
            if doubts.reach(&sentence, &range, signal) {
                evidence.doubted = true;
            } else {
                note(&mut evidence, signal, true);
            }
        }
    }
    if let Some(last_word) = last_word {
        // "Good point, but out of scope" closes after its "but"; "I'd keep it, but …" does not.
        evidence.doubted |= find(&sentence, Signal::Contrasts).iter().any(|but| but.start >= last_word);
    }
    for signal in [Signal::Settled, Signal::Fixed] {
        let claims = spend(&mut sentence, signal);
        let done = claims
            .iter()
            .any(|range| !doubts.negate(range, REACH_BEFORE_FIXED) && !is_planned(&sentence, range));
        note(&mut evidence, signal, done);
    }
    for signal in
        [Signal::Promises, Signal::Later, Signal::Argues, Signal::Explains, Signal::Contrasts, Signal::Denies]
    {
        let found = !spend(&mut sentence, signal).is_empty();
        note(&mut evidence, signal, found);
    }
    evidence.unexplained = count_words(&sentence, |spent| !spent);
    evidence
}

fn note(evidence: &mut SentenceEvidence, signal: Signal, found: bool) {
    if found {
        evidence.signals.insert(signal);
    }
}

fn count_words(sentence: &Sentence, counts: impl Fn(bool) -> bool) -> usize {
    let counted = sentence.words.iter().filter(|word| !word.is_stop() && counts(word.spent));
    let halves: usize = counted.map(|word| if word.text.chars().all(is_unspaced) { 1 } else { 2 }).sum();
    halves.div_ceil(2)
}

fn is_planned(sentence: &Sentence, range: &Range<usize>) -> bool {
    let from = range.start.saturating_sub(REACH_BEFORE_FIXED);
    let before = &sentence.words[from..range.start];
    let clause = before
        .iter()
        .rposition(super::sentence::SentenceWord::is_stop)
        .map_or(before, |at| &before[at + 1..]);
    clause.iter().any(|word| NOT_DONE.contains(&word.text.as_str()))
}

/// The positions in a sentence that cast doubt on phrases near them.
struct Doubts {
    negations: Vec<usize>,
    suppositions: Vec<usize>,
    predicates: Vec<usize>,
    /// The ends of clauses: stops, and words that begin a new clause.
    ends: Vec<usize>,
    stops: Vec<usize>,
    first_hedge: Option<usize>,
    is_conditional: bool,
}

impl Doubts {
    fn of(sentence: &Sentence) -> Self {
        let starts = |signal| find(sentence, signal).into_iter().map(|range| range.start).collect::<Vec<_>>();
        let is_stop = |at: &usize| sentence.words[*at].is_stop();
        let stops: Vec<usize> = (0..sentence.words.len()).filter(is_stop).collect();
        let mut ends = starts(Signal::Connects);
        ends.extend(&stops);
        let suppositions = starts(Signal::Supposes);
        let hedges = starts(Signal::Hedges);
        Self {
            negations: find(sentence, Signal::Negates).into_iter().map(|range| range.end - 1).collect(),
            first_hedge: hedges.iter().chain(&suppositions).min().copied(),
            is_conditional: sentence.asks || !find(sentence, Signal::Conditions).is_empty(),
            predicates: starts(Signal::Predicates),
            suppositions,
            ends,
            stops,
        }
    }

    /// Whether there is doubt about a closing phrase.
    fn reach(&self, sentence: &Sentence, range: &Range<usize>, signal: Signal) -> bool {
        let words = &sentence.words[range.clone()];
        // In languages without spaces, a condition follows the phrase.
        let is_unspaced = words.iter().any(|word| word.text.chars().any(is_unspaced));
        let follows = |at: &usize| is_unspaced && !range.contains(at);
        self.is_conditional
            || self.first_hedge.is_some_and(|hedge| hedge < range.start || follows(&hedge))
            || self.negate(range, REACH_OF_NEGATION)
            || self.overrule(range, signal)
            || words.iter().any(|word| word.quoted)
    }

    /// Whether a negation is shortly before the phrase, in the same clause.
    fn negate(&self, range: &Range<usize>, reach: usize) -> bool {
        let clause = self.stops.iter().rfind(|stop| **stop < range.start).map_or(0, |stop| stop + 1);
        let from = range.start.saturating_sub(reach).max(clause);
        self.negations.iter().any(|at| (from..range.start).contains(at))
    }

    /// Whether the rest of the clause changes the meaning of the phrase.
    fn overrule(&self, range: &Range<usize>, signal: Signal) -> bool {
        let end = self.ends.iter().copied().filter(|end| *end >= range.end).min().unwrap_or(usize::MAX);
        let rest = range.end..end;
        let is_statement = !matches!(signal, Signal::Agrees | Signal::Acknowledges);
        self.suppositions.iter().any(|at| rest.contains(at))
            || (is_statement && self.predicates.iter().any(|at| rest.contains(at)))
    }
}
