//! Notifies the person at the keyboard that something waits for a decision.
//!
//! Nothing is printed here: [`notify`] returns the bytes, and the terminal's owner prints them.

use crate::agents::process::{self, Environment, NotStarted, ProgramEnding, ProgramLimits, ProgramRun};
use crate::config::{NotificationConfig, NotifyHow, NotifyWhen};
use crate::domain::vocabulary::Severity;
use crate::output::sanitize;
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// A notification. A `command` gets it on standard input, as one JSON object:
///
/// ```json
/// {"notification": 1, "pull_request": "o/r#7", "title": "SQL injection",
///  "reason": "the reviewer escalated it", "severity": "high", "url": "https://…"}
/// ```
///
/// `notification` is the version of the format. `severity` and `url` may be null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notification {
    pub notification: u32,
    pub pull_request: String,
    pub title: String,
    pub reason: String,
    pub severity: Option<Severity>,
    pub url: Option<String>,
}

/// The version of the format.
pub const VERSION: u32 = 1;

/// Why the notification failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotifyError {
    #[error(
        "no notification was shown: neither `notify-send` nor `osascript` is installed; set another `how` in \
         [notifications]"
    )]
    NoDesktop,
    #[error("no notification was shown: {0}; check the command in [notifications]")]
    NotStarted(#[from] NotStarted),
    #[error("no notification was shown: `{program}` {what}")]
    Failed { program: String, what: String },
    #[error("no notification was shown: it cannot be written as JSON: {0}")]
    Unwritable(String),
}

/// Whether to notify. A finding without a severity may be a bad one, so it counts.
pub fn should_notify(notifications: &NotificationConfig, severity: Option<Severity>) -> bool {
    match notifications.when {
        NotifyWhen::Never => false,
        NotifyWhen::Always => true,
        NotifyWhen::AtLeast(least) => severity.is_none_or(|severity| severity >= least),
    }
}

/// Notifies, and returns the bytes for the terminal to print. They may be empty.
pub async fn notify(how: &NotifyHow, notice: &Notification) -> Result<Vec<u8>, NotifyError> {
    match how {
        NotifyHow::Bell => Ok(vec![BELL]),
        NotifyHow::Osc9 => Ok(notice.osc9()),
        NotifyHow::Desktop => desktop(notice, &desktop_environment()).await.map(|()| Vec::new()),
        NotifyHow::Command(command) => run_command(command, notice).await.map(|()| Vec::new()),
    }
}

const BELL: u8 = 0x07;
/// Characters of a notification's text.
const LONGEST_TEXT: usize = 200;

const LIMITS: ProgramLimits = ProgramLimits { time: Duration::from_secs(10), output: 64 * 1024, log: 1024 };

impl Notification {
    fn heading(&self) -> String {
        short(&format!("Cloture: {}", self.pull_request))
    }

    fn text(&self) -> String {
        short(&format!("{}: {}", self.title.trim_end().trim_end_matches('.'), self.reason))
    }

    /// `ESC ] 9 ; TEXT BEL`. The text starts with our name, because some terminals take a text that starts
    /// with a digit for another command.
    fn osc9(&self) -> Vec<u8> {
        let text = short(&format!("{}: {}", self.heading(), self.text()));
        let mut bytes = b"\x1b]9;".to_vec();
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(BELL);
        bytes
    }
}

/// One short line without control characters.
fn short(text: &str) -> String {
    let line = sanitize::line(text);
    match line.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}

/// The variables that a program needs to find the desktop session.
fn desktop_environment() -> Environment {
    Environment::ordinary().passing(["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"])
}

/// Runs the first notification program that is installed.
async fn desktop(notice: &Notification, environment: &Environment) -> Result<(), NotifyError> {
    let (heading, text) = (notice.heading(), notice.text());
    // Some desktops read the text as markup, but not the title.
    let markup = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let linux = ["--app-name=cloture", "--", &heading, &markup].map(OsString::from);
    // The texts are arguments of the script, so they cannot change it.
    let script = "display notification (item 2 of argv) with title (item 1 of argv)";
    let mac = ["-e", "on run argv", "-e", script, "-e", "end run", &heading, &text].map(OsString::from);
    for (program, arguments) in [("notify-send", linux.as_slice()), ("osascript", mac.as_slice())] {
        match run(program, arguments, environment, b"").await {
            Err(NotifyError::NotStarted(_)) => {}
            result => return result,
        }
    }
    Err(NotifyError::NoDesktop)
}

async fn run_command(command: &[String], notice: &Notification) -> Result<(), NotifyError> {
    let text = serde_json::to_string(notice).map_err(|error| NotifyError::Unwritable(error.to_string()))?;
    let stdin = format!("{}\n", sanitize::json(&text));
    let (program, arguments) = command.split_first().map_or(("", [].as_slice()), |(p, a)| (p.as_str(), a));
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    run(program, &arguments, &desktop_environment(), stdin.as_bytes()).await
}

async fn run(
    program: &str,
    arguments: &[OsString],
    environment: &Environment,
    stdin: &[u8],
) -> Result<(), NotifyError> {
    let program = OsStr::new(program);
    let job = ProgramRun { program, arguments, directory: None, environment, stdin, limits: LIMITS };
    let failed =
        |what: &str| Err(NotifyError::Failed { program: process::name(program), what: what.to_owned() });
    match process::run(&job).await?.ending {
        ProgramEnding::Succeeded => Ok(()),
        ProgramEnding::Failed(status) => failed(&format!("failed with status {status}")),
        ProgramEnding::Killed(_) => failed("was ended from outside"),
        ProgramEnding::TooSlow => failed("took too long, and Cloture ended it"),
        ProgramEnding::TooMuch => failed("printed too much, and Cloture ended it"),
    }
}

#[cfg(test)]
mod tests;
