//! Rate limits: points, nodes and the secondary limits, as GitHub documents them, in virtual time.

use std::time::Duration;

use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use serde_json::json;

use super::client::{Client, start};

async fn limited(limits: &str) -> (Simulator, Client) {
    let text = format!("{}\n[limits]\n{limits}", include_str!("../../../assets/scenarios/quiet.toml"));
    let scenario = Scenario::parse(&text, "limited.toml").unwrap();
    let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
    let client = Client::of(&simulator);
    (simulator, client)
}

const COMMENT: &str =
    "mutation Comment { addComment(input: { subjectId: \"PR_1\", body: \"Hi\" }) { subject { id } } }";

#[tokio::test]
async fn the_headers_the_answer_and_the_log_show_the_points() {
    let (simulator, client) = start("quiet").await;
    let query = "query Costly { rateLimit { cost nodeCount remaining }
        repository(owner: \"acme\", name: \"shop\") { pullRequests(first: 100) { nodes {
            reviewThreads(first: 50) { nodes { comments(first: 60) { nodes { id } } } } } } } }";
    let answer = client.post(query, json!({})).await.unwrap();
    assert_eq!(
        answer.json()["data"]["rateLimit"],
        json!({ "cost": 51, "nodeCount": 305_100, "remaining": 4_949 })
    );
    assert_eq!(answer.header("x-ratelimit-remaining"), "4949");
    assert_eq!(answer.header("x-ratelimit-used"), "51");
    assert_eq!(answer.header("x-ratelimit-resource"), "graphql");
    assert_eq!(answer.header("date"), "Mon, 02 Mar 2026 09:00:00 GMT");
    assert_eq!(simulator.points(), 51);
    let record = &simulator.requests()[0];
    assert_eq!((record.operation.as_str(), record.points, record.outcome.as_str()), ("Costly", 51, "ok"));
    assert_eq!(record.by.as_deref(), Some("dana"));
}

#[tokio::test]
async fn a_query_for_too_many_nodes_is_refused() {
    let (_simulator, client) = start("quiet").await;
    let query = "{ repository(owner: \"acme\", name: \"shop\") { pullRequests(first: 100) { nodes {
        reviewThreads(first: 100) { nodes { comments(first: 100) { nodes { id } } } } } } } }";
    let answer = client.query(query, json!({})).await;
    assert_eq!(answer["errors"][0]["type"], "MAX_NODE_LIMIT_EXCEEDED");
    assert!(answer.get("data").is_none());
}

#[tokio::test]
async fn a_spent_hourly_budget_answers_200_with_an_error_until_the_reset() {
    let (simulator, client) = limited("graphql_points_per_hour = 2").await;
    for _ in 0..2 {
        client.data("{ viewer { login } }", json!({})).await;
    }
    let answer = client.post("{ viewer { login } }", json!({})).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["errors"][0]["type"], "RATE_LIMITED");
    assert_eq!(answer.header("x-ratelimit-remaining"), "0");
    let reset: i64 = answer.header("x-ratelimit-reset").parse().unwrap();
    assert_eq!(reset - simulator.now().as_second(), 3_600);
    simulator.advance(Duration::from_hours(1));
    client.data("{ viewer { login } }", json!({})).await;
    assert_eq!(simulator.points(), 3, "a refused request costs nothing");
}

#[tokio::test]
async fn creating_content_too_fast_meets_the_secondary_limit() {
    let (simulator, client) = limited("content_per_minute = 2").await;
    for _ in 0..2 {
        client.data(COMMENT, json!({})).await;
    }
    let answer = client.post(COMMENT, json!({})).await.unwrap();
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("retry-after"), "60");
    assert!(answer.json()["message"].as_str().unwrap().contains("secondary rate limit"));
    client.data("{ viewer { login } }", json!({})).await;
    simulator.advance(Duration::from_mins(1));
    client.data(COMMENT, json!({})).await;
    assert_eq!(simulator.post_count(), 3);
}
