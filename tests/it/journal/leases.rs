//! Leases: one holder at a time, and a former holder writes nothing.

use crate::support::places::{Place, note, on_both, pull_request};
use cloture::domain::snapshot::RepositoryName;
use cloture::journal::{
    Acquired, Journal, JournalError, Lease, NewRecord, PullRequestKey, RecordFilter, instance,
};
use std::time::Duration;

on_both! {
    a_lease_has_one_holder_until_it_is_given_back
    an_expired_lease_is_free
    a_former_holder_writes_nothing
    two_instances_of_one_name_are_two_holders
    every_pull_request_has_its_own_lease
}

const HOUR: Duration = Duration::from_hours(1);

async fn held(journal: &Journal, holder: &str, length: Duration) -> Lease {
    match journal.acquire(&pull_request(7), holder, length).await.unwrap() {
        Acquired::Held(lease) => lease,
        Acquired::Taken(by) => panic!("{by:?} has it"),
    }
}

async fn a_lease_has_one_holder_until_it_is_given_back(place: Place) {
    let (one, other) = (place.open().await, place.open().await);
    assert_eq!(one.holder_of(&pull_request(7)).await.unwrap(), None);
    let lease = held(&one, "one", HOUR).await;
    assert_eq!((lease.holder.as_str(), lease.epoch, lease.remaining), ("one", 1, HOUR));

    // Another spelling is the same pull request.
    let repository = RepositoryName::new("ACME", "Shop").unwrap();
    let spelt = PullRequestKey { host: "GitHub.com".to_owned(), repository, number: 7 };
    let Acquired::Taken(by) = other.acquire(&spelt, "other", HOUR).await.unwrap() else {
        panic!("two holders")
    };
    assert_eq!((by.holder.as_str(), by.epoch, by.until), ("one", 1, lease.until));
    assert!(by.remaining <= HOUR && by.remaining > HOUR / 2, "{by:?}");

    // The holder prolongs its own lease; the epoch stays.
    assert_eq!(held(&one, "one", HOUR).await.epoch, 1);
    let renewed = one.renew(&lease, 2 * HOUR).await.unwrap();
    assert!(renewed.until > lease.until && renewed.epoch == 1);
    assert_eq!(other.holder_of(&spelt).await.unwrap().unwrap().until, renewed.until);

    assert!(one.release(&lease).await.unwrap());
    assert_eq!(one.holder_of(&pull_request(7)).await.unwrap(), None);
    assert_eq!(held(&other, "other", HOUR).await.epoch, 2, "the epoch grows with the holder");
    assert!(!one.release(&lease).await.unwrap(), "somebody else's is not given back");
    assert_eq!(one.holder_of(&pull_request(7)).await.unwrap().unwrap().holder, "other");
}

async fn an_expired_lease_is_free(place: Place) {
    let journal = place.open().await;
    // A lease of no length has expired when the next call arrives.
    let gone = held(&journal, "one", Duration::ZERO).await;
    assert_eq!(journal.holder_of(&pull_request(7)).await.unwrap(), None);
    assert_eq!(journal.leases().await.unwrap(), []);
    let error = journal.renew(&gone, HOUR).await.unwrap_err();
    assert!(matches!(&error, JournalError::LeaseLost(lost) if lost.now_held_by.is_none()), "{error}");
    assert_eq!(held(&journal, "one", Duration::ZERO).await.epoch, 2, "even its last holder gets it anew");
    assert_eq!(held(&journal, "other", HOUR).await.epoch, 3);
}

async fn a_former_holder_writes_nothing(place: Place) {
    let (one, other) = (place.open().await, place.open().await);
    let lease = held(&one, "one", HOUR).await;
    let appended = one.append_held(&lease, vec![note("a"), note("b")]).await.unwrap();
    assert_eq!(appended.len(), 2);
    assert!(one.intend(Some(&lease), "act", note("c")).await.unwrap().is_new());

    one.release(&lease).await.unwrap();
    let error = one.append_held(&lease, vec![note("nobody's")]).await.unwrap_err();
    assert!(matches!(error, JournalError::LeaseLost { .. }), "{error}");

    let next = held(&other, "other", HOUR).await;
    let error = one.append_held(&lease, vec![note("late")]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Acme/shop#7 is no longer held by one in epoch 1 but by other, so nothing was written"
    );
    for refused in [
        one.intend(Some(&lease), "late", note("d")).await,
        one.conclude(Some(&lease), "act", NewRecord::new("any", "one")).await,
    ] {
        assert!(matches!(refused, Err(JournalError::LeaseLost { .. })), "{refused:?}");
    }
    assert!(matches!(one.renew(&lease, HOUR).await, Err(JournalError::LeaseLost { .. })));
    other.append_held(&next, vec![note("d")]).await.unwrap();

    let all = one.records(RecordFilter::default()).await.unwrap();
    assert_eq!(all.iter().map(|record| record.why.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert!(all.iter().map(|record| record.seq).eq(1..=4));
}

async fn two_instances_of_one_name_are_two_holders(place: Place) {
    let journal = place.open().await;
    let (one, two) = (instance::unique("runner/1"), instance::unique("runner/1"));
    let lease = held(&journal, &one, HOUR).await;
    let Acquired::Taken(by) = journal.acquire(&pull_request(7), two.as_str(), HOUR).await.unwrap() else {
        panic!("two holders")
    };
    assert_eq!((by.holder.as_str(), by.epoch), (one.as_str(), 1));
    assert_eq!(held(&journal, &one, HOUR).await.epoch, 1, "the first one renews it");

    journal.release(&lease).await.unwrap();
    held(&journal, &two, HOUR).await;
    let error = journal.append_held(&lease, vec![note("late")]).await.unwrap_err();
    assert!(error.to_string().contains(&format!("held by {one} in epoch 1 but by {two}")), "{error}");
}

async fn every_pull_request_has_its_own_lease(place: Place) {
    let journal = place.open().await;
    for (number, holder) in [(2, "b"), (1, "a"), (3, "a")] {
        journal.acquire(&pull_request(number), holder, HOUR).await.unwrap();
    }
    let all = journal.leases().await.unwrap();
    let all: Vec<_> = all.iter().map(|lease| (lease.pull_request.number, lease.holder.as_str())).collect();
    assert_eq!(all, [(1, "a"), (2, "b"), (3, "a")]);
}
