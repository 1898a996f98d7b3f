//! Each verb: its effect on the server, its records in the journal, and when it is refused.

use super::world::World;
use serde_json::{Value, json};

fn refusal(run: &crate::support::program::Run) -> (i32, Value) {
    (run.code, run.json()["decision"]["refused"]["kind"].clone())
}

#[tokio::test]
async fn a_veto_stops_the_argument_and_writes_nothing() {
    let world = World::new().await;
    let told = world.done("src/a.rs:1", &["veto", "--reason", "Not worth it."]).await;
    assert_eq!(told["decision"]["recorded"], "now");
    assert_eq!(told["writes"], json!([]));
    assert_eq!(world.changes(), [""; 0]);
    let thread = world.thread("src/a.rs", 1).await;
    assert_eq!((&thread["status"], &thread["cause"]), (&json!("vetoed"), &json!("person")));
    let decided = world.records("decided").await;
    assert_eq!(decided.len(), 1);
    assert_eq!((&decided[0]["by"], &decided[0]["why"]), (&json!("dana"), &json!("Not worth it.")));
    assert_eq!((&decided[0]["number"], &decided[0]["body"]["verb"]), (&json!(1), &json!("veto")));

    let again = world.done("src/a.rs:1", &["veto", "--reason", "Not worth it."]).await;
    assert_eq!(again["decision"]["recorded"], "before");
    assert_eq!(world.records("decided").await.len(), 1);
}

#[tokio::test]
async fn an_escalation_reaches_the_operator_once_although_nothing_is_driven() {
    let world = World::new().await;
    world.configure("[operator]\nmention = '@acme/leads'\nlabel = 'needs-a-person'\n");
    for recorded in ["now", "before"] {
        let told = world.done("src/a.rs:1", &["escalate", "--reason", "It is worse."]).await;
        assert_eq!(told["decision"]["recorded"], recorded);
        assert_eq!(world.changes(), ["reply", "label"]);
    }
    let pull = world.pull();
    assert_eq!(pull.labels, ["needs-a-person"]);
    let said = &pull.threads[0].comments;
    assert_eq!(said.len(), 2);
    assert!(said[1].body.starts_with("@acme/leads This needs a person: "), "{}", said[1].body);
    assert!(said[1].body.contains("dana says: It is worse."), "{}", said[1].body);
    let thread = world.thread("src/a.rs", 1).await;
    assert_eq!((&thread["status"], &thread["cause"]), (&json!("escalated"), &json!("person")));
    // Each write has an intent and an outcome.
    assert_eq!((world.records("intent").await.len(), world.records("outcome").await.len()), (2, 2));
}

#[tokio::test]
async fn a_dismissal_resolves_with_its_reason_and_a_return_opens_it_again() {
    let world = World::new().await;
    world.done("src/a.rs:1", &["veto", "--reason", "Enough."]).await;
    world.done("src/a.rs:1", &["dismiss", "--reason", "Not in this release."]).await;
    assert_eq!(world.changes(), ["reply", "resolve"]);
    let first = &world.pull().threads[0];
    assert!(first.resolved && first.comments[1].body.starts_with("Not in this release."));
    assert_eq!(world.thread("src/a.rs", 1).await["status"], "dismissed");

    world.done("src/a.rs:1", &["return", "--reason", "We have time after all."]).await;
    assert_eq!(world.changes(), ["reply", "resolve", "unresolve"]);
    assert!(!world.pull().threads[0].resolved);
    let thread = world.thread("src/a.rs", 1).await;
    assert_eq!((&thread["status"], &thread["returns"]), (&json!("open"), &json!(1)));
    assert_eq!((&thread["stance"], &thread["round_count"]), (&Value::Null, &json!(0)));

    // The same decision later is another one.
    world.done("src/a.rs:1", &["veto", "--reason", "Enough."]).await;
    let told = world.done("src/a.rs:1", &["dismiss", "--reason", "Really not."]).await;
    assert_eq!(told["decision"]["recorded"], "now");
    assert!(world.pull().threads[0].resolved);
    assert_eq!(world.thread("src/a.rs", 1).await["returns"], 1);
}

#[tokio::test]
async fn upholding_keeps_the_finding_and_takes_it_out_of_the_inbox() {
    let world = World::new().await;
    world.done("src/a.rs:1", &["veto", "--reason", "Let me see."]).await;
    world.done("src/a.rs:1", &["uphold"]).await;
    assert_eq!(world.thread("src/a.rs", 1).await["status"], "upheld");
    assert_eq!(world.changes(), [""; 0]);
    let inbox = world.run(&["inbox", "--json"]).await;
    assert_eq!(inbox.json(), json!({"threads": [], "pull_requests": []}));
}

