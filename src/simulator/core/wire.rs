//! Requests and answers as plain data, and how a fault changes an answer.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{FaultKind, HourlyBudget, Resource, RestAnswer, RestBody};

/// The parts of a request that the simulator reads.
#[derive(Debug, Clone)]
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) authorization: Option<String>,
    pub(crate) accept: Option<String>,
    pub(crate) if_none_match: Option<String>,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug)]
pub(crate) enum HttpReply {
    Answer(HttpAnswer),
    /// Close the connection without a byte, after this time.
    Hangup(Duration),
}

#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) delivery: ResponseFault,
}

/// How the body is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseFault {
    Whole,
    After(Duration),
    /// A few bytes at a time, with this pause between.
    Trickle(Duration),
    /// Half of the body, then a blank after every pause, without end.
    Endless(Duration),
    /// Half of the body, then the connection closes.
    CutOff,
}

impl HttpReply {
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Answer(answer) => Some(answer.status),
            Self::Hangup(_) => None,
        }
    }
}

impl HttpAnswer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type", "application/json; charset=utf-8".to_owned())],
            body: body.to_string().into_bytes(),
            delivery: ResponseFault::Whole,
        }
    }

    fn text(status: u16, content_type: &str, body: String) -> Self {
        Self {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            body: body.into_bytes(),
            delivery: ResponseFault::Whole,
        }
    }

    /// Adds the headers of every API answer. The date is virtual, because clients compute waits from it.
    pub(crate) fn with_budget(mut self, budget: HourlyBudget, resource: Resource, now: Timestamp) -> Self {
        let date = now.to_zoned(TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        self.headers.extend([
            ("date", date),
            ("x-ratelimit-limit", budget.limit.to_string()),
            ("x-ratelimit-remaining", budget.remaining().to_string()),
            ("x-ratelimit-used", budget.used.to_string()),
            ("x-ratelimit-reset", budget.reset_at.as_second().to_string()),
            ("x-ratelimit-resource", resource.name().to_owned()),
            ("x-oauth-scopes", "repo, workflow".to_owned()),
            ("x-github-media-type", "github.v3; format=json".to_owned()),
        ]);
        self
    }
}

/// A REST answer as HTTP, with a `link` header if there is a next page.
pub(super) fn rest(answer: RestAnswer, incoming: &Incoming) -> HttpAnswer {
    let mut sent = match answer.body {
        RestBody::Json(body) => HttpAnswer::json(answer.status, &body),
        RestBody::Text(text) => HttpAnswer::text(answer.status, "text/plain; charset=utf-8", text),
        RestBody::Empty => HttpAnswer {
            status: answer.status,
            headers: Vec::new(),
            body: Vec::new(),
            delivery: ResponseFault::Whole,
        },
    };
    if let Some(path) = answer.moved_to {
        let start = incoming.path.split("/repos/").next().unwrap_or_default();
        let query = incoming.query.as_ref().map_or_else(String::new, |query| format!("?{query}"));
        sent.headers.push(("location", format!("{start}{path}{query}")));
    }
    if let Some(next) = answer.next_page {
        let kept = parameters(incoming.query.as_deref().unwrap_or_default());
        let kept = kept.iter().filter(|(key, _)| key != "page").map(|(key, value)| format!("{key}={value}&"));
        let query: String = kept.collect();
        sent.headers.push(("link", format!("<{}?{query}page={next}>; rel=\"next\"", incoming.path)));
    }
    sent
}

/// Adds the `ETag`, and answers 304 if the client already has this answer.
pub(super) fn conditional(mut answer: HttpAnswer, incoming: &Incoming) -> HttpAnswer {
    let mut hasher = std::hash::DefaultHasher::new();
    answer.body.hash(&mut hasher);
    let etag = format!("W/\"{:x}\"", hasher.finish());
    if answer.status == 200 && incoming.if_none_match.as_ref() == Some(&etag) {
        answer.status = 304;
        answer.body.clear();
    }
    answer.headers.push(("etag", etag));
    answer
}

const SECONDARY: &str =
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";

pub(super) fn secondary_limit(retry_after: i64, as_success: bool) -> HttpAnswer {
    let url = "https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api";
    let mut answer = if as_success {
        HttpAnswer::json(200, &json!({ "errors": [{ "message": SECONDARY }] }))
    } else {
        HttpAnswer::json(403, &json!({ "message": SECONDARY, "documentation_url": url }))
    };
    answer.headers.push(("retry-after", retry_after.to_string()));
    answer
}

pub(super) fn primary_limit(graphql: bool, user: i64, error_type: &str) -> HttpAnswer {
    let message = format!("API rate limit exceeded for user ID {user}.");
    if graphql {
        let error = json!({ "type": error_type, "message": message });
        HttpAnswer::json(200, &json!({ "errors": [error] }))
    } else {
        rest_message(403, &message)
    }
}

