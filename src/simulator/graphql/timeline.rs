//! What happened on a pull request, in order. Resolving a thread leaves no item here, as on GitHub.

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonMap;
use jiff::Timestamp;

use super::object::{GraphqlContext, GraphqlNode, leaf, time, unknown};
use super::repository::{text, texts};
use crate::simulator::world::{PullId, TimelineEvent, World};

/// The items a client asked for. Comments, reviews and commits appear as themselves.
pub(super) fn items(world: &World, pull: PullId, arguments: &JsonMap) -> Vec<GraphqlNode> {
    let types = texts(arguments, "itemTypes");
    let since: Option<Timestamp> = text(arguments, "since").and_then(|since| since.parse().ok());
    let skip = arguments
        .get("skip")
        .and_then(apollo_compiler::response::serde_json_bytes::Value::as_u64)
        .unwrap_or(0);
    let wanted = |item: &crate::simulator::world::SimulatedTimelineItem| {
        types.as_ref().is_none_or(|types| types.contains(&item_type(&item.what)))
            && since.is_none_or(|since| item.at >= since)
    };
    world[pull]
        .timeline
        .iter()
        .enumerate()
        .filter(|(_, item)| wanted(item))
        .skip(usize::try_from(skip).unwrap_or(usize::MAX))
        .map(|(index, item)| match &item.what {
            TimelineEvent::Commit(oid) => GraphqlNode::PullRequestCommit(pull, oid.clone()),
            TimelineEvent::Commented(comment) => GraphqlNode::Comment(*comment),
            TimelineEvent::Reviewed(review) => GraphqlNode::Review(*review),
            _ => GraphqlNode::TimelineEvent(pull, index),
        })
        .collect()
}

fn item_type(event: &TimelineEvent) -> &'static str {
    match event {
        TimelineEvent::Commit(_) => "PULL_REQUEST_COMMIT",
        TimelineEvent::ForcePushed { .. } => "HEAD_REF_FORCE_PUSHED_EVENT",
        TimelineEvent::Commented(_) => "ISSUE_COMMENT",
        TimelineEvent::Reviewed(_) => "PULL_REQUEST_REVIEW",
        TimelineEvent::ReviewRequested(_) => "REVIEW_REQUESTED_EVENT",
        TimelineEvent::ReviewRequestRemoved(_) => "REVIEW_REQUEST_REMOVED_EVENT",
        TimelineEvent::Labeled(_) => "LABELED_EVENT",
        TimelineEvent::Unlabeled(_) => "UNLABELED_EVENT",
        TimelineEvent::ReadyForReview => "READY_FOR_REVIEW_EVENT",
        TimelineEvent::ConvertedToDraft => "CONVERT_TO_DRAFT_EVENT",
        TimelineEvent::Closed => "CLOSED_EVENT",
        TimelineEvent::Reopened => "REOPENED_EVENT",
        TimelineEvent::Merged(_) => "MERGED_EVENT",
    }
}

pub(super) fn type_name(context: &GraphqlContext<'_>, pull: PullId, index: usize) -> &'static str {
    match context.world()[pull].timeline[index].what {
        TimelineEvent::Commit(_) => "PullRequestCommit",
        TimelineEvent::ForcePushed { .. } => "HeadRefForcePushedEvent",
        TimelineEvent::Commented(_) => "IssueComment",
        TimelineEvent::Reviewed(_) => "PullRequestReview",
        TimelineEvent::ReviewRequested(_) => "ReviewRequestedEvent",
        TimelineEvent::ReviewRequestRemoved(_) => "ReviewRequestRemovedEvent",
        TimelineEvent::Labeled(_) => "LabeledEvent",
        TimelineEvent::Unlabeled(_) => "UnlabeledEvent",
        TimelineEvent::ReadyForReview => "ReadyForReviewEvent",
        TimelineEvent::ConvertedToDraft => "ConvertToDraftEvent",
        TimelineEvent::Closed => "ClosedEvent",
        TimelineEvent::Reopened => "ReopenedEvent",
        TimelineEvent::Merged(_) => "MergedEvent",
    }
}

pub(super) fn field<'a>(
    context: &'a GraphqlContext<'a>,
    pull: PullId,
    index: usize,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let item = &world[pull].timeline[index];
    let anchor = format!("#event-{}", index + 1);
    match (info.field_name(), &item.what) {
        ("id", _) => leaf(GraphqlNode::TimelineEvent(pull, index).id(&world)),
        ("actor", _) => context.author(item.actor),
        ("createdAt", _) => time(item.at),
        ("pullRequest" | "closable" | "labelable", _) => context.object(GraphqlNode::PullRequest(pull)),
        ("url", _) => leaf(format!("{}{anchor}", world.pull_url(pull))),
        ("resourcePath", _) => {
            let name = world.full_name(world[pull].repository);
            leaf(format!("/{name}/pull/{}{anchor}", world[pull].number))
        }
        ("beforeCommit", TimelineEvent::ForcePushed { before, .. }) => {
            context.object(GraphqlNode::Commit(before.clone()))
        }
        ("afterCommit", TimelineEvent::ForcePushed { after, .. }) => {
            context.object(GraphqlNode::Commit(after.clone()))
        }
        ("ref", TimelineEvent::ForcePushed { .. }) => {
            context.object(GraphqlNode::Ref(world[pull].repository, world[pull].head_ref.clone()))
        }
        (
            "requestedReviewer",
            TimelineEvent::ReviewRequested(of) | TimelineEvent::ReviewRequestRemoved(of),
        ) => context.author(*of),
        ("label", TimelineEvent::Labeled(label) | TimelineEvent::Unlabeled(label)) => {
            context.object(GraphqlNode::Label(*label))
        }
        ("commit", TimelineEvent::Merged(oid)) => context.object(GraphqlNode::Commit(oid.clone())),
        ("mergeRefName", TimelineEvent::Merged(_)) => leaf(world[pull].base_ref.as_str()),
        _ => unknown(),
    }
}
