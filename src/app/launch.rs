//! The start of the terminal. The first frame shows the journal's last snapshots; the rest arrives behind it
//! as soon as it is ready: the token, the connection, and the list of pull requests from GitHub.
//!
//! What is absent: the screen waits for nothing here, no failure ends the program, and no file is written
//! unless the person agrees.

mod background_start;
mod first_run;
mod remembered;

use crate::app::connection::ConnectionSettings;
use crate::app::invocation::Invocation;
use crate::app::{runtime, session};
use crate::config::{Config, ConfigPaths, LoadedConfig};
use crate::failure::Failure;
use crate::github::{Client, Timeouts};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::tui::rows::RowBuilder;
use crate::tui::{self, TerminalEnd, Themes};
use background_start::BackgroundStart;
use std::env;
use std::future::Future;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Everything the terminal starts with. The environment and the folder are passed in, so that a test can
/// choose them.
#[derive(Debug, Clone)]
pub struct TerminalLaunch {
    pub config: Arc<Config>,
    pub config_presence: ConfigPresence,
    pub api_url: Option<String>,
    pub read_only: bool,
    pub state_folder: Option<PathBuf>,
    pub directory: PathBuf,
    /// The name of this process among those that share the journal.
    pub instance: String,
    /// The person at the keyboard.
    pub by: String,
    pub themes: Themes,
    pub environment: fn(&str) -> Option<String>,
}

/// Whether there is a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigPresence {
    Yes,
    No {
        /// The file that Cloture would read. None if the home folder is unknown.
        path: Option<PathBuf>,
    },
}

impl ConfigPresence {
    pub fn of(loaded: &LoadedConfig, paths: &ConfigPaths) -> ConfigPresence {
        match &loaded.source {
            Some(_) => ConfigPresence::Yes,
            None => ConfigPresence::No { path: paths.default.clone() },
        }
    }
}

/// How the terminal ended, and the configuration it ran with.
#[derive(Debug)]
pub struct TerminalClosed {
    pub end: TerminalEnd,
    pub config: Arc<Config>,
}

/// Why the terminal could not be shown, or broke off.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    #[error(transparent)]
    Failure(#[from] Failure),
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
}

/// Capacity of the queue of startup events; the start waits when it is full.
const EVENT_QUEUE: usize = 64;

/// Opens the terminal, and returns when the person leaves it.
pub fn open(invocation: &Invocation) -> anyhow::Result<TerminalClosed> {
    require_terminal("`cloture status` and `cloture watch` print lines instead")?;
    let paths = invocation.config_paths();
    let loaded = Config::load(&paths)?;
    let profiles = Profiles::with_overrides(&loaded.config.profiles)?;
    let launch = TerminalLaunch {
        config_presence: ConfigPresence::of(&loaded, &paths),
        themes: themes(&loaded.config),
        config: Arc::new(loaded.config),
        api_url: invocation.api_url.clone(),
        read_only: invocation.read_only,
        state_folder: invocation.state_folder(),
        directory: env::current_dir()?,
        instance: session::instance_identity(),
        by: env::var("USER").unwrap_or_else(|_| "a person".to_owned()),
        environment: |name| env::var(name).ok(),
    };
    let config = Arc::clone(&launch.config);
    let end = runtime::block_on_screen(show(launch, profiles, runtime::interrupted()))??;
    Ok(TerminalClosed { end, config })
}

/// Refuses to run where nobody could see the screen or press a key. `instead` says what to do.
pub fn require_terminal(instead: &str) -> Result<(), Failure> {
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage(format_args!("this needs a terminal; {instead}")))
}

/// The configured themes, without colour if `NO_COLOR` is set and not empty (<https://no-color.org>).
pub fn themes(config: &Config) -> Themes {
    let no_color = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Themes::of(&config.tui, no_color, env::var("COLORFGBG").ok().as_deref())
}

/// Shows the terminal until the person leaves or `interrupted` completes.
pub async fn show(
    launch: TerminalLaunch,
    profiles: Profiles,
    interrupted: impl Future<Output = ()>,
) -> Result<TerminalEnd, ShowError> {
    let host = launch.settings().host()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let profiles = Arc::new(profiles);
    let (events, event_receiver) = mpsc::channel(EVENT_QUEUE);
    let (request_sender, requests) = mpsc::unbounded_channel();
    let (drawn_sender, drawn) = oneshot::channel();
    let setup = tui::TerminalSetup {
        row_builder: RowBuilder {
            config: Arc::clone(&launch.config),
            reads: profiles.clone(),
            read_only: launch.read_only,
        },
        themes: launch.themes,
        by: launch.by.clone(),
        clock: Arc::clone(&clock),
        tick: Duration::from_secs(1),
        guide: None,
        supervised: None,
        launch: Some(tui::LaunchChannels {
            events: event_receiver,
            requests: request_sender,
            drawn: drawn_sender,
        }),
    };
    let (client, credentials) = Client::waiting(host.clone(), Timeouts::default());
    let credentials = Arc::new(credentials);
    let start = BackgroundStart { launch, host, profiles, clock, client, credentials, events, requests };
    let panic = panic_if_requested((start.launch.environment)("CLOTURE_PANIC"));
    let start = tokio::spawn(start.run(drawn));
    let interrupted = async {
        tokio::select! {
            () = interrupted => {}
            () = panic => {}
        }
    };
    let end = tui::run(setup, std::future::pending(), interrupted).await;
    start.abort();
    Ok(end?)
}

/// Panics where a test asks for it, to show that a bug restores the terminal. Release builds have no such
/// switch.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "that is what is asked for")]
async fn panic_if_requested(place: Option<String>) {
    const AFTER: Duration = Duration::from_millis(200);
    match place.as_deref() {
        Some("screen") => {
            tokio::time::sleep(AFTER).await;
            panic!("the screen was asked to panic");
        }
        Some("task") => {
            tokio::spawn(async {
                tokio::time::sleep(AFTER).await;
                panic!("a task was asked to panic");
            });
        }
        _ => {}
    }
    std::future::pending::<()>().await;
}

#[cfg(not(debug_assertions))]
async fn panic_if_requested(_place: Option<String>) {
    std::future::pending().await
}

impl TerminalLaunch {
    fn settings(&self) -> ConnectionSettings<'_> {
        ConnectionSettings {
            config: &self.config,
            api_url: self.api_url.as_deref(),
            environment: &self.environment,
            directory: &self.directory,
            environment_of_programs: self.environment,
        }
    }
}
