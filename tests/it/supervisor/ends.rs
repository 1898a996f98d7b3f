//! What an end means (L4): nothing that Cloture could still write is left behind it, and it gives the true
//! reason at once.

use super::authors::{FIX, Shop, argues_for_ever};
use super::driven::{answer, config, reported};
use crate::support::harness::{DRIVEN, MAJOR, Place, Run, SEVEN, Settings, finding, push, review};
use cloture::domain::re_review::BrokenGlass;
use cloture::domain::review_loop::{Exit, TimedOutOn};
use cloture::simulator::{Fault, FaultKind};
use cloture::supervisor::{DueState, LoopCommand};
use std::time::Duration;

const LIMIT: FaultKind = FaultKind::SecondaryLimit { retry_after: 150, as_success: false };

fn underflow(name: &str) -> String {
    finding(name, "src/cart.rs", 3, "A percentage above one hundred underflows", MAJOR)
}

/// A finding that was raised twice, so that the duplicate thread gets a reply and is resolved.
async fn raised_twice() -> (Place, Run) {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play(&review(&[underflow("a")]));
    run.tick().await;
    place.play(&push(1));
    place.play(&review(&[underflow("b")]));
    (place, run)
}

#[tokio::test]
async fn l4_l8_an_end_is_not_settled_while_a_rate_limit_holds_its_writes_up() {
    for nth in 1..=2 {
        let (place, run) = raised_twice().await;
        place.simulator.inject(Fault::nth("writes", nth, LIMIT));
        run.tick().await;
        let view = run.view();
        assert_eq!(run.exit().as_deref(), Some("issues_found"));
        assert!(view.waiting_writes() > 0 && !view.is_settled(), "{:?}", view.due);
        run.ticks(4).await;
        let view = run.view();
        assert!(view.is_settled() && view.due.is_empty(), "{:?}", view.due);
        assert_eq!((place.count("reply"), place.count("resolve")), (1, 1), "{:?}", place.posts());
        run.stop().await;
    }
}

#[tokio::test]
async fn l4_l6_the_round_cap_is_not_settled_before_the_operator_is_told() {
    let shop = Shop::new(FIX).await;
    argues_for_ever(&shop.place);
    let run = shop.place.run(&shop.config).await;
    shop.place.simulator.inject(Fault { times: 3, ..Fault::once("addComment", LIMIT) });
    let mut unsettled = 0;
    for _ in 0..30 {
        if run.exit().as_deref() == Some("round_cap") {
            if run.view().is_settled() {
                break;
            }
            unsettled += 1;
        }
        shop.ticks(&run, 1).await;
    }
    assert!(unsettled > 0, "the limit held nothing up");
    assert!(run.view().is_settled(), "{:?}", run.view().due);
    assert_eq!(shop.place.count("comment"), 1, "{:?}", shop.place.posts());
    run.stop().await;
}

#[tokio::test]
async fn l4_a_write_that_github_refuses_is_named_at_the_end_and_again_by_the_next_start() {
    let (place, run) = raised_twice().await;
    let locked = FaultKind::Status { status: 422, message: "locked".to_owned(), takes_effect: false };
    place.simulator.inject(Fault::always("resolveReviewThread", locked));
    run.ticks(2).await;
    let named = |run: &Run| {
        let view = run.view();
        assert!(view.is_settled(), "{:?}", view.due);
        let impossible: Vec<String> =
            view.impossible_writes().map(|(write, why)| format!("{write}: {why}")).collect();
        assert!(matches!(&impossible[..], [one] if one.contains("locked")), "{impossible:?}");
    };
    named(&run);
    run.stop().await;
    let again = place.run(DRIVEN).await;
    named(&again);
    // It was told at the end of that head, and the next one is judged by itself.
    place.play(&push(2));
    again.tick().await;
    assert!(again.view().impossible_writes().next().is_none());
    again.stop().await;
}

#[tokio::test]
async fn l4_a_write_that_never_gets_through_ends_the_wait_for_it() {
    let (place, run) = raised_twice().await;
    place.simulator.inject(Fault::always("writes", FaultKind::DropBefore));
    run.tick().await;
    assert!(!run.view().is_settled());
    run.ticks(12).await;
    assert!(run.view().is_settled(), "{:?}", run.view().due);
    assert_eq!(run.view().impossible_writes().count(), 2, "{:?}", run.view().due);
    // Cloture still tries: GitHub answers again.
    place.simulator.clear_faults();
    run.tick().await;
    assert_eq!((place.count("reply"), place.count("resolve")), (1, 1));
    assert!(run.view().due.is_empty(), "{:?}", run.view().due);
    run.stop().await;
}

