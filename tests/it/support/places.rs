//! The journals of the tests, on SQLite and on PostgreSQL, and the records that tests write to them.

use super::folder;
use cloture::domain::snapshot::RepositoryName;
use cloture::journal::{
    Journal, JournalAddress, JournalError, JournalOptions, NewRecord, OpenedJournal, PullRequestKey,
};
use jiff::Timestamp;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Runs each test on both kinds of journal.
macro_rules! on_both {
    ($($name:ident)+) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name($crate::support::places::Place::file()).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            #[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
            async fn $name() {
                $crate::support::places::on_server(super::$name).await;
            })+
        }
    };
}

pub(crate) use on_both;

/// An address for a journal of its own.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) address: JournalAddress,
    /// As text, for other processes.
    pub(crate) text: String,
    folder: Option<Arc<TempDir>>,
    schema: Option<String>,
}

const VARIABLE: &str = "CLOTURE_TEST_POSTGRES";

/// The address of the server. Tests that need it are ignored on machines without one.
pub(crate) fn server_url() -> String {
    std::env::var(VARIABLE).expect("CLOTURE_TEST_POSTGRES has the address of a server")
}

/// Runs a test in a schema of its own, and removes the schema also if the test fails.
pub(crate) async fn on_server<F: Future<Output = ()> + Send + 'static>(test: fn(Place) -> F) {
    let url = server_url();
    let place = Place::server(&url).await;
    let outcome = tokio::spawn(test(place.clone())).await;
    place.remove(&url).await;
    if let Err(error) = outcome {
        std::panic::resume_unwind(error.into_panic());
    }
}

impl Place {
    pub(crate) fn file() -> Place {
        let folder = folder::temporary();
        let path = folder.path().join("state").join(JournalAddress::FILE_NAME);
        Place {
            text: path.to_str().unwrap().to_owned(),
            address: JournalAddress::file(path),
            folder: Some(Arc::new(folder)),
            schema: None,
        }
    }

    pub(crate) async fn server(url: &str) -> Place {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let schema = format!("cloture_test_{}_{count}", std::process::id());
        let mut connection = PgConnection::connect(url).await.unwrap();
        let create = format!("CREATE SCHEMA {schema}");
        sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut connection).await.unwrap();
        let separator = if url.contains('?') { '&' } else { '?' };
        let text = format!("{url}{separator}options[search_path]={schema}&application_name={schema}");
        Place { address: JournalAddress::server(&text).unwrap(), text, folder: None, schema: Some(schema) }
    }

    /// Removes the schema on the server.
    pub(crate) async fn remove(self, url: &str) {
        let mut connection = PgConnection::connect(url).await.unwrap();
        let drop = format!("DROP SCHEMA {} CASCADE", self.schema());
        sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut connection).await.unwrap();
    }

    /// Reads a text from [`Place::text`].
    pub(crate) fn named(text: &str) -> JournalAddress {
        if text.starts_with("postgres") {
            JournalAddress::server(text).unwrap()
        } else {
            JournalAddress::file(text)
        }
    }

    pub(crate) fn is_file(&self) -> bool {
        self.folder.is_some()
    }

    pub(crate) fn schema(&self) -> &str {
        self.schema.as_deref().unwrap()
    }

    pub(crate) async fn try_open(&self, options: JournalOptions) -> Result<OpenedJournal, JournalError> {
        Journal::open(&self.address, options).await
    }

    pub(crate) async fn open(&self) -> Journal {
        let opened = self.try_open(options()).await.unwrap();
        assert_eq!(opened.set_aside, None);
        opened.journal
    }

    /// Runs SQL without the journal.
    pub(crate) async fn tamper(&self, sql: &str) {
        let statement = AssertSqlSafe(sql.to_owned());
        if self.is_file() {
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&self.text);
            let mut connection = options.connect().await.unwrap();
            sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        } else {
            let mut connection = PgConnection::connect(&self.text).await.unwrap();
            sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
        }
    }

    /// Runs one of the ignored tests as a process of its own on this journal.
    pub(crate) fn child(&self, test: &str, variables: &[(&str, String)]) -> std::process::Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "--test-threads=1", test])
            .env("CLOTURE_CHILD_PLACE", &self.text)
            .envs(variables.iter().map(|(name, value)| (*name, value.as_str())))
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap()
    }
}

/// The journal that a test's own process was told to use.
pub(crate) fn place_of_child() -> JournalAddress {
    Place::named(&std::env::var("CLOTURE_CHILD_PLACE").expect("other tests run this as a process"))
}

pub(crate) fn now() -> Timestamp {
    "2026-03-04T05:06:07Z".parse().unwrap()
}

/// Options with a short follow interval, because tests wait for followers.
pub(crate) fn options() -> JournalOptions {
    JournalOptions { follow_every: Duration::from_millis(5), ..JournalOptions::new(now()) }
}

pub(crate) fn pull_request(number: u64) -> PullRequestKey {
    let repository = RepositoryName::new("Acme", "shop").unwrap();
    PullRequestKey { host: "github.com".to_owned(), repository, number }
}

pub(crate) fn note(why: impl Into<String>) -> NewRecord {
    NewRecord::new("note", "alice").with_reason(why)
}
