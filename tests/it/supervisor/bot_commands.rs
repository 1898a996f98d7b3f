//! A reviewer's words are posted under a maintainer's login, which other bots obey. No word of a reviewer may
//! command a bot or mention anybody (S1).

use super::driven::{answer, config, reported, reported_in};
use crate::support::harness::{Place, SEVEN, parsed, profiles, push};
use cloture::output::foreign_text;
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// Commands that bots obey if somebody with the right login writes them.
const COMMANDS: [&str; 13] = [
    "/approve",
    "/lgtm",
    "/gemini review",
    "@dependabot merge",
    "@coderabbitai resolve",
    "bors r+",
    "bugbot run",
    "!merge",
    ".deploy production",
    "r? @carol",
    "recheck",
    "LGTM",
    "Duplicate of #1",
];

/// The reviewer's words as JSON spells them: each command as the first line, in a list, in a quote, in code, after
/// a carriage return and after invisible characters.
fn hostile(command: &str) -> String {
    format!(
        "{command}\\n\\nIt breaks.\\n{command}\\n- {command}\\n> {command}\\n\\n```text\\n{command}\\n```\\n\\n\
         And\\r{command}\\n\u{feff} {command}\\n\\n<!--\\n{command}\\n-->\\n"
    )
}

/// How bots read: the text as it was typed, line by line, without the white space around a line.
fn obeyed<'a>(text: &'a str, command: &str) -> Vec<&'a str> {
    let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let lines = text
        .split(['\n', '\r'])
        .map(|line| line.trim_matches(is_blank).trim_start_matches(['>', '-']).trim_matches(is_blank));
    let name = command.split(' ').next().filter(|word| word.starts_with('@'));
    lines.filter(|line| line.starts_with(command) || name.is_some_and(|name| line.contains(name))).collect()
}

/// Whether GitHub notifies this person: it reads no mention in code.
fn mentions(text: &str, name: &str) -> bool {
    let mut in_block = false;
    Parser::new(text).any(|event| match event {
        Event::Start(Tag::CodeBlock(_)) => {
            in_block = true;
            false
        }
        Event::End(TagEnd::CodeBlock) => {
            in_block = false;
            false
        }
        Event::Text(shown) | Event::Html(shown) | Event::InlineHtml(shown) => {
            !in_block && shown.contains(&format!("@{name}"))
        }
        _ => false,
    })
}

#[tokio::test]
async fn s1_no_word_of_a_reviewer_commands_another_bot() {
    for command in COMMANDS {
        let place = Place::new().await;
        let config = config(&place);
        let words = hostile(command);
        let with_body = |finding: String| finding.replace("It breaks. Fix it.", &words);
        let findings = [
            with_body(reported(3, command, "critical")),
            with_body(reported_in("README.md", 3000, command, "high")),
            with_body(reported_in("LICENSE", 7, command, "high"))
                .replace("\"line\": 7, \"end_line\": 7, ", ""),
        ];
        answer(&place, 1, &[], &findings);
        let first = place.read("answer-1").replace("Look 1.", &words);
        std::fs::write(place.path("answer-1"), first).unwrap();
        let actions = [
            ("@1", "reply", "seeks_change", words.as_str()),
            ("@2", "reply", "seeks_change", words.as_str()),
            ("@3", "resolve", "accepts", words.as_str()),
        ];
        answer(&place, 2, &actions, &[]);
        let run = place.run(&config).await;
        run.tick().await;
        place.play(&push(1));
        run.ticks(3).await;
        let pull = place.pull(SEVEN);
        let ours = |by: &str| by == "dana";
        let mut posted: Vec<&str> = Vec::new();
        posted.extend(pull.reviews.iter().filter(|it| ours(&it.by)).map(|it| it.body.as_str()));
        posted.extend(pull.comments.iter().filter(|it| ours(&it.by)).map(|it| it.body.as_str()));
        let in_threads = pull.threads.iter().flat_map(|thread| &thread.comments);
        posted.extend(in_threads.filter(|it| ours(&it.by)).map(|it| it.body.as_str()));
        assert!(posted.iter().filter(|text| text.contains("It breaks.")).count() >= 5, "{posted:#?}");
        for text in posted {
            assert_eq!(obeyed(text, command), [""; 0], "{command} in {text}");
            assert!(!mentions(text, "carol"), "{command} in {text}");
        }
        run.stop().await;
    }
}

/// What a suggestion replaces the code with is exactly what the reviewer wrote.
#[tokio::test]
async fn a_suggestion_keeps_its_code_to_the_letter_unless_a_bot_would_obey_it() {
    let place = Place::new().await;
    let config = config(&place);
    let code = "    @Override // by @alice\\n    !ready && x/y;\\n/* /approve */\\n//lgtm\\n/usr/bin/env x";
    let with = |finding: String, code: &str| {
        finding.replace("\"suggestion\": null", &format!("\"suggestion\": \"{code}\""))
    };
    let own = format!("See:\\n\\n```suggestion\\n{code}\\n```\\n\\nThanks, @alice.");
    let findings = [
        with(reported(3, "One", "high"), code),
        with(reported(7, "Two", "high"), "let x;\\n  /approve no-issue"),
        reported(5, "Three", "high").replace("It breaks. Fix it.", &own),
    ];
    answer(&place, 1, &[], &findings);
    let run = place.run(&config).await;
    run.ticks(2).await;
    let pull = place.pull(SEVEN);
    let text = |line: i64| {
        let thread = pull.threads.iter().find(|thread| thread.line == Some(line)).unwrap();
        thread.comments[0].body.as_str()
    };
    let code = code.replace("\\n", "\n");
    assert!(text(3).contains(&format!("```suggestion\n{code}\n```")), "{}", text(3));
    assert!(text(5).contains(&format!("```suggestion\n{code}\n```\n\nThanks, `@`alice.")), "{}", text(5));
    assert!(!text(7).contains("suggestion\n") && text(7).contains("'/'approve no-issue"), "{}", text(7));
    run.stop().await;
}

/// A text that opens a code fence or a comment and does not close it would swallow the rest of the post.
#[tokio::test]
async fn a_reviewers_text_cannot_swallow_the_rest_of_the_post() {
    for open in ["```", "~~~", "<!--", "<pre>", "- ```\\n  x"] {
        let place = Place::new().await;
        let config = config(&place);
        let finding = reported(3, "One", "high")
            .replace("It breaks. Fix it.", &format!("It breaks.\\n\\n{open}\\nx"))
            .replace("\"suggestion\": null", "\"suggestion\": \"let x;\"");
        answer(&place, 1, &[], &[finding]);
        let run = place.run(&config).await;
        run.ticks(2).await;
        let body = place.pull(SEVEN).threads[0].comments[0].body.clone();
        let codes: Vec<String> = Parser::new(&body)
            .filter_map(|event| match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => Some(info.into_string()),
                _ => None,
            })
            .collect();
        assert!(codes.iter().any(|info| info == "suggestion"), "{open}: {body}");
        run.stop().await;
    }
}

/// Every bot that Cloture itself can ask by a comment would obey a reviewer's words, too.
#[test]
fn s1_no_reviewer_can_ask_a_known_bot_for_a_review() {
    for profile in profiles(&parsed("")).iter() {
        let ask = profile.profile.ask_again.as_str();
        if ask.is_empty() {
            continue;
        }
        let in_code = format!("```text\n{ask}\n```");
        for words in [ask, in_code.as_str()] {
            assert_eq!(obeyed(&foreign_text::markdown(words), ask), [""; 0], "{words}");
        }
        assert!(!foreign_text::suggestion(ask).contains("```suggestion"), "{ask}");
    }
}
