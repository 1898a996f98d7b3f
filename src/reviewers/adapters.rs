//! The kinds of driven reviewers. All get the same request and return the same kind of answer.
//!
//! - `program`: speaks the reviewer protocol over standard input and output.
//! - `claude`, `codex`: coding agents on the command line, which can read only their prompt.
//! - `openai`: an endpoint with the chat-completions protocol, such as a local model.

mod claude;
mod codex;
mod command;
mod confinement;
mod openai;

pub use command::Program;
pub use openai::{ApiKey, Endpoint};

use super::answer_schema::strict_schema;
use super::prompt::{Prompt, PromptError, PromptPurpose};
use super::request::ReviewerRequest;
use crate::agents::secret::SecretScanner;
use crate::domain::cycle::{FrozenCycle, Protocol, Violation};
use secrecy::{ExposeSecret, SecretString};
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
    /// The files by which the agent signs in. None: its usual one. The agent sees no other file of the home folder.
    pub sign_in: Option<Vec<PathBuf>>,
}

impl Adapter {
    /// The sign-in files of a coding agent.
    pub(crate) fn sign_in_files(&self) -> Vec<PathBuf> {
        match self {
            Adapter::Claude(agent) => confinement::sign_in_files(agent, &claude::FOLDER),
            Adapter::Codex(agent) => confinement::sign_in_files(agent, &codex::FOLDER),
            Adapter::Program(_) | Adapter::OpenAi(_) => Vec::new(),
        }
    }
}

/// An adapter with its prompt and key loaded.
#[derive(Debug)]
pub struct ReviewerDriver {
    adapter: Adapter,
    /// None for a program, which gets the plain request.
    prompt: Option<Prompt>,
    key: Option<SecretString>,
    secrets: SecretScanner,
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
    /// S2: the answer was dropped, because it has a secret in it.
    pub withheld: bool,
}

impl ReviewerResponse {
    /// For a reviewer that could not be run.
    fn not_asked(violation: Violation) -> ReviewerResponse {
        let (log, took) = (String::new(), Duration::ZERO);
        ReviewerResponse { answer: Err(violation), log, took, withheld: false }
    }

    /// S2: drops an answer with a secret in it, before anything is stored or posted. Nothing of the reviewer's
    /// messages is kept then either.
    fn without_secrets(self, secrets: &SecretScanner) -> ReviewerResponse {
        let ReviewerResponse { answer, log, took, withheld: _ } = self;
        let found = match &answer {
            Ok(printed) => secrets.find_in_json(&String::from_utf8_lossy(printed)),
            Err(violation) => secrets.find(&violation.to_string()),
        };
        let log = secrets.redacted(&log).into_owned();
        match found {
            None => ReviewerResponse { answer, log, took, withheld: false },
            Some(secret) => {
                let answer = Err(malformed(format!(
                    "the answer contains {secret}, so Cloture dropped it; describe the problem without quoting \
                     secrets"
                )));
                ReviewerResponse { answer, log, took, withheld: true }
            }
        }
    }
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
        let mut secrets = SecretScanner::default();
        if let Some(key) = &key {
            secrets = secrets.knowing("the reviewer's API key", key.expose_secret());
        }
        Ok(ReviewerDriver { adapter, prompt, key, secrets })
    }

    /// The same reviewer, whose answers may contain none of these secrets either.
    #[must_use]
    pub fn withholding(self, secrets: SecretScanner) -> ReviewerDriver {
        let key = self.key.as_ref().map(ExposeSecret::expose_secret);
        let secrets = key.map_or(secrets.clone(), |key| secrets.knowing("the reviewer's API key", key));
        ReviewerDriver { secrets, ..self }
    }

    /// The prompt without the request.
    pub fn prompt_text(&self) -> &str {
        self.prompt.as_ref().map_or("", Prompt::text)
    }

    /// Asks once.
    pub async fn ask(&self, call: &ReviewerCall<'_>) -> ReviewerResponse {
        let response = match &self.adapter {
            Adapter::Program(program) => command::ask(program, call).await,
            Adapter::Claude(agent) => claude::ask(agent, &self.prompt_and_schema(call), call).await,
            Adapter::Codex(agent) => codex::ask(agent, &self.prompt_and_schema(call), call).await,
            Adapter::OpenAi(endpoint) => {
                openai::ask(endpoint, self.key.as_ref(), &self.prompt_and_schema(call), call).await
            }
        };
        response.without_secrets(&self.secrets)
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
