//! Stopping the program from outside (SIGTSTP) gives the terminal back, and continuing it takes the terminal
//! again. `/proc` tells whether a process is stopped.
#![cfg(target_os = "linux")]

use super::world::{WATCHED, World};
use crate::support::pty::Played;
use std::process::Command;

fn send(signal: &str, played: &Played) {
    let process = played.child.process_id().unwrap().to_string();
    assert!(Command::new("kill").args(["-s", signal, &process]).status().unwrap().success());
}

/// The state of a process as `ps` shows it: `T` is stopped.
fn is_stopped(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// Suspends the program and checks what the person's shell finds.
fn suspend(played: &mut Played) {
    send("TSTP", played);
    let process = played.child.process_id().unwrap();
    played.until_so("the stop", || is_stopped(process));
    played.until("the shell's screen", |screen| !screen.alternate_screen());
    let screen = played.screen.screen();
    assert!(!screen.hide_cursor(), "the cursor is visible");
    assert!(!screen.bracketed_paste());
    assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    assert!(!played.is_raw(), "the shell gets whole lines and echoes them");
}

fn resume(played: &mut Played) {
    send("CONT", played);
    played.until("the program's screen", vt100::Screen::alternate_screen);
    played.until_shown("src/a.rs:1");
    assert!(played.is_raw());
    assert_ne!(played.screen.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::None);
}

#[test]
fn a_stop_from_outside_gives_the_terminal_back_until_it_continues() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    for _ in 0..2 {
        suspend(&mut played);
        resume(&mut played);
        // The keyboard works, and the whole screen is drawn.
        played.press("?");
        played.until_shown("Keys of this screen");
        played.press("x");
        played.until_gone("Keys of this screen");
        played.until_shown("src/b.rs:1");
    }
    played.press("q");
    assert!(played.ended().success());
    assert_eq!(world.leases(), 0, "quitting gives the leases back");
}

/// The only child of a process.
fn child_of(process: u32) -> String {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
    children.trim().to_owned()
}

/// A person's shell: it takes the terminal when the job stops, and `fg` gives it back.
#[test]
fn a_shell_has_the_terminal_while_its_job_is_stopped() {
    let world = World::new(WATCHED);
    let mut played = world.play_as_job();
    let job = child_of(played.child.process_id().unwrap());
    assert!(Command::new("kill").args(["-s", "TSTP", &job]).status().unwrap().success());
    played.until_shown("the shell is back");
    assert!(!played.screen.screen().alternate_screen() && !played.screen.screen().hide_cursor());
    assert!(!played.is_raw());
    played.press("fg\r");
    played.until("the program's screen", vt100::Screen::alternate_screen);
    played.until_shown("src/a.rs:1");
    played.press("q");
    played.until_shown("the job ended with 0");
    assert!(played.ended().success());
}

/// The terminal was resized while the shell had it.
#[test]
fn the_screen_fits_a_terminal_that_was_resized_meanwhile() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    suspend(&mut played);
    played.resize(90, 30);
    resume(&mut played);
    let first = played.contents().lines().next().unwrap_or_default().to_owned();
    assert!(first.ends_with("API points left") && first.chars().count() <= 90, "{first}");
    // No key: a key that comes together with the news of the new size may wait in crossterm for the next one.
    send("TERM", &played);
    assert!(played.ended().success());
}

#[test]
fn a_termination_while_it_is_stopped_ends_it_in_order() {
    let world = World::new(WATCHED);
    let mut played = world.play();
    suspend(&mut played);
    send("TERM", &played);
    send("CONT", &played);
    assert!(played.ended().success());
    assert_eq!(world.leases(), 0);
}

#[test]
fn a_termination_gives_the_leases_back() {
    for signal in ["TERM", "HUP"] {
        let world = World::new(WATCHED);
        let mut played = world.play();
        played.until_so("the lease", || world.leases() > 0);
        send(signal, &played);
        assert!(played.ended().success());
        assert_eq!(world.leases(), 0, "{signal}");
    }
}
