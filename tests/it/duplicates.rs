//! Which reports overlap which findings (D2), by place, words and id, and how reviewers share a problem (D6).
//! `tests/it/duplicate_pairs.rs` measures the comparison of texts.

use cloture::domain::cycle::{AnswerFinding, Violation, check_reports_against_each_other};
use cloture::domain::duplicates::{DuplicateIndex, group_duplicates};
use cloture::domain::finding::{Finding, Thread};
use cloture::domain::place::{Anchor, LineRange};
use cloture::domain::policy::Policy;
use cloture::domain::vocabulary::{Category, Severity, ThreadId};

const LEAK: &str = "The file handle is leaked in finish";

fn lines(first: u32, last: u32) -> LineRange {
    LineRange::new(first, last).unwrap()
}

fn finding(title: &str, lines: impl Into<Option<LineRange>>) -> Finding {
    Finding {
        path: "a.rs".into(),
        lines: lines.into(),
        title: title.into(),
        body: "".into(),
        severity: Some(Severity::Medium),
        category: Category::Bug,
        suggestion: None,
        own_id: None,
    }
}

fn overlap_under(policy: &Policy, earlier: &Finding, report: &Finding) -> bool {
    let mut index = DuplicateIndex::new(policy);
    index.add_report((), earlier);
    !index.overlaps(report).is_empty()
}

fn overlap(earlier: &Finding, report: &Finding) -> bool {
    overlap_under(&Policy::default(), earlier, report)
}

#[test]
fn the_same_words_are_one_finding_within_the_slack_and_two_beyond_it() {
    let earlier = finding(LEAK, lines(10, 12));
    for (at, same) in [(6, false), (7, true), (10, true), (12, true), (15, true), (16, false), (500, false)] {
        assert_eq!(overlap(&earlier, &finding(LEAK, lines(at, at))), same, "line {at}");
    }
    assert!(overlap(&earlier, &finding(LEAK, None)), "a finding about the whole file is near every line");
    assert!(!overlap(&earlier, &Finding { path: "b.rs".into(), ..earlier.clone() }));
    let long = finding(LEAK, lines(10, 60));
    for (at, same) in [(58, true), (63, true), (64, false)] {
        assert_eq!(overlap(&long, &finding(LEAK, lines(at, at))), same, "line {at}");
    }
    // A long range makes the look-up start further back. Findings on the way are still too far away.
    let policy = Policy::default();
    let (other, short) = (finding("Stale cache", lines(5, 60)), finding(LEAK, lines(10, 10)));
    let mut index = DuplicateIndex::new(&policy);
    index.add_report("long", &other);
    index.add_report("short", &short);
    assert!(index.overlaps(&finding(LEAK, lines(50, 50))).is_empty());
}

#[test]
fn two_problems_of_one_line_are_two_findings() {
    let earlier = finding(LEAK, lines(10, 10));
    assert!(!overlap(&earlier, &finding("Division by zero for an empty list", lines(10, 10))));
    let body = "When `parse` returns early, the descriptor that `open` gave stays with the process until it \
                ends. After some thousand requests no more files can be opened.";
    let worded = |title: &str| Finding { body: body.into(), ..finding(title, lines(10, 10)) };
    assert!(
        overlap(&worded("Early return"), &worded("Descriptors run out")),
        "one problem under another title"
    );
}

#[test]
fn the_same_line_and_the_same_first_words_are_enough() {
    // No text reaches this threshold, so only D2's second condition is left.
    let strict = Policy { similarity_threshold: 2.0, ..Policy::default() };
    let earlier = finding(LEAK, lines(10, 12));
    let same = |report: &Finding| overlap_under(&strict, &earlier, report);
    assert!(same(&finding("The **file handle** is LEAKED in finish", lines(10, 10))));
    assert!(!same(&finding(LEAK, lines(11, 11))), "another line");
    assert!(!same(&finding("The cache is never emptied", lines(10, 10))), "other words");
}

