//! Converts GitHub's types to the domain's.

use super::identity::{self, Identity};
use super::poll::CheckDigest;
use super::wire;
use crate::domain::snapshot::{
    Account, AccountKind, Branch, Check, CheckOutcome, Comment, DiffSide, ForcePush, KnownNames, Minimized,
    PullRequestSnapshot, PullRequestState, PushEvidence, PushTime, RepositoryName, RequestedReviewer, Review,
    ReviewRequest, ReviewState, ReviewThread, ThreadComment, ThreadSubject, Visible,
};
use crate::domain::vocabulary::{Association, Sha};
use jiff::Timestamp;

/// A pull request with its lists, each read to its end.
pub(super) struct PullRequestParts {
    /// The name that was asked for.
    pub(super) asked: RepositoryName,
    pub(super) repository: RepositoryName,
    pub(super) repository_id: String,
    pub(super) pull_request: wire::WirePullRequest,
    pub(super) labels: Vec<wire::WireLabel>,
    pub(super) reviews: Vec<wire::WireReview>,
    pub(super) comments: Vec<wire::WireComment>,
    pub(super) threads: Vec<(wire::WireThread, Vec<wire::WireThreadComment>)>,
    pub(super) timeline: Vec<wire::WireTimelineItem>,
    pub(super) review_requests: Visible<Vec<wire::WireReviewRequest>>,
    pub(super) checks: Visible<CheckPages>,
}

/// The checks of the head, from all pages.
#[derive(Debug, Default)]
pub(super) struct CheckPages {
    pub(super) commit: Option<String>,
    pub(super) suites: Vec<wire::CheckSuite>,
    pub(super) contexts: Vec<wire::CheckContext>,
    pub(super) digest: Option<CheckDigest>,
}

impl PullRequestParts {
    pub(super) fn into_snapshot(self, us: Option<&Identity>) -> PullRequestSnapshot {
        let pull_request = self.pull_request;
        let force_pushes: Vec<ForcePush> = self.timeline.iter().filter_map(force_push).collect();
        let reopened_at = self
            .timeline
            .iter()
            .filter(|item| item.kind == "ReopenedEvent")
            .filter_map(|item| item.created_at)
            .max();
        let author = pull_request.author.as_ref().map(actor);
        let author_may_override = association(&pull_request.author_association).may_override();
        // Cloture itself reopens only if a person says so, even under a bot's account.
        let is_ours = |by: &wire::WireActor| identity::ours(us, Some(by), false);
        let may_reset = |by: &wire::WireActor| {
            let account = actor(by);
            let is_author = author.as_ref().is_some_and(|author| author.is_same(&account));
            (account.is_person() || is_ours(by)) && (!is_author || author_may_override)
        };
        let counts_from = self
            .timeline
            .iter()
            .filter(|item| item.kind == "ReopenedEvent" && item.actor.as_ref().is_some_and(may_reset))
            .filter_map(|item| item.created_at)
            .max();
        let head = Branch { name: pull_request.head_ref_name, sha: pull_request.head_ref_oid.into() };
        let pushed = push_time(&PushFacts {
            head: &head.sha,
            created_at: pull_request.created_at,
            updated_at: pull_request.updated_at,
            force_pushes: &force_pushes,
            first_suite: self.checks.seen().and_then(|checks| {
                let at_head = checks.commit.as_deref() == Some(head.sha.as_str());
                checks.suites.iter().map(|suite| suite.created_at).min().filter(|_| at_head)
            }),
            committed: pull_request
                .head_commit
                .nodes
                .iter()
                .flatten()
                .flatten()
                .find(|node| node.commit.oid == head.sha.as_str())
                .map(|node| node.commit.committed_date),
        });
        PullRequestSnapshot {
            known_as: KnownNames {
                filed_as: None,
                others: Some(self.asked).filter(|asked| *asked != self.repository).into_iter().collect(),
            },
            repository: self.repository,
            repository_id: self.repository_id,
            number: pull_request.number,
            node_id: pull_request.id,
            title: pull_request.title,
            body: pull_request.body,
            url: pull_request.url,
            written_by_us: identity::ours(us, pull_request.author.as_ref(), pull_request.viewer_did_author),
            author: pull_request.author.map(account),
            author_association: association(&pull_request.author_association),
            state: state(&pull_request.state, pull_request.merged),
            draft: pull_request.is_draft,
            base: Branch { name: pull_request.base_ref_name, sha: pull_request.base_ref_oid.into() },
            head,
            head_repository: pull_request
                .head_repository
                .and_then(|name| RepositoryName::parse(&name.name_with_owner)),
            pushed,
            created_at: pull_request.created_at,
            updated_at: pull_request.updated_at,
            merged_at: pull_request.merged_at,
            closed_at: pull_request.closed_at,
            reopened_at,
            counts_from,
            labels: self.labels.into_iter().map(|label| label.name).collect(),
            reviews: self.reviews.into_iter().map(|it| review(it, us)).collect(),
            comments: self.comments.into_iter().map(|it| comment(it, us)).collect(),
            threads: self.threads.into_iter().map(|(head, comments)| thread(head, comments, us)).collect(),
            force_pushes,
            review_requests: match self.review_requests {
                Visible::Seen(requests) => Visible::Seen(requests.into_iter().map(review_request).collect()),
                Visible::Hidden(reason) => Visible::Hidden(reason),
            },
            checks: match self.checks {
                Visible::Seen(pages) => Visible::Seen(checks(pages)),
                Visible::Hidden(reason) => Visible::Hidden(reason),
            },
            reactions: Vec::new(),
        }
    }
}

