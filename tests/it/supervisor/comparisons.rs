//! Comparisons that GitHub refuses: 404 for a commit that is gone, 406 for a diff that is too large. A driven
//! reviewer goes on with the whole pull request.

use super::driven::{answer, config, reported};
use crate::support::harness::{Place, SEVEN, push};
use cloture::simulator::{Fault, FaultKind};

const COMPARE: &str = "GET /repos/{owner}/{repo}/compare/{basehead}";
const WHOLE: &str = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
const TOO_LARGE: &str = "Sorry, the diff exceeded the maximum number of lines (20000)";

fn refused(status: u16) -> FaultKind {
    let message = if status == 406 { TOO_LARGE } else { "Not Found" };
    FaultKind::Status { status, message: message.to_owned(), takes_effect: false }
}

fn scope(place: &Place, number: u32) -> (String, bool, bool) {
    let request: serde_json::Value = serde_json::from_str(&place.read(&format!("request-{number}"))).unwrap();
    let whole = request["diff"].as_str().unwrap().contains("pub fn discounted");
    (request["cycle"]["scope"].as_str().unwrap().to_owned(), request["cycle"]["baseline"].is_null(), whole)
}

#[tokio::test]
async fn r2_a_comparison_that_github_refuses_gives_the_reviewer_the_whole_pull_request() {
    for status in [404, 406] {
        let place = Place::new().await;
        let config = config(&place);
        answer(&place, 1, &[], &[reported(3, "Subtraction underflows", "critical")]);
        // The second finding is far from the push. It is in scope, because nobody knows what the push changed.
        answer(
            &place,
            2,
            &[("@1", "reply", "seeks_change", "Still there.")],
            &[reported(7, "Empty slice panics", "high")],
        );
        answer(
            &place,
            3,
            &[("@1", "resolve", "accepts", "Fixed."), ("@2", "resolve", "accepts", "Fixed.")],
            &[],
        );
        let run = place.run(&config).await;
        run.tick().await;
        place.simulator.inject(Fault::always(COMPARE, refused(status)));
        place.play(&push(1));
        run.ticks(3).await;
        assert_eq!(run.threads(), ["open", "open"], "{status}: {:?}", run.view().trouble);
        assert_eq!(scope(&place, 2), ("everything".to_owned(), true, true), "{status}");
        let pull = place.pull(SEVEN);
        let review = pull.reviews.iter().rfind(|review| !review.body.is_empty()).unwrap();
        assert!(review.body.contains("This is a review of the whole pull request"), "{}", review.body);
        assert_eq!(run.exit().as_deref(), Some("issues_found"));

        // The next push can be compared again, and the reviewer gets only that.
        place.simulator.clear_faults();
        place.play(&push(2));
        run.ticks(3).await;
        assert_eq!(scope(&place, 3), ("delta".to_owned(), false, false), "{status}");
        assert_eq!(run.exit().as_deref(), Some("success"), "{status}");
        run.stop().await;
        let records = place.records().await;
        let pushed = records.iter().filter(|record| record.kind == "pushed");
        let whys: Vec<&str> = pushed.map(|record| record.why.as_str()).collect();
        assert_eq!(whys.len(), 3);
        assert!(whys[1].starts_with("the head moved, and GitHub does not show what changed: "), "{whys:?}");
        let asked = records.iter().filter(|record| record.kind == "asked");
        assert!(asked.map(|record| &record.why).any(|why| why.contains("it gets the whole pull request: ")));
    }
}

/// A pull request whose diff GitHub never shows ends the loop at once with that reason. No call is paid for.
#[tokio::test]
async fn a_pull_request_whose_diff_github_refuses_ends_the_loop_with_that_reason() {
    let place = Place::new().await;
    let config = config(&place);
    answer(&place, 1, &[], &[]);
    for route in [COMPARE, WHOLE] {
        place.simulator.inject(Fault::always(route, refused(406)));
    }
    let run = place.run(&config).await;
    assert_eq!(run.exit().as_deref(), Some("workflow_failure"), "at the first poll");
    let exit = run.view().exit().unwrap().to_string();
    assert!(exit.starts_with("the review by orange failed: GitHub does not show the diff"), "{exit}");
    assert!(exit.contains(TOO_LARGE), "{exit}");
    run.ticks(3).await;
    assert_eq!(place.read("calls"), "");
    assert_eq!(place.facts().await, ["pushed", "unreviewable", "ended"]);
    run.stop().await;

    // A smaller pull request is reviewed.
    place.simulator.clear_faults();
    place.play(&push(1));
    let run = place.run(&config).await;
    run.ticks(2).await;
    assert_eq!(run.exit().as_deref(), Some("success"));
    run.stop().await;
}
