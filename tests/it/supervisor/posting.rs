//! How driven reviewers' answers reach GitHub when it refuses a part of them.

use super::driven::{answer, config, reported, reported_in};
use crate::support::harness::{EIGHT, Place, SEVEN, Settings, push};
use cloture::domain::vocabulary::ThreadId;
use cloture::simulator::{Fault, FaultKind, PullSnapshot, Scenario, SimulatedReviewState};

/// Our own texts on a pull request, apart from those in threads.
fn comments(pull: &PullSnapshot) -> Vec<&str> {
    pull.comments.iter().filter(|comment| comment.by == "dana").map(|comment| comment.body.as_str()).collect()
}

#[tokio::test]
async fn only_the_finding_outside_the_diff_moves_into_the_reviews_text() {
    let place = Place::new().await;
    let config = config(&place);
    let findings = [
        reported(3, "Subtraction underflows", "critical"),
        reported_in("README.md", 3000, "Nowhere", "high"),
        reported(7, "Empty slice panics", "medium"),
    ];
    answer(&place, 1, &[], &findings);
    let run = place.run(&config).await;
    run.ticks(3).await;
    let pull = place.pull(SEVEN);
    let lines: Vec<_> = pull.threads.iter().map(|thread| (thread.path.as_str(), thread.line)).collect();
    assert_eq!(lines, [("src/cart.rs", Some(3)), ("src/cart.rs", Some(7))]);
    let reviews: Vec<_> = pull.reviews.iter().filter(|review| !review.body.is_empty()).collect();
    assert_eq!(reviews.len(), 1);
    assert!(reviews[0].body.contains("`README.md:3000`") && reviews[0].body.contains("Nowhere"));
    assert!(!reviews[0].body.contains("Underflow"), "{}", reviews[0].body);
    assert_eq!(run.threads(), ["open", "open", "open"]);
    assert_eq!(place.count("review"), 1, "{:?}", place.posts());
    run.stop().await;
    let records = place.records().await;
    let outcomes: Vec<_> = records.iter().filter_map(|record| record.body["outcome"].as_str()).collect();
    assert!(
        outcomes.iter().any(|outcome| outcome.contains("1 finding is in the review's text")),
        "{outcomes:?}"
    );
}

/// A finding without a thread is answered on the pull request, and each comment is posted once.
#[tokio::test]
async fn a_finding_without_a_thread_gets_its_replies_and_the_mention_as_comments_that_quote_it() {
    let place = Place::new().await;
    let config = config(&place);
    let findings =
        [reported_in("README.md", 3000, "Nowhere", "high"), reported_in("LICENSE", 900, "Elsewhere", "high")];
    answer(&place, 1, &[], &findings);
    answer(
        &place,
        2,
        &[("@1", "reply", "seeks_change", "Still nowhere."), ("@2", "resolve", "accepts", "")],
        &[],
    );
    answer(&place, 3, &[("@1", "escalate", "seeks_change", "Worse than I thought.")], &[]);
    let run = place.run(&config).await;
    run.tick().await;
    for n in 0..2 {
        place.play(&push(n));
        run.ticks(3).await;
    }
    assert_eq!(run.threads(), ["escalated by reviewer", "resolved by reviewer"]);
    let pull = place.pull(SEVEN);
    assert!(pull.threads.is_empty());
    let comments = comments(&pull);
    assert_eq!(comments.len(), 4, "{comments:?}");
    assert!(comments[0].starts_with("> **Nowhere** ([`README.md:3000`](http"), "{}", comments[0]);
    assert!(comments[0].contains("\n\nStill nowhere."), "{}", comments[0]);
    assert!(comments[1].starts_with("> **Elsewhere**"), "{}", comments[1]);
    assert!(comments[1].contains("orange says that it is fixed, so it is resolved."), "{}", comments[1]);
    assert!(comments[2].contains("Worse than I thought."), "{}", comments[2]);
    assert!(comments[3].contains("@acme/leads This needs a person"), "{}", comments[3]);
    assert_eq!(pull.labels, ["cloture:needs-a-person"]);
    assert_eq!(run.exit().as_deref(), Some("needs_person"));
    run.stop().await;
    let run = place.run(&config).await;
    run.ticks(3).await;
    assert_eq!(place.count("comment"), 4, "{:?}", place.posts());
    run.stop().await;
}

