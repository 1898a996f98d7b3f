//! Driven reviewers' threads that GitHub shows and this journal does not know: Cloture posted them with a
//! journal that is lost, or with another one. The driver adopts them, so that their reviewer goes on with them
//! instead of raising the same findings again.

use super::fact::Fact;
use super::markers;
use crate::domain::finding::{Finding, Thread};
use crate::domain::machine::{Decision, EscalatedBy, ThreadMachine, ThreadStatus};
use crate::domain::observed::is_person;
use crate::domain::place::LineRange;
use crate::domain::snapshot::{PullRequestSnapshot, ReviewThread};
use crate::domain::vocabulary::{Category, FilePath, ReviewerName, Severity, ThreadId};
use crate::github::write::WriteKey;
use serde::{Deserialize, Serialize};

/// A thread as GitHub showed it when it was adopted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdoptedThread {
    /// The id in the marker of its first comment.
    pub thread: ThreadId,
    pub reviewer: ReviewerName,
    pub path: FilePath,
    /// The first and the last line.
    pub lines: Option<(u32, u32)>,
    /// GitHub shows it as outdated.
    pub gone: bool,
    pub title: String,
    pub body: String,
    pub severity: Option<Severity>,
    pub suggestion: Option<String>,
    pub state: AdoptedState,
}

/// How far the argument was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdoptedState {
    Open,
    ResolvedByReviewer,
    ResolvedByPerson,
    /// A person was asked to decide, and nothing shows that they did.
    Escalated {
        cause: String,
        returns: u32,
        reopens: u32,
    },
}

/// The facts that adopt all threads of these reviewers that `is_known` does not know.
pub fn unknown_threads(
    snapshot: &PullRequestSnapshot,
    reviewers: &[&ReviewerName],
    is_known: impl Fn(&ThreadId) -> bool,
) -> Vec<Fact> {
    let posted = markers::posted_threads(snapshot).into_iter();
    let unknown = posted.filter(|(id, _)| !is_known(id));
    let adopted = unknown.filter_map(|(id, seen)| {
        let reviewer = reviewers.iter().find(|reviewer| is_named_by(&id, reviewer))?;
        AdoptedThread::read(id, reviewer, seen, snapshot)
    });
    adopted.map(|thread| Fact::Adopted { adopted: Box::new(thread) }).collect()
}

