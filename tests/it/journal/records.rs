//! Records: stored unchanged, once for a key, and a batch completely or not at all.

use crate::support::places::{Place, note, on_both, pull_request};
use cloture::domain::snapshot::RepositoryName;
use cloture::journal::{
    Appended, INTENT, JournalError, NewRecord, PullRequestKey, Record, RecordFilter, RecordOrder,
};
use cloture::supervisor::clock::{Clock, SystemClock};
use serde_json::json;

on_both! {
    records_are_returned_as_appended
    times_come_from_the_databases_clock
    a_key_is_stored_once_whichever_instance_appends_it
    the_same_key_on_two_hosts_is_two_keys
    a_journal_without_hosts_in_its_keys_is_migrated
    a_batch_is_stored_completely_or_not_at_all
    a_filter_returns_only_matching_records
    a_text_filter_ignores_case
    an_act_has_an_intent_and_then_an_outcome
    a_key_too_long_for_an_index_is_refused
    many_records_are_returned_in_order_across_pages
}

fn whys(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.why.as_str()).collect()
}

async fn records_are_returned_as_appended(place: Place) {
    let journal = place.open().await;
    let body = json!({"text": "ü \u{0} \u{202e} 日本", "number": 1.5, "deep": [[{"a": null}]]});
    let full = NewRecord::new("cycle", "orange")
        .about(pull_request(7))
        .with_reason("line\none")
        .with_key("k")
        .with(body);
    let bare = NewRecord::new("start", "instance-1");
    let odd = note("nul \u{0} here");
    let appended = journal.append(vec![full.clone(), bare.clone(), odd]).await.unwrap();
    let kept: Vec<Record> = appended.iter().map(|appended| appended.record().clone()).collect();
    assert!(appended.iter().all(Appended::is_new));
    journal.close().await.unwrap();

    let read = place.open().await.records(RecordFilter::default()).await.unwrap();
    assert_eq!(read, kept);
    assert_eq!(read.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3]);
    let Record { pull_request: about, kind, by, why, key, body, .. } = read[0].clone();
    assert_eq!(NewRecord { pull_request: about.clone(), kind, by, why, key, body }, full);
    assert_eq!(about.unwrap().repository.to_string(), "Acme/shop", "as it was spelt");
    assert_eq!(
        (read[1].pull_request.as_ref(), read[1].key.as_ref(), &read[1].body),
        (None, None, &json!(null))
    );
    assert_eq!(read[2].why, "nul \u{fffd} here");
}

async fn times_come_from_the_databases_clock(place: Place) {
    let journal = place.open().await;
    let first = journal.append_one(note("a")).await.unwrap();
    let second = journal.append_one(note("b")).await.unwrap();
    assert!(first.record().at <= second.record().at);
    let distance = SystemClock.now().duration_since(first.record().at);
    assert!(distance.unsigned_abs().as_secs() < 3600, "{distance:?} away from this machine's clock");
    let since = |at| RecordFilter { since: Some(at), ..RecordFilter::default() };
    assert_eq!(journal.records(since(first.record().at)).await.unwrap().len(), 2);
    let later = second.record().at.checked_add(std::time::Duration::from_millis(1)).unwrap();
    assert_eq!(journal.records(since(later)).await.unwrap(), []);
}

