//! `cloture status`, run as a program against the simulator.

use crate::support::program::{TOKEN, finish, program, run, start};
use cloture::simulator::{Fault, FaultKind};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn set<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
    names.iter().copied().collect()
}

/// Checks that the document has the documented fields with the right types, and no others.
fn check_shape(document: &Value) {
    assert_eq!(keys(document), set(&["pull_requests", "rate_limit"]));
    let limit = &document["rate_limit"];
    assert_eq!(keys(limit), set(&["cost", "remaining", "reset_at"]));
    assert!(
        limit["cost"].as_u64().unwrap() > 0 && limit["remaining"].is_u64() && limit["reset_at"].is_string()
    );
    for pull in document["pull_requests"].as_array().unwrap() {
        let expected = [
            "repository",
            "number",
            "title",
            "url",
            "author",
            "author_is_bot",
            "state",
            "head",
            "loop",
            "threads",
        ];
        assert_eq!(keys(pull), set(&expected));
        assert!(pull["number"].is_u64() && pull["author_is_bot"].is_boolean() && pull["head"].is_string());
        let wait = &pull["loop"];
        assert_eq!(keys(wait), set(&["phase", "attempt", "max_attempts", "waiting_for", "exit", "counts"]));
        assert!(wait["attempt"].is_u64() && wait["waiting_for"].is_array());
        assert_eq!(wait["max_attempts"], 10);
        assert_eq!(keys(&wait["counts"]), set(&["missing", "unreadable", "failed", "to_fix", "for_person"]));
        for thread in pull["threads"].as_array().unwrap() {
            let expected = [
                "id",
                "reviewer",
                "status",
                "cause",
                "severity",
                "stance",
                "round_count",
                "flips",
                "cycles",
                "reopens",
                "returns",
                "queued",
                "handed_off",
                "legal",
                "path",
                "line",
                "title",
                "category",
                "url",
                "outdated",
            ];
            assert_eq!(keys(thread), set(&expected));
            assert_eq!(keys(&thread["legal"]), set(&["seeks_change", "accepts"]));
            assert!(thread["line"].is_u64() || thread["line"].is_null());
            assert!(thread["outdated"].is_boolean() && thread["url"].is_string());
            let severities = ["critical", "high", "medium", "low", "nit"];
            let severity = &thread["severity"];
            assert!(severity.is_null() || severities.contains(&severity.as_str().unwrap()), "{severity}");
            assert!(thread["category"].is_string());
        }
    }
}

