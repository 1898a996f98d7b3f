//! Memory stays flat. The supervisor runs in a process of its own, so that the simulator and the checks are
//! not measured. That process is this test program with one ignored test, and the test controls its time.
//!
//! After the first third the pull requests do not grow: heads move, texts change, threads are resolved and
//! reopened, and loops begin and end. Cloture keeps every text of a watched pull request, so in a growing
//! world the test would measure the world.

use super::lives::Rules;
use super::world::Size;
use crate::support::dice::Dice;
use crate::support::harness::{Place, push};
use crate::support::simulated::{self, show};
use cloture::app::session::test_control::Order;
use cloture::app::session::test_control::Report;
use cloture::app::session::test_control::Terms;
use cloture::app::session::test_control::TestControl;
use cloture::app::session::test_control::VARIABLE;
use cloture::github::writer::WritePace;
use cloture::journal::{Checkpoint, Journal, JournalAddress, JournalOptions};
use cloture::simulator::Scenario;
use cloture::supervisor::clock::Clock;
use cloture::supervisor::{Supervisor, SupervisorOptions};
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};

/// The growth allowed between the first third and the end, in megabytes. Each loop adds records of some
/// hundred bytes, and the allocator returns pages late.
const MOST_GROWTH: f64 = 4.0;

#[tokio::test]
async fn memory_stays_flat_while_loops_come_and_go() {
    let size = Size::of_environment();
    let pulls = size.pulls;
    let text = include_str!("../support/scenarios/many.toml").replace("500", &pulls.to_string());
    let text =
        text.replace("{ path = \"src/cart.rs\", line = 3", "{ name = 'a', path = 'src/cart.rs', line = 3");
    let place = Place::of(&Scenario::parse(&text, "many.toml").unwrap()).await;
    let mut watch = Watch::begin(&place, pulls).await;
    let mut dice = Dice::new(size.seed);
    let looks = usize::try_from(size.hours).unwrap() * 20;
    let mut seen = Vec::new();
    for poll in 1..=looks {
        for _ in 0..pulls / 10 {
            let number = 1 + dice.below(pulls);
            let name = format!("acme/shop#{number}");
            let _already_so = place.simulator.perform_toml(&name, &format!("do = [{}]", turn(&mut dice)));
        }
        watch.poll(&place).await;
        if poll % (looks / 12).max(1) == 0 {
            seen.push(watch.megabytes());
        }
    }
    watch.process.kill().await.unwrap();
    let third = seen[seen.len() / 3 - 1];
    let last = *seen.last().unwrap();
    let all: Vec<String> = seen.iter().map(|megabytes| format!("{megabytes:.1}")).collect();
    show(&format!(
        "soak, memory: {pulls} pull requests, {looks} polls, {} commits: {third:.1} MB after a third, {last:.1} MB at the end ({})",
        watch.commits,
        all.join(", ")
    ));
    assert!(last - third <= MOST_GROWTH, "it grows: {all:?}");
}

/// A change of a pull request that does not make it larger.
fn turn(dice: &mut Dice) -> String {
    let number = u32::try_from(dice.below(1_000_000)).unwrap();
    match dice.below(6) {
        0 | 1 => push(number),
        2 => "{ resolve = { by = 'erin', thread = 'a' } }".to_owned(),
        3 => "{ unresolve = { by = 'erin', thread = 'a' } }".to_owned(),
        4 => "{ label = { by = 'erin', name = 'bug' } }".to_owned(),
        _ => "{ unlabel = { by = 'erin', name = 'bug' } }".to_owned(),
    }
}

/// The process's task: the simulator's address, the folder for the journal, the number of pull requests.
const TASK: &str = "CLOTURE_SOAK_SUPERVISE";

