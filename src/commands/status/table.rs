//! `status` as text for people.
//!
//! ```text
//! acme/shop#7  Add a discount to the cart
//!   open, by erin, head 1f0c2a9
//!   waiting for coderabbit (attempt 1 of 10)
//!
//!   status  severity  reviewer    rounds  where           title
//!   open    high      coderabbit  0 of 2  src/cart.rs:12  Potential issue
//! ```

use super::{PullRequestStatus, StatusReport};
use crate::domain::observed::{BodyFinding, UnownedThread};
use crate::domain::place::LineRange;
use crate::domain::policy::Policy;
use crate::domain::review_loop::Phase;
use crate::domain::snapshot::Account;
use crate::output::sanitize;
use crate::output::thread_table::{described, place, severity, shortened, table};
use crate::supervisor::computed_state::ThreadView;
use std::fmt;

impl fmt::Display for StatusReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for status in &self.pull_requests {
            pull_request(f, status, &self.policy)?;
            writeln!(f)?;
        }
        let points = if self.spent.points == 1 {
            "1 point".to_owned()
        } else {
            format!("{} points", self.spent.points)
        };
        match self.spent.budget {
            Some(budget) => {
                write!(
                    f,
                    "{points} of the API budget spent, {} left until {:.0}",
                    budget.remaining, budget.reset_at
                )
            }
            None => write!(f, "{points} of the API budget spent; GitHub did not say how many are left"),
        }
    }
}

fn pull_request(f: &mut fmt::Formatter<'_>, status: &PullRequestStatus, policy: &Policy) -> fmt::Result {
    let PullRequestStatus { computed, review_loop, waiting_for: _ } = status;
    let (snapshot, unowned) = (&computed.snapshot, &computed.unowned);
    let (threads, in_bodies) = (computed.threads(), &computed.observed.in_bodies);
    writeln!(f, "{}#{}  {}", snapshot.repository, snapshot.number, sanitize::line(&snapshot.title))?;
    let author = snapshot.author.as_ref().map_or_else(|| "a deleted account".to_owned(), Account::spelled);
    let head: String = snapshot.head.sha.as_str().chars().take(7).collect();
    writeln!(
        f,
        "  {}, by {}, head {}",
        snapshot.state.name(),
        sanitize::line(&author),
        sanitize::line(&head)
    )?;
    match review_loop.exit() {
        Some(exit) => writeln!(f, "  {}", sanitize::line(&exit.to_string()))?,
        None if *review_loop.phase() == Phase::WithAuthor => writeln!(f, "  with the author")?,
        None if matches!(review_loop.phase(), Phase::Paused(_)) => writeln!(f, "  paused")?,
        None => {
            let (attempt, most) = (review_loop.attempt(), policy.max_attempts);
            let state = computed.seen.judge().to_string();
            writeln!(f, "  {} (attempt {attempt} of {most})", sanitize::line(&state))?;
        }
    }
    for post in computed.unreadable() {
        writeln!(f, "  {}", sanitize::line(&post.to_string()))?;
    }
    if threads.is_empty() && unowned.is_empty() && in_bodies.is_empty() {
        return writeln!(f, "  no threads");
    }
    writeln!(f)?;
    let rows = threads.iter().map(|shown| row(shown, policy));
    let rows: Vec<_> =
        rows.chain(unowned.iter().map(unowned_row)).chain(in_bodies.iter().map(body_row)).collect();
    table(f, &["status", "severity", "reviewer", "rounds", "where", "title"], &rows)
}

fn row(shown: &ThreadView<'_>, policy: &Policy) -> [String; 6] {
    let ThreadView { thread, repeats, resolve_proposed, resolved_as_argument, .. } = *shown;
    let status = match described(thread.status()) {
        status if repeats.is_some() => format!("{status}, repeated"),
        status if resolve_proposed => format!("{status}, seems fixed"),
        status if resolved_as_argument => format!("{status}, resolved only by the author"),
        status => status,
    };
    [
        status,
        severity(&thread.finding),
        sanitize::line(thread.reviewer.as_str()).into_owned(),
        format!("{} of {}", thread.machine.counters.round_count, policy.repeat_limit),
        place(&thread.finding, shown.line(), shown.outdated()),
        shortened(&thread.finding.title),
    ]
}

/// A thread of no known reviewer has no rounds, and shows who opened it in parentheses.
fn unowned_row(unowned: &UnownedThread) -> [String; 6] {
    let UnownedThread { opened_by, finding, status, line, outdated, .. } = unowned;
    let opened_by = opened_by.as_ref().map_or_else(|| "a deleted account".to_owned(), Account::spelled);
    [
        described(*status),
        severity(finding),
        format!("({})", sanitize::line(&opened_by)),
        "–".to_owned(),
        place(finding, *line, *outdated),
        shortened(&finding.title),
    ]
}

/// A finding in a review's body has no thread that could be resolved or answered.
fn body_row(body: &BodyFinding) -> [String; 6] {
    let BodyFinding { reviewer, finding, .. } = body;
    [
        "in a review's text".to_owned(),
        severity(finding),
        sanitize::line(reviewer.as_str()).into_owned(),
        "–".to_owned(),
        place(finding, finding.lines.map(LineRange::first), false),
        shortened(&finding.title),
    ]
}
