//! Turns a reviewer's Markdown into words that can be compared.
//!
//! It drops what varies between two posts of the same finding: badges, folded boilerplate, code fences,
//! links, line numbers, case, plurals. It keeps what tells two findings apart: names and numbers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A word of every review. It says almost nothing about the finding.
pub(super) const GENERIC: u8 = 1;
/// A word that other reviewers replace by a synonym.
pub(super) const CONCEPT: u8 = 2;
/// Any other word.
pub(super) const WORD: u8 = 4;
/// A part of a name in the code, or a number.
pub(super) const NAME: u8 = 6;

/// Words without a meaning of their own, in the languages that reviewers use.
const STOP_WORDS: &str = "\
    a an the this that these those it its is are was were be been being am i we you they he she to of in \
    on at by for from with within into onto as and or but if then than so such via per when while where \
    which who whose what how there here has have had do does did can could may might must shall should \
    will would line lines also just only very more most some any all each every both either other another \
    s t re ve ll o os um uma de da do dos das em no na nos nas com para por que se ao mais como e ou el la \
    los las un una del y con le les des du et est une der die das und ist ein eine zu den dem";

/// Words of code review, and of the badges and buttons around a finding.
const GENERIC_WORDS: &str = "\
    issue problem finding bug potential potentially possible possibly likely critical major minor trivial \
    high medium low severity priority nit nitpick suggestion suggest consider recommend recommended please \
    note warning important quick win refactor badge useful react function method class code file value \
    call called caller make making cause causes causing lead leads result results need needs needed ensure \
    current currently actual actually instead still even however because since before after now new one \
    two first second way case behavior behaviour change changes changed case good better correct correctly \
    proper properly clear fix fixed fixes add added adding use used uses using user users get set handle \
    handled handling implement implementation provide provided allow allows happen time state data type \
    run running return returned returns show details found quality committable commit review comment pr \
    pull request description expected unexpected default name reference statement section property \
    attribute field variable";

/// Synonyms in reviews. The first word represents the group.
const CONCEPTS: &[&str] = &[
    "missing absent lack lacking without omit never not no none neither cannot cant dont doesn don didn \
     isn aren won",
    "error exception fail failure crash abort throw throwing raise panic break broken breaks breaking \
     halt die",
    "duplicate duplication repeat repeated copied copies copy twice redundant duplicated",
    "remove delete drop discard removal deletion",
    "wrong incorrect incorrectly invalid bad misleading inaccurate inconsistent inconsistency mismatch",
    "hardcoded hardcode hardcodes coded",
    "unused unneeded unnecessary dead",
    "stale outdated obsolete old",
    "validate validation check verify verification sanitize sanitise guard checked unvalidated \
     unsanitised unchecked",
    "ignore ignored ignores skip skipped bypass bypasses swallow swallowed",
    "simplify simple simpler complex complicated complexity",
    "environment env",
    "documentation docs doc document documented undocumented docstring",
    "test tests tested untested testing",
    "expose exposes leak leaks leaked disclose",
    "null none nil undefined",
    "login signin authenticate authentication authenticated auth",
    "write writes written writing save saved store stored persist persisted record recorded",
    "read reads reading load loaded",
    "fragile brittle flaky",
    "enable enabled activate",
    "disable disabled off",
    "config configuration configure configured settings",
    "parameter param argument arg args params parameters arguments",
];

/// For each stem: the stem that it is compared as, and its weight. A stop word weighs nothing.
static WORD_TABLE: LazyLock<BTreeMap<String, (String, u8)>> = LazyLock::new(|| {
    let mut table = BTreeMap::new();
    for word in GENERIC_WORDS.split_whitespace() {
        table.insert(stem(word), (stem(word), GENERIC));
    }
    for group in CONCEPTS {
        let representative = group.split_whitespace().next().map(stem).unwrap_or_default();
        for word in group.split_whitespace() {
            table.insert(stem(word), (representative.clone(), CONCEPT));
        }
    }
    for word in STOP_WORDS.split_whitespace() {
        table.insert(word.to_owned(), (word.to_owned(), 0));
    }
    table
});

/// One word, ready for comparison. Parts of the same name in the code share the number in `name`.
#[derive(Debug)]
pub(super) struct ComparedWord {
    pub(super) stem: String,
    pub(super) weight: u8,
    pub(super) name: Option<usize>,
}

