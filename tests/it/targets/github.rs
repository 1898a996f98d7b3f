//! Tasks as GitHub writes, against the simulator.

use super::{Delivery, DeliveryOutcome, PULL_REQUEST, at_once, document, target};
use crate::support::simulated::{PATIENT, address, client, start};
use cloture::agents::targets::{Backoff, RetryDecision, prepare};
use cloture::github::write::{PullRequestTarget, WriteKey};
use cloture::github::{Client, Writer};
use cloture::simulator::{Fault, FaultKind, Scenario, Simulator};

async fn simulator() -> Simulator {
    let world = r#"
title = "A merged pull request"
start = "2026-03-02T09:00:00Z"
viewer = "dana"
account = [{ login = "dana" }, { login = "erin" }]
[[repository]]
name = "acme/shop"
members = { dana = "owner", erin = "collaborator" }
labels = ["ai-fix"]
files = { "src/a.rs" = "fn one() {}\n" }
[[repository]]
name = "acme/tasks"
members = { dana = "owner", erin = "collaborator" }
labels = ["ai-fix"]
"#;
    let steps = r#"
files = { "src/a.rs" = "fn one() { two() }\n" }
[[step]]
at = "-20m"
pull_request = "acme/shop#7"
[[step.do]]
merge = { by = "erin" }
"#;
    let scenario = [world, PULL_REQUEST, steps].concat();
    start(&Scenario::parse(&scenario, "merged.toml").unwrap()).await
}

fn delivery(simulator: &Simulator, keys: &str) -> Delivery {
    let node_id = simulator.pull_request("acme/shop#7").unwrap().id;
    let on = PullRequestTarget { address: address("acme/shop", 7), node_id };
    prepare(&document(), &target(keys), &on).unwrap()
}

async fn send(client: &Client, delivery: &Delivery) -> DeliveryOutcome {
    delivery.send(&Writer::new(client, at_once()), &|_| None, &|| jiff::Timestamp::UNIX_EPOCH).await
}

const ISSUE: &str = "kind = 'issue'\nrepository = 'acme/tasks'\nlabels = ['ai-fix']\nassignees = ['erin']";
const COMMENT: &str = "kind = 'comment'\nbody = '@agent fix these'";
const DISPATCH: &str = "kind = 'repository_dispatch'\nevent_type = 'cloture-fix'";

/// How many times GitHub has the task.
fn count(simulator: &Simulator) -> usize {
    let key = WriteKey::new(&document().key).unwrap();
    let issues = simulator.issues().iter().filter(|issue| key.marks(&issue.body)).count();
    let pull = simulator.pull_request("acme/shop#7").unwrap();
    let comments = pull.comments.iter().filter(|comment| key.marks(&comment.body)).count();
    let events = simulator.dispatches();
    let events = events.iter().filter(|event| event.client_payload["cloture_key"] == key.as_str()).count();
    issues + comments + events
}

#[tokio::test]
async fn an_issue_has_its_repository_labels_and_assignees() {
    let simulator = simulator().await;
    let client = client(&simulator.url(), "any", PATIENT);
    let outcome = send(&client, &delivery(&simulator, ISSUE)).await;
    assert!(
        matches!(&outcome, DeliveryOutcome::Taken { url: Some(url) } if url.contains("acme/tasks")),
        "{outcome:?}"
    );
    let issues = simulator.issues();
    let [issue] = issues.as_slice() else { panic!("{issues:?}") };
    assert_eq!(
        (issue.repository.as_str(), issue.title.as_str()),
        ("acme/tasks", "Fix 1 review finding in src/a.rs (acme/shop#7)")
    );
    assert_eq!(
        (issue.labels.as_slice(), issue.assignees.as_slice()),
        (&["ai-fix".to_owned()][..], &["erin".to_owned()][..])
    );
    assert!(issue.body.contains("SQL injection"), "{}", issue.body);

    let own = delivery(&simulator, "kind = 'issue'");
    send(&client, &own).await;
    assert_eq!(simulator.issues()[1].repository, "acme/shop");
}

