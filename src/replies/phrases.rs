//! The pattern language of the phrase tables, and the search for its phrases in a sentence.
//!
//! A phrase is words separated by spaces. `^` is the beginning of a clause, `$` its end, `..` up to
//! [`WIDEST_GAP`] words, `stem*` and `*ending` parts of a word, `this/that` either word, `,` and `|` the
//! stops, `<sha>` a commit and `@change` a verb of [`CHANGE_VERBS`]. Words have the form they have in a
//! [`Sentence`]: small letters, no accents, contractions. Chinese, Japanese and Korean phrases are written
//! without spaces.

use super::languages::{CHANGE_VERBS, LANGUAGES};
use super::sentence::{BAR, Sentence, is_unspaced};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

const WIDEST_GAP: usize = 6;

/// The meaning of a phrase in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    /// Courtesy, or a request to a bot. It means nothing and hides the words inside it. "Understood" is here
    /// too: people write it before they act and before they do not.
    Neutral,
    /// Thanks. A refusal may be polite; "noted, thanks" may come before a change.
    Thanks,

    // Reports.
    /// The person made a change.
    Fixed,
    /// The code is changed, and the text does not say by whom. With an argument nearby it is a disagreement.
    Settled,
    /// The person will make a change. It closes nothing unless the change is made somewhere else.
    Promises,
    /// A change here: a revert, a removal, a rename, a push, or a request to make one.
    Changes,

    // Agreement with the remark. Something will change, so it closes nothing.
    /// The person thanks for the remark itself.
    Credits,
    /// The person agrees with the remark, praises it or admits a mistake.
    Agrees,

    // Words that can close the thread.
    /// The person declines explicitly.
    Declines,
    /// The person keeps the code as it is, or says that the whole is intended. It closes only without an
    /// argument.
    Keeps,
    /// A part of the code is intended. In a longer explanation that is an argument.
    Intends,
    /// Something is out of scope: the remark, or the person's own change. It closes only if the reply says
    /// nothing else.
    OutOfScope,
    /// Nothing needs to be done. It closes if the reply says nothing else, and argues if it does.
    Rests,
    /// The person read the remark, and does not say whether it is right.
    Acknowledges,
    /// The remark is valid. It closes only if the person takes it up somewhere else.
    Confirms,
    /// The person takes the remark up somewhere else.
    Defers,
    /// Another place, such as a follow-up. It defers only a remark that the person noted or promised to act on.
    /// A later time is no other place: the change may still come here.
    Later,
    /// The person did a part, and takes the rest up somewhere else.
    DefersRest,

    // Words that keep the thread open.
    /// The person says explicitly that the remark is wrong.
    Disputes,
    /// Evidence of the kind that people bring against a remark.
    Argues,
    /// A statement that something is not the case.
    Denies,
    /// "But": the words before it are not the whole answer.
    Contrasts,
    /// Reverses a phrase shortly after it.
    Negates,
    /// Makes the words after it uncertain, hypothetical or a quotation.
    Hedges,
    /// "If" and "when": the rest of the clause is not decided yet.
    Supposes,
    /// Makes the whole sentence conditional.
    Conditions,
    /// The person is not certain. Wherever it stands, it makes the whole reply uncertain.
    Wavers,
    /// A verb that makes the phrase before it its subject: "leaving it as is *breaks* the build".
    Predicates,
    /// Begins a new clause, which does not contradict the one before.
    Connects,
    /// The person is not serious, or wants the thread kept open.
    Withholds,
    /// A question without a question mark.
    Asks,
    /// Endings and particles that add nothing, in languages without spaces.
    Fills,
    /// A reason, or the remark that the thread is being resolved. Alone it is an argument; otherwise it adds
    /// nothing.
    Explains,
}

/// All phrases for the signal in the sentence. Marks their words as spent, so that each word counts for one
/// phrase only.
pub(super) fn spend(sentence: &mut Sentence, signal: Signal) -> Vec<Range<usize>> {
    let found = find(sentence, signal);
    for range in &found {
        for word in &mut sentence.words[range.clone()] {
            word.spent = true;
        }
    }
    found
}

/// All phrases for the signal, without overlaps. At each position the longest one wins.
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

/// The parsed tables. Parsing happens at first use.
static PHRASES: LazyLock<BTreeMap<Signal, Phrases>> = LazyLock::new(|| {
    let mut by_signal: BTreeMap<Signal, Phrases> = BTreeMap::new();
    for (signal, phrases) in LANGUAGES.iter().copied().flatten() {
        let signal_phrases = by_signal.entry(*signal).or_default();
        phrases.split(';').for_each(|phrase| signal_phrases.insert(phrase));
    }
    by_signal.values_mut().for_each(Phrases::put_in_order);
    by_signal
});

/// The phrases for one signal, indexed by first word so that each word of a text is compared with few of
/// them. There are thousands, so they share one list and borrow their words from the tables.
#[derive(Default)]
struct Phrases {
    parts: Vec<PhrasePart>,
    /// The end of each phrase in `parts`, where the next one begins.
    ends: Vec<usize>,
    /// Sorted by word.
    by_first_word: Vec<(&'static str, usize)>,
    /// Phrases that begin with a part of a word or with `@change`.
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

static CHANGE_VERB_FORMS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| CHANGE_VERBS.split_whitespace().collect());

#[derive(Clone, Copy)]
enum PhrasePart {
    Beginning,
    End,
    Gap,
    ChangeVerb,
    Word(&'static str),
    Stem(&'static str),
    Ending(&'static str),
    /// Alternatives, separated by `/`.
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

/// The end of the phrase if it matches at `at`. Gaps are short and rare, so the recursion is shallow.
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

/// Courtesy before it does not count: "Thanks, noted" begins with "noted".
fn begins_clause(sentence: &Sentence, at: usize) -> bool {
    let before = sentence.words.get(..at).unwrap_or_default();
    let clause = before.iter().rposition(|word| word.text == BAR).map_or(before, |bar| &before[bar + 1..]);
    clause.iter().all(|word| word.spent || word.is_stop())
}
