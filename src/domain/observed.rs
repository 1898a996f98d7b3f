//! The observed bots' half of a pull request (C8): replays GitHub's history through the thread machine.
//!
//! The result depends only on the snapshot and the recorded events, not on the order of lists or on earlier
//! polls. So following a pull request and reading it afresh give the same state. A thread belongs to the
//! reviewer that wrote its first comment. Threads of people and unknown bots have no machine.

mod heads;
mod replay;
mod title;
mod wait;

pub use title::title;
pub use wait::{cut_off_unasked, observation, to_fix, to_fix_in_bodies};

use super::duplicates::DuplicateIndex;
use super::finding::{Destination, Finding, Thread};
use super::machine::{Decision, ResolvedBy, ThreadStatus};
use super::policy::Policy;
use super::post::{PostClass, PostReader};
use super::review_loop::PostContent;
use super::snapshot::{Account, PullRequestSnapshot, RequestedReviewer, ReviewThread};
use super::vocabulary::{ReviewerName, ThreadId};
use heads::Heads;
use jiff::Timestamp;
use replay::ReplayContext;
use std::collections::{BTreeMap, BTreeSet};
use wait::PostsReader;

/// The state of all observed reviewers on one pull request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObservedPullRequest {
    /// Sorted by id.
    pub threads: Vec<ObservedThread>,
    /// Findings in the body of each reviewer's latest post. They have no thread to reply in.
    pub in_bodies: Vec<BodyFinding>,
    /// Heads that each reviewer has finished since the last reopening (C6).
    pub cycles: BTreeMap<ReviewerName, u32>,
}

/// A reviewer's thread, with details that only GitHub has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedThread {
    pub thread: Thread,
    /// Where its code is now; none if the code is gone.
    pub line: Option<u32>,
    pub url: String,
    pub outdated: bool,
    /// D3: the thread that raised the same finding first. That thread counts the rounds; this one shows the
    /// same state.
    pub repeats: Option<ThreadId>,
    /// The code changed, and the reviewer finished a newer head without mentioning the finding (C8).
    pub resolve_proposed: bool,
    /// D4, D5: GitHub shows the thread resolved, although the finding is unsettled: the reviewer raised it again.
    pub raised_again: Option<RaisedAgain>,
}

/// A finding that was raised again in a new thread after its first thread was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaisedAgain {
    /// The new thread.
    pub by: ThreadId,
    /// A person had resolved the first thread (D4), and not the reviewer (D5).
    pub resolved_by_person: bool,
}

/// A finding in the body of a review or comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyFinding {
    pub reviewer: ReviewerName,
    /// Its path is empty if the text names no file.
    pub finding: Finding,
    pub url: String,
}

/// A thread that no recognised reviewer opened: a person's, an unknown bot's or a deleted account's. It has
/// no stance and no legal actions, but the screen must show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnownedThread {
    pub id: ThreadId,
    /// None if the account was deleted.
    pub opened_by: Option<Account>,
    pub finding: Finding,
    pub status: ThreadStatus,
    pub line: Option<u32>,
    pub url: String,
    pub outdated: bool,
}

/// An event of a thread that GitHub does not know, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadEvent {
    pub at: Timestamp,
    pub thread: ThreadId,
    pub what: ThreadEventKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadEventKind {
    /// A person decided in Cloture.
    Act(Decision),
    /// A person chose the handoff target.
    Routed(Destination),
    /// T6: a person undid their last act on the finding that is not undone yet.
    Undone,
    /// GitHub showed the thread unresolved. GitHub does not say when a thread was resolved; this tells that it
    /// was later.
    Unresolved,
    /// Cloture resolved the thread on GitHub as a duplicate (D3), or because its code changed and the reviewer
    /// let it go (C8). GitHub names Cloture's account as a person.
    ResolvedByEngine,
    /// D4, D5: GitHub showed the thread resolved when the finding was raised again. Cloture opens it again then,
    /// and GitHub does not say afterwards that it was resolved.
    RaisedAgain(RaisedAgain),
    /// R3: an earlier snapshot showed the thread resolved, a later one open.
    Reopened,
    HandedOff,
    /// H1: the pull request was merged, so its queue is empty.
    QueueDiscarded,
    /// H1: the pull request was closed, so its queue is empty until somebody reopens it.
    QueueSuspended,
    /// H1: the pull request was reopened, so the finding is queued again if it was queued at the close.
    QueueRestored,
}

