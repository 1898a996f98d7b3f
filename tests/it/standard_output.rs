//! Standard output that is full or closed is a failure of its reader, never a bug of Cloture's (U6).
#![cfg(unix)]

use crate::support::folder;
use crate::support::program::program;
use crate::support::verbs;
use cloture::simulator::Simulator;
use std::fs::File;
use std::process::{Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;

/// Every way to print something.
const PRINTING: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["help", "watch"],
    &["status", "acme/shop#1"],
    &["status", "acme/shop#1", "--json"],
    &["watch", "acme/shop#1"],
    &["watch", "acme/shop#1", "--json"],
    &["watch", "acme/shop#1", "--once"],
    &["inbox", "--fresh", "acme/shop#1"],
    &["act", "acme/shop#1", "src/a.rs:1", "queue", "--dry-run"],
    &["act", "acme/shop#1", "src/a.rs:1", "queue", "--dry-run", "--json"],
    &["pr", "acme/shop#1", "close", "--dry-run"],
    &["queue", "list", "acme/shop#1"],
    &["queue", "history"],
    &["queue", "history", "--json"],
    &["journal"],
    &["doctor", "acme/shop#1"],
    &["reviewers"],
    &["reviewers", "--json"],
    &["classify"],
    &["bound"],
    &["bound", "--json"],
    &["simulate", "-"],
    &["simulator", "--scenario", "converges"],
    &["review", "--reviewer", "lime", "acme/shop#1"],
    &["completions", "bash"],
    &["man"],
];

/// The shortest trace that `simulate` reports on.
const TRACE: &str = "{\"trace\": 1, \"pull_request\": {\"number\": 1, \"author\": \"a\", \"author_is_bot\": false}}\n\
    {\"close\": {}}\n";

struct Desk {
    simulator: Simulator,
    home: TempDir,
}

impl Desk {
    async fn new() -> Desk {
        let home = folder::temporary();
        let config = "[[reviewers]]\nname = 'lime'\nkind = 'program'\ncommand = ['sh', '-c', 'cat > /dev/null; echo []']\n";
        std::fs::write(home.path().join("config.toml"), config).unwrap();
        Desk { simulator: verbs::start().await, home }
    }

    async fn run(&self, arguments: &[&str], output: impl Into<Stdio>) -> Output {
        let url = self.simulator.url();
        let config = self.home.path().join("config.toml");
        let options = ["--api-url", &url, "--config", config.to_str().unwrap()];
        let mut command = program(self.home.path(), &[&options, arguments].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let post = r#"{"author": "cursor[bot]", "is_bot": true, "association": "NONE", "where": "comment", "body": "Hello."}"#;
        let line = match arguments[0] {
            "classify" => post,
            "simulate" => TRACE,
            _ => "",
        };
        // A command that needs no input may have ended.
        let _unread = input.write_all(line.as_bytes()).await;
        drop(input);
        let ended = tokio::time::timeout(Duration::from_mins(1), child.wait_with_output()).await;
        ended.unwrap_or_else(|_| panic!("{arguments:?} does not end")).unwrap()
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_device_ends_every_command_with_74_and_its_reason() {
    let desk = Desk::new().await;
    for arguments in PRINTING {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = desk.run(arguments, full).await;
        let errors = errors(&output);
        assert_eq!(output.status.code(), Some(74), "{arguments:?}: {errors}");
        let last = errors.lines().last().unwrap_or_default();
        assert_eq!(
            last,
            "cloture: cannot write to standard output: No space left on device; make room there, or send the \
             output somewhere else",
            "{arguments:?}"
        );
    }
}

#[tokio::test]
async fn a_closed_pipe_ends_every_command_quietly_and_never_as_a_success() {
    let desk = Desk::new().await;
    for arguments in PRINTING {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = desk.run(arguments, writer).await;
        assert_eq!((output.status.code(), errors(&output).as_str()), (Some(141), ""), "{arguments:?}");
    }
}

/// The driver's lease is given back, so that the next one need not wait for it.
#[tokio::test]
async fn a_watch_whose_reader_is_gone_gives_its_lease_back() {
    let desk = Desk::new().await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let state = desk.home.path().join("state");
    let output = desk.run(&["--state-dir", state.to_str().unwrap(), "watch", "acme/shop#1"], writer).await;
    assert_eq!(output.status.code(), Some(141));
    let address =
        cloture::journal::JournalAddress::file(state.join(cloture::journal::JournalAddress::FILE_NAME));
    let options = cloture::journal::JournalOptions::new(desk.simulator.now());
    let journal = cloture::journal::Journal::open(&address, options).await.unwrap().journal;
    assert_eq!(journal.leases().await.unwrap(), []);
    journal.close().await.unwrap();
}
