//! The request of the reviewer protocol (R1–R6).

#![cfg(unix)]

use crate::support::driven::{DIFF, account, argued, comment, seen_thread, snapshot, sources};
use cloture::domain::cycle::{CycleTrigger, Violation};
use cloture::domain::driven::NextCall;
use cloture::domain::policy::Policy;
use cloture::domain::snapshot::{AccountKind, PullRequestSnapshot, ThreadComment};
use cloture::domain::vocabulary::{Association, ThreadId};
use cloture::reviewers::request::{PreparedRequest, RequestSources, prepare};
use serde_json::{Value, json};

fn prepared(sources: &RequestSources<'_>, violations: &[Violation]) -> PreparedRequest {
    let policy = Policy::default();
    let mut engine = argued(&policy);
    let NextCall::Ask(frozen) = engine.next_call(&"orange".into(), CycleTrigger::Review, &policy) else {
        panic!("orange cannot be asked")
    };
    prepare(&frozen, &engine, sources, violations, "")
}

fn as_json(prepared: &PreparedRequest) -> Value {
    serde_json::from_slice(&prepared.request.to_json().unwrap()).unwrap()
}

/// Thread `T1` as the forge shows it, with a comment of each party.
fn with_conversation() -> PullRequestSnapshot {
    let mut snapshot = snapshot();
    let person = |login| account(login, AccountKind::User);
    let bot = |login| account(login, AccountKind::Bot);
    let mut ours =
        comment("6", person("dana"), Association::Owner, 6, "Escalated. <!-- cloture:escalate/1 -->");
    ours.written_by_us = true;
    let mut draft = comment("7", person("dana"), Association::Owner, 7, "not said yet");
    draft.pending = true;
    snapshot.threads = vec![seen_thread(
        "T1",
        vec![
            comment("5", bot("helper"), Association::None, 5, "I ran the tests."),
            comment("1", bot("orange"), Association::None, 1, "Leaked file handle"),
            comment("2", bot("fixer"), Association::Contributor, 2, "Fixed in abc1234."),
            comment("3", bot("orange"), Association::None, 3, "Not quite."),
            comment("4", person("alice"), Association::Member, 4, "I disagree, this is a false positive."),
            ours,
            draft,
        ],
    )];
    snapshot
}

fn reviewer_of(comment: &ThreadComment) -> Option<cloture::domain::vocabulary::ReviewerName> {
    let login = comment.author.as_ref().map(|account| account.login.as_str());
    (login == Some("orange")).then(|| "orange".into())
}

#[test]
fn r1_the_request_has_exactly_the_fields_of_the_protocol() {
    let snapshot = snapshot();
    let violation = Violation::MissingAction("T1".into());
    let request = as_json(&prepared(&sources(&snapshot), &[violation]));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        keys(&request),
        [
            "answer_schema",
            "cycle",
            "diff",
            "previous_review",
            "protocol",
            "pull_request",
            "settled",
            "threads",
            "violations"
        ]
    );
    let cycle = json!({"reviewer": "orange", "number": 2, "attempt": 1, "head": "h1", "baseline": "h0",
        "scope": "delta"});
    assert_eq!(request["cycle"], cycle);
    let pull_request = json!({"repository": "acme/shop", "number": 7, "title": "Add a discount",
        "author": "fixer[bot]", "author_is_bot": true, "base": "main", "url": "https://github.com/acme/shop/pull/7"});
    assert_eq!(request["pull_request"], pull_request);
    let all = ["escalate", "reply", "resolve", "veto"];
    let thread = json!({"id": "T1", "path": "src/a.rs", "line": 10, "title": "Leaked file handle",
        "body": "It breaks.", "severity": "high", "category": "bug", "stance": "seeks_change",
        "round_count": 0, "flips": 0, "cycles": 1,
        "legal": {"seeks_change": all, "accepts": all}, "conversation": []});
    assert_eq!(request["threads"][0], thread);
    assert_eq!(request["threads"].as_array().unwrap().len(), 2);
    let settled =
        json!([{"path": "src/a.rs", "line": 90, "title": "Wrong unit of time", "status": "resolved"}]);
    assert_eq!(request["settled"], settled);
    assert_eq!(request["diff"], DIFF);
    assert_eq!(request["violations"][0]["kind"], "missing_action");
    assert_eq!(request["violations"][0]["thread"], "T1");
}

