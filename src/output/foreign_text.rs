//! Words of others in Cloture's posts (S1).
//!
//! Cloture posts under a maintainer's login, and other bots obey that login: `/approve`, `@dependabot merge`,
//! `bors r+`. They read the text as it was typed, so a command counts for them in code and in comments, too.
//! This module breaks every mention and every leading command in the words of a reviewer or a contributor. In
//! prose, the broken piece becomes code: `` `/`approve ``. In code, it gets quotes: `'/'approve`. Both are visible,
//! and neither is a command, however the Markdown is read.

use super::sanitize;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use std::ops::Range;

/// Markdown by others, as a part of a post. If it does not close a code fence or an HTML comment that it opens,
/// it is shown as code, because it would swallow the rest of the post.
pub fn markdown(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() {
        return String::new();
    }
    if !ends_at_top_level(text) {
        return block(text).trim_end().to_owned();
    }
    let mut defused = String::with_capacity(text.len() + 16);
    let mut end = 0;
    for stretch in code_in(text) {
        if stretch.range.start < end {
            continue;
        }
        break_commands(text, end..stretch.range.start, Quotes::Prose, &mut defused);
        let code = &text[stretch.range.clone()];
        match stretch.kind {
            // A suggestion is applied as it is, so it is shown unchanged or not offered at all.
            CodeKind::Suggestion if !has_commands_in_code(code) => defused.push_str(code),
            CodeKind::Suggestion => {
                let renamed = code.replacen("suggestion", "text", 1);
                break_commands(&renamed, 0..renamed.len(), Quotes::Code, &mut defused);
            }
            CodeKind::Other => break_commands(text, stretch.range.clone(), Quotes::Code, &mut defused),
        }
        end = stretch.range.end;
    }
    break_commands(text, end..text.len(), Quotes::Prose, &mut defused);
    defused
}

/// One line of prose by others, for example a title.
pub fn title(text: &str) -> String {
    markdown(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// One line by others, as code. It cannot link, hide text or change the layout either.
pub fn code(text: &str) -> String {
    let text = sanitize::line(text);
    let text = text.trim();
    if text.is_empty() {
        return "(nothing)".to_owned();
    }
    let mut defused = String::with_capacity(text.len());
    break_commands(text, 0..text.len(), Quotes::Code, &mut defused);
    let fence = "`".repeat(longest_run(&defused) + 1);
    // Markdown strips one space on each side. It keeps a backtick at the end apart from the fence.
    let space = if defused.starts_with('`') || defused.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{defused}{space}{fence}")
}

/// Several lines by others, as code.
pub fn block(text: &str) -> String {
    let text = sanitize::block(text);
    let mut defused = String::with_capacity(text.len());
    break_commands(&text, 0..text.len(), Quotes::Code, &mut defused);
    fenced("text", &defused)
}

/// Replacement code by others, to the letter. Code that commands a bot is shown as text, because nobody can
/// apply it safely from a post.
pub fn suggestion(code: &str) -> String {
    if has_commands_in_code(code) {
        return format!(
            "_Suggested instead. A bot would obey a line of it, so it is shown as text and cannot be applied:_\n\n{}",
            block(code)
        );
    }
    fenced("suggestion", code)
}

/// The fence is longer than any in the code, so the code cannot end it.
pub(crate) fn fenced(info: &str, code: &str) -> String {
    let fence = "`".repeat((longest_run(code) + 1).max(3));
    format!("{fence}{info}\n{}\n{fence}\n", code.trim_end_matches('\n'))
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

// Which part of a Markdown text is code

struct CodeStretch {
    range: Range<usize>,
    kind: CodeKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CodeKind {
    Suggestion,
    Other,
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_GFM
}

fn code_in(text: &str) -> Vec<CodeStretch> {
    let events = Parser::new_ext(text, options()).into_offset_iter();
    let stretches = events.filter_map(|(event, range)| match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
            let is_suggestion = info.split_whitespace().next() == Some("suggestion");
            Some(CodeStretch {
                range,
                kind: if is_suggestion { CodeKind::Suggestion } else { CodeKind::Other },
            })
        }
        Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) | Event::Code(_) => {
            Some(CodeStretch { range, kind: CodeKind::Other })
        }
        _ => None,
    });
    stretches.collect()
}

/// Whether a paragraph after the text is a paragraph, and not a part of something that the text opened.
fn ends_at_top_level(text: &str) -> bool {
    const NEXT: &str = "next";
    let followed = format!("{text}\n\n{NEXT}");
    let mut depth = 0_usize;
    let mut ends = false;
    for (event, range) in Parser::new_ext(&followed, options()).into_offset_iter() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(_) if range == (followed.len() - NEXT.len()..followed.len()) => ends = depth == 1,
            _ => {}
        }
    }
    ends
}

