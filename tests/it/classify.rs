//! `cloture classify` and `cloture reviewers`, run as programs.

use crate::support::coverage;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// The program with an empty environment.
fn program(arguments: &[&str], home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cloture"));
    command.args(arguments).env_clear().envs(coverage::variable()).env("HOME", home).current_dir(home);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Standard output, standard error and exit code.
fn run(arguments: &[&str], input: &str, configuration: &str) -> (String, String, i32) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("config.toml");
    std::fs::write(&file, configuration).unwrap();
    let arguments = [&["--config", file.to_str().unwrap()], arguments].concat();
    let mut child = program(&arguments, home.path()).spawn().unwrap();
    // The program stops reading at a bad line.
    let _unread = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

fn post(author: &str, is_bot: bool, place: &str, body: &str) -> String {
    let post =
        json!({"author": author, "is_bot": is_bot, "association": "NONE", "where": place, "body": body});
    format!("{post}\n")
}

fn classified(input: &str, configuration: &str) -> Vec<Value> {
    let (out, err, code) = run(&["classify"], input, configuration);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_input_line_gives_one_output_line_with_every_field() {
    let input = [
        post(
            "coderabbitai[bot]",
            true,
            "thread_root",
            "_⚠️ Potential issue_ | _🟠 Major_\n\n**Title.**\n\n```suggestion\nx\n```",
        ),
        post("coderabbitai", true, "thread_reply", "Thanks!\n\n<!-- <review_comment_addressed> -->"),
        post("alice", false, "thread_reply", "Won't fix."),
        post("coderabbitai", false, "thread_root", "**A person** with a bot's login."),
        post("alice", false, "review", "Some thoughts."),
        post("alice", false, "comment", "Thanks all."),
        post("some-new-reviewer[bot]", true, "thread_root", "P1: the lock is lost."),
        post(
            "copilot-pull-request-reviewer[bot]",
            true,
            "review",
            "Copilot wasn't able to review any files in this pull request.",
        ),
    ]
    .concat();
    let nothing = json!({"reviewer": null, "kind": null, "severity": null, "category": null, "title": null,
        "suggestion": false, "stance": null, "intent": null});
    let expected = [
        json!({"reviewer": "coderabbit", "kind": "finding", "severity": "high", "category": "bug",
            "title": "Title.", "suggestion": true, "stance": "seeks_change"}),
        json!({"reviewer": "coderabbit", "kind": "reply", "stance": "accepts"}),
        json!({"kind": "reply", "intent": "wont_fix"}),
        json!({"kind": "finding", "intent": "other"}),
        json!({"kind": "summary", "intent": "other"}),
        json!({"kind": "reply", "intent": "other"}),
        json!({"kind": "finding", "severity": "high", "stance": "seeks_change"}),
        json!({"reviewer": "copilot", "kind": "failure"}),
    ];
    let answers = classified(&input, "");
    assert_eq!(answers.len(), expected.len());
    for (answer, differences) in answers.iter().zip(expected) {
        let mut whole = nothing.clone();
        for (key, value) in differences.as_object().unwrap() {
            whole[key] = value.clone();
        }
        assert_eq!(answer, &whole);
    }
}

#[test]
fn a_bad_line_is_refused_with_its_number() {
    let good = post("alice", false, "comment", "Fine.");
    for (bad, complaint) in [
        ("{\"author\": \"a\"", "this is not valid JSON"),
        ("[]", "this is not a post: invalid type: sequence, expected an object"),
        ("\n{}", "the line is empty"),
        (
            "{\"author\":\"a\",\"is_bot\":true,\"association\":\"NONE\",\"where\":\"comment\",\"body\":\"\",\"boddy\":1}",
            "unknown field `boddy`",
        ),
        (
            "{\"author\":\"a\",\"is_bot\":true,\"association\":\"NONE\",\"where\":\"wall\",\"body\":\"\"}",
            "unknown variant `wall`",
        ),
        (
            "{\"author\":\"a\",\"is_bot\":true,\"association\":\"NONE\",\"where\":\"comment\"}",
            "missing field `body`",
        ),
    ] {
        let (out, err, code) = run(&["classify"], &format!("{good}{bad}\n"), "");
        assert_eq!((out.lines().count(), code), (1, 2), "{bad}");
        assert!(err.starts_with("cloture: line 2 of the input: ") && err.contains(complaint), "{err}");
    }
    let (out, err, code) = run(&["classify"], &format!("{good}\n"), "");
    assert_eq!((out.lines().count(), err.as_str(), code), (1, "", 0), "a blank line at the end is ignored");
}

/// A program can send one post at a time and wait for each answer.
#[test]
fn each_answer_is_printed_before_the_next_line_is_read() {
    let home = tempfile::tempdir().unwrap();
    let mut child = program(&["classify"], home.path()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for body in ["Won't fix.", "I disagree, the caller holds the lock."] {
        input.write_all(post("alice", false, "thread_reply", body).as_bytes()).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["kind"], "reply");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn s1_hostile_characters_in_a_title_do_not_reach_the_terminal() {
    let input = post(
        "cursor[bot]",
        true,
        "thread_root",
        "### Evil \u{202e}title\u{9b}31m\n\n<!-- DESCRIPTION START -->",
    );
    let (out, _, _) = run(&["classify"], &input, "");
    assert!(!out.chars().any(|c| c != '\n' && cloture::output::sanitize::is_hostile(c)), "{out:?}");
    assert!(serde_json::from_str::<Value>(&out).unwrap()["title"].as_str().unwrap().starts_with("Evil"));
}

const CONFIGURATION: &str = r#"
[[profiles]]
name = "our-review"
shared_logins = ["github-actions"]
body_marks = ['(?m)^## Our AI review']
severity = [{ at = "lead", pattern = '^\[blocker\]', is = "critical" }]
ask_again = "/review"

[[profiles]]
name = "codex"
ask_again = "@codex review, please"
"#;

#[test]
fn a_configured_profile_reads_posts() {
    let input = [
        post("github-actions[bot]", true, "review", "## Our AI review\n\nFine."),
        post("github-actions[bot]", true, "comment", "Deployed."),
    ]
    .concat();
    let answers = classified(&input, CONFIGURATION);
    assert_eq!((&answers[0]["reviewer"], &answers[0]["kind"]), (&json!("our-review"), &json!("summary")));
    assert_eq!(answers[1]["reviewer"], Value::Null);
}

#[test]
fn reviewers_lists_the_active_profiles_with_their_origin() {
    let (out, err, code) = run(&["reviewers", "--json"], "", CONFIGURATION);
    assert_eq!((err.as_str(), code), ("", 0));
    let listed: Value = serde_json::from_str(&out).unwrap();
    let profiles = listed["profiles"].as_array().unwrap();
    let named = |name: &str| profiles.iter().find(|profile| profile["name"] == name).unwrap();
    assert!(profiles.len() > 20);
    assert_eq!(named("copilot")["source"], "built_in");
    assert_eq!(
        (&named("copilot")["re_request"], &named("copilot")["ask_again"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(
        (&named("codex")["source"], &named("codex")["configured"]),
        (&json!("built_in"), &json!(["ask_again"]))
    );
    assert_eq!(named("our-review")["source"], "configuration");
    let (out, _, _) = run(&["reviewers"], "", CONFIGURATION);
    let line = |name: &str| out.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(
        line("codex").ends_with("from: built in, with ask_again from the configuration"),
        "{}",
        line("codex")
    );
    assert!(line("our-review").contains("github-actions (by marks in the post)"), "{}", line("our-review"));
    assert!(line("gemini").contains("the comment \"/gemini review\""), "{}", line("gemini"));
}

#[test]
fn a_bad_profile_makes_the_configuration_invalid() {
    let (_, err, code) =
        run(&["classify"], "", "[[profiles]]\nname = 'x'\nlogins = ['y']\nnoise = [{ pattern = '[' }]\n");
    assert_eq!(code, 3);
    assert!(err.contains("profiles[0].noise[0].pattern: expected a regular expression"), "{err}");
}