#[tokio::test]
async fn an_act_that_the_status_does_not_allow_is_refused_and_not_recorded() {
    let world = World::new().await;
    world.done("src/a.rs:3", &["resolve"]).await;
    world.done("src/b.rs:1", &["veto", "--reason", "Enough."]).await;
    let before = world.changes();
    for (place, what, kind) in [
        ("src/a.rs:3", &["veto", "--reason", "x"][..], "not_open"),
        ("src/a.rs:3", &["escalate", "--reason", "x"], "not_open"),
        ("src/b.rs:1", &["escalate", "--reason", "x"], "not_open"),
        ("src/a.rs:1", &["uphold"], "not_waiting"),
        ("src/a.rs:1", &["dismiss", "--reason", "x"], "not_waiting"),
        ("src/a.rs:1", &["return", "--reason", "x"], "not_waiting"),
        ("src/a.rs:3", &["queue"], "already_settled"),
        ("src/a.rs:2", &["veto", "--reason", "x"], "unknown_thread"),
    ] {
        let run = world.act(place, what).await;
        assert_eq!(refusal(&run), (2, json!(kind)), "{place} {what:?}: {run:?}");
        assert!(run.err.starts_with(&format!("cloture: nothing was done ({kind}): ")), "{}", run.err);
        assert_eq!(run.json()["decision"]["recorded"], Value::Null);
    }
    assert_eq!(world.changes(), before);
    assert_eq!(world.records("decided").await.len(), 2);
}

#[tokio::test]
async fn a_thread_that_somebody_else_resolved_is_settled() {
    let world = World::new().await;
    let resolve = r#"do = [{ resolve = { by = "erin", thread = "first" } }]"#;
    world.simulator.perform_toml("acme/shop#1", resolve).unwrap();
    let run = world.act("src/a.rs:1", &["resolve", "--reason", "Done."]).await;
    assert_eq!(refusal(&run), (2, json!("already_settled")), "{run:?}");
    assert_eq!(world.changes(), [""; 0]);
}

/// R3: opening a resolved thread again starts the argument afresh.
#[tokio::test]
async fn r3_unresolving_a_resolved_thread_counts_as_a_return() {
    let world = World::new().await;
    world.done("src/a.rs:1", &["resolve"]).await;
    assert_eq!(world.thread("src/a.rs", 1).await["status"], "resolved");
    world.done("src/a.rs:1", &["unresolve", "--reason", "It is still there."]).await;
    assert_eq!(world.changes(), ["resolve", "reply", "unresolve"]);
    let thread = world.thread("src/a.rs", 1).await;
    assert_eq!((&thread["status"], &thread["returns"]), (&json!("open"), &json!(1)));
    assert_eq!(world.records("reopened").await[0]["by"], "dana");
}

/// R3: no supervisor ran in between, but the stored snapshot has the thread resolved.
#[tokio::test]
async fn r3_a_thread_reopened_on_the_forge_is_open_for_the_next_act() {
    let world = World::new().await;
    world.done("src/a.rs:1", &["resolve"]).await;
    let reopen = r#"do = [{ unresolve = { by = "erin", thread = "first" } }]"#;
    world.simulator.perform_toml("acme/shop#1", reopen).unwrap();
    assert_eq!(world.thread("src/a.rs", 1).await["status"], "open");
    let told = world.done("src/a.rs:1", &["veto", "--reason", "Stop."]).await;
    assert_eq!(told["decision"]["recorded"], "now");
    assert_eq!(world.thread("src/a.rs", 1).await["status"], "vetoed");
}

#[tokio::test]
async fn a_persons_thread_is_resolved_and_answered_without_a_decision() {
    let world = World::new().await;
    let told = world.done("src/a.rs:2", &["resolve", "--reason", "Because."]).await;
    assert_eq!(told["decision"]["recorded"], Value::Null);
    world.done("src/a.rs:2", &["unresolve"]).await;
    world.done("src/a.rs:2", &["hide"]).await;
    assert_eq!(world.changes(), ["reply", "resolve", "unresolve", "minimize"]);
    assert_eq!(world.records("decided").await.len(), 0);
}

#[tokio::test]
async fn a_rehearsal_and_read_only_record_nothing() {
    let world = World::new().await;
    let veto = ["act", "acme/shop#1", "src/a.rs:1", "veto", "--reason", "Enough."];
    let rehearsed = world.run(&[&veto[..], &["--dry-run", "--json"]].concat()).await;
    assert_eq!(rehearsed.code, 0, "{rehearsed:?}");
    assert_eq!(rehearsed.json()["decision"]["recorded"], "rehearsed");
    assert_eq!(rehearsed.json()["dry_run"], true);
    let refused = world.run(&[&["--read-only"], &veto[..], &["--yes"]].concat()).await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(!world.has_journal(), "nothing is left behind");
    assert_eq!(world.thread("src/a.rs", 1).await["status"], "open");
    assert!(!world.has_journal(), "reading makes no journal");

    let people = world.run(&[&veto[..], &["--yes"]].concat()).await;
    let sentence =
        "Stop the argument at src/a.rs:1 of acme/shop#1: it waits in the inbox for dana. Recorded.\n";
    assert_eq!((people.code, people.out.as_str()), (0, sentence));
}
