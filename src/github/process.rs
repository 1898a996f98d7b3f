//! Runs `gh` and `git`, which know the user's token and checkout.

use crate::agents::process::{self, Environment, ProgramEnding, ProgramLimits, ProgramRun};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// Longer than any healthy `gh auth token` or `git rev-parse`, and still short for a waiting person.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

const OUTPUT_LIMIT: usize = 64 * 1024;

/// Variables that they need beyond the usual ones: their settings, and the way to the keyring.
const KEPT: [&str; 3] = ["GH_CONFIG_DIR", "DBUS_SESSION_BUS_ADDRESS", "GIT_DIR"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProcessError {
    #[error("`{0}` could not be started; is it installed?")]
    NotStarted(String),
    #[error("`{0}` gave no answer within its time limit and was stopped")]
    TooSlow(String),
    #[error("`{0}` failed")]
    Failed(String),
    #[error("`{0}` printed output that is not UTF-8 text")]
    NotText(String),
}

/// The trimmed standard output of a program that succeeded. Its error output is dropped, because it may quote
/// secrets.
pub async fn output(
    program: &OsStr,
    arguments: &[&str],
    directory: Option<&Path>,
    limit: Duration,
) -> Result<String, ProcessError> {
    let environment = Environment::ordinary()
        .passing(KEPT)
        .with("GIT_TERMINAL_PROMPT", "0")
        .with("GH_PROMPT_DISABLED", "1")
        .with("GH_NO_UPDATE_NOTIFIER", "1")
        .with("LC_ALL", "C");
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let limits = ProgramLimits { time: limit, output: OUTPUT_LIMIT, log: 0 };
    let job = ProgramRun {
        program,
        arguments: &arguments,
        directory,
        environment: &environment,
        stdin: b"",
        limits,
    };
    let name = || process::name(program);
    let finished = process::run(&job).await.map_err(|_| ProcessError::NotStarted(name()))?;
    match finished.ending {
        ProgramEnding::Succeeded => String::from_utf8(finished.output)
            .map(|text| text.trim().to_owned())
            .map_err(|_| ProcessError::NotText(name())),
        ProgramEnding::TooSlow => Err(ProcessError::TooSlow(name())),
        ProgramEnding::Failed(_) | ProgramEnding::Killed(_) | ProgramEnding::TooMuch => {
            Err(ProcessError::Failed(name()))
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn output_is_returned_trimmed() {
        let text = output(OsStr::new("echo"), &["a b; echo c"], None, TIME_LIMIT).await.unwrap();
        assert_eq!(text, "a b; echo c");
    }

    #[tokio::test]
    async fn every_failure_names_the_program() {
        let failed = output(OsStr::new("false"), &[], None, TIME_LIMIT).await;
        assert_eq!(failed, Err(ProcessError::Failed("false".to_owned())));
        let missing = output(OsStr::new("/nowhere/cloture-none"), &[], None, TIME_LIMIT).await;
        assert_eq!(missing, Err(ProcessError::NotStarted("cloture-none".to_owned())));
        let slow = output(OsStr::new("sleep"), &["60"], None, Duration::from_millis(20)).await;
        assert_eq!(slow, Err(ProcessError::TooSlow("sleep".to_owned())));
    }
}
