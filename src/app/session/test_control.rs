//! Control over a real process, for tests of what a kill leaves behind. A test tells the process the time, hears of every
//! commit of its journal, and can make it stand still after one in order to kill it exactly there.
//!
//! Only a build with the cargo feature `test-control` has this module, and only tests build with it. The test listens on
//! a loopback port, names it in [`VARIABLE`], and the process connects before it opens its journal. Both sides write lines
//! of JSON: the test sends [`Terms`] and then [`Order`]s, the process sends [`Report`]s. Writes to GitHub do not wait for
//! one another here, because that second of courtesy is for GitHub alone.
//!
//! What is absent: a test cannot read the journal or the forge through this, nor have anything written.

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
fn offered(environment: &(dyn Fn(&str) -> Option<String> + Sync)) -> Option<String> {
    environment(VARIABLE)
}

/// What the process hears before it opens its journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Terms {
    pub now: Timestamp,
    /// The commit after which it stands still, counted from 1.
    pub stop_after: Option<u64>,
}

/// What the process says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// So many commits there were. The last one is on disk, and nobody in the process has heard of it.
    Commit(u64),
    /// Everything at hand is done, and it sleeps.
    Asleep,
    /// Something else than the end of its sleep woke it.
    Awake,
    /// It was woken and means to go on at this time.
    Woken(Timestamp),
}

/// What it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// This sleep ends, or the next.
    Wake,
    Now(Timestamp),
}

/// The process's side of the connection; a clock and a checkpoint of the journal at once.
#[derive(Debug, Clone)]
pub struct TestControl(Arc<Held>);

#[derive(Debug)]
struct Held {
    /// Written to at once, so that what was said was said, however soon the process ends.
    reports: Mutex<TcpStream>,
    /// The time, and how often it was told.
    now: watch::Sender<(u64, Timestamp)>,
    wakes: Semaphore,
    stop_after: Option<u64>,
    commits: AtomicU64,
}

impl TestControl {
    /// Whether a test wants to control this process.
    pub fn is_offered(environment: &(dyn Fn(&str) -> Option<String> + Sync)) -> bool {
        offered(environment).is_some()
    }

    /// Connects to the test, if one wants to control this process.
    pub fn taken(
        environment: &(dyn Fn(&str) -> Option<String> + Sync),
    ) -> Result<Option<TestControl>, Failure> {
        let Some(port) = offered(environment) else { return Ok(None) };
        let taken = port.parse().map_err(io::Error::other).and_then(TestControl::connect);
        let failed = |error| {
            Failure::usage(format_args!("{VARIABLE} is set to {port}, and is for tests only: {error}"))
        };
        taken.map(Some).map_err(failed)
    }

    fn connect(port: u16) -> io::Result<TestControl> {
        let reports = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        reports.set_nodelay(true)?;
        let mut orders = BufReader::new(reports.try_clone()?).lines();
        let Terms { now, stop_after } =
            serde_json::from_str(&orders.next().transpose()?.unwrap_or_default())?;
        let held = Arc::new(Held {
            reports: Mutex::new(reports),
            now: watch::Sender::new((0, now)),
            wakes: Semaphore::new(0),
            stop_after,
            commits: AtomicU64::new(0),
        });
        let listening = Arc::clone(&held);
        // It ends with the process, or when the test closes the connection.
        thread::spawn(move || {
            for order in orders.map_while(Result::ok).map_while(|line| serde_json::from_str(&line).ok()) {
                match order {
                    Order::Wake => listening.wakes.add_permits(1),
                    Order::Now(now) => listening.now.send_modify(|(times, known)| {
                        *times += 1;
                        *known = now;
                    }),
                }
            }
        });
        Ok(TestControl(held))
    }
}

impl Held {
    fn report(&self, report: Report) {
        let Ok(line) = serde_json::to_string(&report) else { return };
        if let Ok(mut reports) = self.reports.lock() {
            // Once the test is gone, no one waits for a report.
            let _let_go = reports.write_all(format!("{line}\n").as_bytes());
        }
    }
}

impl Checkpoint for TestControl {
    fn goes_on(&self) -> bool {
        let TestControl(held) = self;
        let count = held.commits.fetch_add(1, Ordering::SeqCst) + 1;
        held.report(Report::Commit(count));
        held.stop_after.is_none_or(|last| count < last)
    }
}

/// Says that somebody sleeps, and that the sleep was broken off unless it came to its end.
struct Asleep<'a> {
    held: &'a Held,
    over: bool,
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        if !self.over {
            self.held.report(Report::Awake);
        }
    }
}

impl Clock for TestControl {
    fn now(&self) -> Timestamp {
        self.0.now.borrow().1
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let TestControl(held) = self;
        Box::pin(async move {
            held.report(Report::Asleep);
            let mut asleep = Asleep { held, over: false };
            if let Ok(wake) = held.wakes.acquire().await {
                wake.forget();
            }
            let mut now = held.now.subscribe();
            let (before, _) = *now.borrow_and_update();
            asleep.over = true;
            held.report(Report::Woken(at));
            // The sender lives as long as `held`.
            let _always = now.wait_for(|(times, _)| *times > before).await.is_ok();
        })
    }

    fn waits_for_work(&self) -> bool {
        true
    }
}
