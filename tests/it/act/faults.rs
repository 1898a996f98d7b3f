//! Every verb under every fault: it takes effect on the server exactly once, also when the command is run
//! again.

use crate::support::folder;
use crate::support::program::program;
use crate::support::verbs::{Verb, agreed, all, changes, start};
use cloture::simulator::{Fault, FaultKind};
use serde_json::json;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How a command has to handle a fault that happens once.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    /// It looks for the write, sends it again if it is missing, and succeeds.
    Recovers,
    /// It exits with this code, and nothing was done.
    GivesUp(i32),
}

fn once() -> Vec<(&'static str, Then, FaultKind)> {
    let status = |takes_effect| FaultKind::Status { status: 500, message: String::new(), takes_effect };
    vec![
        ("500", Then::Recovers, status(false)),
        ("500 although it took effect", Then::Recovers, status(true)),
        ("502 as HTML", Then::Recovers, FaultKind::BadGateway { takes_effect: false }),
        ("502 although it took effect", Then::Recovers, FaultKind::BadGateway { takes_effect: true }),
        ("dropped before", Then::Recovers, FaultKind::DropBefore),
        ("dropped after", Then::Recovers, FaultKind::DropAfter),
        ("truncated JSON", Then::Recovers, FaultKind::Truncated),
        ("401", Then::GivesUp(4), FaultKind::Unauthorized),
        (
            "secondary limit",
            Then::GivesUp(5),
            FaultKind::SecondaryLimit { retry_after: 30, as_success: false },
        ),
        (
            "hourly limit",
            Then::GivesUp(5),
            FaultKind::PrimaryLimit { reset_in: 60, error_type: "RATE_LIMITED".to_owned() },
        ),
    ]
}

/// The answer holds only an error, although the write took effect. REST has no such answers.
fn partial(aim: &str) -> Option<(&'static str, Then, FaultKind)> {
    let kind = FaultKind::Partial {
        path: vec![json!(aim)],
        error_type: "INTERNAL".to_owned(),
        message: "Something broke.".to_owned(),
    };
    (!aim.starts_with("POST ")).then_some(("partial data", Then::Recovers, kind))
}

/// One cell of the table. An error is a broken promise.
async fn cell(verb: Verb, then: Then, kind: FaultKind) -> Result<(), String> {
    let simulator = start().await;
    simulator.inject(Fault::once(verb.aim, kind));
    let first = agreed(&simulator, verb.command).await;
    let there = changes(&simulator);
    let holds = (verb.holds)(&simulator);
    let struck = simulator.any_request(|request| request.outcome.starts_with("fault: "));
    let told = format!("{first:?}, there: {there:?}");
    if !struck {
        return Err(format!("the fault did not strike: {told}"));
    }
    if !verb.changes.starts_with(&there.iter().map(String::as_str).collect::<Vec<_>>()) {
        return Err(format!("more than once, or something else: {told}"));
    }
    let writes = first.json()["writes"].as_array().cloned().unwrap_or_default();
    let last = writes.iter().rfind(|write| write["outcome"] != "not_tried").cloned().unwrap_or_default();
    match (then, first.code) {
        // Nobody can look for it, so its arrival stays uncertain, and it is not sent again.
        (Then::Recovers, 5) if verb.is_dispatch() => {
            let unknown = last["outcome"] == "unknown" && last["may_be_repeated"] == false;
            let says_so = first.err.contains("cannot tell whether it arrived");
            return if unknown && says_so { Ok(()) } else { Err(told) };
        }
        (Then::Recovers, 0) if holds && there == verb.changes => {}
        (Then::GivesUp(code), found) if code == found => {
            let says_so = first.err.contains("It was not done: ") && last["outcome"] == "not_done";
            if holds || there == verb.changes || !says_so {
                return Err(told);
            }
        }
        _ => return Err(told),
    }
    if verb.is_dispatch() && first.code == 0 {
        return Ok(());
    }
    // After the fault, the user runs the command again.
    simulator.clear_faults();
    simulator.advance(Duration::from_mins(2));
    let again = agreed(&simulator, verb.command).await;
    let now_there = changes(&simulator);
    if again.code != 0 || now_there != verb.changes || !(verb.holds)(&simulator) {
        return Err(format!("{told}, and then {again:?}, there: {now_there:?}"));
    }
    Ok(())
}

