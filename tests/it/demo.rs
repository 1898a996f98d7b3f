//! `cloture demo` in a real terminal: it starts, guides the user, and cleans up after itself.

#![cfg(target_os = "linux")]

use crate::support::pty::Played;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A running demo with its own folder for temporary files.
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

    /// Presses keys and waits for a text on the screen.
    fn then(&mut self, keys: &str, shown: &str) {
        self.played.press(keys);
        self.played.until_shown(shown);
    }

    /// Waits for the end and checks that no process and no file is left.
    fn leaves_nothing(mut self) {
        assert!(self.played.ended().success());
        assert_eq!(processes_of(self.home.path()), [""; 0]);
        let left: Vec<_> = std::fs::read_dir(self.home.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The processes that use this folder for temporary files.
fn processes_of(home: &Path) -> Vec<String> {
    let own = format!("TMPDIR={}", home.display());
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let named = all.map(|entry| entry.path()).filter(|path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == own.as_bytes())
    });
    named.map(|path| path.display().to_string()).collect()
}

/// U5
#[test]
fn the_demo_guides_the_user_and_leaves_nothing_behind() {
    let mut demo = Demo::start();
    demo.played.until_shown("A simulated GitHub: 1 minute per second");
    assert!(demo.played.screen.screen().alternate_screen());
    demo.played.until_shown("Retry a failed restart three times");
    demo.then("?", "Keys of this screen");
    demo.then("x1", "attempt");

    // The guide points at events, and moves on after each action.
    demo.played.until_shown("your decision. 2: your inbox");
    demo.then("2", "opens the argument");
    demo.then("\r", "You decide: U uphold, d dismiss, b return it to the loop");
    demo.then("\u{1b}", "severity pull request");
    demo.then("1", "3: see them on Handoff");
    demo.then("3", "sent");
    demo.then("1", "Select it, w: ways out");
    demo.then("4", "type illegal for a refused answer");
    demo.then("/illegal", "attempt 2; illegal_action");
    demo.then("\r1", "round cap");

    demo.played.press("q");
    demo.leaves_nothing();
}

#[test]
fn a_signal_ends_the_demo_and_its_programs() {
    for (signal, at_work) in [("TERM", "reviewing"), ("HUP", "with author"), ("INT", "with author")] {
        let mut demo = Demo::start();
        demo.played.until_shown(at_work);
        let home = demo.home.path().to_owned();
        demo.played.until_so("a program at work", || processes_of(&home).len() > 1);
        let process = demo.played.child.process_id().unwrap().to_string();
        let killed = Command::new("kill").args(["-s", signal, &process]).status().unwrap();
        assert!(killed.success());
        demo.leaves_nothing();
    }
}

#[test]
fn without_git_the_demo_runs_and_says_so() {
    let nowhere = tempfile::tempdir().unwrap();
    let mut demo = Demo::start_with_programs_in(nowhere.path().to_str().unwrap());
    demo.played.until_shown("git is missing here, so no author fixes acme/billing#41");
    demo.played.until_shown("your inbox");
    demo.played.press("\u{3}");
    demo.leaves_nothing();
}

#[test]
fn without_a_terminal_the_program_names_the_alternative() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cloture"));
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("needs a terminal") && errors.contains("cloture status"), "{errors}");
}
