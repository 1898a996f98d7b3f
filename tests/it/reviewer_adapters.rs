//! The adapters of reviewers, each with a stand-in that keeps its input.

#![cfg(unix)]

use crate::support::driven;
use crate::support::driven::{DIFF, Scripts, program, run_with};
use crate::support::forge::{Answer, Server};
use cloture::domain::driven::CycleOutcome;
use cloture::domain::policy::Policy;
use cloture::reviewers::adapters::{Adapter, ApiKey, Endpoint, ReviewerAgent, ReviewerDriver};
use cloture::reviewers::ask::JudgedAttempt;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

/// A valid answer to the strict schema.
fn strict_answer() -> Value {
    json!({
        "actions": {
            "thread_1": {"thread": "T1", "stance": "accepts", "action": "resolve", "body": "Fixed."},
            "thread_2": {"thread": "T2", "stance": "seeks_change", "action": "reply", "body": null},
        },
        "findings": [{"path": "src/a.rs", "line": 11, "end_line": null, "title": "Overflow",
            "body": "Large carts.", "severity": "low", "category": null, "suggestion": null}],
        "summary": null,
    })
}

fn once() -> Policy {
    Policy { cycle_retries: 0, ..Policy::default() }
}

fn agent(scripts: &Scripts, body: &str) -> ReviewerAgent {
    ReviewerAgent {
        program: program(&scripts.add("agent", body)),
        model: Some("large".to_owned()),
        prompt_file: None,
        sign_in: Some(Vec::new()),
    }
}

/// Keeps the arguments, one a line, and the input.
const KEEP: &str = "for a in \"$@\"; do printf '%s' \"$a\" | tr '\\n' ' '; echo; done > \"$here/arguments\"\n\
                    pwd > \"$here/folder\"; cat > \"$here/prompt\"\n";

fn assert_completed(turns: &[JudgedAttempt]) {
    let last = turns.last().unwrap();
    assert!(matches!(last.outcome, CycleOutcome::Completed { .. }), "{last:?}");
    assert_eq!(last.attempt.received.as_ref().unwrap().answer.reports().len(), 1);
}

fn refusal(turns: &[JudgedAttempt]) -> String {
    match &turns.last().unwrap().outcome {
        CycleOutcome::Failed { violations, .. } => violations[0].to_string(),
        other => panic!("{other:?}"),
    }
}

fn assert_is_the_prompt(prompt: &str) {
    assert!(prompt.starts_with("You review one pull request"), "{prompt}");
    assert!(prompt.contains(DIFF) && prompt.contains("\"id\": \"T1\""), "{prompt}");
    let fence = prompt.lines().find(|line| line.starts_with("=====cloture-")).unwrap();
    assert_eq!(prompt.lines().filter(|line| *line == fence).count(), 4);
}

fn assert_is_the_schema(schema: &Value) {
    let thread = &schema["properties"]["actions"]["properties"]["thread_1"]["anyOf"][0];
    assert_eq!(thread["properties"]["thread"], json!({"type": "string", "enum": ["T1"]}), "{schema}");
    assert_eq!(schema["required"], json!(["actions", "findings", "summary"]));
}

#[tokio::test]
async fn claude_gets_its_prompt_on_stdin_and_the_schema_as_an_argument() {
    let scripts = Scripts::new();
    let report = json!({"type": "result", "subtype": "success", "is_error": false, "result": "",
        "structured_output": strict_answer()});
    std::fs::write(scripts.path("report"), report.to_string()).unwrap();
    let agent = agent(&scripts, &format!("{KEEP}cat \"$here/report\""));
    let (turns, _) = run_with(Adapter::Claude(agent), &once()).await;
    assert_completed(&turns);
    assert_is_the_prompt(&scripts.read("prompt"));
    let kept = scripts.read("arguments");
    let arguments: Vec<&str> = kept.lines().collect();
    let expected = ["--print", "--output-format", "json", "--json-schema"];
    assert_eq!(arguments[..4], expected);
    assert_is_the_schema(&serde_json::from_str(arguments[4]).unwrap());
    let rest =
        ["--tools", "", "--strict-mcp-config", "--setting-sources", "user", "--no-session-persistence"];
    assert_eq!(arguments[5..11], rest);
    assert_eq!(arguments[11..], ["--model", "large"]);
    let folder = scripts.read("folder");
    assert!(!std::path::Path::new(folder.trim()).exists(), "{folder} is left behind");
}

#[tokio::test]
async fn other_forms_of_claudes_report_are_read() {
    let good = strict_answer();
    let cases = [
        (json!([{"type": "system"}, {"type": "result", "structured_output": good}]), None),
        (json!({"type": "result", "result": good.to_string()}), None),
        (
            json!({"type": "result", "is_error": true, "result": "Credit balance is too low"}),
            Some("Credit balance is too low"),
        ),
        (json!({"type": "result", "is_error": true, "subtype": "error_max_turns"}), Some("error_max_turns")),
        (json!({"type": "result", "result": "Looks good to me"}), Some("no structured output")),
        (json!("hello"), Some("no structured output")),
    ];
    for (report, refused) in cases {
        let scripts = Scripts::new();
        std::fs::write(scripts.path("report"), report.to_string()).unwrap();
        let agent = agent(&scripts, "cat > /dev/null; cat \"$here/report\"");
        let (turns, _) = run_with(Adapter::Claude(agent), &once()).await;
        match refused {
            None => assert_completed(&turns),
            Some(words) => assert!(refusal(&turns).contains(words), "{}", refusal(&turns)),
        }
    }
}

