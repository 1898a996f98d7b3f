//! Reading a pull request to its last page, with fields that are null, hidden or broken.

use crate::support::forge::{Answer, PullRequest, PullRequests, Server, address, client};
use cloture::domain::snapshot::{
    AccountKind, CheckOutcome, PullRequestState, PushEvidence, RequestedReviewer, Visible,
};
use cloture::domain::vocabulary::Association;
use cloture::github::discover::{self, WatchRule};
use cloture::github::{Error, Reader};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

async fn start(forge: &PullRequests) -> Server {
    let forge = forge.clone();
    Server::start(move |request| forge.answer(request)).await
}

#[tokio::test]
async fn long_lists_and_long_threads_are_read_to_the_last_page() {
    let mut large = PullRequest::with_threads(250, 2);
    large.threads[7].comments = 250;
    large.threads[240].comments = 101;
    large.threads[3].outdated = true;
    (large.reviews, large.comments, large.labels, large.checks) = (205, 100, 120, 130);
    large.timeline = (0..150)
        .map(|n| json!({"__typename": "ReopenedEvent", "createdAt": format!("2026-01-01T12:{:02}:{:02}Z", n / 60, n % 60), "actor": null}))
        .collect();
    let forge = PullRequests::new(vec![large]);
    let server = start(&forge).await;
    let read = Reader::new(client(&server.url)).read(&address(1)).await.unwrap();
    let snapshot = &read.snapshot;
    assert_eq!(snapshot.threads.len(), 250);
    assert_eq!(snapshot.threads[7].comments.len(), 250);
    assert_eq!(snapshot.threads[240].comments.len(), 101);
    assert_eq!(snapshot.threads[100].comments.len(), 2);
    assert_eq!((snapshot.threads[3].line, snapshot.threads[3].original_line), (None, Some(4)));
    assert_eq!((snapshot.reviews.len(), snapshot.comments.len(), snapshot.labels.len()), (205, 100, 120));
    assert_eq!(snapshot.checks.seen().unwrap().len(), 130);
    assert_eq!(snapshot.reopened_at.unwrap().to_string(), "2026-01-01T12:02:29Z", "the last of 150");
    let distinct: std::collections::BTreeSet<_> = snapshot.threads.iter().map(|thread| &thread.id).collect();
    assert_eq!(distinct.len(), 250);
    assert!(read.gaps.is_empty());
    // One for the viewer, one for the first page, two for the lists, three for the long threads, one for the
    // requests, two for the checks.
    assert_eq!(read.spent.points, 10, "{:?}", server.operations());
}

#[tokio::test]
async fn every_field_reaches_the_snapshot() {
    let mut pull_request = PullRequest::with_threads(1, 2);
    pull_request.author = Value::Null;
    pull_request.timeline = vec![
        json!({"__typename": "HeadRefForcePushedEvent", "createdAt": "2026-01-01T12:00:00Z", "actor": null,
               "beforeCommit": null, "afterCommit": {"oid": "c0ffee"}}),
        Value::Null,
    ];
    let forge = PullRequests::new(vec![pull_request]);
    let server = start(&forge).await;
    let snapshot = Reader::new(client(&server.url)).read(&address(1)).await.unwrap().snapshot;
    assert_eq!(snapshot.author, None, "a deleted account");
    assert_eq!(snapshot.author_association, Association::None, "an unknown association gives no rights");
    assert_eq!(snapshot.state, PullRequestState::Open);
    assert_eq!(snapshot.pushed.evidence, PushEvidence::ForcePush);
    assert_eq!(snapshot.pushed.at.to_string(), "2026-01-01T12:00:00Z");
    assert_eq!(snapshot.force_pushes.len(), 1);
    let reviewer = snapshot.threads[0].comments[0].author.as_ref().unwrap();
    assert_eq!(
        (reviewer.login.as_str(), reviewer.kind, reviewer.database_id),
        ("reviewer", AccountKind::Bot, Some(2))
    );
    assert_eq!(snapshot.threads[0].comments[1].reply_to.as_deref(), Some("T0C0"));
    let requests = snapshot.review_requests.seen().unwrap();
    assert!(
        matches!(&requests[0].reviewer, RequestedReviewer::Account(account) if account.kind == AccountKind::Bot)
    );
    assert_eq!(requests[1].reviewer, RequestedReviewer::Team("o/team".to_owned()));
    assert_eq!(requests[2].reviewer, RequestedReviewer::Unknown);
    let check = &snapshot.checks.seen().unwrap()[0];
    assert_eq!((check.name.as_str(), check.outcome), ("check 0", CheckOutcome::Passed));
    let stored: Value = serde_json::to_value(&snapshot).unwrap();
    assert_eq!(
        serde_json::from_value::<cloture::domain::snapshot::PullRequestSnapshot>(stored).unwrap(),
        snapshot
    );
}

