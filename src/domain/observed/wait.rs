//! Turns a snapshot into the loop's observation (L): which reviewer posted about which commit, and whether
//! anything is left to fix.

use super::ObservedPullRequest;
use crate::domain::actionable::{SkipReason, must_be_fixed, reason_to_skip};
use crate::domain::finding::{Finding, Thread};
use crate::domain::machine::EscalatedBy;
use crate::domain::post::{ParsedPost, PostClass, PostPlace, PostReader, PostThreads};
use crate::domain::re_review::{BreakGlassComment, BreakGlassRules, PostedWords, broken_glass};
use crate::domain::review_loop::{AuthorState, Observation, PostContent, PostKind, ReviewerPost, WaitAnchor};
use crate::domain::snapshot::{
    Account, AccountKind, Check, CheckOutcome, Comment, PullRequestSnapshot, Reaction, Review, ReviewState,
    ReviewThread, ThreadComment,
};
use crate::domain::vocabulary::{ReviewerName, Sha, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// The input of the loop as far as GitHub alone knows it. The caller adds the parts that come from the
/// configuration and the journal.
pub fn observation(
    snapshot: &PullRequestSnapshot,
    observed: &ObservedPullRequest,
    reads: &dyn PostReader,
    break_glass: &BreakGlassRules,
) -> Observation {
    let labels = snapshot.labels.iter().map(String::as_str);
    Observation {
        state: snapshot.state,
        anchor: WaitAnchor { head: snapshot.head.sha.clone(), pushed_at: snapshot.pushed.at },
        reopened_at: snapshot.reopened_at,
        counts_from: snapshot.counts_from,
        expected: BTreeSet::new(),
        exhausted: BTreeSet::new(),
        asks_spent: BTreeSet::new(),
        expects_anybody: false,
        posts: posts(snapshot, reads),
        broken_glass: broken_glass(reads, break_glass, labels, comments_by_accounts(snapshot)),
        to_fix: u32::try_from(to_fix(observed).count() + to_fix_in_bodies(observed)).unwrap_or(u32::MAX),
        for_person: Vec::new(),
        author: AuthorState::Absent,
        rounds_on_forge: rounds(snapshot, reads),
        rounds_recorded: 0,
        granted: 0,
    }
}

/// C6: once Cloture may not ask a reviewer any more and its review of the head is missing, its open threads go to a
/// person. Should the reviewer still come by itself, they go on.
pub fn cut_off_unasked(observed: &mut ObservedPullRequest, seen: &Observation) {
    let missing = seen.arrivals().missing;
    let is_unasked =
        |reviewer: &ReviewerName| seen.asks_spent.contains(reviewer) && missing.contains(reviewer);
    for observed in observed.threads.iter_mut().filter(|observed| is_unasked(&observed.thread.reviewer)) {
        if !observed.resolve_proposed {
            observed.thread.machine.cut_off(EscalatedBy::IterationCap);
        }
    }
}

/// L7 for observed bots: a finding of unknown severity may be grave, so only a plain matter of taste does not
/// count. Neither does a finding that the author seems to have fixed. An upheld finding always counts (T6).
pub fn to_fix(observed: &ObservedPullRequest) -> impl Iterator<Item = &ThreadId> {
    let threads = observed.threads.iter().filter(|o| o.repeats.is_none() && !o.resolve_proposed);
    let threads = threads.map(|o| &o.thread);
    let counts = |thread: &&Thread| {
        must_be_fixed(thread) || thread.machine.is_open() && may_need_a_fix(&thread.finding)
    };
    threads.filter(counts).map(|thread| &thread.id)
}

/// The same for findings without a thread.
pub fn to_fix_in_bodies(observed: &ObservedPullRequest) -> usize {
    observed.in_bodies.iter().filter(|body| may_need_a_fix(&body.finding)).count()
}

fn may_need_a_fix(finding: &Finding) -> bool {
    !matches!(reason_to_skip(finding), Some(SkipReason::Style | SkipReason::BareConsideration))
}

/// All posts of recognised reviewers, sorted by time.
pub(super) fn posts(snapshot: &PullRequestSnapshot, reads: &dyn PostReader) -> Vec<ReviewerPost> {
    let reader = PostsReader::new(snapshot, reads);
    let reviews = snapshot.reviews.iter().filter_map(|review| of_review(review, &reader));
    let comments = snapshot.comments.iter().flat_map(|comment| of_comment(comment, &reader));
    let checks = snapshot.checks.seen().into_iter().flatten();
    let checks = checks.filter_map(|check| of_check(snapshot, check, reads));
    let reactions = snapshot.reactions.iter().filter_map(|reaction| of_reaction(reaction, reads));
    let mut posts: Vec<ReviewerPost> = reviews.chain(comments).chain(checks).chain(reactions).collect();
    posts.sort_by(|a, b| (a.at, &a.reviewer).cmp(&(b.at, &b.reviewer)));
    posts
}

/// L3: a review without text, verdict and threads is not ready yet. A review that says it failed is a
/// failure, whatever its state.
fn of_review(review: &Review, reader: &PostsReader<'_>) -> Option<ReviewerPost> {
    if review.state == ReviewState::Pending {
        return None;
    }
    let (reviewer, reading, content) = reader.review(review)?;
    let is_verdict = matches!(review.state, ReviewState::Approved | ReviewState::ChangesRequested);
    Some(ReviewerPost {
        reviewer,
        kind: PostKind::Review(content),
        at: review.published_at(),
        commit: review.commit.clone().or(reading.commit),
        url: Some(review.url.clone()),
        aside: reading.aside || review.body.trim().is_empty() && !is_verdict,
    })
}

/// The time of a comment is that of its last edit, because the edit may have replaced the text. A status
/// table makes a post of each row, because each row names its own commit.
fn of_comment(comment: &Comment, reader: &PostsReader<'_>) -> Vec<ReviewerPost> {
    let Some((reviewer, reading, content)) = reader.comment(comment) else { return Vec::new() };
    let post = |content: &PostContent, commit: &Option<Sha>| ReviewerPost {
        reviewer: reviewer.clone(),
        kind: PostKind::Comment(content.clone()),
        at: comment.last_written_at(),
        commit: commit.clone(),
        url: Some(comment.url.clone()),
        aside: reading.aside,
    };
    if reading.status.is_empty() {
        vec![post(&content, &reading.commit)]
    } else {
        reading.status.iter().map(|row| post(&row.content, &row.commit)).collect()
    }
}

/// Reads reviews and comments, and decides with their threads whether each is a finished review (L3).
pub(super) struct PostsReader<'a> {
    snapshot: &'a PullRequestSnapshot,
    reads: &'a dyn PostReader,
    /// Each reviewer's threads with their first comments.
    threads: BTreeMap<ReviewerName, Vec<(&'a ReviewThread, &'a ThreadComment)>>,
    /// Some reviewers post each inline comment alone. GitHub wraps it in a review without text.
    empty_reviews: BTreeSet<&'a str>,
}

