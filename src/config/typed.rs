//! The file as written. Every key is optional and takes any value, so that reading never fails and the checks
//! can report all problems at once. The same structs read `policy` and `handoff` of a trace, which is JSON.

use super::TypedValue;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedConfig {
    pub github: TypedGithub,
    pub journal: TypedJournal,
    pub watch: Vec<TypedWatchRule>,
    pub policy: TypedPolicy,
    pub handoff: TypedHandoff,
    pub reviewers: Vec<TypedReviewer>,
    pub profiles: Vec<TypedProfile>,
    pub author: TypedAuthor,
    pub repositories: Vec<TypedRepository>,
    pub operator: TypedOperator,
    pub notifications: TypedNotifications,
    pub break_glass: TypedBreakGlass,
    pub tui: TypedTui,
    /// By the name of the command.
    pub keys: BTreeMap<String, Option<TypedValue>>,
}

/// `[github]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedGithub {
    pub api_url: Option<TypedValue>,
    pub token_file: Option<TypedValue>,
}

/// `[journal]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedJournal {
    pub url: Option<TypedValue>,
}

/// `[[watch]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedWatchRule {
    pub repositories: Option<TypedValue>,
    pub authors: Option<TypedValue>,
    pub review_requested: Option<TypedValue>,
    pub labels: Option<TypedValue>,
}

/// `[policy]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedPolicy {
    pub repeat_limit: Option<TypedValue>,
    pub flip_limit: Option<TypedValue>,
    pub reopen_limit: Option<TypedValue>,
    pub cycle_retries: Option<TypedValue>,
    pub max_review_iterations: Option<TypedValue>,
    pub max_asks: Option<TypedValue>,
    pub line_slack: Option<TypedValue>,
    pub similarity_threshold: Option<TypedValue>,
    pub poll_interval: Option<TypedValue>,
    pub max_attempts: Option<TypedValue>,
    pub max_rounds: Option<TypedValue>,
    pub max_restarts: Option<TypedValue>,
    pub max_findings_per_answer: Option<TypedValue>,
    pub max_answer_bytes: Option<TypedValue>,
}

/// `[handoff]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedHandoff {
    pub mode: Option<TypedValue>,
    pub auto_threshold: Option<TypedValue>,
    pub auto_categories: Option<TypedValue>,
    pub targets: Option<Vec<TypedTarget>>,
    pub routes: Option<Vec<TypedRoute>>,
}

/// `[[handoff.targets]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedTarget {
    pub name: Option<TypedValue>,
    pub coalesce: Option<TypedValue>,
    pub kind: Option<TypedValue>,
    pub command: Option<TypedValue>,
    pub env: Option<TypedValue>,
    pub timeout: Option<TypedValue>,
    pub directory: Option<TypedValue>,
    pub repository: Option<TypedValue>,
    pub labels: Option<TypedValue>,
    pub assignees: Option<TypedValue>,
    pub event_type: Option<TypedValue>,
    pub body: Option<TypedValue>,
    pub url: Option<TypedValue>,
    pub secret_env: Option<TypedValue>,
}

/// `[[handoff.routes]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedRoute {
    pub target: Option<TypedValue>,
    pub min_severity: Option<TypedValue>,
    pub categories: Option<TypedValue>,
    pub paths: Option<TypedValue>,
}

/// `[[reviewers]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedReviewer {
    pub name: Option<TypedValue>,
    pub protocol: Option<TypedValue>,
    pub context_window: Option<TypedValue>,
    pub price_per_call: Option<TypedValue>,
    pub kind: Option<TypedValue>,
    pub command: Option<TypedValue>,
    pub env: Option<TypedValue>,
    pub timeout: Option<TypedValue>,
    pub model: Option<TypedValue>,
    pub base_url: Option<TypedValue>,
    pub api_key_env: Option<TypedValue>,
    pub api_key_file: Option<TypedValue>,
    pub prompt_file: Option<TypedValue>,
    pub sign_in: Option<TypedValue>,
}

