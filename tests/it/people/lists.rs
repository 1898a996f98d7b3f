//! The inbox and the handoff queue, as lists.

use super::world::World;
use cloture::output::sanitize::is_hostile;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// T2: a thread that somebody vetoed or escalated is in the inbox.
#[tokio::test]
async fn the_inbox_lists_waiting_threads_with_reasons_and_sends_no_request() {
    let world = World::new().await;
    let blank = world.run(&["inbox"]).await;
    assert_eq!(blank.code, 0, "{blank:?}");
    assert!(blank.out.contains("has no pull request yet"), "{}", blank.out);
    assert!(!world.has_journal());

    world.done("src/b.rs:1", &["veto", "--reason", "A test can wait."]).await;
    world.done("src/a.rs:1", &["escalate", "--reason", "It crashes."]).await;
    let requests = world.simulator.request_count();
    let run = world.run(&["inbox", "--json"]).await;
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    assert_eq!(world.simulator.request_count(), requests, "no network");
    let document = run.json();
    let threads = document["threads"].as_array().unwrap();
    let places: Vec<&str> = threads.iter().map(|thread| thread["path"].as_str().unwrap()).collect();
    assert_eq!(places, ["src/a.rs", "src/b.rs"], "of one age and severity, by id");
    assert_eq!(threads[0]["why"], "dana escalated it: It crashes.");
    assert_eq!(threads[1]["why"], "dana stopped the argument: A test can wait.");
    let expected = [
        "repository",
        "number",
        "state",
        "age_seconds",
        "id",
        "reviewer",
        "status",
        "cause",
        "severity",
        "stance",
        "round_count",
        "flips",
        "cycles",
        "reopens",
        "returns",
        "queued",
        "handed_off",
        "legal",
        "path",
        "line",
        "title",
        "category",
        "url",
        "outdated",
        "why",
        "since",
        "reviewers",
        "others",
    ];
    assert_eq!(keys(&threads[0]), expected.into_iter().collect());
    assert_eq!((&threads[0]["reviewer"], &threads[0]["severity"]), (&json!("coderabbit"), &Value::Null));
    assert!(threads[0]["url"].as_str().unwrap().starts_with("https://"));

    let text = world.run(&["inbox", "acme/shop#1"]).await;
    assert!(text.out.starts_with("severity unknown  acme/shop#1  src/a.rs:1  "), "{}", text.out);
    assert!(
        text.out
            .contains("\n  dana escalated it: It crashes.\n  coderabbit, escalated (person), 0 of 2 rounds")
    );
    assert!(text.out.contains(" s ago\n"), "{}", text.out);
    let unknown = world.run(&["inbox", "acme/shop#9"]).await;
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.err.contains("acme/shop#9 is not in the journal yet; pass --fresh"), "{}", unknown.err);
}

