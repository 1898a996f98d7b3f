//! Splits text into sentences in the form that the phrase tables expect: small letters, no accents,
//! contractions, and only punctuation that changes the meaning.

use super::reading::{CODE, is_commit};

/// A weak stop inside a sentence. The phrase tables write it the same way.
pub(super) const COMMA: &str = ",";
/// A strong stop: colon, semicolon or dash. A new clause begins after it.
pub(super) const BAR: &str = "|";
/// Replaces a commit's hash.
pub(super) const COMMIT: &str = "<sha>";

/// How far ahead to look for the `:` of a conditional expression.
const LONGEST_EXPRESSION: usize = 120;

/// Emoji that reverse the meaning of a sentence. All others are ignored.
const SARCASTIC: &str = "🙄🤡🤨😒🤦🙃😂🤣";

/// Two words and their contraction. The tables contain only the contraction.
const CONTRACTIONS: [(&str, &str, &str); 27] = [
    ("will", "not", "won't"),
    ("would", "not", "wouldn't"),
    ("should", "not", "shouldn't"),
    ("can", "not", "can't"),
    ("could", "not", "couldn't"),
    ("do", "not", "don't"),
    ("does", "not", "doesn't"),
    ("did", "not", "didn't"),
    ("is", "not", "isn't"),
    ("are", "not", "aren't"),
    ("was", "not", "wasn't"),
    ("were", "not", "weren't"),
    ("has", "not", "hasn't"),
    ("have", "not", "haven't"),
    ("i", "am", "i'm"),
    ("i", "will", "i'll"),
    ("i", "have", "i've"),
    ("i", "would", "i'd"),
    ("we", "are", "we're"),
    ("we", "will", "we'll"),
    ("we", "have", "we've"),
    ("we", "would", "we'd"),
    ("you", "are", "you're"),
    ("it", "is", "it's"),
    ("that", "is", "that's"),
    ("they", "are", "they're"),
    ("there", "is", "there's"),
];

/// Words that people write without the apostrophe, or as one word.
const SPELLINGS: [(&str, &str); 14] = [
    ("wont", "won't"),
    ("dont", "don't"),
    ("cant", "can't"),
    ("cannot", "can't"),
    ("isnt", "isn't"),
    ("arent", "aren't"),
    ("doesnt", "doesn't"),
    ("didnt", "didn't"),
    ("wasnt", "wasn't"),
    ("hasnt", "hasn't"),
    ("shouldnt", "shouldn't"),
    ("youre", "you're"),
    ("thats", "that's"),
    ("im", "i'm"),
];

#[derive(Debug, Clone)]
pub(super) struct SentenceWord {
    pub(super) text: String,
    /// Inside quotation marks, so it may be somebody else's word.
    pub(super) quoted: bool,
    /// Part of a phrase that was found, so that a shorter phrase inside it does not count again.
    pub(super) spent: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Sentence {
    pub(super) words: Vec<SentenceWord>,
    /// The sentence ended with a question mark.
    pub(super) asks: bool,
}

impl SentenceWord {
    pub(super) fn is_stop(&self) -> bool {
        self.text == COMMA || self.text == BAR
    }
}

/// Splits lines into sentences. The end of a line always ends a sentence.
pub(super) fn split(lines: &[String]) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for line in lines {
        Splitter::new(line).run(&mut sentences);
    }
    sentences
}

struct Splitter {
    line: Vec<char>,
    at: usize,
    word: String,
    sentence: Sentence,
    quoted: bool,
}

impl Splitter {
    fn new(line: &str) -> Self {
        Self {
            line: line.chars().collect(),
            at: 0,
            word: String::new(),
            sentence: Sentence::default(),
            quoted: false,
        }
    }

    fn run(mut self, sentences: &mut Vec<Sentence>) {
        while let Some(&c) = self.line.get(self.at) {
            self.step(c, sentences);
            self.at += 1;
        }
        self.end_sentence(false, sentences);
    }

