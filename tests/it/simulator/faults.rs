//! Injected faults, as a client sees them.

use std::time::Duration;

use cloture::simulator::{Fault, FaultKind};
use serde_json::json;

use super::client::start;

const COMMENT: &str =
    "mutation PostComment { addComment(input: { subjectId: \"PR_1\", body: \"Hi\" }) { subject { id } } }";

#[tokio::test]
async fn a_dropped_request_takes_effect_only_with_drop_after() {
    let (simulator, client) = start("quiet").await;
    simulator.inject(Fault::once("addComment", FaultKind::DropBefore));
    client.post(COMMENT, json!({})).await.unwrap_err();
    assert_eq!(simulator.post_count(), 0);
    simulator.inject(Fault::once("PostComment", FaultKind::DropAfter));
    client.post(COMMENT, json!({})).await.unwrap_err();
    assert_eq!(simulator.post_count(), 1);
    client.data(COMMENT, json!({})).await;
    let outcomes: Vec<_> =
        simulator.requests().into_iter().map(|record| (record.status, record.outcome)).collect();
    assert_eq!(
        outcomes,
        [(None, "fault: drop_before".into()), (None, "fault: drop_after".into()), (Some(200), "ok".into())]
    );
}

#[tokio::test]
async fn a_fault_has_the_status_body_and_headers_that_github_sends() {
    let (simulator, client) = start("quiet").await;
    let provoke = async |kind: FaultKind| {
        simulator.inject(Fault::once("writes", kind));
        client.post(COMMENT, json!({})).await.unwrap()
    };
    let error = provoke(FaultKind::Status { status: 500, message: String::new(), takes_effect: false }).await;
    assert_eq!(error.status, 500);
    let gateway = provoke(FaultKind::BadGateway { takes_effect: true }).await;
    assert_eq!((gateway.status, gateway.header("content-type")), (502, "text/html"));
    assert!(gateway.text.starts_with("<html>"));
    assert_eq!(simulator.post_count(), 1, "only the write behind the gateway took effect");
    let truncated = provoke(FaultKind::Truncated).await;
    assert_eq!(truncated.status, 200);
    assert!(serde_json::from_str::<serde_json::Value>(&truncated.text).is_err());
    assert_eq!(simulator.post_count(), 2);
    assert_eq!(provoke(FaultKind::Unauthorized).await.json()["message"], "Bad credentials");
    let denied =
        provoke(FaultKind::Forbidden { message: "Resource not accessible by integration".into() }).await;
    assert_eq!(
        (denied.status, denied.json()["message"].clone()),
        (403, json!("Resource not accessible by integration"))
    );
    assert_eq!(provoke(FaultKind::NotFound).await.status, 404);
    let secondary = provoke(FaultKind::SecondaryLimit { retry_after: 7, as_success: false }).await;
    assert_eq!((secondary.status, secondary.header("retry-after")), (403, "7"));
    let secondary = provoke(FaultKind::SecondaryLimit { retry_after: 7, as_success: true }).await;
    assert_eq!((secondary.status, secondary.header("retry-after")), (200, "7"));
    let primary = provoke(FaultKind::PrimaryLimit { reset_in: 30, error_type: "RATE_LIMIT".into() }).await;
    assert_eq!((primary.status, primary.header("x-ratelimit-remaining")), (200, "0"));
    assert_eq!(primary.json()["errors"][0]["type"], "RATE_LIMIT");
    let reset: i64 = primary.header("x-ratelimit-reset").parse().unwrap();
    assert_eq!(reset - simulator.now().as_second(), 30);
    assert_eq!(simulator.post_count(), 2);
}

#[tokio::test]
async fn an_answer_can_be_cut_off_slow_endless_or_partial() {
    let (simulator, client) = start("quiet").await;
    let read = "query Read { viewer { login } repository(owner: \"acme\", name: \"shop\") { name } }";
    simulator.inject(Fault::nth("Read", 2, FaultKind::CutOff));
    client.data(read, json!({})).await;
    client.post(read, json!({})).await.unwrap_err();
    simulator.clear_faults();
    simulator.inject(Fault::once("reads", FaultKind::Trickle { millis: 1 }));
    client.data(read, json!({})).await;
    let patience = Duration::from_millis(50);
    for kind in [FaultKind::Slow { millis: 60_000 }, FaultKind::Endless { millis: 1 }] {
        simulator.inject(Fault::once("graphql", kind));
        tokio::time::timeout(patience, client.post(read, json!({}))).await.unwrap_err();
    }
    simulator.clear_faults();
    let path = vec![json!("repository")];
    simulator.inject(Fault::once(
        "*",
        FaultKind::Partial { path, error_type: "FORBIDDEN".into(), message: "no".into() },
    ));
    let answer = client.query(read, json!({})).await;
    assert_eq!(answer["data"], json!({ "viewer": { "login": "dana" }, "repository": null }));
    assert_eq!(answer["errors"], json!([{ "type": "FORBIDDEN", "path": ["repository"], "message": "no" }]));
}

#[tokio::test]
async fn a_client_can_be_killed_before_or_after_its_write_takes_effect() {
    for (kind, posts) in [(FaultKind::Stall { millis: 60_000 }, 0), (FaultKind::Slow { millis: 60_000 }, 1)] {
        let (simulator, client) = start("quiet").await;
        simulator.inject(Fault::once("writes", kind));
        let writing = tokio::spawn(async move { client.post(COMMENT, json!({})).await });
        simulator.wait_until(|simulator| simulator.request_count() == 1).await;
        writing.abort();
        assert!(writing.await.unwrap_err().is_cancelled());
        assert_eq!(simulator.post_count(), posts);
    }
}

#[tokio::test]
async fn another_process_controls_the_simulator_over_http() {
    let (simulator, mut client) = start("quiet").await;
    client.token = None;
    let fault = json!({ "on": "POST /repos/{owner}/{repo}/dispatches", "kind": "drop_before" });
    let installed = client.send("POST", "/_simulator/faults", Some(fault)).await.unwrap();
    assert_eq!(installed.json(), json!({ "installed": 1 }));
    let wrong =
        client.send("POST", "/_simulator/faults", Some(json!({ "kind": "drop_never" }))).await.unwrap();
    assert_eq!(wrong.status, 400);
    assert!(wrong.text.contains("drop_never"), "{}", wrong.text);
    client.token = Some("any".to_owned());
    let event = json!({ "event_type": "t" });
    client.send("POST", "/repos/acme/shop/dispatches", Some(event.clone())).await.unwrap_err();
    assert_eq!(client.send("POST", "/repos/acme/shop/dispatches", Some(event)).await.unwrap().status, 204);
    let clock = client.send("POST", "/_simulator/clock", Some(json!({ "advance": "90s" }))).await.unwrap();
    assert_eq!(clock.json(), json!({ "now": "2026-03-02T09:01:30Z" }));
    let act = json!({ "pull_request": "acme/shop#1", "do": [{ "comment": { "by": "erin", "body": "Hi" } }] });
    assert_eq!(client.send("POST", "/_simulator/actions", Some(act)).await.unwrap().status, 200);
    let state = client.send("GET", "/_simulator/state", None).await.unwrap().json();
    assert_eq!(state["pull_requests"][0]["comments"][0]["body"], "Hi");
    assert_eq!(state["posts"][0]["what"], "dispatch");
    assert_eq!(
        client.send("GET", "/_simulator/requests", None).await.unwrap().json().as_array().unwrap().len(),
        2
    );
    assert_eq!(simulator.snapshot().posts.len(), 1);
}
