//! The engine handles a hundred thousand threads in seconds. `benches/engine.rs` measures the time; these
//! tests check the result in the two shapes that a naive comparison would make quadratic.

use cloture::commands::simulate::simulate;
use serde_json::{Value, json};

/// Opens the threads, rewrites the whole file, lists all of them again, and merges.
fn replay(count: u32, line: impl Fn(u32) -> u32) -> Value {
    let findings = |prefix: &str| -> Vec<Value> {
        let finding = |n| {
            let title = format!("Unchecked result of call_{n}");
            json!({"id": format!("{prefix}{n}"), "path": "a.rs", "line": line(n), "title": title, "severity": "high"})
        };
        (0..count).map(finding).collect()
    };
    let push = |head: &str| json!({"push": {"head": head, "changed": [{"path": "a.rs", "from": 1, "to": 10_000_000}]}});
    let relist =
        |prefix| json!({"cycle": {"reviewer": "r", "protocol": "findings", "findings": findings(prefix)}});
    let header = json!({"trace": 1, "handoff": {"mode": "full_auto"},
                        "pull_request": {"number": 1, "author": "a", "author_is_bot": false}});
    let lines = [header, push("1"), relist("t"), push("2"), relist("n"), json!({"merge": {}})];
    let trace = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let mut output = Vec::new();
    simulate(trace.as_bytes(), &mut output).unwrap();
    let last = output.split(|&byte| byte == b'\n').rfind(|line| !line.is_empty()).unwrap();
    serde_json::from_slice(last).unwrap()
}

fn assert_all_listed_again(last: &Value, count: usize) {
    let threads = last["threads"].as_array().unwrap();
    assert_eq!(threads.len(), count);
    assert!(threads.iter().all(|thread| thread["round_count"] == 1 && thread["handed_off"] == true));
    assert_eq!(last["tasks"][0]["findings"].as_array().unwrap().len(), count);
}

#[test]
fn a_hundred_thousand_threads_in_one_rewritten_file() {
    assert_all_listed_again(&replay(100_000, |n| n * 10 + 1), 100_000);
}

#[test]
fn twenty_thousand_threads_at_one_line() {
    assert_all_listed_again(&replay(20_000, |_| 5), 20_000);
}
