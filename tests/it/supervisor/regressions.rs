//! D4, D5: a finding that is resolved and raised again. A thread that is open here is open on GitHub, or a
//! comment says why not; and every escalation is addressed, whatever the thread's state on GitHub.

use super::driven::{answer, config, reported};
use crate::support::harness::{DRIVEN, MAJOR, MINOR, Place, Run, SEVEN, finding, push, review};
use cloture::simulator::{Fault, FaultKind, PullSnapshot};

const TITLE: &str = "A percentage above one hundred makes the subtraction underflow";

fn raised(name: &str, severity: &str) -> String {
    finding(name, "src/cart.rs", 3, TITLE, severity)
}

fn ours(pull: &PullSnapshot, thread: usize) -> Vec<&str> {
    let comments = pull.threads[thread].comments.iter().filter(|comment| comment.by == "dana");
    comments.map(|comment| comment.body.as_str()).collect()
}

fn resolved(place: &Place) -> Vec<bool> {
    place.pull(SEVEN).threads.iter().map(|thread| thread.resolved).collect()
}

/// The driven reviewer finds, resolves, raises again, resolves and raises again, a head each.
fn five_answers(place: &Place) {
    let same = reported(3, TITLE, "high");
    answer(place, 1, &[], std::slice::from_ref(&same));
    answer(place, 2, &[("@1", "resolve", "accepts", "Fixed.")], &[]);
    answer(place, 3, &[], std::slice::from_ref(&same));
    answer(place, 4, &[("@1", "resolve", "accepts", "Fixed after all.")], &[]);
    answer(place, 5, &[], &[same]);
}

async fn next_head(place: &Place, run: &Run, number: u32) {
    place.play(&push(number));
    run.ticks(3).await;
}

#[tokio::test]
async fn d5_a_driven_finding_that_is_raised_again_is_open_on_github_and_can_be_resolved_again() {
    let place = Place::new().await;
    let config = config(&place);
    five_answers(&place);
    let run = place.run(&config).await;
    run.tick().await;
    next_head(&place, &run, 1).await;
    assert_eq!((run.threads(), resolved(&place)), (vec!["resolved by reviewer".to_owned()], vec![true]));
    next_head(&place, &run, 2).await;
    assert_eq!((run.threads(), resolved(&place)), (vec!["open".to_owned()], vec![false]));
    let pull = place.pull(SEVEN);
    assert!(
        ours(&pull, 0).last().unwrap().starts_with("orange raised this again at "),
        "{:?}",
        ours(&pull, 0)
    );
    assert_eq!(run.exit().as_deref(), Some("issues_found"));
    next_head(&place, &run, 3).await;
    assert_eq!((run.threads(), resolved(&place)), (vec!["resolved by reviewer".to_owned()], vec![true]));
    assert_eq!(run.exit().as_deref(), Some("success"));
    next_head(&place, &run, 4).await;
    assert_eq!((run.threads(), resolved(&place)), (vec!["escalated by regressed".to_owned()], vec![false]));
    assert_eq!(run.exit().as_deref(), Some("needs_person"));
    let pull = place.pull(SEVEN);
    assert!(
        ours(&pull, 0).last().unwrap().starts_with("@acme/leads This needs a person: orange resolved it")
    );
    assert_eq!(pull.labels, ["cloture:needs-a-person"]);
    run.ticks(3).await;
    assert_eq!((place.count("resolve"), place.count("unresolve"), place.count("reply")), (2, 2, 4));
    // R3: Cloture's own opening is nobody's return of the thread, and a person's resolution counts.
    place.play("{ resolve = { by = 'erin', thread = 'all' } }");
    run.ticks(2).await;
    assert_eq!(run.threads(), ["resolved by person"]);
    assert_eq!((resolved(&place), run.exit().as_deref()), (vec![true], Some("success")));
    run.stop().await;
    let facts = place.facts().await;
    assert!(!facts.contains(&"reopened".to_owned()), "{facts:?}");
}

