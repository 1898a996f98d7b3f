//! Parses the command line, runs it, prints an error once and exits with its code.

use anyhow::Context;
use clap::Parser;
use cloture::app::connection::ConnectionSettings;
use cloture::app::diagnostics;
use cloture::app::launch::{self, ConfigPresence, ShowError, TerminalLaunch};
use cloture::app::selection;
use cloture::app::session::Session;
use cloture::cli::manual;
use cloture::cli::{Cli, Command, QueueCommand, WriteArgs};
use cloture::commands::act::consent::{self, ConsentFlags};
use cloture::commands::act::{ActRequest, act};
use cloture::commands::bound::worst_case;
use cloture::commands::classify::{ClassifyError, classify};
use cloture::commands::demo;
use cloture::commands::doctor::examine;
use cloture::commands::inbox::{self, inbox};
use cloture::commands::journal::{JournalCommandError, JournalQuery, show};
use cloture::commands::queue;
use cloture::commands::review::review;
use cloture::commands::reviewers::ProfileList;
use cloture::commands::simulate::{SimulateError, simulate};
use cloture::commands::status::status;
use cloture::commands::watch::{self, watch_and_tell};
use cloture::config::{Config, ConfigError, ConfigPaths, LoadedConfig, state_folder};
use cloture::failure::{ExitStatus, Failure, FailureKind};
use cloture::journal::{Journal, JournalError, JournalOptions, SetAside};
use cloture::output::sanitize;
use cloture::reviewers::profiles::Profiles;
use cloture::simulator::{self, Scenario, ScenarioError, SimulatorError};
use cloture::supervisor::clock::{Clock, SystemClock};
use cloture::supervisor::people::{InboxNotifier, stored};
use cloture::tui::{TerminalEnd, Themes};
use std::fs::File;
use std::future::Future;
use std::io::{self, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fmt};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(status) => ExitCode::from(status.code()),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let status = exit_status(&error);
            let text = format!("{error:#}");
            // An error about a shared journal may quote what somebody else wrote into it.
            let text = if status == ExitStatus::Journal { sanitize::line(&text).into_owned() } else { text };
            tracing::error!(code = status.code(), "{text}");
            complain(&text);
            ExitCode::from(status.code())
        }
    }
}

/// Nothing is left to do if even this cannot be printed.
fn complain(what: &dyn fmt::Display) {
    let _unprintable = writeln!(io::stderr(), "cloture: {what}");
}

/// Tells what a command could not do although it did the rest, and with which code that ends.
fn told(failures: &[Failure]) -> ExitStatus {
    for failure in failures {
        complain(failure);
    }
    failures.iter().map(|failure| failure.kind).min().map_or(ExitStatus::Success, FailureKind::exit_status)
}