/// The words of a text without markup (see [`without_markup`]), in their order.
pub(super) fn words(text: &str) -> Vec<ComparedWord> {
    let mut found = Vec::new();
    let mut names = 0;
    let mut line_numbers = LineNumbers::None;
    for piece in pieces(text) {
        if line_numbers.take(&piece) || piece.is_priority() {
            continue;
        }
        if piece.text.starts_with(is_cjk) {
            push_bigrams(piece.text, &mut found);
        } else if piece.is_code() {
            names += usize::from(!piece.continues_name());
            for part in parts(piece.text) {
                push_word(&folded(part), Some(names), &mut found);
            }
        } else {
            push_word(&folded(piece.text), None, &mut found);
        }
    }
    found
}

/// A run of letters and digits, with the text before and after it.
struct RawWord<'a> {
    before: &'a str,
    text: &'a str,
    after: &'a str,
    in_code: bool,
}

impl RawWord<'_> {
    fn is_code(&self) -> bool {
        let marked = self.in_code || self.before.ends_with('$') || self.after.starts_with('(');
        marked || self.continues_name() || looks_like_code(self.text)
    }

    /// `config.load` and `Config::load` are one name. `a/b` and `a-b` are one only if marked as code.
    fn continues_name(&self) -> bool {
        matches!(self.before, "." | "::" | "->") || (self.in_code && matches!(self.before, "-" | "/" | ":"))
    }

    /// The severity may change from one post to the next.
    fn is_priority(&self) -> bool {
        !self.in_code && matches!(self.text, "P0" | "P1" | "P2" | "P3" | "P4")
    }
}

fn pieces(text: &str) -> impl Iterator<Item = RawWord<'_>> {
    let mut rest = text;
    let mut in_code = false;
    std::iter::from_fn(move || {
        loop {
            let (before, tail) = rest.split_at(rest.find(is_word)?);
            in_code ^= before.matches('`').count() % 2 == 1;
            let cjk = tail.starts_with(is_cjk);
            let end = tail.find(|c| !is_word(c) || is_cjk(c) != cjk).unwrap_or(tail.len());
            let (text, after) = tail.split_at(end);
            rest = after;
            let text = text.trim_matches('_');
            if !text.is_empty() {
                return Some(RawWord { before, text, after, in_code });
            }
        }
    })
}

/// Whether the next number is a line number. Line numbers are dropped: the place is compared separately, and
/// a push changes the numbers in the text.
enum LineNumbers {
    None,
    /// After "lines", up to the next word.
    Next,
    /// After `file.rs`, if a colon follows.
    AfterColon,
}

impl LineNumbers {
    /// Whether this is a line number. If not, remembers what may follow.
    fn take(&mut self, piece: &RawWord<'_>) -> bool {
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let expected = match self {
            LineNumbers::None => false,
            LineNumbers::Next => true,
            LineNumbers::AfterColon => piece.before == ":",
        };
        let marked =
            piece.text.strip_prefix('L').is_some_and(|digits| !digits.is_empty() && is_number(digits));
        if marked || (expected && is_number(piece.text)) {
            *self = LineNumbers::Next;
            return true;
        }
        *self = match piece.text {
            "line" | "lines" | "Line" | "Lines" => LineNumbers::Next,
            "and" | "to" if expected => LineNumbers::Next,
            text if piece.before == "." && text.bytes().all(|b| b.is_ascii_alphabetic()) => {
                LineNumbers::AfterColon
            }
            _ => LineNumbers::None,
        };
        false
    }
}

/// The text in lower case without accents and full-width forms, with one space between words.
pub(super) fn flattened(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    for word in text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
        if !flat.is_empty() {
            flat.push(' ');
        }
        flat.push_str(&folded(word));
    }
    flat
}

/// The text without Markdown and HTML. Backticks stay, because they mark names.
pub(super) fn without_markup(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    // No tag ends after the last `>`. Without this limit, a million times `<a` would take quadratic time.
    let last_tag_end = text.rfind('>').map_or(usize::MAX, |at| text.len() - at);
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '`' if rest.starts_with("```") => Some(after(&rest[3..], "```")),
            '`' => match rest[1..].split_once('`') {
                Some((code, tail)) if !code.contains("\n\n") => {
                    clean.extend(["`", code, "`"]);
                    Some(tail)
                }
                _ => None,
            },
            '<' if rest.starts_with("<!--") => Some(after(rest, "-->")),
            '<' if rest.len() > last_tag_end => after_tag(rest, &mut clean),
            '!' if rest.starts_with("![") => Some(after(rest, ")")),
            ']' if rest.starts_with("](") => Some(after(rest, ")")),
            'h' if rest.starts_with("https://") || rest.starts_with("http://") => {
                Some(rest.trim_start_matches(|c: char| !c.is_whitespace() && !")>\"'".contains(c)))
            }
            _ => None,
        };
        if let Some(tail) = skipped {
            clean.push(' ');
            rest = tail;
        } else {
            clean.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    clean
}

