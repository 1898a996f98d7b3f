//! Several instances on one journal: one drives, the others stand by, and whoever is killed is followed by another that
//! goes on exactly there.

use super::authors::Shop;
use super::crash::{answered, forge, runtime, stage};
use crate::support::harness::{DRIVEN, Fatal, MAJOR, Place, Run, SEVEN, Settings, finding, push, review};
use crate::support::simulated::show;
use cloture::domain::machine::Decision;
use cloture::journal::{Checkpoint, INTENT, Journal, JournalAddress, OUTCOME, RecordFilter};
use cloture::simulator::{Fault, FaultKind};
use cloture::supervisor::fact::Fact;
use cloture::supervisor::{DriverRole, LoopCommand};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Long enough for one turn of a loop, and short enough to wait for.
const LEASE: Duration = Duration::from_millis(400);

/// So that nobody loses it by being slow: it ends when its holder is dead and the test says that its time is up.
pub(crate) const LONG_LEASE: Duration = Duration::from_mins(5);

fn settings(fatal: Option<&Arc<Fatal>>) -> Settings {
    let checkpoint = fatal.map(|fatal| Arc::clone(fatal) as Arc<dyn Checkpoint>);
    Settings { lease: LEASE, checkpoint, ..Settings::default() }
}

pub(crate) fn drives(run: &Run) -> bool {
    run.view().role == DriverRole::Driver
}

/// Ticks until this one drives, which the database's clock decides.
async fn takes_over(run: &Run) {
    for _ in 0..3000 {
        if drives(run) {
            return;
        }
        run.tick().await;
    }
    panic!("nobody takes over: {:?}", run.view().role);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_drives_and_the_other_sees_it_and_takes_over_on_a_file() {
    let place = Place::new().await;
    one_drives(place).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
async fn one_drives_and_the_other_sees_it_and_takes_over_on_a_server() {
    crate::support::places::on_server(|server: crate::support::places::Place| async move {
        let mut place = Place::new().await;
        place.journal = server.address.clone();
        one_drives(place).await;
    })
    .await;
}

async fn one_drives(place: Place) {
    let fatal = Fatal::at(usize::MAX);
    let long = Settings { lease: Duration::from_secs(3), ..settings(Some(&fatal)) };
    let one = place.run_as("one", DRIVEN, &[SEVEN], long).await;
    let two = place.run_as("two", DRIVEN, &[SEVEN], settings(None)).await;
    assert_eq!(one.view().role, DriverRole::Driver);
    assert_eq!(two.view().role, DriverRole::Standby { holder: "one".to_owned() });
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    one.tick().await;
    two.tick().await;
    assert_eq!((one.exit(), two.exit()), (Some("issues_found".to_owned()), Some("issues_found".to_owned())));
    assert_eq!(place.posts(), ["comment: @coderabbitai review"], "asked once, although both wanted to");

    // The standby hears what a person decides at the driver.
    let thread = one.view().standing.as_ref().unwrap().snapshot.threads[0].id.clone();
    let about = one.journal.leases().await.unwrap()[0].pull_request.clone();
    let fact = Fact::Decided { thread, verb: Decision::Escalate };
    one.journal.append_one(fact.record(place.simulator.now(), &about, "dana", "look")).await.unwrap();
    for run in [&one, &two] {
        run.see(|view| {
            let standing = view.standing.as_ref().unwrap();
            standing.threads()[0].thread.status().name() == "escalated"
        })
        .await;
    }
    one.tick().await;
    two.tick().await;
    assert_eq!((place.count("reply"), place.count("label")), (1, 1), "{:?}", place.posts());

    // What a person tells the standby, the driver does.
    place.play(&push(7));
    one.tick().await;
    assert_eq!(one.phase(), "waiting");
    two.tell(LoopCommand::Pause, |_| true).await;
    one.see(|view| format!("{:?}", view.review_loop).contains("Paused")).await;

    // From here on the driver's journal never answers again: it is as good as dead, and its lease runs out.
    fatal.now();
    let ticker = one.ticker.clone();
    let dead = tokio::spawn(async move { ticker.tick().await });
    takes_over(&two).await;
    place.play(&push(1));
    two.ticks(2).await;
    assert_eq!(two.phase(), "paused", "it goes on where the other was");
    assert_eq!((place.count("reply"), place.count("label")), (1, 1), "{:?}", place.posts());
    dead.abort();
    drop(one);
    two.stop().await;
}

/// What one saw while another drove is recorded when it takes over, and counts from then on, although nothing is new to it.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_takes_over_counts_what_it_saw_while_another_drove() {
    let place = Place::new().await;
    let long = || Settings { lease: LONG_LEASE, ..settings(None) };
    let one = place.run_as("one", DRIVEN, &[SEVEN], long()).await;
    let two = place.run_as("two", DRIVEN, &[SEVEN], long()).await;
    place.play("{ close = { by = 'dana' } }");
    one.tick().await;
    two.tick().await;
    place.play("{ reopen = { by = 'dana' } }");
    two.tick().await;
    one.stop().await;
    two.tick().await;
    assert!(drives(&two));
    assert!(place.facts().await.contains(&"reopened_pull_request".to_owned()));
    assert_eq!(two.view().standing.as_ref().unwrap().folded.ended, None, "it begins anew");
    two.stop().await;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    One,
    Two,
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Who::One => "one",
            Who::Two => "two",
        }
    }
}

