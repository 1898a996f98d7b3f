//! Driven reviewers: real programs whose answers are checked before Cloture posts anything.

use crate::support::harness::{EIGHT, Place, SEVEN, Settings, push};
use cloture::simulator::{Fault, FaultKind, SimulatedReviewState};
use jiff::SignedDuration;

/// A reviewer that reads its answer for each cycle from a file of the test, with `@1`, `@2` … for the threads
/// in the request. It saves each request.
pub(crate) const BY_CYCLE: &str = r#"
request=$(cat)
echo call >> "$here/calls"
number=$(printf %s "$request" | tr -d '\n' | sed 's/.*"cycle": *{\([^}]*\)}.*/\1/; s/.*"number": *\([0-9]*\).*/\1/')
printf %s "$request" > "$here/request-$number"
answer=$(cat "$here/answer-$number")
n=1
for id in $(printf %s "$request" | tr -d '\n' | sed 's/.*"threads": *\[\(.*\)\], *"settled".*/\1/' | grep -o '"id": *"[^"]*"' | cut -d'"' -f4); do
  answer=$(printf %s "$answer" | sed "s|@$n|$id|g"); n=$((n+1))
done
printf %s "$answer"
"#;

pub(crate) fn config(place: &Place) -> String {
    let command = place.script("reviewer", BY_CYCLE);
    format!(
        "[[repositories]]\nname = 'acme/shop'\ndrive = true\nreviewers = ['orange']\n\
         [[reviewers]]\nname = 'orange'\nkind = 'program'\ncommand = ['{command}']\n"
    )
}

pub(crate) fn reported(line: u32, title: &str, severity: &str) -> String {
    reported_in("src/cart.rs", line, title, severity)
}

pub(crate) fn reported_in(path: &str, line: u32, title: &str, severity: &str) -> String {
    format!(
        r#"{{"path": "{path}", "line": {line}, "end_line": {line}, "title": "{title}", "body": "It breaks. Fix it.", "severity": "{severity}", "category": "bug", "suggestion": null}}"#
    )
}

pub(crate) fn answer(place: &Place, number: u32, actions: &[(&str, &str, &str, &str)], findings: &[String]) {
    let actions: Vec<String> = actions
        .iter()
        .map(|(thread, action, stance, body)| {
            format!(
                r#"{{"thread": "{thread}", "action": "{action}", "stance": "{stance}", "body": "{body}"}}"#
            )
        })
        .collect();
    let text = format!(
        r#"{{"actions": [{}], "findings": [{}], "summary": "Look {number}."}}"#,
        actions.join(", "),
        findings.join(", ")
    );
    std::fs::write(place.path(&format!("answer-{number}")), text).unwrap();
}

/// The closing reply comes before the resolution, and the journal gives the reviewer's own reason.
#[tokio::test]
async fn a_resolved_thread_gets_its_closing_reply_first_and_the_true_reason() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    answer(&place, 2, &[("@1", "resolve", "accepts", "Fixed, thank you.")], &[]);
    let run = place.run(&config).await;
    run.tick().await;
    place.play(&push(1));
    run.ticks(3).await;
    assert_eq!(run.threads(), ["resolved by reviewer"]);
    let posts = place.posts();
    let position = |what: &str| posts.iter().position(|post| post.starts_with(what)).unwrap();
    assert!(position("reply: Fixed, thank you.") < position("resolve"), "{posts:?}");
    assert_eq!(place.count("resolve"), 1);
    run.stop().await;
    let records = place.records().await;
    let whys: Vec<&str> = records.iter().map(|record| record.why.as_str()).collect();
    assert!(whys.contains(&"orange says that it is fixed"), "{whys:?}");
    assert!(!whys.iter().any(|why| why.contains("no longer lists")), "{whys:?}");
}

fn calls(place: &Place) -> usize {
    place.read("calls").lines().count()
}

