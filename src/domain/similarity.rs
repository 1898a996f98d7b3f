//! How similar the texts of two findings are (D2).
//!
//! There is no corpus at run time. The weight of a word comes from its form (a name, a number) and from small
//! tables of words that every review uses. `tests/it/duplicate_pairs.rs` measures precision and recall.

mod text;

use std::collections::{BTreeMap, BTreeSet};
use text::{ComparedWord, GENERIC, WORD, flattened, without_markup, words};

/// From this value on, two findings at the same place are the same finding.
pub const SAME_FINDING: f64 = 0.35;

/// From this value on, the texts are nearly identical: enough to recognise a finding whose code moved.
pub const NEAR_IDENTICAL: f64 = 0.85;

/// How much of a title is compared. A longer one is a body in the wrong field.
const TITLE_BYTES: usize = 1024;
/// How much of a body is compared. The problem is named at the start, and a body can be hostile.
const BODY_BYTES: usize = 8 * 1024;

/// In a title of at most this many words, one different word makes another subject. In a longer one it may be
/// a synonym.
const SHORT_SENTENCE: usize = 7;

/// A finding's words, ready to be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FindingWords {
    /// The title's words in their order.
    sentence: Vec<WeightedWord>,
    title: Vec<WeightedWord>,
    /// Words that the body adds to the title.
    body: Vec<WeightedWord>,
    all: Vec<WeightedWord>,
    /// The title's names and numbers, each as its parts separated by spaces.
    names: BTreeSet<String>,
    /// The text itself, if it has no words at all (a title can be an emoji).
    wordless: String,
}

/// A distinct word and its weight. Lists of them are sorted by text, for comparison in one pass.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct WeightedWord {
    text: String,
    weight: u8,
}

impl FindingWords {
    /// Reads only the start of both texts, in linear time.
    pub fn of(title: &str, body: &str) -> FindingWords {
        let title = without_markup(start(title, TITLE_BYTES));
        let body = without_markup(start(body, BODY_BYTES));
        let mut in_title = words(&title);
        let mut in_body = words(&body);
        if in_title.is_empty() {
            let (first, rest) = first_sentence(&body);
            in_title = words(first);
            in_body = words(rest);
        }
        weigh_last_word(&mut in_title);
        share_weight(&mut in_title);
        share_weight(&mut in_body);
        let title_tokens = tokens(in_title.iter());
        let all = tokens(in_title.iter().chain(&in_body));
        let news = |token: &&WeightedWord| token.weight > GENERIC && !has(&title_tokens, &token.text);
        let body_tokens = all.iter().filter(news).cloned().collect();
        let sentence = in_title.iter().filter(|word| word.weight > 0);
        FindingWords {
            sentence: sentence
                .map(|word| WeightedWord { text: word.stem.clone(), weight: word.weight })
                .collect(),
            body: body_tokens,
            names: names(&in_title),
            wordless: if all.is_empty() { [title.trim(), body.trim()].join("\n") } else { String::new() },
            title: title_tokens,
            all,
        }
    }

    /// The distinct words of the title, sorted. Without a title, those of the body's first sentence.
    pub fn title_tokens(&self) -> impl Iterator<Item = &str> {
        self.title.iter().map(|token| token.text.as_str())
    }

    fn mentions(&self, word: &str) -> bool {
        has(&self.all, word)
    }
}

/// 0.0 (nothing in common) to 1.0 (the same words). Symmetric.
pub fn similarity(a: &FindingWords, b: &FindingWords) -> f64 {
    // A text without words is similar only to itself. For texts with words, both sides are empty here.
    if a.wordless != b.wordless {
        return 0.0;
    }
    if a.title_tokens().eq(b.title_tokens()) {
        return SAME_FINDING + (1.0 - SAME_FINDING) * bodies_alike(a, b);
    }
    let titles = WordOverlap::of(&a.title, &b.title).ratio();
    // One reviewer puts into the title what another puts into the body.
    let cross = f64::midpoint(
        WordOverlap::of(&a.title, &b.all).of_first(),
        WordOverlap::of(&b.title, &a.all).of_first(),
    );
    let alike = if a.body.is_empty() || b.body.is_empty() {
        0.4 * titles + 0.6 * cross
    } else {
        0.2 * titles + 0.4 * cross + 0.4 * beyond_the_subject(a, b)
    };
    alike * (1.0 - 0.7 * contradiction(a, b))
}

