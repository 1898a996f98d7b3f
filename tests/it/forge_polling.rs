//! An hour of polling the simulator: its cost, the delay until a change is noticed, and the effect on other
//! tasks.
//!
//! `CLOTURE_FORGE_THREADS` sets the number of threads per pull request; the figures in `BENCHMARKS.md` use
//! 40.

use crate::support::simulated::{PATIENT, address, client, show, start};
use cloture::domain::snapshot::{PullRequestSnapshot, PullRequestState};
use cloture::github::poll::{FullReadReason, PollEvent, PollReport, PollSettings, Poller};
use cloture::github::{Client, Reader};
use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

fn threads() -> usize {
    asked_for().unwrap_or(4)
}

fn asked_for() -> Option<usize> {
    std::env::var("CLOTURE_FORGE_THREADS").ok().and_then(|text| text.parse().ok())
}

const TEAM: &str = include_str!("support/scenarios/team.toml");

/// A scenario with this many pull requests, each with this many threads of two comments.
fn scenario(pull_requests: u64, threads: usize) -> Scenario {
    let text = format!(
        r#"{TEAM}
[[repository]]
name = "acme/shop"
members = {{ dana = "owner", erin = "collaborator" }}
files = {{ "src/a.rs" = "fn one() {{}}\n" }}

[[pull_request]]
repository = "acme/shop"
number = 1
repeat = {pull_requests}
title = "Change number {{n}}"
author = "erin"
created = "-3h"
branch = "change-{{n}}"
files = {{ "src/a.rs" = "fn one() {{ two() }}\n" }}

[[step]]
at = "-2h"
pull_request = "acme/shop#*"
[[step.do]]
review = {{ by = "coderabbitai", body = "**Actionable comments posted: {threads}**", threads = [
    {{ name = "t{{n}}", repeat = {threads}, path = "src/a.rs", line = 1, body = "_⚠️ Potential issue_ | _🟡 Minor_\n\n**Finding number {{n}}.**" }},
] }}
[[step.do]]
reply = {{ by = "erin", thread = "all", body = "I do not think so." }}
[[step.do]]
check_run = {{ by = "coderabbitai", name = "CodeRabbit", conclusion = "success" }}
"#
    );
    Scenario::parse(&text, "many.toml").unwrap()
}

struct Watch {
    simulator: Simulator,
    poller: Poller<Client>,
}

impl Watch {
    async fn new(count: u64, threads: usize) -> Self {
        let simulator = start(&scenario(count, threads)).await;
        let poller = poller(client(&simulator.url(), "any", PATIENT), count);
        Self { simulator, poller }
    }

    /// One poll; then a minute passes.
    async fn poll(&mut self) -> (Vec<(PullRequestSnapshot, FullReadReason)>, PollReport) {
        let mut seen = Vec::new();
        let mut others = Vec::new();
        let tell = |sighting| match sighting {
            PollEvent::Read { read, why, .. } => seen.push((read.snapshot, why)),
            other => others.push(other),
        };
        let report = self.poller.poll(self.simulator.now(), tell).await;
        assert_eq!(others, [], "nothing fails here");
        assert_eq!((&report.limited, &report.budget.stretched), (&None, &None));
        self.simulator.advance(Duration::from_mins(1));
        (seen, report)
    }
}

fn poller(client: Client, count: u64) -> Poller<Client> {
    let mut poller = Poller::new(Arc::new(Reader::new(client)), PollSettings::default());
    for number in 1..=count {
        poller.schedule_mut().track(address("acme/shop", number), None);
    }
    poller
}

/// A change to a pull request, and how a snapshot shows it.
struct Change {
    minute: u64,
    action: &'static str,
    seen: fn(&PullRequestSnapshot) -> bool,
    /// The most minutes until the poller must notice it.
    within: u64,
}

fn changes(count: u64) -> Vec<Change> {
    // The sweep finds the edit of an older comment, except that a single pull request is read every time.
    let edits = if count == 1 { 0 } else { 60 };
    vec![
        Change {
            minute: 3,
            action: r#"edit = { by = "coderabbitai", thread = "t1", body = "Edited." }"#,
            seen: |it| it.threads[0].comments[0].body == "Edited.",
            within: edits,
        },
        Change {
            minute: 7,
            action: r#"resolve = { by = "erin", thread = "t2" }"#,
            seen: |it| it.threads[1].resolved,
            within: 0,
        },
        Change {
            minute: 13,
            action: r#"push = { by = "erin", files = { "b.md" = "New.\n" } }"#,
            seen: |it| it.checks.seen().is_some_and(Vec::is_empty),
            within: 0,
        },
        Change {
            minute: 19,
            action: r#"comment = { by = "erin", name = "c", body = "Hello." }"#,
            seen: |it| it.comments.iter().any(|comment| comment.body == "Hello."),
            within: 0,
        },
        Change {
            minute: 23,
            action: r#"edit = { by = "erin", comment = "c", body = "Hello again." }"#,
            seen: |it| it.comments.iter().any(|comment| comment.body == "Hello again."),
            within: 0,
        },
        Change {
            minute: 29,
            action: r#"reply = { by = "erin", thread = "t3", body = "One more word." }"#,
            seen: |it| it.threads[2].comments.iter().any(|comment| comment.body == "One more word."),
            within: 0,
        },
        Change {
            minute: 31,
            action: r#"check_run = { by = "coderabbitai", name = "Second look" }"#,
            seen: |it| it.checks.seen().unwrap().iter().any(|check| check.name == "Second look"),
            within: 0,
        },
        Change {
            minute: 37,
            action: r#"label = { by = "erin", name = "bug" }"#,
            seen: |it| it.labels == ["bug"],
            within: 0,
        },
        Change {
            minute: 41,
            action: r#"merge = { by = "dana" }"#,
            seen: |it| it.state == PullRequestState::Merged,
            within: 0,
        },
    ]
}

