//! The result of a command, for people and for scripts.

use crate::domain::vocabulary::ThreadId;
use crate::failure::{Failure, FailureKind};
use crate::github::evidence::WriteProof;
use crate::github::write::Write;
use crate::github::{Call, Error, PullRequestAddress, WriteOutcome};
use crate::output::sanitize;
use crate::supervisor::people::PlanError;
use serde_json::{Value, json};
use std::fmt;

/// The writes of one request and their outcomes.
#[derive(Debug)]
pub struct ActReport {
    pub pull_request: PullRequestAddress,
    /// The decision, if the request was about a thread.
    pub decision: Option<DecisionReport>,
    pub steps: Vec<WriteStep>,
    /// The journal failed.
    pub trouble: Option<Failure>,
}

/// A person's decision about a thread.
#[derive(Debug)]
pub struct DecisionReport {
    pub thread: ThreadId,
    pub verb: &'static str,
    pub by: String,
    /// The effect; none if the sentences of the writes say it all.
    pub sentence: Option<String>,
    pub recorded: RecordingOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingOutcome {
    /// There is no fact to record.
    Nothing,
    Now,
    /// By an earlier run of the same command.
    Before,
    Rehearsed,
    /// The journal failed, so nothing was done.
    Failed,
    Refused(PlanError),
}

/// A write and its outcome.
#[derive(Debug)]
pub struct WriteStep {
    pub write: Write,
    pub outcome: WriteStepOutcome,
    /// It only marks what another write tells, so its failure is said and does not fail the command.
    pub only_marks: bool,
}

#[derive(Debug)]
pub enum WriteStepOutcome {
    /// These calls would be sent.
    Rehearsed(Vec<Call>),
    Outcome(WriteOutcome),
    /// Certainly not done.
    NotDone(Error),
    /// An earlier write is not in effect.
    NotTried,
}

impl ActReport {
    /// The failures, each with its exit code.
    pub fn failures(&self) -> Vec<Failure> {
        let refused = self.decision.as_ref().and_then(|decision| match &decision.recorded {
            RecordingOutcome::Refused(objection) => Some(Failure::usage(objection)),
            _ => None,
        });
        let steps = self.steps.iter().filter(|step| !step.only_marks).filter_map(WriteStep::failure);
        refused.into_iter().chain(self.trouble.clone()).chain(steps).collect()
    }

    /// One JSON object.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let PullRequestAddress { repository, number } = &self.pull_request;
        let rehearsed = self.decision.as_ref().is_some_and(|it| it.recorded == RecordingOutcome::Rehearsed);
        let dry_run =
            rehearsed || self.steps.iter().any(|step| matches!(step.outcome, WriteStepOutcome::Rehearsed(_)));
        let mut document = json!({
            "repository": repository.to_string(),
            "number": number,
            "dry_run": dry_run,
            "writes": self.steps.iter().map(WriteStep::to_json).collect::<Vec<_>>(),
        });
        if let Some(decision) = &self.decision {
            document["decision"] = decision.to_json();
        }
        let text = serde_json::to_string_pretty(&document)?;
        Ok(sanitize::json(&text).into_owned())
    }
}

/// The writes that succeeded, were not tried, or would be sent. Failures go to standard error instead, except
/// that of a write that only marks.
impl fmt::Display for ActReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.decision.as_ref().and_then(DecisionReport::line) {
            writeln!(f, "{}", sanitize::line(&line))?;
        }
        for step in &self.steps {
            let sentence = step.write.sentence();
            let sentence = sanitize::line(&sentence);
            match &step.outcome {
                WriteStepOutcome::Rehearsed(calls) => {
                    writeln!(f, "{sentence}")?;
                    if calls.is_empty() {
                        writeln!(f, "  There is nothing to send.")?;
                    }
                    for call in calls {
                        write!(f, "{}", CallText(call))?;
                    }
                }
                WriteStepOutcome::Outcome(
                    outcome @ (WriteOutcome::Done(proof) | WriteOutcome::AlreadyThere(proof)),
                ) => {
                    write!(f, "{sentence} {}", outcome.sentence())?;
                    if let Some(url) = &proof.url {
                        write!(f, " {}", sanitize::line(url))?;
                    }
                    writeln!(f)?;
                }
                WriteStepOutcome::Outcome(_) | WriteStepOutcome::NotDone(_) => {
                    if let Some(failure) = step.failure().filter(|_| step.only_marks) {
                        writeln!(f, "{}", sanitize::line(&failure.to_string()))?;
                    }
                }
                WriteStepOutcome::NotTried => {
                    writeln!(f, "{sentence} Not tried, because an earlier write is not in effect.")?;
                }
            }
        }
        Ok(())
    }
}

impl DecisionReport {
    fn line(&self) -> Option<String> {
        let sentence = self.sentence.as_ref()?;
        let recorded = match self.recorded {
            RecordingOutcome::Now => " Recorded.",
            RecordingOutcome::Before => " It was recorded before.",
            RecordingOutcome::Rehearsed => " It would be recorded.",
            RecordingOutcome::Nothing => "",
            RecordingOutcome::Failed | RecordingOutcome::Refused(_) => return None,
        };
        Some(format!("{sentence}{recorded}"))
    }