/// A label only marks what the comment says.
#[tokio::test]
async fn l4_an_end_waits_for_a_label_but_does_not_depend_on_it() {
    for (kind, waits) in [(LIMIT, true), (FaultKind::Forbidden { message: "no".to_owned() }, false)] {
        let place = Place::new().await;
        answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
        answer(&place, 2, &[("@1", "escalate", "seeks_change", "Worse.")], &[]);
        let run = place.run(&config(&place)).await;
        place.play(&push(1));
        place.simulator.inject(Fault { times: 2, ..Fault::once("addLabelsToLabelable", kind) });
        run.tick().await;
        run.tick().await;
        assert_eq!(run.exit().as_deref(), Some("needs_person"), "{:?}", place.posts());
        assert_eq!(!run.view().is_settled(), waits, "{:?}", run.view().due);
        run.ticks(8).await;
        assert!(run.view().is_settled() && run.view().due.is_empty(), "{:?}", run.view().due);
        assert_eq!(place.count("label"), 1, "{:?}", place.posts());
        run.stop().await;
    }
}

#[tokio::test]
async fn s4_writes_that_cloture_only_shows_do_not_hold_up_an_end() {
    let place = Place::new().await;
    let settings = Settings { read_only: true, ..Settings::default() };
    let run = place.run_as("one", DRIVEN, &[SEVEN], settings).await;
    place.play(&review(&[underflow("a")]));
    run.tick().await;
    place.play(&push(1));
    place.play(&review(&[underflow("b")]));
    run.tick().await;
    let view = run.view();
    assert!(view.is_settled(), "{:?}", view.due);
    assert!(view.due.iter().all(|due| due.state == DueState::LeftOut) && view.due.len() == 2);
    run.stop().await;
}

#[tokio::test]
async fn l2_attempts_are_attempts() {
    for attempts in [1, 10, 20] {
        let place = Place::new().await;
        let config = format!("[policy]\npoll_interval = '5s'\nmax_attempts = {attempts}\n{DRIVEN}");
        let began = place.simulator.now();
        let run = place.run(&config).await;
        let mut polls = 1;
        while run.exit().is_none() {
            run.tick().await;
            polls += 1;
        }
        assert_eq!((run.exit().as_deref(), polls), (Some("timeout"), attempts));
        let elapsed = place.simulator.now().duration_since(began).as_secs();
        assert_eq!(elapsed, i64::from(attempts - 1) * 5, "one interval between two attempts");
        run.stop().await;
    }
}

#[tokio::test]
async fn c6_a_head_that_no_reviewer_may_review_ends_the_loop_at_once() {
    let place = Place::new().await;
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    let config = format!("[policy]\nmax_review_iterations = 1\n{}", config(&place));
    let run = place.run(&config).await;
    run.tick().await;
    assert_eq!(run.exit().as_deref(), Some("needs_person"), "its only review is in: {:?}", run.threads());
    for number in 1..=2 {
        place.play(&push(number));
        run.tick().await;
        let exit = run.view().exit().map(ToString::to_string).unwrap_or_default();
        assert!(exit.starts_with("orange has used all reviews"), "{exit}");
        assert_eq!(run.exit().as_deref(), Some("timeout"));
        assert!(run.view().is_settled());
    }
    assert_eq!(run.threads(), ["escalated by iteration_cap"], "a person has what is open");
    assert_eq!(place.read("calls").lines().count(), 1);
    run.stop().await;
}

/// One exit of each kind. The compiler asks for a new one here.
fn every_exit() -> Vec<Exit> {
    let one = |exit: &Exit| match exit {
        Exit::Success
        | Exit::NeedsPerson { .. }
        | Exit::IssuesFound {}
        | Exit::Timeout { .. }
        | Exit::WorkflowFailure { .. }
        | Exit::Unreadable { .. }
        | Exit::RoundCap { .. }
        | Exit::PrMerged
        | Exit::PrClosed
        | Exit::BreakGlass(_)
        | Exit::Stopped
        | Exit::OutOfReach => exit.clone(),
    };
    let (reviewer, reason) = ("codex".into(), String::new());
    [
        Exit::Success,
        Exit::NeedsPerson { threads: Vec::new() },
        Exit::IssuesFound {},
        Exit::Timeout { missing: TimedOutOn::Anybody },
        Exit::WorkflowFailure { reviewer, reason },
        Exit::Unreadable { reviewer: "codex".into(), reason: String::new(), url: None },
        Exit::RoundCap { rounds: 1, author_gave_up: false },
        Exit::PrMerged,
        Exit::PrClosed,
        Exit::BreakGlass(BrokenGlass::Label(String::new())),
        Exit::Stopped,
        Exit::OutOfReach,
    ]
    .iter()
    .map(one)
    .collect()
}

