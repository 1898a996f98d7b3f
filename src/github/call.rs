//! One call to GitHub as data, and the reply to it.

use super::documents::GraphqlDocument;
use super::error::{Error, RequestSent};
use super::limits::RateBudget;
use http::Method;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::borrow::Cow;

/// A call: enough to send it, to preview it, and to name it in an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    Graphql {
        document: &'static GraphqlDocument,
        variables: Value,
    },
    Rest {
        method: Method,
        path: String,
        body: Option<Value>,
        purpose: Cow<'static, str>,
        permission: &'static str,
    },
    /// A REST read that costs nothing if GitHub's answer still has this `ETag`.
    Conditional {
        path: String,
        etag: Option<String>,
        purpose: Cow<'static, str>,
        permission: &'static str,
    },
    /// A read that GitHub answers with a unified diff instead of JSON.
    Diff {
        path: String,
        purpose: Cow<'static, str>,
    },
}

impl Call {
    pub fn graphql(document: &'static GraphqlDocument, variables: Value) -> Self {
        Call::Graphql { document, variables }
    }

    /// The purpose, as the beginning of a sentence: "reading the checks".
    pub fn purpose(&self) -> &str {
        match self {
            Call::Graphql { document, .. } => document.purpose,
            Call::Rest { purpose, .. } | Call::Conditional { purpose, .. } | Call::Diff { purpose, .. } => {
                purpose
            }
        }
    }

    /// The permission that a fine-grained token or an app needs.
    pub fn permission(&self) -> &'static str {
        match self {
            Call::Graphql { document, .. } => document.permission,
            Call::Rest { permission, .. } | Call::Conditional { permission, .. } => permission,
            Call::Diff { .. } => "Contents: read",
        }
    }

    /// The body exactly as it is sent.
    pub fn body(&self) -> Option<Value> {
        match self {
            Call::Graphql { document, variables } => {
                Some(json!({"query": document.text, "variables": variables}))
            }
            Call::Rest { body, .. } => body.clone(),
            Call::Conditional { .. } | Call::Diff { .. } => None,
        }
    }

    /// Whether it changes anything on GitHub.
    pub fn writes(&self) -> bool {
        match self {
            Call::Graphql { document, .. } => document.writes(),
            Call::Rest { method, .. } => *method != Method::GET,
            Call::Conditional { .. } | Call::Diff { .. } => false,
        }
    }
}

/// A complete reply. A diff is a JSON string. GraphQL data may be partial; `errors` says why.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiReply {
    pub body: Value,
    pub errors: Vec<GraphqlError>,
    /// The remaining budget, if the reply has it.
    pub budget: Option<RateBudget>,
    /// The server's time.
    pub date: Option<Timestamp>,
    /// Of a conditional read. Its body is null if GitHub's answer still has the `ETag` of the call.
    pub etag: Option<String>,
}

/// One error beside GraphQL's data, with its type and path, which octocrab would drop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphqlError {
    pub kind: Option<String>,
    pub path: Vec<PathStep>,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    Field(String),
    Index(usize),
}

/// Sends calls: the client does, and so do the doubles of tests.
pub trait Transport {
    fn send(&self, call: &Call) -> impl Future<Output = Result<ApiReply, Error>> + Send;
}

impl<T: Transport + Sync> Transport for &T {
    fn send(&self, call: &Call) -> impl Future<Output = Result<ApiReply, Error>> + Send {
        (*self).send(call)
    }
}

impl<T: Transport + Send + Sync> Transport for std::sync::Arc<T> {
    fn send(&self, call: &Call) -> impl Future<Output = Result<ApiReply, Error>> + Send {
        self.as_ref().send(call)
    }
}

impl ApiReply {
    /// The data in its documented shape. It is moved out of the reply.
    pub fn parse<T: DeserializeOwned>(&mut self, call: &Call) -> Result<T, Error> {
        T::deserialize(self.body.take()).map_err(|error| Error::Malformed {
            what: call.purpose().to_owned(),
            detail: without_quoted_text(&error.to_string()).chars().take(200).collect(),
        })
    }

    /// The error for a required field that is missing, taken from the errors in the reply.
    pub fn absence(&self, call: &Call) -> Error {
        match self.errors.first() {
            Some(error) => error.to_error(call),
            None => Error::Gone { what: call.purpose().to_owned() },
        }
    }

    /// The errors at or below a field of this name.
    pub fn errors_at<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a GraphqlError> {
        self.errors.iter().filter(move |error| error.concerns_field(field))
    }
}

impl GraphqlError {
    pub fn concerns_field(&self, field: &str) -> bool {
        self.path.iter().any(|step| matches!(step, PathStep::Field(name) if name == field))
    }

    /// Whether GitHub refused, as opposed to having failed.
    pub fn is_refusal(&self) -> bool {
        self.kind.as_deref().is_some_and(|kind| {
            matches!(
                kind,
                "NOT_FOUND"
                    | "FORBIDDEN"
                    | "INSUFFICIENT_SCOPES"
                    | "UNPROCESSABLE"
                    | "VALIDATION"
                    | "STALE_DATA"
                    | "MAX_NODE_LIMIT_EXCEEDED"
            )
        }) || (self.kind.is_none() && self.message.starts_with("Resource not accessible"))
    }

    /// The error that the call reports if this is the reason for missing data.
    pub fn to_error(&self, call: &Call) -> Error {
        let what = call.purpose().to_owned();
        match self.kind.as_deref() {
            Some("NOT_FOUND") => Error::Gone { what },
            Some("FORBIDDEN" | "INSUFFICIENT_SCOPES" | "SERVICE_UNAVAILABLE_FOR_TOKEN") => {
                Error::Denied { what, missing: missing_permission(&self.message, call) }
            }
            None if self.message.starts_with("Resource not accessible") => {
                Error::Denied { what, missing: missing_permission(&self.message, call) }
            }
            // GitHub gives an error during execution a path but no type, and a rejected document no path.
            None if !self.path.is_empty() || self.message.contains("Something went wrong") => {
                Error::Transient { what, cause: self.message.clone(), sent: RequestSent::Maybe }
            }
            Some("INTERNAL" | "INTERNAL_ERROR" | "SERVICE_UNAVAILABLE" | "TIMEOUT") => {
                Error::Transient { what, cause: self.message.clone(), sent: RequestSent::Maybe }
            }
            _ => Error::Refused { what, message: self.message.clone() },
        }
    }
}

pub(super) fn missing_permission(message: &str, call: &Call) -> String {
    format!("the token needs \"{}\" ({})", call.permission(), message.trim_end_matches('.'))
}

/// A deserialiser's message without the text that it quotes: that may be a comment, and errors are logged.
fn without_quoted_text(message: &str) -> String {
    match (message.find("string \""), message.rfind('"')) {
        (Some(start), Some(end)) => format!("{}a text{}", &message[..start], &message[end + 1..]),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_about_an_answer_never_quotes_its_text() {
        let call = Call::graphql(&super::super::documents::VIEWER, json!({}));
        let mut reply = ApiReply { body: json!("a \"secret\" comment"), ..ApiReply::default() };
        let error = reply.parse::<u64>(&call).unwrap_err().to_string();
        assert!(error.contains("invalid type: a text, expected u64"), "{error}");
    }
}