    fn to_json(&self) -> Value {
        let DecisionReport { thread, verb, by, sentence, recorded } = self;
        let (recorded, refused) = match recorded {
            RecordingOutcome::Now => (Some("now"), None),
            RecordingOutcome::Before => (Some("before"), None),
            RecordingOutcome::Rehearsed => (Some("rehearsed"), None),
            RecordingOutcome::Nothing | RecordingOutcome::Failed => (None, None),
            RecordingOutcome::Refused(objection) => (None, Some(objection)),
        };
        let refused =
            refused.map(|objection| json!({"kind": objection.kind(), "message": objection.to_string()}));
        json!({
            "thread": thread, "verb": verb, "by": by,
            "sentence": sentence, "recorded": recorded, "refused": refused,
        })
    }
}

/// A call for people to read: its path and its body.
struct CallText<'a>(&'a Call);

impl fmt::Display for CallText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let carried = match self.0 {
            Call::Graphql { document, variables } => {
                writeln!(f, "  POST /graphql {}", document.name)?;
                Some(variables)
            }
            Call::Rest { method, path, body, .. } => {
                writeln!(f, "  {method} {}", sanitize::line(path))?;
                body.as_ref()
            }
            Call::Conditional { path, .. } | Call::Diff { path, .. } => {
                writeln!(f, "  GET {}", sanitize::line(path))?;
                None
            }
        };
        if let Some(carried) = carried {
            let text = serde_json::to_string_pretty(carried).map_err(|_| fmt::Error)?;
            for line in sanitize::json(&text).lines() {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}

impl WriteStep {
    fn failure(&self) -> Option<Failure> {
        let sentence = self.write.sentence();
        match &self.outcome {
            WriteStepOutcome::Rehearsed(_)
            | WriteStepOutcome::NotTried
            | WriteStepOutcome::Outcome(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_)) => None,
            WriteStepOutcome::Outcome(outcome @ WriteOutcome::SwallowedByDraft(_)) => {
                Some(Failure::usage(format_args!("{sentence} {}", outcome.sentence())))
            }
            WriteStepOutcome::Outcome(outcome @ WriteOutcome::Unknown { may_be_repeated, .. }) => {
                let advice = if *may_be_repeated { " Run the same command again." } else { "" };
                let outcome = outcome.sentence();
                Some(Failure::new(FailureKind::OutOfReach, format_args!("{sentence} {outcome}{advice}")))
            }
            WriteStepOutcome::NotDone(error) => Some(Failure::new(
                FailureKind::of(error),
                format_args!("{sentence} It was not done: {}", cause(error)),
            )),
        }
    }

    fn to_json(&self) -> Value {
        let sentence = self.write.sentence();
        let mut step =
            json!({"write": name(&self.write), "sentence": sentence, "outcome": self.outcome_word()});
        let mut add = |name: &str, value: Value| step[name] = value;
        match &self.outcome {
            WriteStepOutcome::Rehearsed(calls) => add("calls", calls.iter().map(call).collect()),
            WriteStepOutcome::Outcome(
                WriteOutcome::Done(proof)
                | WriteOutcome::AlreadyThere(proof)
                | WriteOutcome::SwallowedByDraft(proof),
            ) => {
                let WriteProof { id, url } = proof;
                add("id", json!(id));
                add("url", json!(url));
            }
            WriteStepOutcome::Outcome(WriteOutcome::Unknown { reason, may_be_repeated }) => {
                add("reason", json!(reason));
                add("may_be_repeated", json!(may_be_repeated));
            }
            WriteStepOutcome::NotDone(error) => add("reason", json!(cause(error))),
            WriteStepOutcome::NotTried => {}
        }
        step
    }

    /// The word that scripts rely on.
    fn outcome_word(&self) -> &'static str {
        match &self.outcome {
            WriteStepOutcome::Rehearsed(_) => "rehearsed",
            WriteStepOutcome::Outcome(outcome) => outcome.name(),
            WriteStepOutcome::NotDone(_) => "not_done",
            WriteStepOutcome::NotTried => "not_tried",
        }
    }
}

/// The failure of a command that wrote nothing.
pub(super) fn nothing_written(error: &Error) -> Failure {
    Failure::new(FailureKind::of(error), format_args!("nothing was written: {}", cause(error)))
}

/// A command has no loop that retries, so a transient error tells the user to repeat the command.
fn cause(error: &Error) -> String {
    match error {
        Error::Transient { what, cause, .. } => format!("{what} failed: {cause}; run the same command again"),
        error => error.to_string(),
    }
}

fn call(call: &Call) -> Value {
    match call {
        Call::Graphql { document, variables } => {
            json!({"method": "POST", "path": "/graphql", "document": document.name, "variables": variables})
        }
        Call::Rest { method, path, body, .. } => {
            json!({"method": method.as_str(), "path": path, "body": body})
        }
        Call::Conditional { path, .. } | Call::Diff { path, .. } => {
            json!({"method": "GET", "path": path, "body": null})
        }
    }
}

fn name(write: &Write) -> &'static str {
    match write {
        Write::Reply { .. } => "reply",
        Write::Resolve { .. } => "resolve",
        Write::Unresolve { .. } => "unresolve",
        Write::Comment { .. } => "comment",
        Write::Review { .. } => "review",
        Write::RequestReview { .. } => "request_review",
        Write::AddLabel { .. } => "label",
        Write::RemoveLabel { .. } => "unlabel",
        Write::Close { .. } => "close",
        Write::Reopen { .. } => "reopen",
        Write::Merge { .. } => "merge",
        Write::Minimize { .. } => "hide",
        Write::OpenIssue { .. } => "issue",
        Write::Dispatch { .. } => "dispatch",
    }
}