    fn step(&mut self, c: char, sentences: &mut Vec<Sentence>) {
        match c {
            '’' | '‘' | '\'' | '´' | '＇' if !self.word.is_empty() => self.word.push('\''),
            '?' | '？' | '؟' | '⁇' | '⁉' if self.ends_here(c) && !self.is_ternary() => {
                self.end_sentence(true, sentences);
            }
            '.' | '!' | '。' | '！' | '．' if self.ends_here(c) => self.end_sentence(false, sentences),
            '"' => {
                self.end_word();
                self.quoted = !self.quoted && self.line[self.at + 1..].contains(&'"');
            }
            '“' | '«' | '「' | '『' | '„' if !self.quoted => {
                self.end_word();
                self.quoted = true;
            }
            '”' | '»' | '」' | '』' | '“' => {
                self.end_word();
                self.quoted = false;
            }
            ',' | '(' | ')' | '、' | '，' | '（' | '）' | '،' => self.push_stop(COMMA),
            ':' | '：' if !self.is_inside_word() => self.push_stop(BAR),
            ';' | '；' | '—' | '–' | '|' | '→' | '…' => self.push_stop(BAR),
            '-' if self.is_spaced() => self.push_stop(BAR),
            '.' | '/' | ':' | '_' | '&' | '=' | '?' | '%' | '+' if self.is_inside_word() => self.word.push(c),
            '@' if self.word.is_empty() => self.skip_mention(),
            '#' if self.word.is_empty() => self.word.push('#'),
            '\u{300}'..='\u{36f}' => {}
            _ if c == CODE || SARCASTIC.contains(c) || is_unspaced(c) => {
                self.end_word();
                self.word.push(c);
                self.end_word();
            }
            _ if c.is_alphanumeric() => self.push_letter(c),
            _ => self.end_word(),
        }
    }

    fn next(&self) -> Option<char> {
        self.line.get(self.at + 1).copied()
    }

    fn is_inside_word(&self) -> bool {
        !self.word.is_empty() && self.next().is_some_and(|c| c.is_alphanumeric() || c == '/')
    }

    fn is_spaced(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.line.get(at));
        before.is_none_or(|c| c.is_whitespace() || *c == '-')
            && self.next().is_none_or(|c| c.is_whitespace() || c == '-')
    }

    /// A full-width mark always ends a sentence. Any other does unless it is inside a name or a number.
    fn ends_here(&self, c: char) -> bool {
        !c.is_ascii() || self.next().is_none_or(|next| !next.is_alphanumeric() && next != '/')
    }

    /// `condition ? this : that` is an expression that the writer did not mark as code.
    fn is_ternary(&self) -> bool {
        let is_spaced = |at: usize| self.line.get(at).is_some_and(|c| *c == ' ');
        self.at.checked_sub(1).is_some_and(is_spaced)
            && self.line[self.at..]
                .windows(3)
                .take(LONGEST_EXPRESSION)
                .any(|window| window == [' ', ':', ' '])
    }

    fn skip_mention(&mut self) {
        while self.next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '[' | ']')) {
            self.at += 1;
        }
    }

    fn push_letter(&mut self, c: char) {
        for lower in c.to_lowercase() {
            match unaccented(lower) {
                'ß' => self.word.push_str("ss"),
                'œ' => self.word.push_str("oe"),
                '\u{300}'..='\u{36f}' => {}
                plain => self.word.push(plain),
            }
        }
    }

    fn push_stop(&mut self, stop: &str) {
        self.end_word();
        self.push_word(stop.to_owned());
    }

    fn push_word(&mut self, text: String) {
        self.sentence.words.push(SentenceWord { text, quoted: self.quoted, spent: false });
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let word = word.trim_end_matches('\'');
        if word.is_empty() || word.contains("://") || word == "#" {
            return;
        }
        if is_commit(word) {
            self.push_word(COMMIT.to_owned());
            return;
        }
        let word = SPELLINGS.iter().find(|(bare, _)| *bare == word).map_or(word, |(_, spelt)| spelt);
        // "We will not" is "we'll not" at this point, and means "we won't".
        if word == "not"
            && let Some(last) = self.sentence.words.last_mut()
            && let Some(who) = last.text.strip_suffix("'ll")
        {
            last.text = who.to_owned();
            self.push_word("won't".to_owned());
            return;
        }
        if let Some(last) = self.sentence.words.last_mut()
            && let Some((.., short)) =
                CONTRACTIONS.iter().find(|(first, second, _)| *first == last.text && *second == word)
        {
            last.text = (*short).to_owned();
            return;
        }
        self.push_word(word.to_owned());
    }

    fn end_sentence(&mut self, asks: bool, sentences: &mut Vec<Sentence>) {
        self.end_word();
        let mut sentence = std::mem::take(&mut self.sentence);
        sentence.asks = asks;
        if sentence.words.iter().any(|word| !word.is_stop()) {
            sentences.push(sentence);
        } else if asks {
            // "Noted. ???" asks a question without words.
            match sentences.last_mut() {
                Some(last) => last.asks = true,
                None => sentences.push(sentence),
            }
        }
    }
}

