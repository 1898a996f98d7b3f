//! What the demo's reviewer has an eye for and what its author does about it: data that both programs read, so that a fix
//! and what it brings about stand next to each other.

use crate::domain::vocabulary::{Category, Severity};
use serde::Deserialize;

const REMARKS: &str = include_str!("../../../assets/demo/remarks.toml");

/// One thing that the reviewer looks for on one pull request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DemoRemark {
    /// The pull request, as `owner/name#number`.
    pub(super) on: String,
    pub(super) path: String,
    /// Raised where a line that the diff adds has this.
    pub(super) sees: String,
    /// Settled once a diff adds this.
    pub(super) satisfied_by: String,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) severity: Severity,
    pub(super) category: Category,
    /// Answers once more when it no longer may.
    #[serde(default)]
    pub(super) insists: bool,
    #[serde(default)]
    pub(super) fix: Vec<Fix>,
}

/// The first place where `find` stands becomes `with`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fix {
    pub(super) find: String,
    pub(super) with: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    remark: Vec<DemoRemark>,
}

/// All that the program carries. They are parsed by a test, so an error here is a broken build.
pub(super) fn remarks() -> Result<Vec<DemoRemark>, toml::de::Error> {
    Ok(toml::from_str::<File>(REMARKS)?.remark)
}
