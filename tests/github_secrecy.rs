//! The log never holds the token, and at its default level no text of a comment, a review or a diff.
//!
//! In a program of its own, because the first test installs a logger for the whole process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "it/support"]
mod support {
    pub(crate) mod coverage;
    pub(crate) mod folder;
    #[expect(dead_code, unused_imports, reason = "the other tests use the rest")]
    pub(crate) mod forge;
    #[expect(dead_code, reason = "the other tests use the rest")]
    pub(crate) mod program;
}

use cloture::github::{Call, Transport, documents};
use cloture::simulator::{Fault, FaultKind, Scenario, Simulator, SimulatorOptions};
use serde_json::json;
use std::fs;
use std::path::Path;
use support::forge::{Answer, SECRET, Server, client};
use support::program::{Run, TOKEN, finish, program};

/// Keeps everything that any code of this process logs.
#[derive(Default)]
struct Log(std::sync::Mutex<Vec<String>>);

impl Log {
    fn note(&self, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{value:?}"));
    }
}

impl tracing::field::Visit for &Log {
    fn record_debug(&mut self, _: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.note(value);
    }
}

impl tracing::Subscriber for &'static Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        span.record(&mut &**self);
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut &**self);
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut &**self);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn s2_no_event_at_any_level_shows_the_token() {
    let log: &'static Log = Box::leak(Box::default());
    tracing::subscriber::set_global_default(log).unwrap();
    let json = |status, body: serde_json::Value| Answer::Json(status, Vec::new(), body);
    for answer in [
        json(401, json!({"message": format!("bad token {SECRET}")})),
        json(403, json!({"message": format!("bad token {SECRET}")})),
        json(500, json!({})),
        json(200, json!({"data": null, "errors": [{"message": SECRET}]})),
        Answer::Drop,
    ] {
        let server = Server::start(move |_| answer.clone()).await;
        let call = Call::graphql(&documents::VIEWER, json!({}));
        assert!(client(&server.url).send(&call).await.is_err());
    }
    let text = log.0.lock().unwrap().join("\n");
    assert!(text.contains("/graphql"), "dependencies log here as well: {text}");
    assert!(text.contains("the request failed"), "{text}");
    assert!(!text.contains(SECRET), "{text}");
}

/// Texts of people, bots and code, each in a place where Cloture reads or writes it.
const DESCRIPTION: &str = "The description that the author wrote";
const REVIEW: &str = "The summary that the bot wrote";
const THREAD: &str = "The finding that the bot wrote";
const COMMENT: &str = "The comment that erin wrote";
const CODE: &str = "the_code_that_erin_wrote";
const OUR_COMMENT: &str = "The comment that Cloture posts";
const OUR_REPLY: &str = "The reply that Cloture posts";
const TEXTS: [&str; 7] = [DESCRIPTION, REVIEW, THREAD, COMMENT, CODE, OUR_COMMENT, OUR_REPLY];

const TEAM: &str = include_str!("it/support/scenarios/team.toml");

async fn simulator() -> Simulator {
    let text = format!(
        r#"{TEAM}
[[repository]]
name = "acme/shop"
members = {{ dana = "owner", erin = "collaborator" }}
files = {{ "src/a.rs" = "fn one() {{}}\n" }}

[[pull_request]]
repository = "acme/shop"
number = 1
title = "Open"
body = "{DESCRIPTION}"
author = "erin"
branch = "open"
files = {{ "src/a.rs" = "fn one() {{ two() }}\nfn {CODE}() {{}}\n" }}

[[step]]
at = "-30m"
pull_request = "acme/shop#1"
[[step.do]]
review = {{ by = "coderabbitai", body = "{REVIEW}", threads = [
    {{ name = "open", path = "src/a.rs", line = 1, body = "{THREAD}" }},
] }}
[[step.do]]
comment = {{ by = "erin", body = "{COMMENT}" }}
"#
    );
    let scenario = Scenario::parse(&text, "secrecy.toml").unwrap();
    let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
    assert_eq!(simulator.problems(), [""; 0]);
    simulator
}

