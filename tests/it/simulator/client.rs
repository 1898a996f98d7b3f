//! A plain HTTP client, so that these tests see the exact bytes.

use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

pub(crate) struct Client {
    url: String,
    pub(crate) token: Option<String>,
    pub(crate) graphql_path: &'static str,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Client {
    pub(crate) fn of(simulator: &Simulator) -> Self {
        Self { url: simulator.url(), token: Some("any".to_owned()), graphql_path: "/graphql" }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Result<Answer, String> {
        self.send_accepting(method, path, body, "application/vnd.github+json").await
    }

    pub(crate) async fn send_accepting(
        &self,
        method: &str,
        path: &str,
        body: Option<Value>,
        accept: &str,
    ) -> Result<Answer, String> {
        let address = self.url.strip_prefix("http://").unwrap();
        let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| e.to_string())?;
        tokio::spawn(connection);
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let mut request =
            Request::builder().method(method).uri(path).header("host", address).header("accept", accept);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        Ok(Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        })
    }

    pub(crate) async fn post(&self, query: &str, variables: Value) -> Result<Answer, String> {
        let body = json!({ "query": query, "variables": variables });
        self.send("POST", self.graphql_path, Some(body)).await
    }

    /// The whole GraphQL answer, including errors.
    pub(crate) async fn query(&self, query: &str, variables: Value) -> Value {
        let answer = self.post(query, variables).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// The data of an answer that must have no errors.
    pub(crate) async fn data(&self, query: &str, variables: Value) -> Value {
        let mut answer = self.query(query, variables).await;
        assert!(answer.get("errors").is_none(), "{answer:#}");
        answer["data"].take()
    }
}

pub(crate) async fn start(scenario: &str) -> (Simulator, Client) {
    let scenario = Scenario::built_in(scenario).unwrap();
    let simulator = Simulator::start(&scenario, SimulatorOptions::default()).await.unwrap();
    assert_eq!(simulator.problems(), [""; 0]);
    let client = Client::of(&simulator);
    (simulator, client)
}