#[tokio::test]
async fn codex_gets_its_schema_in_a_file_and_answers_with_its_last_message() {
    let scripts = Scripts::new();
    std::fs::write(scripts.path("answer"), strict_answer().to_string()).unwrap();
    let body = format!(
        "{KEEP}while [ $# -gt 0 ]; do [ \"$1\" = --output-schema ] && cp \"$2\" \"$here/schema\"; shift; done\n\
         echo progress >&2; cat \"$here/answer\""
    );
    let (turns, _) = run_with(Adapter::Codex(agent(&scripts, &body)), &once()).await;
    assert_completed(&turns);
    assert_eq!(turns[0].attempt.log, "progress\n");
    assert_is_the_prompt(&scripts.read("prompt"));
    assert_is_the_schema(&serde_json::from_str(&scripts.read("schema")).unwrap());
    let kept = scripts.read("arguments");
    let arguments: Vec<&str> = kept.lines().collect();
    assert_eq!(arguments[..4], ["exec", "--ephemeral", "--sandbox", "read-only"]);
    assert_eq!(arguments.last(), Some(&"-"));
    let (turns, _) = run_with(Adapter::Codex(agent(&scripts, "echo Done.")), &once()).await;
    assert!(refusal(&turns).contains("not JSON"), "{}", refusal(&turns));
}

/// An agent that looks around, as a misled one might.
const LOOK_AROUND: &str = "cat > /dev/null; env > \"$here/environment\"; ls -A > \"$here/work\"\n\
    (cd && find . ! -type d) > \"$here/home\"; cat \"$HOME\"/.c*/*.json > \"$here/read\"\n\
    for f in \"$HOME\"/.c*/auth.json; do echo renewed > \"$f\"; done; cat \"$here/answer\"";

#[tokio::test]
async fn s2_a_coding_agent_sees_its_sign_in_file_and_nothing_else_of_the_home_folder() {
    let home = std::env::var("HOME").unwrap();
    for (kind, variable) in [
        (Adapter::Claude as fn(ReviewerAgent) -> Adapter, "CLAUDE_CONFIG_DIR"),
        (Adapter::Codex, "CODEX_HOME"),
    ] {
        let scripts = Scripts::new();
        let report = json!({"type": "result", "structured_output": strict_answer()});
        let is_claude = variable == "CLAUDE_CONFIG_DIR";
        let answer = if is_claude { report } else { strict_answer() };
        std::fs::write(scripts.path("answer"), answer.to_string()).unwrap();
        std::fs::write(scripts.path("auth.json"), "{}").unwrap();
        let mut agent = agent(&scripts, LOOK_AROUND);
        agent.sign_in = Some(vec![scripts.path("auth.json")]);
        // Not even if the configuration passes it on.
        agent.program.env = vec![variable.to_owned(), "HOME".to_owned()];
        assert_completed(&run_with(kind(agent.clone()), &once()).await.0);
        assert_eq!(scripts.read("work"), "", "an empty folder to work in");
        assert_eq!(scripts.read("home").lines().count(), 1, "{}", scripts.read("home"));
        assert!(scripts.read("home").trim().ends_with("/auth.json"));
        assert_eq!(scripts.read("read"), "{}");
        assert_eq!(scripts.read("auth.json"), "renewed\n", "the agent may renew its sign-in");
        let seen = scripts.read("environment");
        let value = |name: &str| {
            let line = seen.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
            line.unwrap_or_else(|| panic!("{name} is not set: {seen}")).to_owned()
        };
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "TMPDIR", variable] {
            assert!(!value(name).starts_with(&home) || home == "/", "{name}={}", value(name));
            assert!(!std::path::Path::new(&value(name)).exists(), "{name} is left behind");
        }
        agent.sign_in = Some(vec![scripts.path("none.json")]);
        let (turns, _) = run_with(kind(agent), &once()).await;
        assert!(refusal(&turns).contains("correct `sign_in`"), "{}", refusal(&turns));
    }
}

#[tokio::test]
async fn codex_gets_no_tool_to_read_files_with() {
    let scripts = Scripts::new();
    std::fs::write(scripts.path("answer"), strict_answer().to_string()).unwrap();
    let agent = agent(&scripts, &format!("{KEEP}cat \"$here/answer\""));
    assert_completed(&run_with(Adapter::Codex(agent), &once()).await.0);
    let kept = scripts.read("arguments");
    for setting in ["features.shell_tool=false", "features.unified_exec=false", "tools.view_image=false"] {
        assert!(kept.contains(&format!("-c\n{setting}\n")), "{kept}");
    }
}

