//! Quitting works at once, whatever hangs, and restores the terminal.

use crate::support::here::{Here, WATCHED, silent_server};
use crate::support::pty::Played;
use std::process::Command;
use std::time::Duration;
use tokio::time::Instant;

/// The promise is one second, but a busy machine may take longer. A hanging server hangs at least ten times
/// as long.
const AT_ONCE: Duration = Duration::from_secs(4);

fn leave(mut played: Played, how: impl FnOnce(&mut Played)) -> portable_pty::ExitStatus {
    let began = Instant::now();
    how(&mut played);
    let status = played.ended();
    let took = began.elapsed();
    assert!(took < AT_ONCE, "{took:?}");
    status
}

fn press_q(played: &mut Played) {
    played.press("q");
}

fn signal(name: &'static str) -> impl FnOnce(&mut Played) {
    move |played| {
        let id = played.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }
}

#[test]
fn quitting_works_while_the_network_hangs() {
    let mut here = Here::new();
    here.configure(WATCHED);
    let (_silent, port) = silent_server();
    here.url = format!("http://127.0.0.1:{port}");
    let mut played = here.start();
    played.until_shown("Searching for");
    assert!(leave(played, press_q).success());
}

#[test]
fn quitting_works_while_the_journal_hangs() {
    let here = Here::new();
    let (_silent, port) = silent_server();
    here.configure(&format!("{WATCHED}[journal]\nurl = 'postgres://cloture@127.0.0.1:{port}/reviews'\n"));
    let mut played = here.start();
    played.until_shown("Opening the journal");
    assert!(leave(played, press_q).success());
}

#[test]
fn quitting_works_while_the_first_run_page_asks() {
    let here = Here::new();
    let mut played = here.start();
    played.until_shown("write this configuration");
    played.press("W");
    played.until_shown("y yes");
    assert!(leave(played, |played| played.press("\u{3}")).success());
}

#[test]
fn a_signal_ends_it_in_order() {
    let here = Here::new();
    here.configure(WATCHED);
    for name in ["-TERM", "-HUP", "-INT"] {
        let mut played = here.start();
        played.until_shown("The call recurses");
        assert!(leave(played, signal(name)).success(), "{name}");
    }
}

#[test]
fn closing_the_terminal_ends_it_in_order() {
    let here = Here::new();
    here.configure(WATCHED);
    let mut played = here.start();
    played.until_shown("The call recurses");
    let began = Instant::now();
    let mut child = played.close();
    let status = child.wait().unwrap();
    assert!(began.elapsed() < AT_ONCE);
    assert!(status.success(), "a closed terminal is no error: {status:?}");
}

#[test]
fn a_panic_on_any_thread_restores_the_terminal_and_prints_its_message() {
    let here = Here::new();
    here.configure(WATCHED);
    for place in ["screen", "task"] {
        let mut played = here.start_with(&[], &[("GH_TOKEN", "secret"), ("CLOTURE_PANIC", place)]);
        let status = played.ended();
        // 101 is Rust's exit code for a panic on the main thread.
        assert!([70, 101].contains(&status.exit_code()), "{status:?}");
        assert!(played.contents().contains("asked to panic"), "{}", played.contents());
    }
}

#[test]
fn the_terminals_reply_about_its_background_is_no_key() {
    let here = Here::new();
    here.configure(WATCHED);
    let mut played = here.start();
    played.until_shown("The call recurses");
    assert!(String::from_utf8_lossy(&played.raw).contains("\u{1b}]11;?"), "the terminal is asked");
    played.press("2\u{1b}]11;rgb:ffff/ffff/ffff\u{7}1?");
    played.until_shown("Keys of this screen");
    played.press("x");
    played.until_gone("Keys of this screen");
    assert!(played.contents().contains("The call recurses"), "{}", played.contents());
    assert!(leave(played, press_q).success());
}
