//! Sends one call and says what came of it. Nothing is ever repeated here.

use super::call::{ApiReply, Call, GraphqlError, PathStep, Transport, missing_permission};
use super::error::{Error, LimitKind, RequestSent};
use super::host::Host;
use super::limits;
use super::token::Token;
use crate::agents::secret::scrub;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use octocrab::Octocrab;
use secrecy::SecretString;
use serde_json::Value;
use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::Instrument;

/// A connection to one GitHub. Cloning it shares the connections.
#[derive(Debug, Clone)]
pub struct Client {
    connection: watch::Receiver<Option<ConnectionResult>>,
    host: Host,
    timeouts: Timeouts,
    /// How often in a row a limit struck; the wait doubles where the server does not name one.
    limited_in_a_row: Arc<AtomicU32>,
}

/// What a client talks over, or why it cannot talk to anybody.
type ConnectionResult = Result<Arc<Connected>, Error>;

#[derive(Debug)]
struct Connected {
    octocrab: Octocrab,
    secret: Option<SecretString>,
}

/// The other end of a client that was made before anybody knew who calls.
#[derive(Debug)]
pub struct CredentialSender {
    connection: watch::Sender<Option<ConnectionResult>>,
    host: Host,
    timeouts: Timeouts,
}

/// Who calls.
#[derive(Debug, Clone)]
pub enum Credentials {
    Token(Token),
    /// Nobody: only for a server on this machine, and only where the caller says so.
    NobodyOnLoopback,
}

/// octocrab has no timeouts of its own.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    pub connect: Duration,
    /// Between two pieces of an answer.
    pub read: Duration,
    /// From the first byte sent to the last byte received.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        // GitHub itself gives up on a query after ten seconds.
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(20),
            whole: Duration::from_secs(40),
        }
    }
}

/// No answer we ask for comes near this; what does is not kept in memory.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;
/// What is larger fits no reviewer's context many times over.
const LARGEST_DIFF: usize = 8 * 1024 * 1024;

impl Client {
    /// Must be called inside a Tokio runtime, which the connections will live in.
    pub fn new(host: Host, credentials: &Credentials, timeouts: Timeouts) -> Result<Self, Error> {
        let connected = Connected::new(&host, credentials, timeouts)?;
        let (_, connection) = watch::channel(Some(Ok(Arc::new(connected))));
        Ok(Self { connection, host, timeouts, limited_in_a_row: Arc::default() })
    }

    /// A client whose credentials are still being looked for. Whatever is sent waits until it is introduced.
    pub fn waiting(host: Host, timeouts: Timeouts) -> (Self, CredentialSender) {
        let (sender, connection) = watch::channel(None);
        let introduction = CredentialSender { connection: sender, host: host.clone(), timeouts };
        (Self { connection, host, timeouts, limited_in_a_row: Arc::default() }, introduction)
    }

    /// Waits for the introduction. Nobody else is told why it takes so long: the screen says that.
    async fn connected(&self, call: &Call) -> ConnectionResult {
        let mut connection = self.connection.clone();
        let known = connection.wait_for(Option::is_some).await;
        let nobody = || Err(Error::Unauthorised { what: call.purpose().to_owned() });
        known.map_or_else(|_| nobody(), |known| known.clone().unwrap_or_else(nobody))
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    fn request(&self, call: &Call) -> Result<Request<String>, Error> {
        let (method, address) = match call {
            Call::Graphql { .. } => (http::Method::POST, self.host.graphql().to_owned()),
            Call::Rest { method, path, .. } => (method.clone(), format!("{}{path}", self.host.rest())),
            Call::Diff { path, .. } => (http::Method::GET, format!("{}{path}", self.host.rest())),
        };
        let accepted = match call {
            Call::Diff { .. } => "application/vnd.github.diff",
            Call::Graphql { .. } | Call::Rest { .. } => "application/vnd.github+json",
        };
        let mut request = Request::builder()
            .method(method)
            .uri(address)
            .header(header::ACCEPT, accepted)
            .header("x-github-api-version", "2022-11-28");
        let body = call.body();
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        request
            .body(body.map(|body| body.to_string()).unwrap_or_default())
            .map_err(|error| Error::Malformed { what: call.purpose().to_owned(), detail: error.to_string() })
    }

    async fn exchange(
        &self,
        call: &Call,
        connected: &Connected,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), Error> {
        let request = self.request(call)?;
        let broken = |error: &(dyn StdError + 'static)| Error::Transient {
            what: call.purpose().to_owned(),
            cause: scrub(&innermost(error), connected.secret.as_ref()),
            sent: if never_connected(error) { RequestSent::No } else { RequestSent::Maybe },
        };
        let response = connected.octocrab.execute(request).await.map_err(|error| broken(&error))?;
        let (parts, body) = response.into_parts();
        let most = if matches!(call, Call::Diff { .. }) { LARGEST_DIFF } else { LARGEST_ANSWER };
        let body = Limited::new(body, most).collect().await.map_err(|error| {
            // Asking again would not make it smaller.
            if error.downcast_ref::<LengthLimitError>().is_some() {
                let message = format!("the answer is larger than {} MiB", most / (1024 * 1024));
                return Error::Refused { what: call.purpose().to_owned(), message };
            }
            broken(error.as_ref())
        })?;
        Ok((parts.status, parts.headers, body.to_bytes().to_vec()))
    }
}

impl Connected {
    fn new(host: &Host, credentials: &Credentials, timeouts: Timeouts) -> Result<Self, Error> {
        let what = || format!("connecting to {host}");
        let secret = match credentials {
            Credentials::Token(token) => Some(token.secret().clone()),
            Credentials::NobodyOnLoopback if host.is_loopback() => None,
            Credentials::NobodyOnLoopback => return Err(Error::Unauthorised { what: what() }),
        };
        let unusable = |error: octocrab::Error| Error::Malformed { what: what(), detail: innermost(&error) };
        let mut builder = Octocrab::builder()
            .base_uri(host.root())
            .map_err(unusable)?
            .set_connect_timeout(Some(timeouts.connect))
            .set_read_timeout(Some(timeouts.read))
            .set_write_timeout(Some(timeouts.read));
        if let Some(secret) = &secret {
            builder = builder.personal_token(secret.clone());
        }
        let octocrab = builder.build().map_err(unusable)?;
        Ok(Self { octocrab, secret })
    }
}

impl CredentialSender {
    /// Lets everything go on that waited. Must be called inside a Tokio runtime, which the connections will live in; it
    /// reads the certificates that the machine trusts, which takes a while.
    pub fn introduce(&self, credentials: &Credentials) -> Result<(), Error> {
        let connected = Connected::new(&self.host, credentials, self.timeouts)?;
        self.connection.send_replace(Some(Ok(Arc::new(connected))));
        Ok(())
    }

