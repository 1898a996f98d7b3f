//! Whose word counts: our own posts speak for nobody, and a contributor neither settles a thread nor resets a bound.

use super::driven::{answer, config, reported};
use super::handoff::queue;
use crate::support::harness::{DRIVEN, MAJOR, Place, Run, SEVEN, Settings, finding, push, review};
use cloture::domain::policy::Policy;
use cloture::simulator::Scenario;
use cloture::supervisor::LoopCommand;

fn push_by(login: &str, n: u32) -> String {
    push(n).replace("erin", login)
}

/// A finding in a driven reviewer's words. `body` is JSON text.
fn worded(line: u32, title: &str, body: &str) -> String {
    format!(
        r#"{{"path": "src/cart.rs", "line": {line}, "end_line": {line}, "title": "{title}", "body": "{body}", "severity": "critical", "category": "bug", "suggestion": null}}"#
    )
}

/// Cloture posts under the login of dana, who owns the repository.
#[tokio::test]
async fn r7_a_finding_that_hides_our_key_and_quotes_the_phrase_breaks_no_glass() {
    for opening in ["```", "~~~", "<details>", "<!--", "<pre>", "`"] {
        let place = Place::new().await;
        let config = config(&place);
        let body = format!(r"It breaks. Fix it.\n\n/cloture break-glass\n\n{opening}");
        answer(&place, 1, &[], &[worded(3, "Subtraction underflows", &body)]);
        let run = place.start("one", &config, &[SEVEN], Settings::default()).await;
        run.ticks(3).await;
        assert_eq!(run.threads(), ["open"], "{opening}");
        assert!(run.view().computed.as_ref().unwrap().seen.broken_glass.is_none(), "{opening}");
        assert_ne!(run.exit().as_deref(), Some("break_glass"), "{opening}");
        // The same words in dana's own comment count.
        place.play(r#"{ comment = { by = 'dana', body = "Enough.\n\n/cloture break-glass" } }"#);
        run.ticks(2).await;
        assert_eq!(run.exit().as_deref(), Some("break_glass"), "{opening}");
        run.stop().await;
    }
}

/// What `cloture inbox` says about each waiting thread.
fn inbox(run: &Run) -> Vec<String> {
    let view = run.view();
    let computed = view.computed.as_ref().unwrap();
    let waiting = cloture::supervisor::people::inbox::waiting(computed, &Policy::default());
    waiting.into_iter().map(|thread| thread.why).collect()
}

const RESOLVE: &str = "{ resolve = { by = 'mallory', thread = 'all' } }";

fn unresolve(place: &Place, by: &str) {
    for thread in place.pull(SEVEN).threads {
        place.play(&format!("{{ unresolve = {{ by = '{by}', thread = '{}' }} }}", thread.id));
    }
}

#[tokio::test]
async fn r4_an_author_who_may_not_override_settles_no_driven_thread_by_resolving_it() {
    let place = Place::of_contributor().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    answer(&place, 2, &[("@1", "escalate", "seeks_change", "It is worse.")], &[]);
    let run = place.start("one", &config, &[SEVEN], Settings::default()).await;
    run.ticks(2).await;
    assert_eq!(run.threads(), ["open"]);
    place.play(RESOLVE);
    run.ticks(2).await;
    assert_eq!(run.threads(), ["open"], "an argument, not a decision");
    assert_eq!(run.exit().as_deref(), Some("issues_found"));
    assert!(run.view().computed.as_ref().unwrap().threads()[0].resolved_as_argument);

    place.play(&push_by("mallory", 1));
    run.ticks(3).await;
    assert_eq!(run.threads(), ["escalated by reviewer"]);
    // Resolving and opening in turn neither settles it nor gives the reviewer fresh counters.
    for _ in 0..2 {
        place.play(RESOLVE);
        run.ticks(2).await;
        assert_eq!(run.threads(), ["escalated by reviewer"]);
        assert_eq!(run.exit().as_deref(), Some("needs_person"));
        let [why] = inbox(&run).try_into().unwrap();
        assert!(why.ends_with("; the author resolved it on GitHub, but may not decide about it"), "{why}");
        unresolve(&place, "mallory");
        run.ticks(2).await;
        assert_eq!(run.threads(), ["escalated by reviewer"]);
    }
    place.play("{ resolve = { by = 'dana', thread = 'all' } }");
    run.ticks(2).await;
    assert_eq!(run.threads(), ["resolved by person"], "the owner decides");
    assert_eq!(run.exit().as_deref(), Some("success"));
    run.stop().await;
}

#[tokio::test]
async fn r4_an_author_who_may_not_override_settles_no_observed_thread_by_resolving_it() {
    let place = Place::of_contributor().await;
    place.play(&review(&[finding("f", "src/cart.rs", 3, "Subtraction underflows", MAJOR)]));
    let run = place.run(DRIVEN).await;
    run.ticks(2).await;
    place.play(RESOLVE);
    run.ticks(2).await;
    assert_eq!(run.threads(), ["open"], "an argument, not a decision");
    assert_eq!(run.exit().as_deref(), Some("issues_found"));
    for n in 1..=2 {
        unresolve(&place, "mallory");
        place.play(&push_by("mallory", n));
        place.play(&review(&[]));
        run.ticks(2).await;
        place.play(RESOLVE);
        run.ticks(2).await;
    }
    assert_eq!(run.threads(), ["escalated by round_limit"], "the click does not stop the count");
    assert_eq!(run.exit().as_deref(), Some("needs_person"));
    let [why] = inbox(&run).try_into().unwrap();
    assert!(why.ends_with("; the author resolved it on GitHub, but may not decide about it"), "{why}");
    unresolve(&place, "erin");
    place.play("{ resolve = { by = 'erin', thread = 'all' } }");
    run.ticks(2).await;
    assert_eq!(run.threads(), ["resolved by person"]);
    assert_eq!(run.exit().as_deref(), Some("success"));
    run.stop().await;
}

/// An author who is a collaborator decides as before.
#[tokio::test]
async fn r4_an_author_who_may_override_settles_a_thread_by_resolving_it() {
    let place = Place::new().await;
    place.play(&review(&[finding("f", "src/cart.rs", 3, "Subtraction underflows", MAJOR)]));
    let run = place.run(DRIVEN).await;
    run.ticks(2).await;
    place.play("{ resolve = { by = 'erin', thread = 'all' } }");
    run.ticks(2).await;
    assert_eq!(run.threads(), ["resolved by person"]);
    run.stop().await;
}

#[tokio::test]
async fn c8_a_mark_that_a_bot_quotes_settles_nothing_and_one_that_it_edits_in_does() {
    let place = Place::of_contributor().await;
    let mark = "✅ Addressed in commit 0a1b2c3";
    let text = |more: &str| {
        format!("_⚠️ Potential issue_ | _🟠 Major_\n\n**It underflows.**\n\nChange it.\n\n{more}\n")
    };
    let with = |name: &str, line: u32, more: &str| {
        format!("{{ name = '{name}', path = 'src/cart.rs', line = {line}, body = '''\n{}''' }}", text(more))
    };
    let quoted = [with("a", 3, mark), with("b", 7, &format!("> {mark}"))];
    place.play(&review(&quoted));
    let run = place.run(DRIVEN).await;
    run.ticks(2).await;
    assert_eq!(run.threads(), ["open", "open"], "nobody edited them");
    let edit = |name: &str, more: &str| {
        place.play(&format!(
            "{{ edit = {{ by = 'coderabbitai', thread = '{name}', body = '''\n{}''' }} }}",
            text(more)
        ));
    };
    edit("b", &format!("> {mark}\n\n<details>\n\n{mark}\n\n</details>\n\n`{mark}`\n\n```\n{mark}\n```"));
    run.ticks(2).await;
    assert_eq!(run.threads(), ["open", "open"], "quoted, folded and as code");
    edit("a", mark);
    run.ticks(2).await;
    assert_eq!(run.threads(), ["resolved by reviewer", "open"]);
    run.stop().await;
}

fn close_and_reopen(by: &str) -> String {
    format!("{{ close = {{ by = '{by}' }} }}, {{ reopen = {{ by = '{by}' }} }}")
}

/// `cloture bound` says 15 calls. The reviewer never answers properly.
#[tokio::test]
async fn c6_a_contributor_who_pushes_closes_and_reopens_buys_no_calls_of_a_reviewer() {
    let place = Place::of_contributor().await;
    let command = place.script("reviewer", "cat > /dev/null; echo call >> \"$here/calls\"; echo junk");
    let config = format!(
        "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['orange']\n\
         [[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{command}']\n"
    );
    let run = place.run(&config).await;
    let calls = || place.read("calls").lines().count();
    for n in 1..=7 {
        run.ticks(5).await;
        // Once between two polls, and once so that a poll sees it closed.
        if n % 2 == 0 {
            place.play(&close_and_reopen("mallory"));
        } else {
            place.play("{ close = { by = 'mallory' } }");
            run.tick().await;
            place.play("{ reopen = { by = 'mallory' } }");
        }
        run.tick().await;
        place.play(&push_by("mallory", n));
    }
    run.ticks(5).await;
    assert_eq!(calls(), 15, "5 cycles of 3 calls");
    place.play(&close_and_reopen("erin"));
    run.ticks(5).await;
    assert_eq!(calls(), 18, "a collaborator's reopening starts the count again");
    run.stop().await;
}

#[tokio::test]
async fn c6_an_observed_bot_is_asked_at_most_max_asks_times_however_often_a_contributor_pushes_and_reopens() {
    let place = Place::of_contributor().await;
    place.play(&review(&[finding("f", "src/cart.rs", 3, "Subtraction underflows", MAJOR)]));
    let run = place.run(DRIVEN).await;
    run.ticks(2).await;
    let asks = || place.posts().iter().filter(|post| *post == "comment: @coderabbitai review").count();
    for n in 1..=12 {
        place.play(&push_by("mallory", n));
        run.ticks(2).await;
        place.play(&close_and_reopen("mallory"));
        run.tick().await;
    }
    assert_eq!(asks(), 8, "max_asks");
    assert_eq!(run.threads(), ["escalated by iteration_cap"]);
    let judgement = run.view().computed.as_ref().unwrap().seen.judge().to_string();
    let says = "the review by coderabbit is missing; Cloture has asked coderabbit as often as it may";
    assert_eq!(judgement, says);
    // The bot may still come by itself.
    place.play(&review(&[]));
    run.ticks(2).await;
    assert_eq!((asks(), run.exit().as_deref()), (8, Some("issues_found")));
    run.stop().await;
    // Another journal counts the requests that GitHub shows.
    std::fs::remove_dir_all(place.path("state")).unwrap();
    place.play(&push_by("mallory", 13));
    let run = place.run(DRIVEN).await;
    run.ticks(2).await;
    assert_eq!(asks(), 8);
    place.play(&close_and_reopen("dana"));
    run.tick().await;
    place.play(&push_by("mallory", 14));
    run.ticks(2).await;
    assert!(asks() > 8, "the owner's reopening starts the count again");
    run.stop().await;
}

#[tokio::test]
async fn h1_a_contributor_who_closes_and_reopens_does_not_empty_the_queue() {
    let place = Place::of_contributor().await;
    let run = place.run(&format!("{DRIVEN}[[handoff.targets]]\nname = 'default'\nkind = 'issue'\n")).await;
    place.play(&review(&[finding("f", "src/cart.rs", 3, "Subtraction underflows", MAJOR)]));
    run.tick().await;
    queue(&run, &place, 0).await;
    for _ in 0..2 {
        place.play("{ close = { by = 'mallory' } }");
        run.tick().await;
        place.play("{ reopen = { by = 'mallory' } }");
        run.tick().await;
    }
    place.play(&close_and_reopen("mallory"));
    run.tick().await;
    place.play("{ merge = { by = 'dana' } }");
    run.ticks(2).await;
    assert_eq!(place.simulator.issues().len(), 1);
    run.stop().await;
}

#[tokio::test]
async fn l10_a_contributor_who_closes_and_reopens_does_not_start_a_stopped_or_paused_loop() {
    for (command, phase) in [(LoopCommand::Stop, "stopped"), (LoopCommand::Pause, "paused")] {
        let place = Place::of_contributor().await;
        let run = place.run(DRIVEN).await;
        run.tick().await;
        let before = run.phase();
        run.tell(command, |view| view.exit().is_some() || run.phase() != before).await;
        let held = run.phase();
        place.play("{ close = { by = 'mallory' } }");
        run.tick().await;
        assert_eq!(run.exit().as_deref(), Some("pr_closed"), "{phase}");
        place.play("{ reopen = { by = 'mallory' } }");
        run.ticks(2).await;
        assert_eq!(run.phase(), held, "{phase}");
        place.play("{ close = { by = 'mallory' } }");
        run.tick().await;
        place.play("{ reopen = { by = 'dana' } }");
        run.ticks(2).await;
        assert_ne!(run.phase(), held, "{phase}: the owner starts it again");
        run.stop().await;
    }
}

/// A bot of somebody else's has the login of `coderabbit` and another number.
#[tokio::test]
async fn l3_a_look_alike_of_a_known_bot_is_nobody() {
    let text = include_str!("../support/scenarios/shop.toml")
        .replace("SHA", "0123456789abcdef0123456789abcdef01234567")
        .replace("136622811", "666");
    let place = Place::of(&Scenario::parse(&text, "shop.toml").unwrap()).await;
    place.play(&review(&[finding("f", "src/cart.rs", 3, "Subtraction underflows", MAJOR)]));
    let run = place.run(DRIVEN).await;
    run.ticks(2).await;
    assert!(run.threads().is_empty(), "{:?}", run.threads());
    let computed = run.view().computed.clone().unwrap();
    assert_eq!(computed.seen.judge().to_string(), "the review by coderabbit is missing");
    assert_eq!(computed.unowned.len(), 1, "its thread is shown as nobody's");
    run.stop().await;
}
