//! Scenarios: their steps happen at the right time, and mistakes in them are refused with the line.

use std::time::Duration;

use cloture::simulator::{ClockMode, PullState, Scenario, SimulatedReviewState, Simulator, SimulatorOptions};
use serde_json::json;

use super::client::{Client, start};

#[tokio::test]
async fn the_converging_scenario_ends_with_every_thread_resolved() {
    let (simulator, _client) = start("converges").await;
    let pull = || simulator.pull_request("acme/shop#7").unwrap();
    assert_eq!(pull().threads.len(), 0);
    simulator.advance(Duration::from_mins(1));
    assert_eq!(pull().threads.iter().filter(|thread| !thread.resolved).count(), 2);
    let first_head = pull().head;
    simulator.advance(Duration::from_mins(8));
    assert_ne!(pull().head, first_head);
    assert!(pull().threads.iter().all(|thread| thread.outdated), "both fixes touched their lines");
    simulator.advance(Duration::from_secs(90));
    let pull = pull();
    assert!(pull.threads.iter().all(|thread| thread.resolved_by.as_deref() == Some("coderabbitai")));
    assert!(
        pull.threads[1].comments[0].body.contains(&format!("✅ Addressed in commit {}", &pull.head[..7]))
    );
    assert_eq!(pull.reviews.last().unwrap().state, SimulatedReviewState::Approved);
    assert_eq!(simulator.problems(), [""; 0]);
}

#[tokio::test]
async fn the_stubborn_and_the_alternating_reviewer_go_on_until_the_script_ends() {
    let (simulator, _client) = start("never_yields").await;
    simulator.advance(Duration::from_hours(1));
    let pull = simulator.pull_request("acme/shop#12").unwrap();
    assert_eq!(pull.threads.len(), 4, "the first and three repetitions");
    let insisted = pull.threads[0].comments.iter().filter(|c| c.by == "chatgpt-codex-connector").count();
    assert_eq!(insisted, 4);
    assert_eq!(simulator.problems(), [""; 0]);

    let (simulator, _client) = start("alternates").await;
    simulator.advance(Duration::from_hours(1));
    let pull = simulator.pull_request("acme/shop#21").unwrap();
    let accepted: Vec<bool> =
        pull.threads[0].comments[1..].iter().map(|c| c.body.starts_with("Looks resolved")).collect();
    assert_eq!(accepted, [true, false, true, false, true, false, true]);
    assert_eq!(simulator.problems(), [""; 0]);
}

#[tokio::test]
async fn one_large_step_of_time_equals_many_small_ones() {
    let (at_once, _client) = start("never_yields").await;
    let (in_steps, _client) = start("never_yields").await;
    at_once.advance(Duration::from_mins(30));
    for _ in 0..1_800 {
        in_steps.advance(Duration::from_secs(1));
    }
    assert_eq!(at_once.snapshot(), in_steps.snapshot());
}

#[tokio::test]
async fn a_bot_reacts_to_a_mention_and_to_a_review_request() {
    let text = format!(
        "{}{}",
        include_str!("../../../assets/scenarios/quiet.toml"),
        r#"
[[step]]
on = { event = "mention", of = "coderabbitai", contains = "review" }
delay = "30s"
times = 1
[[step.do]]
review = { by = "coderabbitai", body = "Asked by mention." }

[[step]]
on = { event = "review_requested", of = "coderabbitai" }
[[step.do]]
review = { by = "coderabbitai", body = "Asked by request." }

[[step]]
on = { event = "merged" }
[[step.do]]
comment = { by = "erin", body = "Thank you, number {number} is in." }
"#
    );
    let scenario = Scenario::parse(&text, "asked.toml").unwrap();
    let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
    let client = Client::of(&simulator);
    let reviews = || simulator.pull_request("acme/shop#1").unwrap().reviews;
    let comment = "mutation { addComment(input: { subjectId: \"PR_1\", body: \"@coderabbitai review\" }) { subject { id } } }";
    client.data(comment, json!({})).await;
    assert_eq!(reviews().len(), 0);
    simulator.advance(Duration::from_secs(30));
    assert_eq!(reviews().last().unwrap().body, "Asked by mention.");
    let ask = json!({ "reviewers": ["coderabbitai[bot]"] });
    client.send("POST", "/repos/acme/shop/pulls/1/requested_reviewers", Some(ask)).await.unwrap();
    assert_eq!(
        reviews().last().unwrap().body,
        "Asked by request.",
        "without a delay the review is there at once"
    );
    client.data(comment, json!({})).await;
    simulator.advance(Duration::from_secs(30));
    assert_eq!(reviews().len(), 2, "`times = 1`");
    simulator.perform_toml("acme/shop#1", "do = [{ merge = { by = \"erin\" } }]").unwrap();
    simulator
        .perform_toml("acme/shop#1", "do = [{ comment = { by = \"dana\", body = \"Good.\" } }]")
        .unwrap();
    let pull = simulator.pull_request("acme/shop#1").unwrap();
    assert_eq!(pull.state, PullState::Merged);
    let authors: Vec<&str> = pull.comments.iter().map(|comment| comment.by.as_str()).collect();
    assert_eq!(authors, ["dana", "dana", "dana"], "erin does not answer her own merge");
    assert_eq!(simulator.post_count(), 3, "scripted actions are no posts");
}

