//! `cloture review`: one cycle of one driven reviewer, with its retries, and what would be posted because of it. It never
//! posts anything itself: this is how a reviewer is tried out.
//!
//! There is no record of earlier cycles to continue from. The reviewer's threads are those that the forge shows, and its
//! look is a first one, at everything.

mod json;
mod text;

use crate::app::connection::ConnectionSettings;
use crate::app::selection;
use crate::domain::cycle::{CycleSkip, CycleTrigger, ReviewerAnswer};
use crate::domain::driven::{CycleNote, CycleOutcome, DrivenPullRequest};
use crate::domain::observed;
use crate::domain::policy::Policy;
use crate::domain::post::PostReader;
use crate::domain::snapshot::{self, AccountKind, PullRequestSnapshot, PullRequestState, ReviewState};
use crate::domain::verdict::Verdict;
use crate::domain::vocabulary::{ReviewerName, ThreadId};
use crate::failure::{Failure, FailureKind};
use crate::github::{Reader, diff};
use crate::reviewers::adapters::ReviewerDriver;
use crate::reviewers::ask::{self, CycleEnd, JudgedAttempt};
use crate::reviewers::profiles::Profiles;
use crate::reviewers::request::RequestSources;
use std::collections::BTreeMap;

/// What the reviewer said, and what would come of it.
#[derive(Debug)]
pub struct ReviewReport {
    snapshot: PullRequestSnapshot,
    reviewer: ReviewerName,
    end: CycleEnd,
    /// The pull request after the cycle.
    engine: DrivenPullRequest,
    policy: Policy,
    /// What GitHub left out of its answers.
    gaps: Vec<String>,
}

/// Reads the pull request and runs the cycle.
pub async fn review(
    pull_request: &str,
    reviewer: &str,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
) -> Result<ReviewReport, Failure> {
    let policy = &settings.config.policy;
    let configured = settings.config.reviewers.iter().find(|configured| configured.name.as_str() == reviewer);
    let configured = configured.ok_or_else(|| unknown_reviewer(reviewer, settings))?;
    let adapter = configured.adapter.clone().ok_or_else(|| {
        Failure::usage(format_args!(
            "the reviewer {reviewer} has no kind, so there is nothing to run; give it one in the configuration"
        ))
    })?;
    let driver = ReviewerDriver::ready(adapter, settings.environment).await.map_err(Failure::usage)?;
    let host = settings.host()?;
    let mut named = selection::named(&[pull_request.to_owned()], &host)?;
    let address = named.remove(0);
    let client = settings.connect(host).await?.client;
    let reader = Reader::new(client);
    let read = reader.read(&address).await.map_err(|error| Failure::about(&address, &error))?;
    let snapshot = read.snapshot;
    let changed = diff::in_scope(reader.transport(), &snapshot, None)
        .await
        .map_err(|error| Failure::about(&address, &error))?;

    let reads: &dyn PostReader = profiles;
    let mut engine = standing(&snapshot, reads, policy);
    let conversations: BTreeMap<&ThreadId, &snapshot::ReviewThread> =
        snapshot.threads.iter().map(|thread| (&thread.id, thread)).collect();
    let conversation = |id: &ThreadId| conversations.get(id).copied();
    let sources = RequestSources {
        snapshot: &snapshot,
        conversation: &conversation,
        reviewer_of: &|comment| reads.reviewer(comment.author.as_ref()?, &comment.body),
        previous_review: previous_review(&snapshot, &configured.name, reads),
        diff: &changed,
        protocol: configured.protocol,
        context_window: configured.context_window,
    };
    let name = &configured.name;
    let end = ask::cycle(&mut engine, name, &driver, &sources, CycleTrigger::Review, policy, |_| {}).await;
    let (reviewer, policy) = (name.clone(), policy.clone());
    Ok(ReviewReport { snapshot, reviewer, end, engine, policy, gaps: read.gaps })
}

fn unknown_reviewer(name: &str, settings: &ConnectionSettings<'_>) -> Failure {
    let known: Vec<_> = settings.config.reviewers.iter().map(|reviewer| reviewer.name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Failure::usage(format_args!("no reviewer {name} is configured; those that are: {known}"))
}

/// The engine's pull request, as far as a snapshot tells it.
fn standing(snapshot: &PullRequestSnapshot, reads: &dyn PostReader, policy: &Policy) -> DrivenPullRequest {
    let author_is_bot = snapshot.author.as_ref().is_some_and(|author| author.kind == AccountKind::Bot);
    let mut engine = DrivenPullRequest::new(author_is_bot);
    engine.push(snapshot.head.sha.clone(), &[]);
    for observed in observed::observe(snapshot, &[], reads, policy).threads {
        engine.adopt(observed.thread);
    }
    match snapshot.state {
        PullRequestState::Open => {}
        PullRequestState::Closed => {
            engine.close();
        }
        PullRequestState::Merged => {
            engine.merge(&crate::domain::handoff::HandoffRules::default());
        }
    }
    engine
}

/// R1: the last review that the reviewer wrote.
fn previous_review<'s>(
    snapshot: &'s PullRequestSnapshot,
    reviewer: &ReviewerName,
    reads: &dyn PostReader,
) -> Option<&'s str> {
    let written = snapshot.reviews.iter().filter(|review| {
        let by = review.author.as_ref().and_then(|author| reads.reviewer(author, &review.body));
        by.as_ref() == Some(reviewer)
            && review.state != ReviewState::Pending
            && !review.body.trim().is_empty()
    });
    let last = written.max_by_key(|review| review.submitted_at.unwrap_or(review.created_at))?;
    Some(&last.body)
}

