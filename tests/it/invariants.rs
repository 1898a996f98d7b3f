//! Property tests: every sequence of events keeps the invariants, and any bytes give a violation or a
//! sentence, never a panic.

use cloture::commands::simulate::{SimulateError, simulate};
use cloture::domain::cycle::Protocol;
use cloture::domain::policy::Policy;
use cloture::reviewers::answer::read;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const TITLES: [&str; 4] = ["Leaked file handle", "Unchecked index", "Stale cache", "Missing lock in flush"];
const ACTIONS: [&str; 5] = ["resolve", "reply", "veto", "escalate", "raise"];
const STANCES: [&str; 2] = ["seeks_change", "accepts"];
const SEVERITIES: [&str; 5] = ["nit", "low", "medium", "high", "critical"];
const ACTS: [&str; 8] = ["veto", "escalate", "resolve", "uphold", "dismiss", "return", "queue", "unqueue"];

fn pick(from: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(from)
}

fn id() -> impl Strategy<Value = String> {
    (0..6_u32).prop_map(|number| format!("t{number}"))
}

fn finding() -> impl Strategy<Value = Value> {
    (0..40_u32, 0..4_usize, pick(&SEVERITIES), 1..4_u32, any::<bool>()).prop_map(
        |(number, title, severity, line, whole)| {
            let mut finding = json!({"id": format!("t{number}"), "path": "a.rs", "line": line * 5,
                "title": TITLES[title], "severity": severity});
            if whole {
                finding["category"] = json!("security");
                finding["end_line"] = json!(line * 5 + 2);
            }
            finding
        },
    )
}

fn cycle() -> impl Strategy<Value = Value> {
    let action = (id(), pick(&ACTIONS), pick(&STANCES));
    let action = action
        .prop_map(|(thread, action, stance)| json!({"thread": thread, "action": action, "stance": stance}));
    let lists = (prop::collection::vec(action, 0..3), prop::collection::vec(finding(), 0..3));
    (pick(&["r", "s"]), pick(&["actions", "findings"]), lists, pick(&["review", "verify"])).prop_map(
        |(reviewer, protocol, (actions, findings), trigger)| {
            let actions = if protocol == "findings" { Vec::new() } else { actions };
            json!({"cycle": {"reviewer": reviewer, "protocol": protocol, "actions": actions,
                "findings": findings, "trigger": trigger}})
        },
    )
}

fn event() -> impl Strategy<Value = Value> {
    let changed = (1..20_u32, 0..20_u32)
        .prop_map(|(from, more)| json!({"path": "a.rs", "from": from, "to": from + more}));
    let push = (0..12_u32, prop::collection::vec(changed, 0..3));
    let push =
        push.prop_map(|(head, changed)| json!({"push": {"head": format!("h{head}"), "changed": changed}}));
    let person = (id(), pick(&ACTS))
        .prop_map(|(thread, act)| json!({"person": {"act": act, "thread": thread, "by": "bob"}}));
    let intents = pick(&["wont_fix", "acknowledged", "disagree", "fixed", "question", "other"]);
    let reply = (id(), intents, pick(&["OWNER", "CONTRIBUTOR"]));
    let reply = reply.prop_map(|(thread, intent, association)| {
        json!({"reply": {"thread": thread, "by": "bob", "association": association, "intent": intent}})
    });
    prop_oneof![
        6 => push,
        8 => cycle(),
        3 => person,
        1 => reply,
        1 => pick(&["merge", "close", "reopen"]).prop_map(|event| json!({event: {}})),
    ]
}

prop_compose! {
    fn trace()(
        repeat_limit in 1..4_u32, flip_limit in 0..3_u32, reopen_limit in 0..3_u32, cycle_retries in 0..3_u32,
        max_review_iterations in 1..12_u32, author_is_bot in any::<bool>(),
        mode in pick(&["off", "threshold_auto", "full_auto"]),
        events in prop::collection::vec(event(), 1..60),
    ) -> (Value, Vec<Value>) {
        let header = json!({
            "trace": 1,
            "policy": {"repeat_limit": repeat_limit, "flip_limit": flip_limit, "reopen_limit": reopen_limit,
                       "cycle_retries": cycle_retries, "max_review_iterations": max_review_iterations},
            "handoff": {"mode": mode},
            "pull_request": {"number": 1, "author": "alice", "author_is_bot": author_is_bot},
        });
        (header, events)
    }
}

