//! One run of the program: the options that every command takes, and the configuration and the connection
//! that they lead to.

use crate::app::connection::ConnectionSettings;
use crate::app::{diagnostics, runtime, session};
use crate::config::{Config, ConfigError, ConfigPaths, LoadedConfig, state_folder};
use crate::failure::Failure;
use crate::journal::SetAside;
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use jiff::Timestamp;
use std::path::PathBuf;
use std::{env, fmt};

/// The options that every command takes.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// `--config`
    pub config_file: Option<PathBuf>,
    /// `--api-url`
    pub api_url: Option<String>,
    /// `--read-only`
    pub read_only: bool,
    /// `--state-dir`
    pub state_dir: Option<PathBuf>,
    /// `--log`
    pub log: Option<PathBuf>,
    /// Prints a warning at once, for commands that run on for hours. Only `main` writes to the error stream.
    pub warn: fn(&dyn fmt::Display),
}

/// Everything that a command needs to talk to GitHub.
#[derive(Debug)]
pub struct CommandContext<'a> {
    pub settings: ConnectionSettings<'a>,
    pub loaded: &'a LoadedConfig,
    pub profiles: Profiles,
    pub state_folder: Option<PathBuf>,
    pub now: Timestamp,
}

impl Invocation {
    /// The folder of the journal and of the default log: `--state-dir`, else the platform's state folder.
    pub fn state_folder(&self) -> Option<PathBuf> {
        self.state_dir.clone().or_else(state_folder)
    }

    /// The log of this run, if it writes one.
    pub fn log_file(&self) -> Option<PathBuf> {
        let filter = env::var(diagnostics::FILTER_VARIABLE).ok();
        diagnostics::log_file(self.log.as_deref(), filter.as_deref(), self.state_folder())
    }

    pub fn start_log(&self) -> Result<(), Failure> {
        let Some(file) = self.log_file() else { return Ok(()) };
        diagnostics::start(&file, env::var(diagnostics::FILTER_VARIABLE).ok().as_deref())?;
        tracing::info!(version = env!("CARGO_PKG_VERSION"), system = env::consts::OS, "cloture started");
        Ok(())
    }

    pub fn config_paths(&self) -> ConfigPaths {
        ConfigPaths::from_environment(self.config_file.clone())
    }

    pub fn load_config(&self) -> Result<LoadedConfig, ConfigError> {
        Config::load(&self.config_paths())
    }

    /// Loads the configuration and the profiles, and runs `work` with them and with this process's
    /// environment.
    pub fn with_context<T, E: Into<anyhow::Error>>(
        &self,
        work: impl AsyncFnOnce(CommandContext<'_>) -> Result<T, E>,
    ) -> anyhow::Result<T> {
        let loaded = self.load_config()?;
        let profiles = Profiles::with_overrides(&loaded.config.profiles)?;
        let directory = env::current_dir()?;
        let settings = ConnectionSettings {
            config: &loaded.config,
            api_url: self.api_url.as_deref(),
            environment: &|name| env::var(name).ok(),
            directory: &directory,
            environment_of_programs: |name| env::var(name).ok(),
        };
        let (state_folder, now) = (self.state_folder(), SystemClock.now());
        let context = CommandContext { settings, loaded: &loaded, profiles, state_folder, now };
        runtime::block_on(work(context))?.map_err(Into::into)
    }

    /// Warns that the journal was damaged and replaced by a new one.
    pub fn warn_of_damage(&self, set_aside: Option<&SetAside>) {
        if let Some(set_aside) = set_aside {
            (self.warn)(&session::damage_notice(set_aside));
        }
    }
}
