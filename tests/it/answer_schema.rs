//! The answer schema permits exactly what the engine permits. The tests compare both for every combination of
//! choices on two threads, in every state that two rounds of argument can reach.

use cloture::domain::cycle::{
    AnswerFinding, CycleTrigger, FrozenCycle, Protocol, ReviewerAnswer, ThreadChoice,
};
use cloture::domain::driven::{CycleOutcome, DrivenPullRequest};
use cloture::domain::finding::Finding;
use cloture::domain::place::LineRange;
use cloture::domain::policy::Policy;
use cloture::domain::vocabulary::{Category, ReviewerAction, Severity, Stance};
use cloture::reviewers::answer::read;
use cloture::reviewers::answer_schema::{answer_schema, from_strict, strict_schema};
use serde_json::{Value, json};

const TITLES: [&str; 2] = ["Leaked file handle", "Unchecked index"];

fn report(number: usize) -> AnswerFinding {
    let line = 10 + 50 * u32::try_from(number).unwrap();
    let finding = Finding {
        path: "a.rs".into(),
        lines: LineRange::new(line, line),
        title: TITLES[number].into(),
        body: "".into(),
        severity: Some(Severity::High),
        category: Category::Bug,
        suggestion: None,
        own_id: None,
    };
    AnswerFinding { id: format!("t{number}").into(), finding }
}

fn pairs() -> Vec<(Stance, ReviewerAction)> {
    Stance::ALL.into_iter().flat_map(|stance| ReviewerAction::ALL.map(|action| (stance, action))).collect()
}

/// Pull requests with two threads, in every state that two more cycles of legal choices can reach.
fn reachable(policy: &Policy) -> Vec<DrivenPullRequest> {
    let mut start = DrivenPullRequest::new(false);
    start.push("h0".into(), &[]);
    let frozen = start.begin_cycle(&"r".into(), CycleTrigger::Review, policy).unwrap();
    let opening = ReviewerAnswer::Actions { choices: Vec::new(), reports: vec![report(0), report(1)] };
    start.answer(&frozen, Ok(opening), policy);
    let mut states = vec![start];
    for round in 1..=2 {
        let mut next = Vec::new();
        for state in &states {
            let mut asked = state.clone();
            asked.push(format!("h{round}").into(), &[]);
            let frozen = asked.begin_cycle(&"r".into(), CycleTrigger::Review, policy).unwrap();
            for answer in all_answers(&frozen) {
                let mut answered = asked.clone();
                let outcome = answered.answer(&frozen, Ok(answer), policy);
                if matches!(outcome, CycleOutcome::Completed { .. }) && !next.contains(&answered) {
                    next.push(answered);
                }
            }
        }
        states.extend(next);
    }
    states
}

/// All combinations of one choice for each frozen thread.
fn all_answers(frozen: &FrozenCycle) -> Vec<ReviewerAnswer> {
    let mut answers: Vec<Vec<ThreadChoice>> = vec![Vec::new()];
    for thread in frozen.threads.keys() {
        answers = answers
            .iter()
            .flat_map(|chosen| {
                pairs().into_iter().map(move |(stance, action)| {
                    let choice = ThreadChoice { thread: thread.clone(), action, stance, comment: None };
                    [chosen.as_slice(), &[choice]].concat()
                })
            })
            .collect();
    }
    answers.into_iter().map(|choices| ReviewerAnswer::Actions { choices, reports: Vec::new() }).collect()
}

/// Lists of actions for both threads and an unknown one: each thread left out, once or twice.
fn candidate_lists() -> Vec<Vec<Value>> {
    let entry = |thread: &str, (stance, action): (Stance, ReviewerAction)| json!({"thread": thread, "stance": stance.name(), "action": action.name()});
    let for_thread = |thread: &str| -> Vec<Vec<Value>> {
        let once = pairs().into_iter().map(|pair| vec![entry(thread, pair)]);
        let twice = vec![entry(thread, pairs()[2]), entry(thread, pairs()[7])];
        once.chain([Vec::new(), twice]).collect()
    };
    let unknown = [Vec::new(), vec![entry("nobody", (Stance::Accepts, ReviewerAction::Resolve))]];
    let mut lists = Vec::new();
    for first in for_thread("t0") {
        for second in for_thread("t1") {
            for third in &unknown {
                lists.push([first.clone(), second.clone(), third.clone()].concat());
            }
        }
    }
    lists
}

#[test]
fn the_schema_permits_exactly_what_the_engine_permits() {
    let mut compared = 0;
    let mut permitted = 0;
    for (repeat_limit, flip_limit) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
        let policy = Policy { repeat_limit, flip_limit, max_review_iterations: 100, ..Policy::default() };
        for state in reachable(&policy) {
            let mut asked = state.clone();
            asked.push("next".into(), &[]);
            let frozen = asked.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
            let schema = answer_schema(&frozen, Protocol::Actions);
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            for actions in candidate_lists() {
                let answer = json!({ "actions": actions });
                let engine = engine_permits(&asked, &frozen, &answer, &policy);
                assert_eq!(validator.is_valid(&answer), engine, "{answer} against {schema}");
                compared += 1;
                permitted += usize::from(engine);
            }
        }
    }
    assert!(compared > 5_000 && permitted > 500, "{permitted} of {compared} is too few to mean anything");
}

fn engine_permits(asked: &DrivenPullRequest, frozen: &FrozenCycle, answer: &Value, policy: &Policy) -> bool {
    let read =
        read(answer.to_string().as_bytes(), Protocol::Actions, policy, |n, _| format!("new{n}").into());
    let outcome = asked.clone().answer(frozen, read.map(|received| received.answer), policy);
    matches!(outcome, CycleOutcome::Completed { .. })
}

