//! Turns GitHub's raw HTTP response into a reply or into one of the few kinds of error.

use super::super::call::{ApiReply, Call, GraphqlError, PathStep, missing_permission};
use super::super::error::{Error, LimitKind, RequestSent};
use super::super::limits;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

/// A response as it arrived.
pub(super) struct RawResponse<'a> {
    pub(super) call: &'a Call,
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    pub(super) limited_in_a_row: u32,
    /// Removes the token and control characters from a text of the server.
    pub(super) clean: &'a dyn Fn(&str) -> String,
}

impl RawResponse<'_> {
    pub(super) fn interpret(&self) -> Result<ApiReply, Error> {
        let what = || self.call.purpose().to_owned();
        match self.status.as_u16() {
            200..=299 => self.success(),
            304 if matches!(self.call, Call::Conditional { .. }) => {
                Ok(ApiReply { etag: self.etag(), ..ApiReply::default() })
            }
            300..=399 => {
                Err(Error::Refused { what: what(), message: "it has moved; use its new name".to_owned() })
            }
            401 => Err(Error::Unauthorised { what: what() }),
            429 => Err(self.limited(None)),
            403 if limits::is_limit(self.headers, &self.message()) => Err(self.limited(None)),
            403 => Err(self.denied()),
            404 | 410 => Err(Error::Gone { what: what() }),
            500.. => Err(Error::Transient {
                what: what(),
                cause: format!("the server answered {}", self.status),
                sent: RequestSent::Maybe,
            }),
            _ => Err(Error::Refused { what: what(), message: self.message() }),
        }
    }

    fn success(&self) -> Result<ApiReply, Error> {
        let (budget, date) = (limits::budget_from_headers(self.headers), limits::date(self.headers));
        if self.body.is_empty() && matches!(self.call, Call::Rest { .. }) {
            return Ok(ApiReply { budget, date, ..ApiReply::default() });
        }
        if matches!(self.call, Call::Diff { .. }) {
            // Code may be in any encoding. Replacing bytes that are not UTF-8 changes no line number.
            let body = Value::String(String::from_utf8_lossy(self.body).into_owned());
            return Ok(ApiReply { body, budget, date, ..ApiReply::default() });
        }
        if objects_in(self.body) > MOST_OBJECTS {
            return Err(Error::too_large(self.call.purpose(), &format!("{MOST_OBJECTS} objects")));
        }
        let body: Value = serde_json::from_slice(self.body).map_err(|error| {
            let what = self.call.purpose().to_owned();
            if error.is_eof() {
                Error::Transient {
                    what,
                    cause: "the answer was cut off".to_owned(),
                    sent: RequestSent::Maybe,
                }
            } else {
                Error::Malformed { what, detail: "it is not JSON".to_owned() }
            }
        })?;
        match self.call {
            // GitHub may report a limit with any status. No other REST response that we read has a `message`.
            // Its budget is that of REST, which the poller does not spend.
            Call::Conditional { .. } => Ok(ApiReply { body, date, etag: self.etag(), ..ApiReply::default() }),
            Call::Rest { .. } if limits::is_limit_message(&self.message_in(Some(&body))) => {
                Err(self.limited(None))
            }
            Call::Rest { .. } | Call::Diff { .. } => {
                Ok(ApiReply { body, budget, date, ..ApiReply::default() })
            }
            Call::Graphql { .. } => self.graphql(body),
        }
    }

    fn etag(&self) -> Option<String> {
        let etag = self.headers.get(http::header::ETAG)?;
        etag.to_str().ok().map(ToOwned::to_owned)
    }

    fn graphql(&self, mut body: Value) -> Result<ApiReply, Error> {
        let errors: Vec<GraphqlError> = match body.get("errors").and_then(Value::as_array) {
            Some(errors) => errors.iter().map(|error| self.graphql_error(error)).collect(),
            None => Vec::new(),
        };
        for error in &errors {
            let primary = matches!(error.kind.as_deref(), Some("RATE_LIMITED" | "RATE_LIMIT"));
            let message = error.message.to_ascii_lowercase();
            let secondary =
                message.contains("secondary rate limit") || message.contains("submitted too quickly");
            if primary || secondary {
                let kind = if secondary { LimitKind::Secondary } else { LimitKind::Primary };
                return Err(self.limited(Some(kind)));
            }
        }
        let data = body.get_mut("data").map(Value::take).unwrap_or_default();
        let budget = limits::budget_from_data(&data).or_else(|| limits::budget_from_headers(self.headers));
        let reply =
            ApiReply { body: data, errors, budget, date: limits::date(self.headers), ..ApiReply::default() };
        if !reply.body.is_null() {
            return Ok(reply);
        }
        if reply.errors.is_empty() {
            return Err(Error::Malformed {
                what: self.call.purpose().to_owned(),
                detail: "it has neither data nor errors".to_owned(),
            });
        }
        Err(reply.absence(self.call))
    }

    fn graphql_error(&self, error: &Value) -> GraphqlError {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(|text| (self.clean)(text));
        let code = || text(error.get("extensions").and_then(|extensions| extensions.get("code")));
        let path = error.get("path").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        GraphqlError {
            kind: text(error.get("type")).or_else(code),
            path: path
                .iter()
                .filter_map(|step| match step {
                    Value::String(field) => Some(PathStep::Field(field.clone())),
                    Value::Number(index) => {
                        index.as_u64().and_then(|i| i.try_into().ok()).map(PathStep::Index)
                    }
                    _ => None,
                })
                .collect(),
            message: text(error.get("message")).unwrap_or_default(),
        }
    }

    fn limited(&self, kind: Option<LimitKind>) -> Error {
        Error::RateLimited {
            what: self.call.purpose().to_owned(),
            kind: kind.unwrap_or_else(|| limits::kind(self.headers, &self.message())),
            retry_after: limits::retry_after(self.headers, self.limited_in_a_row),
        }
    }

    /// GitHub names the missing permission in a header; without one, the call names it.
    fn denied(&self) -> Error {
        let header = |name: &str| {
            self.headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .filter(|text| !text.trim().is_empty())
        };
        let missing = if let Some(single_sign_on) = header("x-github-sso") {
            let address = single_sign_on.split_once("url=").map_or(single_sign_on, |(_, address)| address);
            format!(
                "the organisation requires single sign-on; authorise the token at {}",
                (self.clean)(address)
            )
        } else if let Some(permissions) = header("x-accepted-github-permissions") {
            format!("the token needs the permission {}", (self.clean)(permissions))
        } else if let Some(scopes) = header("x-accepted-oauth-scopes") {
            format!("the token needs one of the scopes {}", (self.clean)(scopes))
        } else {
            missing_permission(&self.message(), self.call)
        };
        Error::Denied { what: self.call.purpose().to_owned(), missing }
    }

    /// GitHub's message, if the response is JSON. An HTML page would not help the reader.
    fn message(&self) -> String {
        // An error is short. A long body with an error's status is not worth parsing.
        let body: Option<Value> = self
            .body
            .get(..LARGEST_ERROR)
            .is_none()
            .then_some(self.body)
            .and_then(|body| serde_json::from_slice(body).ok());
        self.message_in(body.as_ref())
    }

    fn message_in(&self, body: Option<&Value>) -> String {
        let message = body.and_then(|body| body.get("message")).and_then(Value::as_str);
        let details = body.and_then(|body| body.get("errors")).and_then(Value::as_array);
        let mut text =
            message.map_or_else(|| format!("HTTP {}", self.status), |message| (self.clean)(message));
        for detail in details.into_iter().flatten().take(5) {
            let detail = detail.as_str().or_else(|| detail.get("message").and_then(Value::as_str));
            if let Some(detail) = detail {
                text.push_str("; ");
                text.push_str(&(self.clean)(detail));
            }
        }
        text
    }
}

/// Bytes of an error at most.
const LARGEST_ERROR: usize = 1024 * 1024;

/// A full page has some 60,000. In memory, each takes some hundred times the bytes that an empty one has in JSON.
const MOST_OBJECTS: usize = 200_000;

/// How many objects a JSON text has, without parsing it.
fn objects_in(json: &[u8]) -> usize {
    let (mut objects, mut in_string, mut is_escaped) = (0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => objects += 1,
            _ => {}
        }
    }
    objects
}

/// A server's text as one short line without control characters.
pub(super) fn presentable(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect();
    line.trim().to_owned()
}
