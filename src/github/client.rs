//! Sends one call to GitHub and returns the reply or the error. The client never retries.

mod response;

use super::call::{ApiReply, Call, Transport};
use super::error::{Error, RequestSent};
use super::host::Host;
use super::token::Token;
use crate::agents::secret::scrub;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use octocrab::Octocrab;
use response::{RawResponse, presentable};
use secrecy::SecretString;
use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::Instrument;

/// A client for one GitHub. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Client {
    connection: watch::Receiver<Option<ConnectionResult>>,
    host: Host,
    timeouts: Timeouts,
    /// Rate limits hit in a row: without a hint from GitHub, the wait doubles each time.
    limited_in_a_row: Arc<AtomicU32>,
}

/// The connection, or the reason why there is none.
type ConnectionResult = Result<Arc<Connected>, Error>;

#[derive(Debug)]
struct Connected {
    octocrab: Octocrab,
    secret: Option<SecretString>,
}

/// Gives a client its credentials after it was made.
#[derive(Debug)]
pub struct CredentialSender {
    connection: watch::Sender<Option<ConnectionResult>>,
    host: Host,
    timeouts: Timeouts,
}

/// The account that a client acts as.
#[derive(Debug, Clone)]
pub enum Credentials {
    Token(Token),
    /// No account. Only a server on this machine is called without a token.
    NobodyOnLoopback,
}

/// octocrab sets no timeouts by itself.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    pub connect: Duration,
    /// Between two pieces of a response.
    pub read: Duration,
    /// From the first byte sent to the last byte received.
    pub whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        // GitHub aborts a query after ten seconds.
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(20),
            whole: Duration::from_secs(40),
        }
    }
}

/// GitHub ends a query after ten seconds, long before an answer has this size. A parsed answer takes a multiple of
/// it, so a larger one is refused. The reader then asks for fewer threads at once.
const LARGEST_ANSWER: usize = 16 * 1024 * 1024;
/// One rename needs one; more than a few are a loop.
const MOST_REDIRECTS: usize = 3;
/// A larger diff would not fit any reviewer's context.
const LARGEST_DIFF: usize = 8 * 1024 * 1024;

impl Client {
    /// Call it inside a Tokio runtime: the connections live there.
    pub fn new(host: Host, credentials: &Credentials, timeouts: Timeouts) -> Result<Self, Error> {
        let connected = Connected::new(&host, credentials, timeouts)?;
        let (_, connection) = watch::channel(Some(Ok(Arc::new(connected))));
        Ok(Self { connection, host, timeouts, limited_in_a_row: Arc::default() })
    }

    /// A client whose token is still being looked up. Its requests wait for the [`CredentialSender`].
    pub fn waiting(host: Host, timeouts: Timeouts) -> (Self, CredentialSender) {
        let (sender, connection) = watch::channel(None);
        let credentials = CredentialSender { connection: sender, host: host.clone(), timeouts };
        (Self { connection, host, timeouts, limited_in_a_row: Arc::default() }, credentials)
    }

    /// Waits until there are credentials.
    /// The token, once it is known. It is for finding the token in texts that must not leave (S2).
    pub(crate) fn token(&self) -> Option<SecretString> {
        self.connection.borrow().as_ref()?.as_ref().ok()?.secret.clone()
    }

    async fn connected(&self, call: &Call) -> ConnectionResult {
        let mut connection = self.connection.clone();
        let no_credentials = || Err(Error::Unauthorised { what: call.purpose().to_owned() });
        let result = connection.wait_for(Option::is_some).await;
        result.map_or_else(|_| no_credentials(), |result| result.clone().unwrap_or_else(no_credentials))
    }

    pub fn host(&self) -> &Host {
        &self.host
    }

    fn address(&self, call: &Call) -> String {
        match call {
            Call::Graphql { .. } => self.host.graphql().to_owned(),
            Call::Rest { path, .. } | Call::Conditional { path, .. } | Call::Diff { path, .. } => {
                format!("{}{path}", self.host.rest())
            }
        }
    }

    fn request(call: &Call, address: &str) -> Result<Request<String>, Error> {
        let method = match call {
            Call::Graphql { .. } => http::Method::POST,
            Call::Rest { method, .. } => method.clone(),
            Call::Conditional { .. } | Call::Diff { .. } => http::Method::GET,
        };
        let accepted = match call {
            Call::Diff { .. } => "application/vnd.github.diff",
            Call::Graphql { .. } | Call::Rest { .. } | Call::Conditional { .. } => {
                "application/vnd.github+json"
            }
        };
        let mut request = Request::builder()
            .method(method)
            .uri(address)
            .header(header::ACCEPT, accepted)
            .header("x-github-api-version", "2022-11-28");
        if let Call::Conditional { etag: Some(etag), .. } = call {
            request = request.header(header::IF_NONE_MATCH, etag);
        }
        let body = call.body();
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        request
            .body(body.map(|body| body.to_string()).unwrap_or_default())
            .map_err(|error| Error::Malformed { what: call.purpose().to_owned(), detail: error.to_string() })
    }

    /// Sends the request. L13: GitHub answers the old name of a renamed repository with the address to send
    /// the same request to.
    async fn exchange(
        &self,
        call: &Call,
        connected: &Connected,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), Error> {
        let mut address = self.address(call);
        for _ in 0..MOST_REDIRECTS {
            let response = self.exchange_at(call, &address, connected).await?;
            match self.moved_to(call, response.0, &response.1) {
                Some(moved_to) if moved_to != address => address = moved_to,
                _ => return Ok(response),
            }
        }
        self.exchange_at(call, &address, connected).await
    }

