//! Which commands count as the same, and the exit codes and sentences of commands.

use crate::support::folder;
use crate::support::program::{finish, program, run};
use crate::support::verbs::{agreed, all, changes, pull, start};
use serde_json::json;
use std::process::Stdio;
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn the_same_command_writes_once_whatever_the_verb() {
    for verb in all().into_iter().filter(|verb| !verb.is_dispatch()) {
        let simulator = start().await;
        for outcome in ["done", "already_there", "already_there"] {
            let run = agreed(&simulator, verb.command).await;
            assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
            for write in run.json()["writes"].as_array().unwrap() {
                assert_eq!(write["outcome"], outcome, "{}", verb.name());
            }
            assert_eq!(changes(&simulator), verb.changes, "{}", verb.name());
        }
    }
}

#[tokio::test]
async fn the_same_text_is_posted_again_under_another_key_or_after_a_push() {
    let simulator = start().await;
    let comment = ["pr", "acme/shop#1", "comment", "--body", "Hello."];
    let say = async |how: &[&str], expected: usize| {
        let run = agreed(&simulator, &[&comment, how].concat()).await;
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(changes(&simulator).len(), expected, "{how:?}");
    };
    say(&[], 1).await;
    say(&["--key", "again"], 2).await;
    say(&["--key", "again"], 2).await;
    say(&["--key", "and again"], 3).await;
    simulator
        .perform_toml("acme/shop#1", r#"do = [{ push = { by = "erin", files = { "b.md" = "More.\n" } } }]"#)
        .unwrap();
    say(&["--key", "again"], 3).await;
    say(&[], 4).await;
    say(&[], 4).await;
}

/// V3: an approval of this head counts, whatever its text.
#[tokio::test]
async fn an_approval_of_this_head_is_not_repeated_with_another_text() {
    let simulator = start().await;
    for body in ["Good.", "Very good."] {
        let run = agreed(&simulator, &["pr", "acme/shop#1", "approve", "--body", body]).await;
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.json()["writes"][0]["url"].as_str().unwrap().starts_with("https://"));
        assert_eq!(changes(&simulator), ["review"]);
    }
}

#[tokio::test]
async fn nothing_is_done_at_another_head_than_the_expected_one() {
    let simulator = start().await;
    let head = pull(&simulator).head;
    let merge = async |head: &str| agreed(&simulator, &["pr", "acme/shop#1", "merge", "--head", head]).await;
    for (wrong, sentence) in
        [("0123456789", ", not 0123456789; read it again"), (&head[..6], "too short for a commit")]
    {
        let run = merge(wrong).await;
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains(sentence), "{}", run.err);
    }
    assert_eq!(changes(&simulator), [""; 0]);
    assert_eq!(merge(&head[..8].to_uppercase()).await.code, 0);
    assert_eq!(changes(&simulator), ["merge"]);
}

#[tokio::test]
async fn a_text_comes_from_a_file_or_from_standard_input() {
    let simulator = start().await;
    let home = folder::temporary();
    std::fs::write(home.path().join("text.md"), "From a file.\n").unwrap();
    let command = |last: &[&'static str]| {
        let url = simulator.url();
        let fixed = ["--api-url", &url, "pr", "acme/shop#1", "comment", "--yes"];
        program(home.path(), &[&fixed, last].concat())
    };
    let from_file = finish(command(&["--body-file", "text.md"])).await;
    assert_eq!(from_file.code, 0, "{from_file:?}");
    for (last, text) in [(&["-"][..], "From a dash."), (&["--body-file", "-"], "From two.")] {
        let mut command = command(last);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).await.unwrap();
        assert!(child.wait().await.unwrap().success());
    }
    let said: Vec<String> = pull(&simulator)
        .comments
        .into_iter()
        .map(|it| it.body.split('\n').next().unwrap().to_owned())
        .collect();
    assert_eq!(said, ["From a file.", "From a dash.", "From two."]);
    let nowhere = finish(command(&["--body-file", "nowhere.md"])).await;
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
    assert!(nowhere.err.contains("the text in nowhere.md cannot be read"), "{}", nowhere.err);
}

#[tokio::test]
async fn wrong_usage_has_its_sentence_and_sends_nothing() {
    let simulator = start().await;
    for (command, sentence) in [
        (&["pr", "acme/shop#1", "comment"][..], "required arguments were not provided"),
        (&["pr", "acme/shop#1", "comment", "--body", " "], "there is no text to post"),
        (&["pr", "acme/shop#1", "comment", "--body", "a", "--body-file", "b"], "cannot be used with"),
        (
            &["pr", "acme/shop#1", "request-changes", "--body", ""],
            "a text that says what to change is missing",
        ),
        (&["pr", "acme/shop#1", "label", ""], "a label's name is missing"),
        (&["pr", "acme/shop#1", "merge", "--method", "octopus"], "invalid value 'octopus'"),
        (&["pr", "acme/shop#1", "dispatch", "fix", "--payload", "[1]"], "it must be a JSON object"),
        (&["pr", "acme/shop#1", "dispatch", "fix", "--payload", "{"], "it is not JSON"),
        (&["pr", "acme/shop", "close"], "names no pull request"),
        (&["act", "acme/shop#1", "src/a.rs:1", "resolve", "--reason", ""], "there is no text to post"),
        (&["act", "acme/shop#1", "src/a.rs:1", "veto"], "--reason <TEXT>"),
        (&["act", "acme/shop#1", "src/a.rs:1", "veto", "--reason", " "], "a reason is missing"),
        (&["act", "acme/shop#1", "src/a.rs:1", "burn"], "unexpected argument 'burn' found"),
    ] {
        let run = run(&simulator.url(), &[command, &["--yes"]].concat()).await;
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(sentence), "{}", run.err);
    }
    assert_eq!(changes(&simulator), [""; 0]);
}

#[tokio::test]
async fn a_refusal_is_reported_in_githubs_words() {
    let simulator = start().await;
    let nobody = agreed(&simulator, &["pr", "acme/shop#1", "request-review", "erin"]).await;
    assert_eq!(nobody.code, 2, "the author cannot review: {nobody:?}");
    assert!(
        nobody.err.contains("It was not done: asking for a review was refused by GitHub: "),
        "{}",
        nobody.err
    );
    let closed = agreed(&simulator, &["pr", "acme/shop#2", "merge"]).await;
    assert_eq!((closed.code, &closed.json()["writes"][0]["outcome"]), (2, &json!("not_done")));
    assert_eq!(changes(&simulator), [""; 0]);
}
