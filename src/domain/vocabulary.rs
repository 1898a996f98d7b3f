//! The closed sets of words that all other modules share (see "Words" in `docs/rules.md`), and typed names.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// How bad a finding is. Lowest first, so that comparisons read as in the rules ("severity ≥ high").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Nit,
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    pub const ALL: [Severity; 5] =
        [Severity::Nit, Severity::Low, Severity::Medium, Severity::High, Severity::Critical];

    pub fn name(self) -> &'static str {
        match self {
            Severity::Nit => "nit",
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }
}

/// The kind of problem that a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    Bug,
    Security,
    Performance,
    Tests,
    Docs,
    Style,
    Maintainability,
    Other,
}

impl Category {
    pub const ALL: [Category; 8] = [
        Category::Bug,
        Category::Security,
        Category::Performance,
        Category::Tests,
        Category::Docs,
        Category::Style,
        Category::Maintainability,
        Category::Other,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Category::Bug => "bug",
            Category::Security => "security",
            Category::Performance => "performance",
            Category::Tests => "tests",
            Category::Docs => "docs",
            Category::Style => "style",
            Category::Maintainability => "maintainability",
            Category::Other => "other",
        }
    }
}

/// A reviewer's position on a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    SeeksChange,
    Accepts,
}

impl Stance {
    pub const ALL: [Stance; 2] = [Stance::SeeksChange, Stance::Accepts];

    pub fn name(self) -> &'static str {
        match self {
            Stance::SeeksChange => "seeks_change",
            Stance::Accepts => "accepts",
        }
    }
}

/// A reviewer's action on an open thread (T1), in alphabetical order, as lists show it. "Raise it again" is
/// missing on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewerAction {
    Escalate,
    Reply,
    Resolve,
    Veto,
}

impl ReviewerAction {
    pub const ALL: [ReviewerAction; 4] =
        [ReviewerAction::Escalate, ReviewerAction::Reply, ReviewerAction::Resolve, ReviewerAction::Veto];

    pub fn name(self) -> &'static str {
        match self {
            ReviewerAction::Escalate => "escalate",
            ReviewerAction::Reply => "reply",
            ReviewerAction::Resolve => "resolve",
            ReviewerAction::Veto => "veto",
        }
    }
}

/// The meaning of a reply in a thread (R3). `Other` stands for every reply that cannot be read with
/// certainty; it never closes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    WontFix,
    Acknowledged,
    Disagree,
    Fixed,
    Question,
    Other,
}

impl Intent {
    /// R3: whether it ends the argument if the writer may override (R4).
    pub fn settles(self) -> bool {
        matches!(self, Intent::WontFix | Intent::Acknowledged)
    }

    pub fn name(self) -> &'static str {
        match self {
            Intent::WontFix => "wont_fix",
            Intent::Acknowledged => "acknowledged",
            Intent::Disagree => "disagree",
            Intent::Fixed => "fixed",
            Intent::Question => "question",
            Intent::Other => "other",
        }
    }
}

/// A commenter's relation to the repository, in GitHub's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Association {
    Owner,
    Member,
    Collaborator,
    Contributor,
    FirstTimeContributor,
    FirstTimer,
    Mannequin,
    None,
}

impl Association {
    /// R4: whether this commenter can override a reviewer. Anyone else's reply is an argument.
    pub fn may_override(self) -> bool {
        matches!(self, Association::Owner | Association::Member | Association::Collaborator)
    }
}

/// Declares a type for each kind of name, so that a path cannot be passed as a login. The text is shared,
/// because many records carry the same few names.
macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &self.0)
            }
        }
    )+};
}

names! {
    /// A review thread within one pull request.
    ThreadId;
    /// A reviewer's name in the configuration or its profile ("coderabbit"), not its login on GitHub.
    ReviewerName;
    /// A commit.
    Sha;
    /// A file's path inside the repository.
    FilePath;
    /// An account's login on GitHub.
    Login;
    /// The name of a handoff target.
    TargetName;
}