/// The process ends between its write and the poll that would show it.
#[tokio::test]
async fn d5_a_restart_takes_clotures_own_opening_for_nobodys() {
    for observed in [false, true] {
        let place = Place::new().await;
        let config = if observed { DRIVEN.to_owned() } else { config(&place) };
        five_answers(&place);
        let run = place.run(&config).await;
        if observed {
            place.play(&review(&[raised("a", MAJOR)]));
        }
        run.tick().await;
        place.play(&push(1));
        if observed {
            place.play("{ resolve = { by = 'coderabbitai', thread = 'own' } }");
            place.play(&review(&[]));
        }
        run.ticks(3).await;
        assert_eq!(run.threads(), ["resolved by reviewer"]);
        place.play(&push(2));
        if observed {
            place.play(&review(&[raised("b", MAJOR)]));
        }
        for _ in 0..3 {
            if place.count("unresolve") == 0 {
                run.tick().await;
            }
        }
        assert_eq!(place.count("unresolve"), 1, "{observed}: {:?}", place.posts());
        run.stop().await;
        let run = place.run(&config).await;
        run.ticks(3).await;
        let machine = run.view().computed.as_ref().unwrap().threads()[0].thread.machine;
        assert_eq!(
            (run.threads()[0].as_str(), machine.reopens, machine.returns),
            ("open", 1, 0),
            "{observed}"
        );
        assert_eq!(place.count("unresolve"), 1, "{observed}");
        run.stop().await;
        let facts = place.facts().await;
        assert!(!facts.contains(&"reopened".to_owned()), "{observed}: {facts:?}");
    }
}

#[tokio::test]
async fn d5_an_observed_finding_that_is_raised_again_is_open_on_github() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play(&review(&[raised("a", MAJOR)]));
    run.tick().await;
    place.play(&push(1));
    place.play("{ resolve = { by = 'coderabbitai', thread = 'own' } }");
    place.play(&review(&[]));
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("success"));
    place.play(&push(2));
    place.play(&review(&[raised("b", MAJOR)]));
    run.ticks(4).await;
    assert_eq!(run.threads(), ["open", "open"]);
    assert_eq!(resolved(&place), [false, true], "the first is open, and the second leads there");
    let pull = place.pull(SEVEN);
    assert!(ours(&pull, 0)[0].starts_with("coderabbit raised this again in http"), "{:?}", ours(&pull, 0));
    assert!(ours(&pull, 1)[0].starts_with("This repeats http"), "{:?}", ours(&pull, 1));
    assert_eq!(run.exit().as_deref(), Some("issues_found"));

    place.play(&push(3));
    place.play("{ resolve = { by = 'coderabbitai', thread = 'own' } }");
    place.play(&review(&[]));
    run.ticks(3).await;
    assert_eq!(run.exit().as_deref(), Some("success"), "{:?}", run.threads());
    place.play(&push(4));
    place.play(&review(&[raised("c", MAJOR)]));
    run.ticks(4).await;
    assert_eq!(run.threads()[0], "escalated by regressed");
    assert_eq!(resolved(&place), [false, true, true]);
    assert_eq!(run.exit().as_deref(), Some("needs_person"));
    let pull = place.pull(SEVEN);
    assert!(ours(&pull, 0).last().unwrap().starts_with("@acme/leads This needs a person"));
    assert_eq!(pull.labels, ["cloture:needs-a-person"]);
    run.ticks(3).await;
    assert_eq!((place.count("resolve"), place.count("unresolve")), (2, 2), "{:?}", place.posts());
    // R3: a person's resolution settles it.
    place.play("{ resolve = { by = 'erin', thread = 'all' } }");
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("success"), "{:?}", run.threads());
    run.stop().await;
    let facts = place.facts().await;
    assert!(!facts.contains(&"reopened".to_owned()), "{facts:?}");
}

/// C8: Cloture resolved the thread itself, because its code changed and the bot said no more about it.
#[tokio::test]
async fn d5_a_thread_that_was_let_go_and_raised_again_can_be_let_go_again() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    let at_change = |name: &str| finding(name, "src/cart.rs", 2, TITLE, MAJOR);
    let change = |n: u32| {
        format!(
            "{{ push = {{ by = 'erin', files = {{ 'src/cart.rs' = '''\npub fn discounted(total: u64, percent: u64) \
             -> u64 {{\n    total - {n} * percent / 100\n}}\n''' }} }} }}"
        )
    };
    place.play(&review(&[at_change("a")]));
    run.tick().await;
    place.play(&change(1));
    place.play(&review(&[]));
    run.ticks(3).await;
    assert_eq!(resolved(&place), [true]);
    place.play(&change(2));
    place.play(&review(&[at_change("b")]));
    run.ticks(4).await;
    assert_eq!((run.threads()[0].as_str(), resolved(&place)), ("open", vec![false, true]));
    place.play(&change(3));
    place.play(&review(&[]));
    run.ticks(3).await;
    assert_eq!((run.threads()[0].as_str(), resolved(&place)), ("resolved by reviewer", vec![true, true]));
    assert_eq!(run.exit().as_deref(), Some("success"));
    run.stop().await;
}

