//! Observed reviewers on the machine (C8): a pull request as it was fetched becomes threads with a stance, counters and
//! legal actions, and one observation for the loop.
//!
//! What is folded is what a snapshot tells for certain. A thread belongs to the reviewer that wrote its first comment;
//! threads that people or strangers opened are no reviewer's, and the machine does not run on them. A later comment of the reviewer counts as one more
//! round if it was made on a newer head than the look before, and holds `seeks_change`: what a bot means by its words
//! is not read yet, and only a thread that was resolved is known to be accepted. For the same reason a bot's comment
//! on the pull request itself counts for nobody's review: it may just as well say that the review has begun. Findings
//! raised again in another thread are not folded together, and silence is not read as consent.
//!
//! The result does not depend on the order of the snapshot's lists.

mod heads;
mod title;

pub use title::title;

use super::actionable::{SkipReason, reason_to_skip};
use super::finding::{Finding, Thread};
use super::machine::{Decision, Machine, ResolvedBy, Status};
use super::place::LineRange;
use super::policy::Policy;
use super::pull_request::PrState;
use super::re_review::{BreakGlassRules, Remark, Reply, broken_glass};
use super::review_loop::{Content, Observation, Post, PostKind, WaitAnchor};
use super::snapshot::{
    Account, AccountKind, CheckOutcome, PullRequestSnapshot, PullRequestState, RequestedReviewer, Review,
    ReviewState, Thread as Seen, ThreadComment,
};
use super::vocabulary::{Action, Category, ReviewerName, Stance, ThreadId};
use heads::Heads;
use std::collections::BTreeSet;

/// Whose account it is, if a reviewer's. Passed in, because who is one is configured and not decided here.
pub type Recognise<'a> = dyn Fn(&Account) -> Option<ReviewerName> + 'a;

/// A reviewer's thread, with what the forge alone knows about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedThread {
    pub thread: Thread,
    /// Where its code is now; absent once that is gone.
    pub line: Option<u32>,
    pub url: String,
    pub outdated: bool,
}

/// A thread that no recognised reviewer opened: a person's, an unknown bot's, a deleted account's. There is no stance to
/// follow and nobody to offer an action to, but whoever looks at the pull request should not miss it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnownedThread {
    pub id: ThreadId,
    /// Absent where the account was deleted.
    pub opened_by: Option<Account>,
    pub finding: Finding,
    pub status: Status,
    pub line: Option<u32>,
    pub url: String,
    pub outdated: bool,
}

/// The threads that [`threads`] has no machine for, by id.
pub fn unowned(snapshot: &PullRequestSnapshot, recognise: &Recognise<'_>) -> Vec<UnownedThread> {
    let mut unowned: Vec<_> =
        snapshot.threads.iter().filter_map(|seen| unowned_thread(seen, recognise)).collect();
    unowned.sort_by(|a, b| a.id.cmp(&b.id));
    unowned
}

fn unowned_thread(seen: &Seen, recognise: &Recognise<'_>) -> Option<UnownedThread> {
    let said = seen.comments.iter().filter(|comment| !comment.pending);
    let first = said.min_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)))?;
    if first.author.as_ref().is_some_and(|author| recognise(author).is_some()) {
        return None;
    }
    Some(UnownedThread {
        id: seen.id.clone(),
        opened_by: first.author.clone(),
        finding: finding(seen, first),
        status: if seen.resolved { Status::Resolved(ResolvedBy::Person) } else { Status::Open },
        line: seen.line,
        url: first.url.clone(),
        outdated: seen.outdated,
    })
}

/// The reviewers' threads, by id.
pub fn threads(
    snapshot: &PullRequestSnapshot,
    recognise: &Recognise<'_>,
    policy: &Policy,
) -> Vec<ObservedThread> {
    let heads = Heads::of(snapshot);
    let mut threads: Vec<_> =
        snapshot.threads.iter().filter_map(|seen| fold(seen, &heads, recognise, policy)).collect();
    threads.sort_by(|a, b| a.thread.id.cmp(&b.thread.id));
    threads
}