#[test]
fn a_repetition_is_found_in_a_crowd_without_false_matches() {
    let report = |number: usize, id: &str| {
        let title = format!("Unchecked result of call_{number}");
        AnswerFinding { id: id.into(), finding: finding(&title, lines(100, 100)) }
    };
    let mut reports: Vec<AnswerFinding> =
        (0..70).map(|number| report(number, &format!("t{number}"))).collect();
    assert_eq!(check_reports_against_each_other(&reports, &Policy::default()), []);
    let again = AnswerFinding {
        id: "again".into(),
        finding: finding("UNCHECKED result of call_69", lines(100, 100)),
    };
    let named = Violation::duplicate(&again.finding, None);
    reports.push(again);
    let found = check_reports_against_each_other(&reports, &Policy::default());
    assert_eq!(found, [named], "the later one is the repetition");
    // Outside the crowd it is another finding, even with the same words.
    let policy = Policy::default();
    let far = finding("Unchecked result of call_99", lines(150, 150));
    let mut index = DuplicateIndex::new(&policy);
    for earlier in reports.iter().map(|report| &report.finding).chain([&far]) {
        index.add_report((), earlier);
    }
    assert!(index.overlaps(&finding("Unchecked result of call_99", lines(100, 100))).is_empty());
    assert_eq!(index.overlaps(&far).len(), 1);
}

#[test]
fn a_finding_whose_code_is_gone_is_recognised_by_its_words_anywhere_in_the_file() {
    let policy = Policy::default();
    let earlier = finding(LEAK, lines(10, 10));
    let found = |gone: bool, report: &Finding| {
        let anchor = Anchor { gone, ..Anchor::new("a.rs".into(), Some(lines(10, 10))) };
        let mut index = DuplicateIndex::new(&policy);
        index.add_thread((), &earlier, &anchor);
        !index.overlaps(report).is_empty()
    };
    assert!(found(true, &finding(LEAK, lines(300, 300))));
    assert!(!found(false, &finding(LEAK, lines(300, 300))), "its code is still there: this is another place");
    assert!(!found(true, &finding("The file handle is opened twice in finish", lines(300, 300))));

    // One finding of the file lost its code. That says nothing about the others.
    let lost = finding("Stale cache", lines(90, 90));
    let gone = Anchor { gone: true, ..Anchor::new("a.rs".into(), Some(lines(90, 90))) };
    let mut index = DuplicateIndex::new(&policy);
    index.add_thread("lost", &lost, &gone);
    index.add_report("here", &earlier);
    assert!(index.overlaps(&finding(LEAK, lines(300, 300))).is_empty());
    let mut thread = Thread::opened("t".into(), "r".into(), lost.clone(), false);
    thread.anchor = gone.clone();
    assert_eq!(group_duplicates([thread].iter(), &policy).len(), 1, "a thread is no duplicate of itself");
}

#[test]
fn d6_reviewers_share_a_problem_by_its_present_place_and_never_by_id() {
    let thread = |id: &str, reviewer: &str, finding: Finding| {
        Thread::opened(id.into(), reviewer.into(), finding, false)
    };
    let shape = |threads: &[Thread]| -> Vec<Vec<String>> {
        let items = group_duplicates(threads.iter(), &Policy::default());
        items.iter().map(|item| item.threads.iter().map(ThreadId::to_string).collect()).collect()
    };
    let numbered = |title: &str, at| Finding { own_id: Some("1".into()), ..finding(title, lines(at, at)) };
    let ids = [thread("a", "r", numbered(LEAK, 10)), thread("b", "s", numbered("Stale cache", 90))];
    assert_eq!(shape(&ids), [["a"], ["b"]], "both reviewers number their findings from one");

    // The second thread was reported at the old place. A push has moved and renamed its code since.
    let now = thread("a", "r", Finding { path: "new.rs".into(), ..finding(LEAK, lines(40, 40)) });
    let mut moved = thread("b", "s", finding(LEAK, lines(10, 10)));
    moved.anchor = Anchor::new("new.rs".into(), Some(lines(41, 41)));
    assert_eq!(shape(&[now.clone(), moved.clone()]), [["a", "b"]]);
    moved.anchor.lines = Some(lines(90, 90));
    assert_eq!(shape(&[now, moved]), [["a"], ["b"]]);
}
