//! Driven reviewers as real programs that break every rule. Cloture survives each within its limits, reports
//! its violation, and closes the cycle after the retries (C1–C4, S3).

#![cfg(unix)]

use crate::support::driven;
use crate::support::driven::{GOOD, Scripts, argued, program, run, run_with};
use crate::support::gone::assert_gone;
use cloture::domain::cycle::Violation;
use cloture::domain::driven::CycleOutcome;
use cloture::domain::machine::{EscalatedBy, ThreadStatus};
use cloture::domain::policy::Policy;
use cloture::domain::verdict::Verdict;
use cloture::domain::vocabulary::Severity;
use cloture::reviewers::adapters::{Adapter, Program};
use serde_json::Value;
use std::time::Duration;

/// One attempt and no retry.
fn once() -> Policy {
    Policy { cycle_retries: 0, ..Policy::default() }
}

async fn violations(adapter: Adapter, policy: &Policy) -> Vec<Violation> {
    let (turns, _) = run_with(adapter, policy).await;
    assert_eq!(turns.len(), 1);
    match &turns[0].outcome {
        CycleOutcome::Failed { violations, closed: true } => violations.clone(),
        other => panic!("{other:?}"),
    }
}

/// The violations of a script that prints this answer.
async fn violations_of_answer(answer: &str) -> Vec<(&'static str, String)> {
    let scripts = Scripts::new();
    std::fs::write(scripts.path("answer"), answer).unwrap();
    let script = scripts.add("reviewer", "cat > /dev/null; cat \"$here/answer\"");
    let found = violations(Adapter::Program(program(&script)), &once()).await;
    found.iter().map(|violation| (violation.kind(), violation.to_string())).collect()
}

/// The violation of a script with this body.
async fn violation_of_script(body: &str, timeout: Duration) -> (&'static str, String) {
    let scripts = Scripts::new();
    let script = scripts.add("reviewer", body);
    let adapter = Adapter::Program(Program { timeout, ..program(&script) });
    let [violation] = <[_; 1]>::try_from(violations(adapter, &once()).await).unwrap();
    (violation.kind(), violation.to_string())
}

const PATIENT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_valid_answer_counts_and_its_log_is_kept() {
    let scripts = Scripts::new();
    let script = scripts.add("reviewer", &format!("cat > /dev/null; echo thinking >&2; echo '{GOOD}'"));
    let (turns, engine) = run(&script, &Policy::default()).await;
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].attempt.log, "thinking\n");
    assert_eq!(turns[0].attempt.received.as_ref().unwrap().summary.as_deref(), Some("Better."));
    let CycleOutcome::Completed { verdict, .. } = turns[0].outcome else { panic!("{turns:?}") };
    assert_eq!(verdict, Verdict::RequestChanges);
    let status = |id: &str| engine.thread(&id.into()).unwrap().status().name();
    assert_eq!((status("T1"), status("T2")), ("resolved", "open"));
}