/// V1: on a person's pull request, the reviewer only comments.
#[tokio::test]
async fn a_second_cycle_continues_the_first_and_a_person_is_never_blocked() {
    let place = Place::new().await;
    let config = config(&place);
    answer(
        &place,
        1,
        &[],
        &[reported(3, "Subtraction underflows", "critical"), reported(7, "Empty slice panics", "medium")],
    );
    answer(
        &place,
        2,
        &[("@1", "resolve", "accepts", "Fixed."), ("@2", "reply", "seeks_change", "Still there.")],
        &[],
    );
    answer(&place, 3, &[("@1", "reply", "seeks_change", "Still.")], &[]);
    let run = place.run(&config).await;
    run.tick().await;
    let pull = place.pull(SEVEN);
    assert_eq!(pull.reviews.len(), 1, "both findings in one review");
    assert_eq!(pull.reviews[0].state, SimulatedReviewState::Commented, "V1");
    assert_eq!(pull.threads.len(), 2);
    assert!(pull.threads[0].comments[0].body.contains("**Subtraction underflows** (critical)"));
    assert_eq!((pull.threads[0].line, pull.threads[1].line), (Some(3), Some(7)));
    run.ticks(3).await;
    assert_eq!((calls(&place), place.pull(SEVEN).reviews.len()), (1, 1), "C5: one look a head");
    assert_eq!(run.exit().as_deref(), Some("issues_found"));

    place.play(&push(1));
    run.ticks(3).await;
    let pull = place.pull(SEVEN);
    assert_eq!(calls(&place), 2);
    assert_eq!((pull.threads[0].resolved, pull.threads[1].resolved), (true, false));
    let last = |n: usize| pull.threads[n].comments.last().unwrap().body.clone();
    assert!(last(0).starts_with("Fixed.") && last(1).starts_with("Still there."), "{} {}", last(0), last(1));
    assert_eq!(run.threads(), ["resolved by reviewer", "open"]);
    let request = place.read("request-2");
    assert!(request.contains("Look 1."), "R1: it is given its last review");

    // The third answer repeats the stance a second time, which is not legal; neither are the retries.
    place.play(&push(2));
    run.ticks(3).await;
    assert_eq!(calls(&place), 5, "asked, and asked again twice");
    assert_eq!(run.threads(), ["resolved by reviewer", "escalated by reviewer_failed"]);
    assert!(place.read("request-3").contains("illegal_action"), "the retry is told what was wrong");
    let asked: serde_json::Value = serde_json::from_str(&place.read("request-3")).unwrap();
    let said = asked["threads"][0]["conversation"].as_array().unwrap();
    let said: Vec<(&str, bool)> = said
        .iter()
        .map(|entry| {
            (entry["role"].as_str().unwrap(), entry["body"].as_str().unwrap().contains("Still there."))
        })
        .collect();
    assert_eq!(said, [("reviewer", true)], "the reviewer sees its own replies as its own");
    let pull = place.pull(SEVEN);
    assert_eq!(pull.labels, ["cloture:needs-a-person"]);
    assert!(
        pull.threads[1].comments.last().unwrap().body.contains("never gave an answer that could be used")
    );
    assert_eq!(run.exit().as_deref(), Some("workflow_failure"));
    // GitHub makes a review without a text from every reply.
    let reviews = pull.reviews.iter().filter(|review| !review.body.is_empty());
    assert_eq!(reviews.count(), 2, "C3: nothing of a failed answer was posted");
    run.ticks(3).await;
    assert_eq!(calls(&place), 5);
    run.stop().await;
}

#[tokio::test]
async fn an_unchanged_head_gets_one_cycle_however_often_it_is_polled() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[]);
    for _ in 0..8 {
        let run = place.run(&config).await;
        run.ticks(2).await;
        assert_eq!(run.exit().as_deref(), Some("success"));
        run.stop().await;
    }
    assert_eq!(calls(&place), 1);
    assert_eq!(place.posts().len(), 1, "{:?}", place.posts());
    assert_eq!(place.facts().await, ["pushed", "asked", "answered", "ended"]);
}

#[tokio::test]
async fn a_head_that_is_pushed_again_is_not_reviewed_twice_but_its_successor_is() {
    let place = Place::new().await;
    let config = config(&place);
    for number in 1..=3 {
        answer(&place, number, &[], &[]);
    }
    let head = place.pull(SEVEN).head;
    let run = place.run(&config).await;
    run.tick().await;
    place.play(&push(1));
    run.ticks(2).await;
    place.play(&format!(
        "{{ force_push = {{ by = 'erin', sha = '{head}', files = {{ 'notes.txt' = 'back' }} }} }}"
    ));
    run.ticks(3).await;
    assert_eq!(calls(&place), 2, "C5");
    assert_eq!(run.exit().as_deref(), Some("success"));
    place.play(&push(2));
    run.ticks(2).await;
    assert_eq!((calls(&place), run.exit().as_deref()), (3, Some("success")));
    run.stop().await;
    assert_eq!(place.facts().await.iter().filter(|kind| *kind == "pushed").count(), 4);
}

/// A call counts whatever the clock says; otherwise the reviewer would be called again and again.
#[tokio::test]
async fn a_clock_that_is_set_back_causes_no_further_calls() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[]);
    answer(&place, 2, &[], &[]);
    // The head is known, but its diff cannot be read yet, so the reviewer is called later.
    place.simulator.inject(Fault::always("rest", FaultKind::DropBefore));
    let run = place.run(&config).await;
    assert_eq!(calls(&place), 0);
    place.simulator.clear_faults();
    run.ticker.jump(SignedDuration::from_hours(-3));
    run.ticks(2).await;
    assert_eq!((calls(&place), run.exit().as_deref()), (1, Some("success")));
    run.ticker.jump(SignedDuration::from_hours(-3));
    place.play(&push(1));
    run.ticks(2).await;
    assert_eq!((calls(&place), run.exit().as_deref()), (2, Some("success")));
    run.stop().await;
}

