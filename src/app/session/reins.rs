//! Reins on a real process, for tests of what a kill leaves: whoever holds them tells the process what time it is, is told
//! of every commit of its journal, and can have it stand still after one, to kill it exactly there.
//!
//! The environment variable [`VARIABLE`] offers them, by a port on loopback; without it nothing of this happens. The
//! process connects there once it opens its journal, and both sides write lines of JSON: [`Terms`] first, then
//! [`Report`]s one way and [`Order`]s the other. Under reins writes do not wait for one another, because a second between
//! them is kind to GitHub and nobody else.
//!
//! What is absent: nobody can learn here what the journal or the forge hold, nor have anything written.

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

pub const VARIABLE: &str = "CLOTURE_TEST_REINS";

/// The port, where the reins are offered. Nothing else reads the variable.
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

/// See the module's text.
#[derive(Debug, Clone)]
pub struct Reins(Arc<Held>);

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

impl Reins {
    /// Whether somebody wants to hold this process.
    pub fn are_offered(environment: &(dyn Fn(&str) -> Option<String> + Sync)) -> bool {
        offered(environment).is_some()
    }

    /// Takes the reins where they are offered. Whoever offers them is there, so nothing else waits for long.
    pub fn taken(environment: &(dyn Fn(&str) -> Option<String> + Sync)) -> Result<Option<Reins>, Failure> {
        let Some(port) = offered(environment) else { return Ok(None) };
        let taken = port.parse().map_err(io::Error::other).and_then(Reins::connect);
        let failed = |error| {
            Failure::usage(format_args!("{VARIABLE} is set to {port}, and is for tests only: {error}"))
        };
        taken.map(Some).map_err(failed)
    }

    fn connect(port: u16) -> io::Result<Reins> {
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
        // It ends with the process, or when the reins are let go.
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
        Ok(Reins(held))
    }
}

impl Held {
    fn report(&self, report: Report) {
        let Ok(line) = serde_json::to_string(&report) else { return };
        if let Ok(mut reports) = self.reports.lock() {
            // With nobody there to hear it, nobody waits for it either.
            let _let_go = reports.write_all(format!("{line}\n").as_bytes());
        }
    }
}

impl Checkpoint for Reins {
    fn goes_on(&self) -> bool {
        let Reins(held) = self;
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

impl Clock for Reins {
    fn now(&self) -> Timestamp {
        self.0.now.borrow().1
    }

    fn sleep_until(&self, at: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let Reins(held) = self;
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