fn rest_message(status: u16, message: &str) -> HttpAnswer {
    let url = "https://docs.github.com/rest";
    HttpAnswer::json(
        status,
        &json!({ "message": message, "documentation_url": url, "status": status.to_string() }),
    )
}

/// Changes an answer as the fault demands.
pub(super) fn apply_fault(mut answer: HttpAnswer, kind: &FaultKind) -> HttpReply {
    let with_headers = |mut other: HttpAnswer, headers: Vec<(&'static str, String)>| {
        other.headers.extend(headers.into_iter().filter(|(name, _)| *name != "content-type"));
        HttpReply::Answer(other)
    };
    let message = |status: u16, text: &str, headers| with_headers(rest_message(status, text), headers);
    match kind {
        FaultKind::DropBefore | FaultKind::DropAfter => return HttpReply::Hangup(Duration::ZERO),
        FaultKind::Stall { millis } => return HttpReply::Hangup(Duration::from_millis(*millis)),
        FaultKind::Status { status, message: text, .. } => {
            let text = if text.is_empty() { "Something went wrong" } else { text };
            return message(*status, text, answer.headers);
        }
        FaultKind::BadGateway { .. } => {
            let page = "<html>\n<head><title>502 Bad Gateway</title></head>\n<body>\n<center><h1>502 Bad Gateway\
                        </h1></center>\n</body>\n</html>\n";
            return HttpReply::Answer(HttpAnswer::text(502, "text/html", page.to_owned()));
        }
        FaultKind::Unauthorized => return message(401, "Bad credentials", answer.headers),
        FaultKind::Forbidden { message: text } => return message(403, text, answer.headers),
        FaultKind::NotFound => return message(404, "Not Found", answer.headers),
        FaultKind::Truncated => answer.body.truncate(answer.body.len() / 2),
        FaultKind::CutOff => answer.delivery = ResponseFault::CutOff,
        FaultKind::Slow { millis } => answer.delivery = ResponseFault::After(Duration::from_millis(*millis)),
        FaultKind::Trickle { millis } => {
            answer.delivery = ResponseFault::Trickle(Duration::from_millis(*millis));
        }
        FaultKind::Endless { millis } => {
            answer.delivery = ResponseFault::Endless(Duration::from_millis(*millis));
        }
        FaultKind::Partial { path, error_type, message } => {
            let mut body: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
            blank_out(&mut body, path, error_type, message);
            answer.body = body.to_string().into_bytes();
        }
        // `Core` answers the limit faults itself, with the account's budget; these are stand-ins.
        FaultKind::SecondaryLimit { retry_after, as_success } => {
            return HttpReply::Answer(secondary_limit(i64::from(*retry_after), *as_success));
        }
        FaultKind::PrimaryLimit { error_type, .. } => {
            return HttpReply::Answer(primary_limit(true, 0, error_type));
        }
    }
    HttpReply::Answer(answer)
}

fn blank_out(body: &mut Value, path: &[Value], error_type: &str, message: &str) {
    let mut place = body.get_mut("data");
    for step in path {
        place = match (place, step) {
            (Some(value), Value::String(key)) => value.get_mut(key.as_str()),
            (Some(value), Value::Number(index)) => {
                let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
                index.and_then(|index| value.get_mut(index))
            }
            _ => None,
        };
    }
    if let Some(place) = place {
        *place = Value::Null;
    }
    let error = json!({ "type": error_type, "path": path, "message": message });
    match body.get_mut("errors").and_then(Value::as_array_mut) {
        Some(errors) => errors.push(error),
        None => {
            if let Some(body) = body.as_object_mut() {
                body.insert("errors".to_owned(), json!([error]));
            }
        }
    }
}

/// A path's segments, decoded.
pub(super) fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|part| !part.is_empty()).map(decoded).collect()
}

pub(super) fn parameters(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key), decoded(&value.replace('+', " ")))
        })
        .collect()
}

/// Decodes percent-encoding; an invalid sequence stays as it is.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let hex = bytes
            .get(index + 1..index + 3)
            .filter(|_| bytes[index] == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = hex {
            out.push(byte);
            index += 3;
        } else {
            out.push(bytes[index]);
            index += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_parameters_are_decoded() {
        assert_eq!(segments("/repos/o/r/contents/a%20b/%zz"), ["repos", "o", "r", "contents", "a b", "%zz"]);
        assert_eq!(
            parameters("labels=bug%2Cui&q=a+b"),
            [("labels".to_owned(), "bug,ui".to_owned()), ("q".to_owned(), "a b".to_owned())]
        );
    }

    #[test]
    fn a_partial_answer_keeps_the_other_data() {
        let mut body = json!({ "data": { "nodes": [{ "a": 1 }, { "a": 2 }] } });
        blank_out(&mut body, &[json!("nodes"), json!(1)], "FORBIDDEN", "no");
        assert_eq!(body["data"], json!({ "nodes": [{ "a": 1 }, null] }));
        assert_eq!(body["errors"][0]["path"], json!(["nodes", 1]));
    }
}