#[tokio::test]
async fn a_pull_request_can_open_later() {
    let text = format!(
        "{}{}",
        include_str!("../../../assets/scenarios/quiet.toml"),
        r#"
[[pull_request]]
repository = "acme/shop"
number = 2
repeat = 2
title = "Later, {n}"
author = "erin"
created = "10m"
files = { "new-{n}.md" = "New." }

[[step]]
on = { event = "opened", repository = "acme/shop" }
delay = "1m"
[[step.do]]
review = { by = "coderabbitai", body = "Saw number {number}." }

[[step]]
at = "20m"
pull_request = "acme/shop#*"
[[step.do]]
close = { by = "dana" }
"#
    );
    let simulator =
        Simulator::start(&Scenario::parse(&text, "later.toml").unwrap(), SimulatorOptions::default())
            .await
            .unwrap();
    assert!(simulator.pull_request("acme/shop#2").is_none());
    simulator.advance(Duration::from_mins(11));
    assert_eq!(simulator.pull_request("acme/shop#3").unwrap().reviews[0].body, "Saw number 3.");
    simulator.advance(Duration::from_mins(9));
    let states: Vec<_> = simulator.snapshot().pull_requests.iter().map(|pull| pull.state).collect();
    assert_eq!(states, [PullState::Closed; 3]);
    assert_eq!(simulator.problems(), [""; 0]);
}

#[tokio::test]
async fn a_test_can_wait_for_a_client_in_the_background() {
    let (simulator, client) = start("quiet").await;
    let comment = "mutation { addComment(input: { subjectId: \"PR_1\", body: \"Hi\" }) { subject { id } } }";
    let posting = tokio::spawn(async move { client.data(comment, json!({})).await });
    simulator.wait_until(|simulator| !simulator.posts().is_empty()).await;
    posting.await.unwrap();
}

/// 500 pull requests with 40 threads each, read in light batches.
#[tokio::test]
async fn five_hundred_pull_requests_cost_thirteen_points() {
    let text = include_str!("../../../assets/scenarios/big.toml")
        .replace("repeat = 150", "repeat = 500")
        .replace("pull_request = \"acme/shop#1\"", "pull_request = \"acme/shop#*\"")
        .replace("repeat = 250, path", "repeat = 40, path")
        .replace("repeat = 249", "repeat = 1")
        .replace("repeat = 250", "repeat = 1");
    let simulator =
        Simulator::start(&Scenario::parse(&text, "many.toml").unwrap(), SimulatorOptions::default())
            .await
            .unwrap();
    let client = Client::of(&simulator);
    let query = "query Light($ids: [ID!]!) { rateLimit { cost } nodes(ids: $ids) { ... on PullRequest { id headRefOid updatedAt
        reviewThreads(first: 100) { totalCount nodes { id isResolved isOutdated } }
        reviews(last: 1) { nodes { id } } comments(last: 1) { nodes { id updatedAt } } } } }";
    for batch in 0..13 {
        let ids: Vec<String> =
            (batch * 40..(batch + 1) * 40).filter(|n| *n < 500).map(|n| format!("PR_{}", n + 1)).collect();
        let data = client.data(query, json!({ "ids": ids })).await;
        assert_eq!(data["nodes"][0]["reviewThreads"]["totalCount"], 40);
    }
    assert_eq!(simulator.points(), 13);
}

#[tokio::test]
async fn a_running_clock_plays_the_script_by_itself() {
    let scenario = Scenario::built_in("converges").unwrap();
    // So fast that the whole scenario is over between two reads of the clock.
    let options =
        SimulatorOptions { clock: ClockMode::Running { speed: 1e9 }, ..SimulatorOptions::default() };
    let simulator = Simulator::start(&scenario, options).await.unwrap();
    let started = simulator.now();
    while simulator.now() <= started + jiff::SignedDuration::from_hours(1) {
        tokio::task::yield_now().await;
    }
    assert!(simulator.pull_request("acme/shop#7").unwrap().threads.iter().all(|thread| thread.resolved));
}

