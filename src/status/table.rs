//! The state for a person to read.
//!
//! ```text
//! acme/shop#7  Add a discount to the cart
//!   open, by erin, head 1f0c2a9
//!   waiting for coderabbit (attempt 1 of 10)
//!
//!   status  severity  reviewer    rounds  where           title
//!   open    high      coderabbit  0 of 2  src/cart.rs:12  Potential issue
//! ```

use super::json::{exit, spelled, state};
use super::{Standing, Status};
use crate::clean;
use crate::domain::finding::Finding;
use crate::domain::machine::Status as ThreadStatus;
use crate::domain::observed::{BodyFinding, Observed, ObservedThread, UnownedThread};
use crate::domain::place::LineRange;
use crate::domain::policy::Policy;
use crate::domain::vocabulary::{ReviewerName, Severity};
use std::fmt;

/// A longer title would wrap in most terminals; `--json` has it whole.
const LONGEST_TITLE: usize = 72;

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for standing in &self.pull_requests {
            pull_request(f, standing, &self.policy)?;
            writeln!(f)?;
        }
        let points = if self.spent.points == 1 {
            "1 point".to_owned()
        } else {
            format!("{} points", self.spent.points)
        };
        match self.spent.budget {
            Some(budget) => {
                write!(f, "{points} spent, {} left until {:.0}", budget.remaining, budget.reset_at)
            }
            None => write!(f, "{points} spent; GitHub did not say how many are left"),
        }
    }
}

fn pull_request(f: &mut fmt::Formatter<'_>, standing: &Standing, policy: &Policy) -> fmt::Result {
    let Standing { snapshot, observed, unowned, review_loop, waiting_for, .. } = standing;
    let Observed { threads, in_bodies, .. } = observed;
    writeln!(f, "{}#{}  {}", snapshot.repository, snapshot.number, clean::line(&snapshot.title))?;
    let author = snapshot.author.as_ref().map_or_else(|| "a deleted account".to_owned(), spelled);
    let head: String = snapshot.head.sha.as_str().chars().take(7).collect();
    writeln!(f, "  {}, by {}, head {}", state(snapshot.state), clean::line(&author), clean::line(&head))?;
    match exit(review_loop.phase()) {
        Some(exit) => writeln!(f, "  {}", clean::line(&exit.to_string()))?,
        None if waiting_for.is_empty() => writeln!(f, "  no reviewer has shown itself yet")?,
        None => {
            let names: Vec<_> = waiting_for.iter().map(ReviewerName::as_str).collect();
            let (attempt, most) = (review_loop.attempt(), policy.max_attempts);
            writeln!(f, "  waiting for {} (attempt {attempt} of {most})", clean::line(&names.join(", ")))?;
        }
    }
    if threads.is_empty() && unowned.is_empty() && in_bodies.is_empty() {
        return writeln!(f, "  no threads");
    }
    writeln!(f)?;
    let rows = threads.iter().map(|observed| row(observed, policy));
    let rows: Vec<_> =
        rows.chain(unowned.iter().map(unowned_row)).chain(in_bodies.iter().map(body_row)).collect();
    table(f, &["status", "severity", "reviewer", "rounds", "where", "title"], &rows)
}

fn row(observed: &ObservedThread, policy: &Policy) -> [String; 6] {
    let ObservedThread { thread, line, outdated, repeats, resolve_proposed, .. } = observed;
    let status = match described(thread.status()) {
        status if repeats.is_some() => format!("{status}, repeated"),
        status if *resolve_proposed => format!("{status}, seems fixed"),
        status => status,
    };
    [
        status,
        severity(&thread.finding),
        clean::line(thread.reviewer.as_str()).into_owned(),
        format!("{} of {}", thread.machine.counters.round_count, policy.repeat_limit),
        place(&thread.finding, *line, *outdated),
        shortened(&thread.finding.title),
    ]
}

/// Nobody counts rounds on a thread that is no reviewer's; who opened it is shown in their place.
fn unowned_row(unowned: &UnownedThread) -> [String; 6] {
    let UnownedThread { opened_by, finding, status, line, outdated, .. } = unowned;
    let opened_by = opened_by.as_ref().map_or_else(|| "a deleted account".to_owned(), spelled);
    [
        described(*status),
        severity(finding),
        format!("({})", clean::line(&opened_by)),
        "–".to_owned(),
        place(finding, *line, *outdated),
        shortened(&finding.title),
    ]
}

/// A finding in a review's body has no thread, so there is nothing to resolve and nobody to answer.
fn body_row(body: &BodyFinding) -> [String; 6] {
    let BodyFinding { reviewer, finding, .. } = body;
    [
        "in a review's text".to_owned(),
        severity(finding),
        clean::line(reviewer.as_str()).into_owned(),
        "–".to_owned(),
        place(finding, finding.lines.map(LineRange::first), false),
        shortened(&finding.title),
    ]
}

/// What the reviewer does not say is not made up.
fn severity(finding: &Finding) -> String {
    finding.severity.map_or("–", Severity::name).to_owned()
}

fn place(finding: &Finding, line: Option<u32>, outdated: bool) -> String {
    let place = match (line, outdated) {
        (Some(line), _) => format!("{}:{line}", finding.path),
        (None, true) => format!("{} (outdated)", finding.path),
        (None, false) => finding.path.to_string(),
    };
    clean::line(&place).into_owned()
}

fn shortened(title: &str) -> String {
    let title = clean::line(title).into_owned();
    match title.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title,
    }
}

fn described(status: ThreadStatus) -> String {
    match status.cause() {
        None => status.name().to_owned(),
        Some(cause) => format!("{} ({})", status.name(), cause.replace('_', " ")),
    }
}

/// Columns as wide as what stands in them, counted in characters; the last is as long as it likes.
fn table<const N: usize>(f: &mut fmt::Formatter<'_>, head: &[&str; N], rows: &[[String; N]]) -> fmt::Result {
    let mut widths = head.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut print = |cells: &[&str]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str("  ");
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
        }
        writeln!(f, "{}", line.trim_end())
    };
    print(head)?;
    for row in rows {
        print(&row.each_ref().map(String::as_str))?;
    }
    Ok(())
}
