//! `cloture review`: tries a driven reviewer out. It runs one cycle with its retries, prints what would be
//! posted, and posts nothing.
//!
//! What is absent: the journal. The cycle continues no earlier one, so the reviewer gets the whole change,
//! and its threads are those that GitHub shows.

mod json;
mod text;

use crate::app::connection::ConnectionSettings;
use crate::app::invocation::Invocation;
use crate::app::runtime::interrupted;
use crate::app::selection;
use crate::commands::{Outcome, report};
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
use crate::supervisor::secrets;
use std::collections::BTreeMap;

/// The reviewer's answers, and their effect.
#[derive(Debug)]
pub struct ReviewReport {
    snapshot: PullRequestSnapshot,
    reviewer: ReviewerName,
    end: CycleEnd,
    /// The pull request after the cycle.
    engine: DrivenPullRequest,
    policy: Policy,
    /// The parts that GitHub left out of its answers.
    gaps: Vec<String>,
}

pub fn run(
    invocation: &Invocation,
    pull_request: &str,
    reviewer: &str,
    json: bool,
) -> anyhow::Result<Outcome> {
    let review = invocation.with_context(async |context| {
        // The reviewer runs in its own process group, which Ctrl-C does not reach. Dropping the future kills
        // it.
        tokio::select! {
            review = review(pull_request, reviewer, &context.settings, &context.profiles) => review,
            () = interrupted() => {
                Err(Failure::new(FailureKind::Stopped, "interrupted; the reviewer was stopped"))
            }
        }
    })?;
    report::print(&review, json)
}

/// Reads the pull request and runs the cycle.
async fn review(
    pull_request: &str,
    reviewer: &str,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
) -> Result<ReviewReport, Failure> {
    let host = settings.host()?;
    let address = selection::parse_address(pull_request, &host)?;
    let policy = &settings.config.policy;
    let configured = settings.config.reviewers.iter().find(|configured| configured.name.as_str() == reviewer);
    let configured = configured.ok_or_else(|| unknown_reviewer(reviewer, settings))?;
    let adapter = configured.adapter.clone().ok_or_else(|| {
        Failure::usage(format_args!(
            "the reviewer {reviewer} has no `kind`, so there is no program to run; add one in the \
             configuration"
        ))
    })?;
    let driver = ReviewerDriver::ready(adapter, settings.environment).await.map_err(Failure::usage)?;
    let client = settings.connect(host).await?.client;
    let secrets = secrets::scanner(settings.config, &client, settings.environment).await;
    let driver = driver.withholding(secrets);
    let reader = Reader::new(client);
    let read = reader.read(&address).await.map_err(|error| Failure::about(&address, &error))?;
    let snapshot = read.snapshot;
    let changed = diff::in_scope(reader.transport(), &snapshot, None)
        .await
        .map_err(|error| Failure::about(&address, &error))?;

    let reads: &dyn PostReader = profiles;
    let mut engine = engine_from_snapshot(&snapshot, reads, policy);
    let conversations: BTreeMap<&ThreadId, &snapshot::ReviewThread> =
        snapshot.threads.iter().map(|thread| (&thread.id, thread)).collect();
    let conversation = |id: &ThreadId| conversations.get(id).copied();
    let sources = RequestSources {
        snapshot: &snapshot,
        conversation: &conversation,
        reviewer_of: &|comment| reads.reviewer(comment.author.as_ref()?, &comment.body),
        previous_review: previous_review(&snapshot, &configured.name, reads),
        diff: &changed.text,
        protocol: configured.protocol,
        context_window: configured.context_window,
    };
    let name = &configured.name;
    let end = ask::cycle(&mut engine, name, &driver, &sources, CycleTrigger::Review, policy, |_| {}).await;
    let (reviewer, policy) = (name.clone(), policy.clone());
    Ok(ReviewReport { snapshot, reviewer, end, engine, policy, gaps: read.gaps })
}

fn unknown_reviewer(name: &str, settings: &ConnectionSettings<'_>) -> Failure {
    let names: Vec<_> = settings.config.reviewers.iter().map(|reviewer| reviewer.name.as_str()).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Failure::usage(format_args!("no reviewer is named {name}; configured reviewers: {names}"))
}

/// The engine's pull request with the threads of the snapshot.
fn engine_from_snapshot(
    snapshot: &PullRequestSnapshot,
    reads: &dyn PostReader,
    policy: &Policy,
) -> DrivenPullRequest {
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

/// R1: the reviewer's last review.
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

/// What Cloture would do with a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FindingFate {
    Opened,
    /// R2
    OutOfScope,
    /// D4
    Suppressed,
    /// D4
    Worsened,
    /// It continues a thread of its reviewer (C7, D5).
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
            FindingFate::OutOfScope => "outside the changed lines: recorded, not posted",
            FindingFate::Suppressed => "a person already decided about it: recorded, not posted",
            FindingFate::Worsened => {
                "a person already decided about it, and it is worse now: goes to the inbox"
            }
            FindingFate::Continued => "continues an existing thread",
        }
    }

    fn of(report: &ThreadId, notes: &[CycleNote]) -> FindingFate {
        let fate = notes.iter().find_map(|note| match note {
            CycleNote::Opened(id) if id == report => Some(FindingFate::Opened),
            CycleNote::OutOfScope { report: id, .. } if id == report => Some(FindingFate::OutOfScope),
            CycleNote::Suppressed { report: id, .. } if id == report => Some(FindingFate::Suppressed),
            CycleNote::Worsened { report: id, .. } if id == report => Some(FindingFate::Worsened),
            _ => None,
        });
        fate.unwrap_or(FindingFate::Continued)
    }
}

/// The answer that passed every check.
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

    /// The result that the exit code tells: problems found, a failed reviewer, or nothing to review.
    fn failure(&self) -> Option<Failure> {
        let PullRequestSnapshot { repository, number, .. } = &self.snapshot;
        let reviewer = &self.reviewer;
        if let CycleEnd::Skipped(skip) = &self.end {
            let (kind, why) = match skip {
                CycleSkip::PrMerged => (FailureKind::Merged, "it is merged"),
                CycleSkip::PrClosed => (FailureKind::Closed, "it is closed"),
                CycleSkip::SameSha => (FailureKind::Usage, "the reviewer has already reviewed this head"),
                CycleSkip::IterationCap => (FailureKind::Usage, "the reviewer has used up its cycles on it"),
            };
            return Some(Failure::new(kind, format_args!("{repository}#{number} was not reviewed: {why}")));
        }
        let Some(accepted) = self.accepted() else {
            let attempts = self.turns().len();
            let attempts = match attempts {
                1 => "1 attempt".to_owned(),
                several => format!("{several} attempts"),
            };
            let sentence = format!("{reviewer} gave no valid answer in {attempts}");
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
                "{reviewer} reports problems: {opened} new, {unsettled} unsettled in total; nothing was \
                 posted"
            );
            Failure::new(FailureKind::IssuesFound, sentence)
        })
    }
}
