//! One cycle (C): the question to a reviewer, its answer, and the checks on the answer.
//!
//! The engine checks an answer as a whole against the frozen question (C1, C2). One violation rejects all of
//! it (C3).

use super::duplicates::DuplicateIndex;
use super::finding::Finding;
use super::machine::LegalActions;
use super::policy::Policy;
use super::vocabulary::{ReviewerAction, ReviewerName, Sha, Stance, ThreadId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// How a driven reviewer answers (C7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// The reviewer chooses an action for each of its threads.
    #[default]
    Actions,
    /// The reviewer only lists findings, and the engine derives the actions.
    Findings,
}

/// Why the engine asks a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CycleTrigger {
    #[default]
    Review,
    /// A coding agent checks its own fix (H5).
    Verify,
}

/// The question to a reviewer, frozen when its cycle begins (C1). People may act on threads meanwhile; the
/// engine checks the answer against this question, not against the present state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FrozenCycle {
    pub reviewer: ReviewerName,
    pub head: Option<Sha>,
    /// R1: the head of its last review, which the diff starts from. None in its first cycle.
    pub baseline: Option<Sha>,
    /// The number of this cycle of the reviewer, counted from one.
    pub number: u32,
    /// The number of this attempt at the cycle, counted from one.
    pub attempt: u32,
    pub trigger: CycleTrigger,
    /// Its open threads, each with the legal actions.
    pub threads: BTreeMap<ThreadId, FrozenThread>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrozenThread {
    pub legal: LegalActions,
}

/// A reviewer's answer: parsed, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReviewerAnswer {
    Actions { choices: Vec<ThreadChoice>, reports: Vec<AnswerFinding> },
    Findings { reports: Vec<AnswerFinding> },
}

impl ReviewerAnswer {
    pub fn protocol(&self) -> Protocol {
        match self {
            ReviewerAnswer::Actions { .. } => Protocol::Actions,
            ReviewerAnswer::Findings { .. } => Protocol::Findings,
        }
    }

    pub fn reports(&self) -> &[AnswerFinding] {
        match self {
            ReviewerAnswer::Actions { reports, .. } | ReviewerAnswer::Findings { reports } => reports,
        }
    }
}

/// The action that a reviewer chose for one thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ThreadChoice {
    pub thread: ThreadId,
    pub action: ReviewerAction,
    pub stance: Stance,
    /// The reviewer's comment for the thread.
    pub comment: Option<Arc<str>>,
}

/// A finding in an answer, with the id of the thread that it may open.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnswerFinding {
    pub id: ThreadId,
    pub finding: Finding,
}

/// Why the engine does not run a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CycleSkip {
    PrMerged,
    PrClosed,
    /// C5: the reviewer has reviewed this head already.
    SameSha,
    /// C6: the reviewer has used up its cycles on this pull request.
    IterationCap,
}

impl CycleSkip {
    pub fn name(self) -> &'static str {
        match self {
            CycleSkip::PrMerged => "pr_merged",
            CycleSkip::PrClosed => "pr_closed",
            CycleSkip::SameSha => "same_sha",
            CycleSkip::IterationCap => "iteration_cap",
        }
    }
}

/// One mistake in an answer. The text tells a person or a model how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Error)]
pub enum Violation {
    #[error("thread {0} is open and yours, but the answer gives no action for it: choose exactly one")]
    MissingAction(ThreadId),
    #[error("thread {0} has more than one action: choose exactly one")]
    SeveralActions(ThreadId),
    #[error("there is no thread {0} on this pull request: answer only for the threads listed")]
    UnknownThread(ThreadId),
    #[error("thread {0} belongs to another reviewer: answer only for your own threads")]
    ForeignThread(ThreadId),
    #[error("thread {0} is closed: leave it out of the answer")]
    ClosedThread(ThreadId),
    #[error(
        "`{}` with stance `{}` is not legal on thread {thread}: legal there {}",
        .action.name(), .stance.name(), listed(*.legal, *.stance)
    )]
    IllegalAction { thread: ThreadId, action: ReviewerAction, stance: Stance, legal: LegalActions },
    #[error("the finding {title:?} at {place} repeats {}: do not raise it again", repeated(.of.as_ref()))]
    DuplicateFinding { title: String, place: String, of: Option<ThreadId> },
    #[error("the answer cannot be read: {0}")]
    MalformedAnswer(String),
    #[error("the answer is too large: {0}")]
    OversizedAnswer(String),
}