#[tokio::test]
async fn an_event_has_the_whole_task_as_its_payload() {
    let simulator = simulator().await;
    let client = client(&simulator.url(), "any", PATIENT);
    assert_eq!(send(&client, &delivery(&simulator, DISPATCH)).await, DeliveryOutcome::Taken { url: None });
    let mut sent = simulator.dispatches().remove(0);
    assert_eq!((sent.repository.as_str(), sent.event_type.as_str()), ("acme/shop", "cloture-fix"));
    let fields = sent.client_payload.as_object_mut().unwrap();
    assert!(fields.len() <= 10 && fields.remove("cloture_key") == Some(document().key.into()));
    assert_eq!(sent.client_payload, serde_json::to_value(document()).unwrap());
}

#[tokio::test]
async fn h4_github_has_the_task_once_even_if_an_answer_is_lost() {
    for (keys, aim) in [(ISSUE, "POST /repos/{owner}/{repo}/issues"), (COMMENT, "addComment")] {
        for fault in [
            FaultKind::DropBefore,
            FaultKind::DropAfter,
            FaultKind::CutOff,
            FaultKind::BadGateway { takes_effect: true },
            FaultKind::BadGateway { takes_effect: false },
        ] {
            let simulator = simulator().await;
            let client = client(&simulator.url(), "any", PATIENT);
            let task = delivery(&simulator, keys);
            simulator.inject(Fault::once(aim, fault.clone()));
            let first = send(&client, &task).await;
            assert!(matches!(first, DeliveryOutcome::Taken { .. }), "{keys} under {fault:?}: {first:?}");
            assert_eq!(count(&simulator), 1, "{keys} under {fault:?}");
            // Like a second instance, or this one after a crash before its first record.
            let again = send(&client, &delivery(&simulator, keys)).await;
            assert!(
                matches!(again, DeliveryOutcome::Taken { url: Some(_) }),
                "{keys} under {fault:?}: {again:?}"
            );
            assert_eq!(count(&simulator), 1, "{keys} under {fault:?}");
        }
    }
}

/// Cloture cannot search for an event, so it does not try again after a lost answer.
#[tokio::test]
async fn h4_after_a_lost_answer_an_event_is_not_sent_again() {
    for (fault, there) in [(FaultKind::DropAfter, 1), (FaultKind::DropBefore, 0)] {
        let simulator = simulator().await;
        let client = client(&simulator.url(), "any", PATIENT);
        simulator.inject(Fault::once("POST /repos/{owner}/{repo}/dispatches", fault));
        let outcome = send(&client, &delivery(&simulator, DISPATCH)).await;
        assert!(matches!(outcome, DeliveryOutcome::Unknown(_)), "{outcome:?}");
        assert_eq!(count(&simulator), there);
        assert!(matches!(Backoff::default().after(1, &outcome), RetryDecision::Stuck(_)));
    }
}

#[tokio::test]
async fn a_task_that_github_refuses_is_tried_again() {
    for keys in [ISSUE, COMMENT, DISPATCH] {
        let simulator = simulator().await;
        let client = client(&simulator.url(), "any", PATIENT);
        let task = delivery(&simulator, keys);
        let message = "Resource not accessible by integration".to_owned();
        simulator.inject(Fault::always("*", FaultKind::Forbidden { message }));
        let outcome = send(&client, &task).await;
        assert!(matches!(outcome, DeliveryOutcome::Refused(_)), "{keys}: {outcome:?}");
        assert!(outcome.sentence().contains("not allowed"), "{}", outcome.sentence());
        assert!(matches!(Backoff::default().after(1, &outcome), RetryDecision::Again(_)));
        simulator.clear_faults();
        assert!(matches!(send(&client, &task).await, DeliveryOutcome::Taken { .. }), "{keys}");
        assert_eq!(count(&simulator), 1);
    }
}
