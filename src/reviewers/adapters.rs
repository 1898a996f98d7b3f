//! How each kind of driven reviewer is asked. All of them get the same request and give the same kind of answer; what
//! differs is who speaks to whom and where the answer's schema goes.
//!
//! - `program`: the reviewer protocol as it is, over standard input and output.
//! - `claude`, `codex`: coding agents on the command line, which may read nothing but their prompt.
//! - `openai`: any endpoint that speaks the chat-completions protocol, local models among them.

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

/// A kind of reviewer and its settings, as configured.
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
    /// The agent's own choice where there is none.
    pub model: Option<String>,
    pub prompt_file: Option<PathBuf>,
}

/// An adapter with everything it needs, ready to be asked any number of times.
#[derive(Debug)]
pub struct ReviewerDriver {
    adapter: Adapter,
    /// None for a program, which gets the request as it is.
    prompt: Option<Prompt>,
    key: Option<SecretString>,
}

/// Why a reviewer cannot be asked at all, whatever it would answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error("the variable {0}, which is to hold the API key, is not set")]
    NoKey(String),
    #[error("the API key file {path} can be read by others; run `chmod 600 {path}` first")]
    KeyTooOpen { path: String },
    #[error("the API key file {path} could not be read: {reason}")]
    KeyUnreadable { path: String, reason: String },
    #[error("the API key from {0} contains characters that no key has; set it again")]
    NotAKey(String),
}

/// What one call is about.
#[derive(Debug, Clone, Copy)]
pub struct ReviewerCall<'a> {
    pub request: &'a ReviewerRequest,
    pub frozen: &'a FrozenCycle,
    pub protocol: Protocol,
    /// C2: with one byte more the answer is oversized.
    pub most_bytes: u32,
}

/// What came back: an answer in the protocol's form, or what was wrong with getting one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerResponse {
    pub answer: Result<Vec<u8>, Violation>,
    /// The end of its log, for people. Not cleaned.
    pub log: String,
    pub took: Duration,
}

impl ReviewerDriver {
    /// Reads what the adapter needs: its prompt, its key. The environment is passed in, so that a test decides it.
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

    /// What the reviewer reads beside the request.
    pub fn wording(&self) -> &str {
        self.prompt.as_ref().map_or("", Prompt::wording)
    }

    /// Asks once.
    pub async fn ask(&self, asked: &ReviewerCall<'_>) -> ReviewerResponse {
        match &self.adapter {
            Adapter::Program(program) => command::ask(program, asked).await,
            Adapter::Claude(agent) => claude::ask(agent, &self.worded(asked), asked).await,
            Adapter::Codex(agent) => codex::ask(agent, &self.worded(asked), asked).await,
            Adapter::OpenAi(endpoint) => {
                openai::ask(endpoint, self.key.as_ref(), &self.worded(asked), asked).await
            }
        }
    }

    /// The request as a prompt. The diff stands by itself, because it is easier to read that way.
    fn worded(&self, asked: &ReviewerCall<'_>) -> PromptAndSchema {
        let schema = strict_schema(asked.frozen, asked.protocol);
        let mut shown = asked.request.clone();
        let diff = std::mem::take(&mut shown.diff);
        shown.answer_schema = schema.clone();
        let mut request = serde_json::to_value(&shown).unwrap_or_default();
        if let Some(fields) = request.as_object_mut() {
            fields.remove("diff");
        }
        let request = serde_json::to_string_pretty(&request).unwrap_or_default();
        let material = [("request", request.as_str()), ("diff", diff.as_str())];
        let prompt = self.prompt.as_ref().map_or_else(String::new, |prompt| prompt.filled(&material));
        PromptAndSchema { prompt, schema }
    }
}

/// A prompt and the schema that goes with it.
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

/// As much of somebody else's message as a sentence can hold.
fn brief(text: &str) -> String {
    const MOST: usize = 300;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
