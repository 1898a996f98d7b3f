//! A server that receives tasks by HTTP, with its faults.

use super::trouble::Trouble;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

#[derive(Debug, Default)]
struct Inside {
    trouble: Option<Trouble>,
    /// The keys of the tasks that it received.
    taken: Vec<String>,
    asked: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Hook {
    pub(crate) url: String,
    inside: Arc<Mutex<Inside>>,
}

impl Hook {
    pub(crate) async fn start() -> Hook {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/tasks", listener.local_addr().unwrap());
        let hook = Hook { url, inside: Arc::default() };
        let inside = Arc::clone(&hook.inside);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&inside)));
            }
        });
        hook
    }

    pub(crate) fn set(&self, trouble: Option<Trouble>) {
        self.inside.lock().unwrap().trouble = trouble;
    }

    pub(crate) fn taken(&self) -> Vec<String> {
        self.inside.lock().unwrap().taken.clone()
    }

    pub(crate) fn asked(&self) -> usize {
        self.inside.lock().unwrap().asked
    }
}

async fn serve(stream: TcpStream, inside: Arc<Mutex<Inside>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let field = |name: &str| {
        head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
    };
    let mut body = vec![0; field("content-length")?.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    let key = field("idempotency-key")?;
    let trouble = {
        let mut inside = inside.lock().unwrap();
        inside.asked += 1;
        let trouble = inside.trouble;
        if trouble.is_none_or(takes_it) {
            inside.taken.push(key);
        }
        trouble
    };
    let answer =
        |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
    let answer = match trouble {
        Some(Trouble::ServerError) => answer("500 Internal Server Error"),
        Some(Trouble::BadGateway) => {
            "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>"
                .to_owned()
        }
        Some(Trouble::DroppedBefore | Trouble::DroppedAfter) => return None,
        Some(Trouble::Truncated) => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"ta".to_owned(),
        Some(Trouble::Hangs) => return std::future::pending().await,
        Some(Trouble::BadToken) => answer("401 Unauthorized"),
        Some(Trouble::NotAllowed) => answer("403 Forbidden"),
        Some(Trouble::Gone) => answer("404 Not Found"),
        Some(Trouble::SecondaryLimit) => answer("429 Too Many Requests\r\nretry-after: 90"),
        Some(Trouble::HourlyLimit) => answer("403 Forbidden\r\nx-ratelimit-remaining: 0"),
        Some(Trouble::SlowLoris) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await.ok()?;
            loop {
                stream.write_all(b" ").await.ok()?;
                stream.flush().await.ok()?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        _ => answer("200 OK"),
    };
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.flush().await.ok()
}

/// Whether it received the task although its answer does not say so.
fn takes_it(trouble: Trouble) -> bool {
    matches!(trouble, Trouble::BadGateway | Trouble::DroppedAfter | Trouble::Truncated | Trouble::SlowLoris)
        || trouble.on_forge("").is_none()
}
