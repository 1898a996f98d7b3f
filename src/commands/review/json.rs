//! `review --json`: one object for scripts.

use super::{AcceptedAnswer, FindingFate, ReviewReport};
use crate::commands::Report;
use crate::domain::cycle::{AnswerFinding, ReviewerAnswer, ThreadChoice};
use crate::domain::driven::CycleOutcome;
use crate::domain::place::LineRange;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::failure::{Failure, FailureKind};
use crate::output::sanitize;
use crate::output::thread_json::ThreadLine;
use crate::reviewers::ask::{CycleEnd, JudgedAttempt};
use crate::reviewers::request::ViolationPart;
use serde_json::{Value, json};

impl Report for ReviewReport {
    fn to_json(&self) -> serde_json::Result<String> {
        let accepted = self.accepted();
        let own = self.engine.threads().filter(|thread| thread.reviewer == self.reviewer);
        let threads: Vec<_> = own.map(|thread| ThreadLine::of(thread, &self.policy)).collect();
        let document = json!({
            "repository": self.snapshot.repository,
            "number": self.snapshot.number,
            "reviewer": self.reviewer,
            "head": self.snapshot.head.sha,
            // Always: this command posts nothing.
            "posted": false,
            "outcome": self.outcome(),
            "skipped": match &self.end { CycleEnd::Skipped(skip) => Some(skip.name()), _ => None },
            "attempts": self.turns().iter().map(attempt).collect::<Vec<_>>(),
            "verdict": accepted.as_ref().map(|accepted| accepted.verdict.name()),
            "summary": accepted.as_ref().and_then(|accepted| accepted.summary),
            "actions": accepted.as_ref().map(|accepted| actions(accepted.answer)).unwrap_or_default(),
            "findings": accepted.as_ref().map(findings).unwrap_or_default(),
            "threads": threads,
        });
        Ok(sanitize::json(&serde_json::to_string(&document)?).into_owned())
    }

    fn failures(&self) -> Vec<Failure> {
        let PullRequestSnapshot { repository, number, .. } = &self.snapshot;
        let gap = |gap: &String| {
            let sentence = format_args!("GitHub sent only a part of {repository}#{number}: {gap}");
            Failure::new(FailureKind::OutOfReach, sentence)
        };
        self.gaps.iter().map(gap).chain(self.failure()).collect()
    }
}

impl ReviewReport {
    fn outcome(&self) -> &'static str {
        match &self.end {
            CycleEnd::Skipped(_) => "skipped",
            CycleEnd::ClosedUnasked => "closed_unasked",
            CycleEnd::Asked(turns) => match turns.last().map(|turn| &turn.outcome) {
                Some(CycleOutcome::Completed { .. }) => "completed",
                Some(CycleOutcome::Overtaken) => "overtaken",
                Some(CycleOutcome::Failed { .. }) | None => "failed",
            },
        }
    }
}

fn attempt(turn: &JudgedAttempt) -> Value {
    let violations: Vec<ViolationPart> = match &turn.outcome {
        CycleOutcome::Failed { violations, .. } => violations.iter().map(ViolationPart::of).collect(),
        CycleOutcome::Completed { .. } | CycleOutcome::Overtaken => Vec::new(),
    };
    let fit = &turn.attempt.fit;
    json!({
        "attempt": turn.attempt.frozen.attempt,
        "took_ms": u64::try_from(turn.attempt.took.as_millis()).unwrap_or(u64::MAX),
        "prompt": {
            "estimated_tokens": fit.estimated_tokens,
            "window_tokens": fit.window_tokens,
            "warning": fit.uses_over_half_the_window().then(|| fit.to_string()),
        },
        "violations": violations,
        "log": turn.attempt.log,
    })
}

fn actions(answer: &ReviewerAnswer) -> Vec<Value> {
    let choices = match answer {
        ReviewerAnswer::Actions { choices, .. } => choices.as_slice(),
        ReviewerAnswer::Findings { .. } => &[],
    };
    let line = |choice: &ThreadChoice| {
        let ThreadChoice { thread, action, stance, comment } = choice;
        json!({ "thread": thread, "action": action, "stance": stance, "body": comment })
    };
    choices.iter().map(line).collect()
}

fn findings(accepted: &AcceptedAnswer<'_>) -> Vec<Value> {
    let line = |report: &AnswerFinding| {
        let finding = &report.finding;
        json!({
            "id": report.id,
            "path": finding.path,
            "line": finding.lines.map(LineRange::first),
            "end_line": finding.lines.map(LineRange::last),
            "title": finding.title,
            "body": finding.body,
            "severity": finding.severity,
            "category": finding.category,
            "suggestion": finding.suggestion,
            "fate": FindingFate::of(&report.id, accepted.notes).name(),
        })
    };
    accepted.answer.reports().iter().map(line).collect()
}
