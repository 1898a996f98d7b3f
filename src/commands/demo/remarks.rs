//! The findings of the demo's reviewer and the fixes of its author. Both programs read the same file, so each fix stands
//! next to the finding it causes.

use crate::domain::vocabulary::{Category, Severity};
use serde::Deserialize;

const REMARKS: &str = include_str!("../../../assets/demo/remarks.toml");

/// One finding that the reviewer may report on one pull request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DemoRemark {
    /// The pull request, as `owner/name#number`.
    pub(super) on: String,
    pub(super) path: String,
    /// Reported at the added line that contains this.
    pub(super) sees: String,
    /// Resolved once the diff adds this.
    pub(super) satisfied_by: String,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) severity: Severity,
    pub(super) category: Category,
    /// Replies once although the rules no longer allow it, to show a refused answer.
    #[serde(default)]
    pub(super) insists: bool,
    #[serde(default)]
    pub(super) fix: Vec<Fix>,
}

/// Replaces the first `find` by `with`.
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

/// All remarks. A test parses them, so an error here means a broken build.
pub(super) fn remarks() -> Result<Vec<DemoRemark>, toml::de::Error> {
    Ok(toml::from_str::<File>(REMARKS)?.remark)
}
