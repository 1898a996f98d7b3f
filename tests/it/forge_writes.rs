//! Every kind of write against every fault, over HTTP: in the simulator's own state it appears exactly once.

use crate::support::simulated::{PATIENT, address, client, show, start};
use cloture::domain::snapshot::RepositoryName;
use cloture::domain::verdict::Verdict;
use cloture::github::write::{MergeMethod, NewReviewThread, PullRequestTarget, ThreadTarget, WriteKey};
use cloture::github::writer::WritePace;
use cloture::github::{Client, Error, Write, WriteOutcome, Writer};
use cloture::simulator::{
    Fault, FaultKind, PullSnapshot, PullState, Scenario, SimulatedReviewState, Simulator,
};
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;
use tokio::task::JoinSet;

/// As many pull requests as asked for, each with a thread open and a thread resolved, and as many closed ones. Nobody
/// reacts to anything, and the viewer has no draft.
fn scenario(pull_requests: usize) -> Scenario {
    let text = r#"
title = "Something to write on"
start = "2026-03-02T09:00:00Z"
viewer = "dana"

[[account]]
login = "dana"
[[account]]
login = "erin"
[[account]]
login = "coderabbitai"
kind = "bot"

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
    Scenario::parse(&text.replace("REPEAT", &pull_requests.to_string()), "writes.toml").unwrap()
}

/// A simulator and the pull request in it that one cell of the table has for itself.
#[derive(Clone, Copy)]
struct Place<'a> {
    simulator: &'a Simulator,
    number: u64,
}

/// A write, where a fault is aimed to hit it, and how often it is on the server.
struct Case {
    name: &'static str,
    /// The request that does it.
    aim: &'static str,
    make: fn(Place) -> Write,
    /// How often the write is in effect, by what there is and by what the server was made to change.
    count: fn(Place) -> usize,
}

fn repository() -> RepositoryName {
    RepositoryName::new("acme", "shop").unwrap()
}

/// A state is there once if it holds and was reached in one step.
fn once_if(holds: bool, steps: usize) -> usize {
    if holds { steps } else { 0 }
}

impl Place<'_> {
    fn key(self) -> WriteKey {
        WriteKey::new(&format!("acme/shop/{}/test", self.number)).unwrap()
    }

    fn finding(self) -> WriteKey {
        WriteKey::new(&format!("acme/shop/{}/finding", self.number)).unwrap()
    }

    /// A label that the repository does not have yet.
    fn fresh_label(self) -> String {
        format!("fresh-{}", self.number)
    }

    fn pull_in(self, repository: &str) -> PullSnapshot {
        self.simulator.pull_request(&format!("{repository}#{}", self.number)).unwrap()
    }

    fn pull(self) -> PullSnapshot {
        self.pull_in("acme/shop")
    }

    fn target_in(self, repository: &str) -> PullRequestTarget {
        PullRequestTarget { address: address(repository, self.number), node_id: self.pull_in(repository).id }
    }

    fn target(self) -> PullRequestTarget {
        self.target_in("acme/shop")
    }

    fn thread(self, index: usize) -> ThreadTarget {
        let thread = self.pull().threads.swap_remove(index);
        ThreadTarget {
            pull_request: address("acme/shop", self.number),
            id: thread.id.into(),
            path: thread.path.into(),
            line: Some(1),
        }
    }

    fn review(self, verdict: Verdict) -> Write {
        let finding = NewReviewThread {
            path: "src/a.rs".into(),
            line: 2,
            start_line: Some(1),
            body: "Wrong.".to_owned(),
            key: self.finding(),
        };
        Write::Review {
            on: self.target(),
            verdict,
            head: self.pull().head.into(),
            body: "Summary.".to_owned(),
            threads: vec![finding],
            key: self.key(),
        }
    }

    /// How often the viewer changed something of this kind here. Nothing but a change is noted by the simulator.
    fn changes(self, what: &str) -> usize {
        let here =
            |on: &str| on.rsplit_once('#').is_some_and(|(_, number)| number == self.number.to_string());
        self.simulator.posts().iter().filter(|post| post.what == what && here(&post.on)).count()
    }

    fn reviews(self, state: SimulatedReviewState) -> usize {
        let pull = self.pull();
        let ours = |body: &str| self.key().marks(body);
        let reviews = pull.reviews.iter().filter(|it| it.state == state && ours(&it.body)).count();
        let threads = pull.threads.iter().filter(|it| self.finding().marks(&it.comments[0].body)).count();
        assert_eq!(reviews, threads, "a review comes with its threads");
        assert_eq!(reviews, self.changes("review"));
        reviews
    }
}

