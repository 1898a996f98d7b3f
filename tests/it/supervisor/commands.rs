//! L10 with a dead driver: the instance on standby obeys people's commands once it drives, each once and in
//! the order in which people gave them.

use super::crash::{runtime, stage};
use super::together::{LONG_LEASE, drives};
use crate::support::harness::{DRIVEN, Fatal, Place, Run, SEVEN, Settings, push, review};
use cloture::journal::Checkpoint;
use cloture::supervisor::{LoopCommand, PullRequestView};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

fn settings(fatal: Option<&Arc<Fatal>>) -> Settings {
    let checkpoint = fatal.map(|fatal| Arc::clone(fatal) as Arc<dyn Checkpoint>);
    Settings { lease: LONG_LEASE, checkpoint, ..Settings::default() }
}

fn is_paused(view: &PullRequestView) -> bool {
    format!("{:?}", view.review_loop).contains("Paused")
}

/// A driver that can be killed, and an instance on standby.
struct Pair {
    place: Place,
    process: Option<Runtime>,
    one: Run,
    two: Run,
}

impl Pair {
    async fn new() -> Pair {
        let place = Place::new().await;
        let process = runtime();
        let one = off_the_runtime(|| process.block_on(place.run_as("one", DRIVEN, &[SEVEN], settings(None))));
        let two = place.run_as("two", DRIVEN, &[SEVEN], settings(None)).await;
        assert!(drives(&one) && !drives(&two));
        Pair { place, process: Some(process), one, two }
    }

    /// Kills the driver without any cleanup.
    fn kill(&mut self) {
        let process = self.process.take().unwrap();
        off_the_runtime(|| process.shutdown_timeout(Duration::from_secs(10)));
    }

    /// The lease expires, and the other instance takes over with its next poll.
    async fn take_over(&self) {
        run_out(&self.place).await;
        self.two.tick().await;
        assert!(drives(&self.two), "{:?}", self.two.view().role);
    }
}

fn off_the_runtime<T>(work: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(work)
}

async fn run_out(place: &Place) {
    let journal = place.journal().await;
    for lease in journal.leases().await.unwrap() {
        assert!(journal.release(&lease).await.unwrap());
    }
    journal.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_given_while_nobody_drives_holds_for_the_next_driver() {
    let mut both = Pair::new().await;
    both.kill();
    both.two.tell(LoopCommand::Pause, is_paused).await;
    both.take_over().await;
    both.two.ticks(2).await;
    assert_eq!(both.two.phase(), "paused");
    both.two.stop().await;
    // The loop is stored as paused, so no later driver obeys the pause again after a resume.
    let three = both.place.run_as("three", DRIVEN, &[SEVEN], settings(None)).await;
    assert_eq!(three.phase(), "paused");
    three.tell(LoopCommand::Resume, |view| !is_paused(view)).await;
    three.stop().await;
    let four = both.place.run_as("four", DRIVEN, &[SEVEN], settings(None)).await;
    assert_eq!(four.phase(), "waiting");
    four.stop().await;
    assert_eq!(both.place.facts().await, ["told", "told"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_given_while_nobody_drives_ends_the_loop_of_the_next_driver() {
    let mut both = Pair::new().await;
    both.kill();
    both.two.tell(LoopCommand::Stop, |view| view.exit().is_some()).await;
    assert_eq!(both.place.facts().await, ["told"], "an instance on standby decides nothing");
    both.take_over().await;
    both.place.play(&push(1));
    both.two.ticks(2).await;
    assert_eq!(both.two.exit().as_deref(), Some("stopped"));
    assert_eq!(both.place.posts(), ["comment: @coderabbitai review"], "no reviewer is asked after that");
    both.two.stop().await;
    assert_eq!(both.place.facts().await, ["told", "ended"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_command_counts() {
    let mut both = Pair::new().await;
    both.kill();
    both.two.tell(LoopCommand::Pause, is_paused).await;
    both.two.tell(LoopCommand::Resume, |view| !is_paused(view)).await;
    both.take_over().await;
    assert_eq!(both.two.phase(), "waiting");
    both.place.play(&review(&[]));
    assert_eq!(both.two.end().await, "success");
    both.two.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_the_dead_driver_had_obeyed_is_not_obeyed_again() {
    let mut both = Pair::new().await;
    both.one.tell(LoopCommand::Stop, |view| view.exit().is_some()).await;
    // A new loop, not the stopped one.
    both.place.play("{ close = { by = 'dana' } }");
    both.one.tick().await;
    both.place.play("{ reopen = { by = 'dana' } }");
    both.one.tick().await;
    assert_eq!(both.one.phase(), "waiting");
    both.kill();
    both.take_over().await;
    assert_eq!(both.two.phase(), "waiting");
    both.place.play(&review(&[]));
    assert_eq!(both.two.end().await, "success");
    both.two.stop().await;
}

/// The driver learns of the pause and dies before it stores the paused loop.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_driver_obeys_a_pause_that_the_first_died_over() {
    let place = Place::new().await;
    let fatal = Fatal::at(usize::MAX);
    let process = runtime();
    let one =
        off_the_runtime(|| process.block_on(place.run_as("one", DRIVEN, &[SEVEN], settings(Some(&fatal)))));
    fatal.now();
    one.supervisor.tell(crate::support::harness::address(SEVEN), LoopCommand::Pause).await;
    fatal.reached.notified().await;
    off_the_runtime(|| process.shutdown_timeout(Duration::from_secs(10)));
    run_out(&place).await;
    let two = place.run_as("two", DRIVEN, &[SEVEN], settings(None)).await;
    assert!(drives(&two));
    assert_eq!(two.phase(), "paused");
    two.stop().await;
}

/// L6: a granted round is not lost.
#[test]
fn l6_a_round_granted_while_nobody_drives_is_started_by_the_next_driver() {
    let world = runtime();
    let (shop, config) = world.block_on(stage());
    let process = runtime();
    let one = process.block_on(shop.place.start("one", &config, &[SEVEN], settings(None)));
    world.block_on(async {
        let two = shop.place.start("two", &config, &[SEVEN], settings(None)).await;
        let at_cap = |run: &Run| run.exit().as_deref() == Some("round_cap");
        for _ in 0..20 {
            one.tick().await;
            two.tick().await;
            if at_cap(&one) && at_cap(&two) {
                break;
            }
            shop.deliver();
        }
        assert!(at_cap(&one) && at_cap(&two), "{} {}", one.phase(), two.phase());
        process.shutdown_background();
        let grant = LoopCommand::GrantRound { by: "dana".to_owned(), why: "nearly there".to_owned() };
        two.tell(grant, |view| view.exit().is_none()).await;
        run_out(&shop.place).await;
        for _ in 0..6 {
            two.tick().await;
            shop.deliver();
        }
        assert!(drives(&two));
        two.stop().await;
        assert_eq!(shop.place.read("rounds").lines().count(), 2);
        let facts = shop.place.facts().await;
        let count = |kind: &str| facts.iter().filter(|fact| *fact == kind).count();
        assert_eq!((count("granted"), count("dispatched")), (1, 2), "{facts:?}");
    });
}
