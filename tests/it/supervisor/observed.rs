//! Observed reviewers (C8): every exit that L4 names, and the forge afterwards.

use crate::support::harness::{DRIVEN, MAJOR, Place, SEVEN, Settings, finding, push, review};
use cloture::simulator::Scenario;

fn underflow(name: &str, line: u32) -> String {
    finding(
        name,
        "src/cart.rs",
        line,
        "A percentage above one hundred makes the subtraction underflow",
        MAJOR,
    )
}

#[tokio::test]
async fn a_loop_that_converges_ends_in_success_and_posts_only_review_requests() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    assert_eq!(run.phase(), "waiting");
    place.play(&review(&[underflow("a", 3)]));
    run.tick().await;
    assert_eq!(run.exit().as_deref(), Some("issues_found"), "there is no author to fix it");
    place.play(&format!(
        "{{ push = {{ by = 'erin', replace = [{{ path = 'src/cart.rs', find = 'total - ', with = '0 + ' }}] }} }}, \
         {{ resolve = {{ by = 'coderabbitai', thread = 'own' }} }}, {}",
        review(&[])
    ));
    run.tick().await;
    assert_eq!(run.end().await, "success", "the next poll sees the push and the review of it");
    assert_eq!(run.threads(), ["resolved by reviewer"]);
    // This reviewer has to be asked: once for each head without its review.
    assert_eq!(place.posts(), ["comment: @coderabbitai review"]);
    run.stop().await;
    assert_eq!(place.facts().await, ["ended", "ended"]);
}

#[tokio::test]
async fn a_reviewer_that_never_yields_is_cut_off_and_the_operator_addressed_once() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play(&review(&[underflow("a", 3)]));
    run.tick().await;
    for n in 0..4 {
        place.play(&push(n));
        place.play("{ reply = { by = 'coderabbitai', thread = 'a', body = 'The problem is still there, please fix it.' } }");
        place.play(&review(&[]));
        run.tick().await;
    }
    assert_eq!(run.threads(), ["escalated by round_limit"]);
    run.ticks(5).await;
    assert_eq!((place.count("reply"), place.count("label")), (1, 1), "{:?}", place.posts());
    let pull = place.pull(SEVEN);
    assert_eq!(pull.labels, ["cloture:needs-a-person"]);
    let said = pull.threads[0].comments.iter().rfind(|comment| comment.by == "dana").unwrap();
    assert!(
        said.body.starts_with("@acme/leads This needs a person: coderabbit has held its stance"),
        "{}",
        said.body
    );
    assert!(!pull.threads[0].resolved, "the person has to close it");
    run.stop().await;
}

#[tokio::test]
async fn a_reviewer_that_alternates_is_cut_off_by_the_flip_budget() {
    let scenario =
        Scenario::parse(include_str!("../../../assets/scenarios/alternates.toml"), "alternates.toml")
            .unwrap();
    let place = Place::of(&scenario).await;
    let config = DRIVEN.replace("coderabbit", "cursor");
    let run = place.run_as("one", &config, &["acme/shop#21"], Settings::default()).await;
    run.ticks(30).await;
    assert_eq!(run.threads(), ["escalated by round_limit"]);
    let computed = run.view().computed.clone().unwrap();
    assert!(computed.observed.threads[0].thread.machine.counters.cycles <= 5, "T5");
    assert_eq!((place.count("reply"), place.count("label")), (1, 1), "{:?}", place.posts());
    run.stop().await;
}

/// C8: a finding that an observed bot raises again is a repetition in its first thread.
#[tokio::test]
async fn a_finding_raised_again_after_every_force_push_is_folded_into_its_first_thread() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    place.play(&review(&[underflow("first", 3)]));
    run.tick().await;
    for n in 0..25 {
        place.play(&format!("{{ force_push = {{ by = 'erin', message = 'Again {n}', files = {{ 'notes.txt' = 'note {n}' }} }} }}"));
        place.play(&review(&[underflow(&format!("again-{n}"), 3)]));
        run.tick().await;
    }
    run.ticks(3).await;
    let pull = place.pull(SEVEN);
    assert_eq!(pull.threads.len(), 26);
    let first = &pull.threads[0];
    let ours = |thread: &cloture::simulator::ThreadSnapshot| {
        thread
            .comments
            .iter()
            .filter(|comment| comment.by == "dana")
            .map(|c| c.body.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ours(first).len(),
        1,
        "the operator is addressed in the first thread, once: {:?}",
        ours(first)
    );
    assert!(!first.resolved);
    for repeated in &pull.threads[1..] {
        let said = ours(repeated);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("This repeats https://") && said[0].contains("discussion_r"), "{said:?}");
        assert!(repeated.resolved && repeated.resolved_by.as_deref() == Some("dana"));
    }
    assert_eq!((place.count("reply"), place.count("resolve"), place.count("label")), (26, 25, 1));
    run.stop().await;
}

