//! Sending handoff tasks (H4, H9): every kind of target gets the task once, and hostile findings cannot
//! change it.

mod documents;
mod github;
mod hostile;
#[cfg(unix)]
mod programs;
mod webhooks;

use crate::support::simulated;
use cloture::agents::targets::{
    Delivery, DeliveryOutcome, NotSendable, TaskDocument, TaskFindingPart, kind_of, prepare,
};
use cloture::config::{Config, TargetKind};
use cloture::domain::vocabulary::{Category, Severity, TargetName};
use cloture::github::call::{ApiReply, Call, Transport};
use cloture::github::write::PullRequestTarget;
use cloture::github::writer::WritePace;
use cloture::github::{Error, Writer};
use cloture::reviewers::request::PullRequestPart;
use std::path::Path;
use std::time::Duration;

/// A task with one finding that has everything.
fn document() -> TaskDocument {
    TaskDocument {
        task: cloture::agents::targets::VERSION,
        key: "task/00112233445566778899aabbccddeeff00112233".to_owned(),
        pull_request: PullRequestPart {
            repository: "acme/shop".to_owned(),
            number: 7,
            title: "Add discounts".to_owned(),
            author: Some("erin".to_owned()),
            author_is_bot: false,
            base: "main".to_owned(),
            url: "https://github.com/acme/shop/pull/7".to_owned(),
        },
        target: "fixer".into(),
        path: "src/a.rs".into(),
        findings: vec![finding("PRRT_1")],
        reason: "high is at or over the threshold".to_owned(),
    }
}

fn finding(id: &str) -> TaskFindingPart {
    TaskFindingPart {
        id: id.into(),
        title: "SQL injection".into(),
        body: "The name is not escaped.".into(),
        path: "src/a.rs".into(),
        line: Some(10),
        end_line: Some(12),
        severity: Some(Severity::High),
        category: Category::Security,
        suggestion: Some("query(\"…\", [name])".into()),
        reviewer: "coderabbit".into(),
        url: Some("https://github.com/acme/shop/pull/7#discussion_r1".to_owned()),
        conversation: Vec::new(),
    }
}

/// The pull request of [`document`] in a scenario, up to its files.
const PULL_REQUEST: &str = r#"
[[pull_request]]
repository = "acme/shop"
number = 7
title = "Add discounts"
author = "erin"
branch = "discounts"
"#;

/// A target with these keys in the configuration.
fn target(keys: &str) -> TargetKind {
    let text = format!("[[handoff.targets]]\nname = 'fixer'\n{keys}");
    let config = Config::parse(Path::new("config.toml"), text.as_bytes()).unwrap();
    config.targets[&TargetName::from("fixer")].clone()
}

/// The pull request of [`document`].
fn on() -> PullRequestTarget {
    PullRequestTarget { address: simulated::address("acme/shop", 7), node_id: "PR_7".to_owned() }
}

fn prepared(document: &TaskDocument, keys: &str) -> Delivery {
    prepare(document, &target(keys), &on()).unwrap()
}

/// Does not wait, because the simulator answers at once.
fn at_once() -> WritePace {
    WritePace { between: Duration::ZERO, looks: vec![Duration::ZERO, Duration::ZERO], attempts: 3 }
}

/// A GitHub that refuses every write.
struct NoGithub;

impl Transport for NoGithub {
    async fn send(&self, call: &Call) -> Result<ApiReply, Error> {
        Err(Error::Gone { what: call.purpose().to_owned() })
    }
}

/// Sends a task that does not go to GitHub.
async fn send(delivery: &Delivery, environment: &(dyn Fn(&str) -> Option<String> + Sync)) -> DeliveryOutcome {
    delivery.send(&Writer::new(NoGithub, at_once()), environment, &|| jiff::Timestamp::UNIX_EPOCH).await
}

#[test]
fn u3_a_sentence_says_what_will_be_sent_where() {
    let two = TaskDocument { findings: vec![finding("a"), finding("b")], ..document() };
    for (keys, how) in [
        (
            "kind = 'command'\ncommand = ['agent', 'fix it']",
            "run `agent fix it` with the task on its standard input",
        ),
        (
            "kind = 'issue'\nrepository = 'acme/tasks'\nlabels = ['a', 'b c']\nassignees = ['erin']",
            "open an issue in acme/tasks, labelled a, b c, assigned to erin",
        ),
        ("kind = 'issue'", "open an issue in acme/shop"),
        (
            "kind = 'repository_dispatch'\nevent_type = 'fix'",
            "send the event `fix` to the workflows of acme/shop",
        ),
        ("kind = 'comment'\nbody = '@agent fix'", "comment on acme/shop#7 with \"@agent fix\""),
        (
            "kind = 'webhook'\nurl = 'https://me:pw@h.example/pw'",
            "post the task to https://h.example, not signed",
        ),
        (
            "kind = 'webhook'\nurl = 'https://h.example'\nsecret_env = 'KEY'",
            "post the task to https://h.example, signed with the value of KEY",
        ),
    ] {
        let start = "Hand 2 findings in src/a.rs of acme/shop#7 to the target \"fixer\": ";
        assert_eq!(prepared(&two, keys).sentence, format!("{start}{how}."));
    }
    let hostile = TaskDocument { path: "src/\u{1b}[2Ja\u{202e}.rs".into(), ..document() };
    let sentence = prepared(&hostile, "kind = 'issue'").sentence;
    assert!(sentence.starts_with("Hand 1 finding in src/[2Ja.rs of acme/shop#7 to"), "{sentence}");
}

#[test]
fn nothing_is_sent_to_a_target_without_a_kind() {
    let config = Config::parse(Path::new("c"), b"handoff.targets = [{ name = 'fixer' }]").unwrap();
    for name in ["fixer", "default"] {
        let refused = kind_of(&config.targets, &name.into()).unwrap_err();
        assert_eq!(refused, NotSendable::NoKind(name.into()));
        let sentence = format!(
            "Cloture cannot send tasks to the target \"{name}\": the configuration does not say how; \
             give it a `kind` in [[handoff.targets]]"
        );
        assert_eq!(refused.to_string(), sentence);
    }
}