/// Runs a command and says with which code to end.
fn run(cli: &Cli) -> anyhow::Result<ExitStatus> {
    start_log(cli)?;
    let Some(command) = &cli.command else { return show_terminal(cli) };
    match command {
        Command::Demo => {
            return play_demo(&load(cli)?.config);
        }
        Command::DemoReviewer { think } => {
            demo::review(io::stdin().lock(), io::stdout().lock(), Duration::from_millis(*think))?;
        }
        Command::DemoAuthor { simulator, think } => {
            let work = demo::work(io::stdin().lock(), simulator, Duration::from_millis(*think));
            writeln!(io::stdout(), "{}", block_on_one(work)??)?;
        }
        Command::Simulate { trace } => replay(trace)?,
        Command::Completions { shell } => manual::completions(*shell, io::stdout().lock())?,
        Command::Man { into: None } => manual::page(io::stdout().lock())?,
        Command::Man { into: Some(folder) } => manual::pages_into(folder).map_err(|error| {
            Failure::usage(format_args!("the pages cannot be written into {}: {error}", folder.display()))
        })?,
        Command::Bound { json } => {
            let config = load(cli)?.config;
            let worst = worst_case(&config);
            let text = if *json { worst.to_json()? } else { worst.to_string() };
            writeln!(io::stdout(), "{text}")?;
        }
        Command::Status { json, pull_requests } => return Ok(told(&show_status(cli, pull_requests, *json)?)),
        Command::Review { reviewer, json, pull_request } => {
            return Ok(told(&show_review(cli, pull_request, reviewer, *json)?));
        }
        Command::Doctor { pull_requests } => return Ok(told(&show_examination(cli, pull_requests)?)),
        Command::Act(act) => return Ok(told(&write_to_forge(cli, &act.how, || act.order(io::stdin()))?)),
        Command::Queue { queue: QueueCommand::List { json, pull_requests } } => {
            return Ok(told(&show_queue(cli, pull_requests, *json)?));
        }
        Command::Queue { queue: QueueCommand::Add(adding) } => {
            return Ok(told(&write_to_forge(cli, &adding.which.how, || Ok(adding.order()))?));
        }
        Command::Queue { queue: QueueCommand::Remove(queueing) } => {
            return Ok(told(&write_to_forge(cli, &queueing.how, || Ok(queueing.removal()))?));
        }
        Command::Queue { queue: QueueCommand::Retarget(retargeting) } => {
            return Ok(told(&write_to_forge(cli, &retargeting.which.how, || Ok(retargeting.order()))?));
        }
        Command::Queue { queue: QueueCommand::History { json, limit, pull_request } } => {
            let wanted =
                queue::sent_tasks::SentTasksQuery { pull_request: pull_request.as_deref(), limit: *limit };
            show_sent(cli, &wanted, *json)?;
        }
        Command::Inbox { json, fresh, all, pull_requests } => {
            let wanted = inbox::InboxQuery { pull_requests, fresh: *fresh, all: *all };
            return Ok(told(&show_inbox(cli, &wanted, *json)?));
        }
        Command::Pr(pr) => return Ok(told(&write_to_forge(cli, &pr.how, || pr.order(io::stdin()))?)),
        Command::Watch { json, once, timeout, pull_request } => {
            return watch_loop(cli, pull_request, *json, *once, *timeout);
        }
        Command::Journal { json, follow, pull_request, kind, search, limit } => {
            let wanted = JournalQuery {
                pull_request: pull_request.as_deref(),
                kind: kind.as_deref(),
                search: search.as_deref(),
                limit: *limit,
                json: *json,
            };
            show_history(cli, &wanted, *follow)?;
        }
        Command::Classify => {
            let profiles = Profiles::in_force(&load(cli)?.config.profiles)?;
            classify(io::stdin().lock(), io::stdout().lock(), &profiles)?;
        }
        Command::Reviewers { json } => {
            let roster = ProfileList::of(&Profiles::in_force(&load(cli)?.config.profiles)?);
            let text = if *json { roster.to_json()? } else { roster.to_string() };
            writeln!(io::stdout(), "{text}")?;
        }
        Command::Simulator { port, scenario, speed } => run_simulator(*port, scenario, *speed)?,
    }
    Ok(ExitStatus::Success)
}

fn start_log(cli: &Cli) -> Result<(), Failure> {
    let filter = env::var(diagnostics::FILTER_VARIABLE).ok();
    let state = || cli.state_dir.clone().or_else(state_folder);
    let Some(file) = diagnostics::log_file(cli.log.as_deref(), filter.as_deref(), state()) else {
        return Ok(());
    };
    diagnostics::start(&file, filter.as_deref())?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), system = env::consts::OS, "cloture started");
    Ok(())
}

fn load(cli: &Cli) -> Result<LoadedConfig, ConfigError> {
    Config::load(&ConfigPaths::from_environment(cli.config.clone()))
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
    let profiles = Profiles::in_force(&loaded.config.profiles)?;
    let status = with_settings(cli, &loaded, async |settings| {
        let state = cli.state_dir.clone().or_else(state_folder);
        status(pull_requests, settings, &profiles, state, SystemClock.now()).await
    })??;
    let text = if json { status.to_json()? } else { status.to_string() };
    writeln!(io::stdout(), "{text}")?;
    Ok(status.failures)
}

