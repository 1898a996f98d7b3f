//! Builds the request of the reviewer protocol from the frozen cycle (C1), the reviewer's threads (R1) and
//! the snapshot.
//!
//! A request that does not fit the reviewer's context window is cut (R6): old replies first, then the
//! previous review, then the last files of the diff. A note takes the place of each cut text.

mod conversation;
mod sizing;

pub use conversation::SpeakerRole;

use super::answer_schema::answer_schema;
use crate::domain::cycle::{FrozenCycle, Protocol, Violation};
use crate::domain::driven::DrivenPullRequest;
use crate::domain::finding::Thread;
use crate::domain::machine::LegalActions;
use crate::domain::place::LineRange;
use crate::domain::re_review::PromptFit;
use crate::domain::snapshot::{self, Account, AccountKind, PullRequestSnapshot, ThreadComment};
use crate::domain::vocabulary::{
    Category, FilePath, Intent, ReviewerAction, ReviewerName, Severity, Sha, Stance, ThreadId,
};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The version of the reviewer protocol.
pub const PROTOCOL: u32 = 1;

/// The inputs of a request that stay the same for every attempt at a cycle.
#[derive(Clone, Copy)]
pub struct RequestSources<'a> {
    pub snapshot: &'a PullRequestSnapshot,
    /// GitHub's conversation about a thread.
    pub conversation: &'a (dyn Fn(&ThreadId) -> Option<&'a snapshot::ReviewThread> + Sync),
    /// The reviewer that speaks in a comment. Cloture's own account posts for driven reviewers, so the
    /// account alone does not tell.
    pub reviewer_of: &'a (dyn Fn(&ThreadComment) -> Option<ReviewerName> + Sync),
    /// R1: the reviewer's last review, in full.
    pub previous_review: Option<&'a str>,
    /// R2: the unified diff in scope.
    pub diff: &'a str,
    pub protocol: Protocol,
    /// R6: in tokens.
    pub context_window: u64,
}

impl std::fmt::Debug for RequestSources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RequestSources { snapshot, protocol, context_window, .. } = self;
        f.debug_struct("RequestSources")
            .field("repository", &snapshot.repository)
            .field("number", &snapshot.number)
            .field("protocol", protocol)
            .field("context_window", context_window)
            .finish_non_exhaustive()
    }
}

/// A request, and how it fits the reviewer's context window.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedRequest {
    pub request: ReviewerRequest,
    /// Says what was cut; the request no longer has it.
    pub fit: PromptFit,
}

