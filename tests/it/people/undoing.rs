//! T6: decisions, their echo from GitHub, and undoing them. Every step is a process of its own with a real poll.

use super::notifications::stub;
use super::world::World;
use cloture::simulator::{Fault, FaultKind};
use serde_json::{Value, json};
use std::time::Duration;

/// Accounts of the scenario act, a minute later.
fn play(world: &World, actions: &str) {
    world.simulator.advance(Duration::from_mins(1));
    world.simulator.perform_toml("acme/shop#1", &format!("do = [{actions}]")).unwrap();
}

/// The bot reviews two more heads and says nothing about its threads, so the round limit escalates them.
fn hold_until_the_limit(world: &World) {
    for n in 1..=2 {
        let push = format!(r#"{{ push = {{ by = "erin", files = {{ "notes.txt" = "{n}" }} }} }}"#);
        let review = r#"{ review = { by = "coderabbitai", body = "**Actionable comments posted: 0**" } }"#;
        play(world, &push);
        play(world, review);
    }
}

async fn first(world: &World) -> Value {
    world.thread("src/a.rs", 1).await
}

fn counters(thread: &Value) -> Value {
    let names = ["stance", "round_count", "flips", "cycles", "reopens", "returns"];
    names.iter().map(|name| thread[*name].clone()).collect()
}

#[tokio::test]
async fn t6_a_dismissal_stays_dismissed_with_its_counters_when_github_shows_it_resolved() {
    let world = World::new().await;
    hold_until_the_limit(&world);
    let before = first(&world).await;
    assert_eq!((&before["status"], &before["cause"]), (&json!("escalated"), &json!("round_limit")));
    world.done("src/a.rs:1", &["dismiss", "--reason", "Won't fix."]).await;
    assert!(world.pull().threads[0].resolved);
    for _ in 0..2 {
        let dismissed = first(&world).await;
        assert_eq!(dismissed["status"], "dismissed");
        assert_eq!(counters(&dismissed), counters(&before));
        // A supervisor polls, too, and records what it sees.
        world.run(&["watch", "--json", "--timeout", "1s", "acme/shop#1"]).await;
    }
    assert_eq!(world.records("resolved_there").await.len(), 0);
    assert_eq!(world.records("reopened").await.len(), 0);

    world.done("src/a.rs:1", &["return", "--reason", "We have time after all."]).await;
    assert!(!world.pull().threads[0].resolved);
    world.run(&["watch", "--json", "--timeout", "1s", "acme/shop#1"]).await;
    let returned = first(&world).await;
    assert_eq!((&returned["status"], &returned["returns"]), (&json!("open"), &json!(1)));
    assert_eq!(world.records("reopened").await.len(), 0, "its own echo is no second event");
}

#[tokio::test]
async fn t6_every_decision_can_be_undone_and_the_thread_is_as_it_was() {
    let waiting: [&[&str]; 4] = [
        &["dismiss", "--reason", "Won't fix."],
        &["uphold"],
        &["resolve", "--reason", "Done."],
        &["return", "--reason", "Once more."],
    ];
    let open: [&[&str]; 5] = [
        &["veto", "--reason", "Enough."],
        &["escalate", "--reason", "It is worse."],
        &["resolve"],
        &["queue"],
        &["unqueue"],
    ];
    for (limit, decisions) in [(true, &waiting[..]), (false, &open[..])] {
        let world = World::new().await;
        if limit {
            hold_until_the_limit(&world);
        }
        for decision in decisions {
            if decision[0] == "unqueue" {
                world.done("src/a.rs:1", &["queue"]).await;
            }
            let before = first(&world).await;
            world.done("src/a.rs:1", decision).await;
            let decided = first(&world).await;
            assert_ne!(decided, before, "{decision:?}");
            let undone = world.done("src/a.rs:1", &["undo"]).await;
            assert_eq!(undone["decision"]["recorded"], "now", "{decision:?}: {undone}");
            assert_eq!(first(&world).await, before, "{decision:?}");
            assert!(!world.pull().threads[0].resolved, "{decision:?}");
            world.run(&["watch", "--json", "--timeout", "1s", "acme/shop#1"]).await;
            assert_eq!(first(&world).await, before, "{decision:?}, after a supervisor has polled");
        }
    }
}

#[tokio::test]
async fn t6_undo_takes_back_one_decision_after_the_other_and_then_refuses() {
    let world = World::new().await;
    let open = first(&world).await;
    world.done("src/a.rs:1", &["veto", "--reason", "Enough."]).await;
    let vetoed = first(&world).await;
    world.done("src/a.rs:1", &["dismiss", "--reason", "No."]).await;
    world.done("src/a.rs:1", &["undo"]).await;
    assert_eq!(first(&world).await, vetoed);
    world.done("src/a.rs:1", &["undo"]).await;
    assert_eq!(first(&world).await, open);
    let refused = world.act("src/a.rs:1", &["undo"]).await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert_eq!(refused.json()["decision"]["refused"]["kind"], "nothing_to_undo");

    // What happened since is not undone.
    world.done("src/a.rs:1", &["veto", "--reason", "Enough."]).await;
    play(&world, r#"{ reply = { by = "erin", thread = "first", body = "Won't fix." } }"#);
    assert_eq!(first(&world).await["cause"], "wont_fix");
    let refused = world.act("src/a.rs:1", &["undo"]).await;
    assert_eq!(refused.json()["decision"]["refused"]["kind"], "nothing_to_undo", "{refused:?}");
}

/// An escalation after an undo tells the operator again.
#[tokio::test]
async fn t7_a_second_escalation_is_posted_again() {
    let world = World::new().await;
    for posted in 1..=2 {
        world.done("src/a.rs:1", &["escalate", "--reason", "It is worse."]).await;
        assert_eq!(world.changes().iter().filter(|what| *what == "reply").count(), posted);
        world.done("src/a.rs:1", &["undo"]).await;
    }
}

#[tokio::test]
async fn t6_an_upheld_finding_is_actionable_until_it_is_resolved() {
    let world = World::new().await;
    world.configure(
        "[policy]\npoll_interval = '1s'\n[[repositories]]\nname = 'acme/shop'\nreviewers = ['coderabbit']\n",
    );
    for place in ["src/a.rs:3", "src/b.rs:1"] {
        world.done(place, &["resolve"]).await;
    }
    world.done("src/a.rs:1", &["veto", "--reason", "Let me see."]).await;
    world.done("src/a.rs:1", &["uphold"]).await;
    let watched = world.run(&["watch", "--json", "acme/shop#1"]).await;
    assert_eq!(watched.code, 10, "there is something to fix: {watched:?}");
    world.done("src/a.rs:1", &["resolve"]).await;
    let watched = world.run(&["watch", "--json", "acme/shop#1"]).await;
    assert_eq!(watched.code, 0, "{watched:?}");
}

#[tokio::test]
async fn t6_a_driven_thread_is_dismissed_and_undone_over_a_real_poll() {
    const ANSWER: &str = r#"{"findings": [{"path": "src/a.rs", "line": 2, "end_line": 2, "title": "Two is empty",
     "body": "It does nothing at all.", "severity": "high", "category": "bug", "suggestion": null}], "summary": "One."}"#;
    let world = World::new().await;
    let command = stub(&world, &format!("cat > /dev/null\ncat <<'END'\n{ANSWER}\nEND"));
    world.configure(&format!(
        "[policy]\npoll_interval = '1s'\n[[reviewers]]\nname = 'orange'\nkind = 'program'\nprotocol = 'findings'\n\
         command = ['{command}']\n[[repositories]]\nname = 'acme/shop'\ndrive = true\nauthor = false\n\
         reviewers = ['orange']\n"
    ));
    world.run(&["watch", "--json", "acme/shop#1"]).await;
    let posted = world.pull().threads.into_iter().find(|thread| thread.comments[0].by == "dana").unwrap();
    let shown = async || {
        let run = world.run(&["status", "--json", "acme/shop#1"]).await;
        let threads = run.json()["pull_requests"][0]["threads"].as_array().unwrap().clone();
        threads.into_iter().find(|thread| thread["id"] == posted.id.as_str()).unwrap()
    };
    let is_resolved = || world.pull().threads.iter().any(|seen| seen.id == posted.id && seen.resolved);
    world.done(&posted.id, &["veto", "--reason", "Enough."]).await;
    let vetoed = shown().await;
    world.done(&posted.id, &["dismiss", "--reason", "It is meant so."]).await;
    world.run(&["watch", "--json", "--timeout", "2s", "acme/shop#1"]).await;
    assert_eq!(shown().await["status"], "dismissed");
    assert!(is_resolved());
    world.done(&posted.id, &["undo"]).await;
    assert!(!is_resolved());
    world.run(&["watch", "--json", "--timeout", "2s", "acme/shop#1"]).await;
    assert_eq!(shown().await, vetoed);
}

/// What tells a person goes first. A token that may not create labels costs the label and nothing else.
#[tokio::test]
async fn t7_a_refused_label_costs_neither_the_comment_nor_the_exit() {
    let world = World::new().await;
    world.configure("[operator]\nmention = '@acme/leads'\nlabel = 'needs-a-person'\n");
    let forbidden = FaultKind::Forbidden { message: "Resource not accessible by integration".to_owned() };
    world.simulator.inject(Fault::always("createLabel", forbidden));
    let told = world.done("src/a.rs:1", &["escalate", "--reason", "It is worse."]).await;
    assert_eq!(world.changes(), ["reply"]);
    let outcomes: Vec<&Value> = told["writes"].as_array().unwrap().iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, ["done", "not_done"]);
    assert_eq!(first(&world).await["status"], "escalated");
    let people = world
        .run(&["act", "acme/shop#1", "src/a.rs:1", "escalate", "--reason", "It is worse.", "--yes"])
        .await;
    assert_eq!(people.code, 0, "{people:?}");
    assert!(
        people.out.contains("Put the label \"needs-a-person\" on acme/shop#1. It was not done"),
        "{people:?}"
    );
}
