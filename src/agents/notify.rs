//! Telling the person at the keyboard that something starts to wait for them.
//!
//! Whether to tell is decided apart from telling, and what a terminal is to print is handed back to whoever owns the
//! terminal: nothing is printed here.

use crate::agents::process::{self, Environment, NotStarted, ProgramEnding, ProgramLimits, ProgramRun};
use crate::config::{NotificationConfig, NotifyHow, NotifyWhen};
use crate::domain::vocabulary::Severity;
use crate::output::sanitize;
use serde::Serialize;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// What waits. A `command` gets it on its standard input, as one JSON object:
///
/// ```json
/// {"notification": 1, "pull_request": "o/r#7", "title": "SQL injection", "reason": "the reviewer escalated it",
///  "severity": "high", "url": "https://…"}
/// ```
///
/// `notification` is the version of the format. `severity` is null where nobody stated one, `url` where there is none.
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

/// Why nobody was told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotifyError {
    #[error(
        "no notification was shown, because neither `notify-send` nor `osascript` was found; use another `how`"
    )]
    NoDesktop,
    #[error("no notification was shown: {0}; check the command in [notifications]")]
    NotStarted(#[from] NotStarted),
    #[error("no notification was shown: `{program}` {what}")]
    Failed { program: String, what: String },
    #[error("no notification was shown, because it could not be written as JSON: {0}")]
    Unwritable(String),
}

/// Whether somebody is to be told. What has no stated severity waits for a person all the same and nobody knows how
/// bad it is, so it is told of.
pub fn should_notify(notifications: &NotificationConfig, severity: Option<Severity>) -> bool {
    match notifications.when {
        NotifyWhen::Never => false,
        NotifyWhen::Always => true,
        NotifyWhen::AtLeast(least) => severity.is_none_or(|severity| severity >= least),
    }
}

/// Tells, and returns what the terminal is to print for it, which may be nothing.
pub async fn notify(how: &NotifyHow, notice: &Notification) -> Result<Vec<u8>, NotifyError> {
    match how {
        NotifyHow::Bell => Ok(vec![BELL]),
        NotifyHow::Osc9 => Ok(notice.osc9()),
        NotifyHow::Desktop => desktop(notice, &desktop_environment()).await.map(|()| Vec::new()),
        NotifyHow::Command(command) => run_command(command, notice).await.map(|()| Vec::new()),
    }
}

const BELL: u8 = 0x07;
/// What a notification has room for.
const LONGEST_TEXT: usize = 200;

/// A notification is shown at once or not at all.
const LIMITS: ProgramLimits = ProgramLimits { time: Duration::from_secs(10), output: 64 * 1024, log: 1024 };

impl Notification {
    /// What is shown above the text.
    fn heading(&self) -> String {
        short(&format!("Cloture: {}", self.pull_request))
    }

    fn text(&self) -> String {
        short(&format!("{}: {}", self.title.trim_end().trim_end_matches('.'), self.reason))
    }

    /// `ESC ] 9 ; TEXT BEL`. The text begins with our name, so that nothing else that begins with a digit is read as one
    /// of the other commands that some terminals have under this number.
    fn osc9(&self) -> Vec<u8> {
        let text = short(&format!("{}: {}", self.heading(), self.text()));
        let mut bytes = b"\x1b]9;".to_vec();
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(BELL);
        bytes
    }
}

/// One short line that no terminal obeys.
fn short(text: &str) -> String {
    let line = sanitize::line(text);
    match line.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.into_owned(),
    }
}

/// How the session's desktop is found.
fn desktop_environment() -> Environment {
    Environment::ordinary().passing(["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"])
}

/// Asks the programs of the known desktops in turn; the first that is there decides.
async fn desktop(notice: &Notification, environment: &Environment) -> Result<(), NotifyError> {
    let (heading, text) = (notice.heading(), notice.text());
    // The text is markup to some desktops. The title is not.
    let markup = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let linux = ["--app-name=cloture", "--", &heading, &markup].map(OsString::from);
    // The words are arguments of the script and not part of it.
    let script = "display notification (item 2 of argv) with title (item 1 of argv)";
    let mac = ["-e", "on run argv", "-e", script, "-e", "end run", &heading, &text].map(OsString::from);
    for (program, arguments) in [("notify-send", linux.as_slice()), ("osascript", mac.as_slice())] {
        match run(program, arguments, environment, b"").await {
            Err(NotifyError::NotStarted(_)) => {}
            told => return told,
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
        ProgramEnding::Killed(_) => failed("was ended by something else"),
        ProgramEnding::TooSlow => failed("took too long and was ended"),
        ProgramEnding::TooMuch => failed("printed too much and was ended"),
    }
}

#[cfg(test)]
mod tests;