/// What becomes of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FindingFate {
    Opened,
    /// R2
    OutOfScope,
    /// D4
    Suppressed,
    /// D4
    Worsened,
    /// C7, D5: it continues a thread of its reviewer.
    Continued,
}

impl FindingFate {
    fn name(self) -> &'static str {
        match self {
            FindingFate::Opened => "opened",
            FindingFate::OutOfScope => "out_of_scope",
            FindingFate::Suppressed => "suppressed",
            FindingFate::Worsened => "worsened",
            FindingFate::Continued => "continued",
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            FindingFate::Opened => "would open a thread",
            FindingFate::OutOfScope => "outside what changed: recorded, not posted",
            FindingFate::Suppressed => "a person had it already: recorded, not posted",
            FindingFate::Worsened => "a person had it already, and it is worse now: goes to the inbox",
            FindingFate::Continued => "continues a thread that is there",
        }
    }

    fn of(report: &ThreadId, notes: &[CycleNote]) -> FindingFate {
        let told = notes.iter().find_map(|note| match note {
            CycleNote::Opened(id) if id == report => Some(FindingFate::Opened),
            CycleNote::OutOfScope { report: id, .. } if id == report => Some(FindingFate::OutOfScope),
            CycleNote::Suppressed { report: id, .. } if id == report => Some(FindingFate::Suppressed),
            CycleNote::Worsened { report: id, .. } if id == report => Some(FindingFate::Worsened),
            _ => None,
        });
        told.unwrap_or(FindingFate::Continued)
    }
}

/// An answer that counted.
struct AcceptedAnswer<'a> {
    answer: &'a ReviewerAnswer,
    summary: Option<&'a str>,
    verdict: Verdict,
    notes: &'a [CycleNote],
}

impl ReviewReport {
    fn turns(&self) -> &[JudgedAttempt] {
        match &self.end {
            CycleEnd::Asked(turns) => turns,
            CycleEnd::ClosedUnasked | CycleEnd::Skipped(_) => &[],
        }
    }

    fn accepted(&self) -> Option<AcceptedAnswer<'_>> {
        let turn = self.turns().last()?;
        match (&turn.outcome, &turn.attempt.received) {
            (CycleOutcome::Completed { verdict, notes }, Ok(received)) => Some(AcceptedAnswer {
                answer: &received.answer,
                summary: received.summary.as_deref(),
                verdict: *verdict,
                notes,
            }),
            _ => None,
        }
    }

    /// What a script should know by the exit code: problems found, a reviewer that failed, nothing to review.
    pub fn failures(&self) -> Vec<Failure> {
        let PullRequestSnapshot { repository, number, .. } = &self.snapshot;
        let mut failures: Vec<Failure> = self
            .gaps
            .iter()
            .map(|gap| {
                let sentence = format_args!("{repository}#{number} was read in part only: {gap}");
                Failure::new(FailureKind::OutOfReach, sentence)
            })
            .collect();
        failures.extend(self.trouble());
        failures
    }

    fn trouble(&self) -> Option<Failure> {
        let PullRequestSnapshot { repository, number, .. } = &self.snapshot;
        let reviewer = &self.reviewer;
        if let CycleEnd::Skipped(skip) = &self.end {
            let (kind, why) = match skip {
                CycleSkip::PrMerged => (FailureKind::Merged, "it is merged"),
                CycleSkip::PrClosed => (FailureKind::Closed, "it is closed"),
                CycleSkip::SameSha => (FailureKind::Usage, "the reviewer is done with this head"),
                CycleSkip::IterationCap => (FailureKind::Usage, "the reviewer's cycles on it are spent"),
            };
            return Some(Failure::new(kind, format_args!("{repository}#{number} is not reviewed: {why}")));
        }
        let Some(accepted) = self.accepted() else {
            let attempts = self.turns().len();
            let attempts = match attempts {
                1 => "1 attempt".to_owned(),
                several => format!("{several} attempts"),
            };
            let sentence = format!("{reviewer} gave no answer that counts in {attempts}");
            return Some(Failure::new(FailureKind::ReviewerFailed, sentence));
        };
        let opened = accepted.notes.iter().filter(|note| matches!(note, CycleNote::Opened(_))).count();
        let unsettled = self
            .engine
            .threads()
            .filter(|thread| thread.reviewer == *reviewer && !thread.status().is_settled())
            .count();
        (unsettled > 0).then(|| {
            let sentence = format_args!(
                "{reviewer} reports problems: {opened} new, {unsettled} unsettled in all; nothing was posted"
            );
            Failure::new(FailureKind::IssuesFound, sentence)
        })
    }
}
