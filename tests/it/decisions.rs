//! The smaller decisions: how anchors follow code, what an author is asked to do, what fits a prompt, who may
//! break the glass, why a finding is handed off, and which threads report one problem.

use cloture::domain::actionable::{SkipReason, reason_to_skip, triage};
use cloture::domain::cycle::{AnswerFinding, CycleTrigger, ReviewerAnswer, ThreadChoice, Violation};
use cloture::domain::driven::{CycleNote, CycleOutcome, DrivenPullRequest, NextCall, Refusal};
use cloture::domain::duplicates::{DuplicateIndex, group_duplicates};
use cloture::domain::finding::{Destination, Finding, Thread};
use cloture::domain::handoff::{
    Eligibility, HandoffMode, HandoffRoute as TaskRoute, HandoffRules, HandoffTarget, eligibility, tasks,
};
use cloture::domain::machine::{Decision, ResolvedBy, ThreadMachine, ThreadStatus, VetoedBy};
use cloture::domain::place::{Anchor, Delta, FileChange, Hunk, LineMap, LineRange, merge};
use cloture::domain::policy::Policy;
use cloture::domain::re_review::{
    BreakGlassComment, BreakGlassRules, BrokenGlass, PostedWords, PromptPiece, broken_glass, fit,
};
use cloture::domain::snapshot::{PullRequestState, RepositoryName, Visible};
use cloture::domain::vocabulary::{
    Association, Category, Intent, Login, ReviewerAction, Severity, Sha, Stance, ThreadId,
};
use cloture::replies::PhraseTables;

fn lines(first: u32, last: u32) -> LineRange {
    LineRange::new(first, last).unwrap()
}

fn finding(title: &str) -> Finding {
    Finding {
        path: "a.rs".into(),
        lines: Some(lines(10, 10)),
        title: title.into(),
        body: "".into(),
        severity: Some(Severity::Medium),
        category: Category::Bug,
        suggestion: None,
        own_id: None,
    }
}

fn change(hunks: &[(u32, u32, u32, u32)]) -> FileChange {
    let hunk = |&(old_start, old_lines, new_start, new_lines): &(u32, u32, u32, u32)| Hunk {
        old_start,
        old_lines,
        new_start,
        new_lines,
    };
    FileChange {
        path: "a.rs".into(),
        renamed_from: None,
        deleted: false,
        hunks: hunks.iter().map(hunk).collect(),
    }
}

#[test]
fn anchors_follow_their_code_through_pushes() {
    let cases = [
        // Insertions above, below, directly before and inside.
        (&[(5, 0, 6, 3)][..], (23, 25), false),
        (&[(30, 0, 31, 3)], (20, 22), false),
        (&[(19, 0, 20, 2)], (22, 24), false),
        (&[(21, 0, 22, 2)], (20, 24), true),
        // Deletions above, of a part and of the whole.
        (&[(1, 4, 0, 0)], (16, 18), false),
        (&[(18, 3, 17, 0)], (17, 19), true),
        (&[(20, 3, 19, 0)], (19, 19), true),
        // Rewritten in place, and partly at each end.
        (&[(15, 20, 15, 20)], (20, 22), true),
        (&[(22, 4, 22, 4)], (20, 22), true),
        (&[(18, 3, 18, 3)], (20, 22), true),
        // Rewritten up to the line above, inserted after the first line, rewritten into fewer lines.
        (&[(18, 2, 18, 2)], (20, 22), false),
        (&[(20, 0, 21, 2)], (20, 24), true),
        (&[(18, 5, 18, 2)], (19, 19), true),
        // Two changes above add up.
        (&[(1, 1, 1, 3), (10, 4, 12, 1)], (19, 21), false),
    ];
    for (hunks, (first, last), gone) in cases {
        let mut anchor = Anchor::new("a.rs".into(), Some(lines(20, 22)));
        anchor.follow(&LineMap::from_changes(&[change(hunks)]));
        assert_eq!((anchor.lines, anchor.gone), (Some(lines(first, last)), gone), "{hunks:?}");
    }
}

#[test]
fn anchors_follow_renames_and_end_with_their_file() {
    let mut anchor = Anchor::new("a.rs".into(), Some(lines(20, 20)));
    let renamed =
        FileChange { path: "b.rs".into(), renamed_from: Some("a.rs".into()), ..change(&[(1, 0, 1, 5)]) };
    anchor.follow(&LineMap::from_changes(&[renamed]));
    assert_eq!((anchor.path.as_str(), anchor.lines, anchor.gone), ("b.rs", Some(lines(25, 25)), false));
    let deleted = FileChange { path: "b.rs".into(), deleted: true, ..change(&[]) };
    anchor.follow(&LineMap::from_changes(&[deleted]));
    assert!(anchor.gone);
}

