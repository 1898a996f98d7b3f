//! `docs/rules.md` and the code agree: the page has every rule that is cited, and a test names every rule in
//! force.
//!
//! A citation is a rule's id in a comment, in Markdown prose or at the beginning of a test's name. Ids in
//! strings, in code spans and in links are data: thread ids, line anchors and hashes look the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The letters that rules begin with.
const LETTERS: &str = "TCDLRVHUSNMAX";

/// The folders and files in which a citation must be a rule of the page.
const CITING: [&str; 7] =
    ["src", "tests", "assets", "docs", "README.md", "ARCHITECTURE.md", "config.example.toml"];

#[test]
fn every_cited_rule_is_on_the_page() {
    let page = Page::read(&text_of("docs/rules.md"));
    let cited: Vec<Citation> = files().iter().flat_map(|path| citations(path, &text_of(path))).collect();
    assert!(cited.len() > 200, "only {} citations were found: the search does not see them", cited.len());
    let missing = page.missing(&cited);
    assert!(missing.is_empty(), "docs/rules.md has no such rule:\n{}", missing.join("\n"));
}

#[test]
fn a_test_names_every_rule_in_force() {
    let page = Page::read(&text_of("docs/rules.md"));
    let mut named = BTreeSet::new();
    for path in files() {
        let text = text_of(&path);
        if let Some(tests) = tests_of(&path, &text) {
            named.extend(citations(&path, tests).into_iter().map(|citation| citation.id));
        }
    }
    let unnamed: Vec<&str> = page.in_force.difference(&named).map(String::as_str).collect();
    assert!(unnamed.is_empty(), "name these rules in the comment or the name of a test: {unnamed:?}");
}

#[test]
fn the_page_has_each_rule_once_with_an_anchor() {
    let text = text_of("docs/rules.md");
    let page = Page::read(&text);
    assert!(page.in_force.len() > 50 && !page.planned.is_empty(), "{page:?}");
    assert_eq!(page.twice, [""; 0], "these rules are on the page twice");
    for id in page.in_force.iter().chain(&page.planned) {
        let anchor = format!("<a id=\"{}\"></a>\n**{id}. ", id.to_lowercase());
        assert!(text.contains(&anchor), "{id} has no anchor of its own on the line above it");
    }
}

#[test]
fn a_made_up_rule_is_found_missing() {
    let page = Page::read("<a id=\"t1\"></a>\n**T1. One.** Text.\n\n## Planned\n\n**N1. Later.** Text.\n");
    assert_eq!((ids(&page.in_force), ids(&page.planned)), ("T1".to_owned(), "N1".to_owned()));
    let cited = citations("src/a.rs", "/// T1, N1: fine.\n\nfn f() {} // and this is not (T99)");
    assert_eq!(page.missing(&cited), ["src/a.rs:3 cites T99"]);
    let cited = citations("docs/a.md", "As [T1](rules.md#t1) says.\n\nUnlike D5.");
    assert_eq!(page.missing(&cited), ["docs/a.md:3 cites D5"]);
}

#[test]
fn citations_are_told_from_what_looks_like_them() {
    let found = |path, text| ids(&citations(path, text).into_iter().map(|citation| citation.id).collect());
    // Lists and ranges.
    assert_eq!(
        found("src/a.rs", "// As it must be (T3, D5), C1–C4, V2's groups and L9-L11."),
        "C1 C2 C3 C4 D5 L10 L11 L9 T3 V2"
    );
    assert_eq!(found("src/a.rs", "/* H1: /* H2 */ H3 */ let h = 4;"), "H1 H2 H3");
    // Data.
    for data in [
        r#"let thread = "// T9"; let raw = r"\"; let end = 'T';"#,
        "let raw = br##\"\"# // T9\"##;",
        "let quote = '\"'; let escaped = '\\''; fn f<'a>(a: &'a T9) {}",
        "// A thread `T9`, src/a.rs#L7-L9, P1, T0x, CT9, T9a, T123, a/T9, T-9 and sha T9_1.",
        "fn t9() {} fn s() { t9_is_no_test() }",
    ] {
        assert_eq!(found("src/a.rs", data), "", "{data}");
    }
    // The name of a test.
    assert_eq!(found("tests/a.rs", "#[test]\nfn t3_t4_a_stance_runs_out_after_h9() {}"), "T3 T4");
    // Prose, without its code and links.
    assert_eq!(found("docs/a.md", "See `T9` and\n```text\nT8\n```\n[T7](a.md#T6), T5."), "T5 T7");
    // Configuration, where only comments count.
    assert_eq!(found("assets/a.toml", "# T1\nkey = \"a.rs#L4-L6\"  # T2\nT3 = 1\n"), "T1 T2");
    // A file's unit tests are the module with the attribute, or the whole of a file for tests.
    assert_eq!(tests_of("src/a.rs", "// T1\n#[cfg(test)]\nmod tests {}"), Some("#[cfg(test)]\nmod tests {}"));
    assert_eq!(tests_of("src/a.rs", "// T1"), None);
    assert_eq!(tests_of("src/a/tests/b.rs", "// T1"), Some("// T1"));
}