/// The text after a folded block or a tag. None if the `<` starts no tag.
fn after_tag<'a>(rest: &'a str, clean: &mut String) -> Option<&'a str> {
    let name: String = rest[1..].chars().take_while(|&c| c == '/' || c.is_ascii_alphanumeric()).collect();
    if name.is_empty() {
        return None;
    }
    let (_, tail) = rest.split_once('>')?;
    match name.to_ascii_lowercase().as_str() {
        // In the middle of a line, `<details>` is prose about the element.
        "details" if clean.trim_end_matches(' ').ends_with('\n') || clean.trim().is_empty() => {
            return Some(after_details(tail));
        }
        "code" | "/code" => clean.push('`'),
        _ => {}
    }
    Some(tail)
}

/// Folded blocks hold prompts, patches and analysis. They may be nested.
fn after_details(mut rest: &str) -> &str {
    let mut open = 1_u32;
    while open > 0 {
        let Some(at) = rest.find("details>") else { return "" };
        open = if rest[..at].ends_with("</") { open - 1 } else { open + 1 };
        rest = &rest[at + "details>".len()..];
    }
    rest
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, tail)| tail)
}

/// Only prose has synonyms: `readConfig` and `loadConfig` are two functions.
fn push_word(lower: &str, name: Option<usize>, found: &mut Vec<ComparedWord>) {
    let stem = stem(lower);
    let known = WORD_TABLE.get(lower).or_else(|| WORD_TABLE.get(&stem));
    let (stem, weight) = match (known, name) {
        (_, Some(_)) => (stem, NAME),
        (Some((representative, weight)), None) => (representative.clone(), *weight),
        (None, None) => (stem, WORD),
    };
    found.push(ComparedWord { stem, weight, name });
}

/// Chinese and Japanese have no spaces, so pairs of characters serve as words. Hiragana alone is mostly
/// grammar.
fn push_bigrams(run: &str, found: &mut Vec<ComparedWord>) {
    let characters: Vec<char> = run.chars().collect();
    for pair in characters.windows(characters.len().min(2)) {
        let weight =
            if pair.iter().all(|c| ('\u{3040}'..='\u{309F}').contains(c)) { GENERIC } else { CONCEPT };
        found.push(ComparedWord { stem: pair.iter().collect(), weight, name: None });
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining(c)
}

fn is_combining(c: char) -> bool {
    ('\u{300}'..='\u{36F}').contains(&c)
}

fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// A capital after a small letter, an inner underscore or a digit does not occur in prose.
fn looks_like_code(raw: &str) -> bool {
    raw.contains('_') || raw.bytes().any(|b| b.is_ascii_digit()) || parts(raw).nth(1).is_some()
}

/// The parts of `getUserById`, `get_user_by_id` and `HTTPServer`.
fn parts(raw: &str) -> impl Iterator<Item = &str> {
    let mut rest = raw;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches('_');
        let mut characters = rest.char_indices().peekable();
        let (_, mut last) = characters.next()?;
        let mut end = rest.len();
        while let Some((at, c)) = characters.next() {
            let hump = c.is_uppercase()
                && (last.is_lowercase()
                    || last.is_uppercase() && characters.peek().is_some_and(|(_, next)| next.is_lowercase()));
            if hump || c == '_' {
                end = at;
                break;
            }
            last = c;
        }
        let (part, tail) = rest.split_at(end);
        rest = tail;
        Some(part)
    })
}

/// A cheap part of compatibility normalisation: case, full-width forms, accents of Latin letters.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let narrow = |c: char| match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        _ => c,
    };
    let plain = |c: char| match c {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        _ => c,
    };
    text.chars().map(narrow).filter(|&c| !is_combining(c)).flat_map(char::to_lowercase).map(plain).collect()
}