/// Brings a loop close to an exit, with GitHub holding up its next write.
async fn brought_to(exit: &Exit) -> (Place, Run) {
    let two = "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['coderabbit', 'codex']\n";
    let config = match exit {
        Exit::Timeout { .. } | Exit::WorkflowFailure { .. } | Exit::Unreadable { .. } => {
            format!("[policy]\nmax_attempts = 3\n{two}")
        }
        Exit::PrMerged => {
            format!(
                "{DRIVEN}[handoff]\nmode = 'full_auto'\n[[handoff.targets]]\nname = 'default'\nkind = 'issue'\n"
            )
        }
        _ => DRIVEN.to_owned(),
    };
    let place = Place::new().await;
    match exit {
        Exit::OutOfReach => {
            place.simulator.inject(Fault::always("*", FaultKind::DropBefore));
            let run = place.run(&config).await;
            return (place, run);
        }
        Exit::Success | Exit::NeedsPerson { .. } => {
            answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
            let action =
                if *exit == Exit::Success { ("resolve", "accepts") } else { ("escalate", "seeks_change") };
            answer(&place, 2, &[("@1", action.0, action.1, "So it is.")], &[]);
            let run = place.run(&super::driven::config(&place)).await;
            place.play(&push(1));
            run.tick().await;
            place.simulator.inject(Fault { times: 2, ..Fault::once("writes", LIMIT) });
            return (place, run);
        }
        _ => {}
    }
    let run = place.run(&config).await;
    place.play(&review(&[underflow("a")]));
    run.tick().await;
    place.play(&push(1));
    place.play(&review(&[underflow("b")]));
    place.simulator.inject(Fault { times: 2, ..Fault::once("writes", LIMIT) });
    let act = match exit {
        Exit::WorkflowFailure { .. } => {
            "{ comment = { by = 'chatgpt-codex-connector', body = 'You have reached your Codex usage limits for code reviews.' } }"
        }
        Exit::Unreadable { .. } => "{ comment = { by = 'chatgpt-codex-connector', body = 'What a day.' } }",
        Exit::PrMerged => "{ merge = { by = 'dana' } }",
        Exit::PrClosed => "{ close = { by = 'dana' } }",
        Exit::BreakGlass(_) => "{ comment = { by = 'dana', body = '/cloture break-glass' } }",
        _ => "",
    };
    if !act.is_empty() {
        // A comment counts only after the push.
        place.simulator.advance(Duration::from_secs(1));
        place.play(act);
    }
    if *exit == Exit::Stopped {
        run.tell(LoopCommand::Stop, |view| view.exit().is_some()).await;
    }
    (place, run)
}

#[tokio::test]
async fn l4_behind_no_exit_is_anything_due_that_cloture_could_do() {
    for exit in every_exit() {
        if matches!(exit, Exit::RoundCap { .. }) {
            continue; // It has a test of its own above, with a real author.
        }
        let (place, run) = brought_to(&exit).await;
        let name = exit.name();
        let mut ticks = 0;
        while run.exit().as_deref() != Some(name) || !run.view().is_settled() {
            run.tick().await;
            ticks += 1;
            assert!(ticks < 30, "{name}: {:?}, {:?}, {:?}", run.exit(), run.view().due, run.view().handoffs);
        }
        let (before, due) = (place.posts(), run.view().due.clone());
        assert!(due.iter().all(|due| due.state == DueState::LeftOut), "{name}: {due:?}");
        let is_silenced = matches!(exit, Exit::BreakGlass(_) | Exit::Stopped);
        assert!(is_silenced || due.is_empty(), "{name}: {due:?}");
        run.ticks(3).await;
        assert_eq!(place.posts(), before, "{name}: something came after the end");
        assert_eq!(run.exit().as_deref(), Some(name));
        run.stop().await;
    }
}

/// The page lists what holds at each exit.
#[test]
fn l4_the_page_about_exits_names_every_exit() {
    let page = std::fs::read_to_string("docs/exits.md").unwrap();
    for exit in every_exit() {
        let row = format!("| `{}`, ", exit.name());
        assert_eq!(page.matches(&row).count(), 1, "{row}");
    }
}
