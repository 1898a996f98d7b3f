//! Runs the two programs we ask for facts, `gh` and `git`: from an argument list, never through a shell, with a
//! time limit, an output limit and only the part of the environment they need.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

/// Longer than any healthy `gh auth token` or `git rev-parse`, shorter than a person's patience.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

const OUTPUT_LIMIT: u64 = 64 * 1024;

/// What the programs may inherit: where they and their settings are, and how to reach the keyring.
const KEPT: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "SYSTEMROOT",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "GH_CONFIG_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GIT_DIR",
];

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
    let name = || Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned();
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    for key in KEPT {
        if let Some(value) = std::env::var_os(key) {
            command.env(key, value);
        }
    }
    command
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GH_PROMPT_DISABLED", "1")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    let mut child = command.spawn().map_err(|_| ProcessError::NotStarted(name()))?;
    let stdout = child.stdout.take();
    let answer = async {
        let bytes = match stdout {
            Some(stdout) => read_limited(stdout).await,
            None => Vec::new(),
        };
        (child.wait().await, bytes)
    };
    match tokio::time::timeout(limit, answer).await {
        Err(_) => Err(ProcessError::TooSlow(name())),
        Ok((Ok(status), bytes)) if status.success() => String::from_utf8(bytes)
            .map(|text| text.trim().to_owned())
            .map_err(|_| ProcessError::NotText(name())),
        Ok(_) => Err(ProcessError::Failed(name())),
    }
}

async fn read_limited(stdout: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut limited = stdout.take(OUTPUT_LIMIT);
    // A pipe that breaks ends the output; the exit status says whether that matters.
    let _ = limited.read_to_end(&mut bytes).await;
    bytes
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