fn replay(header: &Value, events: &[Value]) -> Vec<Value> {
    let text = [header].into_iter().chain(events).map(Value::to_string).collect::<Vec<_>>().join("\n");
    let mut output = Vec::new();
    simulate(text.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn threads(line: &Value) -> BTreeMap<&str, &Value> {
    line["threads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|thread| (thread["id"].as_str().unwrap(), thread))
        .collect()
}

fn rank(severity: &Value) -> Option<usize> {
    SEVERITIES.iter().position(|name| severity == name)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// T1, T4, T5, C3, C6, H4
    #[test]
    fn any_sequence_of_events_keeps_the_invariants((header, events) in trace()) {
        let policy = &header["policy"];
        let number = |key: &str| policy[key].as_u64().unwrap();
        let bound = number("repeat_limit") * (number("flip_limit") + 1) + 1;
        let lines = replay(&header, &events);
        prop_assert_eq!(lines.len(), events.len());
        let mut sent: Vec<String> = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let now = threads(line);
            for thread in now.values() {
                let open = thread["status"] == "open";
                let cycles = thread["cycles"].as_u64().unwrap();
                prop_assert!(cycles < bound || (cycles == bound && !open), "T5: {}", thread);
                prop_assert_eq!(thread["cause"].is_null(), open, "{}", thread);
                for stance in STANCES {
                    let legal = thread["legal"][stance].as_array().unwrap().iter();
                    let legal: Vec<_> = legal.map(|action| action.as_str().unwrap()).collect();
                    let expected: &[&[&str]] = if open {
                        &[&["escalate", "resolve", "veto"], &["escalate", "reply", "resolve", "veto"]]
                    } else {
                        &[&[]]
                    };
                    prop_assert!(expected.contains(&legal.as_slice()), "T4: {}", thread);
                }
            }
            for completed in line["cycles"].as_object().unwrap().values() {
                prop_assert!(completed.as_u64().unwrap() <= number("max_review_iterations"), "C6: {}", line);
            }
            let tasks = line["tasks"].as_array().unwrap().iter();
            for finding in tasks.flat_map(|task| task["findings"].as_array().unwrap()) {
                let finding = finding.as_str().unwrap().to_owned();
                prop_assert!(!sent.contains(&finding), "H4: {finding} is handed off twice");
                sent.push(finding);
            }
            let Some(before) = index.checked_sub(1).map(|previous| &lines[previous]) else { continue };
            for (id, old) in threads(before) {
                let Some(new) = now.get(id) else {
                    return Err(TestCaseError::fail(format!("{id} vanished")));
                };
                let fell = rank(&new["severity"]) < rank(&old["severity"]);
                prop_assert!(!fell, "a severity fell: {} {}", old, new);
                prop_assert!(new["returns"].as_u64() >= old["returns"].as_u64());
                prop_assert!(new["handed_off"] == true || old["handed_off"] == false, "H4: {}", new);
                let left_for_good = !["open", "resolved"].contains(&old["status"].as_str().unwrap());
                if left_for_good && new["status"] == "open" {
                    let act = events[index]["person"]["act"].as_str();
                    prop_assert_eq!(act, Some("return"), "only a person returns a thread");
                }
            }
            if line["accepted"] == false && !line["skipped"].is_null() {
                prop_assert_eq!(&line["threads"], &before["threads"], "what was skipped changed something");
            }
            if line["accepted"] == false && line["cycles"] == before["cycles"] {
                prop_assert_eq!(&line["threads"], &before["threads"], "C3: what failed changed something");
            }
        }
    }

    /// The state follows from the events: a shorter replay is the beginning of a longer one.
    #[test]
    fn replaying_again_gives_the_same((header, events) in trace(), cut in 0..60_usize) {
        let whole = replay(&header, &events);
        let cut = cut.min(events.len());
        prop_assert_eq!(&replay(&header, &events[..cut])[..], &whole[..cut]);
    }

    #[test]
    fn any_bytes_as_an_answer_give_a_violation_and_never_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        for protocol in [Protocol::Actions, Protocol::Findings] {
            let answer = read(&bytes, protocol, &Policy::default(), |n, _| format!("new{n}").into());
            let is_an_answer = serde_json::from_slice::<Value>(&bytes).is_ok_and(|value| value.is_object());
            prop_assert!(answer.is_err() || is_an_answer);
        }
    }

    /// The same with text that is almost an answer, so that parsing gets further.
    #[test]
    fn nearly_an_answer_never_panics(
        text in r#"[\{\}\[\]:,"a-z_0-9\\ -]{0,60}"#,
        field in pick(&["actions", "findings", "summary", "other"]),
    ) {
        let almost = format!("{{\"{field}\": {text}}}");
        let new_id = |n: usize, _: &cloture::domain::finding::Finding| format!("new{n}").into();
        let _either = read(almost.as_bytes(), Protocol::Actions, &Policy::default(), new_id);
    }

    #[test]
    fn any_bytes_as_a_trace_stop_with_a_line_number(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut output = Vec::new();
        let result = simulate(&bytes[..], &mut output);
        let is_named = matches!(result, Err(SimulateError::Trace { line: 1.., .. }));
        prop_assert!(is_named);
    }
}

#[test]
fn an_oversized_answer_has_its_own_violation() {
    let policy = Policy { max_answer_bytes: 1024, max_findings_per_answer: 2, ..Policy::default() };
    let read =
        |answer: &str| read(answer.as_bytes(), Protocol::Actions, &policy, |n, _| format!("new{n}").into());
    let finding = r#"{"path": "a", "title": "x", "severity": "low"}"#;
    let kind = |answer: &str| read(answer).map_err(|violation| violation.kind()).map(|_| ());
    assert_eq!(kind(&format!(r#"{{"findings": [{finding}, {finding}]}}"#)), Ok(()));
    assert_eq!(
        kind(&format!(r#"{{"findings": [{finding}, {finding}, {finding}]}}"#)),
        Err("oversized_answer")
    );
    assert_eq!(kind(&format!(r#"{{"summary": "{}"}}"#, "x".repeat(2000))), Err("oversized_answer"));
}
