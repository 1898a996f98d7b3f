//! The timeline of a pull request. As on GitHub, resolving a thread adds no item.

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonMap;
use jiff::Timestamp;

use super::object::{GraphqlContext, GraphqlNode, leaf, time, unknown};
use super::repository::{text, texts};
use crate::simulator::world::{PullId, TimelineEvent, World};

/// The requested items. Comments, reviews and commits appear as objects of their own.
pub(super) fn items(world: &World, pull: PullId, arguments: &JsonMap) -> Vec<GraphqlNode> {
    let types = texts(arguments, "itemTypes");
    let since: Option<Timestamp> = text(arguments, "since").and_then(|since| since.parse().ok());
    let skip = arguments
        .get("skip")
        .and_then(apollo_compiler::response::serde_json_bytes::Value::as_u64)
        .unwrap_or(0);
    let is_requested = |item: &crate::simulator::world::SimulatedTimelineItem| {
        types.as_ref().is_none_or(|types| types.contains(&type_names(&item.what).0))
            && since.is_none_or(|since| item.at >= since)
    };
    world[pull]
        .timeline
        .iter()
        .enumerate()
        .filter(|(_, item)| is_requested(item))
        .skip(usize::try_from(skip).unwrap_or(usize::MAX))
        .map(|(index, item)| match &item.what {
            TimelineEvent::Commit(oid) => GraphqlNode::PullRequestCommit(pull, oid.clone()),
            TimelineEvent::Commented(comment) => GraphqlNode::Comment(*comment),
            TimelineEvent::Reviewed(review) => GraphqlNode::Review(*review),
            _ => GraphqlNode::TimelineEvent(pull, index),
        })
        .collect()
}

pub(super) fn type_name(context: &GraphqlContext<'_>, pull: PullId, index: usize) -> &'static str {
    type_names(&context.world()[pull].timeline[index].what).1
}

/// GitHub's two names for the same item: in `itemTypes`, and as an object type.
fn type_names(event: &TimelineEvent) -> (&'static str, &'static str) {
    match event {
        TimelineEvent::Commit(_) => ("PULL_REQUEST_COMMIT", "PullRequestCommit"),
        TimelineEvent::ForcePushed { .. } => ("HEAD_REF_FORCE_PUSHED_EVENT", "HeadRefForcePushedEvent"),
        TimelineEvent::Commented(_) => ("ISSUE_COMMENT", "IssueComment"),
        TimelineEvent::Reviewed(_) => ("PULL_REQUEST_REVIEW", "PullRequestReview"),
        TimelineEvent::ReviewRequested(_) => ("REVIEW_REQUESTED_EVENT", "ReviewRequestedEvent"),
        TimelineEvent::ReviewRequestRemoved(_) => {
            ("REVIEW_REQUEST_REMOVED_EVENT", "ReviewRequestRemovedEvent")
        }
        TimelineEvent::Labeled(_) => ("LABELED_EVENT", "LabeledEvent"),
        TimelineEvent::Unlabeled(_) => ("UNLABELED_EVENT", "UnlabeledEvent"),
        TimelineEvent::ReadyForReview => ("READY_FOR_REVIEW_EVENT", "ReadyForReviewEvent"),
        TimelineEvent::ConvertedToDraft => ("CONVERT_TO_DRAFT_EVENT", "ConvertToDraftEvent"),
        TimelineEvent::Closed => ("CLOSED_EVENT", "ClosedEvent"),
        TimelineEvent::Reopened => ("REOPENED_EVENT", "ReopenedEvent"),
        TimelineEvent::Merged(_) => ("MERGED_EVENT", "MergedEvent"),
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
