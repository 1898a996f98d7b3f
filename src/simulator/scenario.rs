//! A scenario: who is there, what the repositories hold, and what happens when. Data, so that a new one is a file.
//!
//! ```toml
//! title  = "A bot finds one thing and the author fixes it"
//! start  = "2026-03-02T09:00:00Z"
//! viewer = "dana"                       # whose token the client holds
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
//! review = { by = "coderabbitai", body = "…", threads = [{ name = "t1", path = "src/cart.rs", line = 1, body = "…" }] }
//! ```

mod action;
mod validate;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use toml::Spanned;

pub use action::{
    ByAction, CheckRunAction, CommentAction, DeleteAccountAction, EditAction, LabelAction, MinimiseAction,
    OnThreadAction, PushAction, Replacement, ReplyAction, RequestAction, ReviewAction, ScenarioAction,
    ThreadEntry,
};

use super::limits::SimulatedLimits;
use super::world::{SimulatedAccountKind, SimulatedAssociation, WorldEventKind};

/// Why a scenario cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("{file}: {source}")]
    Unreadable {
        file: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{file}:{line}: {message}")]
    Invalid { file: String, line: usize, message: String },
    #[error("there is no scenario `{name}`; there are: {known}")]
    Unknown { name: String, known: String },
}

/// The scenarios the program carries.
const BUILT_IN: [(&str, &str); 7] = [
    ("alternates", include_str!("../../assets/scenarios/alternates.toml")),
    ("big", include_str!("../../assets/scenarios/big.toml")),
    ("converges", include_str!("../../assets/scenarios/converges.toml")),
    ("demo", include_str!("../../assets/scenarios/demo.toml")),
    ("never_yields", include_str!("../../assets/scenarios/never_yields.toml")),
    ("nulls", include_str!("../../assets/scenarios/nulls.toml")),
    ("quiet", include_str!("../../assets/scenarios/quiet.toml")),
];

/// A scenario as written, checked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(default)]
    pub title: String,
    /// The instant the virtual clock starts at.
    pub start: Timestamp,
    /// The account every token belongs to that `token` does not name.
    pub viewer: String,
    /// Virtual seconds a real one, for whoever runs the scenario alone; tests choose their own clock.
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
    /// Where the text came from, for messages about it.
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
    /// The account is already gone when the scenario starts.
    #[serde(default)]
    pub deleted: bool,
}

/// A token other than "any": whose it is, and what it may not read.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    pub token: String,
    pub login: String,
    /// `checks` and `review_requests`, as fine-grained tokens may not.
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
    /// The default branch's files.
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
    /// So many pull requests, numbered on from `number`; `{n}` counts them in the texts, from 1.
    #[serde(default = "once")]
    pub repeat: u32,
    pub title: String,
    #[serde(default)]
    pub body: String,
    pub author: String,
    /// When it was opened, from the scenario's start: negative is before.
    #[serde(default = "an_hour_ago")]
    pub created: SignedDuration,
    /// Opened when this first happens, and not at a time of its own: a fix that answers an issue.
    pub on: Option<StepTrigger>,
    /// How long after that.
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
    /// Files as they are on its branch; what is not named is as on the base.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    #[serde(default)]
    pub replace: Vec<Replacement>,
    #[serde(default)]
    pub delete: Vec<String>,
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// The head's name, where a real checkout has it too; else one is made up.
    pub sha: Option<String>,
}

fn once() -> u32 {
    1
}

fn an_hour_ago() -> SignedDuration {
    SignedDuration::from_hours(-1)
}

/// Something that is done at an instant, or whenever something happens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioStep {
    /// From the scenario's start; negative is history.
    pub at: Option<SignedDuration>,
    pub on: Option<StepTrigger>,
    /// `owner/name#7`, or `owner/name#*` for all there are. May be left out where the trigger knows it.
    pub pull_request: Option<String>,
    /// How long after the event.
    #[serde(default)]
    pub delay: SignedDuration,
    /// At most so many times a pull request; unbounded where left out.
    pub times: Option<u32>,
    /// Only these occurrences of the event, counted from 1 for each pull request.
    #[serde(default)]
    pub only: Vec<u32>,
    /// Only while a file of the head says so.
    pub when: Option<Condition>,
    /// The whole step so many times, `every` apart; `{n}` counts, from 1.
    #[serde(default = "once")]
    pub repeat: u32,
    #[serde(default)]
    pub every: SignedDuration,
    #[serde(rename = "do")]
    pub actions: Vec<ScenarioAction>,
}

/// Which events set a step off. What is left out matches everything, but nobody reacts to their own doing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepTrigger {
    pub event: WorldEventKind,
    pub pull_request: Option<String>,
    pub repository: Option<String>,
    pub by: Option<String>,
    /// Who was asked to review, or who is mentioned.
    pub of: Option<String>,
    pub contains: Option<String>,
    pub lacks: Option<String>,
    pub label: Option<String>,
    /// The name a scenario gave the thread.
    pub thread: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    pub path: String,
    pub contains: Option<String>,
    pub lacks: Option<String>,
}

impl Scenario {
    /// Reads and checks a scenario file; `body_file`s are looked for beside it.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScenarioError::Unreadable { file: file.clone(), source })?;
        Self::read(&text, &file, path.parent())
    }

    /// Checks a scenario given as text; `name` stands in messages where a file's name would.
    pub fn parse(text: &str, name: &str) -> Result<Self, ScenarioError> {
        Self::read(text, name, None)
    }

    /// One of the scenarios the program carries, by name.
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
                    return Err(source.error(span, "`body` and `body_file` exclude each other".to_owned()));
                }
                let Some(folder) = &source.folder else {
                    let message = format!("`body_file = \"{name}\"` needs a scenario that is a file");
                    return Err(source.error(span, message));
                };
                *body = std::fs::read_to_string(folder.join(&name))
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