#[expect(clippy::too_many_lines, reason = "a list of every write there is")]
fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "reply",
            aim: "addPullRequestReviewThreadReply",
            make: |it| Write::Reply { thread: it.thread(0), body: "Done.".to_owned(), key: it.key() },
            count: |it| {
                let comments = &it.pull().threads[0].comments;
                let count =
                    comments.iter().filter(|said| !said.pending && it.key().marks(&said.body)).count();
                assert_eq!(count, it.changes("reply"));
                count
            },
        },
        Case {
            name: "resolve",
            aim: "resolveReviewThread",
            make: |it| Write::Resolve { thread: it.thread(0) },
            count: |it| once_if(it.pull().threads[0].resolved, it.changes("resolve")),
        },
        Case {
            name: "unresolve",
            aim: "unresolveReviewThread",
            make: |it| Write::Unresolve { thread: it.thread(1) },
            count: |it| once_if(!it.pull().threads[1].resolved, it.changes("unresolve")),
        },
        Case {
            name: "comment",
            aim: "addComment",
            make: |it| Write::Comment { on: it.target(), body: "Hello.".to_owned(), key: it.key() },
            count: |it| {
                let count = it.pull().comments.iter().filter(|said| it.key().marks(&said.body)).count();
                assert_eq!(count, it.changes("comment"));
                count
            },
        },
        Case {
            name: "review: approve",
            aim: "addPullRequestReview",
            make: |it| it.review(Verdict::Approve),
            count: |it| it.reviews(SimulatedReviewState::Approved),
        },
        Case {
            name: "review: request changes",
            aim: "addPullRequestReview",
            make: |it| it.review(Verdict::RequestChanges),
            count: |it| it.reviews(SimulatedReviewState::ChangesRequested),
        },
        Case {
            name: "review: comment",
            aim: "addPullRequestReview",
            make: |it| it.review(Verdict::Comment),
            count: |it| it.reviews(SimulatedReviewState::Commented),
        },
        Case {
            name: "request review",
            aim: "POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers",
            make: |it| Write::RequestReview {
                on: it.target(),
                reviewer: "coderabbitai".into(),
                is_bot: true,
            },
            count: |it| {
                let asked = it.pull().requested_reviewers == ["coderabbitai"];
                once_if(asked, it.changes("request_review"))
            },
        },
        Case {
            name: "add label",
            aim: "addLabelsToLabelable",
            make: |it| Write::AddLabel { on: it.target(), label: "stuck".to_owned() },
            count: |it| once_if(it.pull().labels == ["old", "stuck"], it.changes("label")),
        },
        Case {
            name: "add label that is new",
            aim: "addLabelsToLabelable",
            make: |it| Write::AddLabel { on: it.target(), label: it.fresh_label() },
            count: |it| once_if(it.pull().labels == ["old", &it.fresh_label()], it.changes("label")),
        },
        Case {
            name: "create label, then add it",
            aim: "createLabel",
            make: |it| Write::AddLabel { on: it.target(), label: it.fresh_label() },
            count: |it| once_if(it.pull().labels == ["old", &it.fresh_label()], it.changes("label")),
        },
        Case {
            name: "remove label",
            aim: "removeLabelsFromLabelable",
            make: |it| Write::RemoveLabel { on: it.target(), label: "old".to_owned() },
            count: |it| once_if(it.pull().labels.is_empty(), it.changes("unlabel")),
        },
        Case {
            name: "close",
            aim: "closePullRequest",
            make: |it| Write::Close { on: it.target() },
            count: |it| once_if(it.pull().state == PullState::Closed, it.changes("close")),
        },
        Case {
            name: "reopen",
            aim: "reopenPullRequest",
            make: |it| Write::Reopen { on: it.target_in("acme/closed") },
            count: |it| once_if(it.pull_in("acme/closed").state == PullState::Open, it.changes("reopen")),
        },
        Case {
            name: "merge",
            aim: "mergePullRequest",
            make: |it| Write::Merge {
                on: it.target(),
                head: it.pull().head.into(),
                method: MergeMethod::Squash,
            },
            count: |it| once_if(it.pull().state == PullState::Merged, it.changes("merge")),
        },
        Case {
            name: "minimise",
            aim: "minimizeComment",
            make: |it| Write::Minimize {
                on: address("acme/shop", it.number),
                comment: it.pull().comments[0].id.clone(),
            },
            count: |it| {
                let hidden = it.pull().comments[0].minimized.as_deref() == Some("duplicate");
                once_if(hidden, it.changes("minimize"))
            },
        },
        Case {
            name: "open issue",
            aim: "POST /repos/{owner}/{repo}/issues",
            make: |it| Write::OpenIssue {
                repository: repository(),
                title: "Fix it".to_owned(),
                body: "Please.".to_owned(),
                labels: vec!["stuck".to_owned()],
                assignees: vec!["erin".to_owned()],
                key: it.key(),
            },
            count: |it| {
                let issues = it.simulator.issues();
                issues.iter().filter(|issue| it.key().marks(&issue.body)).count()
            },
        },
        Case {
            name: "dispatch",
            aim: "POST /repos/{owner}/{repo}/dispatches",
            make: |it| Write::Dispatch {
                repository: repository(),
                event_type: "fix".to_owned(),
                payload: Map::from_iter([("round".to_owned(), json!(1))]),
                key: it.key(),
            },
            count: |it| {
                let sent = it.simulator.dispatches();
                sent.iter().filter(|sent| sent.client_payload["cloture_key"] == it.key().as_str()).count()
            },
        },
    ]
}

