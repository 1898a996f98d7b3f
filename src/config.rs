//! The configuration, in two stages: what was typed ([`typed`]) becomes what is valid ([`Config`]), or is
//! refused before anything starts (S5). A refusal names the file, line and column, the key, what was expected
//! and what was found, for every problem of the file and not only for its first.

mod check;
mod document;
mod error;
mod github;
mod handoff;
mod places;
mod policy;
mod profiles;
mod reviewers;
pub mod typed;
mod value;
mod weeding;

pub use check::Problem;
pub use error::{Complaint, ConfigError};
pub use places::{Loaded, Places, state_folder};
pub use value::Value;

use crate::domain::cycle::Protocol;
use crate::domain::handoff::HandoffRules;
use crate::domain::policy::Policy;
use crate::domain::re_review::BreakGlassRules;
use crate::domain::vocabulary::ReviewerName;
use crate::github::Host;
use crate::github::discover::Rule;
use crate::reviewers::profile::Change;
use std::path::{Path, PathBuf};

/// Everything a team decides, checked. Nothing behind this type has to doubt a value again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    pub github: Github,
    /// Which pull requests are watched where the command line names none: those that fit any of these.
    pub watch: Vec<Rule>,
    pub policy: Policy,
    pub handoff: HandoffRules,
    /// The reviewers that are driven, in the order in which they were written.
    pub reviewers: Vec<Reviewer>,
    /// What it changes about the profiles of known reviewers, and the profiles that it adds.
    pub profiles: Vec<Change>,
    pub author: Author,
    pub break_glass: BreakGlassRules,
}

/// Which GitHub, and who we are there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Github {
    /// None for GitHub.com.
    pub host: Option<Host>,
    /// A file with a token, asked last.
    pub token_file: Option<PathBuf>,
}

/// A reviewer that is driven.
#[derive(Debug, Clone, PartialEq)]
pub struct Reviewer {
    pub name: ReviewerName,
    pub protocol: Protocol,
    /// In tokens (R6).
    pub context_window: u64,
    /// None where nobody said, which is not the same as free.
    pub price_per_call: Option<f64>,
}

/// The agent that is dispatched to fix findings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Author {
    /// None where nobody said, which is not the same as free.
    pub price_per_call: Option<f64>,
}

impl Config {
    /// Finds the configuration and reads it.
    pub fn load(places: &Places) -> Result<Loaded, ConfigError> {
        places::load(places)
    }

    /// Reads a configuration from the content of `file`, which is only named in errors. The content is taken
    /// as bytes, because whether it is text at all is a question with a place in the file, too.
    pub fn parse(file: &Path, content: &[u8]) -> Result<Config, ConfigError> {
        let text = std::str::from_utf8(content)
            .map_err(|error| ConfigError::invalid(file, content, vec![document::not_text(content, error)]))?;
        document::read(text).map_err(|faults| ConfigError::invalid(file, content, faults))
    }
}