/// The evidence for the time of the last push.
struct PushFacts<'a> {
    head: &'a Sha,
    created_at: Timestamp,
    updated_at: Timestamp,
    force_pushes: &'a [ForcePush],
    first_suite: Option<Timestamp>,
    committed: Option<Timestamp>,
}

/// Estimates when the head was pushed. GitHub no longer says so (`Commit.pushedDate` is gone). In order of
/// trust:
///
/// 1. the force-push event that led to this head: exactly this push, on GitHub's clock;
/// 2. the head's first check suite: GitHub creates it when the push arrives, but only if an app or Actions is
///    installed and the token may read checks;
/// 3. the commit date: it comes from the committer's clock and may be wrong in both directions, so it is
///    limited to the time between the pull request's creation and its last update.
///
/// The result is never before the pull request was opened. An estimate that is too early could let an old
/// comment count for a new head.
fn push_time(facts: &PushFacts<'_>) -> PushTime {
    let forced =
        facts.force_pushes.iter().filter(|push| push.after.as_ref() == Some(facts.head)).map(|push| push.at);
    let (at, evidence) = if let Some(at) = forced.max() {
        (at, PushEvidence::ForcePush)
    } else if let Some(at) = facts.first_suite {
        (at, PushEvidence::CheckSuite)
    } else if let Some(at) = facts.committed {
        (at.min(facts.updated_at), PushEvidence::CommitDate)
    } else {
        (facts.created_at, PushEvidence::Opened)
    };
    if at <= facts.created_at {
        PushTime { at: facts.created_at, evidence: PushEvidence::Opened }
    } else {
        PushTime { at, evidence }
    }
}

pub(super) fn account(actor: wire::WireActor) -> Account {
    Account {
        login: actor.login.into(),
        kind: match actor.kind.as_str() {
            "Bot" => AccountKind::Bot,
            "User" => AccountKind::User,
            "Organization" => AccountKind::Organization,
            "Mannequin" => AccountKind::Mannequin,
            "EnterpriseUserAccount" => AccountKind::EnterpriseUser,
            _ => AccountKind::Other,
        },
        database_id: actor.database_id,
    }
}

fn actor(of: &wire::WireActor) -> Account {
    let wire::WireActor { kind, login, database_id } = of;
    account(wire::WireActor { kind: kind.clone(), login: login.clone(), database_id: *database_id })
}

/// An unknown association gives no rights.
fn association(word: &str) -> Association {
    match word {
        "OWNER" => Association::Owner,
        "MEMBER" => Association::Member,
        "COLLABORATOR" => Association::Collaborator,
        "CONTRIBUTOR" => Association::Contributor,
        "FIRST_TIME_CONTRIBUTOR" => Association::FirstTimeContributor,
        "FIRST_TIMER" => Association::FirstTimer,
        "MANNEQUIN" => Association::Mannequin,
        _ => Association::None,
    }
}