/// The server has done it, and the command is dead before the answer.
#[tokio::test]
async fn a_command_that_is_killed_before_the_answer_can_be_run_again() {
    for verb in all().into_iter().filter(|verb| !verb.is_dispatch()) {
        let simulator = start().await;
        simulator.inject(Fault::once(verb.aim, FaultKind::Slow { millis: 600_000 }));
        let home = folder::temporary();
        let url = simulator.url();
        let mut command = program(home.path(), &[&["--api-url", &url], verb.command, &["--yes"]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        simulator.wait_until(|it| it.any_request(|request| request.outcome == "fault: slow")).await;
        child.kill().await.unwrap();
        let again = agreed(&simulator, verb.command).await;
        assert_eq!((again.code, again.err.as_str()), (0, ""), "{}: {again:?}", verb.name());
        assert_eq!(changes(&simulator), verb.changes, "{}", verb.name());
        assert!((verb.holds)(&simulator), "{}", verb.name());
    }
}

/// The program waits for lost answers in real time, so all cells wait together.
const AT_ONCE: usize = 128;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_verb_is_in_effect_exactly_once_under_every_fault() {
    let gate = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for verb in all() {
        for (name, then, kind) in once().into_iter().chain(partial(verb.aim)) {
            let gate = Arc::clone(&gate);
            running.spawn(async move {
                let _turn = gate.acquire().await.unwrap();
                cell(verb, then, kind).await.map_err(|error| format!("{} under {name}: {error}", verb.name()))
            });
        }
    }
    let cells = running.len();
    let mut broken: Vec<String> = running.join_all().await.into_iter().filter_map(Result::err).collect();
    broken.sort();
    assert!(broken.is_empty(), "{} of {cells} cells:\n{}", broken.len(), broken.join("\n"));
    assert_eq!(cells, all().len() * 11 - 3, "three verbs are sent over REST, where no data is partial");
}

#[tokio::test]
async fn a_token_that_is_never_good_writes_nothing() {
    let simulator = start().await;
    for verb in all() {
        simulator.inject(Fault::always("writes", FaultKind::Unauthorized));
        let refused = agreed(&simulator, verb.command).await;
        assert_eq!(refused.code, 4, "{}: {refused:?}", verb.name());
        assert!(refused.err.contains("the token is not valid"), "{}", refused.err);
        simulator.clear_faults();
    }
    assert_eq!(changes(&simulator), [""; 0]);
}

/// The server never accepts the write, and says so when the writer looks for it.
#[tokio::test]
async fn a_write_that_certainly_failed_is_reported_as_not_done() {
    let simulator = start().await;
    simulator.inject(Fault::always(
        "addComment",
        FaultKind::Status { status: 500, message: String::new(), takes_effect: false },
    ));
    let run = agreed(&simulator, &["pr", "acme/shop#1", "comment", "--body", "Hello."]).await;
    assert_eq!(run.code, 5, "{run:?}");
    assert!(
        run.err.contains("It was not done: commenting failed: the server answered 500")
            && run.err.contains("; run the same command again"),
        "{}",
        run.err
    );
    assert_eq!(run.json()["writes"][0]["outcome"], "not_done");
    assert_eq!(changes(&simulator), [""; 0]);
}

/// From the write on the server does not answer, so the arrival is uncertain.
#[tokio::test]
async fn an_uncertain_write_is_reported_as_unknown_and_found_later() {
    let simulator = start().await;
    let command = ["pr", "acme/shop#1", "comment", "--body", "Hello."];
    // The requests before the write have to work; an undisturbed run counts them.
    let undisturbed = start().await;
    agreed(&undisturbed, &command).await;
    let before = undisturbed.requests().iter().position(|request| request.writes).unwrap();
    let nth = u32::try_from(before).unwrap() + 1;
    simulator.inject(Fault { on: "*".to_owned(), nth, times: 0, kind: FaultKind::DropAfter });
    let first = agreed(&simulator, &command).await;
    assert_eq!(first.code, 5, "{first:?}");
    assert!(first.err.contains("cannot tell yet whether it arrived"), "{}", first.err);
    assert!(first.err.contains("Run the same command again."), "{}", first.err);
    let write = &first.json()["writes"][0];
    assert_eq!((&write["outcome"], &write["may_be_repeated"]), (&json!("unknown"), &json!(true)));
    simulator.clear_faults();
    let again = agreed(&simulator, &command).await;
    assert_eq!((again.code, &again.json()["writes"][0]["outcome"]), (0, &json!("already_there")));
    assert_eq!(changes(&simulator), ["comment"]);
}

#[tokio::test]
async fn a_pull_request_that_cannot_be_read_is_not_written_to() {
    let simulator = start().await;
    let command = ["act", "acme/shop#1", "src/a.rs:1", "resolve"];
    for (kind, code) in [
        (FaultKind::Unauthorized, 4),
        (FaultKind::BadGateway { takes_effect: false }, 5),
        (FaultKind::SecondaryLimit { retry_after: 30, as_success: true }, 5),
    ] {
        simulator.inject(Fault::always("reads", kind));
        let run = agreed(&simulator, &command).await;
        assert_eq!((run.code, run.out.as_str()), (code, ""), "{run:?}");
        assert!(run.err.contains("nothing was written: "), "{}", run.err);
        simulator.clear_faults();
    }
    let nowhere = agreed(&simulator, &["pr", "acme/shop#9", "close"]).await;
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
    assert_eq!(changes(&simulator), [""; 0]);
}