/// A thread's id begins with its reviewer's name.
fn is_named_by(id: &ThreadId, reviewer: &ReviewerName) -> bool {
    id.as_str().strip_prefix(reviewer.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

impl AdoptedThread {
    fn read(
        id: ThreadId,
        reviewer: &ReviewerName,
        seen: &ReviewThread,
        snapshot: &PullRequestSnapshot,
    ) -> Option<AdoptedThread> {
        let text = PostedFinding::read(&seen.opening()?.body);
        let last = seen.line.or(seen.original_line);
        let first = if seen.line.is_some() { seen.start_line } else { seen.original_start_line };
        Some(AdoptedThread {
            thread: id,
            reviewer: reviewer.clone(),
            path: seen.path.clone(),
            lines: last.map(|last| (first.unwrap_or(last), last)),
            gone: seen.outdated,
            title: text.title,
            body: text.body,
            severity: text.severity,
            suggestion: text.suggestion,
            state: AdoptedState::of(seen, snapshot),
        })
    }

    /// The thread for the engine. Its counters begin anew, except those that name an escalation: a person is
    /// told of it once.
    pub fn thread(&self) -> Thread {
        let finding = Finding {
            path: self.path.clone(),
            lines: self.lines.and_then(|(first, last)| LineRange::new(first, last)),
            title: self.title.as_str().into(),
            body: self.body.as_str().into(),
            severity: self.severity,
            category: Category::Other,
            suggestion: self.suggestion.as_deref().map(Into::into),
            own_id: None,
        };
        let mut thread = Thread::opened(self.thread.clone(), self.reviewer.clone(), finding, false);
        thread.anchor.gone = self.gone;
        thread.machine = match &self.state {
            AdoptedState::Open => ThreadMachine::opened(),
            AdoptedState::ResolvedByReviewer => ThreadMachine::adopted_as_resolved(),
            AdoptedState::ResolvedByPerson => {
                let mut machine = ThreadMachine::opened();
                // An open thread can always be resolved.
                let _always = machine.decide(Decision::Resolve);
                machine
            }
            AdoptedState::Escalated { cause, returns, reopens } => {
                ThreadMachine::adopted_as_escalated(cause_named(cause), *returns, *reopens)
            }
        };
        thread
    }
}

impl AdoptedState {
    fn of(seen: &ReviewThread, snapshot: &PullRequestSnapshot) -> AdoptedState {
        let comments = seen.published_comments();
        let own = comments.iter().filter(|comment| comment.written_by_us);
        let keys: Vec<WriteKey> = own.filter_map(|comment| WriteKey::parse_marker(&comment.body)).collect();
        let us = seen.opening().and_then(|opening| opening.author.as_ref());
        // Cloture may be the author's: then the driver resolved the thread for its reviewer.
        let is_ours = us.zip(seen.resolved_by.as_ref()).is_some_and(|(us, by)| us.is_same(by));
        if seen.resolved && (is_ours || !snapshot.is_resolved_as_argument(seen)) {
            let by_act =
                keys.last().is_some_and(|key| key.as_str().starts_with(super::people::key::KEY_PREFIX));
            let by_other = seen
                .resolved_by
                .as_ref()
                .is_some_and(|by| is_person(by) && us.is_none_or(|us| us.login != by.login));
            return if by_act || by_other {
                AdoptedState::ResolvedByPerson
            } else {
                AdoptedState::ResolvedByReviewer
            };
        }
        // A reply of the reviewer after an escalation shows that a person returned the thread.
        let last = keys.iter().rev().find_map(markers::reply_turn);
        let escalated = last.as_deref().and_then(|turn| turn.strip_prefix("escalated/"));
        let mut parts = escalated.into_iter().flat_map(|turn| turn.split('/'));
        match (parts.next(), parts.next(), parts.next()) {
            (Some(cause), Some(returns), Some(reopens)) => AdoptedState::Escalated {
                cause: cause.to_owned(),
                returns: returns.parse().unwrap_or(0),
                reopens: reopens.parse().unwrap_or(0),
            },
            _ => AdoptedState::Open,
        }
    }
}

fn cause_named(name: &str) -> EscalatedBy {
    let causes = [
        EscalatedBy::Reviewer,
        EscalatedBy::RoundLimit,
        EscalatedBy::ReviewerFailed,
        EscalatedBy::IterationCap,
        EscalatedBy::Worsened,
        EscalatedBy::Regressed,
    ];
    let named = causes.into_iter().find(|cause| ThreadStatus::Escalated(*cause).cause() == Some(name));
    named.unwrap_or(EscalatedBy::Person)
}

/// The parts of a finding's text, as `planned_writes::finding_text` puts them together.
#[derive(Debug, PartialEq)]
struct PostedFinding {
    title: String,
    body: String,
    severity: Option<Severity>,
    suggestion: Option<String>,
}

impl PostedFinding {
    fn read(text: &str) -> PostedFinding {
        let text = text.rsplit_once("<!-- cloture:").map_or(text, |(text, _)| text).trim_end();
        let (heading, rest) = text.split_once("\n\n").unwrap_or((text, ""));
        let named = |name: &str| Severity::ALL.into_iter().find(|severity| severity.name() == name);
        let (heading, severity) = match heading.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) {
            Some((title, name)) if named(name).is_some() => (title, named(name)),
            _ => (heading, None),
        };
        let title = heading.strip_prefix("**").and_then(|it| it.strip_suffix("**")).unwrap_or(heading);
        let (body, suggestion) = split_suggestion(rest);
        PostedFinding { title: title.to_owned(), body: body.to_owned(), severity, suggestion }
    }
}

/// The text before the code at its end, and that code. The fence is longer than any in the code.
fn split_suggestion(text: &str) -> (&str, Option<String>) {
    let fence: String = text.chars().rev().take_while(|c| *c == '`').collect();
    let opening = format!("{fence}suggestion\n");
    let code = text.strip_suffix(&fence).filter(|_| fence.len() >= 3);
    match code.and_then(|code| code.split_once(&opening)) {
        Some((body, code)) if body.is_empty() || body.ends_with('\n') => {
            (body.trim_end(), Some(code.strip_suffix('\n').unwrap_or(code).to_owned()))
        }
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::planned_writes::finding_text;

    #[test]
    fn a_posted_finding_is_read_as_it_was_reported() {
        let key = WriteKey::new("finding/orange.2f.01.2f.1").unwrap();
        for (title, body, severity, suggestion) in [
            ("Subtraction underflows", "It breaks.\n\nFix it.", Some(Severity::Critical), None),
            ("A call to `f(x)` (low)", "", None, None),
            ("Leak", "See:\n\n```rust\nlet a = 1;\n```", Some(Severity::Low), Some("let b = 2;\nlet c = 3;")),
            ("Fences", "Body.", Some(Severity::Nit), Some("```suggestion\nx\n```")),
            ("Nothing is left", "Remove it.", Some(Severity::High), Some("")),
        ] {
            let posted = key.mark(&finding_text(severity, title, body, suggestion));
            let (title, body) = (title.to_owned(), body.to_owned());
            let suggestion = suggestion.map(ToOwned::to_owned);
            let expected = PostedFinding { title, body, severity, suggestion };
            assert_eq!(PostedFinding::read(&posted), expected, "{posted}");
        }
    }
}
