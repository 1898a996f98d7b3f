//! Running a reviewer's program, and turning every way that can go wrong into a violation with its own words.

use super::{ReviewerCall, ReviewerResponse, malformed};
use crate::agents::process::{self, Environment, FinishedProgram, ProgramEnding, ProgramLimits, ProgramRun};
use crate::domain::cycle::Violation;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// A program as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program and its arguments. There is no shell that would take them apart or put anything in.
    pub command: Vec<String>,
    /// The names of variables it may see beside the ordinary ones (S2).
    pub env: Vec<String>,
    pub timeout: Duration,
}

/// What is kept of a log for people.
const LOG: usize = 8 * 1024;

/// The reviewer protocol as it is: the request on standard input, the answer on standard output.
pub(super) async fn ask(program: &Program, asked: &ReviewerCall<'_>) -> ReviewerResponse {
    let request = match asked.request.to_json() {
        Ok(request) => request,
        Err(error) => {
            let answer = Err(malformed(format!("the request could not be written: {error}")));
            return ReviewerResponse { answer, log: String::new(), took: Duration::ZERO };
        }
    };
    let most = usize::try_from(asked.most_bytes).unwrap_or(usize::MAX);
    program.run(&[], None, &request, most).await
}

impl Program {
    /// Runs it with further arguments and returns what it printed.
    pub(super) async fn run(
        &self,
        arguments: &[OsString],
        directory: Option<&Path>,
        stdin: &[u8],
        most: usize,
    ) -> ReviewerResponse {
        match self.started(arguments, directory, stdin, most).await {
            Err(not_started) => {
                let answer = Err(malformed(format!("{not_started}; check the reviewer's command")));
                ReviewerResponse { answer, log: String::new(), took: Duration::ZERO }
            }
            Ok(finished) => {
                let FinishedProgram { ending, output, log, took } = finished;
                ReviewerResponse { answer: self.judged(ending, output, most), log, took }
            }
        }
    }

    /// The same for whoever wants to judge the ending by themselves.
    pub(crate) async fn started(
        &self,
        arguments: &[OsString],
        directory: Option<&Path>,
        stdin: &[u8],
        most: usize,
    ) -> Result<FinishedProgram, process::NotStarted> {
        let (program, own) = self.command.split_first().map_or(("", [].as_slice()), |(p, o)| (p.as_str(), o));
        let arguments: Vec<OsString> =
            own.iter().map(OsString::from).chain(arguments.iter().cloned()).collect();
        let environment = Environment::ordinary().passing(self.env.iter().cloned());
        let limits = ProgramLimits { time: self.timeout, output: most, log: LOG };
        let program = OsStr::new(program);
        let job = ProgramRun {
            program,
            arguments: &arguments,
            directory,
            environment: &environment,
            stdin,
            limits,
        };
        process::run(&job).await
    }

    fn judged(&self, ending: ProgramEnding, output: Vec<u8>, most: usize) -> Result<Vec<u8>, Violation> {
        match ending {
            ProgramEnding::Succeeded if output.iter().all(u8::is_ascii_whitespace) => {
                Err(malformed("the program printed nothing"))
            }
            ProgramEnding::Succeeded => Ok(output),
            ProgramEnding::TooMuch => Err(Violation::OversizedAnswer(format!(
                "the program printed more than the {most} bytes that are allowed, and was ended"
            ))),
            ending => Err(malformed(self.described(ending))),
        }
    }

    /// How it ended, for a sentence about it.
    pub(crate) fn described(&self, ending: ProgramEnding) -> String {
        match ending {
            ProgramEnding::Succeeded => "the program succeeded".to_owned(),
            ProgramEnding::Failed(status) => format!("the program exited with status {status} instead of 0"),
            ProgramEnding::Killed(Some(signal)) => format!("the program was ended by signal {signal}"),
            ProgramEnding::Killed(None) => "the program was ended by something else".to_owned(),
            ProgramEnding::TooSlow => {
                format!("the program gave no answer within {:?} and was ended", self.timeout)
            }
            ProgramEnding::TooMuch => "the program printed too much and was ended".to_owned(),
        }
    }
}
