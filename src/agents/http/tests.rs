use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const LIMITS: HttpLimits =
    HttpLimits { connect: Duration::from_secs(20), whole: Duration::from_secs(20), answer: 100 };

/// A server for one request: it reads up to the word `end`, sends `answer`, and closes the connection unless
/// `stay`.
async fn server(answer: &'static str, stay: bool) -> (HttpAddress, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://user:pass@{}/a?b=c", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"end") {
            let mut piece = [0; 1024];
            let read = stream.read(&mut piece).await.unwrap();
            request.extend_from_slice(&piece[..read]);
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        if stay {
            std::future::pending::<()>().await;
        }
        String::from_utf8(request).unwrap()
    });
    (HttpAddress::parse(&url).unwrap(), serving)
}

async fn response(answer: &'static str, stay: bool, limits: HttpLimits) -> Result<Response, HttpError> {
    let (address, _serving) = server(answer, stay).await;
    post(&address, HeaderMap::new(), "end", limits).await
}

#[tokio::test]
async fn the_request_has_its_path_headers_and_body() {
    let (address, serving) = server("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok", false).await;
    let headers =
        HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let response = post(&address, headers, "the end", LIMITS).await.unwrap();
    assert_eq!((response.status, response.body.as_ref()), (StatusCode::CREATED, b"ok".as_slice()));
    let request = serving.await.unwrap();
    assert!(
        request.starts_with("POST /a?b=c HTTP/1.1\r\n") && request.ends_with("\r\n\r\nthe end"),
        "{request}"
    );
    let host = address.to_string().replace("http://", "host: ");
    for line in [
        host.as_str(),
        "content-type: application/json",
        "content-length: 7",
        "authorization: Basic dXNlcjpwYXNz",
    ] {
        assert!(request.contains(&format!("\r\n{line}\r\n")), "{line}: {request}");
    }
}

#[tokio::test]
async fn an_answer_without_a_length_ends_with_the_connection() {
    let response = response("HTTP/1.1 200 OK\r\n\r\nall of it", false, LIMITS).await.unwrap();
    assert_eq!(response.body.as_ref(), b"all of it");
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_any_other() {
    let answer = "HTTP/1.1 307 x\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(response(answer, false, LIMITS).await.unwrap().status, StatusCode::TEMPORARY_REDIRECT);
}

#[tokio::test]
async fn a_request_without_an_answer_may_have_arrived() {
    for answer in ["", "nonsense\r\n\r\n"] {
        let error = response(answer, false, LIMITS).await.unwrap_err();
        assert!(matches!(error, HttpError::NoAnswer { .. }) && !error.is_certainly_not_sent(), "{error}");
    }
    let short = HttpLimits { whole: Duration::from_millis(100), ..LIMITS };
    let error = response("", true, short).await.unwrap_err();
    assert!(error.to_string().ends_with("gave no answer: it took longer than 100ms"), "{error}");
}

#[tokio::test]
async fn an_incomplete_answer_still_has_a_status() {
    let long = "HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n";
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhal";
    let short = HttpLimits { whole: Duration::from_millis(100), ..LIMITS };
    for (answer, stay, limits) in [(long, false, LIMITS), (cut, false, LIMITS), (cut, true, short)] {
        let error = response(answer, stay, limits).await.unwrap_err();
        assert!(matches!(error, HttpError::CutShort { status: StatusCode::OK, .. }), "{error}");
    }
}

#[tokio::test]
async fn without_a_connection_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap();
    drop(listener);
    let refused = HttpAddress::parse(&format!("http://{place}/SECRET")).unwrap();
    let error = post(&refused, HeaderMap::new(), "end", LIMITS).await.unwrap_err();
    assert!(error.is_certainly_not_sent() && !error.to_string().contains("SECRET"), "{error}");

    // A server that never answers the TLS handshake.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = HttpAddress::parse(&format!("https://{}/", listener.local_addr().unwrap())).unwrap();
    let short = HttpLimits { connect: Duration::from_millis(100), ..LIMITS };
    let error = post(&silent, HeaderMap::new(), "end", short).await.unwrap_err();
    assert!(error.is_certainly_not_sent(), "{error}");

    // A server without TLS.
    let (address, _serving) = server("", false).await;
    let plain = HttpAddress::parse(&address.to_string().replace("http://", "https://")).unwrap();
    let error = post(&plain, HeaderMap::new(), "end", short).await.unwrap_err();
    assert!(error.is_certainly_not_sent(), "{error}");
}