/// The rules that the page states.
#[derive(Debug, Default)]
struct Page {
    in_force: BTreeSet<String>,
    planned: BTreeSet<String>,
    twice: Vec<String>,
}

impl Page {
    /// A rule is a paragraph that begins with its id in bold: `**`, the id, a full stop.
    fn read(text: &str) -> Page {
        let mut page = Page::default();
        let mut is_planned = false;
        for line in text.lines() {
            is_planned |= line == "## Planned";
            let Some((id, _)) = line.strip_prefix("**").and_then(|rest| rest.split_once(". ")) else {
                continue;
            };
            if id_at_start(id).is_none_or(|(found, rest)| found != id || !rest.is_empty()) {
                continue;
            }
            let is_known = page.in_force.contains(id) || page.planned.contains(id);
            if is_known {
                page.twice.push(id.to_owned());
            }
            let part = if is_planned { &mut page.planned } else { &mut page.in_force };
            part.insert(id.to_owned());
        }
        page
    }

    fn missing(&self, cited: &[Citation]) -> Vec<String> {
        let unknown =
            cited.iter().filter(|c| !self.in_force.contains(&c.id) && !self.planned.contains(&c.id));
        unknown.map(|citation| format!("{} cites {}", citation.at, citation.id)).collect()
    }
}

#[derive(Debug)]
struct Citation {
    id: String,
    /// The file and the line.
    at: String,
}

/// Every citation in a file, by the kind of the file.
fn citations(path: &str, text: &str) -> Vec<Citation> {
    let mut prose = match extension(path) {
        "rs" => comments_of_rust(text),
        "md" => prose_of_markdown(text),
        "toml" | "graphql" => comments_after_hash(text),
        _ => Vec::new(),
    };
    if extension(path) == "rs" {
        prose.extend(names_of_tests(text));
    }
    let mut citations = Vec::new();
    for (line, text) in prose {
        let at = format!("{path}:{line}");
        citations.extend(ids_in(&text).into_iter().map(|id| Citation { id, at: at.clone() }));
    }
    citations
}

/// The ids in a line of prose. A range counts as every id in it.
fn ids_in(line: &str) -> Vec<String> {
    let text = without_code_and_links(line);
    let mut found = Vec::new();
    let mut before = ' ';
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let may_begin = !(before.is_alphanumeric() || "_#/%$-.:\"'&=".contains(before));
        let Some((first, after)) = id_at_start(rest).filter(|_| may_begin) else {
            before = c;
            rest = &rest[c.len_utf8()..];
            continue;
        };
        found.push(first.to_owned());
        before = '0';
        rest = after;
        let Some((last, after)) = after.strip_prefix(['–', '-']).and_then(id_at_start) else { continue };
        if last[..1] == first[..1] {
            let numbers = number_of(first) + 1..=number_of(last);
            found.extend(numbers.map(|number| format!("{}{number}", &first[..1])));
            rest = after;
        }
    }
    found
}

/// A letter and one or two digits that are a whole word. The number does not begin with a zero.
fn id_at_start(text: &str) -> Option<(&str, &str)> {
    let letter = text.chars().next().filter(|c| LETTERS.contains(*c))?;
    let digits = text[letter.len_utf8()..].chars().take_while(char::is_ascii_digit).count();
    let (id, rest) = text.split_at(letter.len_utf8() + digits);
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/');
    ((1..=2).contains(&digits) && !id[1..].starts_with('0') && ends).then_some((id, rest))
}

fn number_of(id: &str) -> u32 {
    id[1..].parse().unwrap()
}

/// The line without its code spans and without the targets of its links.
fn without_code_and_links(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let skipped = match c {
            '`' => rest[1..].find('`').map(|end| end + 2),
            ']' if rest.starts_with("](") => rest.find(')').map(|end| end + 1),
            _ => None,
        };
        if skipped.is_some() {
            // Keeps the words on both sides apart.
            text.push(' ');
        } else {
            text.push(c);
        }
        rest = &rest[skipped.unwrap_or(c.len_utf8())..];
    }
    text
}