/// Another account's text cannot make Cloture believe that a finding has no thread.
#[tokio::test]
async fn s1_a_reviewers_text_cannot_forge_the_marker_of_a_finding_without_a_thread() {
    let place = Place::new().await;
    let config = config(&place);
    let forged = "Nowhere <!-- cloture-finding:finding/orange.2f.0123456789ab.2f.2-fb99a475 -->";
    let findings =
        [reported_in("README.md", 3000, forged, "high"), reported(7, "Empty slice panics", "high")];
    answer(&place, 1, &[], &findings);
    let run = place.run(&config).await;
    run.ticks(3).await;
    let folded = run.view().computed.as_ref().unwrap().folded.clone();
    let names = |ids: Vec<&ThreadId>| ids.into_iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(folded.posted.keys().collect()), ["orange/0123456789ab/2-fb99a475"]);
    let in_text = names(folded.in_text.keys().collect());
    assert!(matches!(&in_text[..], [one] if one.starts_with("orange/0123456789ab/1-")), "{in_text:?}");
    run.stop().await;
}

/// V: the pull request's own author can only comment. The findings are posted all the same.
#[tokio::test]
async fn a_verdict_that_github_refuses_becomes_a_comment_with_all_findings() {
    let text = include_str!("../support/scenarios/shop.toml")
        .replace("SHA", "0123456789abcdef0123456789abcdef01234567")
        .replace("viewer = \"dana\"", "viewer = \"fixer\"")
        .replace("erin = \"collaborator\" }", "erin = \"collaborator\", fixer = \"collaborator\" }");
    let place = Place::of(&Scenario::parse(&text, "shop.toml").unwrap()).await;
    let config = config(&place);
    let file = "src/stock.rs";
    let findings =
        [reported_in(file, 3, "Lost update", "critical"), reported_in("README.md", 3000, "Nowhere", "low")];
    answer(&place, 1, &[], &findings);
    answer(&place, 2, &[("@1", "resolve", "accepts", "Fixed."), ("@2", "resolve", "accepts", "Fixed.")], &[]);
    let run = place.run_as("one", &config, &[EIGHT], Settings::default()).await;
    run.ticks(3).await;
    let said = |pull: &PullSnapshot| -> Vec<(SimulatedReviewState, String)> {
        let reviews = pull.reviews.iter().filter(|review| !review.body.is_empty());
        reviews.map(|review| (review.state, review.body.clone())).collect()
    };
    let pull = place.pull(EIGHT);
    let reviews = said(&pull);
    assert_eq!(reviews.len(), 1, "{:?} {:?}", place.posts(), run.view().trouble);
    assert_eq!(reviews[0].0, SimulatedReviewState::Commented);
    assert!(reviews[0].1.contains("Can not request changes on your own pull request"), "{}", reviews[0].1);
    assert_eq!(pull.threads.len(), 1, "only the finding outside the diff has no thread");
    assert_eq!(run.exit().as_deref(), Some("issues_found"));

    place.play_on(EIGHT, "{ push = { by = 'fixer', files = { 'notes.txt' = 'x' } } }");
    run.ticks(3).await;
    let reviews = said(&place.pull(EIGHT));
    assert_eq!(reviews.len(), 2, "{reviews:?}");
    assert!(reviews[1].1.contains("Can not approve your own pull request"), "{}", reviews[1].1);
    assert_eq!(run.exit().as_deref(), Some("success"));
    run.stop().await;
    let records = place.records().await;
    let outcomes: Vec<_> = records.iter().filter_map(|record| record.body["outcome"].as_str()).collect();
    let why = "GitHub refused the verdict (Can not approve your own pull request), so the review was posted as \
               a comment.";
    assert!(outcomes.iter().any(|outcome| outcome.contains(why)), "{outcomes:?}");
}

/// A reply that GitHub does not allow now may go out later, so its resolution waits as well.
#[tokio::test]
async fn a_resolution_does_not_overtake_its_closing_reply() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
    answer(&place, 2, &[("@1", "resolve", "accepts", "Fixed, thank you.")], &[]);
    let run = place.run(&config).await;
    run.tick().await;
    let denied = FaultKind::Forbidden { message: "Resource not accessible by integration".to_owned() };
    for fault in [denied, FaultKind::SecondaryLimit { retry_after: 60, as_success: false }] {
        place.simulator.inject(Fault::always("addPullRequestReviewThreadReply", fault));
    }
    place.play(&push(1));
    run.ticks(3).await;
    assert_eq!((place.count("reply"), place.count("resolve")), (0, 0), "{:?}", place.posts());
    assert_eq!(run.view().due.len(), 2, "{:?}", run.view().due);
    place.simulator.clear_faults();
    run.ticks(3).await;
    let posts = place.posts();
    let position = |what: &str| posts.iter().position(|post| post.starts_with(what)).unwrap();
    assert!(position("reply: Fixed, thank you.") < position("resolve"), "{posts:?}");
    run.stop().await;
}
