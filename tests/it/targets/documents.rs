//! The format of a task.

use super::{PULL_REQUEST, at_once, document, finding, prepared};
use crate::support::simulated::{PATIENT, address, client, start};
use cloture::agents::targets::{DeliveryMeans, NotSendable, TaskDocument, TaskSources, key, prepare, reason};
use cloture::domain::finding::{Finding, Thread};
use cloture::domain::handoff::{Eligibility, HandoffTask};
use cloture::domain::place::LineRange;
use cloture::domain::snapshot::RepositoryName;
use cloture::domain::vocabulary::{Category, Severity, ThreadId};
use cloture::github::write::{ThreadTarget, WriteKey};
use cloture::github::{Reader, Write, Writer};
use cloture::simulator::Scenario;
use serde_json::{Value, json};

/// Other programs read this format: change the text only together with the version.
#[test]
fn the_document_has_its_documented_format() {
    let expected = r#"{"task":1,"key":"task/00112233445566778899aabbccddeeff00112233","pull_request":{"repository":"acme/shop","number":7,"title":"Add discounts","author":"erin","author_is_bot":false,"base":"main","url":"https://github.com/acme/shop/pull/7"},"target":"fixer","path":"src/a.rs","findings":[{"id":"PRRT_1","title":"SQL injection","body":"The name is not escaped.","path":"src/a.rs","line":10,"end_line":12,"severity":"high","category":"security","suggestion":"query(\"…\", [name])","reviewer":"coderabbit","url":"https://github.com/acme/shop/pull/7#discussion_r1"}],"reason":"high is at or over the threshold"}"#;
    assert_eq!(document().to_json().unwrap(), expected);
}

#[test]
fn h8_a_task_gives_each_reason_once() {
    let of = [
        Eligibility::Queued,
        Eligibility::OverThreshold(Severity::High),
        Eligibility::Queued,
        Eligibility::OverThreshold(Severity::Critical),
    ];
    let expected =
        "queued by a person; high is at or over the threshold; critical is at or over the threshold";
    assert_eq!(reason(of), expected);
    assert_eq!(reason([Eligibility::EverythingGoes]), "everything that is not settled is handed off");
}

/// The key is a constant here, because a different key after an update would send every task again.
#[test]
fn h4_the_key_of_a_task_never_changes() {
    let task = HandoffTask {
        target: "fixer".into(),
        path: "src/ü b.rs".into(),
        findings: vec!["t1".into(), "t2".into()],
        coalesced: true,
    };
    let repository = |name: &str| RepositoryName::parse(name).unwrap();
    let name = key(&task, &repository("acme/shop"), 7);
    assert_eq!(name, "task/2cd6c3cc8fa6efe430fefe609758467f7388182b");
    assert!(WriteKey::new(&name).is_ok());
    assert_eq!(name, key(&task, &repository("Acme/Shop"), 7), "GitHub ignores the case");
    let grown = HandoffTask { findings: vec!["t1".into()], ..task.clone() };
    assert_eq!(name, key(&grown, &repository("acme/shop"), 7), "there is one task for a target and a file");
    let others = [
        (task.clone(), "acme/shop", 8),
        (task.clone(), "acme/site", 7),
        (HandoffTask { target: "other".into(), ..task.clone() }, "acme/shop", 7),
        (HandoffTask { path: "src/b.rs".into(), ..task.clone() }, "acme/shop", 7),
        (HandoffTask { coalesced: false, ..task.clone() }, "acme/shop", 7),
    ];
    for (other, name_of, number) in others {
        assert_ne!(name, key(&other, &repository(name_of), number));
    }
}

