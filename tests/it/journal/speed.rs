//! Measures the journal's speed. Run by hand; the figures are in `BENCHMARKS.md`.

use super::snapshots::snapshot;
use crate::support::places::{Place, note};
use std::io::Write;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

mod by_hand {
    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "a measurement"]
    async fn on_sqlite() {
        super::measure(crate::support::places::Place::file()).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "a measurement"]
    async fn on_postgres() {
        crate::support::places::on_server(super::measure).await;
    }
}

async fn measure(place: Place) {
    let name = if place.is_file() { "SQLite" } else { "PostgreSQL" };
    let tell = |what: &str, amount: u32, time: Duration| {
        let rate = f64::from(amount) / time.as_secs_f64();
        let mut output = std::io::stdout();
        writeln!(output, "{name}: {what}: {amount} in {time:.2?}, {rate:.0} a second").unwrap();
    };
    let journal = place.open().await;
    let begin = Instant::now();
    for number in 0..500 {
        journal.append_one(note(number.to_string())).await.unwrap();
    }
    tell("appends one after the other", 500, begin.elapsed());

    let begin = Instant::now();
    let mut work = JoinSet::new();
    for _ in 0..8 {
        let journal = journal.clone();
        work.spawn(async move {
            for number in 0..250 {
                journal.append_one(note(number.to_string())).await.unwrap();
            }
        });
    }
    work.join_all().await;
    tell("appends by eight tasks", 2000, begin.elapsed());

    let begin = Instant::now();
    for _ in 0..100 {
        journal.append((0..50).map(|number| note(number.to_string())).collect()).await.unwrap();
    }
    tell("appends in batches of fifty", 5000, begin.elapsed());

    let begin = Instant::now();
    let mut bytes = 0;
    for number in 1..=500 {
        let snapshot = snapshot(number, 40);
        bytes += serde_json::to_string(&snapshot).unwrap().len();
        journal.save_snapshot("github.com", &snapshot, None).await.unwrap();
    }
    tell("snapshots of 40 threads saved", 500, begin.elapsed());
    journal.close().await.unwrap();

    let begin = Instant::now();
    let journal = place.open().await;
    tell("opened with all of that in it", 1, begin.elapsed());
    let begin = Instant::now();
    let loaded = journal.load_snapshots().await.unwrap();
    tell(&format!("snapshots loaded, {bytes} bytes"), 500, begin.elapsed());
    assert_eq!(loaded.readable.len(), 500);
}