async fn a_key_is_stored_once_whichever_instance_appends_it(place: Place) {
    let (one, other) = (place.open().await, place.open().await);
    let about = pull_request(1);
    let first = one.append_one(note("first").about(about.clone()).with_key("task-1")).await.unwrap();
    assert!(first.is_new());
    // Another number, and another spelling of the host.
    let again = PullRequestKey { host: "GitHub.com".to_owned(), ..pull_request(2) };
    let second = other.append_one(note("second").about(again).with_key("task-1")).await.unwrap();
    assert_eq!(second, Appended::AlreadyThere(first.record().clone()));
    // The same key with another kind is another record.
    let otherwise = NewRecord::new("other", "bob").about(about.clone()).with_key("task-1");
    assert!(other.append_one(otherwise).await.unwrap().is_new());
    assert_eq!(one.find(&about, "note", "task-1").await.unwrap().unwrap(), *first.record());
    assert_eq!(one.find(&about, "note", "task-2").await.unwrap(), None);

    // A batch with old keys, new keys and the same key twice leaves no gap in the numbers.
    let keyed = |why: &str, key: &str| note(why).about(about.clone()).with_key(key);
    let batch = vec![keyed("c", "task-1"), keyed("d", "task-2"), note("e"), keyed("f", "task-2"), note("g")];
    let appended = other.append(batch).await.unwrap();
    let is_new: Vec<bool> = appended.iter().map(Appended::is_new).collect();
    assert_eq!(is_new, [false, true, true, false, true]);
    assert_eq!(appended[3].record(), appended[1].record());
    one.append_one(note("h")).await.unwrap();
    let all = one.records(RecordFilter::default()).await.unwrap();
    assert_eq!(all.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(whys(&all), ["first", "", "d", "e", "g", "h"]);
}

async fn the_same_key_on_two_hosts_is_two_keys(place: Place) {
    let journal = place.open().await;
    let here = pull_request(7);
    let there = PullRequestKey { host: "github.acme.example".to_owned(), ..pull_request(7) };
    let act = |about: &PullRequestKey| NewRecord::new("any", "engine").about(about.clone());
    for about in [&here, &there] {
        assert!(
            journal
                .append_one(note("merged").about(about.clone()).with_key("merged"))
                .await
                .unwrap()
                .is_new()
        );
        assert!(journal.intend(None, "reply", act(about)).await.unwrap().is_new());
        let found = journal.find(about, INTENT, "reply").await.unwrap().unwrap();
        assert_eq!(found.pull_request.as_ref(), Some(about));
    }
    // An outcome on one host concludes neither the intent on another host nor the one without a host.
    journal.conclude(None, "reply", act(&here)).await.unwrap();
    let open = journal.unconcluded(None).await.unwrap();
    assert_eq!(open.iter().map(|record| record.pull_request.as_ref()).collect::<Vec<_>>(), [Some(&there)]);
    let error = journal.conclude(None, "reply", NewRecord::new("any", "engine")).await.unwrap_err();
    assert!(matches!(error, JournalError::NotIntended { .. }), "{error}");
}

async fn a_journal_without_hosts_in_its_keys_is_migrated(place: Place) {
    let (here, elsewhere) =
        (pull_request(7), PullRequestKey { host: "elsewhere".to_owned(), ..pull_request(7) });
    let merged = |about: &PullRequestKey| note("merged").about(about.clone()).with_key("merged");
    let journal = place.open().await;
    let kept = journal.append_one(merged(&here)).await.unwrap();
    journal.close().await.unwrap();
    place
        .tamper(
            "DROP TABLE repositories; DROP TABLE repository_names; DROP INDEX records_once; CREATE UNIQUE INDEX records_once ON records (kind, once_key); \
             UPDATE cloture_schema SET version = 1",
        )
        .await;
    let journal = place.open().await;
    let again = journal.append_one(merged(&here)).await.unwrap();
    assert_eq!(again, Appended::AlreadyThere(kept.record().clone()));
    assert!(journal.append_one(merged(&elsewhere)).await.unwrap().is_new());
}

async fn a_batch_is_stored_completely_or_not_at_all(place: Place) {
    let journal = place.open().await;
    let batch = vec![note("a"), NewRecord::new("outcome", "engine").with_key("never intended"), note("b")];
    let error = journal.append(batch).await.unwrap_err();
    assert!(matches!(&error, JournalError::NotIntended { key } if key == "never intended"), "{error}");
    assert_eq!(journal.records(RecordFilter::default()).await.unwrap(), []);
    assert_eq!(journal.append_one(note("c")).await.unwrap().record().seq, 1);
    assert_eq!(journal.append(Vec::new()).await.unwrap(), []);
}

async fn a_filter_returns_only_matching_records(place: Place) {
    let journal = place.open().await;
    let elsewhere = PullRequestKey { host: "ghe.example.com".to_owned(), ..pull_request(7) };
    let other = RepositoryName::new("acme", "site").unwrap();
    let other = PullRequestKey { repository: other, ..pull_request(7) };
    let records = [
        NewRecord::new("cycle", "orange").about(pull_request(7)).with_reason("1"),
        NewRecord::new("verdict", "orange").about(pull_request(7)).with_reason("2"),
        NewRecord::new("cycle", "alice").about(pull_request(8)).with_reason("3"),
        NewRecord::new("cycle", "orange").about(elsewhere.clone()).with_reason("4"),
        NewRecord::new("cycle", "orange").about(other).with_reason("5"),
        NewRecord::new("start", "instance").with_reason("6"),
    ];
    journal.append(records.to_vec()).await.unwrap();
    let all = RecordFilter::default;
    let repository = RepositoryName::new("ACME", "Shop").unwrap();
    let cases = [
        (all(), vec!["1", "2", "3", "4", "5", "6"]),
        (RecordFilter { order: RecordOrder::NewestFirst, limit: Some(2), ..all() }, vec!["6", "5"]),
        (RecordFilter { limit: Some(4), ..all() }, vec!["1", "2", "3", "4"]),
        (RecordFilter { limit: Some(0), ..all() }, vec![]),
        (RecordFilter::about(&pull_request(7)), vec!["1", "2"]),
        (RecordFilter::about(&elsewhere), vec!["4"]),
        (RecordFilter { repository: Some(repository.clone()), ..all() }, vec!["1", "2", "3", "4"]),
        (RecordFilter { repository: Some(repository), number: Some(7), ..all() }, vec!["1", "2", "4"]),
        (RecordFilter { kind: Some("cycle".to_owned()), ..all() }, vec!["1", "3", "4", "5"]),
        (
            RecordFilter { by: Some("orange".to_owned()), order: RecordOrder::NewestFirst, ..all() },
            vec!["5", "4", "2", "1"],
        ),
        (RecordFilter { by: Some("' OR 1=1 --".to_owned()), ..all() }, vec![]),
        (RecordFilter { kind: Some("cycle".to_owned()), ..RecordFilter::about(&pull_request(7)) }, vec!["1"]),
    ];
    for (filter, expected) in cases {
        let found = journal.records(filter.clone()).await.unwrap();
        assert_eq!(whys(&found), expected, "{filter:?}");
        // Callers of a follower apply the same filter without the database.
        if filter.limit.is_none() {
            let mut fitting = journal.records(all()).await.unwrap();
            fitting.retain(|record| filter.fits(record));
            fitting.sort_by_key(|record| found.iter().position(|other| other == record));
            assert_eq!(fitting, found, "{filter:?}");
        }
    }
}

async fn a_text_filter_ignores_case(place: Place) {
    let journal = place.open().await;
    let records = vec![
        note("Übergabe an den FIXER").with_key("key-77"),
        NewRecord::new("cycle", "bob").about(pull_request(9)).with(json!({"title": ["Unchecked %_ index"]})),
        note("nothing"),
    ];
    journal.append(records).await.unwrap();
    let cases = [
        ("übergabe", 1),
        ("fixer", 1),
        ("unchecked %_", 1),
        ("%", 1),
        ("acme/SHOP#9", 1),
        ("KEY-77", 1),
        ("BOB", 1),
        ("title", 0),
        ("n", 3),
        ("absent", 0),
    ];
    for (text, expected) in cases {
        let filter = RecordFilter { text: Some(text.to_owned()), ..RecordFilter::default() };
        assert_eq!(journal.records(filter).await.unwrap().len(), expected, "{text}");
    }
    let newest = RecordFilter {
        text: Some("n".to_owned()),
        order: RecordOrder::NewestFirst,
        limit: Some(1),
        ..RecordFilter::default()
    };
    assert_eq!(whys(&journal.records(newest).await.unwrap()), ["nothing"]);
}

async fn an_act_has_an_intent_and_then_an_outcome(place: Place) {
    let journal = place.open().await;
    let intent =
        |number, why: &str| NewRecord::new("any", "engine").about(pull_request(number)).with_reason(why);
    let first = journal.intend(None, "a", intent(1, "post a comment")).await.unwrap();
    assert_eq!((first.is_new(), first.record().kind.as_str()), (true, INTENT));
    assert!(!journal.intend(None, "a", intent(1, "post it again")).await.unwrap().is_new());
    journal.intend(None, "b", intent(2, "merge")).await.unwrap();
    journal.intend(None, "c", intent(1, "resolve")).await.unwrap();
    // Another kind of record with the same key is not an outcome.
    journal.append_one(note("about a").about(pull_request(1)).with_key("a")).await.unwrap();

    let open = async |of: Option<u64>| {
        let of = of.map(pull_request);
        let records = journal.unconcluded(of.as_ref()).await.unwrap();
        records.into_iter().map(|record| record.key.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(open(None).await, ["a", "b", "c"]);
    assert_eq!(open(Some(1)).await, ["a", "c"]);
    let outcome = |body| NewRecord::new("any", "engine").about(pull_request(1)).with(body);
    let done = journal.conclude(None, "a", outcome(json!({"id": 5}))).await.unwrap();
    assert!(done.is_new());
    assert_eq!(open(None).await, ["b", "c"]);
    assert_eq!(open(Some(2)).await, ["b"]);

    // The first outcome stays, and there is no outcome without an intent.
    let again = journal.conclude(None, "a", outcome(json!({"id": 6}))).await.unwrap();
    assert_eq!(again, Appended::AlreadyThere(done.record().clone()));
    let error = journal.conclude(None, "d", outcome(json!({}))).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no intent with the key `d`, so there is no outcome to record");
}

async fn a_key_too_long_for_an_index_is_refused(place: Place) {
    let journal = place.open().await;
    assert!(journal.append_one(note("").with_key("k".repeat(1000))).await.unwrap().is_new());
    let long = "k".repeat(1001);
    for record in [
        note("").with_key(long),
        note("").with_key(""),
        note("").with_key("a\u{0}"),
        NewRecord::new("", "x"),
        NewRecord::new("k".repeat(101), "x"),
    ] {
        let error = journal.append_one(record).await.unwrap_err();
        assert!(matches!(error, JournalError::Unfit { .. }), "{error}");
    }
    assert_eq!(journal.records(RecordFilter::default()).await.unwrap().len(), 1);
}

async fn many_records_are_returned_in_order_across_pages(place: Place) {
    let journal = place.open().await;
    for batch in 0..3 {
        let records = (0..450).map(|number| note((batch * 450 + number).to_string())).collect();
        journal.append(records).await.unwrap();
    }
    let all = journal.records(RecordFilter::default()).await.unwrap();
    assert!(all.iter().map(|record| record.seq).eq(1..=1350));
    assert!(all.iter().zip(0..).all(|(record, number)| record.why == number.to_string()));
    let limit =
        RecordFilter { order: RecordOrder::NewestFirst, limit: Some(1001), ..RecordFilter::default() };
    let newest = journal.records(limit).await.unwrap();
    assert!(newest.iter().map(|record| record.seq).eq((350..=1350).rev()));
}
