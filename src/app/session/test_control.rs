//! A test's control over a real process, to check what a kill leaves behind. The test sets the process's
//! time, receives a report of every commit to its journal, and can stop it after one commit in order to kill
//! it exactly there.
//!
//! Only a build with the cargo feature `test-control` has this module, and only tests build with it. The test
//! listens on a loopback port, names it in [`VARIABLE`], and the process connects before it opens its
//! journal. Both sides write lines of JSON: the test sends [`Terms`] and then [`Order`]s, the process sends
//! [`Report`]s. There is no pause between writes here, because only the real GitHub asks for one.
//!
//! What is absent: a test cannot read the journal or GitHub through this, or have anything written.

use crate::failure::Failure;
use crate::journal::Checkpoint;
use crate::supervisor::clock::Clock;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tokio::sync::{Semaphore, watch};

pub const VARIABLE: &str = "CLOTURE_TEST_CONTROL";

/// The test's port. Nothing else reads the variable.
fn requested_port(environment: &(dyn Fn(&str) -> Option<String> + Sync)) -> Option<String> {
    environment(VARIABLE)
}

/// The test's first line, which the process reads before it opens its journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Terms {
    pub now: Timestamp,
    /// The number of the commit after which the process stops, counted from 1.
    pub stop_after: Option<u64>,
}

/// A line from the process to the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The number of commits so far. The last one is on disk, and no code in the process knows about it yet.
    Commit(u64),
    /// The process has nothing left to do and sleeps.
    Asleep,
    /// Something other than the end of its sleep woke it.
    Awake,
    /// The test woke it. This is the time until which it wanted to sleep.
    Woken(Timestamp),
}

/// A line from the test to the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Ends the current sleep, or the next one.
    Wake,
    /// Sets the time.
    Now(Timestamp),
}

/// The process's side of the connection. It is both the clock and the journal's checkpoint.
#[derive(Debug, Clone)]
pub struct TestControl(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    /// Unbuffered, so that every report arrives even if the process is killed right after it.
    reports: Mutex<TcpStream>,
    /// The time, and how often the test set it.
    now: watch::Sender<(u64, Timestamp)>,
    wakes: Semaphore,
    stop_after: Option<u64>,
    commits: AtomicU64,
}

impl TestControl {
    /// Whether a test wants to control this process.
    pub fn is_offered(environment: &(dyn Fn(&str) -> Option<String> + Sync)) -> bool {
        requested_port(environment).is_some()
    }

    /// Connects to the test, if one wants to control this process.
    pub fn connect_if_requested(
        environment: &(dyn Fn(&str) -> Option<String> + Sync),
    ) -> Result<Option<TestControl>, Failure> {
        let Some(port) = requested_port(environment) else { return Ok(None) };
        let connected = port.parse().map_err(io::Error::other).and_then(TestControl::connect);
        let failed =
            |error| Failure::usage(format_args!("cannot connect to the test at {VARIABLE}={port}: {error}"));
        connected.map(Some).map_err(failed)
    }

    fn connect(port: u16) -> io::Result<TestControl> {
        let reports = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        reports.set_nodelay(true)?;
        let mut orders = BufReader::new(reports.try_clone()?).lines();
        let Terms { now, stop_after } =
            serde_json::from_str(&orders.next().transpose()?.unwrap_or_default())?;
        let connection = Arc::new(Connection {
            reports: Mutex::new(reports),
            now: watch::Sender::new((0, now)),
            wakes: Semaphore::new(0),
            stop_after,
            commits: AtomicU64::new(0),
        });
        let listening = Arc::clone(&connection);
        // The thread ends with the process, or when the test closes the connection.
        thread::spawn(move || {
            for order in orders.map_while(Result::ok).map_while(|line| serde_json::from_str(&line).ok()) {
                match order {
                    Order::Wake => listening.wakes.add_permits(1),
                    Order::Now(now) => listening.now.send_modify(|(times, current)| {
                        *times += 1;
                        *current = now;
                    }),
                }
            }
        });
        Ok(TestControl(connection))
    }
}

impl Connection {
    fn report(&self, report: Report) {
        let Ok(line) = serde_json::to_string(&report) else { return };
        if let Ok(mut reports) = self.reports.lock() {
            // A test that is gone waits for no report.
            let _test_gone = reports.write_all(format!("{line}\n").as_bytes());
        }
    }
}

impl Checkpoint for TestControl {
    fn goes_on(&self) -> bool {
        let TestControl(connection) = self;
        let count = connection.commits.fetch_add(1, Ordering::SeqCst) + 1;
        connection.report(Report::Commit(count));
        connection.stop_after.is_none_or(|last| count < last)
    }
}

/// Reports an interrupted sleep when it is dropped.
struct Asleep<'a> {
    connection: &'a Connection,
    is_over: bool,
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.connection.report(Report::Awake);
        }
    }
}

impl Clock for TestControl {
    fn now(&self) -> Timestamp {
        self.0.now.borrow().1
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let TestControl(connection) = self;
        Box::pin(async move {
            connection.report(Report::Asleep);
            let mut asleep = Asleep { connection, is_over: false };
            if let Ok(wake) = connection.wakes.acquire().await {
                wake.forget();
            }
            let mut now = connection.now.subscribe();
            let (before, _) = *now.borrow_and_update();
            asleep.is_over = true;
            connection.report(Report::Woken(at));
            // The sender lives as long as `connection`, so this never fails.
            let _always = now.wait_for(|(times, _)| *times > before).await.is_ok();
        })
    }

    fn waits_for_work(&self) -> bool {
        true
    }
}