#[test]
fn a_delta_moves_with_later_pushes() {
    let mut delta = Delta::default();
    delta.extend(&LineMap::from_changes(&[change(&[(10, 2, 10, 2)])]));
    delta.extend(&LineMap::from_changes(&[change(&[(1, 0, 2, 100)])]));
    let covers = |line| delta.covers(&"a.rs".into(), Some(lines(line, line)), 3);
    assert!(
        covers(110) && covers(107) && covers(114) && covers(50),
        "what changed is covered where it is now"
    );
    assert!(!covers(130), "and nothing else is");
    let exactly = |line| delta.covers(&"a.rs".into(), Some(lines(line, line)), 0);
    assert!(exactly(110) && exactly(111) && !exactly(112), "two lines were rewritten, and no third");
    let ranges: Vec<_> = delta.ranges().map(|(path, ranges)| (path.as_str(), ranges.to_vec())).collect();
    assert_eq!(
        ranges,
        [("a.rs", vec![lines(2, 101), lines(110, 111)])],
        "the reviewer's request lists these"
    );
    assert!(!delta.covers(&"b.rs".into(), None, 3));
    assert!(
        delta.covers(&"a.rs".into(), None, 3),
        "a remark about the whole file is in scope where it changed"
    );
}

#[test]
fn ranges_that_meet_are_joined_and_a_rewrite_in_place_moves_nothing_below() {
    let mut ranges = vec![lines(11, 15), lines(4, 6), lines(1, 3), lines(10, 12), lines(20, 20)];
    merge(&mut ranges);
    assert_eq!(ranges, [lines(1, 6), lines(10, 15), lines(20, 20)]);
    let rewritten = FileChange { hunks: vec![Hunk::rewritten(lines(5, 7))], ..change(&[]) };
    for (at, gone) in [(4, false), (5, true), (7, true), (8, false)] {
        let mut anchor = Anchor::new("a.rs".into(), Some(lines(at, at)));
        anchor.follow(&LineMap::from_changes(std::slice::from_ref(&rewritten)));
        assert_eq!((anchor.lines, anchor.gone), (Some(lines(at, at)), gone));
    }
}

#[test]
fn names_in_json_equal_the_names_in_text() {
    fn check<T: Copy + serde::Serialize>(all: &[T], name: fn(T) -> &'static str) {
        for &one in all {
            assert_eq!(serde_json::to_value(one).unwrap(), name(one), "scripts read both");
        }
    }
    check(&Severity::ALL, Severity::name);
    check(&Category::ALL, Category::name);
    check(&ReviewerAction::ALL, ReviewerAction::name);
    check(&Stance::ALL, Stance::name);
    let intents = [
        Intent::WontFix,
        Intent::Acknowledged,
        Intent::Disagree,
        Intent::Fixed,
        Intent::Question,
        Intent::Other,
    ];
    check(&intents, Intent::name);
    let states = [PullRequestState::Open, PullRequestState::Closed, PullRequestState::Merged];
    check(&states, PullRequestState::name);
}

#[test]
fn l7_what_an_author_is_asked_to_do() {
    let with = |title: &str, body: &str, severity, category| Finding {
        body: body.into(),
        severity,
        category,
        ..finding(title)
    };
    let (medium, low) = (Some(Severity::Medium), Some(Severity::Low));
    let cases = [
        (with("Boom", "", Some(Severity::Critical), Category::Style), None),
        (with("Use snake case", "", medium, Category::Style), Some(SkipReason::Style)),
        (with("Rename this", "", Some(Severity::Nit), Category::Bug), Some(SkipReason::Style)),
        (with("Consider a map here", "", medium, Category::Bug), Some(SkipReason::BareConsideration)),
        (with("Consider a map here", "```rust\nlet a = 1;\n```", medium, Category::Bug), None),
        (with("Handle is leaked", "Close it in `finish`.", low, Category::Bug), None),
        (with("Consider this", "The handle leaks. Close it in `finish`.", low, Category::Bug), None),
        (with("The cache is stale", "", medium, Category::Bug), Some(SkipReason::NoClearFix)),
        (with("The cache is stale", "", None, Category::Bug), Some(SkipReason::NoClearFix)),
        (with("SQL injection through sortBy", "", Some(Severity::High), Category::Security), None),
        (with("The address is logged", "", medium, Category::Bug), Some(SkipReason::NoClearFix)),
    ];
    for (finding, expected) in cases {
        assert_eq!(reason_to_skip(&finding), expected, "{finding:?}");
    }
}

