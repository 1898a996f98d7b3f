//! Parses the command line, runs it, prints an error once and exits with its code.

use anyhow::Context;
use clap::Parser;
use cloture::bound::worst_case;
use cloture::cli::{Cli, Command};
use cloture::config::{Config, ConfigError, Places};
use cloture::simulate::{SimulateError, simulate};
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do if even this cannot be printed.
            let _unprintable = writeln!(io::stderr(), "cloture: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Simulate { trace } => replay(&trace),
        Command::Bound { json } => {
            let config = Config::load(&Places::from_environment(cli.config))?.config;
            let worst = worst_case(&config);
            let text = if json { worst.to_json()? } else { worst.to_string() };
            writeln!(io::stdout(), "{text}")?;
            Ok(())
        }
    }
}

fn replay(trace: &Path) -> anyhow::Result<()> {
    let output = io::stdout().lock();
    if trace.as_os_str() == "-" {
        simulate(io::stdin().lock(), output)?;
    } else {
        let file =
            File::open(trace).map_err(SimulateError::Read).with_context(|| trace.display().to_string())?;
        simulate(BufReader::new(file), output)?;
    }
    Ok(())
}

/// Whoever reads our output has seen enough: that is no failure of ours.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The exit codes that scripts rely on: 2 for wrong input, 3 for a bad configuration, 70 for a bug in Cloture.
fn exit_code(error: &anyhow::Error) -> u8 {
    if error.downcast_ref::<ConfigError>().is_some() {
        3
    } else if error.downcast_ref::<SimulateError>().is_some() {
        2
    } else {
        70
    }
}
