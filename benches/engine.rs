//! The engine's speed, allocations and growth. `cargo bench --bench engine`

#![expect(clippy::expect_used, reason = "a benchmark whose set-up fails has nothing to measure")]

use cloture::commands::simulate::simulate;
use cloture::domain::cycle::{AnswerFinding, CycleTrigger, ReviewerAnswer, ThreadChoice};
use cloture::domain::driven::DrivenPullRequest;
use cloture::domain::finding::Finding;
use cloture::domain::machine::ThreadMachine;
use cloture::domain::place::{FileChange, Hunk, LineRange};
use cloture::domain::policy::Policy;
use cloture::domain::vocabulary::{Category, ReviewerAction, ReviewerName, Severity, Stance};
use divan::{AllocProfiler, Bencher, black_box, counter::ItemsCount};
use std::fmt::Write as _;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

const SIZES: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];

fn main() {
    divan::main();
}

/// One step of the thread machine: one action, and the legal actions after it.
#[divan::bench]
fn machine_step(bencher: Bencher<'_, '_>) {
    let policy = Policy::default();
    bencher.counter(ItemsCount::new(1_u32)).bench(|| {
        let mut machine = black_box(ThreadMachine::opened());
        let _legal = machine.act(Stance::Accepts, ReviewerAction::Reply, &policy);
        machine.legal(&policy)
    });
}

fn finding(number: u32) -> Finding {
    let line = 1 + (number % 50) * 20;
    Finding {
        path: format!("src/module_{}.rs", number / 50).into(),
        lines: LineRange::new(line, line + 2),
        title: format!("Unchecked result of call_{number}").into(),
        body: format!("The error that `call_{number}` returns is dropped; handle it or say why not.").into(),
        severity: Some(Severity::High),
        category: Category::Bug,
        suggestion: None,
        own_id: None,
    }
}

fn reviewer() -> ReviewerName {
    "r".into()
}

/// A pull request with this many open threads after one cycle and a push.
fn with_threads(count: u32, policy: &Policy) -> DrivenPullRequest {
    let mut pr = DrivenPullRequest::new(false);
    pr.push("h1".into(), &[]);
    let frozen = pr.begin_cycle(&reviewer(), CycleTrigger::Review, policy).expect("nothing is in the way");
    let reports =
        (0..count).map(|n| AnswerFinding { id: format!("t{n:06}").into(), finding: finding(n) }).collect();
    pr.answer(&frozen, Ok(ReviewerAnswer::Actions { choices: Vec::new(), reports }), policy);
    pr.push("h2".into(), &[]);
    pr
}

/// Opens this many threads in one answer and compares each with the others (D1).
#[divan::bench(args = SIZES, sample_count = 5)]
fn open_threads(bencher: Bencher<'_, '_>, count: u32) {
    let policy = Policy::default();
    bencher.counter(ItemsCount::new(count)).bench(|| with_threads(count, &policy));
}

/// A second cycle over this many open threads: one action each, checked, counted and applied.
#[divan::bench(args = SIZES, sample_count = 5)]
fn second_cycle(bencher: Bencher<'_, '_>, count: u32) {
    let policy = Policy::default();
    let pr = with_threads(count, &policy);
    bencher.counter(ItemsCount::new(count)).with_inputs(|| pr.clone()).bench_values(|mut pr| {
        let frozen = pr.begin_cycle(&reviewer(), CycleTrigger::Review, &policy).expect("the head is new");
        let choices = frozen.threads.keys().map(|thread| ThreadChoice {
            thread: thread.clone(),
            action: ReviewerAction::Reply,
            stance: Stance::SeeksChange,
            comment: None,
        });
        let answer = ReviewerAnswer::Actions { choices: choices.collect(), reports: Vec::new() };
        pr.answer(&frozen, Ok(answer), &policy);
        pr
    });
}

/// The same with a list of findings: each must find its thread again after all lines moved.
#[divan::bench(args = SIZES, sample_count = 5)]
fn relisted_after_a_rewrite(bencher: Bencher<'_, '_>, count: u32) {
    let policy = Policy::default();
    let mut pr = with_threads(count, &policy);
    let everything = LineRange::new(1, 2_000).expect("lines in order");
    let change = |file: u32| FileChange {
        path: format!("src/module_{file}.rs").into(),
        renamed_from: None,
        deleted: false,
        hunks: vec![Hunk::rewritten(everything)],
    };
    let changes: Vec<_> = (0..=count / 50).map(change).collect();
    pr.push("h3".into(), &changes);
    let reports: Vec<_> =
        (0..count).map(|n| AnswerFinding { id: format!("n{n:06}").into(), finding: finding(n) }).collect();
    bencher.counter(ItemsCount::new(count)).with_inputs(|| (pr.clone(), reports.clone())).bench_values(
        |(mut pr, reports)| {
            let frozen = pr.begin_cycle(&reviewer(), CycleTrigger::Review, &policy).expect("the head is new");
            pr.answer(&frozen, Ok(ReviewerAnswer::Findings { reports }), &policy);
            pr
        },
    );
}

/// `cloture simulate` over a trace with this many threads: opened, argued about once, merged.
#[divan::bench(args = SIZES, sample_count = 3)]
fn simulate_trace(bencher: Bencher<'_, '_>, count: u32) {
    let trace = trace(count);
    bencher.counter(ItemsCount::new(count)).bench(|| simulate(trace.as_bytes(), std::io::sink()));
}

fn trace(count: u32) -> String {
    let mut findings = String::new();
    let mut actions = String::new();
    for n in 0..count {
        let comma = if n == 0 { "" } else { "," };
        let (path, line) = (n / 50, 1 + (n % 50) * 20);
        let _infallible = write!(
            findings,
            r#"{comma}{{"id":"t{n:06}","path":"src/module_{path}.rs","line":{line},"title":"Unchecked result of call_{n}","severity":"high"}}"#
        );
        let _infallible = write!(
            actions,
            r#"{comma}{{"thread":"t{n:06}","action":"reply","stance":"seeks_change","body":"Still there."}}"#
        );
    }
    format!(
        r#"{{"trace":1,"handoff":{{"mode":"full_auto"}},"pull_request":{{"number":1,"author":"a","author_is_bot":false}}}}
{{"push":{{"head":"1"}}}}
{{"cycle":{{"reviewer":"r","findings":[{findings}]}}}}
{{"push":{{"head":"2"}}}}
{{"cycle":{{"reviewer":"r","actions":[{actions}]}}}}
{{"merge":{{}}}}
"#
    )
}