#[tokio::test]
async fn a_loop_is_followed_to_its_end() {
    let simulator = start("converges").await;
    let ask = async || {
        let run = run(&simulator.url(), &["status", "--json", "acme/shop#7"]).await;
        assert_eq!((run.code, run.err.as_str()), (0, ""));
        let document = run.json();
        check_shape(&document);
        document["pull_requests"][0].clone()
    };
    let before = ask().await;
    assert_eq!((&before["repository"], &before["number"]), (&json!("acme/shop"), &json!(7)));
    assert_eq!((&before["author"], &before["author_is_bot"]), (&json!("erin"), &json!(false)));
    assert_eq!(before["title"], "Add a discount to the cart");
    assert_eq!(before["state"], "open");
    assert_eq!((&before["loop"]["phase"], &before["loop"]["exit"]), (&json!("waiting"), &Value::Null));

    simulator.advance(Duration::from_mins(2));
    let found = ask().await;
    assert_eq!((&found["loop"]["phase"], &found["loop"]["exit"]), (&json!("ended"), &json!("issues_found")));
    assert_eq!(found["loop"]["waiting_for"], json!([]));
    let threads = found["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2);
    assert!(threads.iter().all(|thread| thread["status"] == "open" && thread["reviewer"] == "coderabbit"));
    assert_eq!(threads[0]["legal"]["seeks_change"], json!(["escalate", "reply", "resolve", "veto"]));
    assert_eq!((&threads[0]["path"], &threads[0]["line"]), (&json!("src/cart.rs"), &json!(12)));

    simulator.advance(Duration::from_secs(6 * 60 + 30));
    let pushed = ask().await;
    assert_eq!(pushed["loop"]["phase"], "waiting");
    assert_eq!(pushed["loop"]["waiting_for"], json!(["coderabbit"]));
    assert_ne!(pushed["head"], found["head"]);

    simulator.advance(Duration::from_mins(5));
    let ended = ask().await;
    assert_eq!((&ended["loop"]["phase"], &ended["loop"]["exit"]), (&json!("ended"), &json!("success")));
    for thread in ended["threads"].as_array().unwrap() {
        assert_eq!((&thread["status"], &thread["cause"]), (&json!("resolved"), &json!("reviewer")));
        assert_eq!(thread["legal"], json!({"seeks_change": [], "accepts": []}));
    }
}

#[tokio::test]
async fn every_page_is_read() {
    let simulator = start("big").await;
    let run = run(&simulator.url(), &["status", "--json", "acme/shop#1", "acme/shop#2"]).await;
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let document = run.json();
    check_shape(&document);
    assert_eq!(document["pull_requests"][0]["threads"].as_array().unwrap().len(), 250);
    assert_eq!(document["pull_requests"][1]["number"], 2);
    let ids: Vec<&str> = document["pull_requests"][0]["threads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["id"].as_str().unwrap())
        .collect();
    assert!(ids.is_sorted());
}

#[tokio::test]
async fn null_fields_and_deleted_accounts_are_shown() {
    let simulator = start("nulls").await;
    let run = run(&simulator.url(), &["status", "--json", "acme/shop#3"]).await;
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let document = run.json();
    check_shape(&document);
    let pull = &document["pull_requests"][0];
    assert_eq!((&pull["author"], &pull["author_is_bot"]), (&Value::Null, &json!(false)));
    // The viewer's draft is not published. The deleted bot's thread is shown, but has no state machine.
    let threads = pull["threads"].as_array().unwrap();
    let (owned, unowned): (Vec<_>, Vec<_>) =
        threads.iter().partition(|thread| thread["reviewer"] == "coderabbit");
    assert_eq!((owned.len(), unowned.len()), (4, 1));
    let unowned = unowned[0];
    assert_eq!((&unowned["reviewer"], &unowned["stance"]), (&Value::Null, &Value::Null));
    assert_eq!(unowned["legal"], json!({"seeks_change": [], "accepts": []}));
    let causes: Vec<&Value> = threads.iter().map(|thread| &thread["cause"]).collect();
    assert!(causes.contains(&&json!("reviewer")) && causes.contains(&&json!("person")), "{causes:?}");
    assert!(threads.iter().any(|thread| thread["outdated"] == true && thread["line"].is_null()));
}

#[tokio::test]
async fn a_pull_request_that_cannot_be_read_does_not_hide_the_others() {
    let simulator = start("converges").await;
    let run = run(&simulator.url(), &["status", "--json", "acme/shop#99", "acme/shop#7"]).await;
    assert_eq!(run.code, 2);
    assert!(
        run.err.starts_with("cloture: acme/shop#99 does not exist: it was deleted or renamed"),
        "{}",
        run.err
    );
    assert_eq!(run.json()["pull_requests"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn each_failure_has_its_own_code_and_sentence() {
    let simulator = start("converges").await;
    let arguments = ["status", "acme/shop#7"];
    simulator.inject(Fault::always("*", FaultKind::Unauthorized));
    let refused = run(&simulator.url(), &arguments).await;
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(refused.err.contains("the token is not valid"), "{}", refused.err);

    simulator.clear_faults();
    simulator.inject(Fault::always(
        "*",
        FaultKind::PrimaryLimit { reset_in: 60, error_type: "RATE_LIMITED".to_owned() },
    ));
    let limited = run(&simulator.url(), &arguments).await;
    assert_eq!(limited.code, 5, "{limited:?}");
    assert!(limited.err.contains("hourly limit is reached; try again in 60 s"), "{}", limited.err);

    simulator.clear_faults();
    simulator.inject(Fault::always("*", FaultKind::BadGateway { takes_effect: false }));
    let broken = run(&simulator.url(), &arguments).await;
    assert_eq!(broken.code, 5, "{broken:?}");

    let nobody_there = run("http://127.0.0.1:1", &arguments).await;
    assert_eq!(nobody_there.code, 5, "{nobody_there:?}");
    assert!(nobody_there.err.contains("refused"), "{}", nobody_there.err);
}

#[tokio::test]
async fn wrong_usage_is_reported_before_any_request() {
    for (url, arguments, sentence) in [
        ("http://github.example.com", vec!["status", "o/r#1"], "would send the token unencrypted"),
        ("nonsense", vec!["status", "o/r#1"], "is not an address"),
        ("http://127.0.0.1:1", vec!["status", "o/r"], "names no pull request"),
        (
            "http://127.0.0.1:1",
            vec!["status"],
            "no pull request was named, and this folder is not a git checkout; name one",
        ),
        ("https://api.github.com", vec!["status", "https://git.example.com/o/r/pull/1"], "pass --api-url"),
    ] {
        let run = run(url, &arguments).await;
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{run:?}");
        assert!(run.err.contains(sentence), "{}", run.err);
    }
    let home = tempfile::tempdir().unwrap();
    let mut without_token = program(home.path(), &["--api-url", "http://127.0.0.1:1", "status", "o/r#1"]);
    without_token.env_remove("GH_TOKEN");
    let run = finish(without_token).await;
    assert_eq!(run.code, 4);
    assert!(run.err.contains("no token for"), "{}", run.err);
}

#[tokio::test]
async fn watch_rules_and_checkouts_select_pull_requests() {
    let simulator = start("nulls").await;
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join("config.toml");
    let text = format!(
        "[github]\napi_url = '{}'\n[[watch]]\nrepositories = ['acme/shop', 'acme/nowhere']\n",
        simulator.url()
    );
    std::fs::write(&config, text).unwrap();
    let by_rule =
        finish(program(home.path(), &["--config", config.to_str().unwrap(), "status", "--json"])).await;
    assert_eq!(by_rule.code, 2, "a repository of the rules is not there: {by_rule:?}");
    assert!(by_rule.err.contains("acme/nowhere"), "{}", by_rule.err);
    assert_eq!(by_rule.json()["pull_requests"][0]["number"], 3);

    let git = async |arguments: &[&str]| {
        let status =
            tokio::process::Command::new("git").args(arguments).current_dir(home.path()).status().await;
        assert!(status.unwrap().success());
    };
    git(&["init", "--quiet", "--initial-branch", "discount"]).await;
    git(&["remote", "add", "origin", "https://github.com/acme/shop.git"]).await;
    let simulator = start("converges").await;
    let of_branch = finish(program(home.path(), &["--api-url", &simulator.url(), "status", "--json"])).await;
    assert_eq!(of_branch.code, 0, "{of_branch:?}");
    assert_eq!(of_branch.json()["pull_requests"][0]["number"], 7);
}

#[tokio::test]
async fn a_checkouts_remote_does_not_choose_where_the_token_goes() {
    let asked = start("converges").await;
    let elsewhere = start("converges").await;
    let home = tempfile::tempdir().unwrap();
    let remote = format!("{}/acme/shop.git", elsewhere.url());
    for arguments in [
        &["init", "--quiet", "--initial-branch", "discount"][..],
        &["remote", "add", "origin", &remote],
        &["config", &format!("url.{}/.insteadOf", elsewhere.url()), "https://github.com/"],
    ] {
        let git = tokio::process::Command::new("git").args(arguments).current_dir(home.path()).status();
        assert!(git.await.unwrap().success());
    }
    let url = asked.url();
    for arguments in [&["status"][..], &["doctor"], &["status", "acme/shop#7"]] {
        let arguments = [&["--api-url", url.as_str()], arguments].concat();
        finish(program(home.path(), &arguments)).await;
    }
    assert_eq!(elsewhere.requests().len(), 0);
    assert!(!asked.requests().is_empty());
}

#[tokio::test]
async fn hostile_text_reaches_no_terminal() {
    let simulator = start("converges").await;
    simulator.advance(Duration::from_mins(2));
    let action = r#"
        [[do]]
        review = { by = "coderabbitai", body = "x", threads = [{ name = "evil", path = "src/cart.rs", line = 1,
            body = "\u001B[2J\u009B31mgone \u202Edesrever\u200B \U000E0041" }] }"#;
    simulator.perform_toml("acme/shop#7", &action.replace(",\n            body", ", body")).unwrap();
    for arguments in [&["status", "acme/shop#7"][..], &["status", "--json", "acme/shop#7"]] {
        let run = run(&simulator.url(), arguments).await;
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.out.contains("desrever"), "{}", run.out);
        let hostile = |c: char| c != '\n' && cloture::output::sanitize::is_hostile(c);
        assert!(!run.out.chars().any(hostile), "{:?}", run.out);
    }
}

#[tokio::test]
async fn people_get_a_table() {
    let simulator = start("converges").await;
    simulator.advance(Duration::from_mins(2));
    let run = run(&simulator.url(), &["status", "acme/shop#7"]).await;
    assert_eq!(run.code, 0, "{run:?}");
    let text = &run.out;
    assert!(text.starts_with("acme/shop#7  Add a discount to the cart\n  open, by erin, head "), "{text}");
    assert!(
        text.contains("the reviews found something to fix, and no author is configured to fix it"),
        "{text}"
    );
    assert!(text.contains("  status  severity  reviewer    rounds  where           title\n"), "{text}");
    assert!(text.contains("coderabbit  0 of 2  src/cart.rs:12  "), "{text}");
    assert!(text.contains(" left until 2026-03-02T"), "{text}");
    assert!(!text.contains(TOKEN));
}