#[test]
fn schema_and_engine_accept_the_same_findings() {
    let policy = Policy::default();
    let mut pull_request = DrivenPullRequest::new(false);
    pull_request.push("h".into(), &[]);
    let frozen = pull_request.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
    let good = json!({"path": "a.rs", "line": 3, "end_line": 4, "title": "x", "body": "y", "severity": "low",
        "category": "bug", "suggestion": null});
    let mut candidates = vec![good.clone()];
    for field in ["path", "line", "end_line", "title", "body", "severity", "category", "suggestion"] {
        for value in
            [json!(null), json!("high"), json!("bug"), json!(0), json!(7), json!([]), json!(-1), json!(1.5)]
        {
            let mut changed = good.clone();
            changed[field] = value;
            candidates.push(changed);
        }
        let mut without = good.clone();
        without.as_object_mut().unwrap().remove(field);
        candidates.push(without);
    }
    let mut extra = good;
    extra["surprise"] = json!(1);
    candidates.push(extra);
    for protocol in [Protocol::Actions, Protocol::Findings] {
        let validator = jsonschema::draft202012::new(&answer_schema(&frozen, protocol)).unwrap();
        for finding in &candidates {
            // A schema cannot say that a range needs a start and must not run backwards.
            let backwards =
                finding["end_line"].as_u64() < finding["line"].as_u64() && finding["end_line"].is_u64();
            let startless = finding["line"].is_null() && finding["end_line"].is_u64();
            let answer = json!({ "findings": [finding] });
            let read =
                read(answer.to_string().as_bytes(), protocol, &policy, |n, _| format!("new{n}").into());
            let expected = read.is_ok() || ((backwards || startless) && validator.is_valid(&answer));
            assert_eq!(validator.is_valid(&answer), expected, "{answer}: {read:?}");
        }
    }
}

/// A list of actions in the strict schema's form: a key for each thread, in order.
fn keyed(frozen: &FrozenCycle, actions: &[Value]) -> Value {
    let mut keyed = serde_json::Map::new();
    for (index, action) in actions.iter().enumerate() {
        let number = frozen.threads.keys().position(|thread| action["thread"] == thread.as_str());
        let key = number.map_or_else(|| format!("other_{index}"), |number| format!("thread_{}", number + 1));
        let mut action = action.clone();
        action["body"] = Value::Null;
        // The strict form has no key for a second action on a thread.
        let key = if keyed.contains_key(&key) { format!("{key}_again") } else { key };
        keyed.insert(key, action);
    }
    Value::Object(keyed)
}

#[test]
fn the_strict_schema_permits_the_same_actions() {
    let mut compared = 0;
    for (repeat_limit, flip_limit) in [(1, 0), (1, 1)] {
        let policy = Policy { repeat_limit, flip_limit, max_review_iterations: 100, ..Policy::default() };
        for state in reachable(&policy) {
            let mut asked = state.clone();
            asked.push("next".into(), &[]);
            let frozen = asked.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
            if frozen.threads.is_empty() {
                continue;
            }
            let loose = jsonschema::draft202012::new(&answer_schema(&frozen, Protocol::Actions)).unwrap();
            let strict = strict_schema(&frozen, Protocol::Actions);
            let validator = jsonschema::draft202012::new(&strict).unwrap();
            for actions in candidate_lists() {
                let answer = json!({"actions": keyed(&frozen, &actions), "findings": [], "summary": null});
                let permitted = validator.is_valid(&answer);
                assert_eq!(
                    permitted,
                    loose.is_valid(&json!({ "actions": actions })),
                    "{answer} against {strict}"
                );
                if permitted {
                    let back = from_strict(answer);
                    assert!(
                        loose.is_valid(&back) && engine_permits(&asked, &frozen, &back, &policy),
                        "{back}"
                    );
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 2_000, "{compared} is too few to mean anything");
}

/// Vendors' modes refuse optional properties, open objects and unknown keywords.
fn assert_strict(schema: &Value) {
    const KNOWN: [&str; 7] =
        ["type", "properties", "required", "additionalProperties", "items", "anyOf", "enum"];
    let fields = schema.as_object().unwrap();
    assert!(fields.keys().all(|word| KNOWN.contains(&word.as_str())), "{schema}");
    assert!(fields.contains_key("type") || fields.contains_key("anyOf"), "{schema}");
    if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
        assert_eq!(fields["additionalProperties"], false);
        let required: Vec<&str> =
            fields["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(required, properties.keys().collect::<Vec<_>>());
        assert!(!properties.is_empty());
        properties.values().for_each(assert_strict);
    }
    fields.get("items").into_iter().for_each(assert_strict);
    fields.get("anyOf").and_then(Value::as_array).into_iter().flatten().for_each(assert_strict);
}

#[test]
fn the_strict_schema_uses_only_keywords_of_structured_output_modes() {
    let policy = Policy::default();
    for state in reachable(&policy) {
        let mut asked = state.clone();
        asked.push("next".into(), &[]);
        let frozen = asked.begin_cycle(&"r".into(), CycleTrigger::Review, &policy).unwrap();
        for protocol in [Protocol::Actions, Protocol::Findings] {
            let schema = strict_schema(&frozen, protocol);
            assert_eq!(schema["type"], "object");
            assert_strict(&schema);
            let finding = json!({"path": "a", "line": 1, "end_line": null, "title": "t", "body": null,
                "severity": "low", "category": null, "suggestion": null});
            let validator = jsonschema::draft202012::new(&schema["properties"]["findings"]).unwrap();
            assert!(validator.is_valid(&json!([finding])));
            let answer = json!({"findings": [finding]}).to_string();
            let read = read(answer.as_bytes(), Protocol::Findings, &policy, |n, _| format!("new{n}").into());
            assert!(read.is_ok(), "{read:?}");
        }
    }
}