/// Where one of the two is killed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kill {
    /// After a commit of this one, before it hears of it.
    Commit(Who, usize),
    /// With a request under way that never takes effect, counted over both: whoever sent it is killed.
    Before(u32),
    /// With its effect there and its answer lost.
    After(u32),
}

/// What one history of two instances leaves.
#[derive(Debug)]
struct Found {
    forge: serde_json::Value,
    facts: Vec<String>,
    commits: [usize; 2],
    /// Who sent each request, and whether it was one that writes.
    requests: Vec<(Who, bool)>,
    killed: Option<Who>,
}

/// Holds the journal against the promise that there is never more than one driver.
struct Watchman {
    journal: Journal,
    /// Who got the lease each time that somebody got it.
    holders: BTreeMap<u64, String>,
}

impl Watchman {
    /// Whoever takes itself for the driver holds the lease, and what was held in an epoch stays held by that one.
    async fn look(&mut self, living: &[(Who, &Run)]) {
        let lease = self.journal.leases().await.unwrap().pop();
        if let Some(lease) = &lease {
            let known = self.holders.insert(lease.epoch, lease.holder.clone());
            assert!(known.is_none_or(|known| known == lease.holder), "{:?} {lease:?}", self.holders);
            assert_eq!(self.holders.keys().next_back(), Some(&lease.epoch), "an epoch came back");
        }
        for (who, run) in living.iter().filter(|(_, run)| drives(run)) {
            let holder = lease.as_ref().map(|lease| lease.holder.as_str());
            assert_eq!(holder, Some(who.name()), "it drives without the lease: {:?}", run.view().role);
        }
    }

    /// What only a driver writes was written by the first, and then, if that was killed, by the second.
    async fn judge(&self, killed: Option<Who>) {
        let records = self.journal.records(RecordFilter::default()).await.unwrap();
        let driven = records.iter().filter(|record| record.kind == INTENT || record.kind == OUTCOME);
        let mut drivers: Vec<&str> = driven.map(|record| record.by.as_str()).collect();
        drivers.dedup();
        let mut holders: Vec<&str> = self.holders.values().map(String::as_str).collect();
        holders.dedup();
        for turns in [drivers, holders] {
            let fits: &[&[&str]] = match killed {
                Some(Who::One) => &[&["one"], &["one", "two"], &["two"]],
                Some(Who::Two) | None => &[&["one"]],
            };
            assert!(fits.contains(&turns.as_slice()), "{killed:?}: {turns:?}");
        }
    }
}

/// Two instances, until all is done or one of them is killed; then the other goes on alone.
fn both(world: &Runtime, journal: Option<JournalAddress>, kill: Option<Kill>) -> Found {
    let (mut shop, config) = world.block_on(stage());
    if let Some(journal) = journal {
        shop.place.journal = journal;
    }
    let simulator = Arc::clone(&shop.place.simulator);
    match kill {
        Some(Kill::Before(n)) => simulator.inject(Fault::nth("*", n, FaultKind::Stall { millis: 600_000 })),
        Some(Kill::After(n)) => simulator.inject(Fault::nth("*", n, FaultKind::Slow { millis: 600_000 })),
        Some(Kill::Commit(..)) | None => {}
    }
    let fatals = [Who::One, Who::Two].map(|who| match kill {
        Some(Kill::Commit(whose, n)) if whose == who => Fatal::at(n),
        _ => Fatal::at(usize::MAX),
    });
    let (first, second) = (runtime(), runtime());
    let start = |process: &Runtime, who: Who, fatal| {
        let settings = Settings { lease: LONG_LEASE, ..settings(Some(fatal)) };
        process.block_on(shop.place.start(who.name(), &config, &[SEVEN], settings))
    };
    let (one, two) = (start(&first, Who::One, &fatals[0]), start(&second, Who::Two, &fatals[1]));
    let mut watchman =
        Watchman { journal: world.block_on(shop.place.journal()), holders: BTreeMap::default() };
    let turns = Turns { shop: &shop, of: Cell::new(Who::One), requests: RefCell::default() };
    let living = [(Who::One, &one), (Who::Two, &two)];
    let killed = world.block_on(async {
        let held = simulator.wait_until(|simulator| {
            simulator.any_request(|request| {
                request.outcome.contains("fault: stall") || request.outcome.contains("fault: slow")
            })
        });
        tokio::select! {
            () = turns.take(&living, &mut watchman) => None,
            () = fatals[0].reached.notified() => Some(Who::One),
            () = fatals[1].reached.notified() => Some(Who::Two),
            () = held => Some(turns.of.get()),
        }
    });
    let mut processes = [Some(first), Some(second)];
    let mut end = |who: Who| {
        let process = processes[who as usize].take().unwrap();
        process.shutdown_timeout(Duration::from_secs(10));
    };
    if let Some(killed) = killed {
        end(killed);
        simulator.clear_faults();
        let survivor = living[1 - killed as usize];
        world.block_on(async {
            run_out(&watchman.journal, killed).await;
            turns.take(&[survivor], &mut watchman).await;
        });
        end(survivor.0);
    } else {
        end(Who::One);
        end(Who::Two);
    }
    world.block_on(watchman.judge(killed));
    let facts = world.block_on(shop.place.facts());
    let commits = fatals.map(|fatal| fatal.seen.load(Ordering::SeqCst));
    Found { forge: forge(&shop), facts, commits, requests: turns.requests.into_inner(), killed }
}

