//! Parses the command line, runs the command, prints an error once, and ends with the exit code for it.

use clap::Parser;
use cloture::app::invocation::Invocation;
use cloture::app::launch::{self, ShowError};
use cloture::cli::{Cli, Command, QueueCommand, WriteArgs, manual};
use cloture::commands::act::{self, ActRequest, WriteSwitches};
use cloture::commands::classify::ClassifyError;
use cloture::commands::inbox::InboxQuery;
use cloture::commands::journal::{JournalCommandError, JournalQuery};
use cloture::commands::queue::sent_tasks::{self, SentTasksQuery};
use cloture::commands::simulate::SimulateError;
use cloture::commands::{
    Outcome, bound, classify, demo, doctor, inbox, journal, queue, review, reviewers, simulate, simulator,
    status, watch,
};
use cloture::config::ConfigError;
use cloture::failure::{ExitStatus, Failure};
use cloture::journal::JournalError;
use cloture::output::sanitize;
use cloture::output::standard::{OutputError, standard_output};
use cloture::simulator::{ScenarioError, SimulatorError};
use cloture::tui::TerminalEnd;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    print_panics_safely();
    match run_to_the_last_byte() {
        Ok(Outcome { status, failures }) => {
            for failure in &failures {
                print_error(failure);
            }
            ExitCode::from(status.code())
        }
        Err(error) => {
            let status = exit_status(&error);
            if status == ExitStatus::OutputClosed {
                // Whoever closed the pipe knows.
                return ExitCode::from(status.code());
            }
            let text = match OutputError::among(error.chain()) {
                // The others in the chain only repeat it.
                Some(output) => output.to_string(),
                None => format!("{error:#}"),
            };
            let text = sanitize::block(&text);
            tracing::error!(code = status.code(), "{text}");
            print_error(&text);
            ExitCode::from(status.code())
        }
    }
}

/// Output that is still buffered when the command ends must not get lost unseen.
fn run_to_the_last_byte() -> anyhow::Result<Outcome> {
    let outcome = match Cli::try_parse() {
        Ok(cli) => {
            let outcome = run(&cli)?;
            // The terminal has drawn its last frame, and may be gone.
            if matches!(cli.command, None | Some(Command::Demo)) {
                return Ok(outcome);
            }
            outcome
        }
        Err(usage) if usage.use_stderr() => {
            // It quotes the arguments, which a script may have taken from anywhere.
            let _unprintable = writeln!(io::stderr(), "{}", sanitize::block(&usage.to_string()));
            ExitStatus::Usage.into()
        }
        // Help and version.
        Err(asked) => {
            asked.print().map_err(OutputError::in_io_error)?;
            Outcome::SUCCESS
        }
    };
    standard_output().flush()?;
    Ok(outcome)
}

/// Errors quote traces, scenarios, posts, files and arguments, so every one of them is cleaned here (S1). If even
/// this cannot be printed, nothing is left to do.
fn print_error(message: &dyn fmt::Display) {
    let message = sanitize::block(&message.to_string());
    let _unprintable = writeln!(io::stderr(), "cloture: {message}");
}

/// The message of a panic may quote foreign text as well.
fn print_panics_safely() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            print_error(&format_args!("{panic}\n{backtrace}"));
        } else {
            print_error(panic);
        }
    }));
}

