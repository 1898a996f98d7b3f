//! What became of an order, for people and for scripts.

use crate::domain::vocabulary::ThreadId;
use crate::failure::{Failure, Kind};
use crate::github::evidence::Proof;
use crate::github::write::Write;
use crate::github::{Call, Error, Outcome, PullRequestAddress};
use crate::output::sanitize;
use crate::supervisor::people::Objection;
use serde_json::{Value, json};
use std::fmt;

/// Every write of one order.
#[derive(Debug)]
pub struct Report {
    pub pull_request: PullRequestAddress,
    /// What was done to a thread, where it was one.
    pub decision: Option<Decision>,
    pub steps: Vec<Step>,
    /// Why not all of it could be kept in the journal.
    pub trouble: Option<Failure>,
}

/// What somebody decided about a thread.
#[derive(Debug)]
pub struct Decision {
    pub thread: ThreadId,
    pub verb: &'static str,
    pub by: String,
    /// What it means; none where the writes say all of it.
    pub sentence: Option<String>,
    pub recorded: Recorded,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// There is nothing to record but the writes themselves.
    Nothing,
    Now,
    /// By an earlier run of the same command.
    Before,
    Rehearsed,
    /// It could not be, so nothing was done.
    Failed,
    Refused(Objection),
}

/// A write and what became of it.
#[derive(Debug)]
pub struct Step {
    pub write: Write,
    pub became: Became,
}

#[derive(Debug)]
pub enum Became {
    /// These calls would be sent.
    Rehearsed(Vec<Call>),
    Told(Outcome),
    /// Certainly not done.
    NotDone(Error),
    /// One before it is not in effect.
    NotTried,
}

impl Report {
    /// What did not go as asked, each with the exit code it deserves.
    pub fn failures(&self) -> Vec<Failure> {
        let refused = self.decision.as_ref().and_then(|decision| match &decision.recorded {
            Recorded::Refused(objection) => Some(Failure::usage(objection)),
            _ => None,
        });
        let steps = self.steps.iter().filter_map(Step::failure);
        refused.into_iter().chain(self.trouble.clone()).chain(steps).collect()
    }

    /// One object.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let PullRequestAddress { repository, number } = &self.pull_request;
        let rehearsed = self.decision.as_ref().is_some_and(|it| it.recorded == Recorded::Rehearsed);
        let dry_run = rehearsed || self.steps.iter().any(|step| matches!(step.became, Became::Rehearsed(_)));
        let mut document = json!({
            "repository": repository.to_string(),
            "number": number,
            "dry_run": dry_run,
            "writes": self.steps.iter().map(Step::to_json).collect::<Vec<_>>(),
        });
        if let Some(decision) = &self.decision {
            document["decision"] = decision.to_json();
        }
        let text = serde_json::to_string_pretty(&document)?;
        Ok(sanitize::json(&text).into_owned())
    }
}

/// What went well, was not tried, or would be sent. What went wrong is a failure, and told as one.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.decision.as_ref().and_then(Decision::line) {
            writeln!(f, "{}", sanitize::line(&line))?;
        }
        for step in &self.steps {
            let sentence = step.write.sentence();
            let sentence = sanitize::line(&sentence);
            match &step.became {
                Became::Rehearsed(calls) => {
                    writeln!(f, "{sentence}")?;
                    if calls.is_empty() {
                        writeln!(f, "  There is nothing to send.")?;
                    }
                    for call in calls {
                        write!(f, "{}", CallText(call))?;
                    }
                }
                Became::Told(outcome @ (Outcome::Done(proof) | Outcome::AlreadyThere(proof))) => {
                    write!(f, "{sentence} {}", outcome.sentence())?;
                    if let Some(url) = &proof.url {
                        write!(f, " {}", sanitize::line(url))?;
                    }
                    writeln!(f)?;
                }
                Became::Told(_) | Became::NotDone(_) => {}
                Became::NotTried => {
                    writeln!(f, "{sentence} Not tried, because what comes before it is not in effect.")?;
                }
            }
        }
        Ok(())
    }
}

