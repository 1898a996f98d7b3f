//! Commits, files and check runs.

use apollo_compiler::resolvers::{ResolveInfo, ResolvedValue};
use jiff::Timestamp;

use super::object::{
    GraphqlContext, GraphqlNode, Resolved, count, leaf, refused, text_or_null, time, time_or_null, unknown,
};
use super::page::page;
use super::pull_request::NOT_ACCESSIBLE;
use crate::simulator::scenario::Hidden;
use crate::simulator::world::diff::{self, FileStatus};
use crate::simulator::world::{AccountId, CheckId, Oid, PullId, World};

pub(super) fn field<'a>(
    context: &'a GraphqlContext<'a>,
    oid: &Oid,
    info: &'a ResolveInfo<'a>,
) -> Resolved<'a> {
    let world = context.world();
    let Some(commit) = world.commit(oid) else { return Ok(unknown()) };
    let name = world.full_name(commit.repository);
    let (headline, body) = commit.message.split_once('\n').unwrap_or((commit.message.as_str(), ""));
    let changed = || {
        let before = commit.parents.first().map(|parent| world.tree(parent)).unwrap_or_default();
        diff::changes(&before, &commit.tree)
    };
    Ok(match info.field_name() {
        "id" => leaf(GraphqlNode::Commit(oid.clone()).id(&world)),
        "oid" => leaf(&**oid),
        "abbreviatedOid" => leaf(oid.get(..7).unwrap_or_default()),
        "message" => leaf(commit.message.as_str()),
        "messageHeadline" => leaf(headline),
        "messageBody" => leaf(body.trim_start()),
        "committedDate" | "authoredDate" => time(commit.at),
        "author" | "committer" => context.object(GraphqlNode::GitActor(commit.author, commit.at)),
        "url" => leaf(format!("{}/{name}/commit/{oid}", world.base_url)),
        "resourcePath" => leaf(format!("/{name}/commit/{oid}")),
        "additions" => leaf(changed().iter().map(|file| file.additions).sum::<i64>()),
        "deletions" => leaf(changed().iter().map(|file| file.deletions).sum::<i64>()),
        "changedFilesIfAvailable" => count(changed().len()),
        "parents" => {
            return page(context, info, commit.parents.iter().cloned().map(GraphqlNode::Commit).collect());
        }
        "statusCheckRollup" => {
            may_read_checks(context)?;
            context.optional((!commit.checks.is_empty()).then(|| GraphqlNode::Rollup(oid.clone())))
        }
        "checkSuites" => {
            may_read_checks(context)?;
            let mut apps: Vec<AccountId> = commit.checks.iter().map(|check| world[*check].app).collect();
            apps.dedup();
            return page(
                context,
                info,
                apps.into_iter().map(|app| GraphqlNode::CheckSuite(oid.clone(), app)).collect(),
            );
        }
        _ => unknown(),
    })
}

fn may_read_checks(context: &GraphqlContext<'_>) -> Result<(), apollo_compiler::resolvers::FieldError> {
    if context.caller.cannot_read.contains(&Hidden::Checks) {
        return Err(refused("FORBIDDEN", NOT_ACCESSIBLE));
    }
    Ok(())
}

pub(super) fn git_actor<'a>(
    context: &'a GraphqlContext<'a>,
    id: AccountId,
    at: Timestamp,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let account = &world[id];
    match info.field_name() {
        "date" => time(at),
        "email" => leaf(format!("{}@users.noreply.github.example", account.login)),
        "name" => leaf(account.name.as_deref().unwrap_or(&account.login)),
        "user" => {
            let person = account.type_name() == "User" && !account.deleted;
            context.optional(person.then_some(GraphqlNode::Account(id)))
        }
        _ => unknown(),
    }
}

pub(super) fn blob<'a>(
    context: &'a GraphqlContext<'a>,
    oid: &Oid,
    path: &str,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let tree = world.tree(oid);
    let contents = tree.get(path).map_or("", |text| text);
    match info.field_name() {
        "id" => leaf(GraphqlNode::Blob(oid.clone(), path.to_owned()).id(&world)),
        "oid" => leaf(&**oid),
        "abbreviatedOid" => leaf(oid.get(..7).unwrap_or_default()),
        "byteSize" => count(contents.len()),
        "isBinary" | "isTruncated" => leaf(false),
        "text" => leaf(contents),
        _ => unknown(),
    }
}

pub(super) fn pull_request_commit<'a>(
    context: &'a GraphqlContext<'a>,
    pull: PullId,
    oid: &Oid,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let name = world.full_name(world[pull].repository);
    let path = format!("/{name}/pull/{}/commits/{oid}", world[pull].number);
    match info.field_name() {
        "id" => leaf(GraphqlNode::PullRequestCommit(pull, oid.clone()).id(&world)),
        "commit" => context.object(GraphqlNode::Commit(oid.clone())),
        "pullRequest" => context.object(GraphqlNode::PullRequest(pull)),
        "url" => leaf(format!("{}{path}", world.base_url)),
        "resourcePath" => leaf(path),
        _ => unknown(),
    }
}