/// Not a test: the measured process runs this until it is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it is started by the test that measures it"]
async fn supervises_alone() {
    let Ok(task) = std::env::var(TASK) else { return };
    let [url, folder, pulls] = task.split('|').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let reins =
        Arc::new(TestControl::connect_if_requested(&|name| std::env::var(name).ok()).unwrap().unwrap());
    let mut options = JournalOptions::new(reins.now());
    options.checkpoint = Some(Arc::clone(&reins) as Arc<dyn Checkpoint>);
    let address = JournalAddress::file(Path::new(folder).join(JournalAddress::FILE_NAME));
    let journal = Journal::open(&address, options).await.unwrap().journal;
    let config = "[[repositories]]\nname = 'acme/shop'\ndrive = false\nreviewers = ['coderabbit']\n";
    let Rules { config, reads, .. } = Rules::of(config.to_owned());
    let options = SupervisorOptions {
        config,
        reads: reads.clone(),
        asks: reads,
        journal,
        client: simulated::client(url, "secret", simulated::PATIENT),
        clock: reins,
        instance: "one".to_owned(),
        read_only: false,
        pace: WritePace::default(),
        lease: Duration::from_mins(10),
        fresh: false,
        environment: |_| None,
    };
    let pulls = 1..=pulls.parse().unwrap();
    let tracked = pulls.map(|number| simulated::address("acme/shop", number).into()).collect();
    let _supervisor = Supervisor::start(options, tracked).await.unwrap();
    std::future::pending::<()>().await;
}

/// The measured process, whose time the test controls.
struct Watch {
    process: Child,
    reports: Lines<BufReader<OwnedReadHalf>>,
    orders: OwnedWriteHalf,
    commits: u64,
}

impl Watch {
    async fn begin(place: &Place, pulls: usize) -> Watch {
        let reins = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let errors = File::create(place.path("errors")).unwrap();
        let state = place.path("state");
        std::fs::create_dir_all(&state).unwrap();
        let task = format!("{}|{}|{pulls}", place.simulator.url(), state.display());
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "soak::memory::supervises_alone", "--nocapture"])
            .env(TASK, task)
            .env(VARIABLE, reins.local_addr().unwrap().port().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let Ok(accepted) = tokio::time::timeout(Duration::from_secs(30), reins.accept()).await else {
            panic!("it does not start: {}", place.read("errors"))
        };
        let (stream, _) = accepted.unwrap();
        stream.set_nodelay(true).unwrap();
        let (reports, mut orders) = stream.into_split();
        say(&mut orders, &Terms { now: place.simulator.now(), stop_after: None }).await;
        Watch { process, reports: BufReader::new(reports).lines(), orders, commits: 0 }
    }

    /// Waits until it sleeps, lets it poll, and waits until it sleeps again.
    async fn poll(&mut self, place: &Place) {
        let polled = async {
            let mut is_woken = false;
            loop {
                let line = self.reports.next_line().await.unwrap();
                let Some(line) = line else { panic!("it has ended: {}", place.read("errors")) };
                match serde_json::from_str(&line).unwrap() {
                    Report::Commit(count) => self.commits = count,
                    Report::Awake => {}
                    Report::Asleep if is_woken => {}
                    Report::Asleep => {
                        say(&mut self.orders, &Order::Wake).await;
                        is_woken = true;
                    }
                    Report::Woken(at) => {
                        let left = at.duration_since(place.simulator.now());
                        place.simulator.advance(Duration::try_from(left).unwrap_or(Duration::ZERO));
                        say(&mut self.orders, &Order::Now(place.simulator.now())).await;
                        return;
                    }
                }
            }
        };
        let polled = tokio::time::timeout(Duration::from_mins(2), polled).await;
        assert!(polled.is_ok(), "it does not come to rest: {}", place.read("errors"));
    }

    fn megabytes(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id().unwrap())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

async fn say(to: &mut OwnedWriteHalf, what: &impl Serialize) {
    let line = format!("{}\n", serde_json::to_string(what).unwrap());
    to.write_all(line.as_bytes()).await.unwrap();
}
