//! The real program in a terminal: the demo starts, is used, and leaves everything as it was.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod pty;

use pty::Played;

#[test]
fn the_demo_plays_and_leaves_the_terminal_and_the_disk_as_they_were() {
    let home = tempfile::tempdir().unwrap();
    let mut played = Played::start(home.path(), (120, 40), &["demo"], &[]);
    played.until_shown("acme/shop#12");
    assert!(played.screen.screen().alternate_screen());
    played.until_shown("Retry the payment three times");
    played.press("2");
    played.until_shown("severity pull request");
    played.press("3");
    played.until_shown("goes");
    played.press("4");
    played.until_shown("about");
    played.press("?");
    played.until_shown("Keys of this screen");
    played.press("x1");
    played.until_shown("attempt");
    played.press("q");
    assert!(played.ended().success());
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cloture"));
    let output = command.stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("needs a terminal") && said.contains("cloture status"), "{said}");
}
