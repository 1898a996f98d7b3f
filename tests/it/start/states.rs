//! Nothing that goes wrong is a blank.

use crate::support::here::{Here, WATCHED, silent_server};
use std::io::{Read, Write};
use std::net::TcpListener;

/// A server that answers everything with the same.
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
fn a_token_that_is_refused_is_told_with_what_to_do() {
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
fn a_limit_is_told_with_when_it_goes_on() {
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
fn where_nothing_is_open_it_says_so() {
    let here = Here::new();
    here.configure("[[watch]]\nrepositories = ['acme/quiet']\n");
    let mut played = here.start();
    played.until_shown("No pull request is open");
    played.until_shown("[[watch]] rule");
}

#[test]
fn where_nothing_says_what_to_watch_it_says_so() {
    let here = Here::new();
    here.configure("[policy]\npoll_interval = '1s'\n");
    let mut played = here.start();
    played.until_shown("Nothing says which pull requests to watch");
    played.until_shown("this folder is not a git checkout");
}

#[test]
fn a_journal_that_cannot_be_used_is_told_and_tried_again() {
    let here = Here::new();
    here.configure(WATCHED);
    let state = here.path("state");
    // A file where the folder should be.
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
fn a_journal_that_does_not_answer_leaves_the_screen_alone() {
    let here = Here::new();
    let (_silent, port) = silent_server();
    here.configure(&format!("{WATCHED}[journal]\nurl = 'postgres://cloture@127.0.0.1:{port}/reviews'\n"));
    let mut played = here.start();
    played.until_shown("Opening the journal");
    played.press("?");
    played.until_shown("Keys of this screen");
}
