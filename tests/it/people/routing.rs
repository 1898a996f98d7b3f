//! `cloture queue`: which target a finding goes to, and that it does not go, as people say it and as they read it.

use super::world::World;
use crate::support::program::Run;
use serde_json::{Value, json};

const AUTOMATIC: &str = "[policy]\npoll_interval = '1s'\n[[repositories]]\nname = 'acme/shop'\ndrive = true\n\
    author = false\n[handoff]\nmode = 'full_auto'\n\
    [[handoff.targets]]\nname = 'default'\nkind = 'issue'\n\
    [[handoff.targets]]\nname = 'expert'\nkind = 'issue'\nlabels = ['expert']\n\
    [[handoff.targets]]\nname = 'nobody'\n";

async fn queue(world: &World, what: &[&str]) -> Run {
    world.run(&[&["queue"], what, &["--yes", "--json"]].concat()).await
}

/// What was decided, which must go well.
async fn decided(world: &World, what: &[&str]) -> Value {
    let run = queue(world, what).await;
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    assert_eq!(run.json()["writes"], json!([]), "nothing is written to the forge");
    run.json()["decision"].clone()
}

async fn finding(world: &World, number: usize) -> Value {
    let id = world.pull().threads[number].id.clone();
    let list = world.run(&["queue", "list", "--json"]).await.json();
    let findings = list["pull_requests"][0]["findings"].as_array().unwrap().clone();
    findings.into_iter().find(|finding| finding["thread"] == id.as_str()).unwrap()
}

#[tokio::test]
async fn what_would_go_by_itself_is_withheld_until_it_is_queued_again() {
    let world = World::new().await;
    world.configure(AUTOMATIC);
    let remove = ["remove", "acme/shop#1", "src/a.rs:1", "--reason", "By hand."];
    let told = decided(&world, &remove).await;
    assert_eq!((&told["verb"], &told["recorded"]), (&json!("remove"), &json!("now")));
    assert_eq!(
        told["sentence"],
        "Take the finding at src/a.rs:1 of acme/shop#1 off the list: it is not handed off unless somebody queues it \
         again. It would go by itself (everything unsettled is handed off at merge)."
    );
    let shown = finding(&world, 0).await;
    assert_eq!((&shown["withheld"], &shown["goes"]), (&json!(true), &json!(false)));
    assert_eq!(shown["why"], "taken off the list by a person: it stays unless somebody queues it");
    let again = decided(&world, &remove).await;
    assert_eq!(again["recorded"], "before");
    assert!(again["sentence"].as_str().unwrap().contains("is not handed off anyway: taken off the list"));
    let routed = world.records("routed").await;
    assert_eq!(routed.len(), 1);
    assert_eq!((&routed[0]["by"], &routed[0]["why"]), (&json!("dana"), &json!("By hand.")));
    assert_eq!(routed[0]["body"]["to"], "nowhere");

    let lifted = decided(&world, &["add", "acme/shop#1", "src/a.rs:1"]).await;
    assert!(lifted["sentence"].as_str().unwrap().contains("although somebody took it off the list"));
    let shown = finding(&world, 0).await;
    assert_eq!((&shown["withheld"], &shown["queued"]), (&json!(false), &json!(true)));

    // Queued and going by itself as well: taken off, it does not go; only unqueued, it does.
    let unqueued = world.done("src/a.rs:1", &["unqueue"]).await;
    let sentence = unqueued["decision"]["sentence"].as_str().unwrap();
    assert!(
        sentence
            .ends_with("off the queue; it goes all the same: everything unsettled is handed off at merge.")
    );
    assert_eq!(finding(&world, 0).await["goes"], true);
    decided(&world, &["add", "acme/shop#1", "src/a.rs:1"]).await;
    let told = decided(&world, &remove).await;
    let sentence = told["sentence"].as_str().unwrap();
    assert!(sentence.contains(" It is queued, and would go by itself ("), "{sentence}");
    let shown = finding(&world, 0).await;
    assert_eq!((&shown["withheld"], &shown["queued"]), (&json!(true), &json!(false)));
    let left = decided(&world, &["retarget", "acme/shop#1", "src/a.rs:1", "--as-configured"]).await;
    assert!(
        left["sentence"].as_str().unwrap().contains("to the rules, which send it to \"default\": everything")
    );
    assert_eq!(finding(&world, 0).await["goes"], true);
    let journal = world.run(&["journal", "--kind", "routed"]).await;
    assert!(journal.out.contains("  withhold ") && journal.out.contains("to the rules"), "{}", journal.out);
}

