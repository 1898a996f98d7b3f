//! The little pattern language of the phrase tables, and finding its phrases in a sentence.
//!
//! A phrase is words separated by spaces. `^` is the beginning of a clause, `$` its end, `..` up to
//! [`WIDEST_GAP`] words, `stem*` and `*ending` parts of a word, `this/that` either word, `,` and `|` the stops,
//! `<sha>` a commit and `@change` a verb of [`CHANGE_VERBS`]. Words are written as sentences have them: small letters,
//! no accents, contractions. Chinese, Japanese and Korean phrases are written without spaces.

use super::languages::{CHANGE_VERBS, LANGUAGES};
use super::sentence::{BAR, Sentence, is_unspaced};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

const WIDEST_GAP: usize = 6;

/// What finding a phrase says about a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    /// Courtesy and requests to a bot: it says nothing, and hides what is inside it.
    Neutral,

    // What the person did.
    /// A change was made.
    Fixed,
    /// The change is there, without a word about who made it. An argument nearby makes it a disagreement.
    Settled,
    /// A change will be made here. It closes nothing: there is none yet.
    Promises,

    // What would close the thread.
    /// The person declines in so many words.
    Declines,
    /// The person keeps the code as it is, or says of the remark as a whole that things are meant to be so.
    /// It closes only where nothing is argued.
    Keeps,
    /// Some part of the code is meant to be so. In a longer explanation that is an argument.
    Intends,
    /// Nothing is to be done. That closes when it is all that is said, and argues when there is more.
    Rests,
    /// The remark is right.
    Agrees,
    /// The remark was read; whether it is right is left open.
    Acknowledges,
    /// The remark is taken up somewhere else.
    Defers,
    /// A later time or place, which defers only what was agreed to or promised.
    Later,
    /// Part was done and the rest is taken up somewhere else.
    DefersRest,

    // What keeps it open.
    /// The remark is wrong, in so many words.
    Disputes,
    /// Evidence of the kind that is brought against a remark.
    Argues,
    /// A statement that something is not so.
    Denies,
    /// "But": what came before it is not the whole answer.
    Contrasts,
    /// Turns a phrase close behind it into its opposite.
    Negates,
    /// Makes what follows uncertain, hypothetical or somebody else's words.
    Hedges,
    /// "If" and "when": what stands before or after them in the clause is not yet decided.
    Supposes,
    /// Makes the whole sentence conditional.
    Conditions,
    /// A verb that turns the phrase before it into its subject: "leaving it as is *breaks* the build".
    Predicates,
    /// Begins a clause of its own, which says nothing against the one before.
    Connects,
    /// The person does not mean it, or wants the thread kept open.
    Withholds,
    /// A question without its mark.
    Asks,
    /// A reason, or that the thread is being resolved: nothing by itself, an argument when nothing else is said.
    Explains,
}

/// Every place in the sentence where a phrase for the signal stands, each word counted for one phrase only.
/// Marks those words as spent.
pub(super) fn spend(sentence: &mut Sentence, signal: Signal) -> Vec<Range<usize>> {
    let found = find(sentence, signal);
    for range in &found {
        for word in &mut sentence.words[range.clone()] {
            word.spent = true;
        }
    }
    found
}

