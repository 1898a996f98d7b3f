//! `cloture review`, run as a program against the simulator, with small scripts as reviewers.

#![cfg(unix)]

use crate::support::gone::assert_gone;
use crate::support::program;
use crate::support::program::{Run, TOKEN, finish, start};
use cloture::simulator::Simulator;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// Reviews a pull request of a scenario. The reviewer is this script, with its request in `$request`.
async fn review(scenario: &str, name: &str, script: &str, arguments: &[&str]) -> (Run, Value, usize) {
    let simulator = start(scenario).await;
    review_on(&simulator, name, script, arguments).await
}

async fn review_on(
    simulator: &Simulator,
    name: &str,
    script: &str,
    arguments: &[&str],
) -> (Run, Value, usize) {
    let home = tempfile::tempdir().unwrap();
    let (reviewer, kept) = (home.path().join("reviewer"), home.path().join("request"));
    std::fs::write(
        &reviewer,
        format!("#!/bin/sh\nrequest='{}'\ncat > $request\nenv >&2\n{script}\n", kept.display()),
    )
    .unwrap();
    std::fs::set_permissions(&reviewer, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = home.path().join("config.toml");
    let command = json!([reviewer.to_str().unwrap()]);
    let text = format!(
        "[[reviewers]]\nname = '{name}'\nkind = 'program'\ncommand = {command}\n[[reviewers]]\nname = 'counted'\n"
    );
    std::fs::write(&config, text).unwrap();
    let url = simulator.url();
    let before = ["--api-url", &url, "--config", config.to_str().unwrap(), "review"];
    let run = finish(program::program(home.path(), &[before.as_slice(), arguments].concat())).await;
    let request = std::fs::read_to_string(&kept).unwrap_or_default();
    let writes = simulator.requests().iter().filter(|request| request.writes).count();
    (run, serde_json::from_str(&request).unwrap_or_default(), writes)
}

const FINDING: &str = r#"{"path": "src/cart.rs", "line": 11, "title": "Overflow", "body": "Large\u001b[31m carts.", "severity": "high", "category": "bug"}"#;

#[tokio::test]
async fn review_shows_its_posts_and_posts_nothing() {
    let script = format!("echo '{{\"findings\": [{FINDING}], \"summary\": \"One thing.\"}}'");
    let arguments = ["acme/shop#1", "--reviewer", "orange", "--json"];
    let (run, request, writes) = review("quiet", "orange", &script, &arguments).await;
    assert_eq!(run.code, 10, "{run:?}");
    assert!(
        run.err.contains("orange reports problems: 1 new, 1 unsettled in total; nothing was posted"),
        "{}",
        run.err
    );
    let json = run.json();
    assert_eq!(
        (&json["outcome"], &json["posted"], &json["verdict"]),
        (&json!("completed"), &json!(false), &json!("comment"))
    );
    assert_eq!(json["findings"][0]["title"], "Overflow");
    assert_eq!(json["findings"][0]["fate"], "opened");
    assert_eq!(json["summary"], "One thing.");
    assert_eq!(json["attempts"].as_array().unwrap().len(), 1);
    let log = json["attempts"][0]["log"].as_str().unwrap();
    assert!(log.contains("PATH=") && !log.contains(TOKEN), "{log}");
    assert_eq!(request["cycle"]["scope"], "everything");
    assert!(request["diff"].as_str().unwrap().starts_with("diff --git "), "{request}");
    assert_eq!(writes, 0);

    let (run, _, _) = review("quiet", "orange", &script, &["acme/shop#1", "--reviewer", "orange"]).await;
    assert!(run.out.contains("nothing is posted") && run.out.contains("would open a thread"), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'), "{:?}", run.out);
}

#[tokio::test]
async fn every_attempt_of_a_failing_reviewer_is_shown() {
    let arguments = ["acme/shop#1", "--reviewer", "orange", "--json"];
    let (run, _, _) = review("quiet", "orange", "echo nonsense", &arguments).await;
    assert_eq!(run.code, 12, "{run:?}");
    let json = run.json();
    assert_eq!(json["outcome"], "failed");
    let kinds: Vec<&Value> = json["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attempt| &attempt["violations"][0]["kind"])
        .collect();
    assert_eq!(kinds, [&json!("malformed_answer"); 3]);
    let (run, _, _) =
        review("quiet", "orange", "echo nonsense", &["acme/shop#1", "--reviewer", "orange"]).await;
    assert!(run.out.contains("attempt 3") && run.out.contains("malformed_answer"), "{}", run.out);
}

#[tokio::test]
async fn a_reviewer_decides_about_the_threads_that_the_forge_shows_as_its_own() {
    let simulator = start("converges").await;
    simulator.advance(std::time::Duration::from_mins(2));
    let answer = |action: &str, stance: &str| {
        format!(
            "ids=$(tr '{{' '\\n' < $request | sed -n 's/^\"id\":\"\\([^\"]*\\)\".*/\\1/p')\n\
             list=; for id in $ids; do list=\"$list,{{\\\"thread\\\":\\\"$id\\\",\\\"action\\\":\\\"{action}\\\",\\\"stance\\\":\\\"{stance}\\\",\\\"body\\\":\\\"Seen.\\\"}}\"; done\n\
             echo \"{{\\\"actions\\\":[${{list#,}}]}}\""
        )
    };
    let arguments = ["acme/shop#7", "--reviewer", "coderabbit", "--json"];
    let (run, request, writes) =
        review_on(&simulator, "coderabbit", &answer("resolve", "accepts"), &arguments).await;
    assert_eq!((run.code, writes), (0, 0), "{run:?}");
    let threads = request["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2, "{request}");
    assert_eq!(threads[0]["legal"]["seeks_change"], json!(["escalate", "reply", "resolve", "veto"]));
    let json = run.json();
    assert_eq!(json["actions"].as_array().unwrap().len(), 2);
    assert_eq!(json["actions"][0]["action"], "resolve");
    assert!(
        json["threads"].as_array().unwrap().iter().all(|thread| thread["status"] == "resolved"),
        "{json}"
    );

    let (run, _, _) = review_on(&simulator, "coderabbit", &answer("argue", "accepts"), &arguments).await;
    assert_eq!(run.code, 12, "{run:?}");
    let threads = run.json()["threads"].clone();
    assert!(
        threads.as_array().unwrap().iter().all(|thread| thread["cause"] == "reviewer_failed"),
        "{threads}"
    );
}

#[tokio::test]
async fn nothing_found_is_success_and_a_wrong_name_is_wrong_usage() {
    let quiet = "echo '{\"findings\": [], \"summary\": null}'";
    let (run, _, _) = review("quiet", "orange", quiet, &["acme/shop#1", "--reviewer", "orange"]).await;
    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
    let (run, _, _) = review("quiet", "orange", quiet, &["acme/shop#1", "--reviewer", "blue"]).await;
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("no reviewer is named blue; configured reviewers: orange, counted"),
        "{}",
        run.err
    );
    let (run, _, _) = review("quiet", "orange", quiet, &["acme/shop#1", "--reviewer", "counted"]).await;
    assert!(run.code == 2 && run.err.contains("has no `kind`"), "{run:?}");
    let (run, _, _) = review("quiet", "orange", quiet, &["acme/shop#999", "--reviewer", "orange"]).await;
    assert_eq!(run.code, 2, "{run:?}");
}

#[tokio::test]
async fn an_interrupt_ends_the_reviewer_as_well() {
    let simulator = start("quiet").await;
    let home = tempfile::tempdir().unwrap();
    let (reviewer, pid) = (home.path().join("reviewer"), home.path().join("pid"));
    let script =
        format!("#!/bin/sh\necho $$ > '{0}.new'; mv '{0}.new' '{0}'; sleep 600; true\n", pid.display());
    std::fs::write(&reviewer, script).unwrap();
    std::fs::set_permissions(&reviewer, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = home.path().join("config.toml");
    let command = json!([reviewer.to_str().unwrap()]);
    std::fs::write(&config, format!("reviewers = [{{ name = 'r', kind = 'program', command = {command} }}]"))
        .unwrap();
    let arguments = [
        "--api-url",
        &simulator.url(),
        "--config",
        config.to_str().unwrap(),
        "review",
        "acme/shop#1",
        "--reviewer",
        "r",
    ];
    let mut child = program::program(home.path(), &arguments).spawn().unwrap();
    while !pid.exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before the reviewer began");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let id = child.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().await.unwrap().code(), Some(18));
    assert_gone(&std::fs::read_to_string(&pid).unwrap()).await;
}
