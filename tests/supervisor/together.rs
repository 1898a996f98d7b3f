//! Several instances on one journal: one drives, the others stand by, and whoever is killed is followed by another that
//! goes on exactly there.

use crate::crash::{Fatal, answered, forge, runtime, stage};
use crate::harness::{DRIVEN, MAJOR, Place, Run, SEVEN, Settings, finding, push, review};
use crate::simulated::show;
use cloture::journal::Checkpoint;
use cloture::supervisor::fact::{Fact, Verb};
use cloture::supervisor::{Command, Role};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Long enough for one turn of a loop, and short enough to wait for.
const LEASE: Duration = Duration::from_millis(400);

/// So that the first run has one driver from beginning to end, however slow the machine is.
const LONG_LEASE: Duration = Duration::from_mins(5);

fn settings(fatal: Option<&Arc<Fatal>>) -> Settings {
    let checkpoint = fatal.map(|fatal| Arc::clone(fatal) as Arc<dyn Checkpoint>);
    Settings { lease: LEASE, checkpoint, ..Settings::default() }
}

fn drives(run: &Run) -> bool {
    run.view().role == Role::Driver
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
async fn one_drives_and_the_other_sees_it_and_takes_over_on_a_server() {
    crate::places::on_server(|server: crate::places::Place| async move {
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
    assert_eq!(one.view().role, Role::Driver);
    assert_eq!(two.view().role, Role::Standby { holder: "one".to_owned() });
    place.play(&review(&[finding("a", "src/cart.rs", 3, "The subtraction underflows", MAJOR)]));
    one.tick().await;
    two.tick().await;
    assert_eq!((one.exit(), two.exit()), (Some("issues_found".to_owned()), Some("issues_found".to_owned())));
    assert_eq!(place.posts(), ["comment: @coderabbitai review"], "asked once, although both wanted to");

    // The standby hears what a person decides at the driver.
    let thread = one.view().standing.as_ref().unwrap().snapshot.threads[0].id.clone();
    let about = one.journal.leases().await.unwrap()[0].pull_request.clone();
    let fact = Fact::Decided { thread, verb: Verb::Escalate };
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
    two.tell(Command::Pause, |_| true).await;
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

/// Killed at a commit, the driver is followed by the other instance; the forge ends as if there had been one that lived.
#[test]
fn whoever_drives_can_be_killed_at_any_commit_and_the_other_goes_on() {
    let world = runtime();
    let (commits, expected) = {
        let fatal = Fatal::at(usize::MAX);
        let expected = both(&world, &fatal, false);
        (fatal.seen.load(Ordering::SeqCst), expected)
    };
    show(&format!("together: the first instance is killed after each of {commits} commits"));
    let left = Mutex::new((1..=commits).collect::<Vec<usize>>());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let world = runtime();
                loop {
                    let Some(at) = left.lock().unwrap().pop() else { return };
                    let found = both(&world, &Fatal::at(at), true);
                    assert_eq!(found, expected, "killed at commit {at}");
                }
            });
        }
    });
}

fn both(world: &tokio::runtime::Runtime, fatal: &Arc<Fatal>, dies: bool) -> serde_json::Value {
    let (shop, config) = world.block_on(stage());
    let (first, second) = (runtime(), runtime());
    let lease = if dies { LEASE } else { LONG_LEASE };
    let of_one = Settings { lease, ..settings(Some(fatal)) };
    let one = first.block_on(shop.place.start("one", &config, &[SEVEN], of_one));
    let two = second.block_on(shop.place.start("two", &config, &[SEVEN], settings(None)));
    let together = async {
        for _ in 0..200 {
            one.tick().await;
            two.tick().await;
            assert!(!(drives(&one) && drives(&two)) || dies, "two drivers");
            let driver = if drives(&one) { &one } else { &two };
            if drives(driver) && answered(&shop, driver) {
                return;
            }
        }
        panic!("no end: {:?} {:?}", one.view().role, two.view().role);
    };
    let ended = world.block_on(async {
        tokio::select! {
            () = together => true,
            () = fatal.reached.notified() => false,
        }
    });
    first.shutdown_timeout(Duration::from_secs(10));
    if !ended {
        assert!(dies);
        world.block_on(async {
            takes_over(&two).await;
            for _ in 0..200 {
                if answered(&shop, &two) {
                    return;
                }
                two.tick().await;
            }
            panic!("no end: {:?} {:?} {:?}", two.phase(), two.view().trouble, shop.place.posts());
        });
    }
    second.shutdown_timeout(Duration::from_secs(10));
    forge(&shop)
}
