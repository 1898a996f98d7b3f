//! Every kind of write under every fault, over HTTP: it appears exactly once in the simulator's state.

mod cases;

use crate::support::simulated::{PATIENT, address, client, show, start};
use cases::{Case, Place, cases};
use cloture::github::write::{ThreadTarget, WriteKey};
use cloture::github::writer::WritePace;
use cloture::github::{Client, Error, Write, WriteOutcome, Writer};
use cloture::simulator::{Fault, FaultKind, Scenario};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;
use tokio::task::JoinSet;

const TEAM: &str = include_str!("support/scenarios/team.toml");

/// This many pull requests, each with an open and a resolved thread, and as many closed ones. Nobody reacts,
/// and the viewer has no draft.
fn scenario(pull_requests: usize) -> Scenario {
    let text = r#"
[[repository]]
name = "acme/shop"
members = { dana = "owner", erin = "collaborator" }
labels = ["stuck", "old"]
files = { "src/a.rs" = "fn one() {}\n" }

[[repository]]
name = "acme/closed"
members = { dana = "owner", erin = "collaborator" }

[[pull_request]]
repository = "acme/shop"
number = 1
repeat = REPEAT
title = "Open"
author = "erin"
branch = "open-{n}"
labels = ["old"]
files = { "src/a.rs" = "fn one() { two() }\nfn two() {}\n" }

[[pull_request]]
repository = "acme/closed"
number = 1
repeat = REPEAT
title = "Closed"
author = "erin"
branch = "closed-{n}"
files = { "a.md" = "Text.\n" }

[[step]]
at = "-30m"
pull_request = "acme/shop#*"
[[step.do]]
review = { by = "coderabbitai", body = "Two things.", threads = [
    { name = "open", path = "src/a.rs", line = 1, body = "First." },
    { name = "resolved", path = "src/a.rs", line = 2, body = "Second." },
] }
[[step.do]]
resolve = { by = "erin", thread = "resolved" }
[[step.do]]
comment = { by = "coderabbitai", body = "Said twice." }

[[step]]
at = "-20m"
pull_request = "acme/closed#*"
[[step.do]]
close = { by = "erin" }
"#;
    let text = text.replace("REPEAT", &pull_requests.to_string());
    Scenario::parse(&format!("{TEAM}{text}"), "writes.toml").unwrap()
}

/// Makes a fault for a given request.
type Make = fn(&str) -> FaultKind;

fn faults() -> Vec<(&'static str, Make)> {
    fn partial(path: &[&str], error_type: &str) -> FaultKind {
        let path = path.iter().map(|step| json!(step)).collect();
        FaultKind::Partial { path, error_type: error_type.to_owned(), message: "Something broke.".to_owned() }
    }
    let status = |_: &str| FaultKind::Status { status: 500, message: String::new(), takes_effect: false };
    vec![
        ("500 before", status),
        ("500 after", |_| FaultKind::Status { status: 500, message: String::new(), takes_effect: true }),
        ("502 HTML before", |_| FaultKind::BadGateway { takes_effect: false }),
        ("502 HTML after", |_| FaultKind::BadGateway { takes_effect: true }),
        ("dropped before", |_| FaultKind::DropBefore),
        ("dropped after", |_| FaultKind::DropAfter),
        ("truncated JSON", |_| FaultKind::Truncated),
        ("cut off", |_| FaultKind::CutOff),
        ("slow, took effect", |_| FaultKind::Slow { millis: 60_000 }),
        ("stalled, did not", |_| FaultKind::Stall { millis: 60_000 }),
        ("401", |_| FaultKind::Unauthorized),
        ("403", |_| FaultKind::Forbidden { message: "Resource not accessible by integration".to_owned() }),
        ("404", |_| FaultKind::NotFound),
        ("secondary as 403", |_| FaultKind::SecondaryLimit { retry_after: 30, as_success: false }),
        ("secondary as 200", |_| FaultKind::SecondaryLimit { retry_after: 30, as_success: true }),
        ("primary as 200", |_| FaultKind::PrimaryLimit {
            reset_in: 60,
            error_type: "RATE_LIMITED".to_owned(),
        }),
        ("primary, other type", |_| FaultKind::PrimaryLimit {
            reset_in: 60,
            error_type: "RATE_LIMIT".to_owned(),
        }),
        ("partial, nothing left", |aim| partial(&[aim], "INTERNAL")),
        ("partial, a refusal", |aim| partial(&[aim], "FORBIDDEN")),
        ("partial, inside", |aim| partial(&[aim, thing(aim)], "FORBIDDEN")),
        ("partial, elsewhere", |_| partial(&["somethingElse", "entirely"], "INTERNAL")),
    ]
}

