//! Mutations of a pull request or issue itself: requests for reviews, labels, assignees, closing, merging.

use serde::Deserialize;

use super::{
    GraphqlNode, MutationResult, find_account, find_label, find_pull, find_repository, find_subject,
    not_found,
};
use crate::simulator::world::{AccountId, PullId, SimulatedAssociation, World, WorldRefusal};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestReviews {
    pull_request_id: String,
    #[serde(default)]
    union: Option<bool>,
    user_ids: Option<Vec<String>>,
    bot_ids: Option<Vec<String>>,
    team_ids: Option<Vec<String>>,
}

pub(super) fn request_reviews(world: &mut World, by: AccountId, input: &RequestReviews) -> MutationResult {
    let pull = find_pull(world, &input.pull_request_id)?;
    let ids = [&input.user_ids, &input.bot_ids, &input.team_ids];
    let asked = ids.into_iter().flatten().flatten().map(|id| find_account(world, id));
    let asked = asked.collect::<Result<Vec<_>, _>>()?;
    ask(world, by, pull, &asked, input.union)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestByLogin {
    pull_request_id: String,
    #[serde(default)]
    union: Option<bool>,
    user_logins: Option<Vec<String>>,
    bot_logins: Option<Vec<String>>,
    team_slugs: Option<Vec<String>>,
}

pub(super) fn request_by_login(world: &mut World, by: AccountId, input: &RequestByLogin) -> MutationResult {
    let pull = find_pull(world, &input.pull_request_id)?;
    let logins = [&input.user_logins, &input.bot_logins, &input.team_slugs];
    let asked = logins.into_iter().flatten().flatten().map(|login| {
        let found = world.account(login);
        found.ok_or_else(|| WorldRefusal::NotFound(format!("Could not resolve to an account '{login}'.")))
    });
    let asked = asked.collect::<Result<Vec<_>, _>>()?;
    ask(world, by, pull, &asked, input.union)
}

/// Without `union` the new set replaces the old one, so a client that forgets it removes every other request.
pub(super) fn ask(
    world: &mut World,
    by: AccountId,
    pull: PullId,
    asked: &[AccountId],
    union: Option<bool>,
) -> MutationResult {
    world.require_write(by, world[pull].repository, "RequestReviews")?;
    if asked.contains(&world[pull].author) {
        let message = "Review cannot be requested from pull request author.";
        return Err(WorldRefusal::Unprocessable(message.to_owned()));
    }
    if union != Some(true) {
        for gone in world[pull].requested.clone().into_iter().filter(|there| !asked.contains(there)) {
            world.unrequest_review(pull, by, gone);
        }
    }
    for of in asked {
        world.request_review(pull, by, *of);
    }
    Ok(vec![("pullRequest", GraphqlNode::PullRequest(pull)), ("actor", GraphqlNode::Account(by))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Labels {
    labelable_id: String,
    label_ids: Option<Vec<String>>,
}

pub(super) fn change_labels(world: &mut World, by: AccountId, input: &Labels, add: bool) -> MutationResult {
    let subject = find_subject(world, &input.labelable_id)?;
    let what = if add { "AddLabelsToLabelable" } else { "RemoveLabelsFromLabelable" };
    world.require_write(by, world.repository_of(subject), what)?;
    let mut found = Vec::new();
    for id in input.label_ids.iter().flatten() {
        let label = find_label(world, id)?;
        if world[label].repository != world.repository_of(subject) {
            return Err(not_found(id));
        }
        found.push(label);
    }
    for label in found {
        if add {
            world.add_label(subject, by, label);
        } else {
            world.remove_label(subject, by, label);
        }
    }
    Ok(vec![("labelable", GraphqlNode::subject(subject))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateLabel {
    repository_id: String,
    name: String,
    color: String,
    description: Option<String>,
}

pub(super) fn create_label(world: &mut World, by: AccountId, input: &CreateLabel) -> MutationResult {
    let repository = find_repository(world, &input.repository_id)?;
    world.require_write(by, repository, "CreateLabel")?;
    if world.label(repository, &input.name).is_some() {
        return Err(WorldRefusal::Unprocessable("Name has already been taken".to_owned()));
    }
    let label = world.ensure_label(repository, &input.name);
    world[label].color.clone_from(&input.color);
    world[label].description.clone_from(&input.description);
    Ok(vec![("label", GraphqlNode::Label(label))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateIssue {
    repository_id: String,
    title: String,
    body: Option<String>,
    label_ids: Option<Vec<String>>,
    assignee_ids: Option<Vec<String>>,
}

pub(super) fn create_issue(world: &mut World, by: AccountId, input: &CreateIssue) -> MutationResult {
    let repository = find_repository(world, &input.repository_id)?;
    let labels = input.label_ids.iter().flatten().map(|id| find_label(world, id));
    let labels = labels.collect::<Result<Vec<_>, _>>()?;
    let assignees = input.assignee_ids.iter().flatten().map(|id| find_account(world, id));
    let assignees = assignees.collect::<Result<Vec<_>, _>>()?;
    let body = input.body.as_deref().unwrap_or_default();
    let issue = world.create_issue(repository, by, &input.title, body, labels, assignees);
    Ok(vec![("issue", GraphqlNode::Issue(issue))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Assign {
    assignable_id: String,
    actor_ids: Option<Vec<String>>,
    actor_logins: Option<Vec<String>>,
}

pub(super) fn assign(world: &mut World, by: AccountId, input: &Assign) -> MutationResult {
    let subject = find_subject(world, &input.assignable_id)?;
    world.require_write(by, world.repository_of(subject), "ReplaceActorsForAssignable")?;
    let by_id = input.actor_ids.iter().flatten().map(|id| find_account(world, id));
    let by_login =
        input.actor_logins.iter().flatten().map(|login| world.account(login).ok_or_else(|| not_found(login)));
    let actors = by_id.chain(by_login).collect::<Result<Vec<_>, _>>()?;
    world.set_assignees(subject, by, actors);
    Ok(vec![("assignable", GraphqlNode::subject(subject))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OnPull {
    pull_request_id: String,
}

/// The author and accounts with write access may close, reopen and change the draft state.
pub(super) fn change_pull(
    world: &mut World,
    by: AccountId,
    input: &OnPull,
    what: &str,
    change: impl FnOnce(&mut World, PullId, AccountId) -> Result<(), WorldRefusal>,
) -> MutationResult {
    let pull = find_pull(world, &input.pull_request_id)?;
    if world[pull].author != by {
        world.require_write(by, world[pull].repository, what)?;
    }
    change(world, pull, by)?;
    Ok(vec![("pullRequest", GraphqlNode::PullRequest(pull))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Merge {
    pull_request_id: String,
    expected_head_oid: Option<String>,
}

pub(super) fn merge(world: &mut World, by: AccountId, input: &Merge) -> MutationResult {
    let pull = find_pull(world, &input.pull_request_id)?;
    if world.association(by, world[pull].repository) > SimulatedAssociation::Collaborator {
        world.require_write(by, world[pull].repository, "MergePullRequest")?;
    }
    if input.expected_head_oid.as_deref().is_some_and(|head| head != &*world[pull].head) {
        let message = "Head branch was modified. Review and try the merge again.";
        return Err(WorldRefusal::Unprocessable(message.to_owned()));
    }
    world.merge(pull, by)?;
    Ok(vec![("pullRequest", GraphqlNode::PullRequest(pull)), ("actor", GraphqlNode::Account(by))])
}
