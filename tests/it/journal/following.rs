//! Followers see every record of every instance once and in order.

use crate::support::places::{Place, note, now, on_both, options};
use cloture::journal::{Journal, JournalError, JournalOptions};
use std::time::Duration;

on_both! {
    a_follower_starts_at_its_number_and_sees_every_instance
    an_interrupted_follower_loses_nothing
    a_closed_journal_ends_its_followers
}

async fn a_follower_starts_at_its_number_and_sees_every_instance(place: Place) {
    let (one, other) = (place.open().await, place.open().await);
    one.append(vec![note("1"), note("2"), note("3")]).await.unwrap();
    let mut follower = one.follow(1);
    assert_eq!(follower.next().await.unwrap().why, "2");
    assert_eq!(follower.next().await.unwrap().why, "3");
    let next = tokio::spawn(async move {
        let record = follower.next().await.unwrap();
        (record.why, follower)
    });
    other.append_one(note("4")).await.unwrap();
    let (why, mut follower) = next.await.unwrap();
    assert_eq!(why, "4");
    one.append_one(note("5")).await.unwrap();
    assert_eq!(follower.next().await.unwrap().why, "5");
}

async fn an_interrupted_follower_loses_nothing(place: Place) {
    let journal = place.open().await;
    let mut follower = journal.follow(0);
    let appending = tokio::spawn({
        let journal = journal.clone();
        async move {
            for number in 1..=50 {
                journal.append_one(note(number.to_string())).await.unwrap();
            }
        }
    });
    let mut seen = Vec::new();
    while seen.len() < 50 {
        // Dropped again and again, at any point.
        tokio::select! {
            biased;
            record = follower.next() => seen.push(record.unwrap().seq),
            () = tokio::task::yield_now() => {}
        }
    }
    appending.await.unwrap();
    assert!(seen.into_iter().eq(1..=50));
}

async fn a_closed_journal_ends_its_followers(place: Place) {
    let journal = place.open().await;
    journal.append_one(note("1")).await.unwrap();
    let mut follower = journal.follow(0);
    assert_eq!(follower.next().await.unwrap().seq, 1);
    let end = tokio::spawn(async move { follower.next().await });
    journal.close().await.unwrap();
    assert!(matches!(end.await.unwrap(), Err(JournalError::Closed)));
}

/// The follower looks for other instances' records on a timer, and the test advances the clock by an hour.
#[tokio::test(start_paused = true)]
async fn a_follower_sees_another_instances_record_when_its_timer_fires() {
    let place = Place::file();
    let hourly = JournalOptions { follow_every: Duration::from_hours(1), ..JournalOptions::new(now()) };
    let journal = Journal::open(&place.address, hourly).await.unwrap().journal;
    let other = Journal::open(&place.address, options()).await.unwrap().journal;
    let mut follower = journal.follow(0);
    let next = tokio::spawn(async move { follower.next().await });
    tokio::task::yield_now().await;
    other.append_one(note("theirs")).await.unwrap();
    assert_eq!(next.await.unwrap().unwrap().why, "theirs");
}
