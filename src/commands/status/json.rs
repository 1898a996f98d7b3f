//! `status --json`: one object, whose fields scripts rely on.

use super::{PullRequestStatus, StatusReport};
use crate::commands::Report;
use crate::domain::observed::UnownedThread;
use crate::domain::policy::Policy;
use crate::domain::review_loop::{Exit, Phase, StateCounts};
use crate::domain::snapshot::{Account, AccountKind, RepositoryName};
use crate::domain::vocabulary::{Category, FilePath, ReviewerName, Sha, ThreadId};
use crate::failure::Failure;
use crate::output::sanitize;
use crate::output::thread_json::ThreadLine;
use crate::supervisor::computed_state::{ThreadView, UnreadableReview};
use jiff::Timestamp;
use serde::Serialize;

#[derive(Serialize)]
struct StatusDocument<'a> {
    pull_requests: Vec<PullRequestLine<'a>>,
    rate_limit: RateLimitLine,
}

#[derive(Serialize)]
struct PullRequestLine<'a> {
    repository: &'a RepositoryName,
    number: u64,
    title: &'a str,
    url: &'a str,
    /// Null if the account was deleted. A bot's name ends in `[bot]`.
    author: Option<String>,
    author_is_bot: bool,
    state: &'static str,
    head: &'a Sha,
    #[serde(rename = "loop")]
    review_loop: LoopLine<'a>,
    /// Posts for this head that Cloture cannot read. Absent if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<UnreadableLine>,
    threads: Vec<ObservedLine<'a>>,
}

#[derive(Serialize)]
struct UnreadableLine {
    reviewer: ReviewerName,
    reason: String,
    url: String,
}

#[derive(Serialize)]
struct LoopLine<'a> {
    phase: &'static str,
    attempt: u32,
    max_attempts: u32,
    waiting_for: &'a [ReviewerName],
    exit: Option<&'static str>,
    counts: StateCounts,
}

#[derive(Serialize)]
struct ObservedLine<'a> {
    #[serde(flatten)]
    thread: ThreadLine<'a>,
    path: &'a FilePath,
    line: Option<u32>,
    title: &'a str,
    category: Category,
    /// Null if a driven reviewer's finding is not posted.
    url: Option<&'a str>,
    outdated: bool,
    /// The thread that raised the same finding first. Absent unless this thread repeats it.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<&'a ThreadId>,
    /// True if the reviewer stopped reporting it without a word. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resolve_proposed: bool,
    /// True if the author resolved it on GitHub and may not decide about it (R4). Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resolved_as_argument: bool,
}

#[derive(Serialize)]
struct RateLimitLine {
    /// The points that this command spent.
    cost: u64,
    remaining: Option<u64>,
    reset_at: Option<Timestamp>,
}

impl Report for StatusReport {
    fn to_json(&self) -> serde_json::Result<String> {
        let policy = &self.policy;
        let document = StatusDocument {
            pull_requests: self
                .pull_requests
                .iter()
                .map(|status| pull_request_line(status, policy))
                .collect(),
            rate_limit: RateLimitLine {
                cost: self.spent.points,
                remaining: self.spent.budget.map(|budget| budget.remaining),
                reset_at: self.spent.budget.map(|budget| budget.reset_at),
            },
        };
        Ok(sanitize::json(&serde_json::to_string(&document)?).into_owned())
    }

    fn failures(&self) -> Vec<Failure> {
        self.failures.clone()
    }
}

fn pull_request_line<'a>(status: &'a PullRequestStatus, policy: &Policy) -> PullRequestLine<'a> {
    let PullRequestStatus { computed, review_loop, waiting_for } = status;
    let snapshot = &computed.snapshot;
    let phase = review_loop.phase();
    PullRequestLine {
        repository: &snapshot.repository,
        number: snapshot.number,
        title: &snapshot.title,
        url: &snapshot.url,
        author: snapshot.author.as_ref().map(Account::spelled),
        author_is_bot: snapshot.author.as_ref().is_some_and(|author| author.kind == AccountKind::Bot),
        state: snapshot.state.name(),
        head: &snapshot.head.sha,
        review_loop: LoopLine {
            phase: phase_name(phase),
            attempt: review_loop.attempt(),
            max_attempts: policy.max_attempts,
            waiting_for,
            exit: review_loop.exit().map(Exit::name),
            counts: computed.seen.counts(),
        },
        unreadable: computed.unreadable().into_iter().map(unreadable_line).collect(),
        threads: thread_lines(status, policy),
    }
}

fn unreadable_line(post: UnreadableReview) -> UnreadableLine {
    let UnreadableReview { reviewer, reason, url, .. } = post;
    UnreadableLine { reviewer, reason, url }
}

/// All threads, sorted by id.
fn thread_lines<'a>(status: &'a PullRequestStatus, policy: &Policy) -> Vec<ObservedLine<'a>> {
    let computed = &status.computed;
    let owned = computed.threads().into_iter().map(|shown| {
        let id = shown.id();
        (id, shown_line(id, shown, policy))
    });
    let unowned = computed.unowned.iter().map(|unowned| (&unowned.id, unowned_line(unowned)));
    let mut lines: Vec<_> = owned.chain(unowned).collect();
    lines.sort_by_key(|(id, _)| *id);
    lines.into_iter().map(|(_, line)| line).collect()
}

fn unowned_line(unowned: &UnownedThread) -> ObservedLine<'_> {
    let UnownedThread { id, finding, status, line, url, outdated, .. } = unowned;
    ObservedLine {
        thread: ThreadLine::unowned(id, *status),
        path: &finding.path,
        line: *line,
        title: &finding.title,
        category: finding.category,
        url: Some(url),
        outdated: *outdated,
        repeats: None,
        resolve_proposed: false,
        resolved_as_argument: false,
    }
}

fn shown_line<'a>(id: &'a ThreadId, shown: ThreadView<'a>, policy: &Policy) -> ObservedLine<'a> {
    let thread = shown.thread;
    ObservedLine {
        thread: ThreadLine::named(id, thread, policy),
        path: &thread.finding.path,
        line: shown.line(),
        title: &thread.finding.title,
        category: thread.finding.category,
        url: shown.url(),
        outdated: shown.outdated(),
        repeats: shown.repeats,
        resolve_proposed: shown.resolve_proposed,
        resolved_as_argument: shown.resolved_as_argument,
    }
}

fn phase_name(phase: &Phase) -> &'static str {
    match phase {
        Phase::Waiting => "waiting",
        Phase::WithAuthor => "with_author",
        Phase::Paused(_) => "paused",
        Phase::Ended(_) => "ended",
    }
}
