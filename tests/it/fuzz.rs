//! Every parser of foreign input gets mutated input: nothing panics, and accepted input keeps the rules that
//! other code relies on.
//!
//! The inputs are mutations of seeds, the same in every run. For a longer run:
//! `CLOTURE_FUZZ_ROUNDS=100000 cargo test --test it fuzz::`.
#![allow(clippy::print_stdout, reason = "prints how many inputs were tried")]

mod answers;
mod mutation;

use cloture::agents::http::HttpAddress;
use cloture::commands::classify::classify;
use cloture::commands::simulate::simulate;
use cloture::config::Config;
use cloture::domain::cycle::Protocol;
use cloture::domain::diff;
use cloture::domain::policy::Policy;
use cloture::domain::post::{PostPlace, PostReader};
use cloture::domain::snapshot::{PullRequestSnapshot, RepositoryName};
use cloture::github::PullRequestAddress;
use cloture::journal::Record;
use cloture::output::sanitize;
use cloture::replies;
use cloture::reviewers::answer;
use cloture::reviewers::profiles::Profiles;
use cloture::simulator::Scenario;
use cloture::supervisor::fact::Fact;
use mutation::fuzz;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::LazyLock;

static PROFILES: LazyLock<Profiles> = LazyLock::new(|| Profiles::with_overrides(&[]).unwrap());

const CONFIG: &str = include_str!("../../config.example.toml");

/// Posts of bots and people: our own examples, and real ones if `../shared` is there.
fn posts() -> Vec<String> {
    let mut posts = vec![
        "_⚠️ Potential issue_ | _🟠 Major_\n\n**Clamp the percentage first.**\n\n```suggestion\nlet percent = percent.min(100);\n```\n\n<details>\n<summary>🤖 Prompt for AI Agents</summary>\n\nIn src/cart.rs around line 3, clamp it.\n\n</details>\n\n<!-- cr-comment:v1:0123abcd -->".to_owned(),
        "**Actionable comments posted: 3**\n\n<details><summary>Nitpicks (1)</summary><blockquote>\n\n<details>\n<summary>src/a.rs (1)</summary><blockquote>\n\n`12-14`: **Name it.**\n\nIt has no name.\n\n</blockquote></details></blockquote></details>".to_owned(),
        "### Cache is never filled\n\n**High Severity**\n\n<!-- DESCRIPTION START -->\nIt is not.\n<!-- DESCRIPTION END -->\n<!-- BUGBOT_BUG_ID: 1-2 -->\n<!-- LOCATIONS START\nsrc/a.rs#L1-L3\nLOCATIONS END -->".to_owned(),
        "I disagree: nothing here is called from outside. Won't fix, see #12.".to_owned(),
        "P1: `items[0]` panics on an empty slice\n\n| a | b |\n|---|---|\n| 1 | 2 |".to_owned(),
        "ご指摘の通りです。別prで対応します。".to_owned(),
    ];
    if cfg!(has_shared) {
        let text = std::fs::read_to_string("../shared/bots/dev.jsonl").unwrap();
        posts.extend(text.lines().filter_map(|line| {
            let post: Value = serde_json::from_str(line).ok()?;
            post["body"].as_str().map(str::to_owned)
        }));
    }
    posts
}

fn bytes(texts: &[String]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.clone().into_bytes()).collect()
}

#[test]
fn no_post_makes_the_readers_panic() {
    let names: Vec<_> = PROFILES.iter().map(|profile| profile.name.clone()).collect();
    fuzz("posts", &bytes(&posts()), |input, random| {
        let body = String::from_utf8_lossy(input);
        for place in [PostPlace::ThreadRoot, PostPlace::ThreadReply, PostPlace::Review, PostPlace::Comment] {
            let reading = PROFILES.read(random.any(&names), place, &body);
            let unknown = PROFILES.read_unknown(place, &body);
            // Other code prints the result, so its Debug output must work too.
            let _readable = format!("{reading:?}{unknown:?}");
        }
        let _intent = replies::classify(&body);
        let _agent = replies::is_agent_post(&body);
        for text in [sanitize::line(&body).into_owned(), sanitize::block(&body)] {
            assert!(!text.chars().any(|c| !matches!(c, '\n' | '\t') && sanitize::is_hostile(c)));
        }
        assert!(!sanitize::line(&body).contains('\n'));
    });
}

