//! Several instances on one journal: one drives, the others stand by. If the driver is killed, another
//! instance continues exactly there.

use super::authors::Shop;
use super::crash::{answered, forge, runtime, stage};
use crate::support::harness::{DRIVEN, Fatal, MAJOR, Place, Run, SEVEN, Settings, finding, push, review};
use crate::support::simulated::show;
use cloture::domain::machine::Decision;
use cloture::journal::{Checkpoint, INTENT, Journal, JournalAddress, OUTCOME, RecordFilter, instance};
use cloture::simulator::{Fault, FaultKind};
use cloture::supervisor::fact::Fact;
use cloture::supervisor::view::HandoffState;
use cloture::supervisor::{DriverRole, LoopCommand};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Longer than one turn of a loop, and short enough for a test.
const LEASE: Duration = Duration::from_millis(400);

/// So long that no slow instance loses its lease: it ends only when the test expires it.
pub(crate) const LONG_LEASE: Duration = Duration::from_mins(5);

fn settings(fatal: Option<&Arc<Fatal>>) -> Settings {
    let checkpoint = fatal.map(|fatal| Arc::clone(fatal) as Arc<dyn Checkpoint>);
    Settings { lease: LEASE, checkpoint, ..Settings::default() }
}

pub(crate) fn drives(run: &Run) -> bool {
    run.view().role == DriverRole::Driver
}

/// Ticks until this instance drives; the database's clock decides when.
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
    assert_eq!(place.posts(), ["comment: @coderabbitai review"], "asked once, although both would");

    // The standby learns of a decision that a person made at the driver.
    let thread = one.view().computed.as_ref().unwrap().snapshot.threads[0].id.clone();
    let about = one.journal.leases().await.unwrap()[0].pull_request.clone();
    let fact = Fact::decided(thread, Decision::Escalate);
    one.journal.append_one(fact.record(place.simulator.now(), &about, "dana", "look")).await.unwrap();
    for run in [&one, &two] {
        run.see(|view| {
            let computed = view.computed.as_ref().unwrap();
            computed.threads()[0].thread.status().name() == "escalated"
        })
        .await;
    }
    one.tick().await;
    two.tick().await;
    assert_eq!((place.count("reply"), place.count("label")), (1, 1), "{:?}", place.posts());

    // The driver obeys a command given to the standby.
    place.play(&push(7));
    one.tick().await;
    assert_eq!(one.phase(), "waiting");
    two.tell(LoopCommand::Pause, |_| true).await;
    one.see(|view| format!("{:?}", view.review_loop).contains("Paused")).await;

    // From here on the driver's journal never answers: it is as good as dead, and its lease expires.
    fatal.now();
    let ticker = one.ticker.clone();
    let dead = tokio::spawn(async move { ticker.tick().await });
    takes_over(&two).await;
    place.play(&push(1));
    two.ticks(2).await;
    assert_eq!(two.phase(), "paused", "it continues where the other was");
    assert_eq!((place.count("reply"), place.count("label")), (1, 1), "{:?}", place.posts());
    dead.abort();
    drop(one);
    two.stop().await;
}

/// A new driver records the changes that it read while it was on standby, although its snapshot is not new.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_driver_counts_the_changes_that_it_read_while_another_drove() {
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
    assert_eq!(two.view().computed.as_ref().unwrap().folded.ended, None, "the count starts again");
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
    /// After a commit of this instance, before it learns of it.
    Commit(Who, usize),
    /// During this request, which never takes effect. Requests count over both; the sender is killed.
    Before(u32),
    /// After the request took effect, with its answer lost.
    After(u32),
}

/// The results of one history of two instances.
#[derive(Debug)]
struct Found {
    forge: serde_json::Value,
    facts: Vec<String>,
    commits: [usize; 2],
    /// The sender of each request, and whether it was a write.
    requests: Vec<(Who, bool)>,
    killed: Option<Who>,
}

/// Checks that there is never more than one driver.
struct Watchman {
    journal: Journal,
    /// The holder of the lease, by epoch.
    holders: BTreeMap<u64, String>,
}

impl Watchman {
    /// An instance that considers itself the driver holds the lease, and an epoch has one holder only.
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

