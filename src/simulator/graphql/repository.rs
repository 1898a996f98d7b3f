//! Repositories, their branches, and lists of their contents.

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonMap;

use super::object::{GraphqlContext, GraphqlNode, Resolved, leaf, refused, text_or_null, time, unknown};
use super::page::page;
use crate::simulator::world::{LabelId, PullId, PullState, RepositoryId, SimulatedAssociation, World};

pub(super) fn field<'a>(
    context: &'a GraphqlContext<'a>,
    id: RepositoryId,
    info: &'a ResolveInfo<'a>,
) -> Resolved<'a> {
    let world = context.world();
    let repository = &world[id];
    let name = world.full_name(id);
    let arguments = info.arguments();
    let number = || {
        arguments
            .get("number")
            .and_then(apollo_compiler::response::serde_json_bytes::Value::as_i64)
            .unwrap_or_default()
    };
    Ok(match info.field_name() {
        "id" => leaf(World::repository_node(id)),
        "databaseId" => leaf(id.database_id()),
        "name" => leaf(repository.name.as_str()),
        "owner" => context.object(GraphqlNode::Account(repository.owner)),
        "url" => leaf(format!("{}/{name}", world.base_url)),
        "resourcePath" => leaf(format!("/{name}")),
        "nameWithOwner" => leaf(name),
        // The simulator has no forks: a head branch is in the same repository, or deleted.
        "parent" => context.optional(None),
        "description" => text_or_null(repository.description.as_deref()),
        "createdAt" => time(repository.created_at),
        "updatedAt" => time(repository.updated_at),
        "pushedAt" => time(repository.pushed_at),
        "isArchived" => leaf(repository.archived),
        "isDisabled" | "isFork" => leaf(false),
        "isPrivate" => leaf(repository.private),
        "hasIssuesEnabled" | "mergeCommitAllowed" | "squashMergeAllowed" | "rebaseMergeAllowed" => leaf(true),
        "viewerDefaultMergeMethod" => leaf("MERGE"),
        "viewerPermission" => leaf(world.association(context.viewer(), id).permission()),
        "viewerCanAdminister" => leaf(world.association(context.viewer(), id) == SimulatedAssociation::Owner),
        "defaultBranchRef" => context.object(GraphqlNode::Ref(id, repository.default_branch.clone())),
        "ref" => {
            let name = text(arguments, "qualifiedName").unwrap_or_default();
            let name = name.strip_prefix("refs/heads/").unwrap_or(name);
            let exists = repository.branches.contains_key(name);
            context.optional(exists.then(|| GraphqlNode::Ref(id, name.to_owned())))
        }
        "object" => context.optional(object(&world, id, arguments)),
        "pullRequest" => {
            if let Some(pull) = world.pull(id, number()) {
                context.object(GraphqlNode::PullRequest(pull))
            } else {
                let message = format!("Could not resolve to a PullRequest with the number of {}.", number());
                return Err(refused("NOT_FOUND", message));
            }
        }
        "issue" => {
            if let Some(issue) = world.issue(id, number()) {
                context.object(GraphqlNode::Issue(issue))
            } else {
                let message = format!("Could not resolve to an Issue with the number of {}.", number());
                return Err(refused("NOT_FOUND", message));
            }
        }
        "issueOrPullRequest" => {
            let pull = world.pull(id, number()).map(GraphqlNode::PullRequest);
            let found = pull.or_else(|| world.issue(id, number()).map(GraphqlNode::Issue));
            let message =
                || format!("Could not resolve to an issue or pull request with the number of {}.", number());
            context.object(found.ok_or_else(|| refused("NOT_FOUND", message()))?)
        }
        "label" => {
            let label = text(arguments, "name").and_then(|name| world.label(id, name));
            context.optional(label.map(GraphqlNode::Label))
        }
        "labels" => {
            let wanted = text(arguments, "query").unwrap_or_default().to_lowercase();
            let labels = repository.labels.iter().copied();
            let labels = labels.filter(|label| world[*label].name.to_lowercase().contains(&wanted));
            return page(context, info, labels.map(GraphqlNode::Label).collect());
        }
        "pullRequests" => {
            let pulls = pull_requests(&world, id, arguments);
            return page(context, info, pulls.into_iter().map(GraphqlNode::PullRequest).collect());
        }
        "issues" => {
            let issues = repository.issues.iter().copied();
            let issues = issues.filter(|issue| has_labels(&world, &world[*issue].labels, arguments));
            return page(context, info, issues.map(GraphqlNode::Issue).collect());
        }
        "suggestedActors" => {
            let wanted = text(arguments, "loginNames").or_else(|| text(arguments, "query"));
            let may = (0..world.accounts.len()).map(crate::simulator::world::AccountId).filter(|account| {
                let account_name = &world[*account].login;
                let bot = world[*account].type_name() == "Bot";
                (bot || world.association(*account, id).may_write())
                    && !world[*account].deleted
                    && !matches!(world[*account].type_name(), "Team" | "Organization")
                    && wanted.is_none_or(|wanted| account_name.contains(wanted.trim_end_matches("[bot]")))
            });
            return page(context, info, may.map(GraphqlNode::Account).collect());
        }
        _ => unknown(),
    })
}

