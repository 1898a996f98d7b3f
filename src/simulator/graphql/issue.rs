//! Issues, labels and reactions.

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};

use super::object::{GraphqlContext, GraphqlNode, Resolved, leaf, text_or_null, time, time_or_null, unknown};
use super::page::page;
use crate::simulator::world::{IssueId, LabelId, ReactionId, World};

pub(super) fn field<'a>(
    context: &'a GraphqlContext<'a>,
    id: IssueId,
    info: &'a ResolveInfo<'a>,
) -> Resolved<'a> {
    let world = context.world();
    let issue = &world[id];
    let number = id.database_id();
    let path = format!("/{}/issues/{}", world.full_name(issue.repository), issue.number);
    Ok(match info.field_name() {
        "id" => leaf(World::issue_node(id)),
        "number" => leaf(issue.number),
        "databaseId" => leaf(number),
        "fullDatabaseId" => leaf(number.to_string()),
        "title" => leaf(issue.title.as_str()),
        "body" | "bodyText" => leaf(issue.body.as_str()),
        "url" => leaf(format!("{}{path}", world.base_url)),
        "resourcePath" => leaf(path),
        "state" => leaf("OPEN"),
        "stateReason" => text_or_null(None),
        "closed" => leaf(false),
        "closedAt" | "lastEditedAt" => time_or_null(None),
        "author" => context.author(issue.author),
        "authorAssociation" => leaf(world.association(issue.author, issue.repository).as_graphql()),
        "createdAt" | "publishedAt" => time(issue.created_at),
        "updatedAt" => time(issue.updated_at),
        "repository" => context.object(GraphqlNode::Repository(issue.repository)),
        "viewerDidAuthor" | "viewerCanUpdate" => leaf(issue.author == context.viewer()),
        "labels" => {
            return page(context, info, issue.labels.iter().copied().map(GraphqlNode::Label).collect());
        }
        "assignees" => {
            let people = issue.assignees.iter().copied().filter(|a| world[*a].type_name() == "User");
            return page(context, info, people.map(GraphqlNode::Account).collect());
        }
        "assignedActors" => {
            return page(context, info, issue.assignees.iter().copied().map(GraphqlNode::Account).collect());
        }
        "comments" => {
            let there = issue.comments.iter().copied().filter(|comment| !world[*comment].deleted);
            return page(context, info, there.map(GraphqlNode::Comment).collect());
        }
        _ => unknown(),
    })
}

pub(super) fn label<'a>(
    context: &'a GraphqlContext<'a>,
    id: LabelId,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let label = &world[id];
    let path = format!("/{}/labels/{}", world.full_name(label.repository), label.name);
    match info.field_name() {
        "id" => leaf(GraphqlNode::Label(id).id(&world)),
        "name" => leaf(label.name.as_str()),
        "color" => leaf(label.color.as_str()),
        "description" => text_or_null(label.description.as_deref()),
        "isDefault" => leaf(false),
        "createdAt" | "updatedAt" => time(label.created_at),
        "url" => leaf(format!("{}{path}", world.base_url)),
        "resourcePath" => leaf(path),
        "repository" => context.object(GraphqlNode::Repository(label.repository)),
        _ => unknown(),
    }
}

pub(super) fn reaction<'a>(
    context: &'a GraphqlContext<'a>,
    id: ReactionId,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let reaction = &world[id];
    match info.field_name() {
        "id" => leaf(GraphqlNode::Reaction(id).id(&world)),
        "databaseId" => leaf(i64::try_from(id.0 + 1).unwrap_or_default()),
        "content" => leaf(reaction.content.as_str()),
        "createdAt" => time(reaction.at),
        "user" => context.author(reaction.by),
        _ => unknown(),
    }
}