/// One thread from its first comment to its last; none where it is not a reviewer's.
fn fold(
    seen: &Seen,
    heads: &Heads<'_>,
    recognise: &Recognise<'_>,
    policy: &Policy,
) -> Option<ObservedThread> {
    // A draft is visible to its writer alone and has been said to nobody.
    let mut comments: Vec<&ThreadComment> = seen.comments.iter().filter(|comment| !comment.pending).collect();
    comments.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
    let (first, later) = comments.split_first()?;
    let owner = recognise(first.author.as_ref()?)?;
    let is_owner = |account: &Account| recognise(account).as_ref() == Some(&owner);

    let mut thread = Thread::opened(seen.id.clone(), owner.clone(), finding(seen, first), false);
    let machine = &mut thread.machine;
    let mut last_look = heads.of_comment(first);
    for comment in later {
        if comment.author.as_ref().is_some_and(&is_owner) {
            let look = heads.of_comment(comment);
            if look > last_look && !seen.resolved {
                machine.hold(Stance::SeeksChange, policy);
            }
            last_look = last_look.max(look);
        } else {
            answer(machine, comment);
        }
    }
    if seen.resolved {
        let by_person = seen.resolved_by.as_ref().is_some_and(|by| is_person(by) && !is_owner(by));
        resolve(machine, by_person, policy);
    }
    Some(ObservedThread { thread, line: seen.line, url: first.url.clone(), outdated: seen.outdated })
}

fn finding(seen: &Seen, first: &ThreadComment) -> Finding {
    let last = seen.line.or(seen.original_line);
    let start = seen.start_line.or(seen.original_start_line).or(last);
    let lines = last.and_then(|last| LineRange::new(start.unwrap_or(last).min(last), last));
    Finding {
        path: seen.path.clone(),
        lines,
        title: title(&first.body).into(),
        body: first.body.as_str().into(),
        severity: None,
        category: Category::Other,
        suggestion: None,
        own_id: None,
    }
}

/// R3–R5: what somebody else's reply does to the thread.
fn answer(machine: &mut Machine, comment: &ThreadComment) {
    let by_person = comment.author.as_ref().is_some_and(is_person);
    let reply = Reply::read(!by_person, comment.association, &comment.body, None);
    if reply.is_override() {
        machine.overridden(reply.intent);
    }
}

/// The forge shows the thread as resolved. It cannot name a bot that resolved it, so nobody means the reviewer.
fn resolve(machine: &mut Machine, by_person: bool, policy: &Policy) {
    if machine.status.is_settled() {
        // Somebody who may had ended it with a reply; the click that followed adds nothing.
        return;
    }
    let looked = !by_person && machine.act(Stance::Accepts, Action::Resolve, policy).is_ok();
    if !looked {
        // A thread that is not settled can always be resolved by a person, so there is nothing to refuse.
        let _always_fits = machine.decide(Decision::Resolve);
    }
}

/// Only what is certainly a person counts as one: a deleted account and a kind invented later do not.
fn is_person(account: &Account) -> bool {
    matches!(account.kind, AccountKind::User | AccountKind::EnterpriseUser)
}

/// Every reviewer that left something on the pull request or was asked to. Its author is none, whoever it is.
pub fn reviewers(snapshot: &PullRequestSnapshot, recognise: &Recognise<'_>) -> BTreeSet<ReviewerName> {
    let reviews = snapshot.reviews.iter().filter_map(|review| review.author.as_ref());
    let comments = snapshot.comments.iter().filter_map(|comment| comment.author.as_ref());
    let threads = snapshot.threads.iter().flat_map(|thread| &thread.comments);
    let threads = threads.filter_map(|comment| comment.author.as_ref());
    let requests = snapshot.review_requests.seen().into_iter().flatten();
    let requests = requests.filter_map(|request| match &request.reviewer {
        RequestedReviewer::Account(account) => Some(account),
        RequestedReviewer::Team(_) | RequestedReviewer::Unknown => None,
    });
    let author = snapshot.author.as_ref().and_then(recognise);
    let mut reviewers: BTreeSet<_> =
        reviews.chain(comments).chain(threads).chain(requests).filter_map(recognise).collect();
    if let Some(author) = author {
        reviewers.remove(&author);
    }
    reviewers
}