#[tokio::test]
async fn a_hidden_field_does_not_fail_the_read_and_is_not_asked_for_again() {
    let forge = PullRequests::new(vec![PullRequest::with_threads(1, 1)]);
    {
        let mut shelf = forge.0.lock().unwrap();
        (shelf.hide_requests, shelf.hide_checks) = (true, true);
    }
    let server = start(&forge).await;
    let reader = Reader::new(client(&server.url));
    let first = reader.read(&address(1)).await.unwrap();
    assert_eq!(first.snapshot.threads.len(), 1);
    assert!(
        matches!(&first.snapshot.review_requests, Visible::Hidden(why) if why.contains("Pull requests: read"))
    );
    assert!(matches!(&first.snapshot.checks, Visible::Hidden(why) if why.contains("Checks: read")));
    assert_eq!(first.snapshot.pushed.evidence, PushEvidence::CommitDate);
    let second = reader.read(&address(1)).await.unwrap();
    assert_eq!((first.spent.points, second.spent.points), (4, 1));
    assert!(matches!(second.snapshot.checks, Visible::Hidden(_)));
}

#[tokio::test]
async fn an_optional_field_joins_the_main_query_while_it_works() {
    let forge = PullRequests::new(vec![PullRequest::with_threads(1, 1)]);
    let denying = std::sync::Arc::new(AtomicUsize::new(0));
    let (shared, denied) = (forge.clone(), denying.clone());
    let server = Server::start(move |request| {
        if denied.load(Ordering::Relaxed) > 0 && request.variables()["withChecks"] == true {
            let error = json!({"type": "FORBIDDEN", "path": ["repository", "pullRequest", "checks"], "message": "no"});
            return Answer::Json(200, Vec::new(), json!({"data": null, "errors": [error]}));
        }
        shared.answer(request)
    })
    .await;
    let reader = Reader::new(client(&server.url));
    assert_eq!(reader.read(&address(1)).await.unwrap().spent.points, 4);
    let second = reader.read(&address(1)).await.unwrap();
    assert_eq!(second.spent.points, 1);
    assert_eq!(second.snapshot.checks.seen().unwrap().len(), 1);
    assert_eq!(second.snapshot.pushed.evidence, PushEvidence::CheckSuite);
    denying.store(1, Ordering::Relaxed);
    assert_eq!(reader.read(&address(1)).await.unwrap().snapshot.threads.len(), 1);
}

#[tokio::test]
async fn a_failed_large_page_is_retried_with_a_smaller_one() {
    let forge = PullRequests::new(vec![PullRequest::with_threads(60, 1)]);
    let server = {
        let forge = forge.clone();
        Server::start(move |request| match request.variables()["threads"].as_u64() {
            Some(size) if size > 25 => Answer::Text(502, "text/html", "<html>".to_owned()),
            _ => forge.answer(request),
        })
        .await
    };
    let read = Reader::new(client(&server.url)).read(&address(1)).await.unwrap();
    assert_eq!(read.snapshot.threads.len(), 60);
    assert_eq!(server.count("PullRequest"), 2);
}

#[tokio::test]
async fn a_failure_names_the_pull_request() {
    let forge = PullRequests::new(vec![PullRequest::with_threads(1, 1)]);
    let server = start(&forge).await;
    let reader = Reader::new(client(&server.url));
    let gone = reader.read(&address(9)).await.unwrap_err();
    assert!(matches!(gone, Error::Gone { .. }), "{gone:?}");
    assert!(gone.to_string().starts_with("reading the pull request (o/r#9) found nothing there"), "{gone}");

    let broken = Server::start(|_| Answer::Drop).await;
    let error = Reader::new(client(&broken.url)).read(&address(1)).await.unwrap_err();
    assert!(matches!(error, Error::Transient { .. }), "{error:?}");
    let limited = Server::start(|_| {
        Answer::Json(
            200,
            vec![("retry-after", "3".to_owned())],
            json!({"errors": [{"type": "RATE_LIMITED", "message": "x"}]}),
        )
    })
    .await;
    let error = Reader::new(client(&limited.url)).read(&address(1)).await.unwrap_err();
    assert!(matches!(error, Error::RateLimited { .. }), "{error:?}");
    assert_eq!(limited.requests().len(), 1);
}

