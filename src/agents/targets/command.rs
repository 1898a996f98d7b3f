//! Sends a task to a local program.
//!
//! The program gets the [`TaskDocument`] on standard input, as one line of JSON, and the task's key in the
//! variable [`KEY_VARIABLE`]. Status 0 means that it took the task; any other status up to 128 means that it
//! did not. Cloture ends processes that the program leaves behind, unless they left its process group
//! (`setsid`).

use super::document::TaskDocument;
use super::{DeliveryOutcome, NotSendable};
use crate::agents::process::{self, Environment, FinishedProgram, ProgramEnding, ProgramLimits, ProgramRun};
use crate::output::sanitize;
use crate::reviewers::adapters::Program;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The environment variable with the task's key.
pub const KEY_VARIABLE: &str = "CLOTURE_TASK_KEY";

/// A program and the task for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDelivery {
    pub program: Program,
    pub directory: Option<PathBuf>,
    pub key: String,
    pub stdin: String,
}

/// Bytes that a program may print. They are ignored, so the limit is generous.
const OUTPUT: usize = 16 * 1024 * 1024;
/// Bytes of the log's end that are kept, and characters of its last line that are shown.
const LOG: usize = 4 * 1024;
const LOG_SHOWN: usize = 200;

/// A shell reports a signal as a status above this one. The task may have been taken then.
const HIGHEST_OWN_STATUS: i32 = 128;

impl CommandDelivery {
    pub(super) fn of(
        document: &TaskDocument,
        program: &Program,
        directory: Option<&Path>,
    ) -> Result<CommandDelivery, NotSendable> {
        let stdin = format!("{}\n", document.to_json()?);
        let directory = directory.map(Path::to_owned);
        Ok(CommandDelivery { program: program.clone(), directory, key: document.key.clone(), stdin })
    }

    /// The command for messages.
    pub(super) fn command_line(&self) -> String {
        self.program.command.join(" ")
    }

    pub(super) async fn send(&self) -> DeliveryOutcome {
        let (program, arguments) =
            self.program.command.split_first().map_or(("", [].as_slice()), |(p, a)| (p.as_str(), a));
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let environment = Environment::ordinary()
            .passing(self.program.env.iter().cloned())
            .with(KEY_VARIABLE, self.key.as_str());
        let job = ProgramRun {
            program: OsStr::new(program),
            arguments: &arguments,
            directory: self.directory.as_deref(),
            environment: &environment,
            stdin: self.stdin.as_bytes(),
            limits: ProgramLimits { time: self.program.timeout, output: OUTPUT, log: LOG },
        };
        match process::run(&job).await {
            Ok(finished) => self.outcome_of(&finished),
            Err(not_started) => {
                DeliveryOutcome::Refused(format!("{not_started}; check the target's command"))
            }
        }
    }

    fn outcome_of(&self, finished: &FinishedProgram) -> DeliveryOutcome {
        let reason = || format!("{}{}", self.program.describe(finished.ending), last_line(&finished.log));
        match finished.ending {
            ProgramEnding::Succeeded => DeliveryOutcome::Taken { url: None },
            ProgramEnding::Failed(status) if status <= HIGHEST_OWN_STATUS => {
                DeliveryOutcome::Refused(reason())
            }
            ProgramEnding::Failed(_)
            | ProgramEnding::Killed(_)
            | ProgramEnding::TooSlow
            | ProgramEnding::TooMuch => DeliveryOutcome::Unknown(reason()),
        }
    }
}

/// The last line of the log, which often names the cause.
fn last_line(log: &str) -> String {
    let last = log.lines().rev().map(sanitize::line).find(|line| !line.trim().is_empty());
    last.map_or_else(String::new, |line| {
        let line: String = line.trim().chars().take(LOG_SHOWN).collect();
        format!(" ({line})")
    })
}
