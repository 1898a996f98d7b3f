//! Codex without tools: `codex exec` with the prompt on standard input, the schema in a file and the last message
//! on standard output.

use super::confinement::{AgentFolder, Confinement};
use super::{PromptAndSchema, ReviewerAgent, ReviewerCall, ReviewerResponse, malformed};
use crate::reviewers::answer_schema::from_strict;
use serde_json::Value;
use std::ffi::OsString;

pub(super) const FOLDER: AgentFolder =
    AgentFolder { name: ".codex", variable: "CODEX_HOME", sign_in: "auth.json" };

/// The read-only sandbox forbids writing, not reading, so the tools are switched off one by one: Codex has no
/// switch for all of them. The keys are from Codex's configuration reference and its source. A version of Codex
/// may ignore a key that it does not know, so the empty home folder is there as well.
const WITHOUT_TOOLS: [&str; 7] = [
    "features.shell_tool=false",
    "features.unified_exec=false",
    // Reads a local file.
    "tools.view_image=false",
    "web_search=\"disabled\"",
    "features.apps=false",
    "features.multi_agent=false",
    // Codex also looks for instructions above the folder that it runs in.
    "project_doc_max_bytes=0",
];

pub(super) async fn ask(
    agent: &ReviewerAgent,
    input: &PromptAndSchema,
    call: &ReviewerCall<'_>,
) -> ReviewerResponse {
    let confined = match Confinement::of(agent, &FOLDER) {
        Ok(confined) => confined,
        Err(message) => return ReviewerResponse::not_asked(malformed(message)),
    };
    let schema = confined.file("answer.schema.json");
    if tokio::fs::write(&schema, input.schema.to_string()).await.is_err() {
        let message = "Cloture cannot write the schema of the answer to a temporary file; is the disk full?";
        return ReviewerResponse::not_asked(malformed(message));
    }
    let mut arguments: Vec<OsString> =
        ["exec", "--ephemeral", "--sandbox", "read-only", "--skip-git-repo-check", "--color", "never"]
            .map(OsString::from)
            .into();
    for setting in WITHOUT_TOOLS {
        arguments.extend(["-c", setting].map(OsString::from));
    }
    arguments.extend(["--output-schema".into(), schema.into()]);
    if let Some(model) = &agent.model {
        arguments.extend(["--model".into(), model.into()]);
    }
    arguments.push("-".into());
    let limit = usize::try_from(call.most_bytes).unwrap_or(usize::MAX);
    let (environment, work) = (confined.environment(), confined.work());
    let run = agent.program.run(environment, &arguments, Some(&work), input.prompt.as_bytes(), limit);
    let mut response = run.await;
    response.answer = response.answer.and_then(|printed| {
        let answer: Value = serde_json::from_slice(&printed)
            .map_err(|error| malformed(format!("the agent's last message is not JSON: {error}")))?;
        Ok(from_strict(answer).to_string().into_bytes())
    });
    response
}
