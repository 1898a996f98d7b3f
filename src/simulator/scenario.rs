//! The scenario file: accounts, repositories, pull requests, and the steps that happen to them.
//!
//! ```toml
//! title  = "A bot finds one thing and the author fixes it"
//! start  = "2026-03-02T09:00:00Z"
//! viewer = "dana"                       # the owner of the client's token
//!
//! [[account]]
//! login = "coderabbitai"
//! kind  = "bot"                         # user (default), bot, organization, mannequin, team
//! id    = 136622811
//!
//! [[repository]]
//! name    = "acme/shop"
//! members = { dana = "owner" }          # owner, member, collaborator, contributor, none
//! [repository.files]
//! "src/cart.rs" = "fn total() {}\n"
//!
//! [[pull_request]]
//! repository = "acme/shop"
//! number     = 7
//! title      = "Add discounts"
//! author     = "erin"
//! created    = "-2h"                    # relative to `start`
//! [pull_request.files]
//! "src/cart.rs" = "fn total() -> u32 { 0 }\n"
//!
//! [[step]]
//! on    = { event = "push", pull_request = "acme/shop#7" }   # or: at = "90s"
//! delay = "40s"
//! [[step.do]]
//! review = { by = "coderabbitai", body = "…", threads = [
//!     { name = "t1", path = "src/cart.rs", line = 1, body = "…" },
//! ] }
//! ```

mod action;
mod validate;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::agents::bounded_file;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use toml::Spanned;

pub use action::{
    ByAction, CheckRunAction, CommentAction, DeleteAccountAction, EditAction, LabelAction, MinimiseAction,
    OnThreadAction, PushAction, RenameAction, Replacement, ReplyAction, RequestAction, ReviewAction,
    ScenarioAction, ThreadEntry,
};

use super::limits::SimulatedLimits;
use super::world::{SimulatedAccountKind, SimulatedAssociation, WorldEventKind};

/// Why a scenario cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("cannot read the scenario {file}: {source}")]
    Unreadable {
        file: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{file}:{line}: {message}")]
    Invalid { file: String, line: usize, message: String },
    #[error("there is no scenario `{name}`; the built-in scenarios are: {known}")]
    Unknown { name: String, known: String },
}

/// The built-in scenarios.
const BUILT_IN: [(&str, &str); 7] = [
    ("alternates", include_str!("../../assets/scenarios/alternates.toml")),
    ("big", include_str!("../../assets/scenarios/big.toml")),
    ("converges", include_str!("../../assets/scenarios/converges.toml")),
    ("demo", include_str!("../../assets/scenarios/demo.toml")),
    ("never_yields", include_str!("../../assets/scenarios/never_yields.toml")),
    ("nulls", include_str!("../../assets/scenarios/nulls.toml")),
    ("quiet", include_str!("../../assets/scenarios/quiet.toml")),
];

/// A parsed and validated scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default)]
    pub title: String,
    /// The start of the virtual clock.
    pub start: Timestamp,
    /// The account of every token that has no `token` entry.
    pub viewer: String,
    /// How many virtual seconds pass per real second. Tests ignore it and choose their own clock.
    pub speed: Option<f64>,
    #[serde(default)]
    pub limits: SimulatedLimits,
    #[serde(rename = "account", default)]
    pub accounts: Vec<Spanned<AccountEntry>>,
    #[serde(rename = "token", default)]
    pub tokens: Vec<TokenEntry>,
    #[serde(rename = "repository", default)]
    pub repositories: Vec<Spanned<RepositoryEntry>>,
    #[serde(rename = "pull_request", default)]
    pub pull_requests: Vec<Spanned<PullRequestEntry>>,
    #[serde(rename = "step", default)]
    pub steps: Vec<Spanned<ScenarioStep>>,
    /// For error messages.
    #[serde(skip)]
    source: Source,
}