fn repeated(thread: Option<&ThreadId>) -> String {
    match thread {
        Some(thread) => format!("thread {thread}, which is open"),
        None => "another of this answer".to_owned(),
    }
}

fn listed(legal: LegalActions, stance: Stance) -> String {
    let actions: Vec<_> =
        legal.for_stance(stance).iter().map(|action| format!("`{}`", action.name())).collect();
    match actions.as_slice() {
        [] => "is nothing".to_owned(),
        [only] => format!("is only {only}"),
        [most @ .., last] => format!("are {} and {last}", most.join(", ")),
    }
}

impl Violation {
    pub fn kind(&self) -> &'static str {
        match self {
            Violation::MissingAction(_) => "missing_action",
            Violation::SeveralActions(_) => "several_actions",
            Violation::UnknownThread(_) => "unknown_thread",
            Violation::ForeignThread(_) => "foreign_thread",
            Violation::ClosedThread(_) => "closed_thread",
            Violation::IllegalAction { .. } => "illegal_action",
            Violation::DuplicateFinding { .. } => "duplicate_finding",
            Violation::MalformedAnswer(_) => "malformed_answer",
            Violation::OversizedAnswer(_) => "oversized_answer",
        }
    }

    /// The thread that the violation is about, if any.
    pub fn thread(&self) -> Option<&ThreadId> {
        match self {
            Violation::MissingAction(thread)
            | Violation::SeveralActions(thread)
            | Violation::UnknownThread(thread)
            | Violation::ForeignThread(thread)
            | Violation::ClosedThread(thread)
            | Violation::IllegalAction { thread, .. } => Some(thread),
            Violation::DuplicateFinding { of, .. } => of.as_ref(),
            Violation::MalformedAnswer(_) | Violation::OversizedAnswer(_) => None,
        }
    }

    pub fn duplicate(finding: &Finding, of: Option<ThreadId>) -> Violation {
        let place = match finding.lines {
            Some(lines) => format!("{}:{}", finding.path, lines.first()),
            None => finding.path.to_string(),
        };
        Violation::DuplicateFinding { title: finding.title.to_string(), place, of }
    }
}

/// Why a thread was not part of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaskedThread {
    Unknown,
    Foreign,
    Closed,
}

/// C2, for actions: each frozen thread has exactly one, and each is legal.
pub fn check_choices(
    frozen: &FrozenCycle,
    choices: &[ThreadChoice],
    classify_unasked: impl Fn(&ThreadId) -> UnaskedThread,
) -> Vec<Violation> {
    let mut chosen: BTreeMap<&ThreadId, Vec<&ThreadChoice>> = BTreeMap::new();
    for choice in choices {
        chosen.entry(&choice.thread).or_default().push(choice);
    }
    let missing = frozen.threads.keys().filter(|thread| !chosen.contains_key(thread));
    let mut violations: Vec<_> = missing.cloned().map(Violation::MissingAction).collect();
    for (thread, choices) in chosen {
        let thread = thread.clone();
        let violation = match (frozen.threads.get(&thread), choices.as_slice()) {
            (None, _) => match classify_unasked(&thread) {
                UnaskedThread::Unknown => Violation::UnknownThread(thread),
                UnaskedThread::Foreign => Violation::ForeignThread(thread),
                UnaskedThread::Closed => Violation::ClosedThread(thread),
            },
            (Some(asked), [only]) if asked.legal.for_stance(only.stance).contains(only.action) => continue,
            (Some(asked), [only]) => {
                let (action, stance) = (only.action, only.stance);
                Violation::IllegalAction { thread, action, stance, legal: asked.legal }
            }
            (Some(_), _) => Violation::SeveralActions(thread),
        };
        violations.push(violation);
    }
    violations
}

/// D1, within the answer: no two of its findings may overlap.
pub fn check_reports_against_each_other(reports: &[AnswerFinding], policy: &Policy) -> Vec<Violation> {
    let mut all = DuplicateIndex::new(policy);
    for (index, report) in reports.iter().enumerate() {
        all.add_report(index, &report.finding);
    }
    let repeats = |index: usize, report: &AnswerFinding| {
        !all.overlaps_among(&report.finding, |earlier| earlier < index).is_empty()
    };
    let repeated = reports.iter().enumerate().filter(|(index, report)| repeats(*index, report));
    repeated.map(|(_, report)| Violation::duplicate(&report.finding, None)).collect()
}