/// The field of a mutation's payload that proves success.
fn thing(aim: &str) -> &'static str {
    match aim {
        "addPullRequestReviewThreadReply" => "comment",
        "resolveReviewThread" | "unresolveReviewThread" => "thread",
        "addComment" => "commentEdge",
        "addPullRequestReview" => "pullRequestReview",
        "addLabelsToLabelable" | "removeLabelsFromLabelable" => "labelable",
        "createLabel" => "label",
        "minimizeComment" => "minimizedComment",
        _ => "pullRequest",
    }
}

/// How long a fault lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lasting {
    /// It hits one request of the write.
    Once,
    /// It hits every request of the write until the test clears it; reading works.
    EachTime,
    /// From the write on, every request fails until the test clears it.
    Outage,
}

/// A pace without waits: the simulator has already done everything that the writer would wait for.
fn at_once() -> WritePace {
    WritePace { between: Duration::ZERO, looks: vec![Duration::ZERO, Duration::ZERO], attempts: 3 }
}

/// Whether the client notices a fault only by its timeout.
fn is_silent(fault: &FaultKind) -> bool {
    matches!(fault, FaultKind::Slow { .. } | FaultKind::Stall { .. })
}

/// The number of the request that carries an undisturbed write out, counted from 1.
async fn position(case: &Case, place: Place<'_>, client: &Client) -> u32 {
    let before = place.simulator.request_count();
    let outcome = Writer::new(client, at_once()).write(&(case.make)(place)).await.unwrap();
    assert!(matches!(outcome, WriteOutcome::Done(_)), "{}: {outcome:?}", case.name);
    assert_eq!((case.count)(place), 1, "{}", case.name);
    let requests = place.simulator.requests_since(before);
    let it =
        requests.iter().position(|it| it.operation == case.aim || it.fields.iter().any(|f| f == case.aim));
    u32::try_from(it.unwrap()).unwrap() + 1
}

fn word(outcome: &Result<WriteOutcome, Error>) -> &'static str {
    match outcome {
        Ok(WriteOutcome::Done(_)) => "done",
        Ok(WriteOutcome::AlreadyThere(_)) => "there",
        Ok(WriteOutcome::SwallowedByDraft(_)) => "draft",
        Ok(WriteOutcome::Unknown { may_be_repeated: true, .. }) => "unknown",
        Ok(WriteOutcome::Unknown { may_be_repeated: false, .. }) => "unknown for good",
        Err(Error::Transient { .. }) => "failed",
        Err(Error::RateLimited { .. }) => "limited",
        Err(Error::Denied { .. }) => "denied",
        Err(Error::Unauthorised { .. }) => "unauthorised",
        Err(Error::Gone { .. }) => "gone",
        Err(Error::Refused { .. } | Error::Withheld { .. }) => "refused",
        Err(Error::Malformed { .. }) => "malformed",
    }
}

/// One cell: the writer's result, and its result for a second run. An error is a broken promise.
async fn run(
    case: &Case,
    kind: &FaultKind,
    (lasting, position): (Lasting, u32),
    place: Place<'_>,
    client: &Client,
) -> Result<String, String> {
    let simulator = place.simulator;
    let write = (case.make)(place);
    simulator.inject(match lasting {
        Lasting::Once => Fault::once(case.aim, kind.clone()),
        Lasting::EachTime => Fault::always(case.aim, kind.clone()),
        Lasting::Outage => Fault { on: "*".to_owned(), nth: position, times: 0, kind: kind.clone() },
    });
    let first = Writer::new(client, at_once()).write(&write).await;
    let there = (case.count)(place);
    let said_done = matches!(first, Ok(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_)));

    // The supervisor tries again later, with a new writer, without the fault and after the rate limit.
    simulator.clear_faults();
    simulator.advance(Duration::from_mins(2));
    if there > 1 || (said_done && there != 1) {
        return Err(format!("there {there} times after {first:?}"));
    }
    if !write.can_be_looked_for() && first.is_ok() {
        // A write that cannot be looked for is not sent again: it may be missing, but it is never there
        // twice.
        return Ok(format!("{} (there: {there})", word(&first)));
    }
    let again = Writer::new(client, at_once()).write(&write).await;
    let expected = if there == 1 { "there" } else { "done" };
    let now_there = (case.count)(place);
    if word(&again) != expected || now_there != 1 {
        return Err(format!("there {now_there} times after {first:?} and {again:?}"));
    }
    Ok(match word(&first) {
        "done" => "done".to_owned(),
        first => format!("{first}, then {expected}"),
    })
}

const HOW_LONG: [Lasting; 3] = [Lasting::Once, Lasting::EachTime, Lasting::Outage];

