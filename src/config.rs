//! The configuration, in two stages: what was typed ([`typed`]) becomes what is valid ([`Config`]), or is
//! refused before anything starts (S5). A refusal names the file, line and column, the key, what was expected
//! and what was found, for every problem of the file and not only for its first.

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

/// Everything a team decides, checked. Nothing behind this type has to doubt a value again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    pub github: GithubConfig,
    pub journal: JournalConfig,
    /// Which pull requests are watched where the command line names none: those that fit any of these.
    pub watch: Vec<WatchRule>,
    pub policy: Policy,
    pub handoff: HandoffRules,
    /// How tasks are sent to the targets that the rules name.
    pub targets: TargetKinds,
    /// The reviewers that are driven, in the order in which they were written.
    pub reviewers: Vec<ReviewerConfig>,
    /// What it changes about the profiles of known reviewers, and the profiles that it adds.
    pub profiles: Vec<ProfileOverride>,
    pub author: AuthorConfig,
    pub repositories: Vec<RepositoryConfig>,
    pub operator: OperatorConfig,
    pub notifications: NotificationConfig,
    pub break_glass: BreakGlassRules,
    pub tui: TuiConfig,
    pub keys: KeyBindings,
}

/// Which GitHub, and who we are there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GithubConfig {
    /// None for GitHub.com.
    pub host: Option<Host>,
    /// A file with a token, asked last.
    pub token_file: Option<PathBuf>,
}

/// Where what happened is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalConfig {
    /// None for a file in the state folder.
    pub server: Option<JournalAddress>,
}

/// A reviewer that is driven.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewerConfig {
    pub name: ReviewerName,
    pub protocol: Protocol,
    /// In tokens (R6).
    pub context_window: u64,
    /// None where nobody said, which is not the same as free.
    pub price_per_call: Option<f64>,
    /// How it is asked; none where it is only counted.
    pub adapter: Option<Adapter>,
}

/// The agent that is dispatched to fix findings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuthorConfig {
    /// None where nobody said, which is not the same as free.
    pub price_per_call: Option<f64>,
    /// How it is dispatched; none where people fix what is found.
    pub agent: Option<AuthorAgent>,
}

/// What may be done in one repository, and who is expected to review there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryConfig {
    pub name: RepositoryName,
    /// S4: nothing is written there by itself until this is true.
    pub drive: bool,
    /// Who is waited for. None where nobody said: whoever is recognised, and the driven ones.
    pub reviewers: Option<Vec<ReviewerName>>,
    /// Whether the configured author may be sent to work there. Never true where `drive` is not.
    pub author: bool,
}

/// Who escalations are addressed to (T7).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorConfig {
    /// A person or a team, with the `@`.
    pub mention: Option<String>,
    /// The label on a pull request that waits for a person.
    pub label: Option<String>,
}

/// When and how a person at the keyboard is told that something waits.
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
    /// The escape sequence by which a terminal shows a notification of its own.
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
    /// What was said about a repository. The forge does not tell names apart by their case.
    pub fn repository(&self, name: &RepositoryName) -> Option<&RepositoryConfig> {
        self.repositories.iter().find(|repository| repository.name.is_same(name))
    }

    /// S4: whether Cloture may write there without a person's key press.
    pub fn may_drive(&self, name: &RepositoryName) -> bool {
        self.repository(name).is_some_and(|repository| repository.drive)
    }

    /// Finds the configuration and reads it.
    pub fn load(places: &ConfigPaths) -> Result<LoadedConfig, ConfigError> {
        paths::load(places)
    }

    /// Where the journal is: the configured server, else a file in the state folder; none where no such folder is known.
    pub fn journal_address(&self, state_folder: Option<PathBuf>) -> Option<JournalAddress> {
        let file = || state_folder.map(|folder| JournalAddress::file(folder.join(JournalAddress::FILE_NAME)));
        self.journal.server.clone().or_else(file)
    }

    /// Reads a configuration from the content of `file`, which is only named in errors. The content is taken
    /// as bytes, because whether it is text at all is a question with a place in the file, too.
    pub fn parse(file: &Path, content: &[u8]) -> Result<Config, ConfigError> {
        let text = std::str::from_utf8(content)
            .map_err(|error| ConfigError::invalid(file, content, vec![document::not_text(content, error)]))?;
        document::read(text).map_err(|faults| ConfigError::invalid(file, content, faults))
    }
}
