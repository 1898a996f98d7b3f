//! `cloture journal`: the real program on an existing journal.

use crate::support::program::{Run, finish, program};
use cloture::domain::snapshot::RepositoryName;
use cloture::journal::{Journal, JournalAddress, JournalOptions, NewRecord, PullRequestKey};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};

fn pull_request(number: u64) -> PullRequestKey {
    let repository = RepositoryName::new("acme", "shop").unwrap();
    PullRequestKey { host: "github.com".to_owned(), repository, number }
}

async fn open(folder: &Path) -> Journal {
    let address = JournalAddress::file(folder.join(JournalAddress::FILE_NAME));
    Journal::open(&address, JournalOptions::new(Timestamp::UNIX_EPOCH)).await.unwrap().journal
}

/// A state folder with a few records in it.
async fn state_with_records() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path()).await;
    let hostile = "Unchecked\u{1b}[31m index\u{202e}\nsecond line";
    let records = vec![
        NewRecord::new("started", "laptop-1"),
        NewRecord::new("cycle", "orange")
            .about(pull_request(7))
            .with_reason(hostile)
            .with_key("k1")
            .with(json!({"n": 1})),
        NewRecord::new("decision", "alice").about(pull_request(8)).with_reason("Will not fix"),
    ];
    journal.append(records).await.unwrap();
    journal.close().await.unwrap();
    folder
}

async fn run(state: &Path, arguments: &[&str]) -> Run {
    let home = tempfile::tempdir().unwrap();
    let state = ["--state-dir", state.to_str().unwrap(), "journal"];
    finish(program(home.path(), &[&state, arguments].concat())).await
}

/// The lines without their times.
fn lines(run: &Run) -> Vec<String> {
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    let words = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    run.out.lines().map(words).collect()
}

#[tokio::test]
async fn a_line_says_when_where_who_what_and_why() {
    let state = state_with_records().await;
    let run = run(state.path(), &[]).await;
    assert_eq!(
        lines(&run),
        [
            "- laptop-1 started",
            "acme/shop#7 orange cycle Unchecked[31m index second line",
            "acme/shop#8 alice decision Will not fix",
        ]
    );
    for line in run.out.lines() {
        let time = line.split_whitespace().next().unwrap();
        assert!(time.ends_with('Z') && time.parse::<Timestamp>().is_ok(), "{line}");
    }
}

#[tokio::test]
async fn json_has_everything_and_nothing_that_a_terminal_obeys() {
    let state = state_with_records().await;
    let run = run(state.path(), &["--json"]).await;
    assert_eq!(run.code, 0);
    assert!(!run.out.chars().any(|c| c != '\n' && cloture::output::sanitize::is_hostile(c)), "{:?}", run.out);
    let mut records: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for record in &mut records {
        let at = record.as_object_mut().unwrap().remove("at").unwrap();
        assert!(at.as_str().unwrap().parse::<Timestamp>().is_ok());
    }
    assert_eq!(
        records[1],
        json!({
            "seq": 2, "host": "github.com", "repository": "acme/shop", "number": 7, "kind": "cycle", "by": "orange",
            "why": "Unchecked\u{1b}[31m index\u{202e}\nsecond line", "key": "k1", "body": {"n": 1}
        })
    );
    assert_eq!(
        records[0],
        json!({
            "seq": 1, "host": null, "repository": null, "number": null, "kind": "started", "by": "laptop-1",
            "why": "", "key": null, "body": null
        })
    );
}

/// L13: `ACME/shop` finds the records of `acme/shop`.
#[tokio::test]
async fn filters_choose_the_records() {
    let state = state_with_records().await;
    let cases: [(&[&str], &[&str]); 7] = [
        (&["acme/shop#8"], &["alice"]),
        (&["https://github.com/ACME/shop/pull/7"], &["orange"]),
        (&["https://ghe.example.com/acme/shop/pull/7"], &[]),
        (&["--kind", "cycle"], &["orange"]),
        (&["--search", "WILL NOT"], &["alice"]),
        (&["--limit", "2"], &["orange", "alice"]),
        (&["--limit", "1", "--kind", "started"], &["laptop-1"]),
    ];
    for (arguments, expected) in cases {
        let run = run(state.path(), &[&["--json"], arguments].concat()).await;
        let by: Vec<Value> =
            run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["by"].clone()).collect();
        assert_eq!(by, expected, "{arguments:?}");
    }
    let nothing = run(state.path(), &["--search", "absent"]).await;
    assert_eq!((nothing.code, nothing.out.as_str()), (0, "The journal has no matching record.\n"));
    let wrong = run(state.path(), &["acme/shop"]).await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("names no pull request"), "{}", wrong.err);
}

#[tokio::test]
async fn follow_prints_new_records_until_interrupted() {
    let state = state_with_records().await;
    let home = tempfile::tempdir().unwrap();
    let folder = state.path().to_str().unwrap();
    let arguments = ["--state-dir", folder, "journal", "--follow", "--json", "--limit", "1", "acme/shop#8"];
    let mut child = program(home.path(), &arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = async || {
        let line = output.next_line().await.unwrap().unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["seq"].as_u64().unwrap()
    };
    assert_eq!(next().await, 3);
    let journal = open(state.path()).await;
    for number in [7, 8, 8] {
        journal.append_one(NewRecord::new("cycle", "orange").about(pull_request(number))).await.unwrap();
    }
    assert_eq!((next().await, next().await), (5, 6));
    let pid = child.id().unwrap().to_string();
    let interrupt = tokio::process::Command::new("kill").args(["-INT", &pid]).status().await.unwrap();
    assert!(interrupt.success());
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_journal_that_cannot_be_used_has_its_own_exit_code() {
    let state = state_with_records().await;
    let file = state.path().join(JournalAddress::FILE_NAME);
    fs::write(&file, "this is a text, and a rather long one at that").unwrap();
    let run_once = run(state.path(), &[]).await;
    assert_eq!(run_once.code, 0);
    assert!(
        run_once.err.contains("the journal was damaged (file is not a database) and was moved to"),
        "{run_once:?}"
    );

    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config.toml");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    fs::write(&config, format!("[journal]\nurl = 'postgres://cloture:s3cret@127.0.0.1:{port}/c'")).unwrap();
    let out_of_reach = finish(program(home.path(), &["--config", config.to_str().unwrap(), "journal"])).await;
    assert_eq!(out_of_reach.code, 74, "{out_of_reach:?}");
    let expected = format!("cloture: the journal at postgres://cloture@127.0.0.1:{port}/c is out of reach: ");
    assert!(
        out_of_reach.err.starts_with(&expected) && !out_of_reach.err.contains("s3cret"),
        "{out_of_reach:?}"
    );
}

#[tokio::test]
async fn the_default_journal_is_in_the_state_folder() {
    let home = tempfile::tempdir().unwrap();
    let run = finish(program(home.path(), &["journal"])).await;
    assert_eq!((run.code, run.out.as_str()), (0, "The journal has no matching record.\n"), "{run:?}");
    if cfg!(target_os = "linux") {
        assert!(home.path().join(".local/state/cloture/journal.db").exists());
    }
}