// Commands and mentions

/// The quotes around a broken piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Prose,
    Code,
}

impl Quotes {
    fn sign(self) -> char {
        match self {
            Quotes::Prose => '`',
            Quotes::Code => '\'',
        }
    }
}

/// Appends a part of the text with quotes around each piece that a bot would obey.
fn break_commands(text: &str, part: Range<usize>, quotes: Quotes, into: &mut String) {
    let before = &text[..part.start];
    // A part of the text begins a line if only skipped characters are before it.
    let line = before.rfind(is_line_break).map_or(before, |at| &before[at..]);
    let mut leads = line.chars().all(is_skipped);
    let mut rest = part.start;
    while let Some(c) = text[rest..part.end].chars().next() {
        let length = c.len_utf8();
        if is_line_break(c) {
            leads = true;
        }
        let after = &text[rest..part.end];
        let broken = match leads.then(|| leading_command(after, quotes)).flatten() {
            Some(piece) => Some(piece),
            None if c == '@' && is_mention(&text[..rest], &after[length..], quotes) => Some(length),
            None => None,
        };
        leads &= is_skipped(c) || is_line_break(c);
        match broken {
            Some(_) if c == '@' && quotes == Quotes::Prose && is_in_address(&text[..rest]) => {
                into.push_str("%40");
                rest += length;
            }
            Some(piece) => {
                into.push(quotes.sign());
                into.push_str(&after[..piece]);
                into.push(quotes.sign());
                rest += piece;
                leads = false;
            }
            None => {
                into.push(c);
                rest += length;
            }
        }
    }
}

fn has_commands_in_code(code: &str) -> bool {
    let mut broken = String::new();
    break_commands(code, 0..code.len(), Quotes::Code, &mut broken);
    broken != code
}

/// Bots split lines in different ways.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters that may stand before a command: white space, invisible ones, and Markdown's own.
fn is_skipped(c: char) -> bool {
    let is_blank = (c.is_whitespace() || sanitize::is_hostile(c)) && !is_line_break(c);
    is_blank || matches!(c, '>' | '-' | '*' | '+' | '_' | '~' | '#' | '|' | '.' | ')') || c.is_ascii_digit()
}

/// The length of the piece that makes the line a command.
fn leading_command(line: &str, quotes: Quotes) -> Option<usize> {
    let line = line.find(is_line_break).map_or(line, |end| &line[..end]);
    let begins_word = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let sigil = match line.chars().next()? {
        // `!ready` is an expression in most languages.
        '!' if quotes == Quotes::Code => is_command_word(&line[1..]),
        '/' | '!' => begins_word(&line[1..]),
        // `.deploy` is a command; `.gitignore` and `.unwrap()` are not.
        '.' => DOT_COMMANDS.iter().any(|word| begins_with_word(&line[1..], word)),
        _ => false,
    };
    if sigil {
        return (quotes == Quotes::Prose || is_only_words(&line[1..])).then_some(1);
    }
    let always = COMMAND_WORDS.iter().find(|word| begins_with_word(line, word));
    let alone = || {
        let is_short = line.split_whitespace().count() <= 3;
        SHORT_COMMANDS.iter().find(|word| is_short && begins_with_word(line, word))
    };
    let word = always.or_else(alone)?;
    (quotes == Quotes::Prose || is_only_words(line)).then_some(word.len())
}

