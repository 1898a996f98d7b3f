//! The sockets: HTTP/1.1 on loopback, with bodies that end as a fault demands.
//!
//! This uses hyper directly: when a service returns an error, hyper closes the connection without sending a
//! byte, which is how a dropped connection looks. Web frameworks do not let a service fail.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming as HyperBody, SizeHint};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderName, HeaderValue, IF_NONE_MATCH};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};

use super::core::{Core, HttpAnswer, HttpReply, Incoming, ResponseFault};

/// The largest request body. GitHub does not document its own limit.
const LARGEST_BODY: usize = 10 * 1024 * 1024;

/// Bytes per piece of a trickling answer.
const TRICKLE: usize = 16;

/// The core, shared by all connections and by the [`Simulator`](super::Simulator) handle.
#[derive(Debug, Clone)]
pub(crate) struct SharedCore {
    core: Arc<Mutex<Core>>,
    /// Counts the requests, so that tests wait for one instead of sleeping.
    handled: Arc<watch::Sender<u64>>,
}

impl SharedCore {
    pub(crate) fn new(core: Core) -> Self {
        Self { core: Arc::new(Mutex::new(core)), handled: Arc::new(watch::Sender::new(0)) }
    }

    pub(crate) fn requests_handled(&self) -> watch::Receiver<u64> {
        self.handled.subscribe()
    }

    /// A panic in one request must not break the others.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Listens only on loopback: the control endpoints have no other protection.
pub(crate) async fn bind(port: u16) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Accepts connections until the future is dropped, which also closes them.
pub(crate) async fn run(listener: TcpListener, shared: SharedCore) -> Infallible {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // The client notices a failed connection itself.
                if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(stream, shared.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, shared: SharedCore) {
    let service = service_fn(move |request| answer(request, shared.clone()));
    let served = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // Every fault that drops the connection ends it with an error.
    let _ = served.await;
}

/// Tells hyper to close the connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("a fault closes this connection")]
struct Hangup;

async fn answer(request: Request<HyperBody>, shared: SharedCore) -> Result<Response<Outgoing>, Hangup> {
    let (parts, body) = request.into_parts();
    let header = |name: HeaderName| parts.headers.get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let Ok(body) = Limited::new(body, LARGEST_BODY).collect().await else { return Err(Hangup) };
    let incoming = Incoming {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        authorization: header(AUTHORIZATION),
        accept: header(ACCEPT),
        if_none_match: header(IF_NONE_MATCH),
        body: body.to_bytes().to_vec(),
    };
    let reply = shared.lock().handle(&incoming);
    shared.handled.send_modify(|count| *count += 1);
    match reply {
        HttpReply::Hangup(pause) => {
            sleep(pause).await;
            Err(Hangup)
        }
        HttpReply::Answer(answer) => {
            if let ResponseFault::After(pause) = answer.delivery {
                sleep(pause).await;
            }
            Ok(response(answer))
        }
    }
}

fn response(answer: HttpAnswer) -> Response<Outgoing> {
    let length = answer.body.len();
    let mut response = Response::new(Outgoing::new(answer.body, answer.delivery));
    *response.status_mut() =
        hyper::StatusCode::from_u16(answer.status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    if answer.delivery == ResponseFault::CutOff {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    response
}

/// A body that is sent whole, in pieces, in part, or without end.
struct Outgoing {
    left: Bytes,
    pause: Option<Duration>,
    waiting: Option<Pin<Box<Sleep>>>,
    then_fail: bool,
    is_endless: bool,
}

impl Outgoing {
    fn new(body: Vec<u8>, delivery: ResponseFault) -> Self {
        let mut left = Bytes::from(body);
        let then_fail = delivery == ResponseFault::CutOff;
        let is_endless = matches!(delivery, ResponseFault::Endless(_));
        if then_fail || is_endless {
            left.truncate(left.len() / 2);
        }
        let pause = match delivery {
            ResponseFault::Trickle(pause) | ResponseFault::Endless(pause) => Some(pause),
            _ => None,
        };
        Self { left, pause, waiting: None, then_fail, is_endless }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Hangup;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Hangup>>> {
        if let Some(waiting) = &mut self.waiting {
            if waiting.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.waiting = None;
        }
        if self.left.is_empty() && self.is_endless {
            // Blanks are valid JSON, so the client cannot tell that the answer never ends.
            self.left = Bytes::from_static(b" ");
        }
        if self.left.is_empty() {
            let failure = std::mem::take(&mut self.then_fail).then_some(Err(Hangup));
            return Poll::Ready(failure);
        }
        let piece = match self.pause {
            Some(pause) => {
                self.waiting = Some(Box::pin(sleep(pause)));
                let size = TRICKLE.min(self.left.len());
                self.left.split_to(size)
            }
            None => std::mem::take(&mut self.left),
        };
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && !self.then_fail && !self.is_endless
    }

    fn size_hint(&self) -> SizeHint {
        if self.then_fail || self.is_endless {
            return SizeHint::default();
        }
        SizeHint::with_exact(u64::try_from(self.left.len()).unwrap_or(u64::MAX))
    }
}