#[test]
fn l7_open_findings_are_triaged_and_each_skip_has_a_reason() {
    let mut ended = thread("ended", "r", 70, "Close the handle");
    ended.machine.decide(Decision::Veto).unwrap();
    let threads = [
        thread("fix", "r", 10, "Close the handle"),
        thread("maybe", "r", 30, "Consider a map here"),
        thread("vague", "r", 50, "The cache is stale"),
        ended,
    ];
    let sorted = triage(threads.iter());
    assert_eq!(sorted.actionable, ["fix".into()]);
    let skipped: Vec<String> = sorted.skipped.iter().map(|(id, why)| format!("{id}: {why}")).collect();
    let expected = [
        "maybe: asks to consider something, without a change",
        "vague: names neither a code change nor a clear fix",
    ];
    assert_eq!(skipped, expected);
    assert_eq!(SkipReason::Style.to_string(), "a matter of style");
}

#[test]
fn t6_an_upheld_finding_is_actionable_whatever_it_is_until_it_is_handed_off() {
    let mut upheld = thread("upheld", "r", 10, "Consider a map here");
    upheld.finding.severity = Some(Severity::Nit);
    upheld.machine.decide(Decision::Veto).unwrap();
    assert_eq!(triage([upheld.clone()].iter()).actionable, [], "it waits for a person");
    upheld.machine.decide(Decision::Uphold).unwrap();
    assert_eq!(triage([upheld.clone()].iter()).actionable, ["upheld".into()]);
    let sent = Thread { handed_off: true, ..upheld.clone() };
    assert_eq!(triage([sent].iter()).actionable, []);
    upheld.machine.decide(Decision::Resolve).unwrap();
    assert_eq!(triage([upheld].iter()).actionable, []);
}

#[test]
fn t6_undo_applies_the_iteration_cap_to_a_thread_that_nobody_would_look_at() {
    let policy = Policy { max_review_iterations: 1, ..Policy::default() };
    let mut pull_request = DrivenPullRequest::new(false);
    pull_request.adopt(thread("t", "r", 10, "Leaked handle"));
    let id: ThreadId = "t".into();
    let veto = pull_request.decide(&id, Decision::Veto).unwrap();
    let frozen = pull_request.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
    let answer = ReviewerAnswer::Actions { choices: Vec::new(), reports: Vec::new() };
    pull_request.answer(&frozen, Ok(answer), &policy);
    pull_request.undo(&id, &veto, &policy).unwrap();
    assert_eq!(pull_request.thread(&id).unwrap().status().cause(), Some("iteration_cap"));
    assert_eq!(pull_request.undo(&id, &veto, &policy), Err(Refusal::NothingToUndo));
}

#[test]
fn r6_the_oldest_parts_are_cut_and_the_text_says_so() {
    let old = "x".repeat(4000);
    let question = "y".repeat(400);
    let pieces = [
        PromptPiece { text: &question, may_be_cut: false },
        PromptPiece { text: &old, may_be_cut: true },
        PromptPiece { text: &old, may_be_cut: true },
    ];
    let roomy = fit(&pieces, 10_000);
    assert!(!roomy.uses_over_half_the_window() && roomy.cut.is_empty());
    let tight = fit(&pieces, 3_000);
    assert!(tight.uses_over_half_the_window() && tight.cut.is_empty());
    let over = fit(&pieces, 1_500);
    assert_eq!((over.cut.as_slice(), over.still_too_large), (&[1][..], false));
    assert_eq!(
        over.to_string(),
        "the prompt is about 2100 tokens for a window of 1500; the oldest part was cut"
    );
    assert!(fit(&pieces, 50).still_too_large);
    // Exactly at a limit is within it: half of the window, and all of it.
    assert!(
        !fit(&pieces, 4_200).uses_over_half_the_window() && fit(&pieces, 4_199).uses_over_half_the_window()
    );
    assert!(!fit(&pieces, 100).still_too_large && fit(&pieces, 99).still_too_large);
    let foreign = [PromptPiece { text: "näher", may_be_cut: false }];
    assert_eq!(fit(&foreign, 100).estimated_tokens, 2, "each character outside ASCII is one token");
}