/// Runs commands that read, poll and write, with a lost answer among them. Returns the log.
async fn log_of_commands(filter: Option<&str>) -> String {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("log");
    let config = home.path().join("config.toml");
    // The reviewer prints the request, so its output has every text as well.
    fs::write(&config, "[[reviewers]]\nname = 'echo'\nkind = 'program'\ncommand = ['cat']\n").unwrap();
    let simulator = simulator().await;
    let url = simulator.url();
    let run = async |arguments: &[&str]| -> Run {
        let before =
            ["--api-url", &url, "--config", config.to_str().unwrap(), "--log", file.to_str().unwrap()];
        let mut command = program(home.path(), &[&before, arguments].concat());
        command.envs(filter.map(|filter| ("CLOTURE_LOG", filter)));
        finish(command).await
    };
    let status = run(&["status", "acme/shop#1"]).await;
    assert_eq!(status.code, 0, "{status:?}");
    let comment = ["pr", "acme/shop#1", "comment", "--body", OUR_COMMENT, "--yes", "--json"];
    simulator.inject(Fault { on: "addComment".to_owned(), nth: 1, times: 1, kind: FaultKind::DropAfter });
    let commented = run(&comment).await;
    assert_eq!(commented.code, 0, "{commented:?}");
    let reply = ["act", "acme/shop#1", "src/a.rs:1", "reply", "--body", OUR_REPLY, "--yes", "--json"];
    let replied = run(&reply).await;
    assert_eq!(replied.code, 0, "{replied:?}");
    run(&["review", "acme/shop#1", "--reviewer", "echo"]).await;
    run(&["watch", "acme/shop#1", "--once"]).await;
    run(&["doctor", "acme/shop#1"]).await;
    let posted = simulator.pull_request("acme/shop#1").unwrap();
    assert!(posted.comments.iter().any(|comment| comment.body.contains(OUR_COMMENT)), "{posted:?}");
    fs::read_to_string(&file).unwrap()
}

#[tokio::test]
async fn s2_the_log_file_never_holds_the_token() {
    let log = log_of_commands(Some("trace")).await;
    for event in ["cloture started", "GitHub answered", "remaining=", "the answer was lost", "poll finished"]
    {
        assert!(log.contains(event), "`{event}` is not in the log:\n{log}");
    }
    assert!(!log.contains(TOKEN), "{log}");
}

#[tokio::test]
async fn the_default_log_holds_no_text_of_a_comment_a_review_or_a_diff() {
    let log = log_of_commands(None).await;
    for event in ["cloture started", "using GitHub", "the answer was lost", "the write had arrived"] {
        assert!(log.contains(event), "`{event}` is not in the log:\n{log}");
    }
    for text in TEXTS {
        assert!(!log.contains(text), "`{text}` is in the log:\n{log}");
    }
    assert!(!log.contains(TOKEN), "{log}");
}

async fn bound(home: &Path, arguments: &[&str], filter: &str) -> Run {
    let mut command = program(home, &[arguments, &["bound"]].concat());
    command.env("CLOTURE_LOG", filter);
    finish(command).await
}

#[tokio::test]
async fn a_bad_log_filter_is_refused_with_a_sentence() {
    let home = tempfile::tempdir().unwrap();
    let refused = bound(home.path(), &[], "cloture=loud").await;
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{refused:?}");
    assert!(refused.err.starts_with("cloture: CLOTURE_LOG is `cloture=loud`"), "{}", refused.err);
    assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
}

#[tokio::test]
async fn a_filter_alone_logs_to_a_private_file_in_the_state_folder() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    let run = bound(home.path(), &["--state-dir", state.to_str().unwrap()], "debug").await;
    assert_eq!(run.code, 0, "{run:?}");
    let log = state.join("cloture.log");
    assert!(fs::read_to_string(&log).unwrap().contains("cloture started"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