/// Replays the whole history. `events` may be in any order.
pub fn observe(
    snapshot: &PullRequestSnapshot,
    events: &[ThreadEvent],
    reads: &dyn PostReader,
    policy: &Policy,
) -> ObservedPullRequest {
    let heads = Heads::of(snapshot);
    let context = ReplayContext { snapshot, heads: &heads, reads, policy };
    let mut owned: BTreeMap<ReviewerName, Vec<&ReviewThread>> = BTreeMap::new();
    for thread in &snapshot.threads {
        if let Some(owner) = owner(thread, reads) {
            owned.entry(owner).or_default().push(thread);
        }
    }
    let mut finished = finished(snapshot, &owned, &heads, reads);
    let mut observed = ObservedPullRequest::default();
    for reviewer in owned.keys().chain(finished.keys()).cloned().collect::<BTreeSet<_>>() {
        let finished = finished.remove(&reviewer).unwrap_or_default();
        let threads = owned.remove(&reviewer).unwrap_or_default();
        let (threads, cycles) = replay::replay_reviewer(&reviewer, &threads, &finished, events, &context);
        observed.threads.extend(threads);
        observed.cycles.insert(reviewer, cycles);
    }
    observed.threads.sort_by(|a, b| a.thread.id.cmp(&b.thread.id));
    observed.in_bodies = in_bodies(snapshot, &observed.threads, reads, policy);
    observed
}

fn owner(thread: &ReviewThread, reads: &dyn PostReader) -> Option<ReviewerName> {
    // Cloture may post under an account that an observed bot uses too.
    let first = thread.opening().filter(|first| !first.is_posted_by_cloture())?;
    reads.reviewer(first.author.as_ref()?, &first.body)
}

/// The heads that each reviewer finished, each with the earliest time.
fn finished(
    snapshot: &PullRequestSnapshot,
    owned: &BTreeMap<ReviewerName, Vec<&ReviewThread>>,
    heads: &Heads<'_>,
    reads: &dyn PostReader,
) -> BTreeMap<ReviewerName, BTreeMap<usize, Timestamp>> {
    let mut finished: BTreeMap<ReviewerName, BTreeMap<usize, Timestamp>> = BTreeMap::new();
    let mut finish = |reviewer: ReviewerName, head: usize, at: Timestamp| {
        let first = finished.entry(reviewer).or_default().entry(head).or_insert(at);
        *first = at.min(*first);
    };
    for post in wait::posts(snapshot, reads) {
        if post.is_complete()
            && snapshot.author.as_ref().and_then(|a| reads.reviewer(a, "")) != Some(post.reviewer.clone())
        {
            finish(post.reviewer.clone(), heads.of_post(&post), post.at);
        }
    }
    // A thread is part of a review, whose body may be empty.
    for (reviewer, threads) in owned {
        for first in threads.iter().filter_map(|thread| thread.opening()) {
            finish(reviewer.clone(), heads.of_comment(first), first.created_at);
        }
    }
    finished
}