/// The pull request that a change happens to: the changes are spread evenly over all. The edit of a comment
/// happens where the comment is.
fn place(index: usize, count: u64) -> u64 {
    let index = if index == 4 { 3 } else { index };
    1 + (index as u64 * count.div_ceil(9)) % count
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_hour_against_the_simulator_keeps_its_budget_and_misses_nothing() {
    for (count, promised) in [(1, 60), (50, 200), (500, 1_500)] {
        let began = Instant::now();
        let mut watch = Watch::new(count, threads()).await;
        let (first, first_report) = watch.poll().await;
        let mut reported = first_report.spent.points;
        assert_eq!(first.len() as u64, count, "everything is read at first");
        let (first_points, first_requests) = (watch.simulator.points(), watch.simulator.request_count());

        let mut waiting: Vec<(usize, Change)> = Vec::new();
        let mut coming = changes(count).into_iter().enumerate().peekable();
        let mut points = 0;
        let mut requests = 0;
        for minute in 0.. {
            while let Some(change) = coming.next_if(|(_, change)| change.minute == minute) {
                let name = format!("acme/shop#{}", place(change.0, count));
                watch.simulator.perform_toml(&name, &format!("[[do]]\n{}\n", change.1.action)).unwrap();
                waiting.push(change);
            }
            let (seen, report) = watch.poll().await;
            reported += report.spent.points;
            waiting.retain(|(index, change)| {
                let it = seen.iter().find(|(it, _)| it.number == place(*index, count));
                !it.is_some_and(|(it, _)| (change.seen)(it))
            });
            for (_, change) in &waiting {
                let late = minute - change.minute >= change.within;
                assert!(!late, "{count}: at minute {minute} not seen: {}", change.action);
            }
            if minute == 59 {
                points = watch.simulator.points() - first_points;
                requests = watch.simulator.request_count() - first_requests;
                let reported = i64::try_from(reported).unwrap();
                assert_eq!(reported, watch.simulator.points(), "the reported points are those charged");
            }
            if minute >= 59 && waiting.is_empty() {
                break;
            }
        }
        assert_eq!(coming.count(), 0);
        show(&format!(
            "{count} pull requests with {} threads: {points} points and {requests} requests an hour \
             (promised {promised}), {first_points} points and {first_requests} requests to begin with; took {:.1} s",
            threads(),
            began.elapsed().as_secs_f64(),
        ));
        assert!(points <= promised, "{count} pull requests cost {points} points in an hour");
    }
}

/// Reads everything while another task of the same single-threaded runtime is always ready to run. That task
/// must run between any two answers. Its longest wait is printed, not asserted.
#[test]
fn reading_many_pull_requests_does_not_block_other_tasks() {
    // Five hundred for the measurements; fewer are enough to show that other tasks run.
    let many: u64 = if asked_for().is_some() { 500 } else { 100 };
    let server = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let simulator =
        server.block_on(Simulator::start(&scenario(many, threads()), SimulatorOptions::default())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let before = memory("VmRSS");
    let ticks = Arc::new(AtomicU64::new(0));
    let longest = Arc::new(AtomicU64::new(0));
    let (snapshots, took) = runtime.block_on(async {
        let (counter, gap) = (Arc::clone(&ticks), Arc::clone(&longest));
        let ticking = tokio::spawn(async move {
            loop {
                let began = Instant::now();
                tokio::task::yield_now().await;
                let waited = u64::try_from(began.elapsed().as_micros()).unwrap();
                gap.fetch_max(waited, Ordering::Relaxed);
                counter.fetch_add(1, Ordering::Relaxed);
            }
        });
        let began = Instant::now();
        let mut poller = poller(client(&simulator.url(), "any", PATIENT), many);
        let mut snapshots = Vec::new();
        let tell = |sighting| {
            if let PollEvent::Read { read, .. } = sighting {
                snapshots.push(read.snapshot);
            }
        };
        poller.poll(simulator.now(), tell).await;
        ticking.abort();
        (snapshots, began.elapsed())
    });
    let (after, peak) = (memory("VmRSS"), memory("VmHWM"));
    assert_eq!(snapshots.len() as u64, many);
    assert!(snapshots.iter().all(|it| it.threads.len() == threads() && it.threads[0].comments.len() == 2));

    let requests = simulator.request_count() as u64;
    let turns = ticks.load(Ordering::Relaxed);
    let at_once = PollSettings::default().at_once as u64;
    assert!(turns >= requests / at_once, "{turns} turns in {requests} requests");
    let json: usize = snapshots.iter().map(|it| serde_json::to_string(it).unwrap().len()).sum();
    show(&format!(
        "{many} pull requests with {} threads each, read in {:.1} s with {requests} requests: resident {} MiB before \
         (the simulator), {} MiB with all of them held, {} MiB at most; as JSON they are {} MiB. Another task had \
         {turns} turns and waited at most {:.1} ms",
        threads(),
        took.as_secs_f64(),
        before / 1024,
        after / 1024,
        peak / 1024,
        json / 1024 / 1024,
        Duration::from_micros(longest.load(Ordering::Relaxed)).as_secs_f64() * 1000.0,
    ));
}

/// Kibibytes, or 0 if the system does not report it.
fn memory(what: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