#[tokio::test]
async fn a_perfectionist_on_a_bots_pull_request_approves_and_its_new_finding_is_posted() {
    let place = Place::new().await;
    let config = config(&place);
    let file = "src/stock.rs";
    answer(&place, 1, &[], &[reported_in(file, 3, "Lost update", "critical")]);
    answer(
        &place,
        2,
        &[("@1", "resolve", "accepts", "Fixed.")],
        &[reported_in(file, 4, "Could be shorter", "medium")],
    );
    answer(&place, 3, &[("@1", "reply", "seeks_change", "Again.")], &[]);
    let run = place.run_as("one", &config, &[EIGHT], Settings::default()).await;
    run.tick().await;
    assert_eq!(
        place.pull(EIGHT).reviews[0].state,
        SimulatedReviewState::ChangesRequested,
        "a new critical blocks"
    );
    place.play_on(EIGHT, "{ push = { by = 'fixer', files = { 'src/stock.rs' = '''\npub fn take(stock: &mut u64, count: u64) {\n    let left = stock.saturating_sub(count);\n    *stock = left;\n    // Done.\n}\n''' } } }");
    run.ticks(2).await;
    let pull = place.pull(EIGHT);
    let verdicts = |pull: &cloture::simulator::PullSnapshot| -> Vec<SimulatedReviewState> {
        let said = pull.reviews.iter().filter(|review| !review.body.is_empty());
        said.map(|review| review.state).collect()
    };
    assert_eq!(verdicts(&pull)[1..], [SimulatedReviewState::Approved], "V2, V3");
    assert_eq!(pull.threads.len(), 2, "the new finding is posted");
    place.play_on(EIGHT, "{ push = { by = 'fixer', files = { 'notes.txt' = 'x' } } }");
    run.ticks(2).await;
    assert_eq!(
        verdicts(&place.pull(EIGHT))[2..],
        [SimulatedReviewState::Approved],
        "carried over, but below high"
    );
    run.stop().await;
}

#[tokio::test]
async fn c7_a_reviewer_that_only_lists_findings_resolves_those_that_it_leaves_out() {
    let place = Place::new().await;
    let config = config(&place).replace("kind = 'program'", "kind = 'program'\nprotocol = 'findings'");
    let list = |n: u32, findings: &[String]| {
        let text = format!(r#"{{"findings": [{}], "summary": "Look {n}."}}"#, findings.join(", "));
        std::fs::write(place.path(&format!("answer-{n}")), text).unwrap();
    };
    let (first, second) =
        (reported(3, "Subtraction underflows", "high"), reported(7, "Empty slice panics", "high"));
    list(1, &[first, second.clone()]);
    list(2, std::slice::from_ref(&second));
    list(3, &[second]);
    let run = place.run(&config).await;
    run.tick().await;
    for n in 0..2 {
        place.play(&push(n));
        run.ticks(2).await;
    }
    assert_eq!(run.threads(), ["resolved by reviewer", "escalated by round_limit"]);
    let pull = place.pull(SEVEN);
    assert_eq!((pull.threads.len(), pull.threads[0].resolved, pull.threads[1].resolved), (2, true, false));
    assert_eq!(pull.threads[1].comments.len(), 2, "kept alive without a comment, until it was escalated");
    assert_eq!((place.count("resolve"), place.count("label")), (1, 1));
    run.stop().await;
}

#[tokio::test]
async fn a_finding_outside_the_diff_does_not_cost_the_review() {
    let place = Place::new().await;
    let config = config(&place);
    answer(
        &place,
        1,
        &[],
        &[reported_in("README.md", 3000, "Nowhere", "high"), reported(3, "Underflow", "high")],
    );
    let run = place.run(&config).await;
    run.ticks(2).await;
    let pull = place.pull(SEVEN);
    assert_eq!(pull.reviews.len(), 1, "{:?} {:?}", place.posts(), run.view().trouble);
    assert!(pull.reviews[0].body.contains("Nowhere") || pull.threads.iter().any(|t| t.path == "README.md"));
    run.stop().await;
}

#[tokio::test]
async fn the_tokens_owner_can_still_reply_by_hand() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    let run = place.run(&config).await;
    run.ticks(2).await;
    assert_eq!(run.threads(), ["open"], "Cloture's own post under the same account is no reply");
    // The same account, but a reply by hand, without a marker.
    place.play("{ reply = { by = 'dana', thread = 'all', body = \"Won't fix.\" } }");
    run.tick().await;
    assert_eq!(run.threads(), ["resolved by wont_fix"], "R3");
    run.stop().await;
}
