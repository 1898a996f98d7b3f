//! Pull requests and requests for reviews.

use apollo_compiler::resolvers::ResolveInfo;

use super::object::{
    GraphqlContext, GraphqlNode, Resolved, count, leaf, number_or_null, refused, text_or_null, time,
    time_or_null, unknown,
};
use super::page::{page, page_of};
use super::repository::{state_name, text, texts};
use super::timeline;
use crate::simulator::scenario::Hidden;
use crate::simulator::world::{
    AccountId, CommentId, PullId, PullState, ReviewId, SimulatedReviewState, World,
};

pub(super) fn field<'a>(
    context: &'a GraphqlContext<'a>,
    id: PullId,
    info: &'a ResolveInfo<'a>,
) -> Resolved<'a> {
    let world = context.world();
    let pull = &world[id];
    let viewer = context.viewer();
    let writer = world.association(viewer, pull.repository).may_write();
    let own = pull.author == viewer;
    Ok(match info.field_name() {
        "id" => leaf(World::pull_node(id)),
        "number" => leaf(pull.number),
        "databaseId" => leaf(id.database_id()),
        "fullDatabaseId" => leaf(id.database_id().to_string()),
        "title" => leaf(pull.title.as_str()),
        "body" | "bodyText" => leaf(pull.body.as_str()),
        "url" | "permalink" => leaf(world.pull_url(id)),
        "resourcePath" => leaf(format!("/{}/pull/{}", world.full_name(pull.repository), pull.number)),
        "state" => leaf(state_name(pull.state)),
        "isDraft" => leaf(pull.draft),
        "closed" => leaf(pull.state != PullState::Open),
        "closedAt" => time_or_null(pull.closed_at),
        "merged" => leaf(pull.state == PullState::Merged),
        "mergedAt" => time_or_null(pull.merged_at),
        "mergedBy" => match pull.merged_by {
            Some(by) => context.author(by),
            None => context.optional(None),
        },
        "mergeCommit" => context.optional(pull.merge_commit.clone().map(GraphqlNode::Commit)),
        "createdAt" | "publishedAt" => time(pull.created_at),
        "updatedAt" => time(pull.updated_at),
        "lastEditedAt" => time_or_null(None),
        "author" => context.author(pull.author),
        "authorAssociation" => leaf(world.association(pull.author, pull.repository).as_graphql()),
        "repository" | "baseRepository" => context.object(GraphqlNode::Repository(pull.repository)),
        "baseRefName" => leaf(pull.base_ref.as_str()),
        "baseRefOid" => leaf(&*pull.base),
        "baseRef" => context.object(GraphqlNode::Ref(pull.repository, pull.base_ref.clone())),
        "headRefName" => leaf(pull.head_ref.as_str()),
        "headRefOid" => leaf(&*pull.head),
        "headRef" => context.optional(
            (!pull.head_repository_deleted).then(|| GraphqlNode::Ref(pull.repository, pull.head_ref.clone())),
        ),
        "headRepository" => context
            .optional((!pull.head_repository_deleted).then_some(GraphqlNode::Repository(pull.repository))),
        "headRepositoryOwner" => {
            let owner = world[pull.repository].owner;
            context.optional((!pull.head_repository_deleted).then_some(GraphqlNode::Account(owner)))
        }
        "isCrossRepository" => leaf(pull.head_repository_deleted),
        "locked" => leaf(false),
        "maintainerCanModify" => leaf(true),
        "viewerCanUpdate" | "viewerCanClose" | "viewerCanReopen" => leaf(own || writer),
        "viewerDidAuthor" => leaf(own),
        "mergeable" => leaf(if pull.state == PullState::Open { "MERGEABLE" } else { "UNKNOWN" }),
        "mergeStateStatus" => leaf(if pull.draft { "DRAFT" } else { "CLEAN" }),
        "reviewDecision" => text_or_null(decision(&world, id)),
        "totalCommentsCount" => {
            let in_threads: usize = pull.threads.iter().map(|thread| world[*thread].comments.len()).sum();
            count(pull.comments.len() + in_threads)
        }
        _ => return parts(context, id, info),
    })
}