    /// The new address of a moved object, if it is on the same API: no other server may get the token.
    fn moved_to(&self, call: &Call, status: StatusCode, headers: &HeaderMap) -> Option<String> {
        if matches!(call, Call::Graphql { .. }) || !matches!(status.as_u16(), 301 | 302 | 307 | 308) {
            return None;
        }
        let location = headers.get(header::LOCATION)?.to_str().ok()?;
        let is_path = location.starts_with('/') && !location.starts_with("//");
        let location = if is_path { format!("{}{location}", self.host.root()) } else { location.to_owned() };
        location.strip_prefix(self.host.rest())?.starts_with('/').then_some(location)
    }

    async fn exchange_at(
        &self,
        call: &Call,
        address: &str,
        connected: &Connected,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), Error> {
        let request = Self::request(call, address)?;
        let broken = |error: &(dyn StdError + 'static)| Error::Transient {
            what: call.purpose().to_owned(),
            cause: scrub(&innermost(error), connected.secret.as_ref()),
            sent: if never_connected(error) { RequestSent::No } else { RequestSent::Maybe },
        };
        let response = connected.octocrab.execute(request).await.map_err(|error| broken(&error))?;
        let (parts, body) = response.into_parts();
        let most = if matches!(call, Call::Diff { .. }) { LARGEST_DIFF } else { LARGEST_ANSWER };
        let mut body = Limited::new(body, most);
        // Only one copy of the answer is kept.
        let mut content = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                // Not transient: the same request would get the same large response.
                if error.downcast_ref::<LengthLimitError>().is_some() {
                    let limit = format!("{} MiB", most / (1024 * 1024));
                    return match call {
                        Call::Diff { .. } => Error::Refused {
                            what: call.purpose().to_owned(),
                            message: format!("the answer is larger than {limit}"),
                        },
                        _ => Error::too_large(call.purpose(), &limit),
                    };
                }
                broken(error.as_ref())
            })?;
            content.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default());
        }
        Ok((parts.status, parts.headers, content))
    }
}

impl Connected {
    fn new(host: &Host, credentials: &Credentials, timeouts: Timeouts) -> Result<Self, Error> {
        let what = || format!("connecting to {host}");
        let secret = match credentials {
            Credentials::Token(token) => {
                tracing::info!(%host, token_from = %token.source(), "using GitHub");
                Some(token.secret().clone())
            }
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
    /// Releases the waiting requests. Call it inside a Tokio runtime: the connections live there. It reads
    /// the machine's trusted certificates, which takes a while.
    pub fn set_credentials(&self, credentials: &Credentials) -> Result<(), Error> {
        let connected = Connected::new(&self.host, credentials, self.timeouts)?;
        self.connection.send_replace(Some(Ok(Arc::new(connected))));
        Ok(())
    }

    /// Fails the waiting requests and all later ones, until there are credentials.
    pub fn refuse(&self, why: Error) {
        self.connection.send_replace(Some(Err(why)));
    }
}

impl Transport for Client {
    async fn send(&self, call: &Call) -> Result<ApiReply, Error> {
        let span = tracing::info_span!("request", purpose = call.purpose(), writes = call.writes());
        let sent = async {
            let connected = match self.connected(call).await {
                Ok(connected) => connected,
                Err(error) => {
                    tracing::info!(%error, "the request was not sent");
                    return Err(error);
                }
            };
            let started = Instant::now();
            let (status, outcome) = self.send_once(call, &connected).await;
            log(status, started.elapsed(), &outcome);
            outcome
        };
        sent.instrument(span).await
    }
}

impl Client {
    async fn send_once(
        &self,
        call: &Call,
        connected: &Connected,
    ) -> (Option<StatusCode>, Result<ApiReply, Error>) {
        let response = tokio::time::timeout(self.timeouts.whole, self.exchange(call, connected)).await;
        let (status, headers, body) = match response {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return (None, Err(error)),
            Err(_) => {
                let cause = format!("no answer within {} s", self.timeouts.whole.as_secs());
                let what = call.purpose().to_owned();
                return (None, Err(Error::Transient { what, cause, sent: RequestSent::Maybe }));
            }
        };
        let clean = |text: &str| presentable(&scrub(text, connected.secret.as_ref()));
        let limited_in_a_row = self.limited_in_a_row.load(Ordering::Relaxed);
        let response =
            RawResponse { call, status, headers: &headers, body: &body, limited_in_a_row, clean: &clean };
        let outcome = response.interpret();
        match &outcome {
            Err(Error::RateLimited { .. }) => {
                self.limited_in_a_row.fetch_add(1, Ordering::Relaxed);
            }
            Ok(_) => self.limited_in_a_row.store(0, Ordering::Relaxed),
            Err(_) => {}
        }
        (Some(status), outcome)
    }
}

/// Logs how a request went, without the text of the request or of the response.
fn log(status: Option<StatusCode>, took: Duration, outcome: &Result<ApiReply, Error>) {
    let status = status.map(|status| status.as_u16());
    let took_ms = took.as_millis();
    match outcome {
        Ok(ApiReply { budget, errors, .. }) => {
            let cost = budget.and_then(|budget| budget.cost);
            let remaining = budget.map(|budget| budget.remaining);
            tracing::debug!(status, took_ms, cost, remaining, errors = errors.len(), "GitHub answered");
        }
        Err(Error::RateLimited { kind, retry_after, .. }) => {
            tracing::warn!(status, took_ms, limit = %kind, %retry_after, "GitHub limits our requests");
        }
        Err(error) => tracing::info!(status, took_ms, error = error.event(), "the request failed"),
    }
}

/// The last cause in a chain of errors. octocrab wraps it in its own names and a backtrace.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    presentable(&crate::agents::http::innermost(error))
}

/// Whether there was no connection at all: then GitHub did not get the request.
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