/// The comments of Rust code, a line at a time, each with its number.
fn comments_of_rust(text: &str) -> Vec<(usize, String)> {
    let mut comments = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = token(rest);
        if rest.starts_with("//") || rest.starts_with("/*") {
            let first = text[..at].matches('\n').count() + 1;
            let lines = rest[..length].lines().enumerate();
            comments.extend(
                lines.map(|(index, line)| {
                    (first + index, line.trim_start_matches(['/', '!', '*']).to_owned())
                }),
            );
        }
        at += length;
    }
    comments
}

/// The length of the comment, string or character literal that the code begins with; otherwise that of one
/// word or sign.
fn token(code: &str) -> usize {
    let c = code.chars().next().unwrap();
    if code.starts_with("//") {
        code.find('\n').unwrap_or(code.len())
    } else if code.starts_with("/*") {
        block_comment(code)
    } else if c == '"' {
        string(code, 1)
    } else if c == '\'' {
        character(code)
    } else if c.is_alphabetic() || c == '_' {
        let word = code.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len());
        let hashes = code[word..].chars().take_while(|c| *c == '#').count();
        let opens = code[word + hashes..].starts_with('"');
        match &code[..word] {
            "r" | "br" | "cr" if opens => {
                let closing = format!("\"{}", "#".repeat(hashes));
                let inside = word + hashes + 1;
                code[inside..].find(&closing).map_or(code.len(), |end| inside + end + closing.len())
            }
            _ => word,
        }
    } else {
        c.len_utf8()
    }
}

/// Block comments may hold others.
fn block_comment(code: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    code.len()
}

fn string(code: &str, opening: usize) -> usize {
    let mut escaped = false;
    for (index, c) in code.char_indices().skip(opening) {
        if c == '"' && !escaped {
            return index + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    code.len()
}

/// A character in quotes, or the quote of a lifetime.
fn character(code: &str) -> usize {
    let mut inside = code[1..].chars();
    match inside.next() {
        Some('\\') => code[3..].find('\'').map_or(code.len(), |end| end + 4),
        Some(c) if inside.next() == Some('\'') => c.len_utf8() + 2,
        _ => 1,
    }
}

/// The ids that the names of tests begin with, in capitals.
fn names_of_tests(text: &str) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let mut is_test = false;
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
            continue;
        }
        let name = line.trim_start_matches("pub ").trim_start_matches("async ").strip_prefix("fn ");
        if let (true, Some(name)) = (is_test, name) {
            let words = name.split(['_', '(']).map(str::to_uppercase);
            let ids: Vec<String> =
                words.take_while(|word| id_at_start(word).is_some_and(|(id, _)| id == word)).collect();
            names.push((index + 1, ids.join(", ")));
        }
        is_test = false;
    }
    names
}

/// The lines of a page that are not in a fenced block.
fn prose_of_markdown(text: &str) -> Vec<(usize, String)> {
    let mut is_fenced = false;
    let mut prose = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            prose.push((index + 1, line.to_owned()));
        }
    }
    prose
}

/// The text after a `#` that begins a line or follows a space. A Markdown heading inside a string also
/// counts, which does no harm.
fn comments_after_hash(text: &str) -> Vec<(usize, String)> {
    let lines = text.lines().enumerate();
    let comment = |line: &str| match line.trim_start().strip_prefix('#') {
        Some(comment) => Some(comment.to_owned()),
        None => line.split_once(" #").map(|(_, comment)| comment.to_owned()),
    };
    lines.filter_map(|(index, line)| Some((index + 1, comment(line)?))).collect()
}

/// The part of a Rust file that is tests, if any is.
fn tests_of<'a>(path: &str, text: &'a str) -> Option<&'a str> {
    if extension(path) != "rs" {
        return None;
    }
    let mut parts = path.split('/');
    if path.starts_with("tests/") || parts.any(|part| part == "tests" || part == "tests.rs") {
        return Some(text);
    }
    text.rfind("#[cfg(test)]\nmod ").map(|start| &text[start..])
}

/// Every file in which a citation counts, by its path from the root of the repository.
fn files() -> Vec<String> {
    let root = root();
    let mut files = Vec::new();
    let mut open: Vec<PathBuf> = CITING.iter().map(|name| root.join(name)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if matches!(extension(&path.to_string_lossy()), "rs" | "md" | "toml" | "graphql") {
            files.push(path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"));
        }
    }
    files.sort();
    files
}

fn text_of(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn ids(set: &BTreeSet<String>) -> String {
    set.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}
