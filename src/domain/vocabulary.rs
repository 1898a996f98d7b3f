//! The words of the specification's first chapter: the closed sets that every other module speaks in.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// How bad a finding is, least first so that comparison reads as it does in the rules ("severity ≥ high").
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

/// What kind of problem a finding is about.
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

/// What a reviewer may do with an open thread (T1). The order is alphabetical, the order in which lists of
/// actions are shown; there is deliberately no "raise it again".
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

/// What a person means by a reply in a thread (R3). `Other` is everything that could not be read with
/// certainty: it never closes anything.
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
    /// R3: whether it ends the argument, if it comes from somebody who may.
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

/// What a commenter is to the repository, in the forge's own words.
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
    /// R4: whose word can override a reviewer. Everybody else's is an argument.
    pub fn may_override(self) -> bool {
        matches!(self, Association::Owner | Association::Member | Association::Collaborator)
    }
}

/// Declares a name for one kind of text, so that a path cannot be passed where a login is meant. The text is
/// shared, because threads, records and reports all carry the same few names.
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
    /// Names a review thread within one pull request.
    ThreadId;
    /// Names a reviewer as the configuration or its profile does ("coderabbit"), not as the forge logs it in.
    ReviewerName;
    /// A commit.
    Sha;
    /// A file's path inside the repository.
    FilePath;
    /// An account on the forge.
    Login;
    /// Where handed-off findings go.
    TargetName;
}