/// `[[profiles]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedProfile {
    pub name: Option<TypedValue>,
    pub logins: Option<TypedValue>,
    pub ids: Option<TypedValue>,
    pub logins_without_id: Option<TypedValue>,
    pub kind: Option<TypedValue>,
    pub shared_logins: Option<TypedValue>,
    pub body_marks: Option<TypedValue>,
    pub posts: Option<TypedValue>,
    pub title: Option<TypedValue>,
    pub title_skip: Option<TypedValue>,
    pub title_strip: Option<TypedValue>,
    pub severity: Option<Vec<TypedMeaningMark>>,
    pub category: Option<Vec<TypedMeaningMark>>,
    pub common_marks: Option<TypedValue>,
    pub own_id: Option<TypedValue>,
    pub place: Option<TypedValue>,
    pub commit: Option<TypedValue>,
    pub finding: Option<Vec<TypedMark>>,
    pub introduction: Option<Vec<TypedMark>>,
    pub accepted: Option<Vec<TypedMark>>,
    pub holds: Option<Vec<TypedMark>>,
    pub informs: Option<Vec<TypedMark>>,
    pub walkthrough: Option<Vec<TypedMark>>,
    pub clean: Option<Vec<TypedMark>>,
    pub verdict: Option<Vec<TypedMeaningMark>>,
    pub count: Option<TypedValue>,
    pub failure: Option<Vec<TypedMark>>,
    pub retry_after: Option<TypedValue>,
    pub running: Option<Vec<TypedMark>>,
    pub not_ready: Option<Vec<TypedMark>>,
    pub noise: Option<Vec<TypedMark>>,
    pub chat: Option<Vec<TypedMark>>,
    pub status_table: Option<Vec<TypedMark>>,
    pub status: Option<Vec<TypedMeaningMark>>,
    pub body_layout: Option<TypedValue>,
    pub body_sections: Option<Vec<TypedSectionMark>>,
    pub other_sections: Option<TypedValue>,
    pub reactions: Option<TypedReactions>,
    pub trust_reaction: Option<TypedValue>,
    pub ask_again: Option<TypedValue>,
    pub re_request: Option<TypedValue>,
    pub settles: Option<TypedValue>,
}

/// A mark of a profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedMark {
    pub at: Option<TypedValue>,
    pub pattern: Option<TypedValue>,
}

/// The reactions by which a reviewer says something.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedReactions {
    pub clean: Option<TypedValue>,
    pub running: Option<TypedValue>,
}

/// A mark of a profile that states a severity, a category, a verdict or a status.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedMeaningMark {
    pub at: Option<TypedValue>,
    pub pattern: Option<TypedValue>,
    pub is: Option<TypedValue>,
}

/// A folded section with findings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedSectionMark {
    pub pattern: Option<TypedValue>,
    pub is: Option<TypedValue>,
}

/// `[author]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedAuthor {
    pub price_per_call: Option<TypedValue>,
    pub kind: Option<TypedValue>,
    pub command: Option<TypedValue>,
    pub env: Option<TypedValue>,
    pub timeout: Option<TypedValue>,
    pub prompt_file: Option<TypedValue>,
    pub checkout: Option<TypedValue>,
    pub forks: Option<TypedValue>,
}

/// `[[repositories]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedRepository {
    pub name: Option<TypedValue>,
    pub drive: Option<TypedValue>,
    pub reviewers: Option<TypedValue>,
    pub author: Option<TypedValue>,
}

/// `[operator]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedOperator {
    pub mention: Option<TypedValue>,
    pub label: Option<TypedValue>,
}

/// `[notifications]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedNotifications {
    pub when: Option<TypedValue>,
    pub min_severity: Option<TypedValue>,
    pub how: Option<TypedValue>,
    pub command: Option<TypedValue>,
}

/// `[break_glass]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedBreakGlass {
    pub label: Option<TypedValue>,
    pub phrase: Option<TypedValue>,
}

/// `[tui]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TypedTui {
    pub theme: Option<TypedValue>,
    /// By the name of the meaning.
    pub colors: BTreeMap<String, Option<TypedValue>>,
}

impl TypedConfig {
    /// A configuration with one item in every list and no values. Serialized, it names every known key.
    pub fn blank() -> TypedConfig {
        TypedConfig {
            github: TypedGithub::default(),
            journal: TypedJournal::default(),
            watch: vec![TypedWatchRule::default()],
            policy: TypedPolicy::default(),
            handoff: TypedHandoff {
                mode: None,
                auto_threshold: None,
                auto_categories: None,
                targets: Some(vec![TypedTarget::default()]),
                routes: Some(vec![TypedRoute::default()]),
            },
            reviewers: vec![TypedReviewer::default()],
            profiles: vec![TypedProfile::blank()],
            author: TypedAuthor::default(),
            repositories: vec![TypedRepository::default()],
            operator: TypedOperator::default(),
            notifications: TypedNotifications::default(),
            break_glass: TypedBreakGlass::default(),
            tui: TypedTui {
                theme: None,
                colors: super::screen::meanings().map(|name| (name, None)).collect(),
            },
            keys: super::KeyBindings::commands().into_iter().map(|command| (command, None)).collect(),
        }
    }
}

impl TypedProfile {
    fn blank() -> TypedProfile {
        let marks = || Some(vec![TypedMark::default()]);
        TypedProfile {
            severity: Some(vec![TypedMeaningMark::default()]),
            category: Some(vec![TypedMeaningMark::default()]),
            verdict: Some(vec![TypedMeaningMark::default()]),
            status: Some(vec![TypedMeaningMark::default()]),
            finding: marks(),
            introduction: marks(),
            accepted: marks(),
            holds: marks(),
            informs: marks(),
            walkthrough: marks(),
            clean: marks(),
            failure: marks(),
            running: marks(),
            not_ready: marks(),
            noise: marks(),
            chat: marks(),
            status_table: marks(),
            reactions: Some(TypedReactions::default()),
            body_sections: Some(vec![TypedSectionMark::default()]),
            ..TypedProfile::default()
        }
    }
}