/// One write under every fault. Each cell has its own pull request. A cell with a timeout also has its own
/// simulator, so that all timeouts run at the same time.
async fn row(case: Case) -> Cells {
    let cells =
        || faults().into_iter().flat_map(|(name, make)| HOW_LONG.map(|lasting| (name, make, lasting)));
    let simulator = start(&scenario(cells().count() + 1)).await;
    let patient = client(&simulator.url(), "any", PATIENT);
    let place = |number: usize| Place { simulator: &simulator, number: number as u64 };
    let position = position(&case, place(cells().count() + 1), &patient).await;
    let mut done = Vec::new();
    let mut waiting = Vec::new();
    for (index, (name, make, lasting)) in cells().enumerate() {
        let kind = make(case.aim);
        if is_silent(&kind) {
            let case = &case;
            waiting.push(async move {
                let simulator = start(&scenario(1)).await;
                let client = client(&simulator.url(), "any", Duration::from_secs(2));
                let place = Place { simulator: &simulator, number: 1 };
                (name, lasting, run(case, &kind, (lasting, position), place, &client).await)
            });
        } else {
            let cell = run(&case, &kind, (lasting, position), place(index + 1), &patient).await;
            done.push((name, lasting, cell));
        }
    }
    done.extend(together(waiting).await);
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_write_appears_exactly_once_under_every_fault() {
    let mut running = JoinSet::new();
    for (index, case) in cases().into_iter().enumerate() {
        running.spawn(async move { (index, (case.name, row(case).await)) });
    }
    let mut rows = BTreeMap::new();
    while let Some(row) = running.join_next().await {
        rows.extend([row.unwrap()]);
    }
    show(&table(&rows));
    let broken: Vec<String> = rows
        .values()
        .flat_map(|(name, cells)| cells.iter().map(move |cell| (name, cell)))
        .filter_map(|(name, (fault, lasting, outcome))| {
            outcome.as_ref().err().map(|error| format!("{name} under {fault}, {lasting:?}: {error}"))
        })
        .collect();
    assert_eq!((rows.len(), broken), (cases().len(), Vec::new()));
}

/// The viewer has an open draft here, so GitHub puts a reply into it, where nobody else sees it.
#[tokio::test]
async fn a_reply_in_a_draft_is_never_reported_as_done_and_never_sent_twice() {
    for (name, make) in faults() {
        let kind = make("addPullRequestReviewThreadReply");
        if is_silent(&kind) {
            continue;
        }
        let simulator = start(&Scenario::built_in("nulls").unwrap()).await;
        let client = client(&simulator.url(), "any", PATIENT);
        let pull = || simulator.pull_request("acme/shop#3").unwrap();
        let thread = ThreadTarget {
            pull_request: address("acme/shop", 3),
            id: pull().threads[0].id.as_str().into(),
            path: "src/a.rs".into(),
            line: None,
        };
        let key = WriteKey::new("acme/shop/3/reply").unwrap();
        let write = Write::Reply { thread, body: "Done.".to_owned(), key: key.clone() };
        simulator.inject(Fault::once("addPullRequestReviewThreadReply", kind));
        let first = Writer::new(&client, at_once()).write(&write).await;
        assert!(
            !matches!(first, Ok(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_))),
            "{name}: {first:?}"
        );
        simulator.clear_faults();
        simulator.advance(Duration::from_mins(2));
        let again = Writer::new(&client, at_once()).write(&write).await;
        assert!(matches!(again, Ok(WriteOutcome::SwallowedByDraft(_))), "{name}: {again:?}");
        let replies = simulator.posts();
        assert_eq!(replies.len(), 1, "{name}: {replies:?}");
        let said = pull().threads.swap_remove(0).comments;
        let ours: Vec<bool> = said.iter().filter(|it| key.marks(&it.body)).map(|it| it.pending).collect();
        assert_eq!(ours, [true], "{name}");
    }
}

type Cells = Vec<(&'static str, Lasting, Result<String, String>)>;

async fn together<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut pinned: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = pinned.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in pinned.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(context)
            {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// Writes with the same results share a line, and so do faults with the same result.
fn table(rows: &BTreeMap<usize, (&'static str, Cells)>) -> String {
    let mut text = String::new();
    for lasting in HOW_LONG {
        let mut alike: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, cells) in rows.values() {
            let mut outcomes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for (fault, _, outcome) in cells.iter().filter(|cell| cell.1 == lasting) {
                outcomes.entry(outcome.as_deref().unwrap_or("BROKEN")).or_default().push(fault);
            }
            let lines =
                outcomes.iter().map(|(outcome, faults)| format!("    {outcome}: {}", faults.join(" / ")));
            let fared = lines.collect::<Vec<_>>().join("\n");
            match alike.iter_mut().find(|(known, _)| *known == fared) {
                Some((_, names)) => names.push(name),
                None => alike.push((fared, vec![name])),
            }
        }
        for (fared, names) in alike {
            writeln!(text, "{lasting:?}: {}\n{fared}", names.join(", ")).unwrap();
        }
    }
    text
}