#[tokio::test]
async fn c2_every_rule_about_actions_has_its_violation() {
    let action = |thread: &str, action: &str, stance: &str| {
        format!(r#"{{"thread": "{thread}", "action": "{action}", "stance": "{stance}"}}"#)
    };
    let good = [action("T1", "resolve", "accepts"), action("T2", "resolve", "accepts")];
    let with =
        |extra: &[String]| format!(r#"{{"actions": [{}]}}"#, [good.as_slice(), extra].concat().join(", "));
    let cases = [
        ("missing_action", "T2", format!(r#"{{"actions": [{}]}}"#, good[0])),
        ("several_actions", "T1", with(&[action("T1", "veto", "seeks_change")])),
        ("unknown_thread", "T9", with(&[action("T9", "resolve", "accepts")])),
        ("foreign_thread", "G1", with(&[action("G1", "resolve", "accepts")])),
        ("closed_thread", "T3", with(&[action("T3", "resolve", "accepts")])),
    ];
    for (kind, thread, answer) in cases {
        let found = violations_of_answer(&answer).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, kind);
        assert!(found[0].1.contains(thread), "{found:?}");
    }
}

#[tokio::test]
async fn an_illegal_action_is_refused_with_the_legal_ones() {
    // With one repetition allowed, a second `reply` with the same stance is illegal.
    let policy = Policy { repeat_limit: 1, flip_limit: 0, ..once() };
    let scripts = Scripts::new();
    let script = scripts.add("reviewer", &format!("cat > /dev/null; echo '{GOOD}'"));
    let found = violations(Adapter::Program(program(&script)), &policy).await;
    assert_eq!(found.iter().map(Violation::kind).collect::<Vec<_>>(), ["illegal_action"]);
    assert_eq!(
        found[0].to_string(),
        "`reply` with stance `seeks_change` is not legal on thread T2: legal there are `escalate`, `resolve` and `veto`"
    );
}

#[tokio::test]
async fn a_duplicate_of_an_open_thread_and_of_the_same_answer_is_refused() {
    let finding = |title: &str, line: u32| {
        format!(
            r#"{{"path": "src/a.rs", "line": {line}, "title": "{title}", "body": "It breaks.", "severity": "high", "category": "bug"}}"#
        )
    };
    let with = |findings: &[String]| {
        GOOD.replace("\"findings\": []", &format!("\"findings\": [{}]", findings.join(",")))
    };
    let open = violations_of_answer(&with(&[finding("Unchecked index", 50)])).await;
    assert_eq!(open.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["duplicate_finding"]);
    assert!(open[0].1.contains("T2"), "{open:?}");
    let twice = violations_of_answer(&with(&[finding("Overflow", 11), finding("Overflow", 11)])).await;
    assert!(!twice.is_empty() && twice.iter().all(|(kind, _)| *kind == "duplicate_finding"), "{twice:?}");
}

#[tokio::test]
async fn every_kind_of_failure_has_its_own_message() {
    for (answer, words) in [
        ("I think it looks good!", "expected value at line 1"),
        ("[]", "an object"),
        (r#"{"verdict": "fine"}"#, "verdict"),
        (" \n", "the program printed nothing"),
        ("", "the program printed nothing"),
    ] {
        let found = violations_of_answer(answer).await;
        assert_eq!((found.len(), found[0].0), (1, "malformed_answer"), "{answer}");
        assert!(found[0].1.contains(words), "{found:?}");
    }
    let cases = [
        (format!("echo '{GOOD}'; exit 3"), "exited with status 3 instead of 0"),
        (format!("echo '{GOOD}'; kill -9 $$"), "signal 9 ended the program"),
    ];
    for (body, words) in cases {
        let (kind, message) = violation_of_script(&body, PATIENT).await;
        assert!(kind == "malformed_answer" && message.contains(words), "{message}");
    }
    let missing = program(std::path::Path::new("/nowhere/orange-review"));
    let found = violations(Adapter::Program(missing), &once()).await;
    assert_eq!(found[0].kind(), "malformed_answer");
    assert!(found[0].to_string().contains("`orange-review` could not be started"), "{found:?}");
}

#[tokio::test]
async fn s3_a_program_that_never_exits_is_ended_in_time() {
    let limit = Duration::from_millis(300);
    let (kind, message) = violation_of_script(&format!("echo '{GOOD}'; exec sleep 600"), limit).await;
    assert_eq!(kind, "malformed_answer");
    assert!(message.contains("no answer within 300ms"), "{message}");
}

#[tokio::test]
async fn s3_endless_and_huge_output_are_oversized() {
    for body in ["while :; do echo yes; done", "head -c 10000000 /dev/zero"] {
        let (kind, message) = violation_of_script(body, PATIENT).await;
        assert_eq!(kind, "oversized_answer", "{message}");
        assert!(message.contains("1048576 bytes"), "{message}");
    }
    let finding = r#"{"path": "a", "title": "t", "severity": "low"}"#;
    let many = GOOD.replace("\"findings\": []", &format!("\"findings\": [{}]", vec![finding; 101].join(",")));
    assert_eq!(violations_of_answer(&many).await[0].0, "oversized_answer");
}

#[tokio::test]
async fn s3_a_child_that_outlives_the_program_does_not_spoil_the_answer() {
    let scripts = Scripts::new();
    let script = scripts.add("reviewer", &format!("sleep 600 & echo $! > \"$here/pid\"; echo '{GOOD}'"));
    let (turns, _) = run(&script, &Policy::default()).await;
    assert!(matches!(turns[0].outcome, CycleOutcome::Completed { .. }), "{turns:?}");
    assert_gone(&scripts.read("pid")).await;
}

#[tokio::test]
async fn c4_a_reviewer_gets_its_violations_and_may_correct_its_answer() {
    let scripts = Scripts::new();
    let body = format!(
        "n=$(cat \"$here/calls\" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > \"$here/calls\"\n\
         cat > \"$here/request.$n\"\n[ $n -lt 2 ] && echo 'no' || echo '{GOOD}'"
    );
    let script = scripts.add("reviewer", &body);
    let (turns, _) = run(&script, &Policy::default()).await;
    assert_eq!(turns.len(), 2);
    assert!(matches!(turns[1].outcome, CycleOutcome::Completed { .. }));
    let request = |n: usize| serde_json::from_str::<Value>(&scripts.read(&format!("request.{n}"))).unwrap();
    assert_eq!(request(1)["violations"], serde_json::json!([]));
    assert_eq!(request(1)["cycle"]["attempt"], 1);
    assert_eq!(request(2)["cycle"]["attempt"], 2);
    assert_eq!(request(2)["violations"][0]["kind"], "malformed_answer");
    assert!(request(2)["violations"][0]["message"].as_str().unwrap().contains("cannot be read"));
}

#[tokio::test]
async fn c4_after_the_retries_the_threads_of_a_reviewer_are_escalated() {
    let scripts = Scripts::new();
    let script = scripts.add("reviewer", "echo x >> \"$here/calls\"; echo nonsense");
    let policy = Policy::default();
    let (turns, engine) = run(&script, &policy).await;
    assert_eq!(turns.len(), 3);
    assert_eq!(scripts.read("calls").lines().count(), 3);
    let closed = |turn: &cloture::reviewers::ask::JudgedAttempt| {
        matches!(turn.outcome, CycleOutcome::Failed { closed: true, .. })
    };
    assert_eq!(turns.iter().map(closed).collect::<Vec<_>>(), [false, false, true]);
    let before = argued(&policy);
    for id in ["T1", "T2"] {
        let thread = engine.thread(&id.into()).unwrap();
        assert_eq!(thread.status(), ThreadStatus::Escalated(EscalatedBy::ReviewerFailed));
        assert_eq!(thread.machine.counters, before.thread(&id.into()).unwrap().machine.counters);
    }
    assert_eq!(engine.thread(&"G1".into()).unwrap().status(), ThreadStatus::Open);
}

#[tokio::test]
async fn s2_a_reviewer_gets_only_ordinary_and_named_variables() {
    // Cargo sets these variables for every test.
    let scripts = Scripts::new();
    let script = scripts.add("reviewer", &format!("env > \"$here/env\"; echo '{GOOD}'"));
    run(&script, &Policy::default()).await;
    let plain = scripts.read("env");
    assert!(plain.contains("PATH=") && !plain.contains("CARGO"), "{plain}");
    let named = Program { env: vec!["CARGO_PKG_NAME".to_owned()], ..program(&script) };
    run_with(Adapter::Program(named), &Policy::default()).await;
    let named = scripts.read("env");
    assert!(named.contains("CARGO_PKG_NAME=cloture") && !named.contains("CARGO_MANIFEST_DIR"), "{named}");
}

#[tokio::test]
async fn c7_a_reviewer_may_only_list_findings() {
    let scripts = Scripts::new();
    let again = r#"{"path": "src/a.rs", "line": 50, "title": "Unchecked index", "body": "It breaks.", "severity": "critical"}"#;
    let script =
        scripts.add("reviewer", &format!("cat > \"$here/request\"; echo '{{\"findings\": [{again}]}}'"));
    let policy = Policy::default();
    let (turns, engine) = driven::run_listing(Adapter::Program(program(&script)), &policy).await;
    assert!(matches!(turns[0].outcome, CycleOutcome::Completed { .. }), "{turns:?}");
    let thread = |id: &str| engine.thread(&id.into()).unwrap();
    assert_eq!(thread("T1").status().name(), "resolved");
    assert_eq!(
        (thread("T2").status().name(), thread("T2").finding.severity),
        ("open", Some(Severity::Critical))
    );
    let request: Value = serde_json::from_str(&scripts.read("request")).unwrap();
    assert_eq!(request["answer_schema"]["properties"].get("actions"), None);
}
