//! Finding pull requests: through every page, and by the branch of a checkout.

use crate::support::forge;
use crate::support::forge::{Answer, Request, Server, address, client};
use cloture::domain::snapshot::RepositoryName;
use cloture::github::discover::{Checkout, WatchRule, find, of_checkout};
use cloture::github::{Error, documents};
use serde_json::{Value, json};

fn repository(text: &str) -> RepositoryName {
    RepositoryName::parse(text).unwrap()
}

fn data(body: &Value) -> Answer {
    Answer::Json(200, Vec::new(), json!({"data": body}))
}

/// A list of 250 pull requests, a hundred a page, with an issue and a null among them.
fn page(request: &Request) -> Value {
    let start: u64 = request.variables()["after"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
    let end = (start + 100).min(250);
    let mut nodes: Vec<Value> = (start..end)
        .map(|n| json!({"__typename": "PullRequest", "id": format!("PR{n}"), "number": n + 1, "repository": {"nameWithOwner": "o/r"}}))
        .collect();
    nodes.extend([Value::Null, json!({"__typename": "Issue"})]);
    json!({"issueCount": 250, "nodes": nodes, "pageInfo": {"hasNextPage": end < 250, "endCursor": end.to_string()}})
}

#[tokio::test]
async fn lists_and_searches_are_read_to_the_last_page() {
    let server = Server::start(|request| match request.operation().as_str() {
        "Search" => data(&json!({"search": page(request)})),
        "OpenPullRequests" if request.variables()["name"] == "gone" => data(&json!({"repository": null})),
        "OpenPullRequests" => {
            data(&json!({"repository": {"nameWithOwner": "o/r", "pullRequests": page(request)}}))
        }
        other => panic!("{other}"),
    })
    .await;
    let client = client(&server.url);
    let listed =
        WatchRule { repositories: vec![repository("o/gone"), repository("o/r")], ..WatchRule::default() };
    let found = find(&client, &listed).await.unwrap();
    assert_eq!(found.pull_requests.len(), 250);
    assert_eq!(found.pull_requests[&address(250)], "PR249");
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    assert!(found.notes[0].starts_with("o/gone: listing open pull requests found nothing there"));
    let searched = WatchRule { authors: vec!["@me".to_owned()], ..WatchRule::default() };
    let found = find(&client, &searched).await.unwrap();
    assert_eq!((found.pull_requests.len(), server.count("Search")), (250, 3));
    assert!(found.notes.is_empty());
}

#[tokio::test]
async fn branches_of_the_same_name_in_other_forks_are_left_out() {
    let entry = |number: u64, state: &str, head: Value| {
        json!({
            "id": format!("PR{number}"), "number": number, "state": state, "headRepository": head,
            "repository": {"nameWithOwner": "o/r"},
        })
    };
    let fork = json!({"nameWithOwner": "me/r"});
    let stranger = json!({"nameWithOwner": "stranger/r"});
    let upstream = json!([
        entry(4, "OPEN", stranger),
        entry(3, "CLOSED", fork.clone()),
        entry(2, "OPEN", fork),
        entry(1, "MERGED", Value::Null),
    ]);
    let server = Server::start(move |_| {
        let parent = json!({"nameWithOwner": "o/r", "pullRequests": {"nodes": upstream}});
        data(&json!({"repository": {"nameWithOwner": "me/r", "pullRequests": {"nodes": []}, "parent": parent}}))
    })
    .await;
    let client = client(&server.url);
    let mut checkout = Checkout {
        host: "github.com".to_owned(),
        repository: repository("me/r"),
        branch: "topic".to_owned(),
        pull_request: None,
    };
    assert_eq!(of_checkout(&client, &checkout).await.unwrap(), address(2));
    assert_eq!(server.requests()[0].body["query"], documents::BRANCH_PULL_REQUESTS.text);
    checkout.pull_request = Some(9);
    checkout.repository = repository("o/r");
    assert_eq!(of_checkout(&client, &checkout).await.unwrap(), address(9));
    assert_eq!(server.requests().len(), 1, "the checkout has the number");

    let nobody = Server::start(|_| {
        data(
            &json!({"repository": {"nameWithOwner": "o/r", "pullRequests": {"nodes": null}, "parent": null}}),
        )
    })
    .await;
    checkout.pull_request = None;
    let error = of_checkout(&forge::client(&nobody.url), &checkout).await.unwrap_err();
    assert!(matches!(error, Error::Gone { .. }), "{error:?}");
    assert!(error.to_string().contains("branch topic"), "{error}");
}