/// U1: the inbox lists the worst first.
#[tokio::test]
async fn the_worst_comes_first_and_unknown_counts_as_high() {
    let world = World::new().await;
    let severe = r#"
        [[do]]
        review = { by = "coderabbitai", body = "More.", threads = [
            { name = "worst", path = "src/b.rs", line = 1, body = "_⚠️ Potential issue_ | _🔴 Critical_\n\n**Money is lost here.**\n\nIt is." },
            { name = "mild", path = "src/a.rs", line = 2, body = "_🧹 Nitpick_ | _🔵 Trivial_\n\n**Rename this variable please.**\n\nIt is." },
        ] }"#;
    world.simulator.perform_toml("acme/shop#1", severe).unwrap();
    let ids: Vec<String> = world.pull().threads.iter().map(|thread| thread.id.clone()).collect();
    for id in [&ids[5], &ids[0], &ids[4]] {
        world.done(id, &["veto", "--reason", "Enough."]).await;
    }
    let document = world.run(&["inbox", "--json"]).await.json();
    let found: Vec<(&str, &Value)> = document["threads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|thread| (thread["id"].as_str().unwrap(), &thread["severity"]))
        .collect();
    assert_eq!(found[0].0, ids[4], "{found:?}");
    assert_eq!((found[1].0, found[1].1), (ids[0].as_str(), &Value::Null), "{found:?}");
    assert_eq!(found[2].0, ids[5], "{found:?}");
    assert_eq!(found[0].1, "critical");
}

#[tokio::test]
async fn a_fresh_inbox_reads_github_first() {
    let world = World::new().await;
    world.done("src/a.rs:1", &["veto", "--reason", "Enough."]).await;
    let resolve = r#"do = [{ resolve = { by = "erin", thread = "first" } }]"#;
    world.simulator.perform_toml("acme/shop#1", resolve).unwrap();
    let waiting = async |how: &[&str]| {
        let run = world.run(&[&["inbox", "--json"], how].concat()).await;
        assert_eq!(run.code, 0, "{run:?}");
        run.json()["threads"].as_array().unwrap().len()
    };
    assert_eq!(waiting(&[]).await, 1);
    assert_eq!(waiting(&["--fresh"]).await, 0);
    assert_eq!(waiting(&[]).await, 0, "the snapshot is stored");
}

#[tokio::test]
async fn queued_findings_become_tasks_and_the_others_say_why_not() {
    let world = World::new().await;
    world.configure(
        "[handoff]\nmode = 'off'\n[[handoff.targets]]\nname = 'fixer'\nkind = 'issue'\n\
         [[handoff.routes]]\ntarget = 'fixer'\npaths = ['src/a.rs']\n",
    );
    let queue = async |what: &[&str]| {
        let run = world.run(&[&["queue"], what, &["--yes", "--json"]].concat()).await;
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
        run.json()
    };
    for place in ["src/a.rs:1", "src/a.rs:3", "src/b.rs:1"] {
        assert_eq!(queue(&["add", "acme/shop#1", place]).await["decision"]["recorded"], "now");
    }
    queue(&["remove", "acme/shop#1", "src/a.rs:3", "--reason", "By hand."]).await;
    assert_eq!(world.changes(), [""; 0]);

    let requests = world.simulator.request_count();
    let run = world.run(&["queue", "list", "--json"]).await;
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    assert_eq!(world.simulator.request_count(), requests, "no network");
    let document = run.json();
    let part = &document["pull_requests"][0];
    let ids: Vec<String> = world.pull().threads.iter().map(|thread| thread.id.clone()).collect();
    let tasks: Vec<(&Value, &Value, &Value)> = part["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| (&task["target"], &task["path"], &task["findings"]))
        .collect();
    let expected = [
        (&json!("default"), &json!("src/b.rs"), &json!([ids[2]])),
        (&json!("fixer"), &json!("src/a.rs"), &json!([ids[0]])),
    ];
    assert_eq!(tasks, expected);
    assert!(part["tasks"][0]["stuck"].as_str().unwrap().contains("give it a `kind`"));
    assert_eq!(part["tasks"][1]["stuck"], Value::Null);
    let findings = part["findings"].as_array().unwrap();
    let second = findings.iter().find(|finding| finding["thread"] == ids[1]).unwrap();
    assert_eq!((&second["goes"], &second["queued"]), (&json!(false), &json!(false)));
    assert_eq!(second["why"], "automatic handoff is off, and nobody queued it");
    assert!(findings.iter().any(|finding| finding["goes"] == true));

    let text = world.run(&["queue", "list", "acme/shop#1"]).await;
    assert_eq!(text.code, 0, "{text:?}");
    assert!(
        text.out.contains(&format!("\n  at merge, for fixer: src/a.rs, 1 finding ({})\n", ids[0])),
        "{}",
        text.out
    );
    assert!(!text.out.chars().any(|c| c != '\n' && is_hostile(c)));
}

/// H1, H4: after the merge the list shows the state of the tasks; a sent task is never sent again.
#[tokio::test]
async fn after_the_merge_the_list_shows_the_sent_tasks() {
    let world = World::new().await;
    world.configure(
        "[handoff]\n[[handoff.targets]]\nname = 'default'\nkind = 'issue'\n[policy]\npoll_interval = '1s'\n",
    );
    world.done("src/a.rs:1", &["queue"]).await;
    world.simulator.perform_toml("acme/shop#1", r#"do = [{ merge = { by = "erin" } }]"#).unwrap();
    let watched = world.run(&["watch", "--json", "acme/shop#1"]).await;
    assert_eq!(watched.code, 15, "{watched:?}");
    assert_eq!(world.simulator.issues().len(), 1);
    let document = world.run(&["queue", "list", "--json"]).await.json();
    let part = &document["pull_requests"][0];
    assert_eq!((&part["state"], &part["tasks"]), (&json!("merged"), &json!([])));
    assert_eq!(part["handoffs"][0]["state"], "sent");
    assert!(part["handoffs"][0]["url"].as_str().unwrap().starts_with("https://"));
    let refused = world.act("src/a.rs:1", &["queue"]).await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert_eq!(refused.json()["decision"]["refused"]["kind"], "already_handed_off");
}