pub(super) fn state(word: &str, merged: bool) -> PullRequestState {
    match word {
        "MERGED" => PullRequestState::Merged,
        _ if merged => PullRequestState::Merged,
        "CLOSED" => PullRequestState::Closed,
        _ => PullRequestState::Open,
    }
}

pub(super) fn review_state(word: &str) -> ReviewState {
    match word {
        "APPROVED" => ReviewState::Approved,
        "CHANGES_REQUESTED" => ReviewState::ChangesRequested,
        "COMMENTED" => ReviewState::Commented,
        "DISMISSED" => ReviewState::Dismissed,
        "PENDING" => ReviewState::Pending,
        _ => ReviewState::Other,
    }
}

fn review(review: wire::WireReview, us: Option<&Identity>) -> Review {
    Review {
        id: review.id,
        written_by_us: identity::ours(us, review.author.as_ref(), review.viewer_did_author),
        author: review.author.map(account),
        association: association(&review.author_association),
        state: review_state(&review.state),
        body: review.body,
        submitted_at: review.submitted_at,
        created_at: review.created_at,
        updated_at: review.updated_at,
        edited_at: review.last_edited_at,
        commit: review.commit.map(|commit| commit.oid.into()),
        minimized: review.is_minimized,
        url: review.url,
    }
}

fn comment(comment: wire::WireComment, us: Option<&Identity>) -> Comment {
    Comment {
        id: comment.id,
        written_by_us: identity::ours(us, comment.author.as_ref(), comment.viewer_did_author),
        author: comment.author.map(account),
        association: association(&comment.author_association),
        body: comment.body,
        created_at: comment.created_at,
        updated_at: comment.updated_at,
        edited_at: comment.last_edited_at,
        minimized: comment.is_minimized.then_some(Minimized { reason: comment.minimized_reason }),
        url: comment.url,
    }
}

fn thread(
    thread: wire::WireThread,
    comments: Vec<wire::WireThreadComment>,
    us: Option<&Identity>,
) -> ReviewThread {
    ReviewThread {
        id: thread.id.into(),
        path: thread.path.into(),
        line: thread.line,
        start_line: thread.start_line,
        original_line: thread.original_line,
        original_start_line: thread.original_start_line,
        side: if thread.diff_side == "LEFT" { DiffSide::Left } else { DiffSide::Right },
        subject: if thread.subject_type == "FILE" { ThreadSubject::File } else { ThreadSubject::Line },
        outdated: thread.is_outdated,
        resolved: thread.is_resolved,
        resolved_by: thread.resolved_by.map(account),
        viewer_can_reply: thread.viewer_can_reply,
        viewer_can_resolve: thread.viewer_can_resolve,
        viewer_can_unresolve: thread.viewer_can_unresolve,
        // Shrunk, because the parsed vectors have several times the capacity that they need.
        comments: comments.into_iter().map(|it| thread_comment(it, us)).collect::<Box<[_]>>().into_vec(),
    }
}

fn thread_comment(comment: wire::WireThreadComment, us: Option<&Identity>) -> ThreadComment {
    ThreadComment {
        id: comment.id,
        written_by_us: identity::ours(us, comment.author.as_ref(), comment.viewer_did_author),
        author: comment.author.map(account),
        association: association(&comment.author_association),
        body: comment.body,
        diff_hunk: comment.diff_hunk,
        created_at: comment.created_at,
        updated_at: comment.updated_at,
        edited_at: comment.last_edited_at,
        commit: comment.commit.map(|commit| commit.oid.into()),
        original_commit: comment.original_commit.map(|commit| commit.oid.into()),
        reply_to: comment.reply_to.map(|parent| parent.id),
        review: comment.pull_request_review.map(|review| review.id),
        minimized: comment.is_minimized.then_some(Minimized { reason: comment.minimized_reason }),
        pending: comment.state == "PENDING",
        url: comment.url,
    }
}

