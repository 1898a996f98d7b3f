//! Opens a link in the person's browser.

use crate::github::token;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may take to say that it cannot open links.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(20);

/// Starts the first program that can open links, and returns a sentence without a full stop if none can. Blocks for a
/// moment.
pub(super) fn open(link: &str) -> Result<(), String> {
    let mut why = "no program that opens links is known here".to_owned();
    for mut command in ::open::commands(link) {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // S2: a browser hands its environment to whatever it starts.
        for name in token::VARIABLES {
            command.env_remove(name);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn() {
            Err(error) => why = error.to_string(),
            Ok(child) => match failure(child) {
                None => return Ok(()),
                Some(failed) => why = failed,
            },
        }
    }
    Err(why)
}

/// Why the program failed, if it does at once. It may run for as long as the browser.
fn failure(mut child: Child) -> Option<String> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(None) => thread::sleep(LOOK),
            Ok(Some(status)) if status.success() || cfg!(windows) => return None,
            Ok(Some(status)) => return Some(format!("the program that opens links ended with {status}")),
            Err(error) => return Some(error.to_string()),
        }
    }
    // Somebody has to read its exit status once it ends.
    thread::spawn(move || child.wait());
    None
}