#[test]
fn classify_prints_json_for_any_input() {
    let lines = posts().into_iter().map(|body| {
        let post = json!({"author": "coderabbitai[bot]", "is_bot": true, "association": "NONE", "where": "thread_root", "body": body});
        format!("{post}\n")
    });
    fuzz("lines for classify", &bytes(&lines.collect::<Vec<_>>()), |input, _| {
        let mut printed = Vec::new();
        let outcome = classify(input, &mut printed, &PROFILES);
        for line in printed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            assert!(serde_json::from_slice::<Value>(line).is_ok(), "scripts parse every line");
        }
        assert!(outcome.is_ok() || !outcome.unwrap_err().to_string().is_empty());
    });
}

#[test]
fn a_configuration_is_valid_or_refused_with_a_message() {
    let uncommented: String =
        CONFIG.lines().flat_map(|line| [line.strip_prefix('#').unwrap_or(line), "\n"]).collect();
    let small = "[policy]\nrepeat_limit = 3\n[[reviewers]]\nname = 'a'\nkind = 'program'\ncommand = ['a']\n\
                 [[profiles]]\nname = 'b'\nlogins = ['b']\nfinding = [{pattern = '^x(y)'}]\n[keys]\nquit = 'ctrl-q'\n\
                 [handoff]\nmode = 'full_auto'\n[[handoff.targets]]\nname = 'default'\nkind = 'command'\ncommand = ['x']\n";
    let seeds = [CONFIG.to_owned(), uncommented, small.to_owned()];
    fuzz("configurations", &bytes(&seeds), |input, _| {
        match Config::parse(Path::new("config.toml"), input) {
            Ok(config) => {
                // Every accepted configuration bounds the cycles.
                assert!(config.policy.cycles_per_thread() > 0);
                let _profiles = Profiles::with_overrides(&config.profiles);
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

#[test]
fn simulate_prints_json_for_any_trace() {
    let trace = r#"{"trace": 1, "policy": {"repeat_limit": 1}, "handoff": {"mode": "full_auto"}, "pull_request": {"number": 1, "author": "alice", "author_is_bot": false}}
{"push": {"head": "a1", "changed": [{"path": "src/a.rs", "from": 1, "to": 40}]}}
{"cycle": {"reviewer": "orange", "findings": [{"id": "t1", "path": "src/a.rs", "line": 10, "title": "Unchecked index", "severity": "high"}]}}
{"reply": {"thread": "t1", "by": "alice", "is_bot": false, "association": "MEMBER", "body": "I disagree."}}
{"push": {"head": "b2", "changed": [{"path": "src/a.rs", "from": 10, "to": 12}]}}
{"cycle": {"reviewer": "orange", "actions": [{"thread": "t1", "action": "veto", "stance": "seeks_change", "body": "Still unchecked."}]}}
{"person": {"thread": "t1", "decision": "return", "by": "dana"}}
{"merge": {}}
"#;
    fuzz("traces", &bytes(&[trace.to_owned()]), |input, _| {
        let mut printed = Vec::new();
        let _outcome = simulate(input, &mut printed);
        for line in printed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            assert!(serde_json::from_slice::<Value>(line).is_ok());
        }
    });
}

#[test]
fn a_reviewers_answer_stays_within_the_policy() {
    let seeds = [
        r#"{"actions": [{"thread": "t1", "action": "reply", "stance": "seeks_change", "body": "Still."}], "findings": [], "summary": null}"#.to_owned(),
        r#"{"actions": [], "findings": [{"path": "src/a.rs", "line": 3, "end_line": 4, "title": "T", "body": "B", "severity": "high", "category": "bug", "suggestion": "x"}], "summary": "S"}"#.to_owned(),
    ];
    let policy = Policy::default();
    fuzz("answers of reviewers", &bytes(&seeds), |input, _| {
        for protocol in [Protocol::Actions, Protocol::Findings] {
            let read = answer::read(input, protocol, &policy, |index, _| format!("n{index}").into());
            if let Ok(received) = read {
                let reports = received.answer.reports();
                assert!(reports.len() as u64 <= u64::from(policy.max_findings_per_answer));
                assert!(reports.iter().all(|report| !report.finding.title.trim().is_empty()));
            }
        }
    });
}

#[test]
fn no_diff_makes_the_parser_panic() {
    let diff = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,4 @@ fn a()\n a\n-b\n+c\n+d\n e\n\
                diff --git \"a/\\303\\251\" \"b/\\303\\251\"\nsimilarity index 90%\nrename from \"\\303\\251\"\nrename to x\n\
                Binary files a/y and b/y differ\n";
    fuzz("diffs", &bytes(&[diff.to_owned()]), |input, _| {
        let _changes = diff::read(&String::from_utf8_lossy(input));
    });
}

#[test]
fn no_scenario_makes_the_parser_panic() {
    let mut seeds = vec![include_str!("../../assets/demo.toml").to_owned()];
    for entry in std::fs::read_dir("assets/scenarios").unwrap() {
        seeds.push(std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    fuzz("scenarios", &bytes(&seeds), |input, _| {
        let _outcome = Scenario::parse(&String::from_utf8_lossy(input), "fuzz");
    });
}

#[test]
fn an_accepted_address_prints_and_parses_back() {
    let seeds = [
        "acme/shop#7",
        "https://github.com/acme/shop/pull/7",
        "acme/shop",
        "https://example.com:8443/api/v3?x=1",
    ];
    fuzz("addresses", &bytes(&seeds.map(str::to_owned)), |input, _| {
        let text = String::from_utf8_lossy(input);
        if let Ok((_, address)) = PullRequestAddress::parse(&text) {
            let again = PullRequestAddress::parse(&address.to_string());
            assert_eq!(again.unwrap().1, address, "the printed address names the same pull request");
        }
        let _repository = RepositoryName::parse(&text);
        let _address = HttpAddress::parse(&text);
    });
}

/// Other versions of the program, and people with an editor, can leave any row in the journal.
#[test]
fn no_journal_row_makes_the_reader_panic() {
    let bodies = [
        json!({"at": "2026-03-02T10:00:00Z", "fact": "pushed", "head": "a", "changes": [], "number": 1}),
        json!({"at": "2026-03-02T10:00:00Z", "fact": "closed"}),
        json!({"at": "2026-03-02T10:00:00Z", "fact": "told", "told": "pause"}),
        json!({"at": "2026-03-02T10:00:00Z", "fact": "answered", "reviewer": "a", "head": "b", "attempt": 1, "answer": {"printed": "{}"}}),
    ];
    let seeds: Vec<String> = bodies.iter().map(ToString::to_string).collect();
    fuzz("rows of the journal", &bytes(&seeds), |input, random| {
        let Ok(body) = serde_json::from_slice::<Value>(input) else { return };
        let kinds = ["pushed", "closed", "told", "answered", "fact", "intent", "outcome", "decision", ""];
        let record = Record {
            seq: random.next(),
            at: "2026-03-02T10:00:00Z".parse().unwrap(),
            pull_request: None,
            kind: (*random.any(&kinds)).to_owned(),
            by: String::new(),
            why: String::new(),
            key: None,
            body,
        };
        let _fact = Fact::read(&record);
    });
}

#[test]
fn a_readable_snapshot_is_processed_without_panic() {
    let snapshot = answers::snapshot();
    let text = serde_json::to_string(&snapshot).unwrap();
    fuzz("snapshots in the journal", &bytes(&[text]), |input, _| {
        if let Ok(snapshot) = serde_json::from_slice::<PullRequestSnapshot>(input) {
            answers::process(&snapshot, &PROFILES);
        }
    });
}

#[test]
fn no_answer_of_github_makes_the_client_panic() {
    answers::fuzz(&PROFILES);
}
