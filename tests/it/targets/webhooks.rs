//! Tasks for servers; the tests use servers on loopback.

use super::{DeliveryOutcome, document, prepared, send};
use crate::support::forge::{Answer, Server};
use cloture::agents::targets::{DeliveryMeans, signature};
use serde_json::json;
use tokio::net::TcpListener;

async fn answering(answer: Answer) -> Server {
    Server::start(move |_| answer.clone()).await
}

fn secret(name: &str) -> Option<String> {
    (name == "HOOK_SECRET").then(|| "open sesame".to_owned())
}

async fn post(server: &Server, more: &str) -> DeliveryOutcome {
    let url = server.url.replace("http://", "http://me:passw0rd@");
    let keys = format!("kind = 'webhook'\nurl = '{url}/passw0rd?key=passw0rd'\n{more}");
    let outcome = send(&prepared(&document(), &keys), &secret).await;
    assert!(!format!("{outcome:?} {}", outcome.sentence()).contains("passw0rd"), "{outcome:?}");
    outcome
}

#[tokio::test]
async fn a_server_gets_the_task_its_key_and_a_signature() {
    let server = answering(Answer::Json(202, Vec::new(), json!({}))).await;
    assert_eq!(post(&server, "secret_env = 'HOOK_SECRET'").await, DeliveryOutcome::Taken { url: None });
    assert_eq!(post(&server, "").await, DeliveryOutcome::Taken { url: None });
    let requests = server.requests();
    let [signed, unsigned] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((signed.method.as_str(), signed.path.as_str()), ("POST", "/passw0rd?key=passw0rd"));
    assert_eq!(signed.body, serde_json::to_value(document()).unwrap());
    let body = document().to_json().unwrap();
    let expected = [
        format!("content-length: {}", body.len()),
        "content-type: application/json".to_owned(),
        format!("idempotency-key: {}", document().key),
        format!("x-cloture-signature-256: {}", signature("open sesame", body.as_bytes())),
        "authorization: Basic bWU6cGFzc3cwcmQ=".to_owned(),
    ];
    for line in &expected {
        assert!(signed.head.contains(&format!("\r\n{line}\r\n")), "{line}: {}", signed.head);
    }
    assert!(!unsigned.head.contains("signature"), "{}", unsigned.head);
}

#[tokio::test]
async fn the_status_decides_whether_the_server_took_the_task() {
    for (status, expected) in [
        (200, "taken"),
        (204, "taken"),
        (301, "refused"),
        (307, "refused"),
        (400, "refused"),
        (401, "refused"),
        (404, "refused"),
        (409, "unknown"),
        (422, "refused"),
        (429, "refused"),
        (500, "unknown"),
        (502, "unknown"),
        (503, "unknown"),
    ] {
        let server =
            answering(Answer::Json(status, vec![("location", "/elsewhere".to_owned())], json!({}))).await;
        let outcome = post(&server, "").await;
        let found = match &outcome {
            DeliveryOutcome::Taken { .. } => "taken",
            DeliveryOutcome::Refused(_) => "refused",
            DeliveryOutcome::Limited { .. } => "limited",
            DeliveryOutcome::Withheld(_) => "withheld",
            DeliveryOutcome::Unknown(_) => "unknown",
        };
        assert_eq!(found, expected, "{status}: {outcome:?}");
        assert_eq!(server.requests().len(), 1, "there are no retries and no redirects: {status}");
    }
}

#[tokio::test]
async fn the_status_of_an_incomplete_answer_is_enough() {
    let server = answering(Answer::CutOff(json!({"taken": true}))).await;
    assert_eq!(post(&server, "").await, DeliveryOutcome::Taken { url: None });
}

#[tokio::test]
async fn a_task_without_an_answer_may_have_arrived() {
    for (answer, timeout) in [(Answer::Drop, ""), (Answer::Silence, "timeout = 1")] {
        let server = answering(answer).await;
        let outcome = post(&server, timeout).await;
        assert!(matches!(outcome, DeliveryOutcome::Unknown(_)), "{outcome:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_task_that_was_not_sent_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    drop(listener);
    let task = prepared(&document(), &format!("kind = 'webhook'\nurl = 'http://{place}/'"));
    let outcome = send(&task, &secret).await;
    assert!(matches!(outcome, DeliveryOutcome::Refused(_)), "{outcome:?}");

    let server = answering(Answer::Json(200, Vec::new(), json!({}))).await;
    let outcome = post(&server, "secret_env = 'ANOTHER'").await;
    assert!(
        matches!(&outcome, DeliveryOutcome::Refused(reason) if reason.contains("the variable ANOTHER")),
        "{outcome:?}"
    );
    assert!(server.requests().is_empty(), "without its secret the task is not sent");
}

#[test]
fn s2_a_delivery_shows_neither_password_nor_secret() {
    let task = prepared(
        &document(),
        "kind = 'webhook'\nurl = 'https://me:passw0rd@h.example/passw0rd'\nsecret_env = 'HOOK_SECRET'",
    );
    assert!(matches!(task.means, DeliveryMeans::Post(_)));
    assert!(!format!("{task:?}").contains("passw0rd"), "{task:?}");
}
