//! Claude Code without tools: `claude --print` with the prompt on standard input and the schema as an
//! argument.

use super::confinement::{AgentFolder, Confinement};
use super::{PromptAndSchema, ReviewerAgent, ReviewerCall, ReviewerResponse, malformed, shortened};
use crate::domain::cycle::Violation;
use crate::reviewers::answer_schema::from_strict;
use serde_json::Value;
use std::ffi::OsString;

/// Room for the report around the answer: counts, costs and the answer again as text.
const ENVELOPE: usize = 256 * 1024;
/// Linux limits a single argument to 128 KiB. A longer schema is only in the prompt.
const LONGEST_ARGUMENT: usize = 120 * 1024;

/// On macOS the agent keeps its sign-in in the keychain instead, which needs the real home folder.
pub(super) const FOLDER: AgentFolder =
    AgentFolder { name: ".claude", variable: "CLAUDE_CONFIG_DIR", sign_in: ".credentials.json" };

pub(super) async fn ask(
    agent: &ReviewerAgent,
    input: &PromptAndSchema,
    call: &ReviewerCall<'_>,
) -> ReviewerResponse {
    let confined = match Confinement::of(agent, &FOLDER) {
        Ok(confined) => confined,
        Err(message) => return ReviewerResponse::not_asked(malformed(message)),
    };
    let schema = input.schema.to_string();
    let mut arguments: Vec<OsString> = ["--print", "--output-format", "json"].map(OsString::from).into();
    if schema.len() <= LONGEST_ARGUMENT {
        arguments.extend(["--json-schema".into(), schema.into()]);
    }
    // The prompt has hostile text, so the agent gets no tools, no servers, no memory and no project settings:
    // Claude Code also looks for those above the folder that it runs in.
    let bare =
        ["--tools", "", "--strict-mcp-config", "--setting-sources", "user", "--no-session-persistence"];
    arguments.extend(bare.map(OsString::from));
    if let Some(model) = &agent.model {
        arguments.extend(["--model".into(), model.into()]);
    }
    let limit = usize::try_from(call.most_bytes).unwrap_or(usize::MAX).saturating_mul(2);
    let limit = limit.saturating_add(ENVELOPE);
    let (environment, work) = (confined.environment(), confined.work());
    let run = agent.program.run(environment, &arguments, Some(&work), input.prompt.as_bytes(), limit);
    let mut response = run.await;
    response.answer = response.answer.and_then(|printed| extract_answer(&printed));
    response
}

/// Takes the answer out of the agent's report.
fn extract_answer(printed: &[u8]) -> Result<Vec<u8>, Violation> {
    let report: Value = serde_json::from_slice(printed)
        .map_err(|error| malformed(format!("the agent's report is not JSON: {error}")))?;
    // In verbose mode the agent prints a list of messages, and the last result is the report.
    let report = match &report {
        Value::Array(messages) => messages.iter().rev().find(|message| message["type"] == "result"),
        report => Some(report),
    };
    let report = report.ok_or_else(|| malformed("the agent's report has no result"))?;
    let text = report["result"].as_str().unwrap_or_default();
    if report["is_error"] == true {
        let reason = if text.is_empty() { report["subtype"].as_str().unwrap_or_default() } else { text };
        return Err(malformed(format!("the agent reports an error: {}", shortened(reason))));
    }
    let answer = match &report["structured_output"] {
        Value::Null => serde_json::from_str(text)
            .map_err(|_| malformed("the agent gave no structured output, and its text is not JSON"))?,
        answer => answer.clone(),
    };
    Ok(from_strict(answer).to_string().into_bytes())
}
