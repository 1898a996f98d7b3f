//! The cycle (C): what a reviewer is asked, what it may answer, and what is wrong with an answer.
//!
//! An answer is checked as a whole against what was frozen when the reviewer was asked (C1, C2). One
//! violation and none of it counts (C3).

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
    /// It chooses an action for each of its threads.
    #[default]
    Actions,
    /// It only lists findings, and the engine derives the actions.
    Findings,
}

/// Why a reviewer was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum CycleTrigger {
    #[default]
    Review,
    /// A fixer's own implement-test-fix run (H5).
    Verify,
}

/// What was put to a reviewer when its cycle began (C1). People may act on threads while it thinks; its
/// answer is held against this, not against what has become of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FrozenCycle {
    pub reviewer: ReviewerName,
    pub head: Option<Sha>,
    /// R1: the head it last looked at, which what it is given is told against; none for its first look.
    pub baseline: Option<Sha>,
    /// Which cycle of this reviewer it is, counted from one.
    pub number: u32,
    /// Which try at this cycle it is, counted from one.
    pub attempt: u32,
    pub trigger: CycleTrigger,
    /// The open threads it owns, and what it may do with each.
    pub threads: BTreeMap<ThreadId, FrozenThread>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrozenThread {
    pub legal: LegalActions,
}

/// A reviewer's answer, read but not yet believed.
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

/// What a reviewer chose to do with one thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ThreadChoice {
    pub thread: ThreadId,
    pub action: ReviewerAction,
    pub stance: Stance,
    /// What it says in the thread.
    pub comment: Option<Arc<str>>,
}

/// A finding in an answer, with the id that its thread will have if it opens one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnswerFinding {
    pub id: ThreadId,
    pub finding: Finding,
}

/// Why a cycle was not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CycleSkip {
    PrMerged,
    PrClosed,
    /// C5: the reviewer is done with this head.
    SameSha,
    /// C6: the reviewer's cycles on this pull request are spent.
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

/// One thing that is wrong with an answer, in words that a person and a model can act on.
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
    #[error("thread {0} is closed: nothing may be done with it any more")]
    ClosedThread(ThreadId),
    #[error(
        "`{}` with stance `{}` is not legal on thread {thread}: legal there {}",
        .action.name(), .stance.name(), listed(*.legal, *.stance)
    )]
    IllegalAction { thread: ThreadId, action: ReviewerAction, stance: Stance, legal: LegalActions },
    #[error(
        "the finding {title:?} at {place} repeats {}: do not raise it again",
        match .of { Some(thread) => format!("thread {thread}, which is open"), None => "another of this answer".to_owned() }
    )]
    DuplicateFinding { title: String, place: String, of: Option<ThreadId> },
    #[error("the answer cannot be read: {0}")]
    MalformedAnswer(String),
    #[error("the answer is too large: {0}")]
    OversizedAnswer(String),
}

fn listed(legal: LegalActions, stance: Stance) -> String {
    let actions: Vec<_> = legal.for_stance(stance).iter().map(|action| format!("`{}`", action.name())).collect();
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

    /// The thread it is about, where it is about one.
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

/// To whom a thread that was *not* put to the reviewer belongs, as far as the pull request knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaskedThread {
    Unknown,
    Foreign,
    Closed,
}

/// C2, the part about actions: each frozen thread has exactly one, and each is legal.
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

/// D1, the part about the answer itself: no two of its findings may overlap.
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