fn run(cli: &Cli) -> anyhow::Result<Outcome> {
    let invocation = Invocation {
        config_file: cli.config.clone(),
        api_url: cli.api_url.clone(),
        read_only: cli.read_only,
        state_dir: cli.state_dir.clone(),
        log: cli.log.clone(),
        warn: print_error,
    };
    invocation.start_log()?;
    let Some(command) = &cli.command else { return open_terminal(&invocation) };
    match command {
        Command::Status { json, pull_requests } => status::run(&invocation, pull_requests, *json),
        Command::Watch { json, once, timeout, pull_request } => {
            watch::run(&invocation, pull_request, *json, *once, *timeout)
        }
        Command::Inbox { json, fresh, all, pull_requests } => {
            inbox::run(&invocation, &InboxQuery { pull_requests, fresh: *fresh, all: *all }, *json)
        }
        Command::Act(args) => write(&invocation, &args.how, || args.request(io::stdin())),
        Command::Pr(args) => write(&invocation, &args.how, || args.request(io::stdin())),
        Command::Queue { queue } => run_queue(&invocation, queue),
        Command::Journal { json, follow, pull_request, kind, search, limit } => {
            let query = JournalQuery {
                pull_request: pull_request.as_deref(),
                kind: kind.as_deref(),
                search: search.as_deref(),
                limit: *limit,
                json: *json,
            };
            journal::run(&invocation, &query, *follow)
        }
        Command::Doctor { pull_requests } => doctor::run(&invocation, pull_requests),
        Command::Review { reviewer, json, pull_request } => {
            review::run(&invocation, pull_request, reviewer, *json)
        }
        Command::Reviewers { json } => reviewers::run(&invocation, *json),
        Command::Classify => classify::run(&invocation),
        Command::Bound { json } => bound::run(&invocation, *json),
        Command::Simulate { trace } => simulate::run(trace),
        Command::Simulator { port, scenario, speed } => simulator::run(*port, scenario, *speed),
        Command::Demo => demo::run(&invocation.load_config()?.config),
        Command::DemoReviewer { think } => demo::run_reviewer(Duration::from_millis(*think)),
        Command::DemoAuthor { simulator, think } => {
            demo::run_author(simulator, Duration::from_millis(*think))
        }
        Command::Completions { shell } => {
            manual::completions(*shell, standard_output())?;
            Ok(Outcome::SUCCESS)
        }
        Command::Man { into: None } => {
            manual::page(standard_output())?;
            Ok(Outcome::SUCCESS)
        }
        Command::Man { into: Some(folder) } => {
            manual::pages_into(folder).map_err(|error| {
                let folder = folder.display();
                Failure::usage(format_args!("cannot write the manual pages into {folder}: {error}"))
            })?;
            Ok(Outcome::SUCCESS)
        }
    }
}

fn run_queue(invocation: &Invocation, command: &QueueCommand) -> anyhow::Result<Outcome> {
    match command {
        QueueCommand::List { json, pull_requests } => queue::run(invocation, pull_requests, *json),
        QueueCommand::Add(args) => write(invocation, &args.which.how, || Ok(args.request())),
        QueueCommand::Remove(args) => write(invocation, &args.how, || Ok(args.removal())),
        QueueCommand::Retarget(args) => write(invocation, &args.which.how, || Ok(args.request())),
        QueueCommand::History { json, limit, pull_request } => {
            let query = SentTasksQuery { pull_request: pull_request.as_deref(), limit: *limit };
            sent_tasks::run(invocation, &query, *json)
        }
    }
}

/// Runs a command that writes to GitHub. A question goes to the error stream, because standard output is the
/// report's.
fn write(
    invocation: &Invocation,
    args: &WriteArgs,
    request: impl FnOnce() -> Result<ActRequest, Failure>,
) -> anyhow::Result<Outcome> {
    let switches = WriteSwitches { dry_run: args.dry_run, yes: args.yes, json: args.json };
    act::run(invocation, switches, request, io::stderr())
}

fn open_terminal(invocation: &Invocation) -> anyhow::Result<Outcome> {
    let closed = launch::open(invocation)?;
    match closed.end {
        TerminalEnd::Quit => Ok(Outcome::SUCCESS),
        TerminalEnd::PlayDemo => demo::run(&closed.config),
        TerminalEnd::Panicked => Ok(ExitStatus::Bug.into()),
    }
}

/// The exit status that scripts rely on, by the type of the error.
fn exit_status(error: &anyhow::Error) -> ExitStatus {
    if let Some(output) = OutputError::among(error.chain()) {
        if output.is_closed_pipe() { ExitStatus::OutputClosed } else { ExitStatus::InputOutput }
    } else if let Some(failure) = error.downcast_ref::<Failure>() {
        failure.kind.exit_status()
    } else if let Some(ShowError::Failure(failure)) = error.downcast_ref() {
        failure.kind.exit_status()
    } else if let Some(JournalCommandError::Usage(failure)) = error.downcast_ref() {
        failure.kind.exit_status()
    } else if error.downcast_ref::<JournalError>().is_some()
        || matches!(error.downcast_ref(), Some(JournalCommandError::Journal(_)))
        || matches!(error.downcast_ref(), Some(ShowError::Terminal(_)))
        || error.downcast_ref::<io::Error>().is_some()
    {
        ExitStatus::InputOutput
    } else if error.downcast_ref::<ConfigError>().is_some() {
        ExitStatus::Configuration
    } else if error.downcast_ref::<SimulateError>().is_some()
        || error.downcast_ref::<ClassifyError>().is_some()
        || error.downcast_ref::<ScenarioError>().is_some()
        || matches!(
            error.downcast_ref::<SimulatorError>(),
            Some(SimulatorError::Scenario(_) | SimulatorError::Listen { .. })
        )
    {
        ExitStatus::Usage
    } else {
        ExitStatus::Bug
    }
}