#[tokio::test]
async fn a_finding_goes_to_the_target_that_somebody_names_and_only_to_one_that_there_is() {
    let world = World::new().await;
    world.configure(AUTOMATIC);
    for what in [
        &["add", "acme/shop#1", "src/a.rs:1", "--target", "exprt"][..],
        &["retarget", "acme/shop#1", "src/a.rs:1", "exprt"],
    ] {
        let refused = queue(&world, what).await;
        assert_eq!(refused.code, 2, "{refused:?}");
        assert_eq!(refused.json()["decision"]["refused"]["kind"], "unknown_target");
        let names = "there is no target \"exprt\"; the configuration has \"default\", \"expert\", \"nobody\"";
        assert!(refused.err.contains(names), "{}", refused.err);
    }
    assert_eq!(world.records("routed").await.len(), 0);

    let to_expert = ["retarget", "acme/shop#1", "src/a.rs:1", "expert"];
    let told = decided(&world, &to_expert).await;
    assert_eq!((&told["verb"], &told["recorded"]), (&json!("retarget"), &json!("now")));
    assert_eq!(
        told["sentence"],
        "Hand the finding at src/a.rs:1 of acme/shop#1 to the target \"expert\" and not to \"default\" when the pull \
         request is merged."
    );
    assert_eq!(decided(&world, &to_expert).await["recorded"], "before");
    let nowhere = decided(&world, &["retarget", "acme/shop#1", "src/a.rs:3", "nobody"]).await;
    let sentence = nowhere["sentence"].as_str().unwrap();
    assert!(sentence.contains("As it stands nothing can be sent to the target \"nobody\""), "{sentence}");
    let added = decided(&world, &["add", "acme/shop#1", "src/a.rs:3", "--target", "expert"]).await;
    assert_eq!((&added["verb"], &added["recorded"]), (&json!("queue"), &json!("now")));
    let again = decided(&world, &["add", "acme/shop#1", "src/a.rs:3", "--target", "expert"]).await;
    assert_eq!(again["recorded"], "before");
    let shown = finding(&world, 1).await;
    assert_eq!(
        (&shown["queued"], &shown["target"], &shown["retargeted"]),
        (&json!(true), &json!("expert"), &json!(true))
    );
    let text = world.run(&["queue", "list"]).await.out;
    assert!(text.contains("at merge, for expert: src/a.rs, 2 findings ("), "{text}");
    assert!(text.contains("it will be handed off at merge; a person sent it to expert"), "{text}");

    let nothing = world.run(&["queue", "history"]).await;
    assert_eq!(
        (nothing.code, nothing.out.as_str()),
        (0, "The journal knows no task that was ever handed off.\n")
    );
    world.simulator.perform_toml("acme/shop#1", r#"do = [{ merge = { by = "erin" } }]"#).unwrap();
    let watched = world.run(&["watch", "--json", "acme/shop#1"]).await;
    assert_eq!(watched.code, 15, "{watched:?}");
    let issues = world.simulator.issues();
    let labels: Vec<String> = issues.iter().map(|issue| issue.labels.join(",")).collect();
    assert_eq!(labels, ["", "expert"]);
    let late = queue(&world, &["retarget", "acme/shop#1", "src/a.rs:1", "default"]).await;
    assert_eq!((late.code, &late.json()["decision"]["refused"]["kind"]), (2, &json!("already_handed_off")));
    let late = queue(&world, &["remove", "acme/shop#1", "src/a.rs:1"]).await;
    assert_eq!((late.code, &late.json()["decision"]["refused"]["kind"]), (2, &json!("already_handed_off")));

    let requests = world.simulator.request_count();
    let history = world.run(&["queue", "history", "--json"]).await;
    assert_eq!((history.code, history.err.as_str()), (0, ""), "{history:?}");
    assert_eq!(world.simulator.request_count(), requests, "no network");
    let document = history.json();
    let tasks = document["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 2);
    let task = &tasks[1];
    assert_eq!(
        (&task["target"], &task["path"], &task["state"]),
        (&json!("expert"), &json!("src/a.rs"), &json!("sent"))
    );
    assert_eq!(
        (&task["repository"], &task["number"], &task["tries"]),
        (&json!("acme/shop"), &json!(1), &json!(1))
    );
    assert_eq!(task["findings"].as_array().unwrap().len(), 2);
    assert_eq!(task["titles"].as_array().unwrap().len(), 2);
    assert!(task["url"].as_str().unwrap().starts_with("https://"));
    for there in ["host", "decided_at", "reason", "tried_at", "by", "key"] {
        assert!(task[there].is_string(), "{there}: {task}");
    }
    let newest = world.run(&["queue", "history", "acme/shop#1", "--limit", "1"]).await.out;
    assert!(newest.contains("  acme/shop#1  for default: src/b.rs, sent: https://"), "{newest}");
    assert!(newest.contains("\n  1 finding: ") && newest.contains("; try 1 by "), "{newest}");
    assert!(!newest.contains("expert"), "{newest}");
}

#[tokio::test]
async fn where_nothing_goes_by_itself_a_target_is_only_remembered_and_removing_says_so() {
    let world = World::new().await;
    world.configure("[[handoff.targets]]\nname = 'expert'\nkind = 'issue'\n");
    let told = decided(&world, &["remove", "acme/shop#1", "src/a.rs:1"]).await;
    assert_eq!(told["recorded"], Value::Null, "there is nothing to record");
    let anyway = "is not handed off anyway: automatic handoff is off, and nobody queued it.";
    assert!(told["sentence"].as_str().unwrap().ends_with(anyway), "{told}");
    let told = decided(&world, &["retarget", "acme/shop#1", "src/a.rs:1", "expert"]).await;
    let only_if =
        "if it is handed off; as it stands it is not: automatic handoff is off, and nobody queued it.";
    assert!(told["sentence"].as_str().unwrap().ends_with(only_if), "{told}");
    let shown = finding(&world, 0).await;
    assert_eq!((&shown["goes"], &shown["target"]), (&json!(false), &json!("expert")));
    let told = decided(&world, &["add", "acme/shop#1", "src/a.rs:1"]).await;
    assert!(told["sentence"].as_str().unwrap().contains("it is handed off to \"expert\" when"), "{told}");
    // What was queued is unqueued, and nothing else.
    let told = decided(&world, &["remove", "acme/shop#1", "src/a.rs:1"]).await;
    assert_eq!(told["sentence"], "Take the finding at src/a.rs:1 of acme/shop#1 off the queue.");
    let shown = finding(&world, 0).await;
    assert_eq!((&shown["queued"], &shown["withheld"]), (&json!(false), &json!(false)));

    world.done("src/a.rs:3", &["resolve"]).await;
    for what in
        [&["remove", "acme/shop#1", "src/a.rs:3"][..], &["retarget", "acme/shop#1", "src/a.rs:3", "expert"]]
    {
        let refused = queue(&world, what).await;
        assert_eq!(
            (refused.code, &refused.json()["decision"]["refused"]["kind"]),
            (2, &json!("already_settled"))
        );
    }
    let persons = queue(&world, &["retarget", "acme/shop#1", "src/a.rs:2", "expert"]).await;
    assert_eq!((persons.code, &persons.json()["decision"]["refused"]["kind"]), (2, &json!("unknown_thread")));
    for wrong in
        [&["retarget", "acme/shop#1", "src/a.rs:1"][..], &["retarget", "a/b#1", "t", "x", "--as-configured"]]
    {
        assert_eq!(queue(&world, wrong).await.code, 2);
    }
}