    /// Only the first instance wrote driver's records, and after its death only the second.
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

/// Runs two instances until the history is done. If one is killed, the other continues alone.
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

/// Expires the lease of a dead instance; by the database's clock it would take minutes.
async fn run_out(journal: &Journal, dead: Who) {
    for lease in journal.leases().await.unwrap() {
        if lease.holder == dead.name() {
            assert!(journal.release(&lease).await.unwrap());
        }
    }
}

/// One turn: the instances one after the other, then the author, the reviewers and people.
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
fn either_of_two_instances_can_be_killed_at_any_time_and_the_other_continues_on_a_file() {
    either_is_killed("a file", &|world, kill| both(world, None, kill));
}

#[test]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
fn either_of_two_instances_can_be_killed_at_any_time_and_the_other_continues_on_a_server() {
    let url = crate::support::places::server_url();
    either_is_killed("a server", &|world, kill| {
        let place = world.block_on(crate::support::places::Place::server(&url));
        let found = both(world, Some(place.address.clone()), kill);
        world.block_on(place.remove(&url));
        found
    });
}

/// Never two drivers, never a task twice, and the forge as with one instance that lives.
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
    assert_eq!(points.len(), commits[0] + commits[1] + requests.len() + writes, "all points are tried");
    assert!(commits[1] > 0 && of_standby > 0, "the standby does something, too");
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

/// The beginning of a program that says that it has begun, and waits until the test lets it go on.
const WAITS: &str = "echo begun >> \"$here/begun\"; while [ ! -e \"$here/go\" ]; do sleep 0.05; done";

/// Waits until the lease has been prolonged by more than its whole length since it was first seen.
async fn outlives_its_lease(journal: &Journal, length: Duration) {
    let first = journal.leases().await.unwrap()[0].clone();
    let end = first.until.checked_add(length).unwrap();
    let prolonged = async {
        loop {
            let leases = journal.leases().await.unwrap();
            let lease = leases.first().expect("nobody holds the lease while the program runs");
            assert_eq!((&lease.holder, lease.epoch), (&first.holder, first.epoch), "the same driver");
            if lease.until > end {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), prolonged).await.expect("the lease is not renewed");
}

/// While a target, a reviewer or an author runs, no poll need come for the driver to stay the driver.
#[tokio::test(flavor = "multi_thread")]
async fn h4_a_program_that_outlives_the_lease_is_waited_for_and_its_result_counts() {
    // Long enough for a busy machine to renew it in time.
    let lease = Duration::from_secs(3);
    for program in ["target", "reviewer", "author"] {
        let shop = Shop::new(super::authors::FIX).await;
        let place = &shop.place;
        let found = super::driven::reported(3, "Subtraction underflows", "critical");
        super::driven::answer(place, 1, &[], &[found]);
        let agent = place.script("agent", "cat > /dev/null; echo run >> \"$here/runs\"");
        let config = format!(
            "{}[handoff]\nmode = 'full_auto'\n[[handoff.targets]]\nname = 'default'\nkind = 'command'\n\
             command = ['{agent}']\n",
            shop.config
        );
        let slow = if program == "target" { "agent" } else { program };
        let body = place.read(slow).replacen("#!/bin/sh\n", "", 1);
        let (here, body) = body.split_once('\n').unwrap();
        std::fs::write(place.path(slow), format!("#!/bin/sh\n{here}\n{WAITS}\n{body}")).unwrap();

        let settings = Settings { lease, ..Settings::default() };
        let run = place.start("one", &config, &[SEVEN], settings).await;
        // The poll that finds the review starts the author, and the poll that finds the merge the target.
        match program {
            "target" => {
                run.ticks(3).await;
                place.play("{ merge = { by = 'dana' } }");
            }
            "author" => run.tick().await,
            _ => {}
        }
        let ticker = run.ticker.clone();
        let ticking = tokio::spawn(async move { ticker.tick().await });
        let begun = async {
            while place.read("begun").is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let begun = tokio::time::timeout(Duration::from_secs(30), begun).await;
        assert!(begun.is_ok(), "{program} never began: {:?} {:?}", run.phase(), run.view().trouble);
        outlives_its_lease(&run.journal, lease).await;
        std::fs::write(place.path("go"), "").unwrap();
        ticking.await.unwrap();
        run.ticks(2).await;
        match program {
            "target" => {
                let state = run.view().handoffs[0].state.clone();
                assert!(matches!(state, HandoffState::Sent { .. }), "{state:?}");
                assert_eq!(place.read("runs").lines().count(), 1);
            }
            "reviewer" => assert_eq!(place.pull(SEVEN).threads.len(), 1, "{:?}", run.view().trouble),
            _ => assert_eq!(shop.place.read("rounds").lines().count(), 1),
        }
        run.stop().await;
        let asked = place.records().await.iter().filter(|record| record.kind == "asked").count();
        assert_eq!(asked, 1, "{program}: nothing was started twice");
    }
}

/// Containers: every one is process 1 on a host of the same name.
#[tokio::test(flavor = "multi_thread")]
async fn l9_of_two_instances_with_one_name_one_drives_on_a_file() {
    of_one_name(Place::new().await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(has_postgres), ignore = "needs a PostgreSQL server in CLOTURE_TEST_POSTGRES")]
async fn l9_of_two_instances_with_one_name_one_drives_on_a_server() {
    crate::support::places::on_server(|server: crate::support::places::Place| async move {
        let mut place = Place::new().await;
        place.journal = server.address.clone();
        of_one_name(place).await;
    })
    .await;
}

async fn of_one_name(place: Place) {
    let config = super::driven::config(&place);
    for number in 1..=2 {
        super::driven::answer(&place, number, &[], &[]);
    }
    let identities = ["runner/1", "runner/1"].map(instance::unique);
    let run = async |identity: &str| place.run_as(identity, &config, &[SEVEN], Settings::default()).await;
    let (one, two) = (run(&identities[0]).await, run(&identities[1]).await);
    assert!(drives(&one));
    assert_eq!(two.view().role, DriverRole::Standby { holder: identities[0].clone() }, "which of the two");
    for head in 1..=2 {
        one.tick().await;
        two.tick().await;
        assert_eq!(place.read("calls").lines().count(), head, "every head is reviewed once");
        place.play(&push(u32::try_from(head).unwrap()));
    }
    assert_eq!(place.count("review"), 2, "{:?}", place.posts());
    let records = one.journal.records(RecordFilter::default()).await.unwrap();
    let drivers = records.iter().filter(|record| record.kind == INTENT);
    assert!(drivers.into_iter().all(|record| record.by == "runner/1"), "people read the name");

    // The lease is given back by the instance that took it, and by no other of its name.
    one.stop().await;
    two.tick().await;
    assert!(drives(&two));
    two.stop().await;
}
