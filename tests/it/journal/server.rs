//! Failures that only a server has: unreachable, disconnected, read-only.

use crate::support::places::{Place, note, on_server, options, pull_request, server_url};
use cloture::journal::{Journal, JournalAddress, JournalError, JournalOptions, RecordFilter};
use std::time::Duration;

#[tokio::test]
async fn an_unreachable_server_is_reported_without_its_password() {
    // Bound and dropped, so that connections to this port are refused.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address =
        JournalAddress::server(&format!("postgres://cloture:s3cr%65t@127.0.0.1:{port}/reviews")).unwrap();
    let error = Journal::open(&address, options()).await.unwrap_err();
    assert!(matches!(error, JournalError::OutOfReach { .. }) && error.may_pass(), "{error}");
    let message = format!("{error} {error:?} {address:?}");
    assert!(
        message.contains(&format!("postgres://cloture@127.0.0.1:{port}/reviews is out of reach")),
        "{message}"
    );
    assert!(!message.contains("s3cr"), "{message}");
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let address = JournalAddress::server(&format!("postgres://cloture@127.0.0.1:{port}/reviews")).unwrap();
    let impatient = JournalOptions { patience: Duration::from_millis(50), ..options() };
    let error = Journal::open(&address, impatient).await.unwrap_err();
    assert!(matches!(&error, JournalError::OutOfReach { .. }), "{error}");
    assert!(error.to_string().contains("did not answer within"), "{error}");
}

#[tokio::test]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
async fn a_missing_database_is_reported_in_a_sentence() {
    let url = server_url();
    let (server, _) = url.rsplit_once('/').unwrap();
    let address = JournalAddress::server(&format!("{server}/no_such_database")).unwrap();
    let error = Journal::open(&address, options()).await.unwrap_err();
    assert!(matches!(&error, JournalError::NotAllowed { .. }), "{error}");
    assert!(error.to_string().contains("no_such_database"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
async fn a_lost_connection_is_restored() {
    on_server(cut).await;
}

async fn cut(place: Place) {
    let journal = place.open().await;
    journal.append_one(note("before")).await.unwrap();
    let mut follower = journal.follow(1);
    let cut = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{}' \
         AND pid <> pg_backend_pid()",
        place.schema()
    );
    place.tamper(&cut).await;
    let after = journal.append_one(note("after")).await.unwrap();
    assert_eq!(after.record().seq, 2);
    assert_eq!(follower.next().await.unwrap().why, "after");
    place.tamper(&cut).await;
    assert_eq!(journal.records(RecordFilter::default()).await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
async fn a_read_only_server_is_reported_in_a_sentence() {
    on_server(read_only).await;
}

async fn read_only(place: Place) {
    place.open().await.append_one(note("before")).await.unwrap();
    let text = format!("{}&options[default_transaction_read_only]=on", place.text);
    let journal = Journal::open(&JournalAddress::server(&text).unwrap(), options()).await.unwrap().journal;
    assert_eq!(journal.records(RecordFilter::default()).await.unwrap().len(), 1);
    let error = journal.append_one(note("refused")).await.unwrap_err();
    assert!(matches!(error, JournalError::ReadOnly { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
async fn a_counter_locked_for_too_long_is_reported_as_busy() {
    on_server(held_up).await;
}

async fn held_up(place: Place) {
    use sqlx::Connection;
    let impatient = JournalOptions { patience: Duration::from_millis(100), ..options() };
    let journal = place.try_open(impatient).await.unwrap().journal;
    let mut other = sqlx::PgConnection::connect(&place.text).await.unwrap();
    let mut transaction = other.begin().await.unwrap();
    sqlx::raw_sql("UPDATE counters SET value = value").execute(&mut *transaction).await.unwrap();
    let error = journal.append_one(note("a")).await.unwrap_err();
    assert!(matches!(error, JournalError::Busy { .. }), "{error}");
    transaction.rollback().await.unwrap();
    assert_eq!(journal.append_one(note("b")).await.unwrap().record().seq, 1);
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
async fn a_refused_append_leaves_nothing_locked() {
    on_server(unlocked).await;
}

async fn unlocked(place: Place) {
    use cloture::journal::Acquired;
    use sqlx::Connection;
    let (one, _other) = (place.open().await, place.open().await);
    let asked = one.acquire(&pull_request(1), "one", Duration::ZERO).await.unwrap();
    let Acquired::Held(lease) = asked else { panic!("{asked:?}") };
    let error = one.append_held(&lease, vec![note("late")]).await.unwrap_err();
    assert!(matches!(error, JournalError::LeaseLost(_)), "{error}");
    let mut watcher = sqlx::PgConnection::connect(&place.text).await.unwrap();
    let question =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND state LIKE 'idle in%'";
    let unfinished: i64 =
        sqlx::query_scalar(question).bind(place.schema()).fetch_one(&mut watcher).await.unwrap();
    assert_eq!(unfinished, 0, "no transaction is open, neither of the refused append nor of the start");
}