#[test]
fn r7_only_a_label_or_a_person_who_may_override_breaks_the_glass() {
    let rules = BreakGlassRules::default();
    let bob: Login = "bob".into();
    let remark = |association, by_person, posted_by_cloture, body| {
        let words = PostedWords { by_person, posted_by_cloture, association, body };
        BreakGlassComment { by: &bob, words }
    };
    let phrase = |association, by_bot: bool, body| {
        broken_glass(&PhraseTables, &rules, [], [remark(association, !by_bot, false, body)])
    };
    assert_eq!(
        broken_glass(&PhraseTables, &rules, ["Cloture:Break-Glass"], []),
        Some(BrokenGlass::Label("cloture:break-glass".to_owned()))
    );
    assert_eq!(
        phrase(Association::Member, false, "Enough.\n\n /Cloture break-glass"),
        Some(BrokenGlass::Phrase { by: bob.clone() })
    );
    assert_eq!(phrase(Association::Member, false, "/cloture break-glass now"), None, "not the whole line");
    let ours = remark(Association::Owner, true, true, "/cloture break-glass");
    assert_eq!(broken_glass(&PhraseTables, &rules, [], [ours]), None, "Cloture's own post");
    assert_eq!(phrase(Association::Contributor, false, "/cloture break-glass"), None);
    assert_eq!(phrase(Association::Owner, true, "/cloture break-glass"), None, "a bot may not");
    assert_eq!(
        phrase(Association::Owner, false, "> /cloture break-glass\nwhat does this do?"),
        None,
        "a quote"
    );
    let off = BreakGlassRules { label: String::new(), phrase: String::new() };
    let anything = remark(Association::Owner, true, false, "anything");
    assert_eq!(broken_glass(&PhraseTables, &off, [""], [anything]), None);
}

fn thread(id: &str, reviewer: &str, line: u32, title: &str) -> Thread {
    let finding = Finding { lines: Some(lines(line, line)), ..finding(title) };
    Thread::opened(id.into(), reviewer.into(), finding, false)
}

#[test]
fn h8_every_finding_says_why_it_will_or_will_not_be_handed_off() {
    let rules = HandoffRules { mode: HandoffMode::ThresholdAuto, ..HandoffRules::default() };
    let plain = thread("t", "r", 10, "Leaked handle");
    let sentence = |thread: &Thread, bot, rules: &HandoffRules| eligibility(thread, bot, rules).to_string();
    assert_eq!(sentence(&plain, true, &rules), "bot PR, and nobody queued it");
    assert_eq!(sentence(&plain, false, &rules), "medium is under the threshold high, and nobody queued it");
    assert_eq!(
        sentence(&plain, false, &HandoffRules::default()),
        "automatic handoff is off, and nobody queued it"
    );
    let unknown = Thread { finding: Finding { severity: None, ..plain.finding.clone() }, ..plain.clone() };
    assert!(!eligibility(&unknown, false, &rules).is_eligible(), "a missing severity stays unknown");
    assert_eq!(sentence(&unknown, false, &rules), "the reviewer stated no severity, and nobody queued it");
    let high = Thread {
        finding: Finding { severity: Some(Severity::High), ..plain.finding.clone() },
        ..plain.clone()
    };
    assert_eq!(
        sentence(&high, false, &rules),
        "high is at or over the threshold: it will be handed off at merge"
    );
    let only_security = HandoffRules { auto_categories: vec![Category::Security], ..rules.clone() };
    assert_eq!(
        sentence(&high, false, &only_security),
        "category bug is not handed off automatically, and nobody queued it"
    );
    let everything = HandoffRules { mode: HandoffMode::FullAuto, ..rules.clone() };
    assert_eq!(sentence(&plain, false, &everything), "everything unsettled is handed off at merge");
    let verified = Thread { from_verification: true, ..plain.clone() };
    assert_eq!(sentence(&verified, false, &everything), "found by a verification run, and nobody queued it");
    let queued = Thread { queued: true, ..plain.clone() };
    assert_eq!(sentence(&queued, true, &rules), "queued by a person: it will be handed off at merge");
    let mut settled = queued.clone();
    settled.machine.decide(Decision::Resolve).unwrap();
    assert_eq!(sentence(&settled, false, &rules), "settled: nothing is left to fix");
    let sent = Thread { handed_off: true, ..queued };
    assert_eq!(sentence(&sent, false, &rules), "already handed off, which happens only once");
}

