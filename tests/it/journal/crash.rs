//! Neither closing nor a kill loses an acknowledged record.

use crate::support::places::{Place, note, on_both, options, place_of_child};
use cloture::journal::{Journal, JournalError, RecordFilter};
use std::io::{BufRead, BufReader, Write};
use tokio::task::JoinSet;

on_both! {
    closing_waits_for_every_accepted_job
    an_acknowledged_record_survives_a_kill
}

async fn closing_waits_for_every_accepted_job(place: Place) {
    let journal = place.open().await;
    let mut work = JoinSet::new();
    for number in 0..100 {
        let journal = journal.clone();
        work.spawn(async move { journal.append_one(note(number.to_string())).await });
    }
    tokio::task::yield_now().await;
    let rest = journal.clone();
    journal.close().await.unwrap();
    let mut kept = 0;
    for outcome in work.join_all().await {
        match outcome {
            Ok(_) => kept += 1,
            Err(error) => assert!(matches!(error, JournalError::Closed), "{error}"),
        }
    }
    assert!(matches!(rest.append_one(note("late")).await, Err(JournalError::Closed)));
    assert!(rest.close().await.is_ok(), "closing twice is closing");
    let all = place.open().await.records(RecordFilter::default()).await.unwrap();
    assert_eq!(all.len(), kept, "what was refused is not there, and what was accepted is");
}

async fn an_acknowledged_record_survives_a_kill(place: Place) {
    let mut last = 0;
    for _ in 0..3 {
        let mut child = place.child("journal::crash::appends_until_killed", &[]);
        let output = BufReader::new(child.stdout.take().unwrap());
        let killed = tokio::task::spawn_blocking(move || {
            let mut acknowledged = Vec::new();
            for line in output.lines().map_while(Result::ok) {
                acknowledged.extend(line.strip_prefix("appended ").map(|seq| seq.parse::<u64>().unwrap()));
                if acknowledged.len() == 25 {
                    // The process keeps appending, with several jobs under way.
                    child.kill().unwrap();
                }
            }
            child.wait().unwrap();
            acknowledged
        });
        let acknowledged = killed.await.unwrap();
        assert!(acknowledged.len() >= 25, "it was killed while it worked");
        let journal = place.open().await;
        let all = journal.records(RecordFilter::default()).await.unwrap();
        assert!(all.iter().map(|record| record.seq).eq(1..=all.len() as u64), "no gap");
        assert!(acknowledged.iter().all(|seq| *seq <= all.len() as u64 && *seq > last));
        last = all.len() as u64;
        journal.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "another test runs it as a process of its own, and kills it"]
async fn appends_until_killed() {
    let journal = Journal::open(&place_of_child(), options()).await.unwrap().journal;
    let mut work = JoinSet::new();
    for task in 0..4 {
        let journal = journal.clone();
        work.spawn(async move {
            for number in 0..100_000 {
                let appended = journal.append_one(note(format!("{task}.{number}"))).await.unwrap();
                let printed = writeln!(std::io::stdout(), "appended {}", appended.record().seq);
                if printed.is_err() {
                    return;
                }
            }
        });
    }
    work.join_all().await;
}
