//! The token is in no log, at any level. This file is a process of its own, because a logger belongs to the
//! process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "it/support"]
mod support {
    #[expect(dead_code, unused_imports, reason = "the other tests use the rest")]
    pub(crate) mod forge;
}

use cloture::github::{Call, Transport, documents};
use serde_json::json;
use support::forge::{Answer, SECRET, Server, client};

/// Keeps every log line.
#[derive(Default)]
struct Log(std::sync::Mutex<Vec<String>>);

impl Log {
    fn note(&self, what: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{what:?}"));
    }
}

impl tracing::field::Visit for &Log {
    fn record_debug(&mut self, _: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.note(value);
    }
}

impl tracing::Subscriber for &'static Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        span.record(&mut &**self);
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        values.record(&mut &**self);
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut &**self);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn no_log_ever_shows_the_token() {
    let log: &'static Log = Box::leak(Box::default());
    tracing::subscriber::set_global_default(log).unwrap();
    let json = |status, body: serde_json::Value| Answer::Json(status, Vec::new(), body);
    for answer in [
        json(401, json!({"message": format!("bad token {SECRET}")})),
        json(403, json!({"message": format!("bad token {SECRET}")})),
        json(500, json!({})),
        json(200, json!({"data": null, "errors": [{"message": SECRET}]})),
        Answer::Drop,
    ] {
        let server = Server::start(move |_| answer.clone()).await;
        let call = Call::graphql(&documents::VIEWER, json!({}));
        assert!(client(&server.url).send(&call).await.is_err());
    }
    let text = log.0.lock().unwrap().join("\n");
    assert!(text.contains("/graphql") && text.contains("call failed"), "something was logged: {text}");
    assert!(!text.contains(SECRET), "{text}");
}