/// Chinese, Japanese and Korean letters. Their words have no reliable spaces, so each letter counts as a
/// word.
pub(super) fn is_unspaced(c: char) -> bool {
    c.is_alphanumeric()
        && matches!(c,
            '\u{1100}'..='\u{11ff}'
            | '\u{2e80}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}')
}

/// The letter without its accent, as people type it on other keyboards.
fn unaccented(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'ē' | 'ę' | 'ě' => 'e',
        'ğ' => 'g',
        'ì'..='ï' | 'ı' => 'i',
        'ñ' | 'ń' => 'n',
        'ò'..='ö' | 'ő' => 'o',
        'ù'..='ü' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ş' | 'š' | 'ș' => 's',
        'ё' => 'е',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentences of a line. Quoted words are in brackets, and a question ends with `?`.
    fn sentences(line: &str) -> Vec<String> {
        let sentence = |sentence: &Sentence| {
            let word = |word: &SentenceWord| {
                if word.quoted { format!("[{}]", word.text) } else { word.text.clone() }
            };
            let words: Vec<_> = sentence.words.iter().map(word).collect();
            format!("{}{}", words.join(" "), if sentence.asks { "?" } else { "" })
        };
        split(&[line.to_owned()]).iter().map(sentence).collect()
    }

    #[test]
    fn sentences_end_where_a_reader_would_end_them() {
        assert_eq!(sentences("Fixed in v1.2.3, see https://x.y/z. Done!"), ["fixed in v1.2.3 , see", "done"]);
        assert_eq!(sentences("Is it? Yes."), ["is it?", "yes"]);
        assert_eq!(sentences("本当？はい。"), ["本 当?", "は い"]);
        assert_eq!(sentences("Noted. ???"), ["noted?"]);
        assert_eq!(sentences("Use a ? b : c here."), ["use a b | c here"], "an expression asks nothing");
        assert_eq!(sentences("Is a ? b needed?"), ["is a?", "b needed?"], "half of one is none");
        assert_eq!(sentences("Why? See b : c."), ["why?", "see b | c"]);
        assert_eq!(sentences("a ?b=1 c./d"), ["a b=1 c./d"], "an address asks nothing either");
    }

    #[test]
    fn marks_inside_a_word_are_part_of_it_and_between_words_they_are_stops() {
        assert_eq!(sentences("foo:bar a: b"), ["foo:bar a | b"]);
        assert_eq!(sentences("well-known - dash -- more"), ["well known | dash | | more"]);
        assert_eq!(sentences("- a -b c- d"), ["| a b c d"]);
        assert_eq!(sentences("a=b x&y 50% src/a.rs _x a_b +1"), ["a=b x&y 50 src/a.rs x a_b 1"]);
        assert_eq!(sentences("#123 # a#b"), ["#123 a b"]);
        assert_eq!(sentences("@alice-bob[bot] thanks a@b c"), ["thanks a b c"], "a mention says nothing");
        assert_eq!(sentences("ok 🙄 fine 🎉"), ["ok 🙄 fine"]);
        assert_eq!(sentences("see abc1234"), ["see <sha>"]);
    }

    #[test]
    fn quoted_words_are_marked() {
        assert_eq!(sentences("He said “won't fix” there."), ["he said [won't] [fix] there"]);
        assert_eq!(sentences("He said \"won't fix\" there."), ["he said [won't] [fix] there"]);
        assert_eq!(sentences("Er sagte „passt so“ dazu."), ["er sagte [passt] [so] dazu"]);
        assert_eq!(sentences("「不要」と"), ["[不] [要] と"]);
        assert_eq!(sentences("5\" wide"), ["5 wide"], "a mark that nothing closes opens nothing");
    }

    #[test]
    fn words_have_one_spelling() {
        assert_eq!(sentences("We will not, I am, dont, do not"), ["we won't , i'm , don't , don't"]);
        assert_eq!(sentences("don’t 'quoted' 'tis"), ["don't quoted tis"]);
        assert_eq!(sentences("naïve Straße cœur e\u{301}te\u{301}"), ["naive strasse coeur ete"]);
    }
}
