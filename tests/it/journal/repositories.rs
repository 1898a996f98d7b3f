//! L13: the journal files a repository by the forge's id, under the first name that it knew.

use super::snapshots::snapshot;
use crate::support::places::{Place, note, on_both};
use cloture::domain::snapshot::{KnownNames, PullRequestSnapshot, RepositoryName};
use cloture::journal::{Acquired, Journal, JournalError, NewRecord, PullRequestKey, RecordFilter};
use std::time::Duration;

on_both! {
    a_renamed_repository_keeps_its_records_leases_keys_and_snapshots
    a_name_belongs_to_the_repository_that_answered_last
    records_of_a_version_without_ids_are_continued
    two_instances_file_a_repository_once
}

const HOST: &str = "github.com";

fn name(text: &str) -> RepositoryName {
    RepositoryName::parse(text).unwrap()
}

/// #7 of a repository as GitHub shows it: its id, its present name, and the name that was asked for.
fn read(id: &str, present: &str, asked: &str) -> PullRequestSnapshot {
    let others = Some(name(asked)).filter(|asked| *asked != name(present)).into_iter().collect();
    PullRequestSnapshot {
        repository: name(present),
        repository_id: id.to_owned(),
        known_as: KnownNames { filed_as: None, others },
        ..snapshot(7, 1)
    }
}

async fn identify(journal: &Journal, mut read: PullRequestSnapshot) -> (PullRequestKey, PullRequestSnapshot) {
    let key = journal.identify(HOST, &mut read).await.unwrap();
    (key, read)
}

async fn a_renamed_repository_keeps_its_records_leases_keys_and_snapshots(place: Place) {
    let journal = place.open().await;
    let (key, before) = identify(&journal, read("R_1", "Acme/shop", "acme/SHOP")).await;
    assert_eq!(key.to_string(), "Acme/shop#7");
    let act = || NewRecord::new("", "one").about(key.clone());
    assert!(journal.intend(None, format!("{key}/act"), act()).await.unwrap().is_new());
    let Acquired::Held(lease) = journal.acquire(&key, "one", Duration::from_hours(1)).await.unwrap() else {
        panic!("nobody has the lease")
    };
    journal.save_snapshot(HOST, &before, None).await.unwrap();

    let (renamed, after) = identify(&journal, read("R_1", "globex/Store", "acme/shop")).await;
    assert_eq!((&renamed, renamed.to_string().as_str()), (&key, "Acme/shop#7"), "every key stays");
    assert_eq!(after.filed_as(), &name("Acme/shop"));
    assert!(after.is_in(&name("acme/shop")) && after.is_in(&name("Globex/store")));
    let intent = act().with_reason("again");
    assert!(!journal.intend(None, format!("{renamed}/act"), intent).await.unwrap().is_new());
    journal.renew(&lease, Duration::from_hours(1)).await.unwrap();
    journal.save_snapshot(HOST, &after, None).await.unwrap();
    let stored = journal.load_snapshots().await.unwrap().readable;
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].snapshot, after, "with all names");
    journal.close().await.unwrap();

    let journal = place.open().await;
    let known = journal.repositories().await.unwrap();
    for asked in ["acme/shop", "ACME/Shop", "globex/store"] {
        let key = known.key_of(HOST, &name(asked), 7);
        assert_eq!(journal.records(RecordFilter::about(&key)).await.unwrap().len(), 1, "{asked}");
        assert_eq!(known.present_name(&key).to_string(), "globex/Store", "{asked}");
        assert_eq!(known.filed_anywhere(&name(asked)), key.repository, "{asked}");
    }
}

async fn a_name_belongs_to_the_repository_that_answered_last(place: Place) {
    let journal = place.open().await;
    let (one, _) = identify(&journal, read("R_1", "acme/shop", "acme/shop")).await;
    identify(&journal, read("R_1", "acme/store", "acme/shop")).await;
    journal.append_one(note("one").about(one.clone())).await.unwrap();
    let (two, snapshot) = identify(&journal, read("R_2", "acme/shop", "acme/shop")).await;
    assert_ne!(one, two);
    assert_eq!(snapshot.known_as.others, []);
    assert_eq!(journal.records(RecordFilter::about(&two)).await.unwrap(), []);
    let (one_again, snapshot) = identify(&journal, read("R_1", "acme/store", "acme/store")).await;
    assert_eq!(one_again, one);
    assert!(!snapshot.is_in(&name("acme/shop")), "that name is another repository's now");
    let known = journal.repositories().await.unwrap();
    assert_eq!(known.key_of(HOST, &name("acme/shop"), 7), two);
    assert_eq!(known.key_of(HOST, &name("acme/store"), 7), one);
    assert_eq!(known.present_name(&two).to_string(), "acme/shop");
}

async fn records_of_a_version_without_ids_are_continued(place: Place) {
    let journal = place.open().await;
    let old = PullRequestKey { host: HOST.to_owned(), repository: name("Acme/Shop"), number: 7 };
    journal.append_one(note("old").about(old.clone())).await.unwrap();
    let (key, _) = identify(&journal, read("R_1", "acme/store", "acme/shop")).await;
    assert_eq!((&key, key.to_string().as_str()), (&old, "Acme/Shop#7"), "also in the old spelling");
    let (key, _) = identify(&journal, read("", "acme/store", "acme/store")).await;
    assert_eq!(key, old, "a snapshot without an id is known by its name");
}

async fn two_instances_file_a_repository_once(place: Place) {
    let (one, two) = (place.open().await, place.open().await);
    let file = async |journal: &Journal| -> Result<PullRequestKey, JournalError> {
        journal.identify(HOST, &mut read("R_1", "acme/shop", "acme/shop")).await
    };
    let (a, b) = tokio::join!(file(&one), file(&two));
    assert_eq!(a.unwrap(), b.unwrap());
    assert_eq!(one.repositories().await.unwrap(), two.repositories().await.unwrap());
}