#[tokio::test]
async fn serve_reports_its_address_and_stops_on_shutdown() {
    let scenario = Scenario::built_in("quiet").unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (send_url, receive_url) = tokio::sync::oneshot::channel();
    let ready = move |url: &str| send_url.send(url.to_owned()).unwrap();
    let serving = tokio::spawn(async move {
        let shutdown = async move { stopped.await.unwrap() };
        cloture::simulator::serve(0, &scenario, ready, shutdown).await
    });
    let url = receive_url.await.unwrap();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let taken = url.rsplit(':').next().unwrap().parse().unwrap();
    let scenario = Scenario::built_in("quiet").unwrap();
    let second = cloture::simulator::serve(taken, &scenario, |_| {}, async {}).await.unwrap_err();
    assert!(second.to_string().starts_with(&format!("cannot listen on 127.0.0.1:{taken}")), "{second}");
    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_dropped_simulator_stops() {
    let (simulator, client) = start("quiet").await;
    client.data("{ viewer { login } }", json!({})).await;
    drop(simulator);
    while client.send("GET", "/user", None).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn every_built_in_scenario_is_valid() {
    for name in Scenario::built_in_names() {
        Scenario::built_in(name).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(Scenario::built_in("nonsense").unwrap_err().to_string().contains("converges"));
}

#[test]
fn a_mistake_in_a_scenario_is_refused_with_file_and_line() {
    let base = include_str!("../../../assets/scenarios/quiet.toml");
    let lines = base.lines().count();
    let refused =
        |addition: &str| Scenario::parse(&format!("{base}{addition}"), "s.toml").unwrap_err().to_string();
    let step = |on: &str, action: &str| format!("\n[[step]]\n{on}\n[[step.do]]\n{action}\n");
    let at = "at = \"1m\"\npull_request = \"acme/shop#1\"";
    for (addition, line, message) in [
        (step(at, "comment = { by = \"nobody\", body = \"x\" }"), lines + 2, "there is no account `nobody`"),
        (step(at, "coment = { by = \"erin\" }"), lines + 6, "unknown variant `coment`"),
        (step(at, "comment = { by = \"erin\", boddy = \"x\" }"), lines + 6, "unknown field `boddy`"),
        (
            step(at, "resolve = { by = \"erin\", thread = \"t9\" }"),
            lines + 2,
            "no review opens a thread named `t9`",
        ),
        (
            step("at = \"1m\"", "merge = { by = \"erin\" }"),
            lines + 2,
            "a step with `at` needs `pull_request`",
        ),
        (step("delay = \"1m\"", "merge = { by = \"erin\" }"), lines + 2, "a step needs `at` or `on`"),
        (
            step(&at.replace("#1", "#2"), "merge = { by = \"erin\" }"),
            lines + 2,
            "there is no pull request `acme/shop#2`",
        ),
        (
            step(at, "comment = { by = \"erin\", body_file = \"x.md\" }"),
            lines + 2,
            "works only in a scenario file",
        ),
        ("\n[[account]]\nlogin = \"dana\"\n".to_owned(), lines + 2, "the account `dana` is defined twice"),
    ] {
        let error = refused(&addition);
        assert!(
            error.starts_with(&format!("s.toml:{line}: ")) && error.contains(message),
            "{error} / {line} {message}"
        );
    }
}

#[test]
fn a_body_can_come_from_a_file_beside_the_scenario() {
    let folder = std::env::temp_dir().join(format!("cloture-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let step = "\n[[step]]\nat = \"0s\"\npull_request = \"acme/shop#1\"\n[[step.do]]\ncomment = { by = \"erin\", body_file = \"b.md\" }\n";
    let text = format!("{}{step}", include_str!("../../../assets/scenarios/quiet.toml"));
    std::fs::write(folder.join("s.toml"), text).unwrap();
    let missing = Scenario::load(&folder.join("s.toml")).unwrap_err().to_string();
    assert!(missing.contains("cannot read `b.md`"), "{missing}");
    std::fs::write(folder.join("b.md"), "From a file.").unwrap();
    let scenario = Scenario::load(&folder.join("s.toml")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
        assert_eq!(simulator.pull_request("acme/shop#1").unwrap().comments[0].body, "From a file.");
    });
}
