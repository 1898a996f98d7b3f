//! Collects the signals of one sentence, after negations and conditions.

use super::phrases::{Signal, find, spend};
use super::reading::CODE;
use super::sentence::{COMMIT, Sentence, SentenceWord, is_unspaced};
use std::collections::BTreeSet;
use std::ops::Range;

/// How many words before a phrase a negation may be: "I don't think this is out of scope".
const REACH_OF_NEGATION: usize = 5;
/// The same for reports of changes, which are close to their verb.
const REACH_BEFORE_FIXED: usize = 3;

/// Refusals close a thread if nothing casts doubt on them. Longer phrases come first.
const REFUSALS: [Signal; 5] =
    [Signal::Declines, Signal::OutOfScope, Signal::Keeps, Signal::Intends, Signal::Rests];
/// So do these, which take note of the remark.
const NOTES: [Signal; 4] = [Signal::DefersRest, Signal::Defers, Signal::Confirms, Signal::Acknowledges];

/// Reports that do not say what was changed: "addressed" may also mean "answered".
const VAGUE_REPORTS: [&str; 3] = ["addressed", "handled", "resolved"];

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

/// Articles, prepositions and pronouns of the other languages that put spaces between words.
const OTHER_SMALL_WORDS: &str = "
    all as both each into its our per their these those via we
    al au aux avec ce cette con d'un dans das de del dem den der des die do du e ein eine einem einen el en
    este et la las le les lo los o os ou para par por pour pr prs que qui se son su sur un una une y
    agora ahora an auf aus bei dieser diese dieses fur hier im jetzt maintenant mit nach und vom von zu zum zur
    a ao com como da deste desta dos essa esse isso isto na nos pela pelo um uma
    bir bu icin ile ve в для до за и из к на по при с у это этого этой
";
/// Frequent verbs, negations and adverbs of all these languages. They show the language, and may say something.
const OTHER_FREQUENT_WORDS: &str = "
    be but can has have i if may no not only or than then there when where which who will would you
    c'est elle es est esta hay il ne nous pas plus sont vous ya auch dass ich ist nicht nur sich sind sie werden
    wie wir wird ja mais muy nao sao sem tem ben biz cok daha degil gibi her olarak var yok
    бы все же как мы не но от так что я
";
/// The most frequent words of the other languages that are not English words too.
const FOREIGN_WORDS: &str = "
    nao vamos isso este esta para que com uma del los las el por una con lo es y le les des est et pas une nous
    je c'est la sur pour ce cette ist wir das der den des nicht und ich fur wird bir bu icin olarak ve
";
/// Words that begin a reason. The rest of the clause announces no change.
const REASONS: [&str; 16] = [
    "because",
    "since",
    "per",
    "due",
    "given",
    "weil",
    "da",
    "denn",
    "parce",
    "car",
    "puisque",
    "porque",
    "pois",
    "поскольку",
    "потому",
    "cunku",
];
/// A clause of this many words without any known phrase or small word is in no known language.
const SHORTEST_UNKNOWN: usize = 5;

/// The signals of a sentence.
#[derive(Debug, Default)]
pub(super) struct SentenceEvidence {
    signals: BTreeSet<Signal>,
    /// A closing phrase is negated, hedged, conditional or quoted.
    pub(super) doubted: bool,
    /// A clause of the sentence is in no language that the tables cover.
    pub(super) is_unknown: bool,
    /// The number of words outside all phrases. Two ideographs count as one word.
    pub(super) unexplained: usize,
    /// The same without small words and reasons. Any of them could be a verb for a change.
    pub(super) unexplained_content: usize,
    /// The number of words.
    pub(super) length: usize,
    /// Whether a word is in another language than English.
    pub(super) has_foreign_words: bool,
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
    let names_commit = sentence.words.iter().any(|word| word.text == COMMIT);
    let mut evidence = SentenceEvidence {
        length: count_words(&sentence, |_| true),
        small_words: sentence.words.iter().filter(|word| SMALL_WORDS.contains(&word.text.as_str())).count(),
        has_foreign_words: sentence.words.iter().any(|word| is_foreign(&word.text)),
        ..SentenceEvidence::default()
    };
    let asks = sentence.asks || !find(&sentence, Signal::Asks).is_empty();
    note(&mut evidence, Signal::Asks, asks);
    for signal in [Signal::Withholds, Signal::Credits, Signal::Thanks, Signal::Neutral, Signal::Disputes] {
        let found = !spend(&mut sentence, signal).is_empty();
        note(&mut evidence, signal, found);
    }