impl Decision {
    fn line(&self) -> Option<String> {
        let sentence = self.sentence.as_ref()?;
        let recorded = match self.recorded {
            Recorded::Now => " Recorded.",
            Recorded::Before => " It was recorded before.",
            Recorded::Rehearsed => " It would be recorded.",
            Recorded::Nothing => "",
            Recorded::Failed | Recorded::Refused(_) => return None,
        };
        Some(format!("{sentence}{recorded}"))
    }

    fn to_json(&self) -> Value {
        let Decision { thread, verb, by, sentence, recorded } = self;
        let (recorded, refused) = match recorded {
            Recorded::Now => (Some("now"), None),
            Recorded::Before => (Some("before"), None),
            Recorded::Rehearsed => (Some("rehearsed"), None),
            Recorded::Nothing | Recorded::Failed => (None, None),
            Recorded::Refused(objection) => (None, Some(objection)),
        };
        let refused =
            refused.map(|objection| json!({"kind": objection.kind(), "message": objection.to_string()}));
        json!({
            "thread": thread, "verb": verb, "by": by, "sentence": sentence, "recorded": recorded, "refused": refused,
        })
    }
}

/// A call as people read it: where it goes, and what it carries.
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
            Call::Diff { path, .. } => {
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

impl Step {
    fn failure(&self) -> Option<Failure> {
        let sentence = self.write.sentence();
        match &self.became {
            Became::Rehearsed(_)
            | Became::NotTried
            | Became::Told(Outcome::Done(_) | Outcome::AlreadyThere(_)) => None,
            Became::Told(outcome @ Outcome::SwallowedByDraft(_)) => {
                Some(Failure::usage(format_args!("{sentence} {}", outcome.sentence())))
            }
            Became::Told(outcome @ Outcome::Unknown { may_be_repeated, .. }) => {
                let advice = if *may_be_repeated { " Run the same command again." } else { "" };
                let told = outcome.sentence();
                Some(Failure::new(Kind::OutOfReach, format_args!("{sentence} {told}{advice}")))
            }
            Became::NotDone(error) => Some(Failure::new(
                Kind::of(error),
                format_args!("{sentence} It was not done: {}", cause(error)),
            )),
        }
    }

    fn to_json(&self) -> Value {
        let sentence = self.write.sentence();
        let mut step = json!({"write": name(&self.write), "sentence": sentence, "outcome": self.outcome()});
        let mut add = |name: &str, value: Value| step[name] = value;
        match &self.became {
            Became::Rehearsed(calls) => add("calls", calls.iter().map(call).collect()),
            Became::Told(
                Outcome::Done(proof) | Outcome::AlreadyThere(proof) | Outcome::SwallowedByDraft(proof),
            ) => {
                let Proof { id, url } = proof;
                add("id", json!(id));
                add("url", json!(url));
            }
            Became::Told(Outcome::Unknown { reason, may_be_repeated }) => {
                add("reason", json!(reason));
                add("may_be_repeated", json!(may_be_repeated));
            }
            Became::NotDone(error) => add("reason", json!(cause(error))),
            Became::NotTried => {}
        }
        step
    }

    /// The word that scripts go by.
    fn outcome(&self) -> &'static str {
        match &self.became {
            Became::Rehearsed(_) => "rehearsed",
            Became::Told(outcome) => outcome.name(),
            Became::NotDone(_) => "not_done",
            Became::NotTried => "not_tried",
        }
    }
}

/// Why nothing could be planned or shown.
pub(super) fn nothing_written(error: &Error) -> Failure {
    Failure::new(Kind::of(error), format_args!("nothing was written: {}", cause(error)))
}

/// The error for somebody whose command has ended: nobody tries again but they.
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
        Call::Diff { path, .. } => json!({"method": "GET", "path": path, "body": null}),
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
