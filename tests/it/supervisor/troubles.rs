//! Failing networks and rate limits (L8), and a stop that does not wait for them.

use crate::support::harness::{DRIVEN, EIGHT, MAJOR, Place, SEVEN, Settings, finding, push, review};
use cloture::journal::NewRecord;
use cloture::simulator::{Fault, FaultKind};
use cloture::supervisor::LoopCommand;
use jiff::SignedDuration;
use std::time::{Duration, Instant};

#[tokio::test]
async fn l8_a_network_failure_costs_one_attempt_and_the_loop_continues() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    run.tick().await;
    place.simulator.inject(Fault::always("*", FaultKind::DropBefore));
    run.ticks(2).await;
    let view = run.view();
    assert_eq!(view.review_loop.attempt(), 4);
    assert!(view.trouble.is_some(), "it is shown");
    place.simulator.clear_faults();
    place.play(&review(&[]));
    assert_eq!(run.end().await, "success");
    assert_eq!(run.view().trouble, None);
    run.stop().await;
}

#[tokio::test]
async fn l8_an_unreachable_forge_ends_the_loop_with_that_reason() {
    let place = Place::new().await;
    place.simulator.inject(Fault::always("*", FaultKind::DropBefore));
    let run = place.run(DRIVEN).await;
    assert_eq!(run.end().await, "out_of_reach");
    run.stop().await;
}

#[tokio::test]
async fn l8_a_rate_limit_waits_as_the_server_says_and_costs_no_attempt() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    run.tick().await;
    let before = place.simulator.now();
    let kind = FaultKind::PrimaryLimit { reset_in: 1800, error_type: "RATE_LIMITED".to_owned() };
    place.simulator.inject(Fault::once("reads", kind));
    run.tick().await;
    assert_eq!(run.view().review_loop.attempt(), 2);
    assert!(run.view().trouble.is_some());
    place.play(&review(&[]));
    run.tick().await;
    assert!(place.simulator.now().duration_since(before).as_secs() >= 1800, "{}", place.simulator.now());
    assert_eq!(run.exit().as_deref(), Some("success"));
    run.stop().await;
}

/// When something else wakes the hub, it must not add the time by which the clock was set back.
#[tokio::test]
async fn a_clock_that_is_set_back_does_not_put_the_next_poll_off() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    let before = place.simulator.now();
    run.ticker.jump(SignedDuration::from_hours(-6));
    let note = async {
        run.journal.append_one(NewRecord::new("note", "somebody")).await.unwrap();
    };
    run.ticker.disturbed(note).await;
    run.tick().await;
    assert_eq!(place.simulator.now().duration_since(before).as_secs(), 60);
    run.stop().await;
}

/// The poller looks for a missing pull request once an hour. A poll in between did not look for it, so it
/// must not count as "nothing new".
#[tokio::test]
async fn a_missing_pull_request_is_shown_as_missing_until_it_is_found_again() {
    let place = Place::new().await;
    let run = place.run_as("one", DRIVEN, &[SEVEN, EIGHT], Settings::default()).await;
    run.tick().await;
    let seen_at = run.view().seen_at;
    place.play(&push(1));
    place.simulator.inject(Fault::once("PullRequest", FaultKind::NotFound));
    run.tick().await;
    assert!(run.view().refusal.is_some(), "{:?}", run.view().trouble);
    run.ticks(10).await;
    assert!(run.view().refusal.is_some(), "no poll has looked since");
    assert_eq!(run.view().seen_at, seen_at);
    // A clock that is set back does not make the hour longer.
    run.ticker.jump(SignedDuration::from_hours(-6));
    run.ticks(2).await;
    assert_eq!((run.view().refusal.clone(), run.view().trouble.clone()), (None, None));
    let head = run.view().computed.as_ref().unwrap().snapshot.head.sha.to_string();
    assert_eq!(head, place.pull(SEVEN).head);
    run.stop().await;
}

/// L8: the forge answers one write with a rate limit and means all of them.
#[tokio::test]
async fn l8_a_rate_limit_on_one_write_holds_for_the_writes_of_all_loops() {
    let place = Place::new().await;
    let kind = FaultKind::SecondaryLimit { retry_after: 150, as_success: false };
    place.simulator.inject(Fault::always("writes", kind));
    let run = place.run_as("one", DRIVEN, &[SEVEN, EIGHT], Settings::default()).await;
    let writes = || place.simulator.requests().iter().filter(|request| request.writes).count();
    assert_eq!(writes(), 1, "both have something to write");
    run.ticks(2).await;
    assert_eq!(writes(), 1, "{:?}", run.view().due);
    place.simulator.clear_faults();
    run.tick().await;
    assert_eq!(place.count("comment"), 2, "each asks for its review: {:?}", place.posts());
    run.stop().await;
}

