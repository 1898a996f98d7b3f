//! Every problem at the start has a text; no screen is blank.

use crate::support::here::{Here, WATCHED, silent_server};
use std::io::{Read, Write};
use std::net::TcpListener;

/// A server with one answer to every request.
fn answering(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _length = stream.read(&mut [0; 16 * 1024]);
            let _sent = stream.write_all(answer.as_bytes());
        }
    });
    port
}

#[test]
fn a_refused_token_is_shown_with_a_remedy() {
    let mut here = Here::new();
    here.configure(WATCHED);
    let port = answering("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
    here.url = format!("http://127.0.0.1:{port}");
    let mut played = here.start();
    played.until_shown("not allowed");
    played.until_shown("was refused because the token");
    played.until_shown("cloture doctor");
    played.press("q");
    assert!(played.ended().success());
}

#[test]
fn a_rate_limit_is_shown_with_its_kind() {
    let mut here = Here::new();
    here.configure(WATCHED);
    let port = answering(
        "HTTP/1.1 403 Forbidden\r\nretry-after: 900\r\ncontent-length: 66\r\nconnection: close\r\n\r\n\
         {\"message\": \"You have exceeded a secondary rate limit. Wait a bit\"}",
    );
    here.url = format!("http://127.0.0.1:{port}");
    let mut played = here.start();
    played.until_shown("rate limited");
    played.until_shown("secondary limit");
}

#[test]
fn no_open_pull_request_has_a_text() {
    let here = Here::new();
    here.configure("[[watch]]\nrepositories = ['acme/quiet']\n");
    let mut played = here.start();
    played.until_shown("No pull request is open");
    played.until_shown("[[watch]] rule");
}

#[test]
fn nothing_to_watch_has_a_text() {
    let here = Here::new();
    here.configure("[policy]\npoll_interval = '1s'\n");
    let mut played = here.start();
    played.until_shown("Cloture does not know which pull requests to watch");
    played.until_shown("this folder is not a git checkout");
}

#[test]
fn a_broken_journal_is_shown_and_retried() {
    let here = Here::new();
    here.configure(WATCHED);
    let state = here.path("state");
    // A file in place of the folder.
    std::fs::write(&state, "").unwrap();
    let arguments = ["--state-dir", state.to_str().unwrap()];
    let mut played = here.start_with(&arguments, &[("GH_TOKEN", "secret")]);
    played.until_shown("no journal");
    std::fs::remove_file(&state).unwrap();
    played.press("u");
    played.until_shown("The call recurses");
    played.press("q");
    assert!(played.ended().success());
}

#[test]
fn u4_the_screen_works_while_the_journal_does_not_answer() {
    let here = Here::new();
    let (_silent, port) = silent_server();
    here.configure(&format!("{WATCHED}[journal]\nurl = 'postgres://cloture@127.0.0.1:{port}/reviews'\n"));
    let mut played = here.start();
    played.until_shown("Opening the journal");
    played.press("?");
    played.until_shown("Keys of this screen");
}
