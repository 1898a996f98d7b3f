//! The query root.

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};
use serde_json::json;

use super::object::{GraphqlContext, GraphqlNode, Resolved, leaf, refused, time, unknown};
use super::page::page;
use super::repository::{text, texts};
use super::search;
use crate::simulator::world::SimulatedAccountKind;

/// GitHub's limit for `nodes(ids:)`.
const MOST_IDS: usize = 100;

pub(super) fn field<'a>(context: &'a GraphqlContext<'a>, info: &'a ResolveInfo<'a>) -> Resolved<'a> {
    let world = context.world();
    let arguments = info.arguments();
    Ok(match info.field_name() {
        "viewer" => {
            let id = context.viewer();
            let app = world[id].kind == SimulatedAccountKind::Bot;
            context.object(if app { GraphqlNode::AppAsViewer(id) } else { GraphqlNode::Account(id) })
        }
        "rateLimit" => context.object(GraphqlNode::RateLimit),
        "user" => {
            let login = text(arguments, "login").unwrap_or_default();
            let found =
                world.account(login).filter(|id| world[*id].type_name() == "User" && !world[*id].deleted);
            let message = || format!("Could not resolve to a User with the login of '{login}'.");
            context.object(GraphqlNode::Account(found.ok_or_else(|| refused("NOT_FOUND", message()))?))
        }
        "repositoryOwner" => {
            let found = text(arguments, "login").and_then(|login| world.account(login));
            let found = found.filter(|id| matches!(world[*id].type_name(), "User" | "Organization"));
            context.optional(found.map(GraphqlNode::Account))
        }
        "repository" => {
            let (owner, name) = (text(arguments, "owner"), text(arguments, "name"));
            let (owner, name) = (owner.unwrap_or_default(), name.unwrap_or_default());
            let found = world.repository(owner, name);
            if let Some(id) = found.filter(|id| world.may_read(context.viewer(), *id)) {
                context.object(GraphqlNode::Repository(id))
            } else {
                let message = format!("Could not resolve to a Repository with the name '{owner}/{name}'.");
                return Err(refused("NOT_FOUND", message));
            }
        }
        "node" => {
            let id = text(arguments, "id").unwrap_or_default();
            context.object(GraphqlNode::find(&world, id).ok_or_else(|| refused("NOT_FOUND", no_node(id)))?)
        }
        "nodes" => {
            let ids = texts(arguments, "ids").unwrap_or_default();
            if ids.len() > MOST_IDS {
                let message =
                    format!("You may not provide more than {MOST_IDS} node ids; you provided {}.", ids.len());
                return Err(refused("ARGUMENT_LIMIT", message));
            }
            let key = info.field_selections().first().map_or("nodes", |field| field.response_key().as_str());
            let found = ids.iter().enumerate().map(|(index, id)| {
                let node = GraphqlNode::find(&world, id);
                if node.is_none() {
                    context.report("NOT_FOUND", &json!([key, index]), &no_node(id));
                }
                node
            });
            context.list(found.collect())
        }
        "search" => {
            let query = text(arguments, "query").unwrap_or_default();
            let kind = text(arguments, "type").unwrap_or_default();
            return page(context, info, search::find(&world, context.viewer(), kind, query));
        }
        _ => unknown(),
    })
}

fn no_node(id: &str) -> String {
    format!("Could not resolve to a node with the global id of '{id}'.")
}

pub(super) fn rate_limit<'a>(context: &'a GraphqlContext<'a>, info: &ResolveInfo<'_>) -> ResolvedValue<'a> {
    let budget = context.caller.budget;
    match info.field_name() {
        "cost" => leaf(context.cost.points),
        "nodeCount" => leaf(i64::try_from(context.cost.nodes).unwrap_or(i64::MAX)),
        "limit" => leaf(budget.limit),
        "used" => leaf(budget.used),
        "remaining" => leaf(budget.remaining()),
        "resetAt" => time(budget.reset_at),
        _ => unknown(),
    }
}
