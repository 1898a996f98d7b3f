//! Threads and their comments, reviews, and comments on the pull request itself.

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};

use super::object::{
    GraphqlContext, GraphqlNode, Resolved, leaf, number_or_null, text_or_null, time, time_or_null, unknown,
};
use super::page::page;
use crate::simulator::world::{
    AccountId, CommentId, ReviewCommentId, ReviewId, Side, SimulatedAccountKind, SimulatedReviewState,
    Subject, ThreadId, World,
};

pub(super) fn thread<'a>(
    context: &'a GraphqlContext<'a>,
    id: ThreadId,
    info: &'a ResolveInfo<'a>,
) -> Resolved<'a> {
    let world = context.world();
    let thread = &world[id];
    let viewer = context.viewer();
    let side = |side| if side == Side::Left { "LEFT" } else { "RIGHT" };
    let resolved = thread.resolved_by.is_some();
    Ok(match info.field_name() {
        "id" => leaf(World::thread_node(id)),
        "isResolved" | "isCollapsed" => leaf(resolved),
        "isOutdated" => leaf(thread.outdated),
        "path" => leaf(thread.path.as_str()),
        "line" => number_or_null(thread.line),
        "startLine" => number_or_null(thread.start_line),
        "originalLine" => number_or_null(thread.original_line),
        "originalStartLine" => number_or_null(thread.original_start_line),
        "diffSide" => leaf(side(thread.side)),
        "startDiffSide" => text_or_null(thread.original_start_line.map(|_| side(thread.side))),
        "subjectType" => leaf(if thread.file_level { "FILE" } else { "LINE" }),
        // The type of `resolvedBy` is `User`, so GitHub shows null for bots and deleted accounts.
        "resolvedBy" => {
            let person = thread
                .resolved_by
                .filter(|by| world[*by].kind == SimulatedAccountKind::User && !world[*by].deleted);
            context.optional(person.map(GraphqlNode::Account))
        }
        "viewerCanReply" => leaf(!world[world[thread.pull].repository].archived),
        "viewerCanResolve" => leaf(!resolved && world.may_resolve(viewer, id)),
        "viewerCanUnresolve" => leaf(resolved && world.may_resolve(viewer, id)),
        "pullRequest" => context.object(GraphqlNode::PullRequest(thread.pull)),
        "repository" => context.object(GraphqlNode::Repository(world[thread.pull].repository)),
        "comments" => {
            let visible = thread.comments.iter().copied().filter(|c| !world.hidden_from(*c, viewer));
            let skip = info
                .arguments()
                .get("skip")
                .and_then(apollo_compiler::response::serde_json_bytes::Value::as_u64)
                .unwrap_or(0);
            let visible = visible.skip(usize::try_from(skip).unwrap_or(usize::MAX));
            return page(context, info, visible.map(GraphqlNode::ReviewComment).collect());
        }
        _ => unknown(),
    })
}

pub(super) fn review_comment<'a>(
    context: &'a GraphqlContext<'a>,
    id: ReviewCommentId,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let comment = &world[id];
    let thread = &world[comment.thread];
    let pull = &world[thread.pull];
    let review = &world[comment.review];
    let number = id.database_id();
    let own = comment.author == context.viewer();
    let pending = review.state == SimulatedReviewState::Pending;
    match info.field_name() {
        "id" => leaf(World::review_comment_node(id)),
        "databaseId" => leaf(number),
        "fullDatabaseId" => leaf(number.to_string()),
        "body" | "bodyText" => leaf(comment.body.as_str()),
        "author" => context.author(comment.author),
        "authorAssociation" => leaf(world.association(comment.author, pull.repository).as_graphql()),
        "createdAt" | "draftedAt" => time(comment.created_at),
        "publishedAt" => time_or_null((!pending).then_some(comment.created_at)),
        "updatedAt" => time(comment.updated_at),
        "lastEditedAt" => time_or_null(comment.edits.edited_at),
        "includesCreatedEdit" => leaf(comment.edits.edited_at.is_some()),
        "editor" => editor(context, comment.edits.edited_by),
        "url" => leaf(format!("{}#discussion_r{number}", world.pull_url(thread.pull))),
        "resourcePath" => {
            let name = world.full_name(pull.repository);
            leaf(format!("/{name}/pull/{}#discussion_r{number}", pull.number))
        }
        "path" => leaf(thread.path.as_str()),
        "line" => number_or_null(thread.line),
        "startLine" => number_or_null(thread.start_line),
        "originalLine" => number_or_null(thread.original_line),
        "originalStartLine" => number_or_null(thread.original_start_line),
        "outdated" => leaf(thread.outdated),
        "subjectType" => leaf(if thread.file_level { "FILE" } else { "LINE" }),
        "isMinimized" => leaf(comment.edits.minimized.is_some()),
        "minimizedReason" => text_or_null(comment.edits.minimized.as_deref()),
        "replyTo" => context.optional(comment.reply_to.map(GraphqlNode::ReviewComment)),
        "commit" => context.optional((!thread.outdated).then(|| GraphqlNode::Commit(comment.commit.clone()))),
        "originalCommit" => context.object(GraphqlNode::Commit(comment.original_commit.clone())),
        "pullRequestReview" => context.object(GraphqlNode::Review(comment.review)),
        "pullRequest" => context.object(GraphqlNode::PullRequest(thread.pull)),
        "repository" => context.object(GraphqlNode::Repository(pull.repository)),
        "diffHunk" => leaf(comment.hunk.as_str()),
        "state" => leaf(if pending { "PENDING" } else { "SUBMITTED" }),
        "viewerDidAuthor" => leaf(own),
        "viewerCanUpdate" | "viewerCanDelete" | "viewerCanMinimize" => {
            leaf(own || world.association(context.viewer(), pull.repository).may_write())
        }
        _ => unknown(),
    }
}