fn is_command_word(line: &str) -> bool {
    let words = COMMAND_WORDS.iter().chain(&SHORT_COMMANDS).chain(&DOT_COMMANDS);
    words.into_iter().any(|word| begins_with_word(line, word))
}

/// Whether a line of code could be a command with its arguments.
fn is_only_words(line: &str) -> bool {
    line.chars().all(|c| {
        c.is_ascii_alphanumeric()
            || c.is_whitespace()
            || sanitize::is_hostile(c)
            || matches!(c, '-' | '_' | '=' | '@' | '#' | ':' | '.' | ',' | '+' | '?')
    })
}

fn begins_with_word(line: &str, word: &str) -> bool {
    let Some(start) = line.get(..word.len()) else { return false };
    let next = line[word.len()..].chars().next();
    start.eq_ignore_ascii_case(word) && next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_')
}

/// Whether GitHub notifies somebody because of this at-sign, or a bot takes it for its name.
fn is_mention(before: &str, after: &str, quotes: Quotes) -> bool {
    let name_end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(after.len());
    let (name, next) = (&after[..name_end], after[name_end..].chars().next());
    if name.is_empty() {
        return false;
    }
    let is_bot = BOTS.iter().any(|bot| bot.eq_ignore_ascii_case(name));
    match quotes {
        // GitHub mentions nobody in code, and `@Override` is code.
        Quotes::Code => is_bot && !matches!(next, Some('_' | '.' | '(' | '/')),
        Quotes::Prose => is_bot || !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'),
    }
}

/// Whether the text ends inside a web address. `%40` means the same there and keeps the link working.
fn is_in_address(before: &str) -> bool {
    const LONGEST: usize = 2048;
    let mut start = before.len().saturating_sub(LONGEST);
    while !before.is_char_boundary(start) {
        start += 1;
    }
    let recent = &before[start..];
    let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | '<' | '[' | '"' | '\'' | '`' | '|');
    let word = recent.rfind(is_end).map_or(recent, |at| &recent[at + 1..]);
    let address = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"));
    address.is_some_and(|rest| rest.split_once('/').is_some_and(|(host, _)| host.contains('.')))
}

/// Words that begin a command and hardly ever a sentence.
const COMMAND_WORDS: [&str; 27] = [
    ":shipit:",
    "add to whitelist",
    "augment review",
    "bors",
    "bugbot",
    "cursor review",
    "duplicate of",
    "gitar",
    "homu",
    "i have read the cla",
    "i have read the dco",
    "jenkins",
    "lgtm",
    "ok to test",
    "r+",
    "r-",
    "r=",
    "r?",
    "recheck",
    "retest",
    "reverify",
    "run ci",
    "run-tests",
    "shipit",
    "test this please",
    "verify cla",
    "zuul",
];

/// Words that are a command only in a short line; sentences begin with them, too.
const SHORT_COMMANDS: [&str; 14] = [
    "approve",
    "approved",
    "automerge",
    "backport",
    "cherry-pick",
    "delegate+",
    "delegate=",
    "merge",
    "rebase",
    "rebuild",
    "rerun",
    "retry",
    "squash",
    "try",
];

/// The commands of `github/branch-deploy`.
const DOT_COMMANDS: [&str; 6] = ["deploy", "help", "lock", "noop", "unlock", "wcid"];