#[test]
fn h7_h9_findings_are_routed_and_grouped() {
    let critical = Thread {
        finding: Finding { severity: Some(Severity::Critical), ..finding("Leaked handle") },
        ..thread("t1", "r", 10, "Leaked handle")
    };
    let threads = [critical, thread("t2", "r", 50, "Unchecked index"), thread("t3", "r", 90, "Stale cache")];
    let route = TaskRoute {
        target: "expert".into(),
        min_severity: Some(Severity::High),
        categories: Vec::new(),
        paths: vec![glob::Pattern::new("*.rs").unwrap()],
    };
    let rules = |coalesce| HandoffRules {
        mode: HandoffMode::FullAuto,
        targets: vec![HandoffTarget { name: "default".into(), coalesce }],
        routes: vec![route.clone()],
        ..HandoffRules::default()
    };
    let shape = |rules: &HandoffRules| -> Vec<(String, usize)> {
        tasks(threads.iter(), false, rules).iter().map(|t| (t.target.to_string(), t.findings.len())).collect()
    };
    assert_eq!(shape(&rules(true)), [("default".to_owned(), 2), ("expert".to_owned(), 1)]);
    assert_eq!(
        shape(&rules(false)),
        [("default".to_owned(), 1), ("default".to_owned(), 1), ("expert".to_owned(), 1)]
    );
    for rules in [rules(true), rules(false)] {
        let tasks = tasks(threads.iter(), false, &rules);
        let mut keys: Vec<_> = tasks.iter().map(|task| task.idempotence_key("o/r", 7)).collect();
        keys.dedup();
        assert_eq!(keys.len(), tasks.len(), "each task has a key of its own");
        assert!(keys[0].starts_with("o/r#7/default/"), "{keys:?}");
    }
    let key = |coalesce| tasks(threads.iter(), false, &rules(coalesce))[0].idempotence_key("o/r", 7);
    assert_eq!(key(true), "o/r#7/default/a.rs", "a file's task is the same whichever finding comes first");
    assert_eq!(key(false), "o/r#7/default/t2");
}

#[test]
fn h9_a_persons_target_outweighs_the_routes_and_groups_the_finding() {
    let rules = HandoffRules { mode: HandoffMode::FullAuto, ..HandoffRules::default() };
    let routed = |id: &str, line: u32, title: &str, to: Destination| Thread {
        routed: to,
        ..thread(id, "r", line, title)
    };
    let to_expert = || Destination::Target("expert".into());
    let threads = [
        routed("t1", 10, "Leaked handle", to_expert()),
        thread("t2", "r", 50, "Unchecked index"),
        routed("t3", 90, "Stale cache", to_expert()),
        routed("t4", 120, "Lost update", Destination::Nowhere),
    ];
    let found = tasks(threads.iter(), false, &rules);
    let shape: Vec<(&str, Vec<&str>)> = found
        .iter()
        .map(|task| (task.target.as_str(), task.findings.iter().map(ThreadId::as_str).collect()))
        .collect();
    assert_eq!(shape, [("default", vec!["t2"]), ("expert", vec!["t1", "t3"])]);
    let withheld = eligibility(&threads[3], false, &rules);
    assert_eq!(withheld, Eligibility::Withheld);
    assert_eq!(
        withheld.to_string(),
        "taken off the list by a person: it is handed off only if somebody queues it"
    );
    let off = HandoffRules::default();
    assert_eq!(
        eligibility(&threads[3], true, &off),
        Eligibility::Withheld,
        "that is the reason, whatever the mode"
    );
    assert_eq!(off.known_targets(), ["default".into()]);
}

