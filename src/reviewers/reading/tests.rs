//! Handwritten posts in the formats of the known bots.

use crate::domain::place::LineRange;
use crate::domain::post::{ParsedPost, PostClass, PostPlace, PostReader};
use crate::domain::review_loop::PostContent;
use crate::domain::vocabulary::{Category, Severity, Stance};
use crate::reviewers::profiles::Profiles;
use std::sync::LazyLock;

#[path = "tests/bots.rs"]
mod bots;
#[path = "tests/results.rs"]
mod results;
#[path = "tests/robustness.rs"]
mod robustness;

/// Shared by all tests, so each pattern is compiled once.
static PROFILES: LazyLock<Profiles> = LazyLock::new(|| Profiles::built_in().unwrap());

fn read(reviewer: &str, place: PostPlace, body: &str) -> ParsedPost {
    PROFILES.read(&reviewer.into(), place, body)
}

/// Severity, category and title of a thread's first comment.
#[track_caller]
fn finding(reviewer: &str, body: &str) -> (Option<Severity>, Option<Category>, Option<String>) {
    let reading = read(reviewer, PostPlace::ThreadRoot, body);
    assert_eq!(reading.class, PostClass::Finding, "{body}");
    assert_eq!(reading.content, PostContent::Complete);
    let [reported] = <[_; 1]>::try_from(reading.findings).unwrap();
    (reported.severity, reported.category, reported.title.map(|title| title.to_string()))
}

#[track_caller]
fn stance(reviewer: &str, body: &str) -> Option<Stance> {
    let reading = read(reviewer, PostPlace::ThreadReply, body);
    assert_eq!(reading.class, PostClass::Reply, "{body}");
    reading.stance
}

/// The reason in a post that says there will be no review.
#[track_caller]
fn failure(reviewer: &str, place: PostPlace, body: &str) -> String {
    let reading = read(reviewer, place, body);
    assert_eq!(reading.class, PostClass::Failure, "{body}");
    match reading.content {
        PostContent::Failure(reason) => reason,
        other => panic!("{other:?}: {body}"),
    }
}

/// The places and titles of the findings in a body.
fn places(reading: &ParsedPost) -> Vec<(String, Option<LineRange>, Option<String>)> {
    let place = |reported: &crate::domain::post::ReportedFinding| {
        let path = reported.path.as_ref().map(ToString::to_string).unwrap_or_default();
        (path, reported.lines, reported.title.as_ref().map(ToString::to_string))
    };
    reading.findings.iter().map(place).collect()
}