/// A simple English stemmer. A wrong stem does no harm if both texts get it.
fn stem(word: &str) -> String {
    if !word.bytes().all(|b| b.is_ascii_lowercase()) || word.len() < 4 {
        return word.to_owned();
    }
    let mut stem = word.to_owned();
    if let Some(start) = stem.strip_suffix("ies").or_else(|| stem.strip_suffix("ied")) {
        stem = format!("{start}y");
    } else if stem.ends_with('s') && !["ss", "us", "is"].iter().any(|end| stem.ends_with(end)) {
        stem.pop();
    }
    for (suffix, least) in [("ing", 3), ("ed", 3), ("ly", 4)] {
        if let Some(start) = stem.strip_suffix(suffix)
            && start.len() >= least
            && start.contains(['a', 'e', 'i', 'o', 'u', 'y'])
        {
            stem = undoubled(start).to_owned();
            break;
        }
    }
    if (stem.ends_with("tion") || stem.ends_with("sion")) && stem.len() > 6 {
        stem.truncate(stem.len() - 3);
    }
    if stem.len() > 4 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

/// `logg` to `log`, but `miss` stays.
fn undoubled(stem: &str) -> &str {
    match stem.as_bytes() {
        [.., a, b] if a == b && !b"lsz".contains(a) => &stem[..stem.len() - 1],
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text without markup, as the start of a finding is compared.
    fn plain_start(text: &str) -> String {
        flattened(&without_markup(text))
    }

    /// The words of a text with their weights.
    fn weights(text: &str) -> Vec<(String, u8)> {
        words(&without_markup(text)).into_iter().map(|word| (word.stem, word.weight)).collect()
    }

    /// The words of a text that are not part of a name.
    fn prose(text: &str) -> Vec<String> {
        words(text).into_iter().filter(|word| word.name.is_none()).map(|word| word.stem).collect()
    }

    /// The names in a text, each as its parts.
    fn names(text: &str) -> Vec<String> {
        let words = words(&without_markup(text));
        let groups = words.chunk_by(|a, b| a.name == b.name).filter(|parts| parts[0].name.is_some());
        groups
            .map(|parts| parts.iter().map(|part| part.stem.as_str()).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn markup_is_removed() {
        for (marked, plain) in [
            ("## **Missing** check\n\n- in `foo`", "missing check in foo"),
            ("Missing <b>null</b> check", "missing null check"),
            ("Missing<br/>check", "missing check"),
            ("See [the guide](docs/start.md) first", "see the guide first"),
            ("![P1 badge](https://badge.example/p1.svg) Missing check", "missing check"),
            ("<!-- id:1 -->Missing check<!-- <b>end</b> -->", "missing check"),
            ("See https://example.com/a?b=c#d for more", "see for more"),
            ("The page (http://example.com/a) is old", "the page is old"),
            ("Unused\n```suggestion\nlet x = 1;\n```\nimport", "unused import"),
        ] {
            assert_eq!(plain_start(marked), plain, "{marked}");
        }
    }

    #[test]
    fn signs_that_are_no_markup_stay() {
        for (text, plain) in [
            ("Fails if a < b or b > c", "fails if a b or b c"),
            ("Fails if a < b", "fails if a b"),
            ("Crash! The parser (again) dies", "crash the parser again dies"),
            ("Reads list[0] of (a)", "reads list 0 of a"),
            ("An http header, and https too", "an http header and https too"),
            ("The `Vec<String>` here", "the vec string here"),
            // An unclosed backtick in a paragraph marks no code and hides no markup.
            ("One ` here\n\n<!-- id:1 -->another ` there", "one here another there"),
        ] {
            assert_eq!(plain_start(text), plain, "{text}");
        }
    }

    #[test]
    fn folded_blocks_are_left_out() {
        for (folded, plain) in [
            ("Missing\n<details>\n<summary>Prompt</summary>\nVerify\n</details>\ncheck", "missing check"),
            ("Missing\n  <Details open>\nVerify\n</details>\ncheck", "missing check"),
            ("<details>Prompt</details>Missing check", "missing check"),
            ("Missing\n<details>\n1\n<details>\n2\n</details>\n3\n</details>\ncheck", "missing check"),
            ("Missing check\n<details>\nnever closed", "missing check"),
            ("The <details> element is never closed", "the element is never closed"),
        ] {
            assert_eq!(plain_start(folded), plain, "{folded}");
        }
    }

    #[test]
    fn names_are_distinguished_from_prose() {
        assert_eq!(
            names("`load`, <code>save</code>, $total and flush() fail"),
            ["load", "save", "total", "flush"]
        );
        assert_eq!(names("user_id, userName and utf8 of the HTTP Parser"), ["user id", "user name", "utf8"]);
        assert_eq!(prose("A read/write lock: never-ending"), ["a", "read", "writ", "lock", "miss", "end"]);
    }

    #[test]
    fn a_name_of_several_parts_is_one_name() {
        for name in
            ["config.load", "Config::load", "config->load", "config/load", "config-load", "configLoad"]
        {
            assert_eq!(names(&format!("`{name}`")), ["config load"], "{name}");
        }
        assert_eq!(names("`config` `load`"), ["config", "load"]);
        assert_eq!(names("`get` `config.load` `set`"), ["get", "config load", "set"]);
    }

    #[test]
    fn names_are_split_at_capitals_and_underscores() {
        let split = |name| parts(name).collect::<Vec<&str>>();
        assert_eq!(split("getUserById"), ["get", "User", "By", "Id"]);
        assert_eq!(split("__get_user__id_"), ["get", "user", "id"]);
        assert_eq!(split("HTTPServer"), ["HTTP", "Server"]);
        assert_eq!(split("parseURL"), ["parse", "URL"]);
        assert_eq!(split("utf8"), ["utf8"]);
    }

    #[test]
    fn line_numbers_are_dropped_and_other_numbers_stay() {
        for text in [
            "Overflow at line 12",
            "Overflow at lines 12-14",
            "Overflow at Lines 12 to 14 and 20, 21",
            "Overflow at L12-L14",
        ] {
            assert_eq!(prose(text).first().map(String::as_str), Some("overflow"));
            assert!(
                words(text).iter().all(|word| word.stem.bytes().all(|b| b.is_ascii_lowercase())),
                "{text}"
            );
        }
        assert_eq!(names("Overflow in main.rs:12"), ["rs"]);
        for text in [
            "Overflow at timeout:30",
            "Overflow of 10 and 30",
            "Overflow from 10 to 30",
            "Line by line 5 of 30",
        ] {
            assert_eq!(names(text).last().map(String::as_str), Some("30"), "{text}");
        }
        assert!(prose("Overflow on drive L").contains(&"l".to_owned()));
    }

    #[test]
    fn a_priority_is_dropped_unless_it_is_a_name() {
        assert_eq!(weights("P1: `P2`"), [("p2".to_owned(), NAME)]);
    }

    #[test]
    fn a_word_weighs_by_what_it_says_about_the_finding() {
        let expected = [
            ("the", 0),
            ("issu", GENERIC),
            ("unus", CONCEPT),
            ("parser", WORD),
            ("load", NAME),
            ("17", NAME),
        ];
        let expected = expected.map(|(word, weight)| (word.to_owned(), weight));
        assert_eq!(weights("The issues: unused parsers, `load` 17"), expected);
        // Prose has synonyms; a name has none.
        assert_eq!(weights("absent `absent`"), [("miss".to_owned(), CONCEPT), ("absent".to_owned(), NAME)]);
    }

    #[test]
    fn text_without_spaces_is_compared_in_pairs_of_characters() {
        let expected = [
            ("検索", CONCEPT),
            ("索が", CONCEPT),
            ("がな", GENERIC),
            ("ない", GENERIC),
            ("api", WORD),
            ("鍵", CONCEPT),
        ];
        let expected = expected.map(|(pair, weight)| (pair.to_owned(), weight));
        assert_eq!(weights("検索がないAPI鍵"), expected);
        for text in ["カナ", "검색", "㐀㐁", "豈更", "𠀀𠀁"] {
            assert_eq!(weights(text), [(text.to_owned(), CONCEPT)]);
        }
    }

    #[test]
    fn case_width_and_accents_make_no_difference() {
        assert_eq!(folded("ＡＰＩ～！"), "api~!");
        assert_eq!(folded("ÀÇÊÏÑÕÜ Ação cafe\u{301}"), "aceinou acao cafe");
    }

    #[test]
    fn forms_of_a_word_are_one_word() {
        for (forms, expected) in [
            ("query queries", "query"),
            ("deny denied denies", "deny"),
            ("check checks checked checking", "check"),
            ("log logs logged logging", "log"),
            ("miss missed missing", "miss"),
            ("parse parses parsed parsing", "pars"),
            ("validate validates validated validating validation", "validat"),
            ("exact exactly", "exact"),
        ] {
            for form in forms.split(' ') {
                assert_eq!(stem(form), expected, "{form}");
            }
        }
    }

    #[test]
    fn words_that_only_look_like_forms_are_left_alone() {
        for word in [
            "bus", "class", "status", "basis", "string", "only", "need", "king", "apply", "action", "case",
            "été",
        ] {
            assert_eq!(stem(word), word);
        }
    }
}