#[test]
fn h6_queueing_undoes_withholding_and_unqueueing_never_withholds() {
    let rules = HandoffRules { mode: HandoffMode::FullAuto, ..HandoffRules::default() };
    let mut pull_request = DrivenPullRequest::new(false);
    pull_request.adopt(thread("t", "r", 10, "Leaked handle"));
    let id: ThreadId = "t".into();
    let why =
        |pull_request: &DrivenPullRequest| eligibility(pull_request.thread(&id).unwrap(), false, &rules);
    pull_request.decide(&id, Decision::Queue).unwrap();
    pull_request.route(&id, Destination::Nowhere).unwrap();
    assert_eq!(why(&pull_request), Eligibility::Withheld, "it also leaves the queue");
    pull_request.decide(&id, Decision::Unqueue).unwrap();
    assert_eq!(why(&pull_request), Eligibility::Withheld);
    pull_request.decide(&id, Decision::Queue).unwrap();
    assert_eq!(why(&pull_request), Eligibility::Queued);
    pull_request.decide(&id, Decision::Unqueue).unwrap();
    assert_eq!(why(&pull_request), Eligibility::EverythingGoes, "automatic handoff applies again");

    pull_request.route(&id, Destination::Target("expert".into())).unwrap();
    assert!(pull_request.close() && pull_request.reopen(true));
    let sent = pull_request.merge(&rules);
    assert_eq!(
        sent[0].target.as_str(),
        "expert",
        "a close empties the queue, and not what people said about it"
    );
    let late = pull_request.route(&id, Destination::Nowhere);
    assert_eq!(late, Err(Refusal::AlreadyHandedOff));
    let nobody = pull_request.route(&"u".into(), Destination::Nowhere);
    assert_eq!(nobody, Err(Refusal::UnknownThread));

    let mut settled = DrivenPullRequest::new(false);
    settled.adopt(thread("t", "r", 10, "Leaked handle"));
    settled.decide(&id, Decision::Resolve).unwrap();
    assert_eq!(settled.route(&id, Destination::Nowhere), Err(Refusal::AlreadySettled));
}

#[test]
fn d2_an_equal_id_outweighs_place_and_text() {
    let policy = Policy::default();
    let earlier = Finding { own_id: Some("BUG-1".into()), ..finding("Leaked handle") };
    let mut index = DuplicateIndex::new(&policy);
    index.add_report(1, &earlier);
    let elsewhere =
        Finding { path: "z.rs".into(), lines: None, own_id: Some("BUG-1".into()), ..finding("Other words") };
    let found: Vec<i32> = index.overlaps(&elsewhere).into_iter().map(|overlap| overlap.key).collect();
    assert_eq!(found, [1]);
    assert!(index.overlaps(&Finding { own_id: Some("BUG-2".into()), ..elsewhere }).is_empty());
}

#[test]
fn d6_one_problem_of_several_reviewers_is_one_item() {
    let threads = [
        thread("a", "coderabbit", 10, "File handle is leaked in finish"),
        thread("b", "codex", 11, "Leaked file handle in finish"),
        thread("c", "codex", 60, "Unchecked index"),
        thread("d", "coderabbit", 12, "File handle is leaked in finish"),
    ];
    let items = group_duplicates(threads.iter(), &Policy::default());
    let shape: Vec<Vec<&str>> =
        items.iter().map(|item| item.threads.iter().map(ThreadId::as_str).collect()).collect();
    assert_eq!(shape, [vec!["a", "b"], vec!["c"], vec!["d"]], "one reviewer's own threads stay apart");
    assert_eq!(items[0].reviewers.len(), 2);
}

#[test]
fn r1_a_second_cycle_knows_the_head_of_the_first() {
    let policy = Policy::default();
    let mut pull_request = DrivenPullRequest::new(false);
    let mut ask = |head: &str| {
        pull_request.push(head.into(), &[]);
        let frozen = pull_request.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
        let clean = ReviewerAnswer::Actions { choices: Vec::new(), reports: Vec::new() };
        pull_request.answer(&frozen, Ok(clean), &policy);
        frozen
    };
    assert_eq!(ask("h1").baseline, None);
    let second = ask("h2");
    assert_eq!((second.baseline, second.head, second.number), (Some("h1".into()), Some("h2".into()), 2));
    assert_eq!(pull_request.cycles().collect::<Vec<_>>(), [(&"r".into(), 2)]);
}

#[test]
fn r3_a_settled_thread_that_a_person_reopens_on_github_starts_afresh() {
    let id: ThreadId = "t".into();
    let mut pull_request = DrivenPullRequest::new(false);
    pull_request.adopt(thread("t", "r", 10, "Leaked handle"));
    assert_eq!(pull_request.reopened_by_person(&id), Ok(false), "it is open already");
    pull_request.decide(&id, Decision::Resolve).unwrap();
    assert_eq!(pull_request.reopened_by_person(&id), Ok(true));
    let ThreadMachine { status, counters, returns, .. } = pull_request.thread(&id).unwrap().machine;
    assert_eq!((status, counters.stance, counters.cycles, returns), (ThreadStatus::Open, None, 0, 1));
    assert_eq!(pull_request.reopened_by_person(&"u".into()), Err(Refusal::UnknownThread));
}

