//! Every verb of `act` and `pr`, and its effect on the server.

use super::program::{Run, run};
use cloture::simulator::{PullSnapshot, PullState, Scenario, Simulator, SimulatorOptions};

/// A pull request with an open and a resolved thread, and a closed pull request. No bot reacts.
const SCENARIO: &str = r#"
title = "Something to write on"
start = "2026-03-02T09:00:00Z"
viewer = "dana"

[[account]]
login = "dana"
[[account]]
login = "erin"
[[account]]
login = "coderabbitai"
kind = "bot"
[[account]]
login = "copilot-pull-request-reviewer"
kind = "bot"

[[repository]]
name = "acme/shop"
members = { dana = "owner", erin = "collaborator" }
labels = ["stuck", "old"]
files = { "src/a.rs" = "fn one() {}\n" }

[[pull_request]]
repository = "acme/shop"
number = 1
title = "Open"
author = "erin"
branch = "open"
labels = ["old"]
files = { "src/a.rs" = "fn one() { two() }\nfn two() {}\n" }

[[pull_request]]
repository = "acme/shop"
number = 2
title = "Closed"
author = "erin"
branch = "closed"
files = { "a.md" = "Text.\n" }

[[step]]
at = "-30m"
pull_request = "acme/shop#1"
[[step.do]]
review = { by = "coderabbitai", body = "Two things.", threads = [
    { name = "open", path = "src/a.rs", line = 1, body = "First." },
    { name = "resolved", path = "src/a.rs", line = 2, body = "Second." },
] }
[[step.do]]
resolve = { by = "erin", thread = "resolved" }

[[step]]
at = "-20m"
pull_request = "acme/shop#2"
[[step.do]]
close = { by = "erin" }
"#;

pub(crate) async fn start() -> Simulator {
    let scenario = Scenario::parse(SCENARIO, "act.toml").unwrap();
    let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
    assert_eq!(simulator.problems(), [""; 0]);
    simulator
}

pub(crate) fn pull(simulator: &Simulator) -> PullSnapshot {
    simulator.pull_request("acme/shop#1").unwrap()
}

/// The changes on the server, in order, in the simulator's words.
pub(crate) fn changes(simulator: &Simulator) -> Vec<String> {
    simulator.posts().into_iter().map(|post| post.what).collect()
}

/// Runs a command with `--yes` and `--json`.
pub(crate) async fn agreed(simulator: &Simulator, command: &[&str]) -> Run {
    run(&simulator.url(), &[command, &["--yes", "--json"]].concat()).await
}

/// One way to use a command.
#[derive(Clone, Copy)]
pub(crate) struct Verb {
    pub(crate) command: &'static [&'static str],
    /// The request that faults strike.
    pub(crate) aim: &'static str,
    /// Its changes on the server, in order.
    pub(crate) changes: &'static [&'static str],
    /// Whether its effect is on the server.
    pub(crate) holds: fn(&Simulator) -> bool,
}

impl Verb {
    /// Whether it leaves no trace on the server, so that a second run sends it again.
    pub(crate) fn is_dispatch(&self) -> bool {
        self.command.contains(&"dispatch")
    }

    pub(crate) fn name(&self) -> String {
        format!("{} ({})", self.command.join(" "), self.aim)
    }
}

const REPLY: &str = "addPullRequestReviewThreadReply";
const REVIEW: &str = "addPullRequestReview";

fn replied(simulator: &Simulator, text: &str) -> bool {
    let said = &pull(simulator).threads[0].comments;
    said.len() == 2 && said[1].body.starts_with(text) && said[1].by == "dana"
}

fn reviewed(simulator: &Simulator, text: &str) -> bool {
    pull(simulator).reviews.iter().any(|review| review.by == "dana" && review.body.starts_with(text))
}

fn commented(simulator: &Simulator, text: &str) -> bool {
    pull(simulator).comments.iter().any(|comment| comment.body.starts_with(text))
}

