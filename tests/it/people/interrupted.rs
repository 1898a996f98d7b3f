//! A command that is killed between the record and the write can be run again.

use super::world::World;
use cloture::simulator::{Fault, FaultKind};
use serde_json::json;
use std::process::Stdio;

/// Kills a command after it has sent this write, which the server never carries out.
async fn killed(world: &World, aim: &str, what: &[&str]) {
    world.simulator.inject(Fault::always(aim, FaultKind::Slow { millis: 600_000 }));
    let command = [&["act", "acme/shop#1", "src/a.rs:1"], what, &["--yes"]].concat();
    let mut child = world.command(&command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_slow = |request: &cloture::simulator::RequestRecord| request.outcome == "fault: slow";
    world.simulator.wait_until(|it| it.any_request(is_slow)).await;
    child.kill().await.unwrap();
    world.simulator.clear_faults();
}

#[tokio::test]
async fn a_dismissal_is_finished_and_recorded_once() {
    let world = World::new().await;
    world.done("src/a.rs:1", &["veto", "--reason", "Enough."]).await;
    let dismiss = ["dismiss", "--reason", "Not now."];
    killed(&world, "addPullRequestReviewThreadReply", &dismiss).await;
    assert_eq!(world.thread("src/a.rs", 1).await["status"], "dismissed", "it is recorded");
    for _ in 0..2 {
        let told = world.done("src/a.rs:1", &dismiss).await;
        assert_eq!(told["decision"]["recorded"], "before");
        assert_eq!(world.changes(), ["reply", "resolve"]);
        assert!(world.pull().threads[0].resolved);
    }
    assert_eq!(world.records("decided").await.len(), 2);
}

#[tokio::test]
async fn a_return_is_finished_although_the_forge_still_shows_it_resolved() {
    let world = World::new().await;
    world.done("src/a.rs:1", &["veto", "--reason", "Enough."]).await;
    world.done("src/a.rs:1", &["dismiss", "--reason", "Not now."]).await;
    let back = ["return", "--reason", "Now."];
    let unresolve = "unresolveReviewThread";
    world.simulator.inject(Fault::always(unresolve, FaultKind::Unauthorized));
    let refused = world.act("src/a.rs:1", &back).await;
    assert_eq!(refused.code, 4, "{refused:?}");
    world.simulator.clear_faults();
    assert!(world.pull().threads[0].resolved);
    let told = world.done("src/a.rs:1", &back).await;
    assert_eq!(told["decision"]["recorded"], "before");
    assert!(!world.pull().threads[0].resolved);
    let thread = world.thread("src/a.rs", 1).await;
    assert_eq!((&thread["status"], &thread["returns"]), (&json!("open"), &json!(1)));
    let again = world.done("src/a.rs:1", &back).await;
    assert_eq!(again["decision"]["recorded"], "before");
    assert_eq!(world.changes(), ["reply", "resolve", "unresolve"]);
}

#[tokio::test]
async fn an_escalation_is_finished() {
    let world = World::new().await;
    let escalate = ["escalate", "--reason", "Look."];
    world.configure("[operator]\nmention = '@acme/leads'\nlabel = 'stuck'\n");
    killed(&world, "addPullRequestReviewThreadReply", &escalate).await;
    let told = world.done("src/a.rs:1", &escalate).await;
    assert_eq!(told["decision"]["recorded"], "before");
    assert_eq!(world.changes(), ["reply", "label"]);
}
