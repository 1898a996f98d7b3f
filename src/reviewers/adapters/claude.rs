//! Claude Code, asked once and without tools: `claude --print`, the prompt on standard input, the schema as an argument.

use super::{PromptAndSchema, ReviewerAgent, ReviewerCall, ReviewerResponse, brief, malformed};
use crate::domain::cycle::Violation;
use crate::reviewers::answer_schema::from_strict;
use serde_json::Value;
use std::ffi::OsString;

/// Around the answer there are counts, costs and the same answer once more as text.
const ENVELOPE: usize = 256 * 1024;
/// A single argument can be no longer than this on Linux. Beyond it, the schema in the prompt has to do.
const LONGEST_ARGUMENT: usize = 120 * 1024;

pub(super) async fn ask(
    agent: &ReviewerAgent,
    worded: &PromptAndSchema,
    asked: &ReviewerCall<'_>,
) -> ReviewerResponse {
    // Somewhere without project settings, and with nothing to look at.
    let Ok(folder) = tempfile::tempdir() else {
        return super::codex::no_folder();
    };
    let schema = worded.schema.to_string();
    let mut arguments: Vec<OsString> = ["--print", "--output-format", "json"].map(OsString::from).into();
    if schema.len() <= LONGEST_ARGUMENT {
        arguments.extend(["--json-schema".into(), schema.into()]);
    }
    // It reads hostile text, so it gets nothing to act with: no tools, no servers, no memory of it.
    arguments.extend(["--tools", "", "--strict-mcp-config", "--no-session-persistence"].map(OsString::from));
    if let Some(model) = &agent.model {
        arguments.extend(["--model".into(), model.into()]);
    }
    let most = usize::try_from(asked.most_bytes).unwrap_or(usize::MAX).saturating_mul(2);
    let most = most.saturating_add(ENVELOPE);
    let mut said = agent.program.run(&arguments, Some(folder.path()), worded.prompt.as_bytes(), most).await;
    said.answer = said.answer.and_then(|printed| opened(&printed));
    said
}

/// Takes the answer out of what the agent reports about its run.
fn opened(printed: &[u8]) -> Result<Vec<u8>, Violation> {
    let report: Value = serde_json::from_slice(printed)
        .map_err(|error| malformed(format!("the agent's report is not JSON: {error}")))?;
    // With its verbose setting on, the report is the last of a list of messages.
    let report = match &report {
        Value::Array(messages) => messages.iter().rev().find(|message| message["type"] == "result"),
        report => Some(report),
    };
    let report = report.ok_or_else(|| malformed("the agent's report has no result"))?;
    let text = report["result"].as_str().unwrap_or_default();
    if report["is_error"] == true {
        let reason = if text.is_empty() { report["subtype"].as_str().unwrap_or_default() } else { text };
        return Err(malformed(format!("the agent reports an error: {}", brief(reason))));
    }
    let answer = match &report["structured_output"] {
        Value::Null => serde_json::from_str(text)
            .map_err(|_| malformed("the agent gave no structured output, and its text is not JSON"))?,
        answer => answer.clone(),
    };
    Ok(from_strict(answer).to_string().into_bytes())
}
