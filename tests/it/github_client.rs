//! Every end of a call over a real connection. No error shows the token.

use crate::support::forge::{Answer, SECRET, Server, client};
use cloture::github::{
    Call, Client, Credentials, Error, Host, LimitKind, Reader, RequestSent, RetryAfter, Timeouts, Transport,
    documents,
};
use serde_json::{Value, json};
use std::time::Duration;

async fn ask(answer: Answer) -> (Result<cloture::github::ApiReply, Error>, Server) {
    let server = Server::start(move |_| answer.clone()).await;
    let call = Call::graphql(&documents::VIEWER, json!({}));
    let outcome = client(&server.url).send(&call).await;
    if let Err(error) = &outcome {
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(SECRET), "{shown}");
        assert_eq!(error.to_string().lines().count(), 1, "one sentence: {error}");
    }
    (outcome, server)
}

fn json_answer(status: u16, headers: &[(&'static str, &str)], body: Value) -> Answer {
    Answer::Json(status, headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(), body)
}

#[tokio::test]
async fn s2_the_request_carries_the_token_and_debug_output_does_not() {
    let (_, server) = ask(json_answer(200, &[], json!({"data": {}}))).await;
    let request = server.requests().remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/graphql"));
    let head = request.head.to_ascii_lowercase();
    assert!(head.contains(&format!("authorization: bearer {SECRET}")), "{head}");
    assert!(head.contains("user-agent:") && head.contains("x-github-api-version:"), "{head}");
    assert_eq!(request.body["query"], documents::VIEWER.text);
    assert!(!format!("{:?}", client(&server.url)).contains(SECRET));
}

#[tokio::test]
async fn enterprise_calls_use_both_roots() {
    let server = Server::start(|_| json_answer(200, &[], json!({"data": {}}))).await;
    let client = client(&format!("{}/api/v3", server.url));
    client.send(&Call::graphql(&documents::VIEWER, json!({}))).await.unwrap();
    let rest = Call::Rest {
        method: http::Method::GET,
        path: "/repos/o/r".to_owned(),
        body: None,
        purpose: "reading".into(),
        permission: "any",
    };
    client.send(&rest).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].path, "/api/graphql");
    assert_eq!(requests[1].path, "/api/v3/repos/o/r");
    assert!(requests.iter().all(|request| request.head.contains(SECRET)));
}

#[tokio::test]
async fn partial_data_is_kept_beside_errors_with_type_and_path() {
    let body = json!({
        "data": {"nodes": [null, {"id": "a"}]},
        "errors": [
            {"type": "NOT_FOUND", "path": ["nodes", 0], "message": "Could not resolve"},
            {"path": ["nodes", 1, "statusCheckRollup"], "message": "no", "extensions": {"code": "FORBIDDEN"}},
        ],
    });
    let reply = ask(json_answer(200, &[], body)).await.0.unwrap();
    assert_eq!(reply.body["nodes"][1]["id"], "a");
    assert_eq!(reply.errors[0].kind.as_deref(), Some("NOT_FOUND"));
    assert_eq!(reply.errors[0].path.len(), 2);
    assert_eq!(reply.errors[1].kind.as_deref(), Some("FORBIDDEN"));
    assert!(reply.errors[1].concerns_field("statusCheckRollup"));
}

#[tokio::test]
async fn a_lost_or_broken_answer_is_transient_and_leaves_doubt() {
    let page = Answer::Text(502, "text/html", "<html>Unicorn</html>".to_owned());
    let error = json_answer(500, &[], json!({"message": "oops"}));
    let whole = json!({"data": {"viewer": {"login": "somebody with a long name"}}});
    for answer in
        [page, error, Answer::Drop, Answer::CutOff(whole.clone()), Answer::Half(whole), Answer::Silence]
    {
        let (outcome, server) = ask(answer.clone()).await;
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::Transient { sent: RequestSent::Maybe, .. }), "{answer:?}: {error:?}");
        assert!(error.leaves_doubt());
        assert_eq!(server.requests().len(), 1, "{answer:?} was repeated");
    }
}

#[tokio::test]
async fn a_refused_connection_means_that_nothing_was_sent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = client(&url).send(&Call::graphql(&documents::VIEWER, json!({}))).await.unwrap_err();
    assert!(matches!(error, Error::Transient { sent: RequestSent::No, .. }), "{error:?}");
    assert!(!error.leaves_doubt());
}

