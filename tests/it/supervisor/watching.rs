//! `cloture watch` as a process, in real time: how it ends, and how the next run goes on after it.

use super::authors::{FIX, Shop, argues_for_ever};
use super::driven::{BY_CYCLE, answer, reported};
use crate::support::gone::assert_gone;
use crate::support::harness::{DRIVEN, MAJOR, Place, SEVEN, finding, push, review};
use crate::support::program::{Run, finish, program};
use cloture::simulator::{Fault, FaultKind};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

const QUICK: &str = "poll_interval = '1s'\nmax_attempts = 3\n";

/// `watch` with its own journal in the place's folder.
fn watch(place: &Place, config: &str, arguments: &[&str]) -> Command {
    let path = place.path("config.toml");
    std::fs::write(&path, format!("[operator]\nmention = '@acme/leads'\n{config}")).unwrap();
    let (url, state) = (place.simulator.url(), place.path("state"));
    let global =
        ["--api-url", &url, "--config", path.to_str().unwrap(), "--state-dir", state.to_str().unwrap()];
    program(place.folder.path(), &[&global, &["watch", SEVEN][..], arguments].concat())
}

async fn watched(place: &Place, config: &str) -> Run {
    finish(watch(place, config, &[])).await
}

/// Waits for an event outside the program under test.
async fn until(what: &str, mut happened: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if happened() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} never happens");
}

/// A finding that was raised twice, so that the duplicate thread gets a reply and is resolved.
async fn raised_twice() -> Place {
    let place = Place::new().await;
    let underflow =
        |name| finding(name, "src/cart.rs", 3, "A percentage above one hundred underflows", MAJOR);
    for act in [review(&[underflow("a")]), push(1), review(&[underflow("b")])] {
        place.play(&act);
        place.simulator.advance(Duration::from_mins(1));
    }
    place
}

#[tokio::test]
async fn l4_watch_ends_only_after_a_rate_limited_write_is_done() {
    let place = raised_twice().await;
    let limit = FaultKind::SecondaryLimit { retry_after: 1, as_success: false };
    place.simulator.inject(Fault::once("writes", limit));
    let run = watched(&place, &format!("[policy]\n{QUICK}{DRIVEN}")).await;
    assert_eq!(run.code, 10, "{run:?}");
    assert_eq!((place.count("reply"), place.count("resolve")), (1, 1), "{run:?}");
}

#[tokio::test]
async fn l4_watch_says_at_its_end_what_github_refused() {
    let place = raised_twice().await;
    let locked = FaultKind::Status { status: 422, message: "locked".to_owned(), takes_effect: false };
    place.simulator.inject(Fault::always("resolveReviewThread", locked));
    for _ in 0..2 {
        let run = watched(&place, &format!("[policy]\n{QUICK}{DRIVEN}")).await;
        assert_eq!(run.code, 4, "{run:?}");
        let last = run.out.lines().last().unwrap();
        assert!(last.contains("no author is configured") && last.contains("locked"), "{last}");
        assert!(last.contains("Resolve the thread at src/cart.rs:3"), "{last}");
    }
}

#[tokio::test]
async fn l4_a_watch_that_ends_in_the_middle_of_a_write_gives_its_lease_back() {
    let place = Place::new().await;
    place.simulator.inject(Fault::always("writes", FaultKind::Stall { millis: 600_000 }));
    let run = finish(watch(&place, &format!("[policy]\n{QUICK}{DRIVEN}"), &["--timeout", "3s"])).await;
    assert_eq!(run.code, 11, "{run:?}");
    assert!(place.simulator.any_request(|request| request.writes), "no write was under way: {run:?}");
    assert!(place.journal().await.leases().await.unwrap().is_empty());
}

/// S3: nothing that Cloture started lives on after `kill -9`, children of programs included.
#[tokio::test]
async fn s3_programs_end_when_cloture_is_killed() {
    let works =
        "cat > /dev/null; sleep 600 & echo $! $$ > \"$here/new\"; mv \"$here/new\" \"$here/pids\"; wait";
    let shop = Shop::new(works).await;
    argues_for_ever(&shop.place);
    let place = Place::new().await;
    let reviewer = place.script("reviewer", works);
    let reviewing = format!(
        "[policy]\n{QUICK}[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['orange']\n\
         [[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{reviewer}']\n"
    );
    let authoring = shop.config.replace("max_rounds = 2", &format!("max_rounds = 2\n{QUICK}"));
    for (place, config) in [(&place, reviewing), (&shop.place, authoring)] {
        let mut killed = watch(place, &config, &[]).stdout(Stdio::null()).spawn().unwrap();
        until("the program", || place.path("pids").exists()).await;
        killed.kill().await.unwrap();
        for pid in place.read("pids").split_whitespace() {
            assert_gone(pid).await;
        }
    }
}

