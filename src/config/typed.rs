//! What was typed. Every key is optional and takes any value, so that reading a file says what stands there
//! and checking it can complain about all of it at once; whether a value makes sense is asked afterwards, by
//! `validated`. The same structs read the `policy` and `handoff` of a trace, which is JSON.

use super::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The whole file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub github: Github,
    pub journal: Journal,
    pub watch: Vec<Watch>,
    pub policy: Policy,
    pub handoff: Handoff,
    pub reviewers: Vec<Reviewer>,
    pub profiles: Vec<Profile>,
    pub author: Author,
    pub repositories: Vec<Repository>,
    pub operator: Operator,
    pub notifications: Notifications,
    pub break_glass: BreakGlass,
    pub tui: Tui,
    /// By the names of the commands.
    pub keys: BTreeMap<String, Option<Value>>,
}

/// `[github]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Github {
    pub api_url: Option<Value>,
    pub token_file: Option<Value>,
}

/// `[journal]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Journal {
    pub url: Option<Value>,
}

/// `[[watch]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Watch {
    pub repositories: Option<Value>,
    pub authors: Option<Value>,
    pub review_requested: Option<Value>,
    pub labels: Option<Value>,
}

/// `[policy]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    pub repeat_limit: Option<Value>,
    pub flip_limit: Option<Value>,
    pub reopen_limit: Option<Value>,
    pub cycle_retries: Option<Value>,
    pub max_review_iterations: Option<Value>,
    pub line_slack: Option<Value>,
    pub similarity_threshold: Option<Value>,
    pub poll_interval: Option<Value>,
    pub max_attempts: Option<Value>,
    pub max_rounds: Option<Value>,
    pub max_restarts: Option<Value>,
    pub max_findings_per_answer: Option<Value>,
    pub max_answer_bytes: Option<Value>,
}

/// `[handoff]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Handoff {
    pub mode: Option<Value>,
    pub auto_threshold: Option<Value>,
    pub auto_categories: Option<Value>,
    pub targets: Option<Vec<Target>>,
    pub routes: Option<Vec<Route>>,
}

/// `[[handoff.targets]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Target {
    pub name: Option<Value>,
    pub coalesce: Option<Value>,
    pub kind: Option<Value>,
    pub command: Option<Value>,
    pub env: Option<Value>,
    pub timeout: Option<Value>,
    pub directory: Option<Value>,
    pub repository: Option<Value>,
    pub labels: Option<Value>,
    pub assignees: Option<Value>,
    pub event_type: Option<Value>,
    pub body: Option<Value>,
    pub url: Option<Value>,
    pub secret_env: Option<Value>,
}

/// `[[handoff.routes]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Route {
    pub target: Option<Value>,
    pub min_severity: Option<Value>,
    pub categories: Option<Value>,
    pub paths: Option<Value>,
}

/// `[[reviewers]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reviewer {
    pub name: Option<Value>,
    pub protocol: Option<Value>,
    pub context_window: Option<Value>,
    pub price_per_call: Option<Value>,
    pub kind: Option<Value>,
    pub command: Option<Value>,
    pub env: Option<Value>,
    pub timeout: Option<Value>,
    pub model: Option<Value>,
    pub base_url: Option<Value>,
    pub api_key_env: Option<Value>,
    pub api_key_file: Option<Value>,
    pub prompt_file: Option<Value>,
}

/// `[[profiles]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    pub name: Option<Value>,
    pub logins: Option<Value>,
    pub ids: Option<Value>,
    pub kind: Option<Value>,
    pub shared_logins: Option<Value>,
    pub body_marks: Option<Value>,
    pub posts: Option<Value>,
    pub title: Option<Value>,
    pub title_skip: Option<Value>,
    pub title_strip: Option<Value>,
    pub severity: Option<Vec<MeaningMark>>,
    pub category: Option<Vec<MeaningMark>>,
    pub common_marks: Option<Value>,
    pub own_id: Option<Value>,
    pub place: Option<Value>,
    pub commit: Option<Value>,
    pub finding: Option<Vec<Mark>>,
    pub introduction: Option<Vec<Mark>>,
    pub accepted: Option<Vec<Mark>>,
    pub holds: Option<Vec<Mark>>,
    pub informs: Option<Vec<Mark>>,
    pub clean: Option<Vec<Mark>>,
    pub count: Option<Value>,
    pub failure: Option<Vec<Mark>>,
    pub not_ready: Option<Vec<Mark>>,
    pub noise: Option<Vec<Mark>>,
    pub body_layout: Option<Value>,
    pub body_sections: Option<Vec<SectionMark>>,
    pub ask_again: Option<Value>,
    pub re_request: Option<Value>,
    pub settles: Option<Value>,
}

/// A mark of a profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mark {
    pub at: Option<Value>,
    pub pattern: Option<Value>,
}

/// A mark of a profile that means one of several things.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MeaningMark {
    pub at: Option<Value>,
    pub pattern: Option<Value>,
    pub is: Option<Value>,
}

/// A folded section of a body.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SectionMark {
    pub pattern: Option<Value>,
    pub is: Option<Value>,
}

/// `[author]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Author {
    pub price_per_call: Option<Value>,
    pub kind: Option<Value>,
    pub command: Option<Value>,
    pub env: Option<Value>,
    pub timeout: Option<Value>,
    pub prompt_file: Option<Value>,
    pub checkout: Option<Value>,
}

/// `[[repositories]]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Repository {
    pub name: Option<Value>,
    pub drive: Option<Value>,
    pub reviewers: Option<Value>,
    pub author: Option<Value>,
}

/// `[operator]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Operator {
    pub mention: Option<Value>,
    pub label: Option<Value>,
}

/// `[notifications]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Notifications {
    pub when: Option<Value>,
    pub min_severity: Option<Value>,
    pub how: Option<Value>,
    pub command: Option<Value>,
}

/// `[break_glass]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BreakGlass {
    pub label: Option<Value>,
    pub phrase: Option<Value>,
}

/// `[tui]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tui {
    pub theme: Option<Value>,
    /// By the names of the meanings.
    pub colors: BTreeMap<String, Option<Value>>,
}

impl Config {
    /// One of everything with nothing filled in. Serialized, it names every key there is, which is how the
    /// list of known keys follows the code instead of being kept beside it.
    pub fn blank() -> Config {
        Config {
            github: Github::default(),
            journal: Journal::default(),
            watch: vec![Watch::default()],
            policy: Policy::default(),
            handoff: Handoff {
                mode: None,
                auto_threshold: None,
                auto_categories: None,
                targets: Some(vec![Target::default()]),
                routes: Some(vec![Route::default()]),
            },
            reviewers: vec![Reviewer::default()],
            profiles: vec![Profile::blank()],
            author: Author::default(),
            repositories: vec![Repository::default()],
            operator: Operator::default(),
            notifications: Notifications::default(),
            break_glass: BreakGlass::default(),
            tui: Tui { theme: None, colors: super::screen::meanings().map(|name| (name, None)).collect() },
            keys: super::Keys::commands().into_iter().map(|command| (command, None)).collect(),
        }
    }
}

impl Profile {
    fn blank() -> Profile {
        let marks = || Some(vec![Mark::default()]);
        Profile {
            severity: Some(vec![MeaningMark::default()]),
            category: Some(vec![MeaningMark::default()]),
            finding: marks(),
            introduction: marks(),
            accepted: marks(),
            holds: marks(),
            informs: marks(),
            clean: marks(),
            failure: marks(),
            not_ready: marks(),
            noise: marks(),
            body_sections: Some(vec![SectionMark::default()]),
            ..Profile::default()
        }
    }
}
