//! Codex in its read-only sandbox: `codex exec` with the prompt on standard input, the schema in a file and
//! the last message on standard output.

use super::{PromptAndSchema, ReviewerAgent, ReviewerCall, ReviewerResponse, malformed};
use crate::reviewers::answer_schema::from_strict;
use serde_json::Value;
use std::ffi::OsString;
use std::time::Duration;

pub(super) async fn ask(
    agent: &ReviewerAgent,
    input: &PromptAndSchema,
    call: &ReviewerCall<'_>,
) -> ReviewerResponse {
    let Ok(folder) = tempfile::tempdir() else { return no_folder() };
    let schema = folder.path().join("answer.schema.json");
    if tokio::fs::write(&schema, input.schema.to_string()).await.is_err() {
        return no_folder();
    }
    let mut arguments: Vec<OsString> =
        ["exec", "--ephemeral", "--sandbox", "read-only", "--skip-git-repo-check", "--color", "never"]
            .map(OsString::from)
            .into();
    arguments.extend(["--output-schema".into(), schema.into()]);
    if let Some(model) = &agent.model {
        arguments.extend(["--model".into(), model.into()]);
    }
    arguments.push("-".into());
    let limit = usize::try_from(call.most_bytes).unwrap_or(usize::MAX);
    let folder = Some(folder.path());
    let mut response = agent.program.run(&arguments, folder, input.prompt.as_bytes(), limit).await;
    response.answer = response.answer.and_then(|printed| {
        let answer: Value = serde_json::from_slice(&printed)
            .map_err(|error| malformed(format!("the agent's last message is not JSON: {error}")))?;
        Ok(from_strict(answer).to_string().into_bytes())
    });
    response
}

pub(super) fn no_folder() -> ReviewerResponse {
    let answer =
        Err(malformed("Cloture cannot create a temporary folder to run the agent in; is the disk full?"));
    ReviewerResponse { answer, log: String::new(), took: Duration::ZERO }
}