/// The reset is a time on the server's clock; this machine's may be wrong by hours.
#[tokio::test]
async fn l8_a_rate_limit_is_counted_by_the_servers_clock() {
    for hours in [-6, 6] {
        let place = Place::new().await;
        let run = place.run(DRIVEN).await;
        run.ticker.jump(SignedDuration::from_hours(hours));
        let before = place.simulator.now();
        let kind = FaultKind::PrimaryLimit { reset_in: 1800, error_type: "RATE_LIMITED".to_owned() };
        place.simulator.inject(Fault::once("reads", kind));
        run.tick().await;
        assert!(run.view().trouble.is_some());
        place.play(&review(&[]));
        run.tick().await;
        let waited = place.simulator.now().duration_since(before).as_secs();
        assert!((1800..2400).contains(&waited), "{hours} h: {waited} s");
        assert_eq!(run.exit().as_deref(), Some("success"));
        run.stop().await;
    }
}

fn again(name: &str) -> String {
    finding(name, "src/cart.rs", 3, "A percentage above one hundred underflows", MAJOR)
}

/// Every write meets every fault that leaves its outcome uncertain; none is lost or doubled.
#[tokio::test]
async fn a_write_is_in_effect_once_whatever_fault_it_meets() {
    let spoilt = [
        FaultKind::DropBefore,
        FaultKind::DropAfter,
        FaultKind::BadGateway { takes_effect: true },
        FaultKind::CutOff,
        FaultKind::SecondaryLimit { retry_after: 60, as_success: false },
    ];
    for kind in spoilt {
        for nth in 1..=6 {
            let place = Place::new().await;
            let run = place.run(DRIVEN).await;
            place.simulator.inject(Fault::nth("writes", nth, kind.clone()));
            place.play(&review(&[again("a")]));
            run.tick().await;
            place.play(&push(9));
            place.play(&review(&[again("b")]));
            run.tick().await;
            for n in 0..3 {
                place.play(&push(n));
                place.play("{ reply = { by = 'coderabbitai', thread = 'a', body = 'The problem is still there, please fix it.' } }");
                place.play(&review(&[]));
                run.tick().await;
            }
            run.ticks(4).await;
            let counts = ["reply", "resolve", "label"].map(|what| place.count(what));
            assert_eq!(counts, [2, 1, 1], "{kind:?} at {nth}: {:?}", place.posts());
            run.stop().await;
        }
    }
}

#[tokio::test]
async fn a_write_that_github_refuses_does_not_hold_up_the_others() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.simulator.inject(Fault::always(
        "addPullRequestReviewThreadReply",
        FaultKind::Status { status: 422, message: "locked".to_owned(), takes_effect: false },
    ));
    place.play(&review(&[again("a")]));
    run.tick().await;
    place.play(&push(9));
    place.play(&review(&[again("b")]));
    run.ticks(2).await;
    assert_eq!(place.count("resolve"), 1, "{:?}, {:?}", place.posts(), run.view().trouble);
    run.stop().await;
}

#[tokio::test]
async fn a_persons_command_works_while_a_poll_hangs() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.simulator.inject(Fault::always("reads", FaultKind::Stall { millis: 60_000 }));
    let ticker = run.ticker.clone();
    let tick = tokio::spawn(async move { ticker.tick().await });
    let stalled = |record: &cloture::simulator::RequestRecord| record.outcome.contains("stall");
    place.simulator.wait_until(|simulator| simulator.any_request(stalled)).await;
    run.tell(LoopCommand::Stop, |view| view.exit().is_some()).await;
    assert_eq!(run.exit().as_deref(), Some("stopped"));
    tick.abort();
    run.stop().await;
}

#[tokio::test]
async fn stopping_takes_less_than_a_second_while_a_poll_hangs() {
    stops_while(Fault::always("reads", FaultKind::Stall { millis: 60_000 })).await;
}

#[tokio::test]
async fn stopping_takes_less_than_a_second_while_a_write_hangs() {
    stops_while(Fault::always("writes", FaultKind::Stall { millis: 60_000 })).await;
}

#[expect(clippy::disallowed_methods, reason = "what is measured here is real time")]
async fn stops_while(hangs: Fault) {
    let place = Place::new().await;
    let run = place.run_as("one", DRIVEN, &[SEVEN], Settings::default()).await;
    run.tick().await;
    place.play(&push(1));
    let before = place.simulator.request_count();
    place.simulator.inject(hangs);
    let ticker = run.ticker.clone();
    let tick = tokio::spawn(async move { ticker.tick().await });
    place
        .simulator
        .wait_until(|simulator| {
            simulator.requests_since(before).iter().any(|request| request.outcome.contains("stall"))
        })
        .await;
    let begun = Instant::now();
    run.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    tick.abort();
    let leases = place.journal().await.leases().await.unwrap();
    assert!(leases.is_empty(), "a lease is left behind: {leases:?}");
}
