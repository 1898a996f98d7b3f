use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// How the server answers one request.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Json(u16, Vec<(&'static str, String)>, Value),
    Text(u16, &'static str, String),
    /// Announces the full length, sends half of the answer, and hangs up.
    CutOff(Value),
    /// Sends half of the answer as if it were all.
    Half(Value),
    /// Hangs up without an answer.
    Drop,
    /// Never answers.
    Silence,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Request {
    /// The name of the GraphQL operation, or method and path.
    pub(crate) fn operation(&self) -> String {
        let query = self.body["query"].as_str().unwrap_or_default();
        let name = query.lines().find_map(|line| {
            let rest = line.strip_prefix("query ").or_else(|| line.strip_prefix("mutation "))?;
            rest.split(['(', ' ']).next()
        });
        name.map_or_else(|| format!("{} {}", self.method, self.path), str::to_owned)
    }

    pub(crate) fn variables(&self) -> &Value {
        &self.body["variables"]
    }
}

/// A server that answers with a function and logs the requests.
pub(crate) struct Server {
    pub(crate) url: String,
    log: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let answer: Arc<dyn Fn(&Request) -> Answer + Send + Sync> = Arc::new(answer);
        let shared = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answer), Arc::clone(&shared)));
            }
        });
        Self { url, log }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn operations(&self) -> Vec<String> {
        self.requests().iter().map(Request::operation).collect()
    }

    pub(crate) fn count(&self, operation: &str) -> usize {
        self.operations().iter().filter(|name| *name == operation).count()
    }
}

async fn serve(
    stream: TcpStream,
    answer: Arc<dyn Fn(&Request) -> Answer + Send + Sync>,
    log: Arc<Mutex<Vec<Request>>>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let request = read(&mut stream).await?;
        log.lock().unwrap().push(request.clone());
        let (status, kind, headers, body, shown) = match answer(&request) {
            Answer::Json(status, headers, body) => {
                let body = if status == 204 { String::new() } else { body.to_string() };
                let shown = body.len();
                (status, "application/json", headers, body, shown)
            }
            Answer::Text(status, kind, body) => {
                let shown = body.len();
                (status, kind, Vec::new(), body, shown)
            }
            Answer::CutOff(body) => {
                let body = body.to_string();
                let shown = body.len() / 2;
                (200, "application/json", Vec::new(), body, shown)
            }
            Answer::Half(body) => {
                let mut body = body.to_string();
                body.truncate(body.len() / 2);
                let shown = body.len();
                (200, "application/json", Vec::new(), body, shown)
            }
            Answer::Drop => return None,
            Answer::Silence => {
                std::future::pending::<()>().await;
                return None;
            }
        };
        let mut head = format!("HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\n");
        for (name, value) in headers {
            head = format!("{head}{name}: {value}\r\n");
        }
        if status != 204 {
            head = format!("{head}content-length: {}\r\n", body.len());
        }
        head.push_str("\r\n");
        // In one packet: the second of two small ones would wait for an acknowledgement.
        head.push_str(&body[..shown]);
        stream.write_all(head.as_bytes()).await.ok()?;
        stream.flush().await.ok()?;
        if shown < body.len() {
            return None;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or_default()];
    stream.read_exact(&mut body).await.ok()?;
    let mut words = head.split(' ');
    let method = words.next()?.to_owned();
    let path = words.next()?.to_owned();
    Some(Request { method, path, head, body: serde_json::from_slice(&body).unwrap_or_default() })
}
