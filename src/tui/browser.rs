//! Opens a link in the person's browser.

use crate::github::token;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// How long a program may take to say that it cannot open links. It may run for as long as the browser.
const PATIENCE: Duration = Duration::from_secs(1);

/// Starts the first program that can open links, and returns a sentence without a full stop if none can.
pub(super) async fn open(link: &str) -> Result<(), String> {
    let mut why = "no program that opens links is known here".to_owned();
    for command in ::open::commands(link) {
        let mut command = Command::from(command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // S2: a browser hands its environment to whatever it starts.
        for name in token::VARIABLES {
            command.env_remove(name);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                why = error.to_string();
                continue;
            }
        };
        match timeout(PATIENCE, child.wait()).await {
            Ok(Ok(status)) if !status.success() && !cfg!(windows) => {
                why = format!("the program that opens links ended with {status}");
            }
            Ok(Err(error)) => why = error.to_string(),
            Ok(Ok(_)) | Err(_) => return Ok(()),
        }
    }
    Err(why)
}