/// The findings in the body of each reviewer's latest post that lists findings or says that there are none. A
/// finding that repeats a thread of the same reviewer counts in that thread.
fn in_bodies(
    snapshot: &PullRequestSnapshot,
    threads: &[ObservedThread],
    reads: &dyn PostReader,
    policy: &Policy,
) -> Vec<BodyFinding> {
    let reader = PostsReader::new(snapshot, reads);
    let reviews = snapshot.reviews.iter().filter_map(|review| {
        Some((reader.review(review)?, &review.body, review.published_at(), &review.url))
    });
    let comments = snapshot.comments.iter().filter_map(|comment| {
        Some((reader.comment(comment)?, &comment.body, comment.last_written_at(), &comment.url))
    });
    let mut latest: BTreeMap<ReviewerName, (Timestamp, &String, Vec<Finding>)> = BTreeMap::new();
    for ((reviewer, reading, content), body, at, url) in reviews.chain(comments) {
        let states_result = content == PostContent::Complete && !body.trim().is_empty();
        // A post that can only be read in part still tells its findings.
        let reports = matches!(reading.class, PostClass::Finding | PostClass::Summary)
            && (states_result || !reading.findings.is_empty());
        if !reports {
            continue;
        }
        let untitled = || title(body).into();
        let findings = reading.findings.into_iter().map(|reported| {
            let (path, lines) = (reported.path.clone().unwrap_or_else(|| "".into()), reported.lines);
            reported.at(path, lines, untitled)
        });
        let entry = (at, url, findings.collect());
        match latest.get(&reviewer) {
            Some((latest_at, latest_url, _)) if (*latest_at, *latest_url) > (at, url) => {}
            _ => {
                latest.insert(reviewer, entry);
            }
        }
    }
    let mut in_bodies = Vec::new();
    for (reviewer, (_, url, findings)) in latest {
        let mut own = DuplicateIndex::new(policy);
        for observed in threads.iter().filter(|observed| observed.thread.reviewer == reviewer) {
            own.add_thread((), &observed.thread.finding, &observed.thread.anchor);
        }
        let fresh = findings.into_iter().filter(|finding| own.overlaps(finding).is_empty());
        let fresh =
            fresh.map(|finding| BodyFinding { reviewer: reviewer.clone(), finding, url: url.clone() });
        in_bodies.extend(fresh);
    }
    in_bodies
}

/// The threads without a machine, sorted by id.
pub fn unowned(snapshot: &PullRequestSnapshot, reads: &dyn PostReader) -> Vec<UnownedThread> {
    let strangers = snapshot.threads.iter().filter(|thread| owner(thread, reads).is_none());
    let mut unowned: Vec<_> = strangers.filter_map(unowned_thread).collect();
    unowned.sort_by(|a, b| a.id.cmp(&b.id));
    unowned
}

fn unowned_thread(thread: &ReviewThread) -> Option<UnownedThread> {
    let first = thread.opening()?;
    Some(UnownedThread {
        id: thread.id.clone(),
        opened_by: first.author.clone(),
        finding: replay::finding(thread, first, None),
        status: if thread.resolved { ThreadStatus::Resolved(ResolvedBy::Person) } else { ThreadStatus::Open },
        line: thread.line,
        url: first.url.clone(),
        outdated: thread.outdated,
    })
}

/// Only known kinds of people's accounts count as people. A deleted account does not, nor a kind that GitHub
/// adds later.
pub fn is_person(account: &Account) -> bool {
    account.is_person()
}

/// Every reviewer that posted on the pull request or was requested. The author of the pull request is never
/// its reviewer.
pub fn reviewers(snapshot: &PullRequestSnapshot, reads: &dyn PostReader) -> BTreeSet<ReviewerName> {
    let reviews = snapshot.reviews.iter().filter(|review| !review.is_posted_by_cloture());
    let reviews = reviews.map(|review| (review.author.as_ref(), review.body.as_str()));
    let comments = snapshot.comments.iter().filter(|comment| !comment.is_posted_by_cloture());
    let comments = comments.map(|comment| (comment.author.as_ref(), comment.body.as_str()));
    let threads = snapshot.threads.iter().flat_map(|thread| &thread.comments);
    let threads = threads.filter(|comment| !comment.is_posted_by_cloture());
    let threads = threads.map(|comment| (comment.author.as_ref(), comment.body.as_str()));
    let requests = snapshot.review_requests.seen().into_iter().flatten();
    let requests = requests.map(|request| match &request.reviewer {
        RequestedReviewer::Account(account) => (Some(account), ""),
        RequestedReviewer::Team(_) | RequestedReviewer::Unknown => (None, ""),
    });
    let author = snapshot.author.as_ref().and_then(|author| reads.reviewer(author, ""));
    let posts = reviews.chain(comments).chain(threads).chain(requests);
    let mut reviewers: BTreeSet<_> =
        posts.filter_map(|(author, body)| reads.reviewer(author?, body)).collect();
    if let Some(author) = author {
        reviewers.remove(&author);
    }
    reviewers
}

#[cfg(test)]
mod tests;