#[derive(Debug, Clone, Default)]
struct Source {
    file: String,
    text: String,
    folder: Option<PathBuf>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountEntry {
    /// Without `[bot]`.
    pub login: String,
    #[serde(default)]
    pub kind: SimulatedAccountKind,
    pub id: Option<i64>,
    pub name: Option<String>,
    /// Deleted before the scenario starts.
    #[serde(default)]
    pub deleted: bool,
}

/// A token of another account than the viewer, or with fewer permissions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    pub token: String,
    pub login: String,
    /// Fine-grained tokens may lack access to `checks` and `review_requests`.
    #[serde(default)]
    pub cannot_read: Vec<Hidden>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hidden {
    Checks,
    ReviewRequests,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepositoryEntry {
    /// `owner/name`; an owner without an account entry becomes an organization.
    pub name: String,
    pub description: Option<String>,
    #[serde(default)]
    pub private: bool,
    #[serde(default)]
    pub archived: bool,
    #[serde(default = "main_branch")]
    pub default_branch: String,
    #[serde(default)]
    pub members: BTreeMap<String, SimulatedAssociation>,
    #[serde(default)]
    pub labels: Vec<String>,
    /// The files of the default branch.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

fn main_branch() -> String {
    "main".to_owned()
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PullRequestEntry {
    pub repository: String,
    pub number: i64,
    /// Opens this many pull requests, numbered from `number`. In texts, `{n}` is the count from 1.
    #[serde(default = "once")]
    pub repeat: u32,
    pub title: String,
    #[serde(default)]
    pub body: String,
    pub author: String,
    /// When it was opened, relative to the scenario's start; negative is before it.
    #[serde(default = "an_hour_ago")]
    pub created: SignedDuration,
    /// Opens the pull request when this event first happens, instead of at `created`.
    pub on: Option<StepTrigger>,
    /// The time between that event and the opening.
    #[serde(default)]
    pub delay: SignedDuration,
    pub branch: Option<String>,
    pub base: Option<String>,
    #[serde(default)]
    pub draft: bool,
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default)]
    pub review_requests: Vec<String>,
    #[serde(default)]
    pub head_repository_deleted: bool,
    /// Files on its branch. Every other file is as on the base.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub replace: Vec<Replacement>,
    #[serde(default)]
    pub delete: Vec<String>,
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// The name of the head commit if it also exists in a real checkout; otherwise the simulator makes one.
    pub sha: Option<String>,
}

fn once() -> u32 {
    1
}

fn an_hour_ago() -> SignedDuration {
    SignedDuration::from_hours(-1)
}

/// Actions at a fixed time, or after an event.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioStep {
    /// Relative to the scenario's start; negative is history.
    pub at: Option<SignedDuration>,
    pub on: Option<StepTrigger>,
    /// `owner/name#7`, or `owner/name#*` for all. Default with `on`: the event's pull request.
    pub pull_request: Option<String>,
    /// The time between the event and the actions.
    #[serde(default)]
    pub delay: SignedDuration,
    /// At most this many times per pull request; unlimited by default.
    pub times: Option<u32>,
    /// Only these occurrences of the event, counted from 1 per pull request.
    #[serde(default)]
    pub only: Vec<u32>,
    /// Only while a file of the head fulfils this.
    pub when: Option<Condition>,
    /// Repeats the step this many times, `every` apart. `{n}` is the count from 1.
    #[serde(default = "once")]
    pub repeat: u32,
    #[serde(default)]
    pub every: SignedDuration,
    #[serde(rename = "do")]
    pub actions: Vec<ScenarioAction>,
}

/// The events that start a step. An omitted key matches everything, but nobody reacts to their own actions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepTrigger {
    pub event: WorldEventKind,
    pub pull_request: Option<String>,
    pub repository: Option<String>,
    pub by: Option<String>,
    /// The requested reviewer, or the mentioned account.
    pub of: Option<String>,
    pub contains: Option<String>,
    pub lacks: Option<String>,
    pub label: Option<String>,
    /// The thread's name in the scenario.
    pub thread: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub path: String,
    pub contains: Option<String>,
    pub lacks: Option<String>,
}

/// Far more than a scenario with hundreds of pull requests has.
const LARGEST: usize = 64 * 1024 * 1024;

impl Scenario {
    /// Reads and validates a scenario file. Each `body_file` is read from the same folder.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = bounded_file::read_text(path, LARGEST)
            .map_err(|source| ScenarioError::Unreadable { file: file.clone(), source })?;
        Self::read(&text, &file, path.parent())
    }

    /// Validates a scenario from text. Error messages use `name` as the file's name.
    pub fn parse(text: &str, name: &str) -> Result<Self, ScenarioError> {
        Self::read(text, name, None)
    }

    pub fn built_in(name: &str) -> Result<Self, ScenarioError> {
        match BUILT_IN.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => Self::parse(text, &format!("{name}.toml")),
            None => Err(ScenarioError::Unknown {
                name: name.to_owned(),
                known: Self::built_in_names().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    fn read(text: &str, file: &str, folder: Option<&Path>) -> Result<Self, ScenarioError> {
        let source =
            Source { file: file.to_owned(), text: text.to_owned(), folder: folder.map(Path::to_path_buf) };
        let mut scenario: Self = toml::from_str(text)
            .map_err(|error| source.error(error.span().unwrap_or_default(), error.message().to_owned()))?;
        scenario.source = source;
        scenario.inline_body_files()?;
        scenario.validate()?;
        Ok(scenario)
    }

    fn inline_body_files(&mut self) -> Result<(), ScenarioError> {
        let source = self.source.clone();
        for step in &mut self.steps {
            let span = step.span();
            let bodies = step.get_mut().actions.iter_mut().flat_map(ScenarioAction::bodies_mut);
            for (body, file) in bodies {
                let Some(name) = file.take() else { continue };
                if !body.is_empty() {
                    return Err(
                        source.error(span, "`body` and `body_file` cannot be used together".to_owned())
                    );
                }
                let Some(folder) = &source.folder else {
                    let message = format!(
                        "`body_file = \"{name}\"` works only in a scenario file, not in a built-in scenario"
                    );
                    return Err(source.error(span, message));
                };
                *body = bounded_file::read_text(&folder.join(&name), LARGEST)
                    .map_err(|error| source.error(span.clone(), format!("cannot read `{name}`: {error}")))?;
            }
        }
        Ok(())
    }
}

impl Source {
    fn error(&self, span: Range<usize>, message: String) -> ScenarioError {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        ScenarioError::Invalid { file: self.file.clone(), line, message }
    }
}