pub(super) fn changed_file<'a>(
    context: &'a GraphqlContext<'a>,
    pull: PullId,
    index: usize,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let files = context.world().changed_files(pull);
    let Some(file) = files.get(index) else { return unknown() };
    match info.field_name() {
        "path" => leaf(file.path.as_str()),
        "additions" => leaf(file.additions),
        "deletions" => leaf(file.deletions),
        "changeType" => leaf(match file.status {
            FileStatus::Added => "ADDED",
            FileStatus::Modified => "MODIFIED",
            FileStatus::Removed => "DELETED",
            FileStatus::Renamed => "RENAMED",
        }),
        "viewerViewedState" => leaf("UNVIEWED"),
        _ => unknown(),
    }
}

fn checks(world: &World, oid: &Oid) -> Vec<CheckId> {
    world.commit(oid).map(|commit| commit.checks.clone()).unwrap_or_default()
}

fn failed(conclusion: &str) -> bool {
    matches!(conclusion, "FAILURE" | "TIMED_OUT" | "CANCELLED" | "ACTION_REQUIRED" | "STARTUP_FAILURE")
}

/// One failed check makes the whole `FAILURE`, even while others still run.
fn state(world: &World, checks: &[CheckId]) -> &'static str {
    let conclusions = || checks.iter().map(|check| world[*check].conclusion.as_deref());
    if conclusions().flatten().any(failed) {
        "FAILURE"
    } else if conclusions().any(|conclusion| conclusion.is_none()) {
        "PENDING"
    } else {
        "SUCCESS"
    }
}

pub(super) fn rollup<'a>(
    context: &'a GraphqlContext<'a>,
    oid: &Oid,
    info: &'a ResolveInfo<'a>,
) -> Resolved<'a> {
    let world = context.world();
    let checks = checks(&world, oid);
    Ok(match info.field_name() {
        "id" => leaf(GraphqlNode::Rollup(oid.clone()).id(&world)),
        "state" => leaf(state(&world, &checks)),
        "commit" => context.object(GraphqlNode::Commit(oid.clone())),
        "contexts" => return page(context, info, checks.into_iter().map(GraphqlNode::Check).collect()),
        _ => unknown(),
    })
}

pub(super) fn check<'a>(
    context: &'a GraphqlContext<'a>,
    id: CheckId,
    info: &ResolveInfo<'_>,
) -> ResolvedValue<'a> {
    let world = context.world();
    let check = &world[id];
    let number = id.database_id();
    let repository = world.commit(&check.commit).map(|commit| commit.repository);
    let path = format!(
        "/{}/runs/{number}",
        repository.map(|repository| world.full_name(repository)).unwrap_or_default()
    );
    match info.field_name() {
        "id" => leaf(GraphqlNode::Check(id).id(&world)),
        "databaseId" => leaf(number),
        "name" => leaf(check.name.as_str()),
        "status" => leaf(if check.conclusion.is_some() { "COMPLETED" } else { "IN_PROGRESS" }),
        "conclusion" => text_or_null(check.conclusion.as_deref()),
        "title" => text_or_null(check.title.as_deref()),
        "summary" => text_or_null(check.summary.as_deref()),
        "text" | "externalId" => text_or_null(None),
        "startedAt" => time(check.started_at),
        "completedAt" => time_or_null(check.completed_at),
        "url" | "detailsUrl" | "permalink" => leaf(format!("{}{path}", world.base_url)),
        "resourcePath" => leaf(path),
        "checkSuite" => context.object(GraphqlNode::CheckSuite(check.commit.clone(), check.app)),
        "isRequired" => leaf(false),
        "repository" => context.optional(repository.map(GraphqlNode::Repository)),
        _ => unknown(),
    }
}

pub(super) fn check_suite<'a>(
    context: &'a GraphqlContext<'a>,
    oid: &Oid,
    app: AccountId,
    info: &'a ResolveInfo<'a>,
) -> Resolved<'a> {
    let world = context.world();
    let checks: Vec<CheckId> =
        checks(&world, oid).into_iter().filter(|check| world[*check].app == app).collect();
    let state = state(&world, &checks);
    let repository = world.commit(oid).map(|commit| commit.repository);
    let started = checks.first().map_or(Timestamp::UNIX_EPOCH, |check| world[*check].started_at);
    let path = format!(
        "/{}/commit/{oid}/checks",
        repository.map(|repository| world.full_name(repository)).unwrap_or_default()
    );
    Ok(match info.field_name() {
        "id" => leaf(GraphqlNode::CheckSuite(oid.clone(), app).id(&world)),
        "databaseId" => leaf(i64::try_from(app.0 + 1).unwrap_or_default()),
        "app" => context.object(GraphqlNode::App(app)),
        "status" => leaf(if state == "PENDING" { "IN_PROGRESS" } else { "COMPLETED" }),
        "conclusion" => text_or_null((state != "PENDING").then_some(state)),
        "commit" => context.object(GraphqlNode::Commit(oid.clone())),
        "createdAt" | "updatedAt" => time(started),
        "url" => leaf(format!("{}{path}", world.base_url)),
        "resourcePath" => leaf(path),
        "repository" => context.optional(repository.map(GraphqlNode::Repository)),
        "checkRuns" => return page(context, info, checks.into_iter().map(GraphqlNode::Check).collect()),
        _ => unknown(),
    })
}
