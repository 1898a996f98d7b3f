//! A rehearsal shows exactly the calls that a real run sends, and sends nothing.

use crate::support::program::run;
use crate::support::verbs::{agreed, all, changes, start};
use cloture::github::documents;
use cloture::output::sanitize::is_hostile;
use serde_json::{Value, json};

/// The placeholder for the id that GitHub gives a new label.
const UNKNOWN_YET: &str = "(the new label's id)";

/// A rehearsed call, as the server would see it.
fn on_the_wire(call: &Value) -> (String, String, Value) {
    let text = |name: &str| call[name].as_str().unwrap().to_owned();
    let body = match call.get("document") {
        Some(name) => {
            let document = documents::ALL.iter().find(|document| document.name == name).unwrap();
            json!({"query": document.text, "variables": call["variables"]})
        }
        None => call["body"].clone(),
    };
    (text("method"), text("path"), body)
}

#[tokio::test]
async fn a_rehearsal_shows_what_a_real_run_sends() {
    for verb in all() {
        let simulator = start().await;
        let before = simulator.snapshot();
        let rehearsal = run(&simulator.url(), &[verb.command, &["--dry-run", "--json"]].concat()).await;
        assert_eq!((rehearsal.code, rehearsal.err.as_str()), (0, ""), "{rehearsal:?}");
        assert!(simulator.requests().iter().all(|request| !request.writes), "{}", verb.name());
        assert_eq!(simulator.snapshot(), before, "{}", verb.name());
        let document = rehearsal.json();
        assert_eq!((&document["dry_run"], &document["repository"]), (&json!(true), &json!("acme/shop")));
        let writes = document["writes"].as_array().unwrap();
        assert!(writes.iter().all(|write| write["outcome"] == "rehearsed"));
        let calls = writes.iter().flat_map(|write| write["calls"].as_array().unwrap());
        let expected: Vec<_> = calls.map(on_the_wire).collect();
        assert!(!expected.is_empty(), "{}", verb.name());

        let real = agreed(&simulator, verb.command).await;
        assert_eq!((real.code, real.err.as_str()), (0, ""), "{real:?}");
        assert_eq!(
            (&real.json()["dry_run"], &real.json()["writes"][0]["outcome"]),
            (&json!(false), &json!("done"))
        );
        let written = simulator.requests().into_iter().filter(|request| request.writes);
        let mut sent: Vec<_> =
            written.map(|request| (request.method, request.path, request.sent.unwrap())).collect();
        for ((_, _, sent), (_, _, expected)) in sent.iter_mut().zip(&expected) {
            if expected["variables"]["label"] == UNKNOWN_YET {
                sent["variables"]["label"] = json!(UNKNOWN_YET);
            }
        }
        assert_eq!(sent, expected, "{}", verb.name());
        assert!((verb.holds)(&simulator), "{}", verb.name());
    }
}

#[tokio::test]
async fn people_read_the_sentence_and_then_each_call() {
    let simulator = start().await;
    let command = ["act", "acme/shop#1", "src/a.rs:1", "resolve", "--reason", "Fixed.", "--dry-run"];
    let run = run(&simulator.url(), &command).await;
    assert_eq!(run.code, 0, "{run:?}");
    let id = &simulator.pull_request("acme/shop#1").unwrap().threads[0].id;
    let expected = [
        "Reply with 6 characters in the thread at src/a.rs:1 of acme/shop#1.\n  POST /graphql reply\n  {\n    \"body\": \"Fixed.\\n\\n<!-- cloture:act/resolve/",
        &format!(
            "\",\n    \"thread\": \"{id}\"\n  }}\nResolve the thread at src/a.rs:1 of acme/shop#1.\n  POST /graphql resolve\n  {{\n    \"thread\": \"{id}\"\n  }}\n"
        ),
    ];
    assert!(run.out.starts_with(expected[0]) && run.out.ends_with(expected[1]), "{}", run.out);
    assert_eq!(changes(&simulator), [""; 0]);
}

#[tokio::test]
async fn removing_a_label_that_is_not_there_sends_nothing() {
    let simulator = start().await;
    let command = ["pr", "acme/shop#1", "unlabel", "nowhere"];
    let rehearsal = run(&simulator.url(), &[&command[..], &["--dry-run"]].concat()).await;
    assert!(rehearsal.out.ends_with("  There is nothing to send.\n"), "{}", rehearsal.out);
    let real = agreed(&simulator, &command).await;
    assert_eq!((real.code, &real.json()["writes"][0]["outcome"]), (0, &json!("already_there")));
}

#[tokio::test]
async fn hostile_text_is_sent_verbatim_and_shown_harmless() {
    let hostile = "\u{1b}[2J\u{9b}31mgone \u{202e}desrever\u{200b} \u{e0041}";
    let simulator = start().await;
    let commands = [
        vec!["pr", "acme/shop#1", "issue", "--title", hostile, "--body", hostile],
        vec!["pr", "acme/shop#1", "label", hostile],
        vec!["pr", "acme/shop#1", "dispatch", hostile],
        vec!["act", "acme/shop#1", "src/a.rs:1", "reply", "--body", hostile],
        vec!["act", "acme/shop#1", hostile, "hide"],
    ];
    for command in commands {
        for how in [&["--dry-run"][..], &["--dry-run", "--json"], &["--yes"], &["--yes", "--json"]] {
            let run = run(&simulator.url(), &[&command, how].concat()).await;
            let text = run.out + &run.err;
            assert!(!text.chars().any(|c| c != '\n' && is_hostile(c)), "{text:?}");
            assert!(!text.is_empty());
        }
    }
    assert_eq!(changes(&simulator), ["issue", "label", "dispatch", "dispatch", "reply"]);
    assert_eq!(simulator.issues()[0].title, hostile);
}
