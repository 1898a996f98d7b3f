//! The diff between two commits, from the simulator and from broken servers.

use crate::support::forge;
use crate::support::forge::{Answer, Server};
use crate::support::simulated;
use cloture::domain::diff;
use cloture::domain::place::Hunk;
use cloture::github::diff::{between, in_scope};
use cloture::github::{Error, Reader};
use cloture::simulator::Scenario;

#[tokio::test]
async fn the_diff_of_a_pull_request_is_read_and_parsed() {
    let simulator = simulated::start(&Scenario::built_in("converges").unwrap()).await;
    let client = simulated::client(&simulator.url(), "any", simulated::PATIENT);
    let reader = Reader::new(client.clone());
    let read = reader.read(&simulated::address("acme/shop", 7)).await.unwrap().snapshot;
    let text = between(&client, &read.repository, &read.base.sha, &read.head.sha).await.unwrap();
    let changes = diff::read(&text);
    assert_eq!(changes.len(), 1, "{text}");
    assert_eq!(changes[0].path.as_str(), "src/cart.rs");
    let inserted = changes[0].hunks.iter().all(|hunk| matches!(hunk, Hunk { old_lines: 0, .. }));
    assert!(inserted && !changes[0].hunks.is_empty(), "{text}");
    let nothing = between(&client, &read.repository, &read.head.sha, &read.head.sha).await.unwrap();
    assert_eq!(nothing, "");
    let since = in_scope(&client, &read, Some(&read.head.sha)).await.unwrap();
    assert_eq!((since.text.as_str(), since.whole), ("", None), "nothing changed since the head itself");
    let forgotten = in_scope(&client, &read, Some(&"abcdef".into())).await.unwrap();
    assert_eq!(forgotten.text, text, "all of it where the baseline is gone");
    assert!(forgotten.whole.unwrap().contains("found nothing there"), "and why");
    let gone = between(&client, &read.repository, &"abcdef".into(), &read.head.sha).await;
    assert!(matches!(gone, Err(Error::Gone { .. })), "{gone:?}");
    let smuggled = between(&client, &read.repository, &"a/../../x".into(), &read.head.sha).await;
    assert!(matches!(smuggled, Err(Error::Malformed { .. })), "{smuggled:?}");
}

#[tokio::test]
async fn a_diff_that_is_too_large_is_refused_and_not_retried() {
    let refusal = r#"{"message": "Sorry, the diff exceeded the maximum number of lines (20000)"}"#;
    let huge = "+".repeat(9 * 1024 * 1024);
    for answer in [
        Answer::Text(406, "application/json", refusal.to_owned()),
        Answer::Text(200, "application/vnd.github.diff", huge),
    ] {
        let server = Server::start(move |_| answer.clone()).await;
        let client = forge::client(&server.url);
        let repository = forge::address(1).repository;
        let refused = between(&client, &repository, &"aa".into(), &"bb".into()).await;
        assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
        let request = server.requests().remove(0);
        assert_eq!(request.path, "/repos/o/r/compare/aa...bb");
        assert!(request.head.to_ascii_lowercase().contains("accept: application/vnd.github.diff"));
    }
}