/// The fields that count, list or follow other records.
fn parts<'a>(context: &'a GraphqlContext<'a>, id: PullId, info: &'a ResolveInfo<'a>) -> Resolved<'a> {
    let world = context.world();
    let pull = &world[id];
    let viewer = context.viewer();
    let items = |nodes: Vec<GraphqlNode>| page(context, info, nodes);
    Ok(match info.field_name() {
        "additions" => leaf(world.changed_files(id).iter().map(|file| file.additions).sum::<i64>()),
        "deletions" => leaf(world.changed_files(id).iter().map(|file| file.deletions).sum::<i64>()),
        "changedFiles" => count(world.changed_files(id).len()),
        "files" => {
            return items(
                (0..world.changed_files(id).len()).map(|i| GraphqlNode::ChangedFile(id, i)).collect(),
            );
        }
        "labels" => return items(pull.labels.iter().copied().map(GraphqlNode::Label).collect()),
        "assignees" => {
            let people = pull.assignees.iter().copied().filter(|a| world[*a].type_name() == "User");
            return items(people.map(GraphqlNode::Account).collect());
        }
        "assignedActors" => return items(pull.assignees.iter().copied().map(GraphqlNode::Account).collect()),
        "reviewRequests" => {
            return items(pull.requested.iter().map(|of| GraphqlNode::ReviewRequest(id, *of)).collect());
        }
        "reviews" => {
            let reviews = reviews(&world, id, viewer, info);
            return items(reviews.into_iter().map(GraphqlNode::Review).collect());
        }
        "latestReviews" => {
            return items(latest(&world, id).into_iter().map(GraphqlNode::Review).collect());
        }
        "viewerLatestReview" => {
            let own = pull
                .reviews
                .iter()
                .rev()
                .copied()
                .find(|review| world[*review].author == viewer && world[*review].submitted_at.is_some());
            context.optional(own.map(GraphqlNode::Review))
        }
        "comments" => {
            return items(comments(&world, id, info).into_iter().map(GraphqlNode::Comment).collect());
        }
        "reviewThreads" => {
            return items(world.threads_for(id, viewer).into_iter().map(GraphqlNode::Thread).collect());
        }
        "commits" => {
            return items(
                pull.commits.iter().map(|oid| GraphqlNode::PullRequestCommit(id, oid.clone())).collect(),
            );
        }
        "statusCheckRollup" => {
            if context.caller.cannot_read.contains(&Hidden::Checks) {
                return Err(refused("FORBIDDEN", NOT_ACCESSIBLE));
            }
            let some = world.commit(&pull.head).is_some_and(|commit| !commit.checks.is_empty());
            context.optional(some.then(|| GraphqlNode::Rollup(pull.head.clone())))
        }
        "timelineItems" => {
            let (all, updated) = (pull.timeline.len(), pull.updated_at);
            let found = timeline::items(&world, id, info.arguments());
            return page_of(context, info, found, all, Some(updated));
        }
        _ => unknown(),
    })
}

/// GitHub's answer to a fine-grained token that lacks a permission.
pub(super) const NOT_ACCESSIBLE: &str = "Resource not accessible by personal access token";

fn reviews(world: &World, id: PullId, viewer: AccountId, info: &ResolveInfo<'_>) -> Vec<ReviewId> {
    let states = texts(info.arguments(), "states");
    let author = text(info.arguments(), "author").map(|login| world.account(login));
    let shown = |review: &ReviewId| {
        let review = &world[*review];
        let draft = review.state == SimulatedReviewState::Pending;
        !review.deleted
            && (!draft || review.author == viewer)
            && states.as_ref().is_none_or(|states| states.contains(&review.state.as_graphql()))
            && author.is_none_or(|author| author == Some(review.author))
    };
    world[id].reviews.iter().copied().filter(shown).collect()
}

/// Each reviewer's last submitted review.
fn latest(world: &World, id: PullId) -> Vec<ReviewId> {
    let mut found: Vec<ReviewId> = Vec::new();
    for review in world[id].reviews.iter().copied().filter(|r| world[*r].submitted_at.is_some()) {
        found.retain(|earlier| world[*earlier].author != world[review].author);
        found.push(review);
    }
    found
}

/// Only reviews by accounts with write access decide.
fn decision(world: &World, id: PullId) -> Option<&'static str> {
    let opinions: Vec<SimulatedReviewState> = latest_opinions(world, id);
    if opinions.contains(&SimulatedReviewState::ChangesRequested) {
        Some("CHANGES_REQUESTED")
    } else if opinions.contains(&SimulatedReviewState::Approved) {
        Some("APPROVED")
    } else {
        None
    }
}

fn latest_opinions(world: &World, id: PullId) -> Vec<SimulatedReviewState> {
    let mut found: Vec<(AccountId, SimulatedReviewState)> = Vec::new();
    for review in world[id].reviews.iter().map(|review| &world[*review]) {
        let opinion =
            matches!(review.state, SimulatedReviewState::Approved | SimulatedReviewState::ChangesRequested);
        if opinion && world.association(review.author, world[id].repository).may_write() {
            found.retain(|(author, _)| *author != review.author);
            found.push((review.author, review.state));
        }
    }
    found.into_iter().map(|(_, state)| state).collect()
}

fn comments(world: &World, id: PullId, info: &ResolveInfo<'_>) -> Vec<CommentId> {
    let mut found: Vec<CommentId> =
        world[id].comments.iter().copied().filter(|comment| !world[*comment].deleted).collect();
    if let Some(order) = info.arguments().get("orderBy").and_then(|order| order.as_object()) {
        found.sort_by_key(|comment| world[*comment].updated_at);
        if text(order, "direction") == Some("DESC") {
            found.reverse();
        }
    }
    found
}

pub(super) fn review_request<'a>(
    context: &'a GraphqlContext<'a>,
    pull: PullId,
    of: AccountId,
    info: &ResolveInfo<'_>,
) -> Resolved<'a> {
    let world = context.world();
    Ok(match info.field_name() {
        "id" => leaf(GraphqlNode::ReviewRequest(pull, of).id(&world)),
        "databaseId" => number_or_null(None),
        "asCodeOwner" => leaf(false),
        "pullRequest" => context.object(GraphqlNode::PullRequest(pull)),
        "requestedReviewer" => {
            if context.caller.cannot_read.contains(&Hidden::ReviewRequests) {
                return Err(refused("FORBIDDEN", NOT_ACCESSIBLE));
            }
            context.author(of)
        }
        _ => unknown(),
    })
}
