//! Running other people's programs safely (S3).
//!
//! A program is run from an argument list and never through a shell. It gets bytes on its standard input, a time limit,
//! a limit on what it may print, and only the variables it is meant to see. It leads a process group of its own, and
//! whatever is left of that group is ended with it: when its time is up, when it prints too much, when whoever waited
//! lost interest, and also when it simply exits and leaves something running that would keep its output open for ever.

mod environment;
mod group;
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

/// A program and everything it is run with.
#[derive(Debug, Clone)]
pub struct ProgramRun<'a> {
    pub program: &'a OsStr,
    pub arguments: &'a [OsString],
    /// Where it runs; the folder of this process where there is none.
    pub directory: Option<&'a Path>,
    pub environment: &'a Environment,
    pub stdin: &'a [u8],
    pub limits: ProgramLimits,
}

/// What a program may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramLimits {
    pub time: Duration,
    /// Bytes of standard output; with one more it is ended.
    pub output: usize,
    /// Bytes of its log that are kept for people, counted from the end.
    pub log: usize,
}

/// What became of a program that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedProgram {
    pub ending: ProgramEnding,
    /// As much of its standard output as was read. Complete unless it printed too much or ran out of time.
    pub output: Vec<u8>,
    /// The end of what it wrote to its error stream. It may quote anything: clean it before it is shown.
    pub log: String,
    pub took: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnding {
    Succeeded,
    /// It exited with this status.
    Failed(i32),
    /// Something else ended it; on Unix, this signal.
    Killed(Option<i32>),
    /// Its time was up.
    TooSlow,
    /// It printed more than it may.
    TooMuch,
}

/// The program could not be started at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{program}` could not be started: {reason}")]
pub struct NotStarted {
    pub program: String,
    pub reason: String,
}

/// After the polite signal, before the one that cannot be refused.
const GRACE: Duration = Duration::from_secs(1);
/// For what is still in the pipes once everybody who could write to them has been ended. Only somebody who left the
/// group keeps them open longer, and is not waited for.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs a program to its end, whatever that is. Dropping the future ends the program and its group as well.
pub async fn run(job: &ProgramRun<'_>) -> Result<FinishedProgram, NotStarted> {
    let started = Instant::now();
    let mut child = spawn(job)?;
    let group = ProcessGroup::led_by(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut output = Vec::new();
    let mut log = Tail::of(job.limits.log);
    let ending = {
        let talk = async {
            tokio::try_join!(
                feed(stdin, job.stdin),
                keep_tail(stderr, &mut log),
                keep_all(stdout, &mut output, job.limits.output),
            )
        };
        let watched = watch(&mut child, &group, talk);
        timeout(job.limits.time, watched).await.unwrap_or(ProgramEnding::TooSlow)
    };
    if ending == ProgramEnding::TooSlow {
        group.ask_to_end();
        // Whether it listened makes no difference to what comes next.
        let _listened = timeout(GRACE, child.wait()).await;
    }
    group.end();
    // Already ended; this only takes it off the system's books.
    let _reaped = child.start_kill();
    let _reaped = child.wait().await;
    let took = started.elapsed();
    tracing::info!(program = ?job.program, ?ending, took = took.as_millis(), printed = output.len(), "a program ended");
    Ok(FinishedProgram { ending, output, log: log.text(), took })
}

/// Waits until the program has exited and everything it said was read, or until it said too much.
async fn watch(
    child: &mut Child,
    group: &ProcessGroup,
    talk: impl Future<Output = Result<((), (), ()), output::TooMuch>>,
) -> ProgramEnding {
    tokio::pin!(talk);
    let exited = tokio::select! {
        said = &mut talk => match said {
            Err(output::TooMuch) => return ProgramEnding::TooMuch,
            Ok(_) => return ending_of(child.wait().await.ok()),
        },
        status = child.wait() => status.ok(),
    };
    // A child of the child may still hold the pipes, and would for as long as it lives.
    group.end();
    match timeout(DRAIN, talk).await {
        Ok(Err(output::TooMuch)) => ProgramEnding::TooMuch,
        Ok(Ok(_)) | Err(_) => ending_of(exited),
    }
}

fn spawn(job: &ProgramRun<'_>) -> Result<Child, NotStarted> {
    let mut command = Command::new(located(job));
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

/// A path relative to this process stays one, although the program will run in another folder.
fn located(job: &ProgramRun<'_>) -> PathBuf {
    let path = Path::new(job.program);
    let is_bare = path.components().count() == 1 && !job.program.to_string_lossy().contains(['/', '\\']);
    if is_bare || path.is_absolute() {
        return path.to_owned();
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What a program is called in a sentence.
pub fn name(program: &OsStr) -> String {
    Path::new(program).file_name().unwrap_or(program).to_string_lossy().into_owned()
}

async fn feed(stdin: Option<ChildStdin>, bytes: &[u8]) -> Result<(), output::TooMuch> {
    if let Some(mut stdin) = stdin {
        // A program that does not read its input may have its reasons; what it prints decides.
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
