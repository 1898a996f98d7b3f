//! Sends one request to a server other than GitHub: a webhook or a model's endpoint.
//!
//! There are no retries, no redirects and no kept connections, so the caller knows what was sent, where and
//! how often. An error says whether the request may have arrived.

mod address;

pub use address::{HttpAddress, HttpAddressError, is_loopback};

use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_rustls::{HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tower_service::Service;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// For DNS, TCP and TLS.
    pub connect: Duration,
    /// From the first byte sent to the last byte received.
    pub whole: Duration,
    /// Bytes of the answer's body.
    pub answer: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: StatusCode,
    pub body: Bytes,
}

/// Why there is no answer. Of an address, an error shows only scheme and host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// Nothing was sent, so the request did not arrive.
    #[error("{address} cannot be reached: {reason}")]
    NotSent { address: String, reason: String },
    /// The request may have arrived.
    #[error("{address} gave no answer: {reason}")]
    NoAnswer { address: String, reason: String },
    /// The answer has a status, but its body is incomplete.
    #[error("{address} answered {status}, but its answer is incomplete: {reason}")]
    CutShort { address: String, status: StatusCode, reason: IncompleteAnswer },
}

/// Why an answer's body is incomplete.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IncompleteAnswer {
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
    #[error("it took longer than {0:?}")]
    TooSlow(Duration),
    #[error("{0}")]
    Broken(String),
}

impl HttpError {
    /// Whether the request did not arrive, so sending it again cannot duplicate it.
    pub fn is_certainly_not_sent(&self) -> bool {
        matches!(self, HttpError::NotSent { .. })
    }
}

/// Posts a body and waits for the whole answer, with any status.
pub async fn post(
    address: &HttpAddress,
    headers: HeaderMap,
    body: impl Into<Bytes>,
    limits: HttpLimits,
) -> Result<Response, HttpError> {
    let not_sent = |reason: String| HttpError::NotSent { address: address.to_string(), reason };
    let request = request(address, headers, body.into()).map_err(|error| not_sent(error.to_string()))?;
    let connecting = async {
        let stream = connected(address).await?;
        http1::handshake::<_, Full<Bytes>>(stream).await.map_err(|error| innermost(&error))
    };
    let connection = timeout(limits.connect, connecting).await;
    let connection = connection.unwrap_or_else(|_| Err(format!("no connection within {:?}", limits.connect)));
    let (mut sender, connection) = connection.map_err(not_sent)?;
    let deadline = Instant::now() + limits.whole;
    let exchange = async {
        let no_answer = |reason: String| HttpError::NoAnswer { address: address.to_string(), reason };
        let answer = timeout_at(deadline, sender.send_request(request)).await;
        let answer = answer.map_err(|_| no_answer(format!("it took longer than {:?}", limits.whole)))?;
        let answer = answer.map_err(|error| no_answer(innermost(&error)))?;
        let (parts, body) = answer.into_parts();
        let body = timeout_at(deadline, collected(body, limits.answer)).await;
        let body = body.unwrap_or(Err(IncompleteAnswer::TooSlow(limits.whole)));
        match body {
            Ok(body) => Ok(Response { status: parts.status, body }),
            Err(reason) => {
                Err(HttpError::CutShort { address: address.to_string(), status: parts.status, reason })
            }
        }
    };
    tokio::pin!(exchange);
    tokio::select! {
        answer = &mut exchange => answer,
        // A closed connection has delivered all its bytes.
        _ = connection => exchange.await,
    }
}

fn request(address: &HttpAddress, headers: HeaderMap, body: Bytes) -> http::Result<Request<Full<Bytes>>> {
    let mut request = Request::post(address.path_and_query())
        .header(header::HOST, address.authority())
        .header(header::USER_AGENT, HeaderValue::from_static("cloture"));
    if let Some(authorization) = address.authorization() {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    let mut request = request.body(Full::new(body))?;
    request.headers_mut().extend(headers);
    Ok(request)
}

async fn connected(address: &HttpAddress) -> Result<MaybeHttpsStream<TokioIo<TcpStream>>, String> {
    let uri = address.uri().clone();
    if !address.is_encrypted() {
        let stream = HttpConnector::new().call(uri).await;
        return stream.map(MaybeHttpsStream::Http).map_err(|error| innermost(&error));
    }
    let builder = HttpsConnectorBuilder::new().with_native_roots();
    let builder = builder.map_err(|error| format!("the system's certificates cannot be read: {error}"))?;
    let mut connector = builder.https_only().enable_http1().build();
    connector.call(uri).await.map_err(|error| innermost(error.as_ref()))
}

async fn collected(body: Incoming, most: usize) -> Result<Bytes, IncompleteAnswer> {
    match Limited::new(body, most).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.downcast_ref::<LengthLimitError>().is_some() => {
            Err(IncompleteAnswer::TooLarge(most))
        }
        Err(error) => Err(IncompleteAnswer::Broken(innermost(error.as_ref()))),
    }
}

/// The last cause in a chain of errors, which is the most specific one.
pub(crate) fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests;