/// D2's "same first words": the first 50 characters, without case and markup.
pub fn opening_words(title: &str, body: &str) -> String {
    let text = format!("{}\n{}", start(title, TITLE_BYTES), start(body, BODY_BYTES));
    flattened(&without_markup(&text)).chars().take(50).collect()
}

/// A missing body counts neither for nor against.
fn bodies_alike(a: &FindingWords, b: &FindingWords) -> f64 {
    match (a.body.is_empty(), b.body.is_empty()) {
        (true, true) => 1.0,
        (false, false) => WordOverlap::of(&a.body, &b.body).ratio(),
        _ => 0.5,
    }
}

/// The similarity without the words that both titles share. Two problems of one function share its name and
/// little else; one problem reported twice shares more.
fn beyond_the_subject(a: &FindingWords, b: &FindingWords) -> f64 {
    let beyond = |token: &&WeightedWord| !(has(&a.title, &token.text) && has(&b.title, &token.text));
    WordOverlap::of(a.all.iter().filter(beyond), b.all.iter().filter(beyond)).ratio()
}

/// 0.0 to 1.0: how surely the two titles are about different things, however similar they are otherwise.
///
/// Two findings of one kind are the same sentence with another name. A reworded finding is the opposite: the
/// sentence changes, and the name stays in the title or the body.
fn contradiction(a: &FindingWords, b: &FindingWords) -> f64 {
    let named = unmentioned(a, b).min(unmentioned(b, a));
    if same_sentence_with_another_name(a, b) { 1.0 } else { named }
}

/// The titles share at least half of their length at both ends, and each has a word in between that the other
/// text lacks.
fn same_sentence_with_another_name(a: &FindingWords, b: &FindingWords) -> bool {
    let longer = a.sentence.len().max(b.sentence.len());
    let head = a.sentence.iter().zip(&b.sentence).take_while(|(x, y)| x.text == y.text).count();
    let tails = a.sentence[head..].iter().rev().zip(b.sentence[head..].iter().rev());
    let tail = tails.take_while(|(x, y)| x.text == y.text).count();
    let news = |of: &FindingWords, to: &FindingWords| {
        let between = &of.sentence[head..of.sentence.len() - tail];
        between.iter().any(|token| token.weight >= WORD && !to.mentions(&token.text))
    };
    longer <= SHORT_SENTENCE && 2 * (head + tail) >= longer && news(a, b) && news(b, a)
}

/// The share of the names in `a`'s title that `b` does not mention.
fn unmentioned(a: &FindingWords, b: &FindingWords) -> f64 {
    let missing = a.names.iter().filter(|name| !name.split(' ').all(|part| b.mentions(part))).count();
    ratio(missing, a.names.len())
}

/// What two sorted lists have in common, by weight. A common word may have two weights (a name here, prose
/// there), so both count; a word of one list counts twice.
struct WordOverlap {
    common: usize,
    only_first: usize,
    only_second: usize,
}

impl WordOverlap {
    fn of<'a>(
        first: impl IntoIterator<Item = &'a WeightedWord>,
        second: impl IntoIterator<Item = &'a WeightedWord>,
    ) -> WordOverlap {
        let mut shared = WordOverlap { common: 0, only_first: 0, only_second: 0 };
        let mut others = second.into_iter().peekable();
        for token in first {
            while let Some(other) = others.next_if(|other| other.text < token.text) {
                shared.only_second += 2 * usize::from(other.weight);
            }
            match others.next_if(|other| other.text == token.text) {
                Some(other) => shared.common += usize::from(token.weight) + usize::from(other.weight),
                None => shared.only_first += 2 * usize::from(token.weight),
            }
        }
        shared.only_second += others.map(|other| 2 * usize::from(other.weight)).sum::<usize>();
        shared
    }

    /// A Tversky index that weighs the smaller remainder most. A shortened text has only lost words; a
    /// different text has also gained some.
    fn ratio(&self) -> f64 {
        let less = self.only_first.min(self.only_second);
        let more = self.only_first.max(self.only_second);
        ratio(5 * self.common, 5 * self.common + 4 * less + more)
    }

    /// The share of the first list that is in the second.
    fn of_first(&self) -> f64 {
        ratio(self.common, self.common + self.only_first)
    }
}