#[tokio::test]
async fn a_configured_prompt_is_used() {
    let scripts = Scripts::new();
    std::fs::write(scripts.path("own.md"), "Mine.\n{{fence}}\n{{request}}\n{{diff}}\n{{fence}}").unwrap();
    std::fs::write(scripts.path("answer"), strict_answer().to_string()).unwrap();
    let agent = ReviewerAgent {
        prompt_file: Some(scripts.path("own.md")),
        ..agent(&scripts, &format!("{KEEP}cat \"$here/answer\""))
    };
    assert_completed(&run_with(Adapter::Codex(agent.clone()), &once()).await.0);
    assert!(scripts.read("prompt").starts_with("Mine.\n====="));
    let gone = ReviewerAgent { prompt_file: Some(scripts.path("none.md")), ..agent };
    let refused = ReviewerDriver::ready(Adapter::Codex(gone), &|_| None).await.unwrap_err().to_string();
    assert!(refused.contains("none.md cannot be read"), "{refused}");
}

const KEY: &str = "sk-opensesame";

async fn completion(answer: Answer, timeout: Duration) -> (Vec<JudgedAttempt>, Server, ReviewerDriver) {
    let server = Server::start(move |_| answer.clone()).await;
    let scripts = Scripts::new();
    let file = scripts.path("key");
    std::fs::write(&file, format!("{KEY}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let endpoint = Endpoint {
        base_url: format!("{}/v1/", server.url).parse().unwrap(),
        model: "local".to_owned(),
        api_key: Some(ApiKey::File(file)),
        timeout,
        prompt_file: None,
    };
    let driver = driven::driver(Adapter::OpenAi(endpoint.clone())).await;
    let (turns, _) = run_with(Adapter::OpenAi(endpoint), &once()).await;
    let shown = format!("{turns:?} {driver:?}");
    assert!(!shown.contains("opensesame"), "{shown}");
    (turns, server, driver)
}

const PATIENT: Duration = Duration::from_secs(30);

fn completion_with(message: &Value, finish: &str) -> Answer {
    Answer::Json(200, Vec::new(), json!({"choices": [{"message": message, "finish_reason": finish}]}))
}

#[tokio::test]
async fn an_endpoint_gets_the_schema_as_its_response_format() {
    let (turns, server, _) =
        completion(completion_with(&json!({"content": strict_answer().to_string()}), "stop"), PATIENT).await;
    assert_completed(&turns);
    let request = server.requests().remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/chat/completions"));
    assert!(request.head.contains(&format!("Bearer {KEY}")), "{}", request.head);
    assert_eq!(request.body["model"], "local");
    let format = &request.body["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
    assert_is_the_schema(&format["json_schema"]["schema"]);
    assert_is_the_prompt(request.body["messages"][0]["content"].as_str().unwrap());
}

#[tokio::test]
async fn every_failure_of_an_endpoint_has_its_own_message() {
    let cases = [
        (completion_with(&json!({"refusal": "I cannot help"}), "stop"), "refuses to answer: I cannot help"),
        (completion_with(&json!({"content": "{\"act"}), "length"), "cut off"),
        (completion_with(&json!({"content": ""}), "stop"), "answer is empty"),
        (completion_with(&json!({"content": "Looks good"}), "stop"), "not JSON"),
        (
            Answer::Json(401, Vec::new(), json!({"error": {"message": format!("bad key {KEY}")}})),
            "401 Unauthorized: bad key [token]",
        ),
        (Answer::Text(200, "text/html", "<html>".to_owned()), "not JSON"),
        (Answer::Text(200, "text/plain", "x".repeat(4 * 1024 * 1024)), "too large"),
    ];
    for (answer, words) in cases {
        let (turns, _, _) = completion(answer, PATIENT).await;
        assert!(refusal(&turns).contains(words), "{words}: {}", refusal(&turns));
    }
    let (turns, _, _) = completion(Answer::Silence, Duration::from_millis(200)).await;
    assert!(refusal(&turns).contains("gave no answer: it took longer than 200ms"), "{}", refusal(&turns));
}

#[tokio::test]
async fn s2_a_bad_api_key_is_refused_and_not_shown() {
    let scripts = Scripts::new();
    let file = scripts.path("key");
    std::fs::write(&file, KEY).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let with = |api_key| {
        Adapter::OpenAi(Endpoint {
            base_url: "http://127.0.0.1:1".parse().unwrap(),
            model: "m".to_owned(),
            api_key: Some(api_key),
            timeout: PATIENT,
            prompt_file: None,
        })
    };
    let environment = |name: &str| (name == "BAD").then(|| "sk-open sesame".to_owned());
    for (key, words) in [
        (ApiKey::File(file), "chmod 600"),
        (ApiKey::File(scripts.path("none")), "could not be read"),
        (ApiKey::Variable("NONE".to_owned()), "NONE"),
        (ApiKey::Variable("BAD".to_owned()), "no key has"),
    ] {
        let refused = ReviewerDriver::ready(with(key), &environment).await.unwrap_err().to_string();
        assert!(refused.contains(words) && !refused.contains("sesame"), "{refused}");
    }
}