/// Names by which bots and coding agents are called.
const BOTS: [&str; 44] = [
    "allcontributors",
    "amazon-q-developer",
    "augment",
    "augmentcode",
    "bors",
    "changeset-bot",
    "claude",
    "codeant-ai",
    "codecov",
    "codecov-commenter",
    "coderabbit",
    "coderabbitai",
    "codex",
    "copilot",
    "cubic-dev-ai",
    "cursor",
    "cursoragent",
    "deepsourcebot",
    "dependabot",
    "devin",
    "devin-ai-integration",
    "ellipsis-dev",
    "gemini-cli",
    "gemini-code-assist",
    "github-actions",
    "greptile",
    "greptileai",
    "homu",
    "jules",
    "k8s-ci-robot",
    "kody",
    "mergify",
    "mergifyio",
    "meeseeksdev",
    "openhands",
    "openhands-agent",
    "pytorchbot",
    "pytorchmergebot",
    "qodo-merge",
    "renovate",
    "rustbot",
    "sentry",
    "sourcery-ai",
    "swe-agent",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_words_stay_as_they_are() {
        for text in [
            "It breaks. Fix it.",
            "Merge sort is enough here, and try again is wrong.",
            "Write to a@b.example, or see `src/a.rs` and src/b.rs.",
            "1. First\n2. Second\n\n* `@Override` is missing\n\n![picture](https://x.example/y.png)",
            "```java\n@Override\n!ready && x;\n/usr/bin/env\n.text {\n// lgtm, really?\n```",
            "    let x = !y;\n    /* z */",
            "Use .gitignore for that. …and so on\n...then\n.gitignore lists it",
            "It is 3/4 done, 5 @ 3 each.",
        ] {
            assert_eq!(markdown(text), text);
        }
    }

    #[test]
    fn commands_and_mentions_are_broken_visibly() {
        for (text, expected) in [
            ("/approve", "`/`approve"),
            ("Yes\n  > * !merge now", "Yes\n  > * `!`merge now"),
            ("@alice, @acme/leads", "`@`alice, `@`acme/leads"),
            ("a (@alice)é@bob x@dependabot", "a (`@`alice)é`@`bob x`@`dependabot"),
            ("Bors r+", "`Bors` r+"),
            ("r? @carol", "`r?` `@`carol"),
            ("I have read the CLA Document and", "`I have read the CLA` Document and"),
            ("**/lgtm**", "**`/`lgtm**"),
            ("try", "`try`"),
            ("`@claude x` and `@Override`", "`'@'claude x` and `@Override`"),
            ("```\n/approve\n@Claude fix\n```", "```\n'/'approve\n'@'Claude fix\n```"),
            ("see https://x.example/@bob/y", "see https://x.example/%40bob/y"),
            ("[x](https://x.example/@bob)", "[x](https://x.example/%40bob)"),
            ("see://@bob http://@bob", "see://`@`bob http://`@`bob"),
            ("x `open\n/approve", "x `open\n`/`approve"),
        ] {
            assert_eq!(markdown(text), expected, "{text}");
            assert_eq!(markdown(expected), expected, "again");
        }
    }

    #[test]
    fn a_suggestion_in_the_text_is_unchanged_or_no_suggestion() {
        let kept = "Do:\n\n```suggestion\n@Override // @alice\n  !x\n```\n\nNow.";
        assert_eq!(markdown(kept), kept);
        let refused = markdown("Do:\n\n```suggestion\nx\n/approve\n```\n\nNow.");
        assert_eq!(refused, "Do:\n\n```text\nx\n'/'approve\n```\n\nNow.");
        assert_eq!(suggestion("a\n```\nb\n"), "````suggestion\na\n```\nb\n````\n");
        assert!(suggestion("bors r+").contains("'bors' r+"));
    }

    #[test]
    fn a_text_that_leaves_something_open_becomes_code() {
        for text in ["```\nx", "~~~~\nx\n~~~", "<!-- x", "<pre>\nx", "- ```\n  x\n", "> ```\n> x"] {
            let posted = format!("{}\n\nnext", markdown(text));
            assert!(ends_at_top_level(posted.trim_end_matches("\n\nnext")), "{posted}");
        }
        for text in [
            "```\nx\n```",
            "> ```\n> x",
            "- a\n- b",
            "<!-- x -->",
            "<details>\nx\n</details>",
            "a | b\n--|--\n1 | 2",
        ] {
            assert_eq!(markdown(text), text);
        }
    }

    #[test]
    fn a_long_hostile_text_takes_linear_work() {
        let text = "a/@a".repeat(16_000);
        assert_eq!(markdown(&text).matches("`@`").count(), 16_000);
    }
}