/// What the loop is told about this moment. No author is configured for anything yet, so none is there.
pub fn observation(
    snapshot: &PullRequestSnapshot,
    threads: &[ObservedThread],
    recognise: &Recognise<'_>,
    break_glass: &BreakGlassRules,
) -> Observation {
    let mut posts: Vec<Post> =
        snapshot.reviews.iter().filter_map(|review| review_post(snapshot, review, recognise)).collect();
    posts.extend(comment_posts(snapshot, recognise));
    posts.extend(failed_checks(snapshot, recognise));
    posts.sort_by(|a, b| (a.at, &a.reviewer).cmp(&(b.at, &b.reviewer)));
    let labels = snapshot.labels.iter().map(String::as_str);
    Observation {
        state: match snapshot.state {
            PullRequestState::Open => PrState::Open,
            PullRequestState::Closed => PrState::Closed,
            PullRequestState::Merged => PrState::Merged,
        },
        anchor: WaitAnchor { head: snapshot.head.sha.clone(), pushed_at: snapshot.pushed.at },
        posts,
        broken_glass: broken_glass(break_glass, labels, remarks(snapshot)),
        something_to_fix: threads.iter().any(|observed| may_need_a_fix(&observed.thread)),
        has_author: false,
        rounds_on_forge: rounds(snapshot, recognise),
    }
}

/// L7, as far as it can be told: a finding of unknown severity may be grave, so only what is plainly a matter of
/// taste is left out.
fn may_need_a_fix(thread: &Thread) -> bool {
    let reason = reason_to_skip(&thread.finding);
    thread.machine.is_open() && !matches!(reason, Some(SkipReason::Style | SkipReason::BareConsideration))
}

/// L3: a review that neither says nor decides anything, and has no threads, is not ready yet.
fn review_post(snapshot: &PullRequestSnapshot, review: &Review, recognise: &Recognise<'_>) -> Option<Post> {
    if review.state == ReviewState::Pending {
        return None;
    }
    let reviewer = recognise(review.author.as_ref()?)?;
    let mut comments = snapshot.threads.iter().flat_map(|thread| &thread.comments);
    let says_something = !review.body.trim().is_empty()
        || matches!(review.state, ReviewState::Approved | ReviewState::ChangesRequested)
        || comments.any(|comment| comment.review.as_ref() == Some(&review.id) && comment.reply_to.is_none());
    let content = if says_something { Content::Complete } else { Content::NotReady };
    let at = review.submitted_at.unwrap_or(review.created_at);
    Some(Post { reviewer, kind: PostKind::Review(content), at, commit: review.commit.clone() })
}

fn comment_posts(snapshot: &PullRequestSnapshot, recognise: &Recognise<'_>) -> Vec<Post> {
    let by_reviewers = snapshot
        .comments
        .iter()
        .filter_map(|comment| Some((recognise(comment.author.as_ref()?)?, comment.created_at)));
    by_reviewers
        .map(|(reviewer, at)| Post { reviewer, kind: PostKind::Comment(Content::NotReady), at, commit: None })
        .collect()
}

/// A check run names its app, which is the bot's account by another name.
fn failed_checks(snapshot: &PullRequestSnapshot, recognise: &Recognise<'_>) -> Vec<Post> {
    let checks = snapshot.checks.seen().into_iter().flatten();
    checks
        .filter(|check| check.outcome == CheckOutcome::Failed)
        .filter_map(|check| {
            let login = check.app.as_deref()?.into();
            let reviewer = recognise(&Account { login, kind: AccountKind::Bot, database_id: None })?;
            let reason = check.title.clone().unwrap_or_else(|| format!("its check {} failed", check.name));
            let at = check.completed_at.or(check.started_at).unwrap_or(snapshot.pushed.at);
            let commit = Some(check.commit.clone());
            Some(Post { reviewer, kind: PostKind::CheckRunFailed(reason), at, commit })
        })
        .collect()
}

/// What people said, on the pull request and in its threads.
fn remarks(snapshot: &PullRequestSnapshot) -> Vec<Remark<'_>> {
    let comments = snapshot.comments.iter().map(|c| (&c.author, c.association, &c.body));
    let in_threads = snapshot.threads.iter().flat_map(|thread| &thread.comments).filter(|c| !c.pending);
    let in_threads = in_threads.map(|c| (&c.author, c.association, &c.body));
    comments
        .chain(in_threads)
        .filter_map(|(author, association, body)| {
            let author = author.as_ref()?;
            Some(Remark { by: &author.login, by_bot: !is_person(author), association, body })
        })
        .collect()
}

/// L6: request-changes verdicts of reviewers since the last reopen.
fn rounds(snapshot: &PullRequestSnapshot, recognise: &Recognise<'_>) -> u32 {
    let verdicts = snapshot.reviews.iter().filter(|review| {
        let at = review.submitted_at.unwrap_or(review.created_at);
        review.state == ReviewState::ChangesRequested
            && snapshot.reopened_at.is_none_or(|reopened| at > reopened)
            && review.author.as_ref().and_then(recognise).is_some()
    });
    u32::try_from(verdicts.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