impl<'a> PostsReader<'a> {
    pub(super) fn new(snapshot: &'a PullRequestSnapshot, reads: &'a dyn PostReader) -> PostsReader<'a> {
        let mut threads: BTreeMap<ReviewerName, Vec<_>> = BTreeMap::new();
        for thread in &snapshot.threads {
            let Some(first) = thread.opening() else { continue };
            let Some(author) = first.author.as_ref().filter(|_| !first.is_posted_by_cloture()) else {
                continue;
            };
            if let Some(reviewer) = reads.reviewer(author, &first.body) {
                threads.entry(reviewer).or_default().push((thread, first));
            }
        }
        let empty = snapshot.reviews.iter().filter(|review| review.body.trim().is_empty());
        let empty_reviews = empty.map(|review| review.id.as_str()).collect();
        PostsReader { snapshot, reads, threads, empty_reviews }
    }

    pub(super) fn review(&self, review: &Review) -> Option<(ReviewerName, ParsedPost, PostContent)> {
        let author = review.author.as_ref().filter(|_| !review.is_posted_by_cloture())?;
        let reviewer = self.reads.reviewer(author, &review.body)?;
        let reading = if review.body.trim().is_empty() {
            ParsedPost::without_result(PostClass::Noise, PostContent::NotReady)
        } else {
            self.reads.read(&reviewer, PostPlace::Review, &review.body)
        };
        let mut threads = PostThreads::default();
        for (thread, first) in self.threads.get(&reviewer).into_iter().flatten() {
            if first.review.as_ref() == Some(&review.id) && first.reply_to.is_none() {
                threads.opened += 1;
            } else if lists(&reading, thread)
                || !thread.resolved
                || first.original_commit == review.commit && self.is_posted_alone(first)
            {
                threads.others += 1;
            }
        }
        let content = reading.content_with(threads, Some(review.state));
        Some((reviewer, reading, content))
    }

    /// A comment's announced number may be that of the threads at the same head.
    pub(super) fn comment(&self, comment: &Comment) -> Option<(ReviewerName, ParsedPost, PostContent)> {
        let author = comment.author.as_ref().filter(|_| !comment.is_posted_by_cloture())?;
        let reviewer = self.reads.reviewer(author, &comment.body)?;
        let reading = self.reads.read(&reviewer, PostPlace::Comment, &comment.body);
        if matches!(reading.class, PostClass::Noise | PostClass::Reply) {
            let is_complete = reading.content == PostContent::Complete;
            let content = if is_complete { PostContent::NotReady } else { reading.content.clone() };
            return Some((reviewer, reading, content));
        }
        let head = Some(&self.snapshot.head.sha);
        let threads = self.threads.get(&reviewer).into_iter().flatten();
        let others = threads.filter(|(thread, first)| {
            lists(&reading, thread) || !thread.resolved || first.original_commit.as_ref() == head
        });
        let others = others.count();
        let content = reading.content_with(PostThreads { opened: 0, others }, None);
        Some((reviewer, reading, content))
    }

    fn is_posted_alone(&self, first: &ThreadComment) -> bool {
        first.review.as_deref().is_none_or(|review| self.empty_reviews.contains(review))
    }
}

