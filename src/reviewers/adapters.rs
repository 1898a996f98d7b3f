//! The kinds of driven reviewers. All get the same request and return the same kind of answer.
//!
//! - `program`: speaks the reviewer protocol over standard input and output.
//! - `claude`, `codex`: coding agents on the command line, which can read only their prompt.
//! - `openai`: an endpoint with the chat-completions protocol, such as a local model.

mod claude;
mod codex;
mod command;
mod openai;

pub use command::Program;
pub use openai::{ApiKey, Endpoint};

use super::answer_schema::strict_schema;
use super::prompt::{Prompt, PromptError, PromptPurpose};
use super::request::ReviewerRequest;
use crate::domain::cycle::{FrozenCycle, Protocol, Violation};
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A kind of reviewer with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adapter {
    Program(Program),
    Claude(ReviewerAgent),
    Codex(ReviewerAgent),
    OpenAi(Endpoint),
}

/// A coding agent on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerAgent {
    pub program: Program,
    /// None: the agent's default.
    pub model: Option<String>,
    pub prompt_file: Option<PathBuf>,
}

/// An adapter with its prompt and key loaded.
#[derive(Debug)]
pub struct ReviewerDriver {
    adapter: Adapter,
    /// None for a program, which gets the plain request.
    prompt: Option<Prompt>,
    key: Option<SecretString>,
}

/// Why a reviewer cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("the environment variable {0} with the API key is not set; set it and start again")]
    NoKey(String),
    #[error("other users can read the API key file {path}; run `chmod 600 {path}` first")]
    KeyTooOpen { path: String },
    #[error("the API key file {path} could not be read: {reason}")]
    KeyUnreadable { path: String, reason: String },
    #[error("the API key from {0} is empty or has characters that no key has; set it again")]
    NotAKey(String),
}

/// The input of one call.
#[derive(Debug, Clone, Copy)]
pub struct ReviewerCall<'a> {
    pub request: &'a ReviewerRequest,
    pub frozen: &'a FrozenCycle,
    pub protocol: Protocol,
    /// C2: the size limit of an answer.
    pub most_bytes: u32,
}

/// The answer in the protocol's form, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerResponse {
    pub answer: Result<Vec<u8>, Violation>,
    /// The end of the reviewer's log. Not sanitized.
    pub log: String,
    pub took: Duration,
}

impl ReviewerDriver {
    /// Loads the adapter's prompt and key. Tests pass their own `environment`.
    pub async fn ready(
        adapter: Adapter,
        environment: &(dyn Fn(&str) -> Option<String> + Sync),
    ) -> Result<ReviewerDriver, DriverError> {
        let (prompt, key) = match &adapter {
            Adapter::Program(_) => (None, None),
            Adapter::Claude(agent) | Adapter::Codex(agent) => {
                (Some(review_prompt(agent.prompt_file.as_deref()).await?), None)
            }
            Adapter::OpenAi(endpoint) => {
                let prompt = review_prompt(endpoint.prompt_file.as_deref()).await?;
                (Some(prompt), endpoint.key(environment).await?)
            }
        };
        Ok(ReviewerDriver { adapter, prompt, key })
    }

    /// The prompt without the request.
    pub fn prompt_text(&self) -> &str {
        self.prompt.as_ref().map_or("", Prompt::text)
    }

    /// Asks once.
    pub async fn ask(&self, call: &ReviewerCall<'_>) -> ReviewerResponse {
        match &self.adapter {
            Adapter::Program(program) => command::ask(program, call).await,
            Adapter::Claude(agent) => claude::ask(agent, &self.prompt_and_schema(call), call).await,
            Adapter::Codex(agent) => codex::ask(agent, &self.prompt_and_schema(call), call).await,
            Adapter::OpenAi(endpoint) => {
                openai::ask(endpoint, self.key.as_ref(), &self.prompt_and_schema(call), call).await
            }
        }
    }

    /// The request as a prompt. The diff is kept out of the JSON, because it is easier to read as plain text.
    fn prompt_and_schema(&self, call: &ReviewerCall<'_>) -> PromptAndSchema {
        let schema = strict_schema(call.frozen, call.protocol);
        let mut shown = call.request.clone();
        let diff = std::mem::take(&mut shown.diff);
        shown.answer_schema = schema.clone();
        let mut request = serde_json::to_value(&shown).unwrap_or_default();
        if let Some(fields) = request.as_object_mut() {
            fields.remove("diff");
        }
        let request = serde_json::to_string_pretty(&request).unwrap_or_default();
        let material = [("request", request.as_str()), ("diff", diff.as_str())];
        let prompt = self.prompt.as_ref().map_or_else(String::new, |prompt| prompt.fill_in(&material));
        PromptAndSchema { prompt, schema }
    }
}

/// A filled-in prompt and the schema of its answer.
#[derive(Debug)]
struct PromptAndSchema {
    prompt: String,
    schema: serde_json::Value,
}

async fn review_prompt(file: Option<&Path>) -> Result<Prompt, PromptError> {
    Prompt::load(PromptPurpose::Review, file).await
}

fn malformed(message: impl Into<String>) -> Violation {
    Violation::MalformedAnswer(message.into())
}

/// A message from outside, on one line and short enough for a sentence.
fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
