//! Observed reviewers on the machine (C8): a pull request as it was fetched, and what people decided about it here, become
//! threads with a stance, counters and legal actions, and one observation for the loop.
//!
//! The result is a function of what is known and of nothing else: neither the order of the lists nor which polls came before
//! makes a difference, so following a pull request and reading it afresh give the same answer. A thread belongs to the
//! reviewer that wrote its first comment; threads that people or strangers opened are no reviewer's, and the machine does not
//! run on them.

mod heads;
mod replay;
mod title;
mod wait;

pub use title::title;
pub use wait::observation;

use super::duplicates::DuplicateIndex;
use super::finding::{Destination, Finding, Thread};
use super::machine::{Decision, ResolvedBy, ThreadStatus};
use super::policy::Policy;
use super::post::{PostClass, PostPlace, PostReader};
use super::review_loop::PostContent;
use super::snapshot::{Account, AccountKind, PullRequestSnapshot, RequestedReviewer, ReviewThread};
use super::vocabulary::{ReviewerName, ThreadId};
use heads::Heads;
use jiff::Timestamp;
use replay::ReplayContext;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a pull request's history says about its observed reviewers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObservedPullRequest {
    /// The reviewers' threads, by id.
    pub threads: Vec<ObservedThread>,
    /// What they wrote into their latest reviews' bodies, where there is no thread to answer in.
    pub in_bodies: Vec<BodyFinding>,
    /// Heads that each has finished since the pull request was last reopened (C6).
    pub cycles: BTreeMap<ReviewerName, u32>,
}

/// A reviewer's thread, with what the forge alone knows about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedThread {
    pub thread: Thread,
    /// Where its code is now; absent once that is gone.
    pub line: Option<u32>,
    pub url: String,
    pub outdated: bool,
    /// The thread that raised the same finding first (D3). That one is where the argument is counted; this one shows the
    /// same state.
    pub repeats: Option<ThreadId>,
    /// The code was changed and the reviewer, done with a newer head, said nothing more about it.
    pub resolve_proposed: bool,
}

/// A finding that stands in a review's or comment's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyFinding {
    pub reviewer: ReviewerName,
    /// Its path is empty where the text names none.
    pub finding: Finding,
    pub url: String,
}

/// A thread that no recognised reviewer opened: a person's, an unknown bot's, a deleted account's. There is no stance to
/// follow and nobody to offer an action to, but whoever looks at the pull request should not miss it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnownedThread {
    pub id: ThreadId,
    /// Absent where the account was deleted.
    pub opened_by: Option<Account>,
    pub finding: Finding,
    pub status: ThreadStatus,
    pub line: Option<u32>,
    pub url: String,
    pub outdated: bool,
}

/// Something about a thread that the forge does not tell, with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadEvent {
    pub at: Timestamp,
    pub thread: ThreadId,
    pub what: ThreadEventKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadEventKind {
    /// A person decided it in Cloture.
    Act(Decision),
    /// A person said where it goes at the merge.
    Routed(Destination),
    /// It was thread resolved and later open again (R3).
    Reopened,
    HandedOff,
}

/// Folds the whole history. `events` may come in any order.
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
    let first = thread.opening()?;
    reads.reviewer(first.author.as_ref()?, &first.body)
}

/// The heads that each reviewer finished, each with the moment it first had.
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
    // A thread comes with a review, which may be one that says nothing else.
    for (reviewer, threads) in owned {
        for first in threads.iter().filter_map(|thread| thread.opening()) {
            finish(reviewer.clone(), heads.of_comment(first), first.created_at);
        }
    }
    finished
}

/// The findings in the body of each reviewer's latest post that holds any or says that there are none. What it repeats from a
/// thread of its own counts there.
fn in_bodies(
    snapshot: &PullRequestSnapshot,
    threads: &[ObservedThread],
    reads: &dyn PostReader,
    policy: &Policy,
) -> Vec<BodyFinding> {
    let reviews = snapshot.reviews.iter().map(|review| {
        (review.author.as_ref(), PostPlace::Review, &review.body, review.published_at(), &review.url)
    });
    let comments = snapshot.comments.iter().map(|comment| {
        (comment.author.as_ref(), PostPlace::Comment, &comment.body, comment.last_written_at(), &comment.url)
    });
    let mut latest: BTreeMap<ReviewerName, (Timestamp, &String, Vec<Finding>)> = BTreeMap::new();
    for (author, place, body, at, url) in reviews.chain(comments) {
        let Some(reviewer) = author.and_then(|author| reads.reviewer(author, body)) else { continue };
        let reading = reads.read(&reviewer, place, body);
        let reports = reading.content == PostContent::Complete
            && matches!(reading.class, PostClass::Finding | PostClass::Summary);
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

/// The threads that the machine does not run on, by id.
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

/// Only what is certainly a person counts as one: a deleted account and a kind invented later do not.
pub fn is_person(account: &Account) -> bool {
    matches!(account.kind, AccountKind::User | AccountKind::EnterpriseUser)
}

/// Every reviewer that left something on the pull request or was asked to. Its author is none, whoever it is.
pub fn reviewers(snapshot: &PullRequestSnapshot, reads: &dyn PostReader) -> BTreeSet<ReviewerName> {
    let reviews = snapshot.reviews.iter().map(|review| (review.author.as_ref(), review.body.as_str()));
    let comments = snapshot.comments.iter().map(|comment| (comment.author.as_ref(), comment.body.as_str()));
    let threads = snapshot.threads.iter().flat_map(|thread| &thread.comments);
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
