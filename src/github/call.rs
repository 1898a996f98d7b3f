//! One call to GitHub as data, and the one answer to it.

use super::documents::GraphqlDocument;
use super::error::{Error, RequestSent};
use super::limits::RateBudget;
use http::Method;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::borrow::Cow;

/// What is sent: enough to send it, to show it before it is sent, and to name it when it fails.
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
    /// A read whose answer is a unified diff and not JSON.
    Diff {
        path: String,
        purpose: Cow<'static, str>,
    },
}

impl Call {
    pub fn graphql(document: &'static GraphqlDocument, variables: Value) -> Self {
        Call::Graphql { document, variables }
    }

    /// What it does, as the beginning of a sentence.
    pub fn purpose(&self) -> &str {
        match self {
            Call::Graphql { document, .. } => document.purpose,
            Call::Rest { purpose, .. } | Call::Diff { purpose, .. } => purpose,
        }
    }

    /// The permission a fine-grained token or an app needs for it.
    pub fn permission(&self) -> &'static str {
        match self {
            Call::Graphql { document, .. } => document.permission,
            Call::Rest { permission, .. } => permission,
            Call::Diff { .. } => "Contents: read",
        }
    }

    /// The body exactly as it goes over the wire.
    pub fn body(&self) -> Option<Value> {
        match self {
            Call::Graphql { document, variables } => {
                Some(json!({"query": document.text, "variables": variables}))
            }
            Call::Rest { body, .. } => body.clone(),
            Call::Diff { .. } => None,
        }
    }

    /// Whether it changes anything on the forge.
    pub fn writes(&self) -> bool {
        match self {
            Call::Graphql { document, .. } => document.writes(),
            Call::Rest { method, .. } => *method != Method::GET,
            Call::Diff { .. } => false,
        }
    }
}

/// An answer that arrived whole; a diff is a JSON text. For GraphQL the data may be partial: what is missing is
/// explained in `errors`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiReply {
    pub body: Value,
    pub errors: Vec<GraphqlError>,
    /// What is left to spend, where the answer said so.
    pub budget: Option<RateBudget>,
    /// What the server's clock showed.
    pub date: Option<Timestamp>,
}

/// One error beside GraphQL's data, with the two things that octocrab loses: its type and where it struck.
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

/// Whoever can send a call: the client over the network, or a test's double.
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
    /// The data in its documented shape. The answer is taken apart, not copied.
    pub fn parse<T: DeserializeOwned>(&mut self, call: &Call) -> Result<T, Error> {
        T::deserialize(self.body.take()).map_err(|error| Error::Malformed {
            what: call.purpose().to_owned(),
            detail: error.to_string().chars().take(200).collect(),
        })
    }

    /// Why a field that had to be there is not, judged by the errors that came with the answer.
    pub fn absence(&self, call: &Call) -> Error {
        match self.errors.first() {
            Some(error) => error.judge(call),
            None => Error::Gone { what: call.purpose().to_owned() },
        }
    }

    /// The errors that struck at or below a field of this name.
    pub fn errors_at<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a GraphqlError> {
        self.errors.iter().filter(move |error| error.strikes(field))
    }
}

impl GraphqlError {
    pub fn strikes(&self, field: &str) -> bool {
        self.path.iter().any(|step| matches!(step, PathStep::Field(name) if name == field))
    }

    /// Whether this error says no, as opposed to "something broke".
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

    /// The error that a call has to report when this is why it got nothing.
    pub fn judge(&self, call: &Call) -> Error {
        let what = call.purpose().to_owned();
        match self.kind.as_deref() {
            Some("NOT_FOUND") => Error::Gone { what },
            Some("FORBIDDEN" | "INSUFFICIENT_SCOPES" | "SERVICE_UNAVAILABLE_FOR_TOKEN") => {
                Error::Denied { what, missing: missing_permission(&self.message, call) }
            }
            None if self.message.starts_with("Resource not accessible") => {
                Error::Denied { what, missing: missing_permission(&self.message, call) }
            }
            // What breaks while the document is carried out has a place but no type; what is wrong with the
            // document itself has no place.
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
