//! Asks the two programs that know facts about the person at the keyboard, `gh` and `git`.

use crate::agents::process::{self, Environment, ProgramEnding, ProgramLimits, ProgramRun};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// Longer than any healthy `gh auth token` or `git rev-parse`, shorter than a person's patience.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

const OUTPUT_LIMIT: usize = 64 * 1024;

/// What they need beyond the ordinary: their settings, and how to reach the keyring.
const KEPT: [&str; 3] = ["GH_CONFIG_DIR", "DBUS_SESSION_BUS_ADDRESS", "GIT_DIR"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProcessError {
    #[error("`{0}` could not be started; is it installed?")]
    NotStarted(String),
    #[error("`{0}` gave no answer within its time limit and was ended")]
    TooSlow(String),
    #[error("`{0}` failed")]
    Failed(String),
    #[error("`{0}` answered with something that is not text")]
    NotText(String),
}

/// The trimmed standard output of a program that succeeded. Its error output is dropped: it may quote secrets.
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
    async fn the_output_comes_back_trimmed() {
        let text = output(OsStr::new("echo"), &["a b; echo c"], None, TIME_LIMIT).await.unwrap();
        assert_eq!(text, "a b; echo c");
    }

    #[tokio::test]
    async fn every_failure_has_its_name() {
        let failed = output(OsStr::new("false"), &[], None, TIME_LIMIT).await;
        assert_eq!(failed, Err(ProcessError::Failed("false".to_owned())));
        let missing = output(OsStr::new("/nowhere/cloture-none"), &[], None, TIME_LIMIT).await;
        assert_eq!(missing, Err(ProcessError::NotStarted("cloture-none".to_owned())));
        let slow = output(OsStr::new("sleep"), &["60"], None, Duration::from_millis(20)).await;
        assert_eq!(slow, Err(ProcessError::TooSlow("sleep".to_owned())));
    }
}
