//! Mutations. Each one checks its input the way GitHub does, then makes one change to the world.

mod conversation;
mod pulls;

use std::rc::Rc;

use apollo_compiler::resolvers::{FieldError, ResolveInfo, ResolvedValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::object::{GraphqlContext, GraphqlNode, Payload, Resolved, leaf, refused, text_or_null, unknown};
use crate::simulator::world::{
    AccountId, CommentId, LabelId, PullId, RepositoryId, ReviewCommentId, ReviewId, Subject, ThreadId, World,
    WorldRefusal,
};

/// The fields of a mutation's payload.
type MutationResult = Result<Vec<(&'static str, GraphqlNode)>, WorldRefusal>;

pub(super) fn field<'a>(context: &'a GraphqlContext<'a>, info: &'a ResolveInfo<'a>) -> Resolved<'a> {
    let name = info.field_name();
    let by = context.viewer();
    let mut world = context.world_mut();
    let world = &mut *world;
    let changed = match name {
        "resolveReviewThread" => conversation::set_resolved(world, by, &input(info)?, true),
        "unresolveReviewThread" => conversation::set_resolved(world, by, &input(info)?, false),
        "addPullRequestReviewThreadReply" => conversation::reply(world, by, &input(info)?),
        "addPullRequestReview" => conversation::add_review(world, by, input(info)?),
        "submitPullRequestReview" => conversation::submit_review(world, by, input(info)?),
        "deletePullRequestReview" => conversation::delete_review(world, by, &input(info)?),
        "dismissPullRequestReview" => conversation::dismiss_review(world, by, &input(info)?),
        "addComment" => conversation::add_comment(world, by, &input(info)?),
        "updateIssueComment" => conversation::update_comment(world, by, &input(info)?),
        "deleteIssueComment" => conversation::delete_comment(world, by, &input(info)?),
        "updatePullRequestReviewComment" => conversation::update_review_comment(world, by, &input(info)?),
        "minimizeComment" | "unminimizeComment" => conversation::minimize(world, by, &input(info)?),
        "requestReviews" => pulls::request_reviews(world, by, &input(info)?),
        "requestReviewsByLogin" => pulls::request_by_login(world, by, &input(info)?),
        "addLabelsToLabelable" => pulls::change_labels(world, by, &input(info)?, true),
        "removeLabelsFromLabelable" => pulls::change_labels(world, by, &input(info)?, false),
        "createLabel" => pulls::create_label(world, by, &input(info)?),
        "createIssue" => pulls::create_issue(world, by, &input(info)?),
        "replaceActorsForAssignable" => pulls::assign(world, by, &input(info)?),
        "closePullRequest" => pulls::change_pull(world, by, &input(info)?, "ClosePullRequest", World::close),
        "reopenPullRequest" => {
            pulls::change_pull(world, by, &input(info)?, "ReopenPullRequest", World::reopen)
        }
        "convertPullRequestToDraft" => {
            pulls::change_pull(world, by, &input(info)?, "ConvertPullRequestToDraft", |world, pull, by| {
                world.set_draft(pull, by, true);
                Ok(())
            })
        }
        "markPullRequestReadyForReview" => pulls::change_pull(
            world,
            by,
            &input(info)?,
            "MarkPullRequestReadyForReview",
            |world, pull, by| {
                world.set_draft(pull, by, false);
                Ok(())
            },
        ),
        "mergePullRequest" => pulls::merge(world, by, &input(info)?),
        "addReaction" => conversation::react(world, by, &input(info)?),
        _ => return Ok(unknown()),
    };
    let fields = changed.map_err(|refusal| refused(refusal.kind(), &refusal))?;
    let client: ClientMutation = input(info)?;
    let payload = Payload {
        type_name: info.field_definition().ty.inner_named_type().to_string(),
        client_mutation_id: client.client_mutation_id,
        fields,
    };
    Ok(context.object(GraphqlNode::Payload(Rc::new(payload))))
}

pub(super) fn payload<'a>(
    context: &'a GraphqlContext<'a>,
    payload: &Payload,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    if info.field_name() == "clientMutationId" {
        return text_or_null(payload.client_mutation_id.as_deref());
    }
    match payload.fields.iter().find(|(name, _)| *name == info.field_name()) {
        Some((_, node)) => context.object(node.clone()),
        None => leaf(apollo_compiler::response::JsonValue::Null),
    }
}

#[derive(Deserialize)]
struct ClientMutation {
    #[serde(rename = "clientMutationId")]
    client_mutation_id: Option<String>,
}

/// The `input` argument. The engine has already checked it against the schema.
fn input<T: DeserializeOwned>(info: &ResolveInfo<'_>) -> Result<T, FieldError> {
    let value = info.arguments().get("input").map(serde_json::to_value);
    let value = value.and_then(Result::ok).unwrap_or_default();
    serde_json::from_value(value).map_err(|error| refused("BAD_USER_INPUT", error))
}

fn not_found(id: &str) -> WorldRefusal {
    WorldRefusal::NotFound(format!("Could not resolve to a node with the global id of '{id}'"))
}

/// The node with this id, if it is of the kind that `pick` takes.
fn find<T>(world: &World, id: &str, pick: impl FnOnce(GraphqlNode) -> Option<T>) -> Result<T, WorldRefusal> {
    GraphqlNode::find(world, id).and_then(pick).ok_or_else(|| not_found(id))
}

macro_rules! finders {
    ($($name:ident, $variant:ident, $id:ident);* $(;)?) => {$(
        fn $name(world: &World, id: &str) -> Result<$id, WorldRefusal> {
            find(world, id, |node| if let GraphqlNode::$variant(found) = node { Some(found) } else { None })
        }
    )*};
}
finders! {
    find_account, Account, AccountId;
    find_comment, Comment, CommentId;
    find_label, Label, LabelId;
    find_pull, PullRequest, PullId;
    find_repository, Repository, RepositoryId;
    find_review, Review, ReviewId;
    find_review_comment, ReviewComment, ReviewCommentId;
    find_thread, Thread, ThreadId;
}

fn find_subject(world: &World, id: &str) -> Result<Subject, WorldRefusal> {
    find(world, id, |node| match node {
        GraphqlNode::PullRequest(pull) => Some(Subject::Pull(pull)),
        GraphqlNode::Issue(issue) => Some(Subject::Issue(issue)),
        _ => None,
    })
}

/// GitHub refuses every write to an archived repository.
fn require_writable(world: &World, subject: Subject) -> Result<(), WorldRefusal> {
    if world[world.repository_of(subject)].archived {
        return Err(WorldRefusal::Forbidden("Repository was archived so is read-only.".to_owned()));
    }
    Ok(())
}
