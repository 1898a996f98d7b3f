//! Parses the command line, runs it, prints an error once and exits with its code.

use anyhow::Context;
use clap::Parser;
use cloture::bound::worst_case;
use cloture::clean;
use cloture::cli::{Cli, Command};
use cloture::config::{Config, ConfigError, Loaded, Places, state_folder};
use cloture::doctor::examine;
use cloture::failure::{Failure, Kind};
use cloture::forge::Settings;
use cloture::review::review;
use cloture::reviewers::profiles::Profiles;
use cloture::simulate::{SimulateError, simulate};
use cloture::simulator::{self, Scenario, ScenarioError, SimulatorError};
use cloture::status::status;
use jiff::Timestamp;
use std::fs::File;
use std::future::Future;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{env, fmt};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(failures) => {
            for failure in &failures {
                complain(failure);
            }
            let worst = failures.iter().map(|failure| failure.kind).min();
            worst.map_or(ExitCode::SUCCESS, |kind| ExitCode::from(kind.exit_code()))
        }
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(exit_code(&error))
        }
    }
}

/// Nothing is left to do if even this cannot be printed.
fn complain(what: &dyn fmt::Display) {
    let _unprintable = writeln!(io::stderr(), "cloture: {what}");
}

/// Runs a command. What it could not do although it did the rest is returned, to be told last.
fn run(cli: &Cli) -> anyhow::Result<Vec<Failure>> {
    match &cli.command {
        Command::Simulate { trace } => replay(trace)?,
        Command::Bound { json } => {
            let config = load(cli)?.config;
            let worst = worst_case(&config);
            let text = if *json { worst.to_json()? } else { worst.to_string() };
            writeln!(io::stdout(), "{text}")?;
        }
        Command::Status { json, pull_requests } => return show_status(cli, pull_requests, *json),
        Command::Review { reviewer, json, pull_request } => {
            return show_review(cli, pull_request, reviewer, *json);
        }
        Command::Doctor { pull_requests } => return show_examination(cli, pull_requests),
        Command::Simulator { port, scenario, speed } => run_simulator(*port, scenario, *speed)?,
    }
    Ok(Vec::new())
}

fn load(cli: &Cli) -> Result<Loaded, ConfigError> {
    Config::load(&Places::from_environment(cli.config.clone()))
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

fn show_status(cli: &Cli, pull_requests: &[String], json: bool) -> anyhow::Result<Vec<Failure>> {
    let loaded = load(cli)?;
    let profiles = Profiles::built_in()?;
    let status = with_settings(cli, &loaded, async |settings| {
        status(pull_requests, settings, &profiles, Timestamp::now()).await
    })??;
    let text = if json { status.to_json()? } else { status.to_string() };
    writeln!(io::stdout(), "{text}")?;
    Ok(status.failures)
}

fn show_review(cli: &Cli, pull_request: &str, reviewer: &str, json: bool) -> anyhow::Result<Vec<Failure>> {
    let loaded = load(cli)?;
    let profiles = Profiles::built_in()?;
    let review = with_settings(cli, &loaded, async |settings| {
        // The reviewer is in a process group of its own, which an interrupt from the keyboard does not reach. Letting go
        // of it ends it.
        tokio::select! {
            review = review(pull_request, reviewer, settings, &profiles) => review,
            () = interrupted() => Err(Failure::new(Kind::Stopped, "interrupted; the reviewer was ended")),
        }
    })??;
    let text = if json { review.to_json()? } else { review.to_string() };
    writeln!(io::stdout(), "{text}")?;
    Ok(review.failures())
}

fn show_examination(cli: &Cli, pull_requests: &[String]) -> anyhow::Result<Vec<Failure>> {
    let loaded = load(cli)?;
    let profiles = Profiles::built_in()?;
    let state = state_folder();
    let examination = with_settings(cli, &loaded, async |settings| {
        examine(pull_requests, settings, &loaded, state.as_deref(), &profiles, Timestamp::now()).await
    })??;
    writeln!(io::stdout(), "{examination}")?;
    Ok(examination.trouble().into_iter().collect())
}

/// Runs something that needs the network, with what this process was started with.
fn with_settings<T>(cli: &Cli, loaded: &Loaded, work: impl AsyncFnOnce(&Settings<'_>) -> T) -> io::Result<T> {
    let directory = env::current_dir()?;
    let settings = Settings {
        config: &loaded.config,
        api_url: cli.api_url.as_deref(),
        environment: &|name| env::var(name).ok(),
        directory: &directory,
    };
    block_on(work(&settings))
}

fn run_simulator(port: u16, scenario: &str, speed: Option<f64>) -> anyhow::Result<()> {
    let is_name = Scenario::built_in_names().any(|name| name == scenario);
    // What looks like no file and is none is meant as a name, and the refusal lists those there are.
    let is_file = !is_name && (Path::new(scenario).exists() || scenario.contains(['/', '\\', '.']));
    let mut scenario =
        if is_file { Scenario::load(Path::new(scenario))? } else { Scenario::built_in(scenario)? };
    scenario.speed = speed.or(scenario.speed);
    let title = clean::line(&scenario.title).into_owned();
    let mut told = Ok(());
    let ready = |url: &str| {
        told = writeln!(
            io::stdout(),
            "{title}\n\nA GitHub runs at {url} until interrupted (Ctrl-C). In another terminal:\n\n  \
             GH_TOKEN=any cloture --api-url {url} status OWNER/REPO#N"
        );
    };
    block_on(simulator::serve(port, &scenario, ready, interrupted()))??;
    Ok(told?)
}

/// Somebody wants this process to end.
async fn interrupted() {
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    let at_the_keyboard = async {
        // Without a way to hear of an interrupt, the interrupt itself ends the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = terminated => {}
        () = at_the_keyboard => {}
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(runtime.block_on(work))
}

/// Whoever reads our output has seen enough: that is no failure of ours.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The exit codes that scripts rely on: 2 for wrong input, 3 for a bad configuration, 4 and 5 for what GitHub does not
/// let us do or does not answer, 70 for a bug in Cloture.
fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        failure.kind.exit_code()
    } else if error.downcast_ref::<ConfigError>().is_some() {
        3
    } else if error.downcast_ref::<SimulateError>().is_some()
        || error.downcast_ref::<ScenarioError>().is_some()
        || matches!(
            error.downcast_ref::<SimulatorError>(),
            Some(SimulatorError::Scenario(_) | SimulatorError::Listen { .. })
        )
    {
        2
    } else {
        70
    }
}