#[tokio::test]
async fn a_limit_says_when_to_retry() {
    let limited = async |answer| match ask(answer).await.0.unwrap_err() {
        Error::RateLimited { kind, retry_after, .. } => (kind, retry_after),
        other => panic!("{other:?}"),
    };
    let primary = json!({"errors": [{"type": "RATE_LIMIT", "message": "API rate limit exceeded"}]});
    let spent = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "2000000000")];
    let (kind, retry_after) = limited(json_answer(200, &spent, primary)).await;
    assert_eq!(kind, LimitKind::Primary);
    assert!(matches!(retry_after, RetryAfter::At(moment) if moment.as_second() == 2_000_000_000));

    let secondary = json!({"message": "You have exceeded a secondary rate limit. Please wait"});
    let (kind, retry_after) = limited(json_answer(403, &[("retry-after", "30")], secondary.clone())).await;
    assert_eq!((kind, retry_after), (LimitKind::Secondary, RetryAfter::After(Duration::from_secs(30))));
    let (kind, retry_after) = limited(json_answer(403, &[], secondary)).await;
    assert_eq!((kind, retry_after), (LimitKind::Secondary, RetryAfter::After(Duration::from_mins(1))));

    let as_200 = json!({"data": null, "errors": [{"message": "You have exceeded a secondary rate limit."}]});
    assert_eq!(limited(json_answer(200, &[("retry-after", "5")], as_200)).await.0, LimitKind::Secondary);
    assert_eq!(limited(json_answer(429, &[], json!({}))).await.1, RetryAfter::After(Duration::from_mins(1)));
}

#[tokio::test]
async fn a_limit_without_a_hint_doubles_the_wait_until_a_call_succeeds() {
    let server = Server::start(|request| match request.variables()["n"].as_u64() {
        Some(3) => json_answer(200, &[], json!({"data": {}})),
        _ => json_answer(429, &[], json!({"message": "slow down"})),
    })
    .await;
    let client = client(&server.url);
    let mut waits = Vec::new();
    for n in 0..5 {
        let outcome = client.send(&Call::graphql(&documents::VIEWER, json!({"n": n}))).await;
        if let Err(Error::RateLimited { retry_after: RetryAfter::After(wait), .. }) = outcome {
            waits.push(wait.as_secs());
        }
    }
    assert_eq!(waits, [60, 120, 240, 60]);
}

#[tokio::test]
async fn a_denial_names_the_missing_permission() {
    let denied = async |answer| match ask(answer).await.0.unwrap_err() {
        Error::Denied { missing, .. } => missing,
        other => panic!("{other:?}"),
    };
    let body = json!({"message": "Resource not accessible by personal access token"});
    let permissions = [("x-accepted-github-permissions", "pull_requests=write")];
    let missing = denied(json_answer(403, &permissions, body.clone())).await;
    assert_eq!(missing, "the token needs the permission pull_requests=write");
    let sign_on = [("x-github-sso", "required; url=https://github.com/orgs/o/sso")];
    assert!(
        denied(json_answer(403, &sign_on, body.clone())).await.ends_with("https://github.com/orgs/o/sso")
    );
    assert!(denied(json_answer(403, &[], body)).await.contains("the token needs \"any\""));
    let forbidden =
        json!({"data": null, "errors": [{"type": "INSUFFICIENT_SCOPES", "message": "needs read:org"}]});
    assert!(denied(json_answer(200, &[], forbidden)).await.contains("read:org"));
}

#[tokio::test]
async fn every_other_status_has_its_own_error() {
    let error = async |answer| ask(answer).await.0.unwrap_err();
    assert!(matches!(
        error(json_answer(401, &[], json!({"message": "Bad credentials"}))).await,
        Error::Unauthorised { .. }
    ));
    assert!(matches!(
        error(json_answer(404, &[], json!({"message": "Not Found"}))).await,
        Error::Gone { .. }
    ));
    assert!(matches!(error(json_answer(410, &[], json!({}))).await, Error::Gone { .. }));
    let page = Answer::Text(200, "text/html", "<html>Sign in</html>".to_owned());
    assert!(matches!(error(page).await, Error::Malformed { .. }));
    assert!(matches!(error(json_answer(200, &[], json!({}))).await, Error::Malformed { .. }));
    assert!(matches!(error(json_answer(301, &[("location", "/x")], json!({}))).await, Error::Refused { .. }));
    // A server that echoes the request cannot put the token or control characters on the screen.
    let echo = format!("you sent {SECRET}\u{1b}[2J");
    let refused =
        error(json_answer(422, &[], json!({"message": echo, "errors": [{"message": "too long"}]}))).await;
    assert!(refused.to_string().ends_with("you sent [token] [2J; too long"), "{refused}");
}

#[tokio::test]
async fn only_a_server_on_loopback_is_called_without_a_token() {
    let host = Host::github_com();
    let refused = Client::new(host, &Credentials::NobodyOnLoopback, Timeouts::default());
    assert!(matches!(refused, Err(Error::Unauthorised { .. })));
    let server = Server::start(|_| {
        let viewer = json!({"__typename": "Bot", "login": "cloture", "databaseId": 7});
        json_answer(200, &[("date", "Thu, 01 Jan 2026 00:00:07 GMT")], json!({"data": {"viewer": viewer}}))
    })
    .await;
    let host = Host::from_api_url(&server.url).unwrap();
    let client = Client::new(host, &Credentials::NobodyOnLoopback, Timeouts::default()).unwrap();
    let (account, clock) = Reader::new(client).viewer().await.unwrap();
    assert_eq!(account.login.as_str(), "cloture");
    assert_eq!(clock, "2026-01-01T00:00:07Z".parse().ok(), "by its own clock");
    assert!(!server.requests()[0].head.to_ascii_lowercase().contains("authorization"));
}