#[test]
fn r3_an_override_can_be_withdrawn_and_nothing_else_changes() {
    let id: ThreadId = "t".into();
    let intents = [
        (Intent::WontFix, true),
        (Intent::Acknowledged, true),
        (Intent::Disagree, false),
        (Intent::Fixed, false),
        (Intent::Question, false),
        (Intent::Other, false),
    ];
    for (intent, ends_it) in intents {
        let mut pull_request = DrivenPullRequest::new(false);
        pull_request.adopt(thread("t", "r", 10, "Leaked handle"));
        assert_eq!((intent.settles(), pull_request.apply_override(&id, intent)), (ends_it, Ok(ends_it)));
        assert_eq!(pull_request.override_withdrawn(&id), Ok(ends_it));
        let ThreadMachine { status, returns, .. } = pull_request.thread(&id).unwrap().machine;
        assert_eq!((status, returns), (ThreadStatus::Open, u32::from(ends_it)));
        // A thread that a person resolved with the button stays resolved.
        pull_request.decide(&id, Decision::Resolve).unwrap();
        assert_eq!(pull_request.override_withdrawn(&id), Ok(false));
        assert_eq!(pull_request.thread(&id).unwrap().status(), ThreadStatus::Resolved(ResolvedBy::Person));
        assert_eq!(pull_request.apply_override(&"u".into(), intent), Err(Refusal::UnknownThread));
        assert_eq!(pull_request.override_withdrawn(&"u".into()), Err(Refusal::UnknownThread));
    }
}

#[test]
fn h1_closing_clears_the_queue_and_h4_a_finding_is_handed_off_once() {
    let id: ThreadId = "t".into();
    let mut pull_request = DrivenPullRequest::new(false);
    pull_request.adopt(thread("t", "r", 10, "Leaked handle"));
    pull_request.decide(&id, Decision::Queue).unwrap();
    assert!(pull_request.close());
    assert!(!pull_request.thread(&id).unwrap().queued);
    assert!(pull_request.reopen(true));

    pull_request.decide(&id, Decision::Queue).unwrap();
    pull_request.handed_off(&id);
    let everything = HandoffRules { mode: HandoffMode::FullAuto, ..HandoffRules::default() };
    assert_eq!(pull_request.merge(&everything), [], "an earlier task already contains it");
}

#[test]
fn c4_pushes_do_not_buy_new_calls_of_a_failing_reviewer() {
    let policy = Policy { max_review_iterations: 2, cycle_retries: 1, ..Policy::default() };
    let reviewer = "r".into();
    let mut pull_request = DrivenPullRequest::new(true);
    assert!(pull_request.author_is_bot() && !DrivenPullRequest::new(false).author_is_bot());
    assert_eq!(pull_request.head(), None);
    for (asked, head) in ["h1", "h2", "h3", "h4"].into_iter().enumerate() {
        pull_request.push(head.into(), &[]);
        assert_eq!(pull_request.head(), Some(&Sha::from(head)));
        assert_eq!(pull_request.calls(&reviewer), u32::try_from(asked).unwrap());
        let NextCall::Ask(frozen) = pull_request.next_call(&reviewer, CycleTrigger::Review, &policy) else {
            unreachable!("call {asked} is within the bound")
        };
        // A push abandons the failing cycle, so its retries start again.
        assert_eq!(frozen.attempt, 1);
        pull_request.answer(&frozen, Err(Violation::MalformedAnswer("no JSON".to_owned())), &policy);
    }
    pull_request.push("h5".into(), &[]);
    assert_eq!(pull_request.next_call(&reviewer, CycleTrigger::Review, &policy), NextCall::ClosedUnasked);
    assert_eq!(pull_request.calls(&reviewer), 4);
}

#[test]
fn c2_an_illegal_action_lists_the_legal_ones() {
    let policy = Policy { repeat_limit: 1, ..Policy::default() };
    let mut pull_request = DrivenPullRequest::new(false);
    pull_request.adopt(thread("t", "r", 10, "Leaked handle"));
    let frozen = pull_request.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
    let choice =
        |stance| ThreadChoice { thread: "t".into(), action: ReviewerAction::Reply, stance, comment: None };
    let answer = ReviewerAnswer::Actions { choices: vec![choice(Stance::SeeksChange)], reports: Vec::new() };
    let CycleOutcome::Failed { violations, .. } = pull_request.answer(&frozen, Ok(answer), &policy) else {
        unreachable!("a repeated stance may not reply once more")
    };
    let sentences: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(
        sentences,
        ["`reply` with stance `seeks_change` is not legal on thread t: legal there are `escalate`, \
             `resolve` and `veto`"]
    );
}