#[tokio::test]
async fn d4_a_finding_that_a_person_resolved_and_that_got_worse_is_open_and_addressed() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play(&review(&[raised("a", MINOR)]));
    run.tick().await;
    place.play("{ resolve = { by = 'erin', thread = 'all' } }");
    run.tick().await;
    place.play(&push(1));
    place.play(&review(&[raised("b", MAJOR)]));
    run.ticks(4).await;
    assert_eq!(run.threads()[0], "escalated by worsened");
    assert_eq!(resolved(&place), [false, true]);
    let pull = place.pull(SEVEN);
    assert!(ours(&pull, 0).last().unwrap().starts_with("@acme/leads This needs a person"));
    assert_eq!(run.exit().as_deref(), Some("needs_person"));
    run.stop().await;
}

/// GitHub does not let this token open threads again.
#[tokio::test]
async fn a_thread_that_cannot_be_opened_again_is_named_in_a_comment() {
    let denied = FaultKind::Forbidden { message: "Resource not accessible by integration".to_owned() };
    for observed in [false, true] {
        let place = Place::new().await;
        let config = if observed { DRIVEN.to_owned() } else { config(&place) };
        five_answers(&place);
        place.simulator.inject(Fault::always("unresolveReviewThread", denied.clone()));
        let run = place.run(&config).await;
        if observed {
            place.play(&review(&[raised("a", MAJOR)]));
        }
        run.tick().await;
        place.play(&push(1));
        if observed {
            place.play("{ resolve = { by = 'coderabbitai', thread = 'own' } }");
            place.play(&review(&[]));
        }
        run.ticks(3).await;
        place.play(&push(2));
        if observed {
            place.play(&review(&[raised("b", MAJOR)]));
        }
        run.ticks(5).await;
        assert_eq!(run.threads()[0], "open", "{observed}");
        assert_eq!(run.exit().as_deref(), Some("issues_found"), "{observed}");
        let pull = place.pull(SEVEN);
        let said: Vec<_> = pull.comments.iter().filter(|c| c.body.contains("cannot open it again")).collect();
        assert_eq!(said.len(), 1, "{observed}: {:?}", pull.comments);
        assert!(said[0].body.starts_with("@acme/leads "), "{}", said[0].body);
        assert!(said[0].body.contains("src/cart.rs") && said[0].body.contains(TITLE), "{}", said[0].body);
        if observed {
            assert_eq!(resolved(&place), [true, false], "one of its threads stays open");
        }
        run.stop().await;
    }
}

/// Every write of the argument meets every fault that leaves its outcome uncertain; none is lost or doubled.
#[tokio::test]
async fn d5_each_write_is_in_effect_once_whatever_fault_it_meets() {
    let spoilt = [
        FaultKind::DropBefore,
        FaultKind::DropAfter,
        FaultKind::BadGateway { takes_effect: true },
        FaultKind::SecondaryLimit { retry_after: 60, as_success: false },
    ];
    for kind in spoilt {
        for nth in 1..=10 {
            let place = Place::new().await;
            let config = config(&place);
            five_answers(&place);
            place.simulator.inject(Fault::nth("writes", nth, kind.clone()));
            let run = place.run(&config).await;
            run.tick().await;
            for number in 1..=4 {
                next_head(&place, &run, number).await;
            }
            run.ticks(3).await;
            assert_eq!(
                (run.threads(), resolved(&place)),
                (vec!["escalated by regressed".to_owned()], vec![false])
            );
            let counts = ["review", "resolve", "unresolve", "reply", "label"].map(|what| place.count(what));
            assert_eq!(counts, [5, 2, 2, 4, 1], "{kind:?} at {nth}: {:?}", place.posts());
            run.stop().await;
        }
    }
}
