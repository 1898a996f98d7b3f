//! REST's JSON for each record. Unlike GraphQL, bots' logins end in `[bot]` and states are in lower case.

use serde_json::{Value, json};

use crate::simulator::world::diff::{FileStatus, SimulatedFileChange};
use crate::simulator::world::{
    AccountId, CommentId, Commit, LabelId, PullId, PullState, ReactionId, RepositoryId, SimulatedAccountKind,
    SimulatedAssociation, Subject, World,
};

pub(super) fn account(world: &World, id: AccountId) -> Value {
    let account = &world[id];
    let kind = match account.kind {
        SimulatedAccountKind::Bot => "Bot",
        SimulatedAccountKind::Organization => "Organization",
        SimulatedAccountKind::Mannequin => "Mannequin",
        SimulatedAccountKind::User | SimulatedAccountKind::Team => "User",
    };
    json!({
        "login": account.rest_login(),
        "id": account.database_id,
        "type": kind,
        "name": account.name,
        "html_url": format!("{}/{}", world.base_url, account.login),
    })
}

/// GitHub says here that every account is a user, apps included.
pub(super) fn reaction(world: &World, id: ReactionId) -> Value {
    let reaction = &world[id];
    let mut user = account(world, reaction.by);
    user["type"] = json!("User");
    json!({
        "id": id.0 + 1,
        "user": user,
        "content": reaction.content,
        "created_at": reaction.at.to_string(),
    })
}

/// GitHub shows null for a deleted author.
fn author(world: &World, id: AccountId) -> Value {
    if world[id].deleted { Value::Null } else { account(world, id) }
}

pub(super) fn repository(world: &World, id: RepositoryId, by: AccountId) -> Value {
    let repository = &world[id];
    let association = world.association(by, id);
    let name = world.full_name(id);
    json!({
        "id": id.database_id(),
        "node_id": World::repository_node(id),
        "name": repository.name,
        "full_name": name,
        "owner": account(world, repository.owner),
        "private": repository.private,
        "archived": repository.archived,
        "description": repository.description,
        "default_branch": repository.default_branch,
        "html_url": format!("{}/{name}", world.base_url),
        "permissions": {
            "admin": association == SimulatedAssociation::Owner,
            "maintain": association == SimulatedAssociation::Owner,
            "push": association.may_write(),
            "triage": association.may_write(),
            "pull": true,
        },
    })
}

fn label_names(world: &World, labels: &[LabelId]) -> Value {
    let labels = labels.iter().map(|id| {
        let label = &world[*id];
        json!({ "name": label.name, "color": label.color, "description": label.description })
    });
    labels.collect()
}

pub(super) fn labels(world: &World, subject: Subject) -> Value {
    match subject {
        Subject::Pull(pull) => label_names(world, &world[pull].labels),
        Subject::Issue(issue) => label_names(world, &world[issue].labels),
    }
}

pub(super) fn subject(world: &World, subject: Subject) -> Value {
    match subject {
        Subject::Pull(id) => {
            let mut value = pull(world, id);
            if let Some(value) = value.as_object_mut() {
                value.insert("pull_request".to_owned(), json!({ "html_url": world.pull_url(id) }));
            }
            value
        }
        Subject::Issue(id) => {
            let issue = &world[id];
            let name = world.full_name(issue.repository);
            json!({
                "id": id.database_id(),
                "node_id": World::issue_node(id),
                "number": issue.number,
                "state": "open",
                "title": issue.title,
                "body": issue.body,
                "user": author(world, issue.author),
                "labels": label_names(world, &issue.labels),
                "assignees": issue.assignees.iter().map(|id| account(world, *id)).collect::<Vec<_>>(),
                "comments": issue.comments.len(),
                "created_at": issue.created_at,
                "updated_at": issue.updated_at,
                "html_url": format!("{}/{name}/issues/{}", world.base_url, issue.number),
            })
        }
    }
}

pub(super) fn comment(world: &World, id: CommentId) -> Value {
    let comment = &world[id];
    let name = world.subject_name(comment.subject).replace('#', "/issues/");
    let number = id.database_id();
    json!({
        "id": number,
        "node_id": World::comment_node(id),
        "body": comment.body,
        "user": author(world, comment.author),
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
        "html_url": format!("{}/{name}#issuecomment-{number}", world.base_url),
    })
}

pub(super) fn pull(world: &World, id: PullId) -> Value {
    let pull = &world[id];
    json!({
        "id": id.database_id(),
        "node_id": World::pull_node(id),
        "number": pull.number,
        "state": if pull.state == PullState::Open { "open" } else { "closed" },
        "merged": pull.state == PullState::Merged,
        "draft": pull.draft,
        "title": pull.title,
        "body": pull.body,
        "user": author(world, pull.author),
        "labels": label_names(world, &pull.labels),
        "requested_reviewers": requested(world, id)["users"],
        "head": { "ref": pull.head_ref, "sha": &*pull.head },
        "base": { "ref": pull.base_ref, "sha": &*pull.base },
        "created_at": pull.created_at,
        "updated_at": pull.updated_at,
        "closed_at": pull.closed_at,
        "merged_at": pull.merged_at,
        "html_url": world.pull_url(id),
    })
}

pub(super) fn requested(world: &World, id: PullId) -> Value {
    let of = |team: bool| -> Vec<Value> {
        let asked = world[id].requested.iter();
        asked
            .filter(|asked| (world[**asked].kind == SimulatedAccountKind::Team) == team)
            .map(|asked| account(world, *asked))
            .collect()
    };
    json!({ "users": of(false), "teams": of(true) })
}

pub(super) fn file(file: &SimulatedFileChange) -> Value {
    let status = match file.status {
        FileStatus::Added => "added",
        FileStatus::Modified => "modified",
        FileStatus::Removed => "removed",
        FileStatus::Renamed => "renamed",
    };
    let mut value = json!({
        "filename": file.path,
        "status": status,
        "additions": file.additions,
        "deletions": file.deletions,
        "changes": file.additions + file.deletions,
        "patch": file.patch,
    });
    if let (Some(previous), Some(value)) = (&file.previous_path, value.as_object_mut()) {
        value.insert("previous_filename".to_owned(), json!(previous));
    }
    value
}

pub(super) fn commit(world: &World, commit: &Commit) -> Value {
    let person = json!({ "name": world[commit.author].login, "date": commit.at });
    json!({
        "sha": &*commit.oid,
        "commit": { "message": commit.message, "author": person, "committer": person },
        "author": author(world, commit.author),
        "parents": commit.parents.iter().map(|oid| json!({ "sha": &**oid })).collect::<Vec<_>>(),
    })
}
