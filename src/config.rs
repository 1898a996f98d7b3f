//! The configuration, in two stages: [`typed`] holds the file as written, [`Config`] the checked values.
//!
//! Cloture refuses an invalid file before it starts anything (S5). For each problem, the error names file,
//! line, column and key, the expected value and the value found.

mod check;
mod document;
mod drivers;
mod error;
mod github;
mod handoff;
mod journal;
mod paths;
mod people;
mod policy;
mod profiles;
mod reviewers;
mod screen;
mod targets;
mod text_style;
pub mod typed;
mod unknown_keys;
mod value;

pub use check::Problem;
pub use error::{Complaint, ConfigError};
pub use paths::{ConfigPaths, LoadedConfig, state_folder};
pub use screen::{KeyBindings, ThemeName, TuiConfig};
pub use targets::{TargetKind, TargetKinds};
pub use text_style::{Colour, TextAttribute, TextAttributes, TextMeaning, TextStyle};
pub use value::TypedValue;

use crate::agents::authors::AuthorAgent;
use crate::domain::cycle::Protocol;
use crate::domain::handoff::HandoffRules;
use crate::domain::policy::Policy;
use crate::domain::re_review::BreakGlassRules;
use crate::domain::snapshot::RepositoryName;
use crate::domain::vocabulary::{ReviewerName, Severity};
use crate::github::Host;
use crate::github::discover::WatchRule;
use crate::journal::JournalAddress;
use crate::reviewers::adapters::Adapter;
use crate::reviewers::profile::ProfileOverride;
use std::path::{Path, PathBuf};

/// The checked configuration. Code that gets it need not check a value again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    pub github: GithubConfig,
    pub journal: JournalConfig,
    /// The pull requests to watch if the command line names none: those that match any of these rules.
    pub watch: Vec<WatchRule>,
    pub policy: Policy,
    pub handoff: HandoffRules,
    /// How to send tasks to the targets that the rules name.
    pub targets: TargetKinds,
    /// The driven reviewers, in the order of the file.
    pub reviewers: Vec<ReviewerConfig>,
    /// Overrides of the built-in profiles, and added profiles.
    pub profiles: Vec<ProfileOverride>,
    pub author: AuthorConfig,
    pub repositories: Vec<RepositoryConfig>,
    pub operator: OperatorConfig,
    pub notifications: NotificationConfig,
    pub break_glass: BreakGlassRules,
    pub tui: TuiConfig,
    pub keys: KeyBindings,
}

/// The GitHub host and its token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GithubConfig {
    /// None for GitHub.com.
    pub host: Option<Host>,
    /// A file with a token, the last place where Cloture looks for one.
    pub token_file: Option<PathBuf>,
}

/// Where the journal is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalConfig {
    /// None: a file in the state folder.
    pub server: Option<JournalAddress>,
}

/// A driven reviewer.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewerConfig {
    pub name: ReviewerName,
    pub protocol: Protocol,
    /// In tokens (R6).
    pub context_window: u64,
    /// None: unknown, which is not the same as free.
    pub price_per_call: Option<f64>,
    /// How to ask it. None: the reviewer only counts in `cloture bound`.
    pub adapter: Option<Adapter>,
}

/// The agent that fixes findings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuthorConfig {
    /// None: unknown, which is not the same as free.
    pub price_per_call: Option<f64>,
    /// None: people fix the findings.
    pub agent: Option<AuthorAgent>,
}

/// The settings of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryConfig {
    pub name: RepositoryName,
    /// S4: Cloture writes there without being asked only if this is true.
    pub drive: bool,
    /// The reviewers to wait for. None: all recognised and all driven reviewers.
    pub reviewers: Option<Vec<ReviewerName>>,
    /// Whether the author's agent may work there. Requires `drive`.
    pub author: bool,
}

/// The person or team that handles escalations (T7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorConfig {
    /// With the `@`.
    pub mention: Option<String>,
    /// The label for pull requests that wait for a person.
    pub label: Option<String>,
}

/// When and how to notify the person at the keyboard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotificationConfig {
    pub when: NotifyWhen,
    pub how: NotifyHow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotifyWhen {
    #[default]
    Never,
    Always,
    AtLeast(Severity),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NotifyHow {
    #[default]
    Bell,
    /// The escape sequence OSC 9, which makes the terminal show a notification.
    Osc9,
    Desktop,
    /// A program and its arguments.
    Command(Vec<String>),
}

impl Default for OperatorConfig {
    fn default() -> Self {
        Self { mention: None, label: Some("cloture:needs-a-person".to_owned()) }
    }
}

impl Config {
    /// The settings of a repository. GitHub ignores the case of names.
    pub fn repository(&self, name: &RepositoryName) -> Option<&RepositoryConfig> {
        self.repositories.iter().find(|repository| repository.name == *name)
    }

    /// S4: whether Cloture may write there without asking a person.
    pub fn may_drive(&self, name: &RepositoryName) -> bool {
        self.repository(name).is_some_and(|repository| repository.drive)
    }

    /// Finds the configuration and reads it.
    pub fn load(paths: &ConfigPaths) -> Result<LoadedConfig, ConfigError> {
        paths::load(paths)
    }

    /// The configured journal server, or else a file in the state folder. None: there is no state folder.
    pub fn journal_address(&self, state_folder: Option<PathBuf>) -> Option<JournalAddress> {
        let file = || state_folder.map(|folder| JournalAddress::file(folder.join(JournalAddress::FILE_NAME)));
        self.journal.server.clone().or_else(file)
    }

    /// Parses the content of a file; `file` is for error messages. The content is bytes, so that an error can
    /// say where it is not UTF-8.
    pub fn parse(file: &Path, content: &[u8]) -> Result<Config, ConfigError> {
        let text = std::str::from_utf8(content)
            .map_err(|error| ConfigError::invalid(file, content, vec![document::not_text(content, error)]))?;
        document::read(text).map_err(|faults| ConfigError::invalid(file, content, faults))
    }
}