    let doubts = Doubts::of(&sentence);
    for signal in [Signal::Conditions, Signal::Wavers] {
        note(&mut evidence, signal, !find(&sentence, signal).is_empty());
    }
    let mut last_word = take_closing(&mut sentence, &mut evidence, &doubts, &REFUSALS);
    // "We won't rename it" announces no change, but "will rename it in a follow-up" does.
    note(&mut evidence, Signal::Changes, !find(&sentence, Signal::Changes).is_empty());
    note(&mut evidence, Signal::Agrees, !spend(&mut sentence, Signal::Agrees).is_empty());
    last_word = last_word.max(take_closing(&mut sentence, &mut evidence, &doubts, &NOTES));
    if let Some(last_word) = last_word {
        // "Noted, but out of scope" closes after its "but"; "I'd keep it, but …" does not.
        evidence.doubted |= find(&sentence, Signal::Contrasts).iter().any(|but| but.start >= last_word);
    }
    for signal in [Signal::Settled, Signal::Fixed] {
        let mut claims = spend(&mut sentence, signal);
        claims.retain(|range| !doubts.negate(range, REACH_BEFORE_FIXED) && !is_planned(&sentence, range));
        note(&mut evidence, signal, !claims.is_empty());
        let is_vague = |range: &Range<usize>| {
            sentence.words[range.clone()].iter().any(|word| VAGUE_REPORTS.contains(&word.text.as_str()))
        };
        let is_change = |range| names_commit || !is_vague(range);
        note(&mut evidence, Signal::Changes, signal == Signal::Fixed && claims.iter().any(is_change));
    }
    for signal in [
        Signal::Promises,
        Signal::Changes,
        Signal::Later,
        Signal::Argues,
        Signal::Explains,
        Signal::Contrasts,
        Signal::Denies,
        Signal::Fills,
    ] {
        let found = !spend(&mut sentence, signal).is_empty();
        note(&mut evidence, signal, found);
    }
    evidence.unexplained = count_words(&sentence, |spent| !spent);
    evidence.unexplained_content = count_content(&sentence);
    evidence.is_unknown = sentence.words.split(SentenceWord::is_stop).any(is_unknown_clause);
    evidence
}

fn count_content(sentence: &Sentence) -> usize {
    let clauses = sentence.words.split(SentenceWord::is_stop);
    let claims = clauses.map(|clause| {
        let reason = clause.iter().position(|word| REASONS.contains(&word.text.as_str()));
        &clause[..reason.unwrap_or(clause.len())]
    });
    claims.flatten().filter(|word| !word.spent && !is_small(&word.text)).count()
}

fn is_foreign(word: &str) -> bool {
    word.chars().any(|c| c.is_alphabetic() && !c.is_ascii()) || is_listed(FOREIGN_WORDS, word)
}

fn is_small(word: &str) -> bool {
    SMALL_WORDS.contains(&word) || is_listed(OTHER_SMALL_WORDS, word)
}

fn is_listed(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|listed| listed == word)
}

/// Chinese, Japanese and Korean letters do not count: three of them may be one word, and the tables cover them.
fn is_unknown_clause(words: &[SentenceWord]) -> bool {
    let is_known = |word: &SentenceWord| {
        word.spent
            || is_small(&word.text)
            || is_listed(OTHER_FREQUENT_WORDS, &word.text)
            || word.text.chars().all(|c| is_unspaced(c) || c == CODE)
    };
    words.len() >= SHORTEST_UNKNOWN && !words.iter().any(is_known)
}

/// Notes the closing signals of a sentence, or that there is doubt about them. Returns the end of the last
/// one.
fn take_closing(
    sentence: &mut Sentence,
    evidence: &mut SentenceEvidence,
    doubts: &Doubts,
    signals: &[Signal],
) -> Option<usize> {
    let mut last_word = None;
    for signal in signals {
        for range in spend(sentence, *signal) {
            last_word = last_word.max(Some(range.end));
            if doubts.reach(sentence, &range, *signal) {
                evidence.doubted = true;
            } else {
                note(evidence, *signal, true);
            }
        }
    }
    last_word
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
    let clause = before.iter().rposition(SentenceWord::is_stop).map_or(before, |at| &before[at + 1..]);
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
            || self.overrule(sentence, range, signal)
            || words.iter().any(|word| word.quoted)
    }

    /// Whether a negation is shortly before the phrase, in the same clause.
    fn negate(&self, range: &Range<usize>, reach: usize) -> bool {
        let clause = self.stops.iter().rfind(|stop| **stop < range.start).map_or(0, |stop| stop + 1);
        let from = range.start.saturating_sub(reach).max(clause);
        self.negations.iter().any(|at| (from..range.start).contains(at))
    }

    /// Whether the rest of the clause changes the meaning of the phrase.
    fn overrule(&self, sentence: &Sentence, range: &Range<usize>, signal: Signal) -> bool {
        let end = self.ends.iter().copied().filter(|end| *end >= range.end).min().unwrap_or(usize::MAX);
        let rest = range.end..end;
        let is_statement = !matches!(signal, Signal::Confirms | Signal::Acknowledges);
        // "Leaving it as is feels wrong": the phrase is the subject of whatever verb follows it.
        let is_subject = signal == Signal::Keeps
            && sentence.words[range.start].text.ends_with("ing")
            && sentence.words.get(range.end).is_some_and(|next| !next.is_stop() && !next.spent)
            && !self.ends.contains(&range.end);
        is_subject
            || self.suppositions.iter().any(|at| rest.contains(at))
            || (is_statement && self.predicates.iter().any(|at| rest.contains(at)))
    }
}
