//! Mutations of the conversation: threads, replies, reviews, comments and reactions.

use serde::Deserialize;

use super::{
    GraphqlNode, MutationResult, find_comment, find_pull, find_review, find_review_comment, find_subject,
    find_thread, not_found, require_writable,
};
use crate::simulator::graphql::page::lone_edge;
use crate::simulator::world::{
    AccountId, CommentId, NewReview, NewSimulatedThread, Side, SimulatedReviewState, Subject, World,
    WorldRefusal,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OnThread {
    thread_id: String,
}

pub(super) fn set_resolved(
    world: &mut World,
    by: AccountId,
    input: &OnThread,
    resolved: bool,
) -> MutationResult {
    let thread = find_thread(world, &input.thread_id)?;
    if resolved {
        world.resolve(thread, by)?;
    } else {
        world.unresolve(thread, by)?;
    }
    Ok(vec![("thread", GraphqlNode::Thread(thread))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReplyInput {
    pull_request_review_thread_id: String,
    body: String,
}

pub(super) fn reply(world: &mut World, by: AccountId, input: &ReplyInput) -> MutationResult {
    let thread = find_thread(world, &input.pull_request_review_thread_id)?;
    require_writable(world, Subject::Pull(world[thread].pull))?;
    let comment = world.reply(thread, by, &input.body)?;
    Ok(vec![("comment", GraphqlNode::ReviewComment(comment))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddReview {
    pull_request_id: String,
    body: Option<String>,
    event: Option<String>,
    #[serde(rename = "commitOID")]
    commit_oid: Option<String>,
    threads: Option<Vec<Option<DraftThread>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DraftThread {
    path: Option<String>,
    line: Option<i64>,
    start_line: Option<i64>,
    side: Option<String>,
    body: String,
}

pub(super) fn state_of(event: Option<&str>) -> SimulatedReviewState {
    match event {
        Some("APPROVE") => SimulatedReviewState::Approved,
        Some("REQUEST_CHANGES") => SimulatedReviewState::ChangesRequested,
        Some("COMMENT") => SimulatedReviewState::Commented,
        Some("DISMISS") => SimulatedReviewState::Dismissed,
        // Without an event the review stays a draft of its author.
        _ => SimulatedReviewState::Pending,
    }
}

pub(super) fn add_review(world: &mut World, by: AccountId, input: AddReview) -> MutationResult {
    let pull = find_pull(world, &input.pull_request_id)?;
    require_writable(world, Subject::Pull(pull))?;
    let threads = input.threads.into_iter().flatten().flatten().map(|thread| NewSimulatedThread {
        path: thread.path.unwrap_or_default(),
        line: thread.line,
        start_line: thread.start_line,
        side: if thread.side.as_deref() == Some("LEFT") { Side::Left } else { Side::Right },
        body: thread.body,
    });
    let new = NewReview {
        state: state_of(input.event.as_deref()),
        body: input.body.unwrap_or_default(),
        commit: input.commit_oid.map(Into::into),
        threads: threads.collect(),
        only_in_diff: true,
    };
    let (review, _) = world.review(pull, by, new)?;
    Ok(vec![("pullRequestReview", GraphqlNode::Review(review))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubmitReview {
    pull_request_id: Option<String>,
    pull_request_review_id: Option<String>,
    body: Option<String>,
    event: String,
}

pub(super) fn submit_review(world: &mut World, by: AccountId, input: SubmitReview) -> MutationResult {
    let review = match (&input.pull_request_review_id, &input.pull_request_id) {
        (Some(id), _) => find_review(world, id)?,
        (None, Some(id)) => {
            let pull = find_pull(world, id)?;
            world.pending_review(pull, by).ok_or_else(|| not_found(id))?
        }
        (None, None) => {
            return Err(WorldRefusal::Unprocessable(
                "Neither pullRequestReviewId nor pullRequestId is given".to_owned(),
            ));
        }
    };
    world.submit_review(review, by, state_of(Some(&input.event)), input.body)?;
    Ok(vec![("pullRequestReview", GraphqlNode::Review(review))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OnReview {
    pull_request_review_id: String,
}

pub(super) fn delete_review(world: &mut World, by: AccountId, input: &OnReview) -> MutationResult {
    let review = find_review(world, &input.pull_request_review_id)?;
    if world[review].author != by || world[review].state != SimulatedReviewState::Pending {
        let message = "Can not delete a non-pending pull request review";
        return Err(WorldRefusal::Unprocessable(message.to_owned()));
    }
    world[review].deleted = true;
    Ok(vec![("pullRequestReview", GraphqlNode::Review(review))])
}

pub(super) fn dismiss_review(world: &mut World, by: AccountId, input: &OnReview) -> MutationResult {
    let review = find_review(world, &input.pull_request_review_id)?;
    world.require_write(by, world[world[review].pull].repository, "DismissPullRequestReview")?;
    world[review].state = SimulatedReviewState::Dismissed;
    world.touch(world[review].pull);
    Ok(vec![("pullRequestReview", GraphqlNode::Review(review))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddComment {
    subject_id: String,
    body: String,
}

pub(super) fn add_comment(world: &mut World, by: AccountId, input: &AddComment) -> MutationResult {
    let subject = find_subject(world, &input.subject_id)?;
    require_writable(world, subject)?;
    let comment = world.comment(subject, by, &input.body)?;
    let index = match subject {
        Subject::Pull(pull) => world[pull].comments.len(),
        Subject::Issue(issue) => world[issue].comments.len(),
    };
    Ok(vec![
        (
            "commentEdge",
            lone_edge("IssueCommentEdge", index.saturating_sub(1), GraphqlNode::Comment(comment)),
        ),
        ("subject", GraphqlNode::subject(subject)),
    ])
}

#[derive(Deserialize)]
pub(super) struct UpdateComment {
    id: String,
    #[serde(default)]
    body: String,
}

pub(super) fn comment_to_change(world: &World, by: AccountId, id: &str) -> Result<CommentId, WorldRefusal> {
    let comment = find_comment(world, id)?;
    if world[comment].author != by {
        let repository = world.repository_of(world[comment].subject);
        world.require_write(by, repository, "UpdateIssueComment")?;
    }
    Ok(comment)
}

pub(super) fn update_comment(world: &mut World, by: AccountId, input: &UpdateComment) -> MutationResult {
    let comment = comment_to_change(world, by, &input.id)?;
    world.edit_comment(comment, by, &input.body);
    Ok(vec![("issueComment", GraphqlNode::Comment(comment))])
}

pub(super) fn delete_comment(world: &mut World, by: AccountId, input: &UpdateComment) -> MutationResult {
    let comment = comment_to_change(world, by, &input.id)?;
    world.delete_comment(comment, by);
    Ok(Vec::new())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateReviewComment {
    pull_request_review_comment_id: String,
    body: String,
}

pub(super) fn update_review_comment(
    world: &mut World,
    by: AccountId,
    input: &UpdateReviewComment,
) -> MutationResult {
    let comment = find_review_comment(world, &input.pull_request_review_comment_id)?;
    if world[comment].author != by {
        let repository = world[world[world[comment].thread].pull].repository;
        world.require_write(by, repository, "UpdatePullRequestReviewComment")?;
    }
    world.edit_review_comment(comment, by, &input.body);
    Ok(vec![("pullRequestReviewComment", GraphqlNode::ReviewComment(comment))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Minimize {
    subject_id: String,
    /// Only `minimizeComment` has one.
    classifier: Option<String>,
}

pub(super) fn minimize(world: &mut World, by: AccountId, input: &Minimize) -> MutationResult {
    let node = GraphqlNode::find(world, &input.subject_id).ok_or_else(|| not_found(&input.subject_id))?;
    let (repository, on) = match &node {
        GraphqlNode::Comment(id) => {
            (world.repository_of(world[*id].subject), world.subject_name(world[*id].subject))
        }
        GraphqlNode::ReviewComment(id) => {
            let pull = world[world[*id].thread].pull;
            (world[pull].repository, world.pull_name(pull))
        }
        GraphqlNode::Review(id) => (world[world[*id].pull].repository, world.pull_name(world[*id].pull)),
        _ => return Err(not_found(&input.subject_id)),
    };
    world.require_write(by, repository, "MinimizeComment")?;
    // GitHub sends the reason back in another spelling: `OFF_TOPIC` becomes `off-topic`.
    let reason = input.classifier.as_ref().map(|reason| reason.to_lowercase().replace('_', "-"));
    let edits = match &node {
        GraphqlNode::Comment(id) => &mut world[*id].edits,
        GraphqlNode::ReviewComment(id) => &mut world[*id].edits,
        GraphqlNode::Review(id) => &mut world[*id].edits,
        _ => return Err(not_found(&input.subject_id)),
    };
    edits.minimized.clone_from(&reason);
    let what = if reason.is_some() { "minimize" } else { "unminimize" };
    world.record_write(by, what, on, input.subject_id.clone(), reason.as_deref().unwrap_or_default(), false);
    let field = if reason.is_some() { "minimizedComment" } else { "unminimizedComment" };
    Ok(vec![(field, node)])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct React {
    subject_id: String,
    content: String,
}

pub(super) fn react(world: &mut World, by: AccountId, input: &React) -> MutationResult {
    let node = GraphqlNode::find(world, &input.subject_id).ok_or_else(|| not_found(&input.subject_id))?;
    let reaction = world.react(by, &input.content, &input.subject_id);
    Ok(vec![("reaction", GraphqlNode::Reaction(reaction)), ("subject", node)])
}