#[expect(clippy::too_many_lines, reason = "a list of every verb there is")]
pub(crate) fn all() -> Vec<Verb> {
    vec![
        Verb {
            command: &["act", "acme/shop#1", "src/a.rs:1", "resolve"],
            aim: "resolveReviewThread",
            changes: &["resolve"],
            holds: |it| pull(it).threads[0].resolved,
        },
        Verb {
            command: &["act", "acme/shop#1", "src/a.rs:1", "resolve", "--reason", "Fixed."],
            aim: REPLY,
            changes: &["reply", "resolve"],
            holds: |it| pull(it).threads[0].resolved && replied(it, "Fixed."),
        },
        Verb {
            command: &["act", "acme/shop#1", "src/a.rs:1", "resolve", "--reason", "Fixed."],
            aim: "resolveReviewThread",
            changes: &["reply", "resolve"],
            holds: |it| pull(it).threads[0].resolved && replied(it, "Fixed."),
        },
        Verb {
            command: &["act", "acme/shop#1", "src/a.rs:2", "unresolve"],
            aim: "unresolveReviewThread",
            changes: &["unresolve"],
            holds: |it| !pull(it).threads[1].resolved,
        },
        Verb {
            command: &["act", "acme/shop#1", "src/a.rs:1", "reply", "--body", "- No."],
            aim: REPLY,
            changes: &["reply"],
            holds: |it| replied(it, "- No."),
        },
        Verb {
            command: &["act", "acme/shop#1", "src/a.rs:1", "hide"],
            aim: "minimizeComment",
            changes: &["minimize"],
            holds: |it| pull(it).threads[0].comments[0].minimized.as_deref() == Some("duplicate"),
        },
        Verb {
            command: &["pr", "acme/shop#1", "comment", "--body", "Hello."],
            aim: "addComment",
            changes: &["comment"],
            holds: |it| commented(it, "Hello."),
        },
        Verb {
            command: &["pr", "acme/shop#1", "label", "stuck"],
            aim: "addLabelsToLabelable",
            changes: &["label"],
            holds: |it| pull(it).labels == ["old", "stuck"],
        },
        Verb {
            command: &["pr", "acme/shop#1", "label", "fresh"],
            aim: "createLabel",
            changes: &["label"],
            holds: |it| pull(it).labels == ["old", "fresh"],
        },
        Verb {
            command: &["pr", "acme/shop#1", "unlabel", "old"],
            aim: "removeLabelsFromLabelable",
            changes: &["unlabel"],
            holds: |it| pull(it).labels.is_empty(),
        },
        Verb {
            command: &["pr", "acme/shop#1", "approve"],
            aim: REVIEW,
            changes: &["review"],
            holds: |it| reviewed(it, "<!-- cloture:act/approve/"),
        },
        Verb {
            command: &["pr", "acme/shop#1", "request-changes", "--body", "Not yet."],
            aim: REVIEW,
            changes: &["review"],
            holds: |it| reviewed(it, "Not yet."),
        },
        Verb {
            command: &["pr", "acme/shop#1", "request-review", "copilot"],
            aim: "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers",
            changes: &["request_review"],
            holds: |it| pull(it).requested_reviewers == ["copilot-pull-request-reviewer"],
        },
        Verb {
            command: &[
                "pr",
                "acme/shop#1",
                "request-review",
                "coderabbit",
                "--mention",
                "@coderabbitai review",
            ],
            aim: "addComment",
            changes: &["comment"],
            holds: |it| commented(it, "@coderabbitai review") && pull(it).requested_reviewers.is_empty(),
        },
        Verb {
            command: &["pr", "acme/shop#1", "close"],
            aim: "closePullRequest",
            changes: &["close"],
            holds: |it| pull(it).state == PullState::Closed,
        },
        Verb {
            command: &["pr", "acme/shop#2", "reopen"],
            aim: "reopenPullRequest",
            changes: &["reopen"],
            holds: |it| it.pull_request("acme/shop#2").unwrap().state == PullState::Open,
        },
        Verb {
            command: &["pr", "acme/shop#1", "merge", "--method", "squash"],
            aim: "mergePullRequest",
            changes: &["merge"],
            holds: |it| pull(it).state == PullState::Merged,
        },
        Verb {
            command: &[
                "pr",
                "acme/shop#1",
                "issue",
                "--title",
                "Fix it",
                "--body",
                "Please.",
                "--label",
                "stuck",
                "--assignee",
                "erin",
            ],
            aim: "POST /repos/{owner}/{repo}/issues",
            changes: &["issue"],
            holds: |it| {
                let issues = it.issues();
                let [issue] = issues.as_slice() else { return false };
                issue.title == "Fix it" && issue.labels == ["stuck"] && issue.assignees == ["erin"]
            },
        },
        Verb {
            command: &["pr", "acme/shop#1", "dispatch", "fix", "--payload", r#"{"round": 1}"#],
            aim: "POST /repos/{owner}/{repo}/dispatches",
            changes: &["dispatch"],
            holds: |it| {
                let sent = it.dispatches();
                sent.len() == 1 && sent[0].event_type == "fix" && sent[0].client_payload["round"] == 1
            },
        },
    ]
}
