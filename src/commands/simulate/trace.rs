//! The lines of a trace: a header, then one event per line. People write traces by hand, so an unknown field
//! is an error that names the field.

use crate::config::typed;
use crate::domain::cycle::{CycleTrigger, Protocol};
use crate::domain::handoff::HandoffRules;
use crate::domain::machine::Decision;
use crate::domain::place::{FileChange, Hunk, LineRange, merge};
use crate::domain::policy::Policy;
use crate::domain::vocabulary::{Association, FilePath, Intent, Login, ReviewerName, Sha, ThreadId};
use crate::reviewers::object::Object;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The settings of the first line.
pub(super) struct Header {
    pub(super) policy: Policy,
    pub(super) handoff: HandoffRules,
    pub(super) author_is_bot: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedHeader {
    trace: u64,
    policy: Option<Object<typed::TypedPolicy>>,
    handoff: Option<Object<typed::TypedHandoff>>,
    pull_request: Object<TypedPullRequest>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedPullRequest {
    #[serde(rename = "number")]
    _number: u64,
    #[serde(rename = "author")]
    _author: Login,
    author_is_bot: bool,
}

pub(super) fn header(line: &[u8]) -> Result<Header, String> {
    let Object(typed): Object<TypedHeader> =
        parsed(line).map_err(|problem| format!("not a valid trace header: {problem}"))?;
    if typed.trace != 1 {
        return Err(format!("trace version {} is not supported; this program reads version 1", typed.trace));
    }
    let problems = |problems: Vec<crate::config::Problem>| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    Ok(Header {
        policy: typed
            .policy
            .map_or_else(Default::default, |Object(policy)| policy)
            .validated()
            .map_err(problems)?,
        handoff: typed
            .handoff
            .map_or_else(Default::default, |Object(handoff)| handoff)
            .validated()
            .map_err(problems)?,
        author_is_bot: typed.pull_request.0.author_is_bot,
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TraceEvent {
    Push(Object<PushEvent>),
    Cycle(Object<CycleEvent>),
    Reply(Object<ReplyEvent>),
    Person(Object<PersonEvent>),
    Merge(Object<Nothing>),
    Close(Object<Nothing>),
    Reopen(Object<ReopenEvent>),
}

pub(super) fn event(line: &[u8]) -> Result<TraceEvent, String> {
    parsed(line).map_err(|problem| format!("not a valid event: {problem}"))
}

fn parsed<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let value =
        serde_path_to_error::deserialize(&mut json).map_err(|error| match error.path().to_string() {
            path if path == "." => without_line(error.inner()),
            path => format!("{path}: {}", without_line(error.inner())),
        })?;
    json.end().map_err(|error| without_line(&error))?;
    Ok(value)
}

/// Removes the parser's line number: it counts within one line, and the caller adds the trace's line number.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) if error.column() > 0 => format!("{message} (column {})", error.column()),
        _ => text,
    }
}

/// An event without fields: `{}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReopenEvent {
    /// Of the person who reopens. Somebody who may not override resets nothing (L6).
    #[serde(default = "owner")]
    pub(super) association: Association,
}

fn owner() -> Association {
    Association::Owner
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PushEvent {
    head: Sha,
    #[serde(default)]
    changed: Vec<Object<Changed>>,
}

#[derive(Deserialize)]
#[serde(try_from = "TypedChange")]
struct Changed {
    path: FilePath,
    lines: LineRange,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedChange {
    path: FilePath,
    from: u32,
    to: u32,
}

impl TryFrom<TypedChange> for Changed {
    type Error = String;

    fn try_from(TypedChange { path, from, to }: TypedChange) -> Result<Self, String> {
        let lines = LineRange::new(from, to).ok_or_else(|| {
            format!("no lines from {from} to {to}: `from` must be at least 1 and at most `to`")
        })?;
        Ok(Changed { path, lines })
    }
}

impl PushEvent {
    /// A trace names the changed lines, but not their new text, so each range counts as rewritten in place.
    pub(super) fn into_changes(self) -> (Sha, Vec<FileChange>) {
        let mut rewritten: BTreeMap<FilePath, Vec<LineRange>> = BTreeMap::new();
        for Object(Changed { path, lines }) in self.changed {
            rewritten.entry(path).or_default().push(lines);
        }
        let changes = rewritten.into_iter().map(|(path, mut ranges)| {
            merge(&mut ranges);
            let hunks = ranges.into_iter().map(Hunk::rewritten).collect();
            FileChange { path, renamed_from: None, deleted: false, hunks }
        });
        (self.head, changes.collect())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CycleEvent {
    pub(super) reviewer: ReviewerName,
    #[serde(default)]
    pub(super) protocol: TypedProtocol,
    pub(super) actions: Option<Value>,
    pub(super) findings: Option<Value>,
    #[serde(default)]
    pub(super) trigger: TypedTrigger,
    #[serde(rename = "summary")]
    _summary: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub(super) enum TypedProtocol {
    #[default]
    Actions,
    Findings,
}

impl From<TypedProtocol> for Protocol {
    fn from(typed: TypedProtocol) -> Self {
        match typed {
            TypedProtocol::Actions => Protocol::Actions,
            TypedProtocol::Findings => Protocol::Findings,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub(super) enum TypedTrigger {
    #[default]
    Review,
    Verify,
}

impl From<TypedTrigger> for CycleTrigger {
    fn from(typed: TypedTrigger) -> Self {
        match typed {
            TypedTrigger::Review => CycleTrigger::Review,
            TypedTrigger::Verify => CycleTrigger::Verify,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyEvent {
    pub(super) thread: ThreadId,
    pub(super) by: Login,
    pub(super) association: Association,
    #[serde(default)]
    pub(super) body: String,
    pub(super) intent: Option<Intent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonEvent {
    pub(super) act: Decision,
    pub(super) thread: ThreadId,
    #[serde(rename = "by")]
    _by: Option<Login>,
    #[serde(rename = "reason")]
    _reason: Option<String>,
}