#[test]
fn r3_r5_every_reply_has_the_role_of_its_author() {
    let snapshot = with_conversation();
    let conversation = |id: &ThreadId| snapshot.threads.iter().find(|thread| thread.id == *id);
    let sources =
        RequestSources { conversation: &conversation, reviewer_of: &reviewer_of, ..sources(&snapshot) };
    let request = as_json(&prepared(&sources, &[]));
    let roles: Vec<(&str, &str, Option<&str>)> = request["threads"][0]["conversation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            (entry["by"].as_str().unwrap(), entry["role"].as_str().unwrap(), entry["intent"].as_str())
        })
        .collect();
    let expected = [
        ("fixer[bot]", "author", None),
        ("orange[bot]", "reviewer", None),
        ("alice", "person", Some("disagree")),
        ("helper[bot]", "agent", None),
        ("dana", "cloture", None),
        ("cloture", "cloture", None),
    ];
    assert_eq!(roles, expected);
    let note = request["threads"][0]["conversation"][5]["body"].as_str().unwrap();
    assert!(note.contains("alice") && note.contains("concede") && note.contains("argue once more"), "{note}");
}

#[test]
fn r3_only_people_who_may_overrule_make_a_reviewer_concede() {
    let mut snapshot = with_conversation();
    snapshot.threads[0].comments[4].association = Association::None;
    let conversation = |id: &ThreadId| snapshot.threads.iter().find(|thread| thread.id == *id);
    let sources =
        RequestSources { conversation: &conversation, reviewer_of: &reviewer_of, ..sources(&snapshot) };
    let request = as_json(&prepared(&sources, &[]));
    assert_eq!(request["threads"][0]["conversation"].as_array().unwrap().len(), 5);
}

#[test]
fn r6_a_large_request_is_warned_about_and_cut_oldest_first() {
    let mut snapshot = with_conversation();
    snapshot.threads[0].comments[2].body = "old talk ".repeat(400);
    let conversation = |id: &ThreadId| snapshot.threads.iter().find(|thread| thread.id == *id);
    let second = DIFF.replace("src/a.rs", "src/b.rs").replace("same", &"same ".repeat(800));
    let diff = format!("{DIFF}{second}");
    let large = RequestSources {
        conversation: &conversation,
        reviewer_of: &reviewer_of,
        diff: &diff,
        previous_review: Some("The last review."),
        ..sources(&snapshot)
    };
    let whole = prepared(&large, &[]);
    assert!(!whole.fit.uses_over_half_the_window(), "{}", whole.fit);
    let size = whole.fit.estimated_tokens;

    let warned = prepared(&RequestSources { context_window: size, ..large }, &[]);
    assert!(warned.fit.uses_over_half_the_window() && warned.fit.cut.is_empty());
    assert_eq!(warned.request, whole.request);

    let cut = prepared(&RequestSources { context_window: size - 1, ..large }, &[]);
    let request = as_json(&cut);
    let oldest = request["threads"][0]["conversation"][0]["body"].as_str().unwrap();
    assert!(oldest.contains("left out by Cloture"), "{oldest}");
    assert_eq!(request["diff"], diff.as_str());

    let tight = prepared(&RequestSources { context_window: size - 1300, ..large }, &[]);
    let request = as_json(&tight);
    assert!(request["previous_review"].as_str().unwrap().contains("left out by Cloture"));
    let shown = request["diff"].as_str().unwrap();
    assert!(shown.starts_with(DIFF) && shown.contains("1 of 2 files: \"src/b.rs\""), "{shown}");
    assert!(!tight.fit.still_too_large);

    let hopeless = prepared(&RequestSources { context_window: 10, ..large }, &[]);
    assert!(hopeless.fit.still_too_large && hopeless.fit.to_string().contains("still too large"));
}
