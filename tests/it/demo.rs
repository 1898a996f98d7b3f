//! The real program in a terminal: the demo starts, guides, is used, and leaves everything as it was.

#![cfg(target_os = "linux")]

use crate::support::pty::Played;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The demo, with a folder of its own for everything that it writes.
struct Demo {
    played: Played,
    home: TempDir,
}

impl Demo {
    fn start() -> Demo {
        let path = std::env::var("PATH").unwrap_or_default();
        Demo::start_with_programs_in(&path)
    }

    fn start_with_programs_in(path: &str) -> Demo {
        let home = tempfile::tempdir().unwrap();
        let played = Played::start(home.path(), (120, 40), &["demo"], &[("PATH", path)]);
        Demo { played, home }
    }

    /// Presses keys, and waits for what they bring about.
    fn then(&mut self, keys: &str, shown: &str) {
        self.played.press(keys);
        self.played.until_shown(shown);
    }

    /// It has ended by itself, and nothing is left of it: no process, no file, no mode of the terminal.
    fn has_left_nothing(mut self) {
        assert!(self.played.ended().success());
        assert_eq!(processes_of(self.home.path()), [""; 0]);
        let left: Vec<_> = std::fs::read_dir(self.home.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The processes whose folder for temporary files this is.
fn processes_of(home: &Path) -> Vec<String> {
    let own = format!("TMPDIR={}", home.display());
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let named = all.map(|entry| entry.path()).filter(|path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == own.as_bytes())
    });
    named.map(|path| path.display().to_string()).collect()
}

#[test]
fn the_demo_guides_and_leaves_the_terminal_and_the_disk_as_they_were() {
    let mut demo = Demo::start();
    demo.played.until_shown("A simulated GitHub, a minute a second");
    assert!(demo.played.screen.screen().alternate_screen());
    demo.played.until_shown("Retry a failed restart three times");
    demo.then("?", "Keys of this screen");
    demo.then("x1", "attempt");

    // The guide leads to what happened, and on from what was done.
    demo.played.until_shown("hands. 2: your inbox");
    demo.then("2", "opens the argument");
    demo.then("\r", "You decide: U uphold, d dismiss, b give it back to the loop");
    demo.then("\u{1b}", "severity pull request");
    demo.then("1", "3: what was handed off");
    demo.then("3", "sent");
    demo.then("1", "There, w: the ways out");
    demo.then("4", "illegal shows a refused answer");
    demo.then("/illegal", "attempt 2; illegal_action");
    demo.then("\r1", "round cap");

    demo.played.press("q");
    demo.has_left_nothing();
}

/// However it is told to end, and while its programs are at work.
#[test]
fn a_signal_ends_the_demo_and_everything_that_it_started() {
    for (signal, at_work) in [("TERM", "reviewing"), ("HUP", "with author"), ("INT", "with author")] {
        let mut demo = Demo::start();
        demo.played.until_shown(at_work);
        let home = demo.home.path().to_owned();
        demo.played.until_so("a program at work", || processes_of(&home).len() > 1);
        let process = demo.played.child.process_id().unwrap().to_string();
        let killed = Command::new("kill").args(["-s", signal, &process]).status().unwrap();
        assert!(killed.success());
        demo.has_left_nothing();
    }
}

#[test]
fn without_git_the_demo_plays_and_says_so() {
    let nowhere = tempfile::tempdir().unwrap();
    let mut demo = Demo::start_with_programs_in(nowhere.path().to_str().unwrap());
    demo.played.until_shown("There is no git here, so that nobody is sent to fix acme/billing#41");
    demo.played.until_shown("your inbox");
    demo.played.press("\u{3}");
    demo.has_left_nothing();
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cloture"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("needs a terminal") && said.contains("cloture status"), "{said}");
}
