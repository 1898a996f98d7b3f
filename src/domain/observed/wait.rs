//! Turns a snapshot into the loop's observation (L): which reviewer posted about which commit, and whether
//! anything is left to fix.

use super::{ObservedPullRequest, is_person};
use crate::domain::actionable::{SkipReason, reason_to_skip};
use crate::domain::finding::Finding;
use crate::domain::post::{PostClass, PostPlace, PostReader};
use crate::domain::re_review::{BreakGlassComment, BreakGlassRules, broken_glass};
use crate::domain::review_loop::{Observation, PostContent, PostKind, ReviewerPost, WaitAnchor};
use crate::domain::snapshot::{
    Account, AccountKind, Check, CheckOutcome, Comment, PullRequestSnapshot, Review, ReviewState,
};

/// The input of the loop for this snapshot.
pub fn observation(
    snapshot: &PullRequestSnapshot,
    observed: &ObservedPullRequest,
    reads: &dyn PostReader,
    break_glass: &BreakGlassRules,
    has_author: bool,
) -> Observation {
    let labels = snapshot.labels.iter().map(String::as_str);
    Observation {
        state: snapshot.state,
        anchor: WaitAnchor { head: snapshot.head.sha.clone(), pushed_at: snapshot.pushed.at },
        posts: posts(snapshot, reads),
        broken_glass: broken_glass(reads, break_glass, labels, comments_by_accounts(snapshot)),
        something_to_fix: something_to_fix(observed),
        has_author,
        rounds_on_forge: rounds(snapshot, reads),
    }
}

/// L7 for observed bots: a finding of unknown severity may be grave, so only a plain matter of taste does not
/// count. Neither does a finding that the author seems to have fixed.
fn something_to_fix(observed: &ObservedPullRequest) -> bool {
    let threads = observed.threads.iter().filter(|o| o.repeats.is_none() && !o.resolve_proposed);
    let mut open = threads.filter(|o| o.thread.machine.is_open()).map(|o| &o.thread.finding);
    open.any(may_need_a_fix) || observed.in_bodies.iter().any(|body| may_need_a_fix(&body.finding))
}

fn may_need_a_fix(finding: &Finding) -> bool {
    !matches!(reason_to_skip(finding), Some(SkipReason::Style | SkipReason::BareConsideration))
}

/// All posts of recognised reviewers, sorted by time.
pub(super) fn posts(snapshot: &PullRequestSnapshot, reads: &dyn PostReader) -> Vec<ReviewerPost> {
    let reviews = snapshot.reviews.iter().filter_map(|review| of_review(snapshot, review, reads));
    let comments = snapshot.comments.iter().filter_map(|comment| of_comment(comment, reads));
    let checks = snapshot.checks.seen().into_iter().flatten();
    let checks = checks.filter_map(|check| of_check(snapshot, check, reads));
    let mut posts: Vec<ReviewerPost> = reviews.chain(comments).chain(checks).collect();
    posts.sort_by(|a, b| (a.at, &a.reviewer).cmp(&(b.at, &b.reviewer)));
    posts
}

/// L3: a review without text, verdict and threads is not ready yet. A review that says it failed is a
/// failure, whatever its state.
fn of_review(
    snapshot: &PullRequestSnapshot,
    review: &Review,
    reads: &dyn PostReader,
) -> Option<ReviewerPost> {
    if review.state == ReviewState::Pending {
        return None;
    }
    let reviewer = reads.reviewer(review.author.as_ref()?, &review.body)?;
    let mut comments = snapshot.threads.iter().flat_map(|thread| &thread.comments);
    let decides = matches!(review.state, ReviewState::Approved | ReviewState::ChangesRequested)
        || comments.any(|comment| comment.review.as_ref() == Some(&review.id) && comment.reply_to.is_none());
    let (content, named) = if review.body.trim().is_empty() {
        (PostContent::NotReady, None)
    } else {
        let reading = reads.read(&reviewer, PostPlace::Review, &review.body);
        (reading.content, reading.commit)
    };
    let content = if decides && content == PostContent::NotReady { PostContent::Complete } else { content };
    let at = review.published_at();
    let commit = review.commit.clone().or(named);
    Some(ReviewerPost { reviewer, kind: PostKind::Review(content), at, commit })
}

/// The time of a comment is that of its last edit, because the edit may have replaced the text.
fn of_comment(comment: &Comment, reads: &dyn PostReader) -> Option<ReviewerPost> {
    let reviewer = reads.reviewer(comment.author.as_ref()?, &comment.body)?;
    let reading = reads.read(&reviewer, PostPlace::Comment, &comment.body);
    let content = match reading.class {
        PostClass::Noise | PostClass::Reply if reading.content == PostContent::Complete => {
            PostContent::NotReady
        }
        _ => reading.content,
    };
    let at = comment.last_written_at();
    Some(ReviewerPost { reviewer, kind: PostKind::Comment(content), at, commit: reading.commit })
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
    Some(ReviewerPost { reviewer, kind, at, commit: Some(check.commit.clone()) })
}

/// All published comments with a known author, on the pull request and in its threads.
fn comments_by_accounts(snapshot: &PullRequestSnapshot) -> Vec<BreakGlassComment<'_>> {
    let comments = snapshot.comments.iter().map(|c| (&c.author, c.association, &c.body));
    let in_threads = snapshot.threads.iter().flat_map(|thread| &thread.comments).filter(|c| !c.pending);
    let in_threads = in_threads.map(|c| (&c.author, c.association, &c.body));
    comments
        .chain(in_threads)
        .filter_map(|(author, association, body)| {
            let author = author.as_ref()?;
            Some(BreakGlassComment { by: &author.login, by_bot: !is_person(author), association, body })
        })
        .collect()
}

/// L6: request-changes verdicts of reviewers since the last reopening.
fn rounds(snapshot: &PullRequestSnapshot, reads: &dyn PostReader) -> u32 {
    let verdicts = snapshot.reviews.iter().filter(|review| {
        review.state == ReviewState::ChangesRequested
            && snapshot.reopened_at.is_none_or(|reopened| review.published_at() > reopened)
            && review.author.as_ref().and_then(|author| reads.reviewer(author, &review.body)).is_some()
    });
    u32::try_from(verdicts.count()).unwrap_or(u32::MAX)
}