/// The agent of the first round dies with its machine; the next run starts another one.
#[tokio::test]
async fn l6_l9_a_round_that_died_with_its_machine_is_spent_and_the_next_one_starts() {
    let author = format!(
        "mkdir \"$here/first\" 2>/dev/null && {{ echo round >> \"$here/rounds\"; while [ -d \"$here\" ]; do sleep 0.1; done; }}\n{FIX}"
    );
    let shop = Shop::new(&author).await;
    argues_for_ever(&shop.place);
    let config = shop.config.replace("max_rounds = 2", &format!("max_rounds = 2\n{QUICK}"));
    let mut killed = watch(&shop.place, &config, &[]).stdout(Stdio::null()).spawn().unwrap();
    until("the first round", || !shop.place.read("rounds").is_empty()).await;
    killed.kill().await.unwrap();
    expire_leases(&shop.place).await;
    let second = finish(watch(&shop.place, &config, &[]));
    let pushed = until("the second round's push", || {
        shop.deliver();
        !shop.is_at_first_head()
    });
    let (run, ()) = tokio::join!(second, pushed);
    assert_eq!(run.code, 14, "{run:?}");
    assert_eq!(shop.place.read("rounds").lines().count(), 2, "{run:?}");
    let facts = shop.place.facts().await;
    assert_eq!(facts.iter().filter(|kind| *kind == "author_ended").count(), 2, "{facts:?}");
}

#[tokio::test]
async fn l6_with_no_round_left_a_lost_round_is_said_at_once() {
    let shop = Shop::new("echo round >> \"$here/rounds\"; while [ -d \"$here\" ]; do sleep 0.1; done").await;
    argues_for_ever(&shop.place);
    let config = shop.config.replace("max_rounds = 2", &format!("max_rounds = 1\n{QUICK}"));
    let mut killed = watch(&shop.place, &config, &[]).stdout(Stdio::null()).spawn().unwrap();
    until("the first round", || !shop.place.read("rounds").is_empty()).await;
    killed.kill().await.unwrap();
    expire_leases(&shop.place).await;
    for _ in 0..2 {
        let before = shop.place.simulator.request_count();
        let run = watched(&shop.place, &config).await;
        assert_eq!(run.code, 14, "{run:?}");
        assert!(run.out.contains("the last one ended without a push"), "{run:?}");
        // One look, and the comment for the operator: no attempt is spent on a push that nobody makes.
        let requests = shop.place.simulator.requests_since(before);
        let looks = requests.iter().filter(|request| request.operation.contains("PullRequest"));
        assert!(looks.count() <= 2, "{requests:?}");
    }
    assert_eq!(shop.place.read("rounds").lines().count(), 1);
}

/// The reviewer works for longer than all attempts together.
#[tokio::test]
async fn l2_an_answer_that_cloture_still_waits_for_is_not_called_missing() {
    let place = Place::new().await;
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    let slow = format!("while [ ! -e \"$here/go\" ]; do sleep 0.05; done\n{BY_CYCLE}");
    let command = place.script("slow", &slow);
    let config = format!(
        "[policy]\n{QUICK}[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['orange']\n\
         [[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{command}']\n"
    );
    let before = place.simulator.request_count();
    let released = async {
        // More polls than the wait has attempts.
        until("eight requests", || place.simulator.request_count() >= before + 8).await;
        std::fs::write(place.path("go"), "").unwrap();
    };
    let (run, ()) = tokio::join!(watched(&place, &config), released);
    assert_eq!(run.code, 10, "{run:?}");
    assert_eq!(place.read("calls").lines().count(), 1, "{run:?}");
}

/// The processes that tests kill hold their leases for minutes.
async fn expire_leases(place: &Place) {
    let journal = place.journal().await;
    for lease in journal.leases().await.unwrap() {
        assert!(journal.release(&lease).await.unwrap());
    }
    journal.close().await.unwrap();
}