fn force_push(item: &wire::WireTimelineItem) -> Option<ForcePush> {
    let sha = |commit: &Option<wire::WireOid>| commit.as_ref().map(|commit| Sha::from(commit.oid.as_str()));
    (item.kind == "HeadRefForcePushedEvent").then_some(())?;
    Some(ForcePush {
        at: item.created_at?,
        actor: item.actor.as_ref().map(actor),
        before: sha(&item.before_commit),
        after: sha(&item.after_commit),
    })
}

fn review_request(request: wire::WireReviewRequest) -> ReviewRequest {
    let reviewer = match request.requested_reviewer {
        Some(wire::WireRequestedReviewer { kind, login: Some(login), database_id, .. }) => {
            RequestedReviewer::Account(account(wire::WireActor { kind, login, database_id }))
        }
        Some(wire::WireRequestedReviewer { combined_slug: Some(slug), .. }) => RequestedReviewer::Team(slug),
        _ => RequestedReviewer::Unknown,
    };
    ReviewRequest { reviewer, as_code_owner: request.as_code_owner }
}

fn checks(pages: CheckPages) -> Vec<Check> {
    let Some(commit) = pages.commit.map(Sha::from) else { return Vec::new() };
    pages.contexts.into_iter().filter_map(|context| check(context, &commit)).collect()
}

fn check(context: wire::CheckContext, commit: &Sha) -> Option<Check> {
    let app = context.check_suite.and_then(|suite| suite.app);
    if context.kind == "CheckRun" {
        return Some(Check {
            name: context.name?,
            app_id: app.as_ref().and_then(|app| app.database_id),
            app: app.map(|app| app.slug),
            outcome: match (context.status.as_deref(), context.conclusion.as_deref()) {
                (Some("COMPLETED"), Some("SUCCESS")) => CheckOutcome::Passed,
                (
                    Some("COMPLETED"),
                    Some("FAILURE" | "TIMED_OUT" | "STARTUP_FAILURE" | "ACTION_REQUIRED"),
                ) => CheckOutcome::Failed,
                (Some("COMPLETED"), _) => CheckOutcome::Neither,
                _ => CheckOutcome::Running,
            },
            title: context.title,
            summary: context.summary,
            commit: commit.clone(),
            started_at: context.started_at,
            completed_at: context.completed_at,
            url: context.details_url,
        });
    }
    let outcome = match context.state.as_deref() {
        Some("SUCCESS") => CheckOutcome::Passed,
        Some("FAILURE" | "ERROR") => CheckOutcome::Failed,
        Some("PENDING" | "EXPECTED") => CheckOutcome::Running,
        _ => CheckOutcome::Neither,
    };
    Some(Check {
        name: context.context?,
        app: context.creator.map(|creator| creator.login),
        app_id: None,
        outcome,
        title: context.description,
        summary: None,
        commit: commit.clone(),
        started_at: context.created_at,
        completed_at: context.created_at.filter(|_| outcome != CheckOutcome::Running),
        url: context.target_url,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_push_time_comes_from_the_most_trusted_evidence() {
        let head = Sha::from("new");
        let push = |after: &str, second| ForcePush {
            at: at(second),
            actor: None,
            before: None,
            after: Some(after.into()),
        };
        let forced = [push("old", 50), push("new", 60)];
        let facts = |force_pushes, first_suite: Option<i64>, committed: Option<i64>| {
            let facts = PushFacts {
                head: &head,
                created_at: at(10),
                updated_at: at(100),
                force_pushes,
                first_suite: first_suite.map(at),
                committed: committed.map(at),
            };
            let PushTime { at, evidence } = push_time(&facts);
            (at.as_second(), evidence)
        };
        assert_eq!(facts(&forced, Some(70), Some(20)), (60, PushEvidence::ForcePush));
        assert_eq!(facts(&forced[..1], Some(70), Some(20)), (70, PushEvidence::CheckSuite));
        assert_eq!(facts(&[], None, Some(20)), (20, PushEvidence::CommitDate));
        assert_eq!(
            facts(&[], None, Some(5)),
            (10, PushEvidence::Opened),
            "committed before the PR was opened"
        );
        assert_eq!(facts(&[], None, Some(5_000)), (100, PushEvidence::CommitDate), "a clock that runs ahead");
        assert_eq!(facts(&[], None, None), (10, PushEvidence::Opened));
    }
}
