//! `review` as text for people.
//!
//! ```text
//! acme/shop#7  Add a discount to the cart
//!   reviewed by orange at 1f0c2a9; this is a trial, nothing is posted
//!
//!   attempt 1, 2.1 s: refused
//!     missing_action: thread PRRT_1 is open and yours, but the answer gives no action for it: …
//!   attempt 2, 1.8 s: accepted
//!
//!   verdict: comment
//!     Two things to look at.
//!   resolve PRRT_1 (accepts)
//!     Fixed.
//!   high bug src/cart.rs:12  Overflow for large carts: would open a thread
//!     …
//! ```

use super::{AcceptedAnswer, FindingFate, ReviewReport};
use crate::domain::cycle::ReviewerAnswer;
use crate::domain::driven::CycleOutcome;
use crate::domain::machine::{EscalatedBy, ThreadStatus};
use crate::domain::vocabulary::Severity;
use crate::output::sanitize;
use crate::reviewers::ask::{CycleEnd, JudgedAttempt};
use std::fmt;

/// How many log lines the text shows. `--json` has the whole log.
const LOG_LINES: usize = 10;

impl fmt::Display for ReviewReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = &self.snapshot;
        let head: String = snapshot.head.sha.as_str().chars().take(7).collect();
        writeln!(f, "{}#{}  {}", snapshot.repository, snapshot.number, sanitize::line(&snapshot.title))?;
        let (reviewer, head) = (sanitize::line(self.reviewer.as_str()), sanitize::line(&head));
        writeln!(f, "  reviewed by {reviewer} at {head}; this is a trial, nothing is posted")?;
        writeln!(f)?;
        match &self.end {
            CycleEnd::Skipped(skip) => return write!(f, "  not asked: {}", skip.name()),
            CycleEnd::ClosedUnasked => return write!(f, "  not asked: the reviewer has used up its calls"),
            CycleEnd::Asked(turns) => turns.iter().try_for_each(|turn| attempt(f, turn))?,
        }
        writeln!(f)?;
        match self.accepted() {
            Some(accepted) => answer(f, &accepted),
            None => self.write_failed(f),
        }
    }
}

impl ReviewReport {
    /// What the engine would do after the reviewer's last failed attempt (C4).
    fn write_failed(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  no answer was valid, so nothing would be posted")?;
        let escalated = self.engine.threads().filter(|thread| {
            thread.reviewer == self.reviewer
                && thread.status() == ThreadStatus::Escalated(EscalatedBy::ReviewerFailed)
        });
        for thread in escalated {
            write!(f, "\n  escalate {}: the reviewer failed", sanitize::line(thread.id.as_str()))?;
        }
        Ok(())
    }
}

fn attempt(f: &mut fmt::Formatter<'_>, turn: &JudgedAttempt) -> fmt::Result {
    let (number, took) = (turn.attempt.frozen.attempt, turn.attempt.took.as_secs_f64());
    let word = match &turn.outcome {
        CycleOutcome::Completed { .. } => "accepted",
        CycleOutcome::Failed { .. } => "refused",
        CycleOutcome::Overtaken => "overtaken",
    };
    writeln!(f, "  attempt {number}, {took:.1} s: {word}")?;
    if turn.attempt.fit.uses_over_half_the_window() {
        writeln!(f, "    warning: {}", turn.attempt.fit)?;
    }
    if let CycleOutcome::Failed { violations, .. } = &turn.outcome {
        for violation in violations {
            writeln!(f, "    {}: {}", violation.kind(), sanitize::line(&violation.to_string()))?;
        }
    }
    let lines: Vec<&str> = turn.attempt.log.lines().filter(|line| !line.trim().is_empty()).collect();
    for line in &lines[lines.len().saturating_sub(LOG_LINES)..] {
        writeln!(f, "    | {}", sanitize::line(line))?;
    }
    Ok(())
}

fn answer(f: &mut fmt::Formatter<'_>, accepted: &AcceptedAnswer<'_>) -> fmt::Result {
    write!(f, "  verdict: {}", accepted.verdict.name())?;
    paragraph(f, accepted.summary)?;
    if let ReviewerAnswer::Actions { choices, .. } = accepted.answer {
        for choice in choices {
            let (action, stance) = (choice.action.name(), choice.stance.name());
            write!(f, "\n  {action} {} ({stance})", sanitize::line(choice.thread.as_str()))?;
            paragraph(f, choice.comment.as_deref())?;
        }
    }
    for report in accepted.answer.reports() {
        let finding = &report.finding;
        let severity = finding.severity.map_or("unknown", Severity::name);
        let line = finding.lines.map_or_else(String::new, |lines| format!(":{}", lines.first()));
        let (path, title) = (sanitize::line(finding.path.as_str()), sanitize::line(&finding.title));
        let fate = FindingFate::of(&report.id, accepted.notes).sentence();
        write!(f, "\n  {severity} {} {path}{line}  {title}: {fate}", finding.category.name())?;
        paragraph(f, Some(&finding.body))?;
        paragraph(f, finding.suggestion.as_deref())?;
    }
    Ok(())
}

fn paragraph(f: &mut fmt::Formatter<'_>, text: Option<&str>) -> fmt::Result {
    text.unwrap_or_default().lines().try_for_each(|line| write!(f, "\n    {}", sanitize::line(line)))
}