/// The JSON object that a driven reviewer reads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewerRequest {
    pub protocol: u32,
    pub cycle: CyclePart,
    pub pull_request: PullRequestPart,
    pub previous_review: Option<String>,
    pub threads: Vec<ThreadPart>,
    /// Earlier findings that the reviewer must not raise again.
    pub settled: Vec<SettledPart>,
    pub diff: String,
    /// The violations in the previous attempt's answer (C4).
    pub violations: Vec<ViolationPart>,
    pub answer_schema: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CyclePart {
    pub reviewer: ReviewerName,
    pub number: u32,
    pub attempt: u32,
    pub head: Option<Sha>,
    pub baseline: Option<Sha>,
    /// `everything` for a first review, `delta` for the changes since the last one.
    pub scope: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PullRequestPart {
    pub repository: String,
    pub number: u64,
    pub title: String,
    /// Null if the account was deleted. A bot's login ends in `[bot]`.
    pub author: Option<String>,
    pub author_is_bot: bool,
    /// The branch it is to be merged into.
    pub base: String,
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadPart {
    pub id: ThreadId,
    pub path: FilePath,
    /// The current line of the code; null for a remark about the whole file.
    pub line: Option<u32>,
    pub title: Arc<str>,
    pub body: Arc<str>,
    pub severity: Option<Severity>,
    pub category: Category,
    /// Null after a person sent the thread back.
    pub stance: Option<Stance>,
    pub round_count: u32,
    pub flips: u32,
    pub cycles: u32,
    pub legal: LegalPart,
    pub conversation: Vec<ConversationEntry>,
}

/// The legal actions for each stance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LegalPart {
    pub seeks_change: Vec<ReviewerAction>,
    pub accepts: Vec<ReviewerAction>,
}

/// One reply in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConversationEntry {
    pub by: String,
    pub role: SpeakerRole,
    /// The intent of a person's reply; null for bots.
    pub intent: Option<Intent>,
    pub at: Timestamp,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettledPart {
    pub path: FilePath,
    pub line: Option<u32>,
    pub title: Arc<str>,
    pub status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ViolationPart {
    pub kind: &'static str,
    pub thread: Option<ThreadId>,
    pub message: String,
}

/// Builds the request for a frozen cycle. `prompt_text` is the text around it, which needs room as well.
pub fn prepare(
    frozen: &FrozenCycle,
    engine: &DrivenPullRequest,
    sources: &RequestSources<'_>,
    violations: &[Violation],
    prompt_text: &str,
) -> PreparedRequest {
    let own = engine.threads().filter(|thread| thread.reviewer == frozen.reviewer);
    let mut threads = Vec::new();
    let mut settled = Vec::new();
    for thread in own {
        match frozen.threads.get(&thread.id) {
            Some(asked) => threads.push(thread_part(thread, asked.legal, sources)),
            None => settled.push(SettledPart {
                path: thread.anchor.path.clone(),
                line: line_of(thread),
                title: thread.finding.title.clone(),
                status: thread.status().name(),
            }),
        }
    }
    let request = ReviewerRequest {
        protocol: PROTOCOL,
        cycle: CyclePart {
            reviewer: frozen.reviewer.clone(),
            number: frozen.number,
            attempt: frozen.attempt,
            head: frozen.head.clone(),
            baseline: frozen.baseline.clone(),
            scope: if frozen.baseline.is_some() { "delta" } else { "everything" },
        },
        pull_request: pull_request_part(sources.snapshot),
        previous_review: sources.previous_review.map(str::to_owned),
        threads,
        settled,
        diff: sources.diff.to_owned(),
        violations: violations.iter().map(ViolationPart::of).collect(),
        answer_schema: answer_schema(frozen, sources.protocol),
    };
    sizing::fit_to_window(request, sources.context_window, prompt_text)
}

impl ReviewerRequest {
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }
}

impl ViolationPart {
    pub fn of(violation: &Violation) -> ViolationPart {
        ViolationPart {
            kind: violation.kind(),
            thread: violation.thread().cloned(),
            message: violation.to_string(),
        }
    }
}

fn thread_part(thread: &Thread, legal: LegalActions, sources: &RequestSources<'_>) -> ThreadPart {
    let listed = |stance| legal.for_stance(stance).iter().collect();
    let counters = thread.machine.counters;
    ThreadPart {
        id: thread.id.clone(),
        path: thread.anchor.path.clone(),
        line: line_of(thread),
        title: thread.finding.title.clone(),
        body: thread.finding.body.clone(),
        severity: thread.finding.severity,
        category: thread.finding.category,
        stance: counters.stance,
        round_count: counters.round_count,
        flips: counters.flips,
        cycles: counters.cycles,
        legal: LegalPart { seeks_change: listed(Stance::SeeksChange), accepts: listed(Stance::Accepts) },
        conversation: conversation::replies(thread, sources),
    }
}

fn line_of(thread: &Thread) -> Option<u32> {
    thread.anchor.lines.map(LineRange::first)
}

pub(crate) fn pull_request_part(snapshot: &PullRequestSnapshot) -> PullRequestPart {
    PullRequestPart {
        repository: snapshot.repository.to_string(),
        number: snapshot.number,
        title: snapshot.title.clone(),
        author: snapshot.author.as_ref().map(Account::spelled),
        author_is_bot: snapshot.author.as_ref().is_some_and(|author| author.kind == AccountKind::Bot),
        base: snapshot.base.name.clone(),
        url: snapshot.url.clone(),
    }
}
