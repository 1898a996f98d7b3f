//! An endpoint with the chat-completions protocol. The answer's schema goes into the response format.

use super::{DriverError, PromptAndSchema, ReviewerCall, ReviewerResponse, malformed, shortened};
use crate::agents::http::{self, HttpAddress, HttpError, HttpLimits, IncompleteAnswer};
use crate::agents::secret::{PrivateFileError, read_private_file, scrub};
use crate::domain::cycle::Violation;
use crate::reviewers::answer_schema::from_strict;
use ::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;

/// An endpoint from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Without `/chat/completions`.
    pub base_url: Uri,
    pub model: String,
    pub api_key: Option<ApiKey>,
    pub timeout: Duration,
    pub prompt_file: Option<PathBuf>,
}

/// Where the API key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKey {
    Variable(String),
    File(PathBuf),
}

/// Room for the JSON around the answer.
const ENVELOPE: usize = 256 * 1024;

impl Endpoint {
    pub(super) async fn key(
        &self,
        environment: &(dyn Fn(&str) -> Option<String> + Sync),
    ) -> Result<Option<SecretString>, DriverError> {
        let (text, source) = match &self.api_key {
            None => return Ok(None),
            Some(ApiKey::Variable(name)) => {
                let value = environment(name).filter(|value| !value.trim().is_empty());
                (value.ok_or_else(|| DriverError::NoKey(name.clone()))?, name.clone())
            }
            Some(ApiKey::File(file)) => {
                let path = file.display().to_string();
                let text = read_private_file(file).await.map_err(|error| match error {
                    PrivateFileError::TooOpen => DriverError::KeyTooOpen { path: path.clone() },
                    PrivateFileError::Unreadable(reason) => {
                        DriverError::KeyUnreadable { path: path.clone(), reason }
                    }
                })?;
                (text, path)
            }
        };
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(DriverError::NotAKey(source));
        }
        Ok(Some(SecretString::from(text.to_owned())))
    }
}

/// For DNS, TCP and TLS; the model gets the rest of the timeout.
const CONNECT: Duration = Duration::from_secs(30);

pub(super) async fn ask(
    endpoint: &Endpoint,
    key: Option<&SecretString>,
    input: &PromptAndSchema,
    call: &ReviewerCall<'_>,
) -> ReviewerResponse {
    let started = Instant::now();
    let answer = match exchange(endpoint, key, input, call).await {
        // Some endpoints quote a key that they refuse.
        Err(Violation::MalformedAnswer(message)) => Err(malformed(scrub(&message, key))),
        answer => answer,
    };
    ReviewerResponse { answer, log: String::new(), took: started.elapsed(), withheld: false }
}

async fn exchange(
    endpoint: &Endpoint,
    key: Option<&SecretString>,
    input: &PromptAndSchema,
    call: &ReviewerCall<'_>,
) -> Result<Vec<u8>, Violation> {
    let unusable =
        |error: &dyn std::fmt::Display| malformed(format!("Cloture cannot call the endpoint: {error}"));
    let base = endpoint.base_url.to_string();
    let address = format!("{}/chat/completions", base.trim_end_matches('/'));
    let address: Uri = address.parse().map_err(|error| unusable(&error))?;
    let address = HttpAddress::of(address).map_err(|error| unusable(&error))?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(key) = key {
        let value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()));
        let mut value = value.map_err(|error| unusable(&error))?;
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
    let format = json!({ "name": "review", "strict": true, "schema": input.schema });
    let body = json!({
        "model": endpoint.model,
        "messages": [{ "role": "user", "content": input.prompt }],
        "response_format": { "type": "json_schema", "json_schema": format },
    });
    let allowed = usize::try_from(call.most_bytes).unwrap_or(usize::MAX);
    let limits = HttpLimits {
        connect: CONNECT.min(endpoint.timeout),
        whole: endpoint.timeout,
        answer: allowed.saturating_mul(2).saturating_add(ENVELOPE),
    };
    match http::post(&address, headers, body.to_string(), limits).await {
        Ok(response) => extract_answer(response.status, &response.body),
        Err(HttpError::CutShort { reason: IncompleteAnswer::TooLarge(_), .. }) => {
            Err(Violation::OversizedAnswer(format!("more than the allowed {allowed} bytes")))
        }
        Err(error) => Err(malformed(shortened(&error.to_string()))),
    }
}

/// Takes the answer out of the completion.
fn extract_answer(status: StatusCode, body: &[u8]) -> Result<Vec<u8>, Violation> {
    let reply: Option<Value> = serde_json::from_slice(body).ok();
    if !status.is_success() {
        let message = reply.as_ref().and_then(|reply| reply["error"]["message"].as_str()).unwrap_or_default();
        let message = if message.is_empty() { String::new() } else { format!(": {}", shortened(message)) };
        return Err(malformed(format!("the endpoint answered {status}{message}")));
    }
    let reply = reply.ok_or_else(|| malformed("the endpoint's answer is not JSON"))?;
    let choice = &reply["choices"][0];
    if let Some(refusal) = choice["message"]["refusal"].as_str() {
        return Err(malformed(format!("the model refuses to answer: {}", shortened(refusal))));
    }
    let content = choice["message"]["content"].as_str().unwrap_or_default();
    if choice["finish_reason"] == "length" {
        return Err(malformed("the model's answer is cut off, because it reached the model's length limit"));
    }
    if content.trim().is_empty() {
        return Err(malformed("the model's answer is empty"));
    }
    let answer: Value = serde_json::from_str(content)
        .map_err(|error| malformed(format!("the model's answer is not JSON: {error}")))?;
    Ok(from_strict(answer).to_string().into_bytes())
}