fn show_inbox(cli: &Cli, wanted: &inbox::InboxQuery<'_>, json: bool) -> anyhow::Result<Vec<Failure>> {
    let loaded = load(cli)?;
    let profiles = Profiles::in_force(&loaded.config.profiles)?;
    let state = cli.state_dir.clone().or_else(state_folder);
    let found = with_settings(cli, &loaded, async |settings| {
        inbox(wanted, settings, &profiles, state, SystemClock.now()).await
    })??;
    let text = if json { found.to_json()? } else { found.to_string() };
    writeln!(io::stdout(), "{text}")?;
    Ok(found.failures)
}

fn show_queue(cli: &Cli, pull_requests: &[String], json: bool) -> anyhow::Result<Vec<Failure>> {
    let loaded = load(cli)?;
    let profiles = Profiles::in_force(&loaded.config.profiles)?;
    let state = cli.state_dir.clone().or_else(state_folder);
    let found = with_settings(cli, &loaded, async |settings| {
        queue::list(pull_requests, settings, &profiles, state, SystemClock.now()).await
    })??;
    let text = if json { found.to_json()? } else { found.to_string() };
    writeln!(io::stdout(), "{text}")?;
    Ok(found.failures)
}

fn show_sent(cli: &Cli, wanted: &queue::sent_tasks::SentTasksQuery<'_>, json: bool) -> anyhow::Result<()> {
    let loaded = load(cli)?;
    let state = cli.state_dir.clone().or_else(state_folder);
    let sent = with_settings(cli, &loaded, async |settings| {
        queue::sent_tasks::history(wanted, settings, state, SystemClock.now()).await
    })??;
    let text = if json { sent.to_json()? } else { sent.to_string() };
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

fn show_review(cli: &Cli, pull_request: &str, reviewer: &str, json: bool) -> anyhow::Result<Vec<Failure>> {
    let loaded = load(cli)?;
    let profiles = Profiles::in_force(&loaded.config.profiles)?;
    let review = with_settings(cli, &loaded, async |settings| {
        // The reviewer is in a process group of its own, which an interrupt from the keyboard does not reach. Letting go
        // of it ends it.
        tokio::select! {
            review = review(pull_request, reviewer, settings, &profiles) => review,
            () = interrupted() => Err(Failure::new(FailureKind::Stopped, "interrupted; the reviewer was ended")),
        }
    })??;
    let text = if json { review.to_json()? } else { review.to_string() };
    writeln!(io::stdout(), "{text}")?;
    Ok(review.failures())
}

fn show_examination(cli: &Cli, pull_requests: &[String]) -> anyhow::Result<Vec<Failure>> {
    let loaded = load(cli)?;
    let profiles = Profiles::in_force(&loaded.config.profiles)?;
    let state = cli.state_dir.clone().or_else(state_folder);
    let examination = with_settings(cli, &loaded, async |settings| {
        examine(pull_requests, settings, &loaded, state.as_deref(), &profiles, SystemClock.now()).await
    })??;
    writeln!(io::stdout(), "{examination}")?;
    Ok(examination.trouble().into_iter().collect())
}

/// Whether it may be written is settled before a text is read or anything is asked of GitHub.
fn write_to_forge(
    cli: &Cli,
    how: &WriteArgs,
    order: impl FnOnce() -> Result<ActRequest, Failure>,
) -> anyhow::Result<Vec<Failure>> {
    let is_terminal = io::stdin().is_terminal();
    let manner = ConsentFlags { dry_run: how.dry_run, yes: how.yes, read_only: cli.read_only, is_terminal };
    let mut ask = |sentences: &[String]| consent::ask(sentences, io::stdin().lock(), io::stderr());
    let consent = manner.consent(&mut ask)?;
    let order = order()?;
    let loaded = load(cli)?;
    let profiles = Profiles::in_force(&loaded.config.profiles)?;
    let state = cli.state_dir.clone().or_else(state_folder);
    let report = with_settings(cli, &loaded, async |settings| {
        act(&order, settings, &profiles, state, consent).await
    })??;
    let text = if how.json { format!("{}\n", report.to_json()?) } else { report.to_string() };
    write!(io::stdout(), "{text}")?;
    Ok(report.failures())
}

/// Runs something that needs the network, with what this process was started with.
fn with_settings<T>(
    cli: &Cli,
    loaded: &LoadedConfig,
    work: impl AsyncFnOnce(&ConnectionSettings<'_>) -> T,
) -> io::Result<T> {
    let directory = env::current_dir()?;
    let settings = ConnectionSettings {
        config: &loaded.config,
        api_url: cli.api_url.as_deref(),
        environment: &|name| env::var(name).ok(),
        directory: &directory,
        environment_of_programs: |name| env::var(name).ok(),
    };
    block_on(work(&settings))
}

/// How long the journal may take to be closed when all is over.
const LEAVING: Duration = Duration::from_millis(150);

fn watch_loop(
    cli: &Cli,
    pull_request: &str,
    json: bool,
    once: bool,
    timeout: Option<Duration>,
) -> anyhow::Result<ExitStatus> {
    let loaded = load(cli)?;
    let profiles = Profiles::in_force(&loaded.config.profiles)?;
    let state = cli.state_dir.clone().or_else(state_folder);
    let end = with_settings(cli, &loaded, async |settings| {
        let host = settings.host()?;
        let mut named = selection::named(&[pull_request.to_owned()], &host)?;
        let address = named.remove(0);
        let session = Session::open(settings, host, profiles, state, SystemClock.now()).await?;
        tell_of_damage(session.set_aside.as_ref());
        // What waited before anybody watched is no news.
        let about = session.about(&address);
        let before = stored::one(&session.journal, &loaded.config, &*session.profiles, &about).await;
        let before = before.map_err(Failure::from)?;
        let mut teller = InboxNotifier::new(&loaded.config, session.journal.clone(), about.host);
        if let Some(before) = &before {
            teller.know(before);
        }
        let tracked = vec![address.clone().into()];
        let supervisor = session.supervise(settings, instance(), cli.read_only, tracked).await?;
        let terminal = io::stdout().is_terminal();
        let wanted = watch::WatchOptions { pull_request: address, json, once, timeout, terminal };
        let output = &mut io::stdout();
        let end = watch_and_tell(&wanted, &supervisor, &session.clock, interrupted(), teller, output).await;
        supervisor.stop().await;
        // Nobody who leaves waits for others that hold the journal: what is cut off has its intent there, and is looked for.
        if let Ok(closed) = tokio::time::timeout(LEAVING, session.journal.close()).await {
            closed.map_err(Failure::from)?;
        }
        Ok::<_, anyhow::Error>(end?)
    })??;
    Ok(end.exit_status())
}

/// The terminal, over what the checkout or the configuration means.
fn show_terminal(cli: &Cli) -> anyhow::Result<ExitStatus> {
    needs_a_terminal("`cloture status` and `cloture watch` print lines instead")?;
    let places = ConfigPaths::from_environment(cli.config.clone());
    let loaded = Config::load(&places)?;
    let profiles = Profiles::in_force(&loaded.config.profiles)?;
    let launch = TerminalLaunch {
        configured: ConfigPresence::of(&loaded, &places),
        themes: Themes::of(&loaded.config.tui, no_color(), env::var("COLORFGBG").ok().as_deref()),
        config: Arc::new(loaded.config),
        api_url: cli.api_url.clone(),
        read_only: cli.read_only,
        state_folder: cli.state_dir.clone().or_else(state_folder),
        directory: env::current_dir()?,
        instance: instance(),
        by: env::var("USER").unwrap_or_else(|_| "a person".to_owned()),
        environment: |name| env::var(name).ok(),
    };
    let own = Arc::clone(&launch.config);
    match leave_at_once(launch::show(launch, profiles, interrupted()))?? {
        TerminalEnd::Quit => Ok(ExitStatus::Success),
        TerminalEnd::PlayDemo => play_demo(&own),
        TerminalEnd::Panicked => Ok(ExitStatus::Bug),
    }
}

fn play_demo(own: &Config) -> anyhow::Result<ExitStatus> {
    needs_a_terminal("run it in one")?;
    let themes = Themes::of(&own.tui, no_color(), env::var("COLORFGBG").ok().as_deref());
    let end = block_on_one(demo::play(own, themes, interrupted()))??;
    Ok(if end == TerminalEnd::Panicked { ExitStatus::Bug } else { ExitStatus::Success })
}

fn needs_a_terminal(instead: &str) -> Result<(), Failure> {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage(format_args!("this needs a terminal, and there is none here; {instead}")))
}

/// <https://no-color.org>: set, and not empty.
fn no_color() -> bool {
    env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Names this process among those that share a journal, for people who read who did what.
fn instance() -> String {
    let host = env::var("HOSTNAME").ok().or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let host = host.map(|host| host.trim().to_owned()).filter(|host| !host.is_empty());
    format!("{}/{}", host.unwrap_or_else(|| "here".to_owned()), std::process::id())
}

fn tell_of_damage(set_aside: Option<&SetAside>) {
    if let Some(SetAside { to, why }) = set_aside {
        let (to, why) = (to.display(), sanitize::line(why));
        complain(&format!("the journal was damaged ({why}) and is now {to}; a new one was begun"));
    }
}

fn show_history(cli: &Cli, wanted: &JournalQuery<'_>, follow: bool) -> anyhow::Result<()> {
    let config = load(cli)?.config;
    let address = config.journal_address(cli.state_dir.clone().or_else(state_folder));
    let unknown =
        || Failure::usage("no home folder is known to keep the journal in; pass --state-dir DIR or set HOME");
    let address = address.ok_or_else(unknown)?;
    block_on(async {
        let opened = Journal::open(&address, JournalOptions::new(SystemClock.now())).await?;
        tell_of_damage(opened.set_aside.as_ref());
        let until = follow.then(interrupted);
        let shown = show(&opened.journal, wanted, until, &mut io::stdout()).await;
        opened.journal.close().await?;
        Ok(shown?)
    })?
}

fn run_simulator(port: u16, scenario: &str, speed: Option<f64>) -> anyhow::Result<()> {
    let is_name = Scenario::built_in_names().any(|name| name == scenario);
    // What looks like no file and is none is meant as a name, and the refusal lists those there are.
    let is_file = !is_name && (Path::new(scenario).exists() || scenario.contains(['/', '\\', '.']));
    let mut scenario =
        if is_file { Scenario::load(Path::new(scenario))? } else { Scenario::built_in(scenario)? };
    scenario.speed = speed.or(scenario.speed);
    let title = sanitize::line(&scenario.title).into_owned();
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
        let told = async |kind| match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        };
        tokio::select! {
            () = told(SignalKind::terminate()) => {}
            // The terminal was closed.
            () = told(SignalKind::hangup()) => {}
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

/// The same for what a person looks at: whoever leaves does not wait for anything that hangs.
fn leave_at_once<T>(work: impl Future<Output = T>) -> io::Result<T> {
    // Putting a pull request together takes milliseconds: whatever else is due is not to wait for dozens of them.
    let runtime = tokio::runtime::Builder::new_multi_thread().event_interval(2).enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(done)
}

/// With one thread beside this one: the demo is no more work than that, and every thread has memory of its own. What it
/// started is ended with it.
fn block_on_one<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_millis(300));
    Ok(done)
}

/// Whoever reads our output has seen enough: that is no failure of ours.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let mut io_errors = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io_errors.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// The exit status that scripts rely on, by the type of the error.
fn exit_status(error: &anyhow::Error) -> ExitStatus {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        failure.kind.exit_status()
    } else if let Some(ShowError::Failure(failure)) = error.downcast_ref() {
        failure.kind.exit_status()
    } else if let Some(JournalCommandError::Usage(failure)) = error.downcast_ref() {
        failure.kind.exit_status()
    } else if error.downcast_ref::<JournalError>().is_some()
        || matches!(error.downcast_ref(), Some(JournalCommandError::Journal(_)))
    {
        ExitStatus::Journal
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
