//! `cloture bound` prints the worst case of the configuration in force (T8).

use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

fn bound(config: &str, json: bool) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, config).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cloture"));
    command.arg("bound").arg("--config").arg(&file);
    if json {
        command.arg("--json");
    }
    command.output().unwrap()
}

fn figures(config: &str) -> Value {
    let output = bound(config, true);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_bound_follows_the_formula_for_any_policy() {
    assert_eq!(figures("")["cycles_per_thread"], 5);
    assert_eq!(figures("[policy]\nflip_limit = 0")["cycles_per_thread"], 3);
    for (repeat, flip) in [(1, 0), (1, 2), (3, 2), (7, 9), (100, 100)] {
        let config = format!("[policy]\nrepeat_limit = {repeat}\nflip_limit = {flip}");
        assert_eq!(figures(&config)["cycles_per_thread"], repeat * (flip + 1) + 1, "{config}");
    }
}

#[test]
fn calls_rounds_tasks_chain_and_money_are_printed() {
    let defaults = figures("");
    assert_eq!(defaults["reviewer_calls_per_pr"], 15);
    assert_eq!(defaults["author_rounds_per_pr"], 3);
    assert_eq!(defaults["asks_per_observed_reviewer"], 8);
    assert_eq!(figures("[policy]\nmax_asks = 3")["asks_per_observed_reviewer"], 3);
    assert_eq!(defaults["automatic_chain_depth"], 0);
    assert_eq!(defaults["money_per_pr"], Value::Null);
    let config = "
        [policy]
        cycle_retries = 1
        max_rounds = 2
        [handoff]
        mode = 'full_auto'
        [[reviewers]]
        name = 'one'
        price_per_call = 0.25
        [[reviewers]]
        name = 'two'
        price_per_call = 0.5
        [author]
        price_per_call = 3.0
    ";
    let figures = figures(config);
    assert_eq!(figures["reviewer_calls_per_pr"], 2 * 5 * 2);
    assert_eq!(figures["author_rounds_per_pr"], 2);
    assert_eq!(figures["automatic_chain_depth"], 1);
    assert_eq!(figures["handoff_tasks_per_pr"], 2 * 5 * 100);
    assert_eq!(figures["money_per_pr"], 10.0 * 0.25 + 10.0 * 0.5 + 2.0 * 3.0);
}

#[test]
fn people_read_the_same_figures() {
    let text = String::from_utf8(bound("", false).stdout).unwrap();
    let row = text.lines().find(|line| line.contains("cycles per thread")).unwrap();
    assert!(row.split_whitespace().any(|word| word == "5"), "{row}");
}

#[test]
fn a_bad_configuration_is_refused_before_anything_starts() {
    let output = bound("[policy]\nrepeat_limit = 0\n", true);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    assert!(message.contains("config.toml:2:16") && message.contains("policy.repeat_limit"), "{message}");
}
