//! Reads a driven reviewer's answer. Any output becomes an answer for the engine to check, or a violation
//! that goes back to the reviewer. Bad output is never an error of Cloture.

use crate::domain::cycle::{AnswerFinding, Protocol, ReviewerAnswer, ThreadChoice, Violation};
use crate::domain::finding::Finding;
use crate::domain::place::LineRange;
use crate::domain::policy::Policy;
use crate::domain::vocabulary::{Category, FilePath, ReviewerAction, Severity, Stance, ThreadId};
use crate::reviewers::object::Object;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// An answer, and its summary of the pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedAnswer {
    pub answer: ReviewerAnswer,
    pub summary: Option<String>,
}

/// Reads a reviewer's output. `name_thread` names the thread that a finding would open, by its index and text.
pub fn read(
    printed: &[u8],
    protocol: Protocol,
    policy: &Policy,
    name_thread: impl Fn(usize, &Finding) -> ThreadId,
) -> Result<ReceivedAnswer, Violation> {
    if printed.len() as u64 > u64::from(policy.max_answer_bytes) {
        let (size, limit) = (printed.len(), policy.max_answer_bytes);
        return Err(Violation::OversizedAnswer(format!("{size} bytes, but at most {limit} are allowed")));
    }
    let value: Value =
        serde_json::from_slice(printed).map_err(|error| Violation::MalformedAnswer(error.to_string()))?;
    let Object(AnswerEntry { actions, findings, summary }) = parsed(value, "")?;
    let answer = assemble(protocol, actions, findings, |index, finding: FindingEntry| {
        let finding = finding.into_finding("", None)?;
        Ok(AnswerFinding { id: name_thread(index, &finding), finding })
    })?;
    let limit = policy.max_findings_per_answer;
    if answer.reports().len() as u64 > u64::from(limit) {
        let count = answer.reports().len();
        return Err(Violation::OversizedAnswer(format!("{count} findings, but at most {limit} are allowed")));
    }
    Ok(ReceivedAnswer { answer, summary })
}

/// Reads the two lists of an answer in a trace. There each finding has an id, which names its thread and is
/// also the reviewer's own id.
pub fn read_traced(
    protocol: Protocol,
    actions: Option<Value>,
    findings: Option<Value>,
) -> Result<ReviewerAnswer, Violation> {
    assemble(protocol, actions, findings, |_, traced: TracedFinding| {
        let TracedFinding { id, path, line, end_line, title, body, severity, category, suggestion } = traced;
        let line = Some(line);
        let entry = FindingEntry { path, line, end_line, title, body, severity, category, suggestion };
        let finding = entry.into_finding(&id, Some(id.as_str().into()))?;
        Ok(AnswerFinding { id: id.into(), finding })
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerEntry {
    actions: Option<Value>,
    findings: Option<Value>,
    summary: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChoiceEntry {
    thread: ThreadId,
    action: ReviewerAction,
    stance: Stance,
    body: Option<Arc<str>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindingEntry {
    path: FilePath,
    line: Option<u32>,
    end_line: Option<u32>,
    title: Arc<str>,
    body: Option<Arc<str>>,
    severity: Severity,
    category: Option<Category>,
    suggestion: Option<Arc<str>>,
}

/// A [`FindingEntry`] with the id of its thread. Not flattened, because serde cannot refuse unknown fields
/// then.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TracedFinding {
    id: String,
    path: FilePath,
    line: u32,
    end_line: Option<u32>,
    title: Arc<str>,
    body: Option<Arc<str>>,
    severity: Severity,
    category: Option<Category>,
    suggestion: Option<Arc<str>>,
}

impl FindingEntry {
    fn into_finding(self, name: &str, own_id: Option<Arc<str>>) -> Result<Finding, Violation> {
        let lines = match (self.line, self.end_line) {
            (None, None) => None,
            (None, Some(_)) => return Err(bad_lines(name, "an end_line without a line")),
            (Some(first), last) => match LineRange::new(first, last.unwrap_or(first)) {
                Some(lines) => Some(lines),
                None => return Err(bad_lines(name, "lines that start at zero or run backwards")),
            },
        };
        Ok(Finding {
            path: self.path,
            lines,
            title: self.title,
            body: self.body.unwrap_or_default(),
            severity: Some(self.severity),
            category: self.category.unwrap_or(Category::Other),
            suggestion: self.suggestion,
            own_id,
        })
    }
}

fn assemble<E: DeserializeOwned>(
    protocol: Protocol,
    actions: Option<Value>,
    findings: Option<Value>,
    report: impl Fn(usize, E) -> Result<AnswerFinding, Violation>,
) -> Result<ReviewerAnswer, Violation> {
    let choices: Vec<Object<ChoiceEntry>> = list(actions, "actions")?;
    let entries: Vec<Object<E>> = list(findings, "findings")?;
    let reports = entries
        .into_iter()
        .enumerate()
        .map(|(index, Object(e))| report(index, e))
        .collect::<Result<_, _>>()?;
    match protocol {
        Protocol::Actions => {
            let choices = choices.into_iter().map(|Object(ChoiceEntry { thread, action, stance, body })| {
                ThreadChoice { thread, action, stance, comment: body }
            });
            Ok(ReviewerAnswer::Actions { choices: choices.collect(), reports })
        }
        Protocol::Findings if choices.is_empty() => Ok(ReviewerAnswer::Findings { reports }),
        Protocol::Findings => Err(Violation::MalformedAnswer(
            "the answer has actions, but this reviewer uses the findings protocol, which has none".to_owned(),
        )),
    }
}

/// Reads an optional list.
fn list<E: DeserializeOwned>(value: Option<Value>, name: &str) -> Result<Vec<E>, Violation> {
    value.map_or_else(|| Ok(Vec::new()), |value| parsed(value, name))
}

fn parsed<T: DeserializeOwned>(value: Value, name: &str) -> Result<T, Violation> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let place = match (name, path.as_str()) {
            ("", ".") => String::new(),
            (name, ".") => format!("{name}: "),
            (name, path) if path.starts_with('[') => format!("{name}{path}: "),
            ("", path) => format!("{path}: "),
            (name, path) => format!("{name}.{path}: "),
        };
        Violation::MalformedAnswer(format!("{place}{}", error.inner()))
    })
}

fn bad_lines(name: &str, what: &str) -> Violation {
    let of = if name.is_empty() { String::new() } else { format!(" {name}") };
    Violation::MalformedAnswer(format!("the finding{of} has {what}"))
}