/// The lease of one that is dead: by the database's clock it takes minutes until it ends.
async fn run_out(journal: &Journal, dead: Who) {
    for lease in journal.leases().await.unwrap() {
        if lease.holder == dead.name() {
            assert!(journal.release(&lease).await.unwrap());
        }
    }
}

/// Who does something at a time: the instances in turn, and then everybody else.
struct Turns<'a> {
    shop: &'a Shop,
    of: Cell<Who>,
    requests: RefCell<Vec<(Who, bool)>>,
}

impl Turns<'_> {
    async fn take(&self, living: &[(Who, &Run)], watchman: &mut Watchman) {
        let simulator = &self.shop.place.simulator;
        for _ in 0..100 {
            for (who, run) in living {
                self.of.set(*who);
                let before = simulator.request_count();
                run.tick().await;
                let sent = simulator.requests_since(before);
                let sent = sent.iter().map(|request| (*who, request.writes));
                self.requests.borrow_mut().extend(sent);
                watchman.look(living).await;
            }
            let driver = living.iter().find(|(_, run)| drives(run));
            if driver.is_some_and(|(_, run)| answered(self.shop, run)) {
                return;
            }
        }
        let told =
            living.iter().map(|(_, run)| (run.view().role.clone(), run.phase(), run.view().trouble.clone()));
        panic!("no end: {:?} {:?}", told.collect::<Vec<_>>(), self.shop.place.posts());
    }
}

#[test]
fn either_of_two_can_be_killed_at_any_time_and_the_other_goes_on_on_a_file() {
    either_is_killed("a file", &|world, kill| both(world, None, kill));
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
fn either_of_two_can_be_killed_at_any_time_and_the_other_goes_on_on_a_server() {
    let url = crate::support::places::server_url();
    either_is_killed("a server", &|world, kill| {
        let place = world.block_on(crate::support::places::Place::server(&url));
        let found = both(world, Some(place.address.clone()), kill);
        world.block_on(place.remove(&url));
        found
    });
}

/// Never two drivers, never two tasks, and the forge as it would be with one that lives.
fn either_is_killed(on: &str, both: &(dyn Fn(&Runtime, Option<Kill>) -> Found + Sync)) {
    let undisturbed = both(&runtime(), None);
    let Found { forge: expected, commits, requests, .. } = &undisturbed;
    let mut points: Vec<Kill> = Vec::new();
    for (who, commits) in [Who::One, Who::Two].into_iter().zip(commits) {
        points.extend((1..=*commits).map(|n| Kill::Commit(who, n)));
    }
    for (n, (_, writes)) in (1..).zip(requests) {
        points.push(Kill::Before(n));
        points.extend(writes.then_some(Kill::After(n)));
    }
    let of_standby = requests.iter().filter(|(who, _)| *who == Who::Two).count();
    let writes = requests.iter().filter(|(_, writes)| *writes).count();
    assert_eq!(points.len(), commits[0] + commits[1] + requests.len() + writes, "every one of them");
    assert!(commits[1] > 0 && of_standby > 0, "the one that stands by does something, too");
    show(&format!(
        "together on {on}: {} points: after {} commits of the driver and {} of the other, at {} requests of the driver, \
         {writes} of them writes, and {of_standby} of the other",
        points.len(),
        commits[0],
        commits[1],
        requests.len() - of_standby
    ));
    let left = Mutex::new(points);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let world = runtime();
                loop {
                    let Some(kill) = left.lock().unwrap().pop() else { return };
                    let found = both(&world, Some(kill));
                    assert_eq!(found.forge, *expected, "{kill:?}");
                    for once in ["merged", "dispatched"] {
                        let count = found.facts.iter().filter(|fact| *fact == once).count();
                        assert_eq!(count, 1, "{kill:?}: {:?}", found.facts);
                    }
                    let whose = match kill {
                        Kill::Commit(who, _) => who,
                        Kill::Before(n) | Kill::After(n) => requests[usize::try_from(n).unwrap() - 1].0,
                    };
                    assert_eq!(found.killed, Some(whose), "{kill:?}");
                }
            });
        }
    });
}
