//! Runs other people's programs safely (S3).
//!
//! A program gets an argument list (there is no shell), bytes on standard input, a time limit, an output
//! limit and a short list of environment variables. It leads its own process group, and Cloture ends the
//! whole group when the program exits, is too slow, prints too much, or when the caller drops the future. If
//! Cloture itself is killed, a guardian beside it ends the group.

mod environment;
mod group;
#[cfg(unix)]
mod guardian;
mod output;

pub use environment::Environment;

use group::ProcessGroup;
use output::{Tail, keep_all, keep_tail};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::{Instant, timeout};

/// A program and its inputs.
#[derive(Debug, Clone)]
pub struct ProgramRun<'a> {
    pub program: &'a OsStr,
    pub arguments: &'a [OsString],
    /// The working directory. None: that of this process.
    pub directory: Option<&'a Path>,
    pub environment: &'a Environment,
    pub stdin: &'a [u8],
    pub limits: ProgramLimits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramLimits {
    pub time: Duration,
    /// Bytes of standard output; Cloture ends a program that prints more.
    pub output: usize,
    /// Bytes of the end of standard error that are kept.
    pub log: usize,
}

/// How a program ended, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedProgram {
    pub ending: ProgramEnding,
    /// Standard output. Incomplete if the program printed too much or was too slow.
    pub output: Vec<u8>,
    /// The end of standard error. Sanitize it before you show it.
    pub log: String,
    pub took: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnding {
    Succeeded,
    /// The program exited with this status.
    Failed(i32),
    /// Something outside Cloture ended the program; on Unix, this signal.
    Killed(Option<i32>),
    /// The program reached its time limit.
    TooSlow,
    /// The program printed more than its limit.
    TooMuch,
}

/// The program could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{program}` could not be started: {reason}")]
pub struct NotStarted {
    pub program: String,
    pub reason: String,
}

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(1);
/// The time to read the rest of the pipes after the group was ended. Only a process that left the group can
/// keep them open longer, and Cloture does not wait for it.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs a program to its end. Dropping the future ends the program and its group.
pub async fn run(job: &ProgramRun<'_>) -> Result<FinishedProgram, NotStarted> {
    let started = Instant::now();
    let mut child = spawn(job)?;
    let group = ProcessGroup::of_leader(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut output = Vec::new();
    let mut log = Tail::of(job.limits.log);
    let ending = {
        let exchange = async {
            tokio::try_join!(
                write_stdin(stdin, job.stdin),
                keep_tail(stderr, &mut log),
                keep_all(stdout, &mut output, job.limits.output),
            )
        };
        let waiting = wait_for_exit(&mut child, &group, exchange);
        timeout(job.limits.time, waiting).await.unwrap_or(ProgramEnding::TooSlow)
    };
    if ending == ProgramEnding::TooSlow {
        group.ask_to_end();
        // The group is ended below in any case.
        let _exited = timeout(GRACE, child.wait()).await;
    }
    group.end();
    // The program is dead; this reaps its process.
    let _reaped = child.start_kill();
    let _reaped = child.wait().await;
    let took = started.elapsed();
    let (program, printed) = (job.program, output.len());
    tracing::info!(?program, ?ending, took = took.as_millis(), printed, "a program ended");
    Ok(FinishedProgram { ending, output, log: log.text(), took })
}

/// Waits until the program has exited and its output is read, or until it printed too much.
async fn wait_for_exit(
    child: &mut Child,
    group: &ProcessGroup,
    exchange: impl Future<Output = Result<((), (), ()), output::TooMuch>>,
) -> ProgramEnding {
    tokio::pin!(exchange);
    let exited = tokio::select! {
        result = &mut exchange => match result {
            Err(output::TooMuch) => return ProgramEnding::TooMuch,
            Ok(_) => return ending_of(child.wait().await.ok()),
        },
        status = child.wait() => status.ok(),
    };
    // A child of the program may hold the pipes open for as long as it lives.
    group.end();
    match timeout(DRAIN, exchange).await {
        Ok(Err(output::TooMuch)) => ProgramEnding::TooMuch,
        Ok(Ok(_)) | Err(_) => ending_of(exited),
    }
}

fn spawn(job: &ProgramRun<'_>) -> Result<Child, NotStarted> {
    let mut command = Command::new(program_path(job));
    command
        .args(job.arguments)
        .env_clear()
        .envs(job.environment.resolved())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    if let Some(directory) = job.directory {
        command.current_dir(directory);
    }
    command.spawn().map_err(|error| NotStarted { program: name(job.program), reason: error.to_string() })
}

/// Resolves a relative path against the folder of this process, because the program may run in another one.
fn program_path(job: &ProgramRun<'_>) -> PathBuf {
    let path = Path::new(job.program);
    let is_bare = path.components().count() == 1 && !job.program.to_string_lossy().contains(['/', '\\']);
    if is_bare || path.is_absolute() {
        return path.to_owned();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The program's name for messages.
pub fn name(program: &OsStr) -> String {
    Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned()
}

async fn write_stdin(stdin: Option<ChildStdin>, bytes: &[u8]) -> Result<(), output::TooMuch> {
    if let Some(mut stdin) = stdin {
        // A program need not read its input; its output and status decide.
        let _unread = stdin.write_all(bytes).await;
        let _unread = stdin.shutdown().await;
    }
    Ok(())
}

fn ending_of(status: Option<ExitStatus>) -> ProgramEnding {
    match status {
        Some(status) if status.success() => ProgramEnding::Succeeded,
        Some(status) => match status.code() {
            Some(code) => ProgramEnding::Failed(code),
            None => ProgramEnding::Killed(signal_of(status)),
        },
        None => ProgramEnding::Killed(None),
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
