//! Many tasks, connections and processes at the same time.

use crate::support::places::{Place, note, on_both, options, place_of_child, pull_request};
use cloture::journal::{Acquired, Journal, JournalError, NewRecord, Record, RecordFilter};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

on_both! {
    concurrent_appends_store_every_key_once
    a_lease_never_has_two_holders
    processes_that_create_a_journal_together_share_it
}

const INSTANCES: u32 = 4;
const TASKS: u32 = 4;
const KEYS: u32 = 12;

async fn concurrent_appends_store_every_key_once(place: Place) {
    let mut work = JoinSet::new();
    let mut followers = JoinSet::new();
    for instance in 0..INSTANCES {
        let journal = place.open().await;
        let mut follower = journal.follow(0);
        followers.spawn(async move {
            let mut seen = Vec::new();
            // One record for every key, and one without a key for every task and key.
            while seen.len() < (KEYS + INSTANCES * TASKS * KEYS) as usize {
                seen.push(follower.next().await.unwrap());
            }
            seen
        });
        for task in 0..TASKS {
            let journal = journal.clone();
            work.spawn(async move {
                let mut won = 0;
                for number in 0..KEYS {
                    let by = format!("{instance}.{task}");
                    let keyed = NewRecord::new("task", by.clone()).with_key(format!("key {number}"));
                    let appended = journal.append(vec![keyed, NewRecord::new("note", by)]).await.unwrap();
                    won += u32::from(appended[0].is_new());
                }
                won
            });
        }
    }
    assert_eq!(work.join_all().await.into_iter().sum::<u32>(), KEYS, "each key has one that appended it");
    let mut views = followers.join_all().await;
    let first = views.pop().unwrap();
    assert!(first.iter().map(|record| record.seq).eq(1..=u64::from(KEYS + INSTANCES * TASKS * KEYS)));
    assert!(
        views.iter().all(|view| *view == first),
        "all followers saw the same, each record once and in order"
    );
    let keys: BTreeSet<_> = first.iter().filter_map(|record| record.key.clone()).collect();
    assert_eq!(keys.len(), KEYS as usize);
    assert_eq!(place.open().await.records(RecordFilter::default()).await.unwrap(), first);
}

async fn a_lease_never_has_two_holders(place: Place) {
    let inside = Arc::new(AtomicU32::new(0));
    let mut work = JoinSet::new();
    for instance in 0..INSTANCES {
        let journal = place.open().await;
        let inside = Arc::clone(&inside);
        work.spawn(async move {
            let me = format!("instance {instance}");
            let mut turns = 0;
            while turns < 8 {
                let asked = journal.acquire(&pull_request(1), me.clone(), Duration::from_mins(10)).await;
                let Acquired::Held(lease) = asked.unwrap() else {
                    tokio::task::yield_now().await;
                    continue;
                };
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two holders");
                let body = json!({"epoch": lease.epoch});
                let record = NewRecord::new("turn", me.clone()).about(pull_request(1)).with(body);
                journal.append_held(&lease, vec![record.clone()]).await.unwrap();
                inside.fetch_sub(1, Ordering::SeqCst);
                assert!(journal.release(&lease).await.unwrap());
                let late = journal.append_held(&lease, vec![record]).await;
                assert!(matches!(late, Err(JournalError::LeaseLost { .. })), "{late:?}");
                turns += 1;
            }
        });
    }
    work.join_all().await;
    let turns = place.open().await.records(RecordFilter::default()).await.unwrap();
    let epoch = |record: &Record| record.body["epoch"].as_u64().unwrap();
    assert_eq!(turns.len(), INSTANCES as usize * 8);
    assert!(turns.iter().map(epoch).eq(1..=u64::from(INSTANCES) * 8), "each turn has an epoch of its own");
}

async fn processes_that_create_a_journal_together_share_it(place: Place) {
    let start = |process: u32| {
        place.child(
            "journal::together::appends_and_leases_as_a_process",
            &[("CLOTURE_CHILD_NAME", process.to_string())],
        )
    };
    let children: Vec<_> = (0..INSTANCES).map(start).collect();
    let endings = tokio::task::spawn_blocking(|| {
        children.into_iter().map(|child| child.wait_with_output().unwrap()).collect::<Vec<_>>()
    });
    for output in endings.await.unwrap() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let all = place.open().await.records(RecordFilter::default()).await.unwrap();
    let of = |kind: &str| all.iter().filter(|record| record.kind == kind).count();
    assert!(all.iter().map(|record| record.seq).eq(1..=all.len() as u64));
    assert_eq!((of("task"), of("note"), of("turn")), (20, 20 * INSTANCES as usize, 5 * INSTANCES as usize));
    let epochs =
        all.iter().filter(|record| record.kind == "turn").map(|record| record.body["epoch"].as_u64());
    assert!(epochs.eq((1..=5 * u64::from(INSTANCES)).map(Some)), "never two holders in one epoch");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "other tests run it as a process of its own"]
async fn appends_and_leases_as_a_process() {
    let me = std::env::var("CLOTURE_CHILD_NAME").unwrap();
    let journal = Journal::open(&place_of_child(), options()).await.unwrap().journal;
    for number in 0..20 {
        let keyed = NewRecord::new("task", me.clone()).with_key(format!("key {number}"));
        journal.append(vec![keyed, note(me.clone())]).await.unwrap();
    }
    let mut turns = 0;
    while turns < 5 {
        let asked = journal.acquire(&pull_request(1), me.clone(), Duration::from_mins(10)).await.unwrap();
        if let Acquired::Held(lease) = asked {
            let record = NewRecord::new("turn", me.clone()).with(json!({"epoch": lease.epoch}));
            journal.append_held(&lease, vec![record]).await.unwrap();
            journal.release(&lease).await.unwrap();
            turns += 1;
        }
    }
    journal.close().await.unwrap();
}