#[tokio::test]
async fn fields_that_github_left_out_are_reported_as_gaps() {
    let forge = PullRequests::new(vec![PullRequest::with_threads(2, 1)]);
    let server = {
        let forge = forge.clone();
        Server::start(move |request| {
            let answer = forge.answer(request);
            match (request.operation().as_str(), answer) {
                ("PullRequest", Answer::Json(status, headers, mut body)) => {
                    let path = json!(["repository", "pullRequest", "reviewThreads", "nodes", 1]);
                    body["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"][1] = Value::Null;
                    body["errors"] = json!([{"path": path, "message": "Something went wrong"}]);
                    Answer::Json(status, headers, body)
                }
                (_, answer) => answer,
            }
        })
        .await
    };
    let read = Reader::new(client(&server.url)).read(&address(1)).await.unwrap();
    assert_eq!(read.snapshot.threads.len(), 1);
    assert_eq!(read.gaps, ["Something went wrong"]);
}

#[tokio::test]
async fn a_cursor_that_does_not_move_is_an_error() {
    let forge = PullRequests::new(vec![PullRequest::with_threads(101, 1)]);
    let server = {
        let forge = forge.clone();
        Server::start(move |request| match (request.operation().as_str(), forge.answer(request)) {
            ("PullRequestPages", Answer::Json(status, headers, mut body)) => {
                let page = json!({"hasNextPage": true, "endCursor": "100"});
                body["data"]["node"]["reviewThreads"]["pageInfo"] = page;
                Answer::Json(status, headers, body)
            }
            (_, answer) => answer,
        })
        .await
    };
    let error = Reader::new(client(&server.url)).read(&address(1)).await.unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
}

/// A server that leads in a circle is left, whatever list it does that in.
#[tokio::test]
async fn a_server_whose_pages_lead_in_a_circle_is_not_followed_for_ever() {
    let circling = |page: &str| json!({"hasNextPage": true, "hasPreviousPage": true, "endCursor": page, "startCursor": page});
    let asked = AtomicUsize::new(0);
    let forge = PullRequests::new(vec![PullRequest::with_threads(2, 1)]);
    let server = Server::start(move |request| {
        let turn = asked.fetch_add(1, Ordering::Relaxed);
        assert!(turn < 200, "the client follows for ever");
        let Answer::Json(status, headers, mut body) = forge.answer(request) else { panic!() };
        let cursor = ["0", "1"][turn % 2];
        circle(&mut body, &circling(cursor));
        Answer::Json(status, headers, body)
    })
    .await;
    let error = Reader::new(client(&server.url)).read(&address(1)).await.unwrap_err();
    assert!(error.to_string().contains("leads back to a page that was read"), "{error}");
    for rule in [
        WatchRule { repositories: vec![address(1).repository], ..WatchRule::default() },
        WatchRule { authors: vec!["alice".into()], ..WatchRule::default() },
    ] {
        let server = Server::start(move |request| {
            let cursor = if request.variables()["after"] == "a" { "b" } else { "a" };
            let page = json!({"nodes": [{"id": "PR_1", "number": 1, "state": "OPEN", "repository": {"nameWithOwner": "o/r"}, "headRepository": null}], "pageInfo": {"hasNextPage": true, "endCursor": cursor}});
            let data = json!({"repository": {"nameWithOwner": "o/r", "pullRequests": page}, "search": page, "rateLimit": null});
            Answer::Json(200, Vec::new(), json!({"data": data}))
        })
        .await;
        let client = client(&server.url);
        let found = tokio::time::timeout(Duration::from_secs(30), discover::find(&client, &rule));
        let error = found.await.expect("it ends").unwrap_err();
        assert!(error.to_string().contains("leads back to a page that was read"), "{error}");
    }
}

/// Gives every page of an answer this page information.
fn circle(value: &mut Value, page_info: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "pageInfo" { value.clone_from(page_info) } else { circle(value, page_info) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| circle(item, page_info)),
        _ => {}
    }
}

/// The parsed form of an answer takes a multiple of its bytes, most of all in small objects.
#[tokio::test]
async fn an_answer_that_would_take_too_much_memory_is_refused_and_less_is_asked_for() {
    let large = [json!("x".repeat(17 * 1024 * 1024)), Value::Array(vec![json!({"": 0}); 250_000])];
    for padding in large {
        let forge = PullRequests::new(vec![PullRequest::with_threads(3, 1)]);
        let answering = forge.clone();
        let server = Server::start(move |request| {
            let Answer::Json(status, headers, mut body) = answering.answer(request) else { panic!() };
            if request.variables()["threads"] == 100 {
                body["padding"] = padding.clone();
            }
            Answer::Json(status, headers, body)
        })
        .await;
        let read = Reader::new(client(&server.url)).read(&address(1)).await.unwrap();
        assert_eq!(read.snapshot.threads.len(), 3);
        assert_eq!(server.count("PullRequest"), 2, "{:?}", server.operations());
    }
}
