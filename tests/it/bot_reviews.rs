//! What `cloture watch` makes of bots' reviews (L3): nothing unreadable, unfinished or refused ends as clean.

use crate::support::folder;
use crate::support::program::{Run, finish, program};
use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use serde_json::Value;
use tempfile::TempDir;

const SCENARIO: &str = r#"
title = "What bots say"
start = "2026-11-02T09:00:00Z"
viewer = "dana"

[[account]]
login = "dana"
[[account]]
login = "erin"
[[account]]
login = "copilot-pull-request-reviewer"
kind = "bot"
[[account]]
login = "chatgpt-codex-connector"
kind = "bot"
id = 199175422
[[account]]
login = "coderabbitai"
kind = "bot"
[[account]]
login = "our-bot"
kind = "bot"

[[repository]]
name = "acme/shop"
members = { dana = "owner", erin = "collaborator" }
files = { "src/a.rs" = "fn one() {}\n" }

[[pull_request]]
repository = "acme/shop"
number = 1
title = "Add a discount"
author = "erin"
branch = "discount"
files = { "src/a.rs" = "fn one() { two() }\nfn two() {}\nfn three() {}\n" }

[[step]]
at = "-30m"
pull_request = "acme/shop#1"
"#;

/// A simulator in which these actions have happened, and a home folder.
struct Stage {
    simulator: Simulator,
    home: TempDir,
}

impl Stage {
    async fn new(reviewer: &str, actions: &str) -> Stage {
        let scenario = Scenario::parse(&format!("{SCENARIO}\n{actions}"), "bots.toml").unwrap();
        let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
        assert_eq!(simulator.problems(), [""; 0]);
        let home = folder::temporary();
        let config = format!(
            "[policy]\npoll_interval = '1s'\nmax_attempts = 2\n[[repositories]]\nname = 'acme/shop'\n\
             reviewers = ['{reviewer}']\n[[profiles]]\nname = 'ours'\nlogins = ['our-bot']\n"
        );
        std::fs::write(home.path().join("cloture.toml"), config).unwrap();
        Stage { simulator, home }
    }

    async fn run(&self, arguments: &[&str]) -> Run {
        let (url, home) = (self.simulator.url(), self.home.path());
        let (config, state) = (home.join("cloture.toml"), home.join("state"));
        let common =
            ["--api-url", &url, "--config", config.to_str().unwrap(), "--state-dir", state.to_str().unwrap()];
        finish(program(home, &[&common, arguments].concat())).await
    }

    /// The exit code of `watch`, and its last sentence.
    async fn watch(&self) -> (i32, String) {
        let run = self.run(&["watch", "--json", "acme/shop#1"]).await;
        let last = run.out.lines().last().map(|line| serde_json::from_str::<Value>(line).unwrap());
        (
            run.code,
            last.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).unwrap_or_default(),
        )
    }
}

fn review(by: &str, state: &str, body: &str, threads: &[&str]) -> String {
    let threads: Vec<String> = threads
        .iter()
        .enumerate()
        .map(|(index, text)| {
            format!("{{ path = \"src/a.rs\", line = {}, body = '''\n{text}''' }}", index + 1)
        })
        .collect();
    format!(
        "[[step.do]]\nreview = {{ by = \"{by}\", state = \"{state}\", body = '''\n{body}''', threads = [{}] }}\n",
        threads.join(", ")
    )
}

fn comment(by: &str, body: &str) -> String {
    format!("[[step.do]]\ncomment = {{ by = \"{by}\", body = '''\n{body}''' }}\n")
}

const COPILOT: &str = "copilot-pull-request-reviewer";
const CODEX: &str = "chatgpt-codex-connector";
const RABBIT: &str = "coderabbitai";

fn overview(verdict: &str, findings: &str, sections: &str) -> String {
    format!(
        "<!-- ccr-overview-v2 -->\n\n## Copilot review overview\n\n### {verdict}\n\nText about it.\n\n\
         **Review effort:** Balanced  \n**Findings:** {findings}\n\n{sections}"
    )
}

