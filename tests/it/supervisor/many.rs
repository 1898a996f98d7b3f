//! Five hundred loops in one process: what they take while nothing happens, and what a poll costs.
//!
//! `cargo test --test it five_hundred -- --ignored --nocapture` prints the figures of BENCHMARKS.md.

use crate::support::harness::{DRIVEN, Fatal, Place, Settings};
use crate::support::simulated::show;
use cloture::journal::Checkpoint;
use cloture::simulator::Scenario;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const LOOPS: usize = 500;

/// Seconds of processor time that this process has taken, its own and the kernel's for it.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    // Linux counts a hundred a second, whatever the machine.
    ticks / 100.0
}

/// Megabytes that are in memory now.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement that takes half a minute"]
#[expect(clippy::disallowed_methods, reason = "what is measured here is real time")]
async fn five_hundred_loops_cost_next_to_nothing_between_polls() {
    let scenario = Scenario::parse(include_str!("../support/scenarios/many.toml"), "many.toml").unwrap();
    let place = Place::of(&scenario).await;
    let names: Vec<String> = (1..=LOOPS).map(|number| format!("acme/shop#{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let fatal = Fatal::at(usize::MAX);
    let settings = Settings {
        checkpoint: Some(Arc::clone(&fatal) as Arc<dyn Checkpoint>),
        follow_every: Duration::from_secs(1),
        lease: Duration::from_mins(3),
        ..Settings::default()
    };
    let config = DRIVEN.replace("drive = true", "drive = false");
    let before = memory();
    let run = place.start("one", &config, &names, settings).await;
    let measure = async |what: &str| {
        let (wall, cpu) = (Instant::now(), processor());
        let (commits, requests) = (fatal.seen.load(Ordering::SeqCst), place.simulator.request_count());
        run.tick().await;
        show(&format!(
            "{what}: {:.2} s, {:.2} s of processor, {} commits, {} requests",
            wall.elapsed().as_secs_f64(),
            processor() - cpu,
            fatal.seen.load(Ordering::SeqCst) - commits,
            place.simulator.request_count() - requests
        ));
    };
    measure("first poll").await;
    measure("poll in which everything changed").await;
    measure("poll in which nothing changed").await;
    let cpu = processor();
    measure("another").await;
    let poll = processor() - cpu;
    assert!(run.board().pull_requests.values().all(|view| view.exit().is_some()));
    let (wall, cpu) = (Instant::now(), processor());
    let commits = fatal.seen.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let idle = (processor() - cpu) / wall.elapsed().as_secs_f64();
    let share = idle + poll / 60.0;
    show(&format!(
        "memory: {:.0} MB before, {:.0} MB with {LOOPS} loops; between polls: {:.2} % of a core, {} commits; \
         with a poll a minute: {:.2} %",
        before,
        memory(),
        idle * 100.0,
        fatal.seen.load(Ordering::SeqCst) - commits,
        share * 100.0
    ));
    assert!(share < 0.05, "{share}");
    run.stop().await;
}