/// A fault, made for the request it is aimed at.
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

/// The field of a mutation's payload that proves it.
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
    /// It hits the write once.
    Once,
    /// It hits the write each time, until somebody clears it; reading works.
    EachTime,
    /// From the write on nothing works at all until somebody clears it.
    Outage,
}

/// Patience that takes no time: what would be waited for has happened already.
fn at_once() -> WritePace {
    WritePace { between: Duration::ZERO, looks: vec![Duration::ZERO, Duration::ZERO], attempts: 3 }
}

/// Whether a fault shows only once the client has waited long enough.
fn is_silent(fault: &FaultKind) -> bool {
    matches!(fault, FaultKind::Slow { .. } | FaultKind::Stall { .. })
}

/// Which request of an undisturbed write does it, counted from 1.
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
        Err(Error::Refused { .. }) => "refused",
        Err(Error::Malformed { .. }) => "malformed",
    }
}

/// One cell: what the writer said, and what it said when it was asked again. An error is a promise that was broken.
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

    // Whoever supervises comes back later, with a new writer, the fault gone and the limit's time over.
    simulator.clear_faults();
    simulator.advance(Duration::from_mins(2));
    if there > 1 || (said_done && there != 1) {
        return Err(format!("there {there} times after {first:?}"));
    }
    if !write.can_be_looked_for() && first.is_ok() {
        // What cannot be looked for is not sent again: perhaps it is not there, but it never is twice.
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

/// One write under every fault. Each cell has a pull request of its own; where there is a timeout to wait for, also a
/// simulator of its own, so that all of them wait at the same time.
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

/// The viewer has a draft open on this one: a reply goes into it, where nobody sees it, whatever the answer says.
#[tokio::test]
async fn a_reply_that_a_draft_swallows_is_never_reported_as_done_and_never_sent_twice() {
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

/// Writes that fare alike share a line, and so do the faults that end alike.
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