/// `object(expression: "main:src/a.rs")`, `object(expression: "main")` or `object(oid: …)`.
fn object(world: &World, id: RepositoryId, arguments: &JsonMap) -> Option<GraphqlNode> {
    if let Some(oid) = text(arguments, "oid") {
        return world.commit(oid).map(|commit| GraphqlNode::Commit(commit.oid.clone()));
    }
    let expression = text(arguments, "expression")?;
    match expression.split_once(':') {
        Some((name, path)) => {
            let commit = world.commit_named(id, name)?;
            commit.tree.contains_key(path).then(|| GraphqlNode::Blob(commit.oid.clone(), path.to_owned()))
        }
        None => world.commit_named(id, expression).map(|commit| GraphqlNode::Commit(commit.oid.clone())),
    }
}

fn pull_requests(world: &World, id: RepositoryId, arguments: &JsonMap) -> Vec<PullId> {
    let states = texts(arguments, "states");
    let (head, base) = (text(arguments, "headRefName"), text(arguments, "baseRefName"));
    let mut found: Vec<PullId> = world[id]
        .pulls
        .iter()
        .copied()
        .filter(|pull| {
            let pull = &world[*pull];
            states.as_ref().is_none_or(|states| states.contains(&state_name(pull.state)))
                && head.is_none_or(|head| pull.head_ref == head)
                && base.is_none_or(|base| pull.base_ref == base)
                && has_labels(world, &pull.labels, arguments)
        })
        .collect();
    let order = arguments.get("orderBy").and_then(|order| order.as_object());
    if let Some(order) = order {
        match text(order, "field") {
            Some("UPDATED_AT") => found.sort_by_key(|pull| world[*pull].updated_at),
            Some("COMMENTS") => found.sort_by_key(|pull| world[*pull].comments.len()),
            _ => found.sort_by_key(|pull| world[*pull].created_at),
        }
        if text(order, "direction") == Some("DESC") {
            found.reverse();
        }
    }
    found
}

/// As on GitHub, one matching label is enough.
fn has_labels(world: &World, labels: &[LabelId], arguments: &JsonMap) -> bool {
    texts(arguments, "labels").is_none_or(|wanted| {
        labels.iter().any(|label| wanted.iter().any(|name| world[*label].name.eq_ignore_ascii_case(name)))
    })
}

pub(super) fn state_name(state: PullState) -> &'static str {
    match state {
        PullState::Open => "OPEN",
        PullState::Closed => "CLOSED",
        PullState::Merged => "MERGED",
    }
}

pub(super) fn text<'v>(arguments: &'v JsonMap, name: &str) -> Option<&'v str> {
    arguments.get(name).and_then(|value| value.as_str())
}

pub(super) fn texts<'v>(arguments: &'v JsonMap, name: &str) -> Option<Vec<&'v str>> {
    let values = arguments.get(name)?.as_array()?;
    Some(values.iter().filter_map(|value| value.as_str()).collect())
}

pub(super) fn reference<'a>(
    context: &'a GraphqlContext<'a>,
    repository: RepositoryId,
    name: &str,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    match info.field_name() {
        "id" => leaf(GraphqlNode::Ref(repository, name.to_owned()).id(&world)),
        "name" => leaf(name),
        "prefix" => leaf("refs/heads/"),
        "target" => context.optional(world[repository].branches.get(name).cloned().map(GraphqlNode::Commit)),
        _ => unknown(),
    }
}
