//! What a command prints on standard output, and what it hands back to `main`.

use crate::failure::{ExitStatus, Failure, FailureKind};
use crate::output::standard::standard_output;
use std::fmt;
use std::io::Write;

/// The end of a command: its exit status, and the failures that `main` prints on the error stream.
#[derive(Debug)]
pub struct Outcome {
    pub status: ExitStatus,
    pub failures: Vec<Failure>,
}

impl Outcome {
    pub const SUCCESS: Outcome = Outcome { status: ExitStatus::Success, failures: Vec::new() };

    /// The command did the rest of its work. The most important failure chooses the exit status.
    pub fn of(failures: Vec<Failure>) -> Outcome {
        let kind = failures.iter().map(|failure| failure.kind).min();
        Outcome { status: kind.map_or(ExitStatus::Success, FailureKind::exit_status), failures }
    }
}

impl From<ExitStatus> for Outcome {
    fn from(status: ExitStatus) -> Outcome {
        Outcome { status, failures: Vec::new() }
    }
}

/// A command's result: text for people (`Display`), and one JSON object for scripts.
pub trait Report: fmt::Display {
    fn to_json(&self) -> serde_json::Result<String>;

    /// The parts that the command could not do.
    fn failures(&self) -> Vec<Failure> {
        Vec::new()
    }
}

/// Prints a report on standard output, as JSON if the caller asked for it.
pub(super) fn print(report: &impl Report, json: bool) -> anyhow::Result<Outcome> {
    let text = if json { report.to_json()? } else { report.to_string() };
    writeln!(standard_output(), "{text}")?;
    Ok(Outcome::of(report.failures()))
}