/// Where phrases for the signal stand, longest first at each place and not overlapping.
pub(super) fn find(sentence: &Sentence, signal: Signal) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(phrases) = PHRASES.get(&signal) else {
        return found;
    };
    let mut at = 0;
    while let Some(word) = sentence.words.get(at) {
        let longest = phrases.opening_with(&word.text).filter_map(|parts| end_of(parts, sentence, at)).max();
        if let Some(end) = longest.filter(|end| *end > at) {
            found.push(at..end);
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// The tables as patterns. They are constants; only their parsing happens at the first use.
static PHRASES: LazyLock<BTreeMap<Signal, Phrases>> = LazyLock::new(|| {
    let mut by_signal: BTreeMap<Signal, Phrases> = BTreeMap::new();
    for (signal, phrases) in LANGUAGES.iter().copied().flatten() {
        let signal_phrases = by_signal.entry(*signal).or_default();
        phrases.split(';').for_each(|phrase| signal_phrases.insert(phrase));
    }
    by_signal.values_mut().for_each(Phrases::put_in_order);
    by_signal
});

/// The phrases for one signal, found by their first word so that each word of a text meets few of them. There are thousands,
/// so they lie one behind the other, in words that the tables lend.
#[derive(Default)]
struct Phrases {
    parts: Vec<PhrasePart>,
    /// Where each phrase ends, and the next begins.
    ends: Vec<usize>,
    /// Sorted by the word.
    by_first_word: Vec<(&'static str, usize)>,
    /// Those that begin with part of a word or with any deed.
    by_no_word: Vec<usize>,
}

impl Phrases {
    fn insert(&mut self, phrase: &'static str) {
        let index = self.ends.len();
        let begin = self.parts.len();
        parse(phrase, &mut self.parts);
        match self.parts[begin..].iter().find(|part| !matches!(part, PhrasePart::Beginning)) {
            Some(PhrasePart::Word(word)) => self.by_first_word.push((word, index)),
            Some(PhrasePart::Either(words)) => {
                self.by_first_word.extend(words.split('/').map(|word| (word, index)));
            }
            _ => self.by_no_word.push(index),
        }
        self.ends.push(self.parts.len());
    }

    fn put_in_order(&mut self) {
        self.by_first_word.sort_unstable();
        self.by_first_word.shrink_to_fit();
        self.parts.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    fn opening_with(&self, word: &str) -> impl Iterator<Item = &[PhrasePart]> {
        let from = self.by_first_word.partition_point(|(first, _)| *first < word);
        let by_word = self.by_first_word[from..].iter().take_while(move |(first, _)| *first == word);
        by_word.map(|(_, index)| index).chain(&self.by_no_word).map(|index| self.phrase(*index))
    }

    fn phrase(&self, index: usize) -> &[PhrasePart] {
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.parts[begin..self.ends[index]]
    }
}

static CHANGE_VERB_FORMS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| CHANGE_VERBS.split_whitespace().collect());

#[derive(Clone, Copy)]
enum PhrasePart {
    Beginning,
    End,
    Gap,
    ChangeVerb,
    Word(&'static str),
    Stem(&'static str),
    Ending(&'static str),
    /// Several words with strokes between them.
    Either(&'static str),
}

fn parse(phrase: &'static str, parts: &mut Vec<PhrasePart>) {
    for piece in phrase.split_whitespace() {
        match piece {
            "^" => parts.push(PhrasePart::Beginning),
            "$" => parts.push(PhrasePart::End),
            ".." => parts.push(PhrasePart::Gap),
            "@change" => parts.push(PhrasePart::ChangeVerb),
            _ if piece.contains(is_unspaced) => split_unspaced(piece, parts),
            _ if piece.contains('/') => parts.push(PhrasePart::Either(piece)),
            _ => parts.push(match (piece.strip_suffix('*'), piece.strip_prefix('*')) {
                (Some(stem), _) => PhrasePart::Stem(stem),
                (None, Some(ending)) => PhrasePart::Ending(ending),
                (None, None) => PhrasePart::Word(piece),
            }),
        }
    }
}

/// "別prで" is three words: each ideograph, and the Latin letters between them.
fn split_unspaced(piece: &'static str, parts: &mut Vec<PhrasePart>) {
    let mut rest = piece;
    while let Some(first) = rest.chars().next() {
        let end =
            if is_unspaced(first) { first.len_utf8() } else { rest.find(is_unspaced).unwrap_or(rest.len()) };
        let (word, behind) = rest.split_at(end);
        parts.push(PhrasePart::Word(word));
        rest = behind;
    }
}

/// Where the parts end if they begin at a word. Gaps are short and rare, so the recursion is shallow.
fn end_of(parts: &[PhrasePart], sentence: &Sentence, at: usize) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else {
        return Some(at);
    };
    let words = &sentence.words;
    match part {
        PhrasePart::Beginning => end_of(rest, sentence, at).filter(|_| begins_clause(sentence, at)),
        PhrasePart::End => {
            let ends = words.get(at).is_none_or(|word| word.is_stop() || word.spent);
            ends.then(|| end_of(rest, sentence, at))?
        }
        PhrasePart::Gap => (at..=at + WIDEST_GAP)
            .take_while(|&to| words.get(at..to).is_some_and(|gap| gap.iter().all(|word| word.text != BAR)))
            .find_map(|to| end_of(rest, sentence, to)),
        _ => {
            let word = words.get(at).filter(|word| !word.spent)?;
            part.is(&word.text).then(|| end_of(rest, sentence, at + 1))?
        }
    }
}

impl PhrasePart {
    fn is(&self, word: &str) -> bool {
        match self {
            PhrasePart::Beginning | PhrasePart::End | PhrasePart::Gap => false,
            PhrasePart::ChangeVerb => CHANGE_VERB_FORMS.contains(word),
            PhrasePart::Word(text) => word == *text,
            PhrasePart::Stem(stem) => word.starts_with(stem),
            PhrasePart::Ending(ending) => word.ends_with(ending),
            PhrasePart::Either(texts) => texts.split('/').any(|text| text == word),
        }
    }
}

/// Courtesy in front does not count: "Thanks, noted" begins with "noted".
fn begins_clause(sentence: &Sentence, at: usize) -> bool {
    let before = sentence.words.get(..at).unwrap_or_default();
    let clause = before.iter().rposition(|word| word.text == BAR).map_or(before, |bar| &before[bar + 1..]);
    clause.iter().all(|word| word.spent || word.is_stop())
}