#[tokio::test]
async fn a_timeout_names_the_missing_reviewer_after_the_other_reviews_were_processed() {
    let place = Place::new().await;
    let config = DRIVEN.replace("['coderabbit']", "['coderabbit', 'codex']");
    let run = place.run(&config).await;
    place.play(&review(&[underflow("a", 3)]));
    run.tick().await;
    place.play(&push(1));
    place.play(&review(&[underflow("b", 3)]));
    assert_eq!(run.end().await, "timeout");
    let exit = run.view().exit().unwrap().to_string();
    assert_eq!(exit, "no review came in time from codex");
    let pull = place.pull(SEVEN);
    assert!(pull.threads[1].resolved, "the repetition was folded all the same");
    let asked: Vec<String> = place.posts().into_iter().filter(|post| post.starts_with("comment")).collect();
    let codex = "comment: @codex review";
    assert_eq!(
        asked,
        ["comment: @coderabbitai review", codex, codex],
        "each missing reviewer, once per head"
    );
    run.stop().await;
    assert_eq!(place.facts().await, ["ended"]);
}

#[tokio::test]
async fn a_refusal_that_is_posted_as_a_review_is_a_workflow_failure() {
    let place = Place::new().await;
    let run = place.run(&DRIVEN.replace("coderabbit", "codex")).await;
    run.tick().await;
    place.play(
        "{ comment = { by = 'mallory', body = 'You have reached your Codex usage limits for code reviews.' } }",
    );
    run.tick().await;
    assert_eq!(run.phase(), "waiting", "people's comments never match");
    place.play(
        "{ review = { by = 'chatgpt-codex-connector', body = 'You have reached your Codex usage limits for code reviews. You can see your limits in the Codex usage dashboard.' } }",
    );
    assert_eq!(run.end().await, "workflow_failure");
    run.stop().await;
}

#[tokio::test]
async fn a_failed_check_run_of_the_reviewer_is_a_workflow_failure() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    run.tick().await;
    place.play("{ check_run = { by = 'coderabbitai', name = 'CodeRabbit', conclusion = 'failure', title = 'Review failed' } }");
    assert_eq!(run.end().await, "workflow_failure");
    assert!(run.view().exit().unwrap().to_string().contains("Review failed"));
    run.stop().await;
}

#[tokio::test]
async fn a_head_that_moves_during_the_wait_starts_the_attempts_again() {
    let place = Place::new().await;
    let run = place.run(DRIVEN).await;
    run.ticks(6).await;
    assert_eq!(run.view().review_loop.attempt(), 7);
    place.play(&push(1));
    run.tick().await;
    assert_eq!(run.view().review_loop.attempt(), 1);
    place.play("{ review = { by = 'coderabbitai', on_previous_head = true, body = '**Actionable comments posted: 0**' } }");
    run.tick().await;
    assert_eq!(run.phase(), "waiting", "a review of the head before does not count");
    place.play(&review(&[]));
    assert_eq!(run.end().await, "success");
    assert_eq!(
        place.posts(),
        ["comment: @coderabbitai review", "comment: @coderabbitai review"],
        "once a head"
    );
    run.stop().await;
}

#[tokio::test]
async fn l3_the_wait_for_an_unnamed_reviewer_ends() {
    let place = Place::new().await;
    let config = DRIVEN.replace("reviewers = ['coderabbit']\n", "");
    let run = place.run(&config).await;
    assert_eq!(run.end().await, "timeout");
    assert!(run.view().exit().unwrap().to_string().starts_with("no reviewer posted in time"));
    place.play(&review(&[]));
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("success"), "a late reviewer starts a new loop");
    run.stop().await;
    assert_eq!(place.facts().await, ["ended", "ended"]);
    assert_eq!(place.posts(), [""; 0]);
}

#[tokio::test]
async fn with_no_expected_reviewer_the_loop_ends_at_once() {
    let place = Place::new().await;
    let run = place.run(&DRIVEN.replace("['coderabbit']", "[]")).await;
    assert_eq!(run.end().await, "success");
    run.stop().await;
}

/// S4: a repository without `drive` is only watched.
#[tokio::test]
async fn without_drive_everything_is_computed_and_nothing_is_sent() {
    let place = Place::new().await;
    let run = place.run("").await;
    place.play(&review(&[underflow("a", 3)]));
    run.tick().await;
    place.play(&push(1));
    place.play(&review(&[underflow("b", 3)]));
    run.ticks(3).await;
    assert_eq!(run.exit().as_deref(), Some("issues_found"));
    assert_eq!(place.posts(), [""; 0]);
    assert!(place.simulator.requests().iter().all(|request| !request.writes));
    let due = run.view().due.clone();
    assert_eq!(due.len(), 2, "{due:?}");
    assert!(due[0].sentence.contains("This repeats") || due[0].sentence.contains("eply"), "{due:?}");
    run.stop().await;
    let records = place.records().await;
    assert!(records.iter().all(|record| record.kind == "ended"), "{records:?}");
}

#[tokio::test]
async fn read_only_records_nothing_either() {
    let place = Place::new().await;
    let run =
        place.run_as("one", DRIVEN, &[SEVEN], Settings { read_only: true, ..Settings::default() }).await;
    place.play(&review(&[underflow("a", 3)]));
    run.tick().await;
    place.play(&push(1));
    place.play(&review(&[underflow("b", 3)]));
    run.ticks(3).await;
    assert!(!run.view().due.is_empty());
    assert_eq!(place.posts(), [""; 0]);
    run.stop().await;
    assert_eq!(place.records().await, []);
}