#[tokio::test]
async fn l3_each_bots_review_ends_as_it_says() {
    let missed = "<details>\n<summary><strong>Previously missed (1)</strong></summary>\n\n<details>\n<summary><img alt=\"Medium severity\" src=\"x\"> Check the index</summary>\n\n`src/a.rs:2`\n\nIt may be negative.\n</details>\n</details>";
    let table = |state: &str| {
        format!(
            "<!-- codex-pull-request-review-summary -->\n## Codex Review Summary\n\n| Review | Status | Commit | Trigger |\n| --- | --- | --- | --- |\n| 📝 **Code Review** | {state} | `{{head_short}}` | Pull request opened |\n"
        )
    };
    let free = "<!-- This is an auto-generated comment: summarize by coderabbit.ai -->\n<!-- walkthrough_start -->\n\n## Walkthrough\n\nText.\n\n> [!NOTE]\n> <details>\n> <summary>🎁 Summarized by CodeRabbit Free</summary>\n>\n> Your organization is on the Free plan. Please upgrade to get a full review.\n>\n> </details>";
    let changes = overview("🟡 Changes recommended", "2", "");
    let clean = "Codex Review: Didn't find any major issues. Nice!";
    let answer =
        "`@erin` that is done by the loader.\n\n<!-- This is an auto-generated reply by CodeRabbit -->";
    let cases = [
        (
            "copilot",
            review(COPILOT, "commented", &changes, &["The call recurses.", "Nobody uses this."]),
            10,
            "found something to fix",
        ),
        (
            "copilot",
            review(COPILOT, "commented", &changes, &[]),
            12,
            "announces 2 findings, and 0 were found",
        ),
        (
            "copilot",
            review(COPILOT, "commented", &overview("🔵 Needs a closer look", "None", missed), &[]),
            10,
            "found something to fix",
        ),
        (
            "copilot",
            review(COPILOT, "commented", &overview("🔵 Needs a closer look", "None", ""), &[]),
            12,
            "asks for changes",
        ),
        (
            "copilot",
            review(COPILOT, "commented", &overview("🟢 Approval recommended", "None", ""), &[]),
            0,
            "every expected review is in",
        ),
        ("codex", comment(CODEX, &table("🔄 **Running**")), 11, "no review came in time from codex"),
        ("codex", comment(CODEX, &table("✅ **Completed**")), 11, "no review came in time from codex"),
        ("codex", comment(CODEX, clean) + &comment(CODEX, &table("🔄 **Running**")), 11, "codex"),
        (
            "codex",
            comment(CODEX, &table("✅ **Completed**")) + &comment(CODEX, clean),
            0,
            "every expected review is in",
        ),
        ("codex", comment(CODEX, &table("❌ **Failed**")), 12, "a review failed"),
        ("coderabbit", comment(RABBIT, free), 12, "Your organization is on the Free plan."),
        (
            "coderabbit",
            review(RABBIT, "commented", "Looks like a review in a new format.", &[]),
            12,
            "nothing in it says how",
        ),
        (
            "coderabbit",
            review(RABBIT, "commented", "**Actionable comments posted: 0**", &[]) + &comment(RABBIT, answer),
            0,
            "every expected",
        ),
        (
            "coderabbit",
            review(RABBIT, "commented", "**Actionable comments posted: 0**", &[])
                + &comment(RABBIT, "# Deep scan\n\n- Lock lost"),
            12,
            "cannot be read",
        ),
        ("ours", comment("our-bot", "No issues found, ship it!"), 12, "cannot be read"),
        ("ours", review("our-bot", "approved", "", &[]), 0, "every expected"),
        ("ours", review("our-bot", "changes_requested", "See above.", &[]), 12, "asks for changes"),
    ];
    for (reviewer, actions, code, sentence) in cases {
        let (got, said) = Stage::new(reviewer, &actions).await.watch().await;
        assert_eq!(got, code, "{said}: {actions}");
        assert!(said.contains(sentence), "{said}: {actions}");
    }
}

/// Only reactions after the push count, and a bare one only if the profile trusts it.
#[tokio::test]
async fn reactions_count_as_the_profile_says() {
    let react =
        |content: &str| format!("[[step.do]]\nreact = {{ by = \"{CODEX}\", content = \"{content}\" }}\n");
    let trusted = "name = 'codex'\ntrust_reaction = true\n";
    for (actions, profile, code) in [
        (react("+1"), "", 11),
        (react("+1"), trusted, 0),
        (react("eyes"), trusted, 11),
        (react("+1") + &react("eyes"), trusted, 11),
        (react("heart"), trusted, 11),
        (
            format!(
                "{}[[step.do]]\npush = {{ by = \"erin\", files = {{ \"src/a.rs\" = \"fn four() {{}}\\n\" }} }}\n",
                react("+1")
            ),
            trusted,
            11,
        ),
    ] {
        let stage = Stage::new("codex", &actions).await;
        let file = stage.home.path().join("cloture.toml");
        let config = std::fs::read_to_string(&file).unwrap();
        let config = if profile.is_empty() { config } else { format!("{config}[[profiles]]\n{profile}") };
        std::fs::write(&file, config).unwrap();
        let (got, said) = stage.watch().await;
        assert_eq!(got, code, "{said}: {actions} {profile}");
    }
}

#[tokio::test]
async fn l3_an_unreadable_post_is_recorded_once_and_shown_everywhere() {
    let stage =
        Stage::new("coderabbit", &review(RABBIT, "commented", "Brand \u{202e}new format.", &[])).await;
    for _ in 0..2 {
        assert_eq!(stage.watch().await.0, 12);
    }
    let journal = stage.run(&["journal", "--json", "--kind", "unreadable_post"]).await;
    assert_eq!(journal.out.lines().count(), 1, "{}", journal.out);
    let status = stage.run(&["status", "acme/shop#1"]).await;
    assert!(status.out.contains("cannot read the post of coderabbit: nothing in it says"), "{}", status.out);
    assert!(status.out.contains("#pullrequestreview-"), "{}", status.out);
    let json = stage.run(&["status", "--json", "acme/shop#1"]).await.json();
    assert_eq!(json["pull_requests"][0]["unreadable"][0]["reviewer"], "coderabbit");
    let doctor = stage.run(&["doctor", "acme/shop#1"]).await;
    assert!(doctor.out.contains("[[profiles]] name = \"coderabbit\""), "{}", doctor.out);
    assert!(doctor.out.contains("✓ unreadable post of coderabbit"), "{}", doctor.out);
    assert!(doctor.out.contains("new format.") && !doctor.out.contains('\u{202e}'), "{}", doctor.out);
}