fn editor<'a>(context: &'a GraphqlContext<'a>, by: Option<AccountId>) -> ResolvedValue<'a> {
    by.map_or_else(ResolvedValue::null, |by| context.author(by))
}

pub(super) fn review<'a>(
    context: &'a GraphqlContext<'a>,
    id: ReviewId,
    info: &'a ResolveInfo<'a>,
) -> Resolved<'a> {
    let world = context.world();
    let review = &world[id];
    let pull = &world[review.pull];
    let number = id.database_id();
    let own = review.author == context.viewer();
    Ok(match info.field_name() {
        "id" => leaf(World::review_node(id)),
        "databaseId" => leaf(number),
        "fullDatabaseId" => leaf(number.to_string()),
        "author" => context.author(review.author),
        "authorAssociation" => leaf(world.association(review.author, pull.repository).as_graphql()),
        "authorCanPushToRepository" => leaf(world.association(review.author, pull.repository).may_write()),
        "state" => leaf(review.state.as_graphql()),
        "body" | "bodyText" => leaf(review.body.as_str()),
        "submittedAt" | "publishedAt" => time_or_null(review.submitted_at),
        "createdAt" => time(review.created_at),
        "updatedAt" => time(review.updated_at),
        "lastEditedAt" => time_or_null(review.edits.edited_at),
        "includesCreatedEdit" => leaf(review.edits.edited_at.is_some()),
        "editor" => editor(context, review.edits.edited_by),
        "commit" => {
            context.optional(world.commit(&review.commit).map(|c| GraphqlNode::Commit(c.oid.clone())))
        }
        "url" => leaf(format!("{}#pullrequestreview-{number}", world.pull_url(review.pull))),
        "resourcePath" => {
            let name = world.full_name(pull.repository);
            leaf(format!("/{name}/pull/{}#pullrequestreview-{number}", pull.number))
        }
        "pullRequest" => context.object(GraphqlNode::PullRequest(review.pull)),
        "repository" => context.object(GraphqlNode::Repository(pull.repository)),
        "isMinimized" => leaf(review.edits.minimized.is_some()),
        "minimizedReason" => text_or_null(review.edits.minimized.as_deref()),
        "viewerDidAuthor" | "viewerCanUpdate" => leaf(own),
        "viewerCanDelete" => leaf(own && review.state == SimulatedReviewState::Pending),
        "comments" => {
            return page(
                context,
                info,
                review.comments.iter().copied().map(GraphqlNode::ReviewComment).collect(),
            );
        }
        _ => unknown(),
    })
}

pub(super) fn comment<'a>(
    context: &'a GraphqlContext<'a>,
    id: CommentId,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let comment = &world[id];
    let repository = world.repository_of(comment.subject);
    let number = id.database_id();
    let own = comment.author == context.viewer();
    let (path, pull) = match comment.subject {
        Subject::Pull(pull) => (format!("pull/{}", world[pull].number), Some(pull)),
        Subject::Issue(issue) => (format!("issues/{}", world[issue].number), None),
    };
    let path = format!("/{}/{path}#issuecomment-{number}", world.full_name(repository));
    match info.field_name() {
        "id" => leaf(World::comment_node(id)),
        "databaseId" => leaf(number),
        "fullDatabaseId" => leaf(number.to_string()),
        "author" => context.author(comment.author),
        "authorAssociation" => leaf(world.association(comment.author, repository).as_graphql()),
        "body" | "bodyText" => leaf(comment.body.as_str()),
        "createdAt" | "publishedAt" => time(comment.created_at),
        "updatedAt" => time(comment.updated_at),
        "lastEditedAt" => time_or_null(comment.edits.edited_at),
        "includesCreatedEdit" => leaf(comment.edits.edited_at.is_some()),
        "editor" => editor(context, comment.edits.edited_by),
        "url" => leaf(format!("{}{path}", world.base_url)),
        "resourcePath" => leaf(path),
        "isMinimized" => leaf(comment.edits.minimized.is_some()),
        "minimizedReason" => text_or_null(comment.edits.minimized.as_deref()),
        "pullRequest" => context.optional(pull.map(GraphqlNode::PullRequest)),
        "repository" => context.object(GraphqlNode::Repository(repository)),
        "viewerDidAuthor" => leaf(own),
        "viewerCanUpdate" | "viewerCanDelete" | "viewerCanMinimize" => {
            leaf(own || world.association(context.viewer(), repository).may_write())
        }
        _ => unknown(),
    }
}
