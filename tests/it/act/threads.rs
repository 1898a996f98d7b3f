//! How a command finds its thread, and why it may not write there.

use crate::support::folder;
use crate::support::program::{finish, program, start as built_in};
use crate::support::verbs::{agreed, changes, pull, start};
use serde_json::json;

#[tokio::test]
async fn a_thread_is_named_by_id_by_an_end_of_it_or_by_its_place() {
    let simulator = start().await;
    let id = pull(&simulator).threads[0].id.clone();
    let last = &id[id.len() - 1..];
    for (count, name) in [id.as_str(), last, "src/a.rs:1"].into_iter().enumerate() {
        let body = format!("By {name}.");
        let run = agreed(&simulator, &["act", "acme/shop#1", name, "reply", "--body", &body]).await;
        assert_eq!(run.code, 0, "{run:?}");
        let said = &pull(&simulator).threads[0].comments;
        assert_eq!(said.len(), count + 2);
        assert!(said[count + 1].body.starts_with(&body));
    }
    assert_eq!(pull(&simulator).threads[1].comments.len(), 1);
}

#[tokio::test]
async fn a_name_that_matches_several_threads_or_none_is_refused_with_a_list() {
    let simulator = start().await;
    let ids: Vec<String> = pull(&simulator).threads.into_iter().map(|thread| thread.id).collect();
    let both = format!("{} (src/a.rs:1), {} (src/a.rs:2)", ids[0], ids[1]);
    for (name, sentence) in [
        ("PRRT_", format!("`PRRT_` matches 2 threads of acme/shop#1: {both}; name one by its id")),
        ("src/a.rs", format!("`src/a.rs` matches 2 threads of acme/shop#1: {both}; name one by its id")),
        ("src/a.rs:3", format!("acme/shop#1 has no thread `src/a.rs:3`; it has {both}")),
        ("", format!("acme/shop#1 has no thread ``; it has {both}")),
    ] {
        let run = agreed(&simulator, &["act", "acme/shop#1", name, "resolve"]).await;
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert_eq!(run.err, format!("cloture: {sentence}\n"));
    }
    let none = agreed(&simulator, &["act", "acme/shop#2", "PRRT_1", "resolve"]).await;
    assert_eq!(none.code, 2);
    assert!(none.err.contains("it has no threads at all"), "{}", none.err);
    assert_eq!(changes(&simulator), [""; 0]);
}

#[tokio::test]
async fn a_missing_permission_to_resolve_is_reported_before_anything_is_sent() {
    let simulator = built_in("nulls").await;
    let threads = simulator.pull_request("acme/shop#3").unwrap().threads;
    let open = threads.iter().find(|thread| !thread.resolved && !thread.comments[0].pending).unwrap();
    let home = folder::temporary();
    let command = ["--api-url", &simulator.url(), "act", "acme/shop#3", &open.id, "resolve", "--yes"];
    let mut outsider = program(home.path(), &command);
    outsider.env("GH_TOKEN", "outsider");
    let run = finish(outsider).await;
    assert_eq!(run.code, 4, "{run:?}");
    assert!(run.err.contains("GitHub does not let you resolve the thread"), "{}", run.err);
    assert!(simulator.requests().iter().all(|request| !request.writes));
}

/// The account has a draft review open here: GitHub puts the reply into it, where nobody else sees it.
#[tokio::test]
async fn a_reason_that_a_draft_swallows_resolves_nothing() {
    let simulator = built_in("nulls").await;
    let threads = simulator.pull_request("acme/shop#3").unwrap().threads;
    let open = threads.iter().find(|thread| !thread.resolved && !thread.comments[0].pending).unwrap();
    let command = ["act", "acme/shop#3", &open.id, "resolve", "--reason", "Done."];
    for _ in 0..2 {
        let run = agreed(&simulator, &command).await;
        assert_eq!(run.code, 2, "{run:?}");
        assert!(
            run.err.contains("into a draft review of your account, where nobody else sees it"),
            "{}",
            run.err
        );
        let outcomes: Vec<_> =
            run.json()["writes"].as_array().unwrap().iter().map(|write| write["outcome"].clone()).collect();
        assert_eq!(outcomes, [json!("swallowed_by_draft"), json!("not_tried")]);
        assert_eq!(changes(&simulator), ["reply"]);
    }
}