/// Whether the post links to the thread.
fn lists(reading: &ParsedPost, thread: &ReviewThread) -> bool {
    let listed = &reading.claim.listed_threads;
    let is_listed = |comment: &ThreadComment| {
        let address = comment.url.rsplit('#').next().unwrap_or_default();
        listed.iter().any(|thread| thread == address)
    };
    !listed.is_empty() && thread.comments.iter().any(is_listed)
}

/// A reaction names no commit, so only its time tells which head it is about.
fn of_reaction(reaction: &Reaction, reads: &dyn PostReader) -> Option<ReviewerPost> {
    let reviewer = reads.reviewer(&reaction.by, "")?;
    let kind = PostKind::Reaction(reads.reaction(&reviewer, &reaction.content)?);
    Some(ReviewerPost { reviewer, kind, at: reaction.at, commit: None, url: None, aside: false })
}

/// A check run names its app. The app's slug is the bot's login.
fn of_check(snapshot: &PullRequestSnapshot, check: &Check, reads: &dyn PostReader) -> Option<ReviewerPost> {
    let login = check.app.as_deref()?.into();
    let reviewer = reads.reviewer(&Account { login, kind: AccountKind::Bot, database_id: None }, "")?;
    let kind = match check.outcome {
        CheckOutcome::Failed => {
            let reason = check.title.clone().unwrap_or_else(|| format!("its check {} failed", check.name));
            PostKind::CheckRunFailed(reason)
        }
        CheckOutcome::Passed if reads.passes_by_check(&reviewer) => PostKind::Review(PostContent::Complete),
        CheckOutcome::Passed | CheckOutcome::Running | CheckOutcome::Neither => return None,
    };
    let at = check.completed_at.or(check.started_at).unwrap_or(snapshot.pushed.at);
    let (commit, url) = (Some(check.commit.clone()), check.url.clone());
    Some(ReviewerPost { reviewer, kind, at, commit, url, aside: false })
}

/// All published comments with a known author, on the pull request and in its threads.
fn comments_by_accounts(snapshot: &PullRequestSnapshot) -> Vec<BreakGlassComment<'_>> {
    let comments = snapshot.comments.iter().map(|c| (&c.author, PostedWords::from(c)));
    let in_threads = snapshot.threads.iter().flat_map(|thread| &thread.comments).filter(|c| !c.pending);
    let in_threads = in_threads.map(|c| (&c.author, PostedWords::from(c)));
    let comments = comments.chain(in_threads);
    comments
        .filter_map(|(author, words)| Some(BreakGlassComment { by: &author.as_ref()?.login, words }))
        .collect()
}

/// L6: request-changes verdicts of reviewers since the last reopening by somebody who may override.
fn rounds(snapshot: &PullRequestSnapshot, reads: &dyn PostReader) -> u32 {
    let verdicts = snapshot.reviews.iter().filter(|review| {
        review.state == ReviewState::ChangesRequested
            && snapshot.counts_from.is_none_or(|reopened| review.published_at() > reopened)
            && review.author.as_ref().and_then(|author| reads.reviewer(author, &review.body)).is_some()
    });
    u32::try_from(verdicts.count()).unwrap_or(u32::MAX)
}
