//! No text of others reaches a terminal uncleaned, whatever command prints it (S1).

use crate::support::folder;
use crate::support::program::{Run, finish, program};
use std::process::Stdio;
use tokio::io::AsyncWriteExt;

/// Escape sequences that change the title, the colours and the clipboard, and text that reads backwards.
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{1b}[31m\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}2J\u{202e}evil";

/// The same as JSON and TOML spell it.
const ESCAPED: &str = "\\u001b]0;title\\u0007\\u001b[31m\\u001b]52;c;ZXZpbA==\\u0007\\u009b2J\\u202eevil";

async fn run(files: &[(&str, String)], arguments: &[&str], input: &str) -> Run {
    let home = folder::temporary();
    for (name, text) in files {
        std::fs::write(home.path().join(name), text).unwrap();
    }
    let mut command = program(home.path(), arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // A program that reads nothing closes the pipe.
    let _closed = pipe.write_all(input.as_bytes()).await;
    drop(pipe);
    let output = child.wait_with_output().await.unwrap();
    Run {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn assert_clean(run: &Run, what: &str) {
    let is_acting = |c: char| c != '\n' && c != '\t' && cloture::output::sanitize::is_hostile(c);
    assert!(!run.err.contains(is_acting) && !run.out.contains(is_acting), "{what}: {run:?}");
}

#[tokio::test]
async fn s1_no_error_of_any_reader_acts_on_the_terminal() {
    let head =
        "{\"trace\": 1, \"pull_request\": {\"number\": 1, \"author\": \"a\", \"author_is_bot\": false}}\n";
    let traces = [
        format!("{{\"{ESCAPED}\": {{}}}}"),
        format!("{{\"close\": {{\"{ESCAPED}\": 1}}}}"),
        format!("{{\"cycle\": \"{HOSTILE}\"}}"),
        format!("{{\"push\": {{\"sha\": {HOSTILE}}}}}"),
    ];
    for trace in traces {
        let run = run(&[], &["simulate", "-"], &format!("{head}{trace}\n")).await;
        assert_eq!(run.code, 2, "{run:?}");
        assert_clean(&run, "simulate");
    }
    let posts = [
        format!("{{\"{ESCAPED}\": 1}}"),
        format!(
            "{{\"author\": \"a\", \"is_bot\": true, \"association\": \"{ESCAPED}\", \"where\": \"comment\", \"body\": \"\"}}"
        ),
        format!("{{\"author\": \"a\", \"where\": \"{HOSTILE}\"}}"),
    ];
    for post in posts {
        let run = run(&[], &["classify"], &format!("{post}\n")).await;
        assert_eq!(run.code, 2, "{run:?}");
        assert_clean(&run, "classify");
    }
    let scenarios = [format!("\"{ESCAPED}\" = 1\n"), format!("title = '{HOSTILE}'\n"), HOSTILE.to_owned()];
    for scenario in scenarios {
        let arguments = ["simulator", "--scenario", "./x.toml"];
        let run = run(&[("x.toml", scenario)], &arguments, "").await;
        assert_eq!(run.code, 2, "{run:?}");
        assert_clean(&run, "simulator");
    }
    for config in [
        format!("\"{ESCAPED}\" = 1\n"),
        format!("# {HOSTILE}\nx = \n"),
        format!("[[watch]]\nauthors = [\"{ESCAPED}\", 1]"),
    ] {
        let run = run(&[("c.toml", config)], &["--config", "c.toml", "bound"], "").await;
        assert_eq!(run.code, 3, "{run:?}");
        assert_clean(&run, "config");
    }
    for arguments in
        [&["status", HOSTILE][..], &[HOSTILE], &["simulate", HOSTILE], &["--config", HOSTILE, "bound"]]
    {
        let run = finish(program(folder::temporary().path(), arguments)).await;
        assert_ne!(run.code, 0, "{run:?}");
        assert_clean(&run, "arguments");
    }
}

/// A trace's texts come back in the report.
#[tokio::test]
async fn s1_the_report_of_a_trace_escapes_what_acts_on_a_terminal() {
    let trace = format!(
        "{{\"trace\": 1, \"pull_request\": {{\"number\": 1, \"author\": \"a\", \"author_is_bot\": false}}}}\n\
         {{\"cycle\": {{\"reviewer\": \"x\", \"protocol\": \"actions\", \"actions\": [], \"findings\": [{{\"id\": \"{ESCAPED}\", \"path\": \"a\", \"line\": 1, \"title\": \"{ESCAPED}\", \"severity\": \"high\"}}]}}}}\n"
    );
    let run = run(&[], &["simulate", "-"], &trace).await;
    assert!(run.out.contains("evil"), "{run:?}");
    assert_clean(&run, "simulate");
}