    /// There is nobody to call as: what waits fails, and so does what is sent from now on, until somebody is introduced.
    pub fn refuse(&self, why: Error) {
        self.connection.send_replace(Some(Err(why)));
    }
}

impl Transport for Client {
    async fn send(&self, call: &Call) -> Result<ApiReply, Error> {
        let span = tracing::info_span!("request", purpose = call.purpose(), writes = call.writes());
        self.send_logged(call).instrument(span).await
    }
}

impl Client {
    async fn send_logged(&self, call: &Call) -> Result<ApiReply, Error> {
        let started = Instant::now();
        let connected = self.connected(call).await?;
        let answer = tokio::time::timeout(self.timeouts.whole, self.exchange(call, &connected)).await;
        let (status, headers, body) = answer.unwrap_or_else(|_| {
            Err(Error::Transient {
                what: call.purpose().to_owned(),
                cause: format!("no answer within {} s", self.timeouts.whole.as_secs()),
                sent: RequestSent::Maybe,
            })
        })?;
        let clean = |text: &str| presentable(&scrub(text, connected.secret.as_ref()));
        let in_a_row = self.limited_in_a_row.load(Ordering::Relaxed);
        let reply =
            RawResponse { call, status, headers: &headers, body: &body, in_a_row, clean: &clean }.interpret();
        match &reply {
            Err(Error::RateLimited { .. }) => {
                self.limited_in_a_row.fetch_add(1, Ordering::Relaxed);
            }
            Ok(_) => self.limited_in_a_row.store(0, Ordering::Relaxed),
            Err(_) => {}
        }
        let took = started.elapsed().as_millis();
        match &reply {
            Ok(ApiReply { budget, errors, .. }) => {
                let remaining = budget.as_ref().map(|budget| budget.remaining);
                tracing::debug!(%status, took, remaining, errors = errors.len(), "GitHub answered");
            }
            Err(error) => tracing::info!(%status, took, %error, "the request failed"),
        }
        reply
    }
}

/// An answer as it came, before it is known what it says.
struct RawResponse<'a> {
    call: &'a Call,
    status: StatusCode,
    headers: &'a HeaderMap,
    body: &'a [u8],
    in_a_row: u32,
    clean: &'a dyn Fn(&str) -> String,
}

impl RawResponse<'_> {
    fn interpret(&self) -> Result<ApiReply, Error> {
        let what = || self.call.purpose().to_owned();
        match self.status.as_u16() {
            200..=299 => self.success(),
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
            // Code may be in any encoding; what is not UTF-8 is shown as such and changes no line number.
            let body = Value::String(String::from_utf8_lossy(self.body).into_owned());
            return Ok(ApiReply { body, errors: Vec::new(), budget, date });
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
            // A limit may come with any status; no answer we ask REST for has a message.
            Call::Rest { .. } if limits::is_limit_message(&self.message()) => Err(self.limited(None)),
            Call::Rest { .. } | Call::Diff { .. } => Ok(ApiReply { body, errors: Vec::new(), budget, date }),
            Call::Graphql { .. } => self.graphql(body),
        }
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
        let reply = ApiReply { body: data, errors, budget, date: limits::date(self.headers) };
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
            come_back: limits::come_back(self.headers, self.in_a_row),
        }
    }

    /// GitHub tells in headers what would have been enough; where it does not, the call itself knows.
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
                "the organisation wants the token authorised for single sign-on at {}",
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

    /// The server's own words, where it used JSON; an HTML page is nobody's sentence.
    fn message(&self) -> String {
        let body: Option<Value> = serde_json::from_slice(self.body).ok();
        let message = body.as_ref().and_then(|body| body.get("message")).and_then(Value::as_str);
        let details = body.as_ref().and_then(|body| body.get("errors")).and_then(Value::as_array);
        let mut text =
            message.map_or_else(|| format!("HTTP {}", self.status), |message| (self.clean)(message));
        for detail in details.into_iter().flatten().take(5) {
            let words = detail.as_str().or_else(|| detail.get("message").and_then(Value::as_str));
            if let Some(words) = words {
                text.push_str("; ");
                text.push_str(&(self.clean)(words));
            }
        }
        text
    }
}

/// A server's text as one short line without control characters.
fn presentable(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect();
    line.trim().to_owned()
}

/// The last cause in a chain of errors: octocrab wraps it in its own names and a backtrace.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    presentable(&crate::agents::http::innermost(error))
}

/// Whether there was no connection at all, so that nothing can have been sent.
fn never_connected(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<hyper_util::client::legacy::Error>() {
            return error.is_connect();
        }
        next = error.source();
    }
    false
}