#[tokio::test]
async fn a_document_has_the_finding_and_its_conversation() {
    let world = r#"
title = "A conversation"
start = "2026-03-02T09:00:00Z"
viewer = "dana"
account = [{ login = "dana" }, { login = "erin" }, { login = "coderabbitai", kind = "bot" }]
[[repository]]
name = "acme/shop"
members = { dana = "owner", erin = "collaborator" }
files = { "src/a.rs" = "fn one() {}\n" }
"#;
    let steps = r#"
files = { "src/a.rs" = "fn one() { two() }\nfn two() {}\n" }
[[step]]
at = "-30m"
pull_request = "acme/shop#7"
[[step.do]]
review = { by = "coderabbitai", body = "One thing.", threads = [{ name = "t", path = "src/a.rs", line = 1, body = "First." }] }
"#;
    let scenario = [world, PULL_REQUEST, steps].concat();
    let simulator = start(&Scenario::parse(&scenario, "talk.toml").unwrap()).await;
    let client = client(&simulator.url(), "any", PATIENT);
    let pull = simulator.pull_request("acme/shop#7").unwrap();
    let id = ThreadId::from(pull.threads[0].id.as_str());
    let reply = Write::Reply {
        thread: ThreadTarget {
            pull_request: address("acme/shop", 7),
            id: id.clone(),
            path: "src/a.rs".into(),
            line: None,
        },
        body: "I will, later.".to_owned(),
        key: WriteKey::new("a").unwrap(),
    };
    Writer::new(&client, at_once()).write(&reply).await.unwrap();
    let read = Reader::new(&client).read(&address("acme/shop", 7)).await.unwrap();

    let reported = Finding {
        path: "src/a.rs".into(),
        lines: LineRange::new(1, 2),
        title: "Wrong".into(),
        body: "Very.".into(),
        severity: None,
        category: Category::Bug,
        suggestion: None,
        own_id: None,
    };
    let thread = Thread::opened(id.clone(), "coderabbit".into(), reported, false);
    let task = HandoffTask {
        target: "fixer".into(),
        path: "src/a.rs".into(),
        findings: vec![id.clone()],
        coalesced: true,
    };
    let snapshot = &read.snapshot;
    let sources = TaskSources {
        snapshot,
        thread: &|asked| (*asked == id).then_some(&thread),
        conversation: &|asked| snapshot.threads.iter().find(|thread| thread.id == *asked),
        reason: "queued by a person",
    };
    let document: Value =
        serde_json::from_str(&TaskDocument::of(&task, &sources).unwrap().to_json().unwrap()).unwrap();
    let lost = TaskSources { thread: &|_| None, ..sources };
    assert_eq!(TaskDocument::of(&task, &lost), Err(NotSendable::UnknownFinding(id.clone())));
    let finding = &document["findings"][0];
    assert_eq!(
        (&document["path"], &document["target"], &document["reason"]),
        (&json!("src/a.rs"), &json!("fixer"), &json!("queued by a person"))
    );
    assert_eq!(document["pull_request"]["author"], "erin");
    assert_eq!(document["key"], key(&task, &snapshot.repository, 7));
    assert_eq!(
        (&finding["id"], &finding["line"], &finding["end_line"]),
        (&json!(id.as_str()), &json!(1), &json!(2))
    );
    assert_eq!((&finding["severity"], &finding["suggestion"]), (&Value::Null, &Value::Null));
    assert_eq!(finding["url"], snapshot.threads[0].comments[0].url);
    let replies = finding["conversation"].as_array().unwrap();
    assert_eq!(replies.len(), 1, "the first comment is the finding itself: {replies:?}");
    assert_eq!(replies[0]["by"], "dana");
    assert!(replies[0]["body"].as_str().unwrap().starts_with("I will, later."), "{replies:?}");
}

/// For GitHub's limits the long texts are cut and marked as cut. A program and a server get the whole task.
#[test]
fn only_long_texts_of_a_task_are_cut_for_github() {
    let mut large = document();
    large.findings = (0..20).map(|number| finding(&format!("PRRT_{number}"))).collect();
    for finding in &mut large.findings {
        finding.body = "\"ü\"\n".repeat(10_000).into();
        finding.suggestion = Some("x".repeat(10_000).into());
    }
    for (keys, most) in [
        ("kind = 'issue'", 65_536),
        ("kind = 'comment'\nbody = '@agent'", 65_536),
        ("kind = 'repository_dispatch'\nevent_type = 'fix'", 64 * 1024),
    ] {
        let DeliveryMeans::Write(write) = prepared(&large, keys).means else { panic!("{keys}") };
        let call = write.describe().calls.remove(0).body().unwrap();
        let sent = match &write {
            Write::Dispatch { .. } => call["client_payload"].to_string(),
            Write::Comment { .. } => call["variables"]["body"].as_str().unwrap().to_owned(),
            _ => call["body"].as_str().unwrap().to_owned(),
        };
        let size = if keys.contains("dispatch") { sent.len() } else { sent.chars().count() };
        assert!((most / 20..most).contains(&size), "{keys}: {size}");
        assert_eq!(sent.matches("… (cut)").count(), 20, "{keys}");
        assert!(!sent.contains("xxxxxxxxxx"), "half a suggestion is wrong code: {keys}");
        assert_eq!(write.objection(), None);
    }
    let DeliveryMeans::Run(run) = prepared(&large, "kind = 'command'\ncommand = ['x']").means else {
        panic!()
    };
    assert_eq!(run.stdin.trim_end(), large.to_json().unwrap());

    large.findings = (0..5000).map(|number| finding(&format!("PRRT_{number}"))).collect();
    let refused = prepare(&large, &super::target("kind = 'issue'"), &super::on()).unwrap_err();
    assert_eq!(refused, NotSendable::TooLarge("an issue"));
}
