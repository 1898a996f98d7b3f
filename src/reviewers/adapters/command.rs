//! Runs a reviewer's program. Every way to fail becomes a violation with its own message.

use super::{ReviewerCall, ReviewerResponse, malformed};
use crate::agents::process::{self, Environment, FinishedProgram, ProgramEnding, ProgramLimits, ProgramRun};
use crate::domain::cycle::Violation;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// A program from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments. No shell reads them.
    pub command: Vec<String>,
    /// Names of environment variables that the program gets besides the ordinary ones (S2).
    pub env: Vec<String>,
    pub timeout: Duration,
}

/// Bytes of the log's end that are kept.
const LOG: usize = 8 * 1024;

/// Sends the request on standard input and reads the answer from standard output.
pub(super) async fn ask(program: &Program, call: &ReviewerCall<'_>) -> ReviewerResponse {
    let request = match call.request.to_json() {
        Ok(request) => request,
        Err(error) => {
            let violation = malformed(format!("the request could not be written: {error}"));
            return ReviewerResponse::not_asked(violation);
        }
    };
    let limit = usize::try_from(call.most_bytes).unwrap_or(usize::MAX);
    program.run(&program.environment(), &[], None, &request, limit).await
}

impl Program {
    /// The ordinary variables, and those that the configuration names.
    pub(crate) fn environment(&self) -> Environment {
        Environment::ordinary().passing(self.env.iter().cloned())
    }

    /// Runs the program with further arguments and takes its output for an answer.
    pub(super) async fn run(
        &self,
        environment: &Environment,
        arguments: &[OsString],
        directory: Option<&Path>,
        stdin: &[u8],
        limit: usize,
    ) -> ReviewerResponse {
        match self.run_to_end(environment, arguments, directory, stdin, limit).await {
            Err(not_started) => {
                ReviewerResponse::not_asked(malformed(format!("{not_started}; check the reviewer's command")))
            }
            Ok(finished) => {
                let FinishedProgram { ending, output, log, took } = finished;
                let answer = self.answer_of(ending, output, limit);
                ReviewerResponse { answer, log, took, withheld: false }
            }
        }
    }

    /// Runs the program with further arguments and returns how it ended.
    pub(crate) async fn run_to_end(
        &self,
        environment: &Environment,
        arguments: &[OsString],
        directory: Option<&Path>,
        stdin: &[u8],
        limit: usize,
    ) -> Result<FinishedProgram, process::NotStarted> {
        let (program, own) = self.command.split_first().map_or(("", [].as_slice()), |(p, o)| (p.as_str(), o));
        let arguments: Vec<OsString> =
            own.iter().map(OsString::from).chain(arguments.iter().cloned()).collect();
        let limits = ProgramLimits { time: self.timeout, output: limit, log: LOG };
        let program = OsStr::new(program);
        let job = ProgramRun { program, arguments: &arguments, directory, environment, stdin, limits };
        process::run(&job).await
    }

    fn answer_of(&self, ending: ProgramEnding, output: Vec<u8>, limit: usize) -> Result<Vec<u8>, Violation> {
        match ending {
            ProgramEnding::Succeeded if output.iter().all(u8::is_ascii_whitespace) => {
                Err(malformed("the program printed nothing"))
            }
            ProgramEnding::Succeeded => Ok(output),
            ProgramEnding::TooMuch => Err(Violation::OversizedAnswer(format!(
                "the program printed more than the allowed {limit} bytes, and Cloture ended it"
            ))),
            ending => Err(malformed(self.describe(ending))),
        }
    }

    /// How the program ended, as a clause.
    pub(crate) fn describe(&self, ending: ProgramEnding) -> String {
        match ending {
            ProgramEnding::Succeeded => "the program succeeded".to_owned(),
            ProgramEnding::Failed(status) => format!("the program exited with status {status} instead of 0"),
            ProgramEnding::Killed(Some(signal)) => format!("signal {signal} ended the program"),
            ProgramEnding::Killed(None) => "something outside Cloture ended the program".to_owned(),
            ProgramEnding::TooSlow => {
                format!("the program gave no answer within {:?}, and Cloture ended it", self.timeout)
            }
            ProgramEnding::TooMuch => "the program printed too much, and Cloture ended it".to_owned(),
        }
    }
}