#[test]
fn c1_a_stale_answer_changes_nothing() {
    let policy = Policy::default();
    let overtaken_by = |happens: fn(&mut DrivenPullRequest)| {
        let mut pull_request = DrivenPullRequest::new(false);
        pull_request.push("h1".into(), &[]);
        let frozen = pull_request.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
        happens(&mut pull_request);
        let report = AnswerFinding { id: "t".into(), finding: finding("Leaked handle") };
        let answer = ReviewerAnswer::Findings { reports: vec![report] };
        let outcome = pull_request.answer(&frozen, Ok(answer), &policy);
        (outcome == CycleOutcome::Overtaken, pull_request.threads().count())
    };
    assert_eq!(overtaken_by(|_| {}), (false, 1));
    assert_eq!(overtaken_by(|pull_request| pull_request.push("h2".into(), &[])), (true, 0));
    assert_eq!(overtaken_by(|pull_request| assert!(pull_request.close())), (true, 0));
}

#[test]
fn d1_an_open_thread_precedes_a_persons_and_that_one_a_resolved_thread() {
    let policy = Policy::default();
    let thread_with = |id: &str, status| {
        let mut thread = thread(id, "r", 10, "Leaked handle");
        thread.machine.status = status;
        thread
    };
    let resolved = thread_with("resolved", ThreadStatus::Resolved(ResolvedBy::Reviewer));
    let vetoed = thread_with("vetoed", ThreadStatus::Vetoed(VetoedBy::Person));
    let open = thread_with("open", ThreadStatus::Open);
    let noted = |threads: &[&Thread]| {
        let mut pull_request = DrivenPullRequest::new(false);
        for &thread in threads {
            pull_request.adopt(thread.clone());
        }
        let frozen = pull_request.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
        let report = AnswerFinding { id: "new".into(), finding: finding("Leaked handle") };
        let answer = ReviewerAnswer::Findings { reports: vec![report] };
        let CycleOutcome::Completed { notes, .. } = pull_request.answer(&frozen, Ok(answer), &policy) else {
            unreachable!("there is nothing wrong with the answer")
        };
        notes
    };
    assert_eq!(noted(&[&resolved, &vetoed, &open]), [CycleNote::Relisted("open".into())]);
    let suppressed = CycleNote::Suppressed { report: "new".into(), thread: "vetoed".into() };
    assert_eq!(noted(&[&resolved, &vetoed]), [suppressed]);
    assert!(matches!(&noted(&[&resolved])[..], [CycleNote::Regressed(..)]));
}

#[test]
fn h9_a_configured_default_target_is_listed_once() {
    let target = |name: &str| HandoffTarget { name: name.into(), coalesce: true };
    let rules = |targets: &[&str]| HandoffRules {
        targets: targets.iter().map(|name| target(name)).collect(),
        ..HandoffRules::default()
    };
    assert_eq!(rules(&["expert"]).known_targets(), ["expert".into(), "default".into()]);
    assert_eq!(rules(&["default", "expert"]).known_targets(), ["default".into(), "expert".into()]);
}

#[test]
fn l13_a_repository_name_ignores_case_and_is_safe_in_a_url_path() {
    let parsed = RepositoryName::parse("Owner/some.repo").unwrap();
    assert_eq!(
        (parsed.owner(), parsed.name(), parsed.to_string().as_str()),
        ("Owner", "some.repo", "Owner/some.repo")
    );
    let other = RepositoryName::parse("owner/Some.Repo").unwrap();
    assert!(parsed == other && parsed.folded() == other.folded(), "L13: GitHub ignores the case");
    assert_eq!(serde_json::to_value(&parsed).unwrap(), "Owner/some.repo", "the spelling is kept");
    assert_ne!(parsed, RepositoryName::parse("owner/another").unwrap());
    assert_ne!(parsed, RepositoryName::parse("another/some.repo").unwrap());
    let longest = "n".repeat(100);
    assert!(
        RepositoryName::new("o", &longest).is_some()
            && RepositoryName::new("o", &format!("{longest}n")).is_none()
    );
    for bad in ["", "owner", "/name", "owner/", "owner/..", "./name", "owner/a b", "owner/a/b", "owner/ä"] {
        assert_eq!(RepositoryName::parse(bad), None, "{bad}");
    }
}

#[test]
fn hidden_data_is_not_taken_for_empty_data() {
    assert_eq!(Visible::Seen(Vec::<u32>::new()).seen(), Some(&Vec::new()));
    assert_eq!(Visible::<Vec<u32>>::Hidden("the token may not read it".to_owned()).seen(), None);
}