fn has(sorted: &[WeightedWord], word: &str) -> bool {
    sorted.binary_search_by(|token| token.text.as_str().cmp(word)).is_ok()
}

/// Zero for an empty whole, never NaN.
fn ratio(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the counts are bounded by the bytes that are read")]
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn start(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The first sentence with a meaningful word, and the rest of the text. Badges come before it.
fn first_sentence(text: &str) -> (&str, &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = sentence_end(rest);
        let (sentence, tail) = rest.split_at(end);
        if words(sentence).iter().any(|word| word.weight >= WORD || !word.stem.is_ascii()) {
            return (sentence, tail);
        }
        rest = tail;
    }
    (text, "")
}

fn sentence_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let before_space = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let before_item =
            c == '\n' && characters.peek().is_some_and(|(_, next)| matches!(next, '-' | '*' | '#'));
        if c == '。' || before_item || (matches!(c, '.' | '!' | '?' | '\n') && before_space) {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// "Problem a" is not "problem b": a single letter at the end of a title is a name, not an article.
fn weigh_last_word(title: &mut [ComparedWord]) {
    let alone = title.iter().all(|word| word.weight == 0);
    if let Some(last) = title.last_mut()
        && (alone || last.stem.len() == 1)
    {
        last.weight = last.weight.max(WORD);
    }
}

/// A name with many parts must not outweigh everything else.
fn share_weight(words: &mut [ComparedWord]) {
    for parts in words.chunk_by_mut(|a, b| a.name.is_some() && a.name == b.name) {
        let weight = match parts.len() {
            1 => continue,
            2 => WORD,
            _ => WORD - 1,
        };
        for part in parts {
            part.weight = weight;
        }
    }
}

fn tokens<'a>(words: impl Iterator<Item = &'a ComparedWord>) -> Vec<WeightedWord> {
    let mut heaviest: BTreeMap<&str, u8> = BTreeMap::new();
    for word in words.filter(|word| word.weight > 0) {
        let weight = heaviest.entry(&word.stem).or_default();
        *weight = word.weight.max(*weight);
    }
    heaviest.into_iter().map(|(text, weight)| WeightedWord { text: text.to_owned(), weight }).collect()
}

fn names(title: &[ComparedWord]) -> BTreeSet<String> {
    title
        .chunk_by(|a, b| a.name.is_some() && a.name == b.name)
        .filter(|parts| parts.iter().all(|part| part.name.is_some()))
        .map(|parts| parts.iter().map(|part| part.stem.as_str()).collect::<Vec<_>>().join(" "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn titles(a: &str, b: &str) -> f64 {
        similarity(&FindingWords::of(a, ""), &FindingWords::of(b, ""))
    }

    fn tokens_of(title: &str) -> Vec<String> {
        FindingWords::of(title, "").title_tokens().map(str::to_owned).collect()
    }

    #[test]
    fn another_name_or_number_is_another_finding() {
        for (a, b) in [
            ("Finding 17", "Finding 18"),
            ("problem a", "problem b"),
            ("t1", "t2"),
            ("Missing null check in foo", "Missing null check in bar"),
            ("issue in f123", "issue in f124"),
            ("Missing error handling in readConfig", "Missing error handling in writeConfig"),
            ("Missing error handling in `readConfig`", "Missing error handling in `loadConfig`"),
            ("`start_date` is not validated", "`end_date` is not validated"),
            ("Unused import HashMap", "SQL injection in the search"),
            // Stop words do not make a title long.
            (
                "A missing check in the handler of the headers",
                "A missing check in the handler of the sockets",
            ),
            // Half of the title is enough for the same sentence.
            ("Parser loses comments inside nested arrays", "Parser loses comments before trailing commas"),
        ] {
            assert!(titles(a, b) < SAME_FINDING - 0.05, "{a} / {b}: {}", titles(a, b));
        }
    }

    #[test]
    fn synonyms_report_the_same_finding() {
        for (a, b) in [
            ("Missing null check in foo", "Null check is missing in foo()"),
            ("Missing null check in foo", "Possible null dereference in `foo`"),
            ("`getUser` is never tested", "get user has no tests"),
            ("P1: Duplicated **imports**", "P2: duplicate import"),
            ("ＡＰＩ キーの漏洩", "APIキーの漏洩"),
            ("Função `abrir` não validada", "Funcao abrir nao validada"),
            // Reviewers use both words for the same.
            ("Leaked token in worker", "Hardcoded token in worker"),
        ] {
            assert!(titles(a, b) >= SAME_FINDING, "{a} / {b}: {}", titles(a, b));
        }
    }

    #[test]
    fn the_same_title_is_enough() {
        let long =
            FindingWords::of("Missing null check in foo", "The pointer may be null after a failed lookup.");
        let other = FindingWords::of("missing null checks in `foo`", "Guard against absent users here.");
        let bare = FindingWords::of("Missing null check in foo", "");
        assert!((SAME_FINDING..NEAR_IDENTICAL).contains(&similarity(&long, &other)));
        assert!((SAME_FINDING..NEAR_IDENTICAL).contains(&similarity(&long, &bare)));
        assert!((similarity(&bare, &bare) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_body_that_adds_nothing_counts_as_missing() {
        let title = "Missing null check in foo";
        let bare = FindingWords::of(title, "");
        for body in [title, "Potential issue, major.", "**Missing null check** in `foo`: please fix this."] {
            let score = similarity(&bare, &FindingWords::of(title, body));
            assert!((score - 1.0).abs() < f64::EPSILON, "{body}: {score}");
        }
    }

    #[test]
    fn a_name_that_the_other_body_mentions_is_not_different() {
        let one = FindingWords::of("Retries never end in worker", "The backoff of fetch is not read.");
        let other = FindingWords::of("Retries never end in fetch", "The worker does not read the backoff.");
        assert!(similarity(&one, &other) >= SAME_FINDING, "{}", similarity(&one, &other));
    }

    #[test]
    fn a_missing_body_counts_neither_for_nor_against() {
        let bare = FindingWords::of("Missing null check in foo", "");
        let long = FindingWords::of(
            "Possible null dereference through `foo`",
            "A lookup of somebody unknown takes the whole server down.",
        );
        assert!(similarity(&bare, &long) >= SAME_FINDING, "{}", similarity(&bare, &long));
    }

    #[test]
    fn a_name_of_many_parts_does_not_outweigh_the_rest() {
        let weights =
            |title| FindingWords::of(title, "").title.iter().map(|token| token.weight).collect::<Vec<_>>();
        assert_eq!(weights("`user`"), [6]);
        assert_eq!(weights("`getUser`"), [4, 4]);
        assert_eq!(weights("`getUserById`"), [3, 3, 3, 3]);
    }

    #[test]
    fn a_post_with_other_boilerplate_is_near_identical() {
        let title = "Path traversal through `entity_id`";
        let body = "The id from remote JSON becomes a file name, so `../` escapes `roots_dir` (line 12).";
        let again = format!(
            "<!-- id:1 -->\n![P1](https://badge.example/p1.svg)\n_⚠️ Potential issue_ | _🔴 Critical_\n\n\
             **{title}**\n\n{}\n\n\
             ```suggestion\nlet x = 1;\n```\n<details>\n<summary>Prompt</summary>\n\
             Verify <details>this</details> first\n</details>",
            body.replace("12", "40")
        );
        let score = similarity(&FindingWords::of(title, body), &FindingWords::of(title, &again));
        assert!(score >= NEAR_IDENTICAL, "{score}");
    }

    #[test]
    fn without_a_title_the_first_meaningful_sentence_counts() {
        let body = "_⚠️ Potential issue_ | _🟠 Major_\n\n\
             The retry loop never ends. It should stop after three attempts.";
        let words = FindingWords::of("", body);
        assert_eq!(words.title_tokens().collect::<Vec<_>>(), ["end", "loop", "miss", "retry"]);
    }

    #[test]
    fn a_sentence_ends_where_a_reader_would_end_it() {
        for (sentence, rest) in [
            ("The retry-loop of a.rs\nnever ends.", " It should stop."),
            ("The retry loop never ends!", "\nIt should stop."),
            ("The retry loop never ends\n", "- It should stop."),
            ("The retry loop never ends\n", "\nIt should stop."),
            ("再試行が終わらない。", "三回で止める。"),
            ("The retry loop never ends", ""),
        ] {
            assert_eq!(first_sentence(&format!("{sentence}{rest}")), (sentence, rest));
        }
    }

    #[test]
    fn a_title_of_stop_words_counts_by_its_last_word() {
        assert_eq!(tokens_of("Is it"), ["it"]);
        assert_eq!(tokens_of("Is it a"), ["a"]);
    }

    #[test]
    fn texts_without_words_are_similar_only_if_equal() {
        let [nothing, bug, fire] =
            [("", ""), ("🐛", ""), ("🔥", "")].map(|(title, body)| FindingWords::of(title, body));
        assert!((similarity(&nothing, &nothing) - 1.0).abs() < f64::EPSILON);
        assert!(similarity(&bug, &fire) < f64::EPSILON);
        assert!(similarity(&nothing, &FindingWords::of("Unused import", "")) < f64::EPSILON);
    }

    #[test]
    fn names_are_split_and_line_numbers_dropped() {
        assert_eq!(tokens_of("`getUserById` (lines 12-14, a.rs:7)"), tokens_of("get_user_by_id in a.rs"));
        assert_eq!(tokens_of("HTTPServer"), ["http", "server"]);
        assert_eq!(tokens_of("the `<details>` popover"), ["detail", "popover"]);
    }

    #[test]
    fn openings_are_compared_without_markup_and_case() {
        assert_eq!(opening_words("**Missing** `null` check", "In FOO.\n"), "missing null check in foo");
        assert_eq!(opening_words("x".repeat(80).as_str(), "").len(), 50);
        assert_eq!(opening_words("", ""), "");
    }

    #[test]
    fn only_the_start_of_a_huge_body_is_read() {
        let huge = "é<a ![](`".repeat(200_000);
        assert!(FindingWords::of("Title", &huge).all.len() < BODY_BYTES);
        let after = |bytes| format!("{} parser", ".".repeat(bytes));
        assert!(FindingWords::of("Title", &after(8000)).mentions("parser"));
        assert!(!FindingWords::of("Title", &after(8192)).mentions("parser"));
        assert!(FindingWords::of(&after(1000), "").mentions("parser"));
        assert!(!FindingWords::of(&after(1024), "Body").mentions("parser"));
    }

    /// Text with much markup, closed or not.
    fn junk() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "\\PC{0,12}",
            "[a-zA-Z_0-9 ]{0,12}",
            prop::sample::select(vec![
                "<details>",
                "</details>",
                "<!--",
                "-->",
                "```",
                "`",
                "![",
                "](",
                "<a ",
                ">",
                "https://",
                "\n\n",
                "lines ",
                ":12",
                "ー",
                "漢字",
                "L3",
                "_",
                "é\u{301}",
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn similarity_is_a_symmetric_share(a in junk(), b in junk(), c in junk(), d in junk()) {
            let (one, other) = (FindingWords::of(&a, &b), FindingWords::of(&c, &d));
            let score = similarity(&one, &other);
            prop_assert!((0.0..=1.0).contains(&score));
            prop_assert!((score - similarity(&other, &one)).abs() < f64::EPSILON);
            prop_assert!((similarity(&one, &one) - 1.0).abs() < f64::EPSILON);
            prop_assert!(opening_words(&a, &b).chars().count() <= 50);
        }
    }
}
