//! Mutations: input checked as GitHub does, then one change of the world.

use std::rc::Rc;

use apollo_compiler::resolvers::{FieldError, ResolveInfo, ResolvedValue};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::object::{GraphqlContext, GraphqlNode, Payload, Resolved, leaf, refused, text_or_null, unknown};
use super::page::lone_edge;
use crate::simulator::world::{
    AccountId, NewReview, NewSimulatedThread, PullId, ReviewId, Side, SimulatedAssociation,
    SimulatedReviewState, Subject, ThreadId, World, WorldRefusal,
};

/// What a mutation gives back: the fields of its payload.
type MutationResult = Result<Vec<(&'static str, GraphqlNode)>, WorldRefusal>;

pub(super) fn field<'a>(context: &'a GraphqlContext<'a>, info: &'a ResolveInfo<'a>) -> Resolved<'a> {
    let name = info.field_name();
    let by = context.viewer();
    let mut world = context.world_mut();
    let world = &mut *world;
    let done = match name {
        "resolveReviewThread" => resolve(world, by, &input(info)?, true),
        "unresolveReviewThread" => resolve(world, by, &input(info)?, false),
        "addPullRequestReviewThreadReply" => reply(world, by, &input(info)?),
        "addPullRequestReview" => add_review(world, by, input(info)?),
        "submitPullRequestReview" => submit_review(world, by, input(info)?),
        "deletePullRequestReview" => delete_review(world, by, &input(info)?),
        "dismissPullRequestReview" => dismiss_review(world, by, &input(info)?),
        "addComment" => add_comment(world, by, &input(info)?),
        "updateIssueComment" => update_comment(world, by, &input(info)?),
        "deleteIssueComment" => delete_comment(world, by, &input(info)?),
        "updatePullRequestReviewComment" => update_review_comment(world, by, &input(info)?),
        "minimizeComment" | "unminimizeComment" => minimize(world, by, &input(info)?),
        "requestReviews" => request_reviews(world, by, &input(info)?),
        "requestReviewsByLogin" => request_by_login(world, by, &input(info)?),
        "addLabelsToLabelable" => labels(world, by, &input(info)?, true),
        "removeLabelsFromLabelable" => labels(world, by, &input(info)?, false),
        "createLabel" => create_label(world, by, &input(info)?),
        "createIssue" => create_issue(world, by, &input(info)?),
        "replaceActorsForAssignable" => assign(world, by, &input(info)?),
        "closePullRequest" => on_pull(world, by, &input(info)?, "ClosePullRequest", World::close),
        "reopenPullRequest" => on_pull(world, by, &input(info)?, "ReopenPullRequest", World::reopen),
        "convertPullRequestToDraft" => {
            on_pull(world, by, &input(info)?, "ConvertPullRequestToDraft", |world, pull, by| {
                world.set_draft(pull, by, true);
                Ok(())
            })
        }
        "markPullRequestReadyForReview" => {
            on_pull(world, by, &input(info)?, "MarkPullRequestReadyForReview", |world, pull, by| {
                world.set_draft(pull, by, false);
                Ok(())
            })
        }
        "mergePullRequest" => merge(world, by, &input(info)?),
        "addReaction" => react(world, by, &input(info)?),
        _ => return Ok(unknown()),
    };
    let fields = done.map_err(|refusal| refused(refusal.kind(), &refusal))?;
    let sent: ClientMutation = input(info)?;
    let payload = Payload {
        type_name: info.field_definition().ty.inner_named_type().to_string(),
        client_mutation_id: sent.client_mutation_id,
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

/// The `input` argument as one of the types below. The engine has checked it against the schema already.
fn input<T: DeserializeOwned>(info: &ResolveInfo<'_>) -> Result<T, FieldError> {
    let value = info.arguments().get("input").map(serde_json::to_value);
    let value = value.and_then(Result::ok).unwrap_or_default();
    serde_json::from_value(value).map_err(|error| refused("BAD_USER_INPUT", error))
}

fn not_found(id: &str) -> WorldRefusal {
    WorldRefusal::NotFound(format!("Could not resolve to a node with the global id of '{id}'"))
}

fn pull_of(world: &World, id: &str) -> Result<PullId, WorldRefusal> {
    match GraphqlNode::find(world, id) {
        Some(GraphqlNode::PullRequest(pull)) => Ok(pull),
        _ => Err(not_found(id)),
    }
}

fn thread_of(world: &World, id: &str) -> Result<ThreadId, WorldRefusal> {
    match GraphqlNode::find(world, id) {
        Some(GraphqlNode::Thread(thread)) => Ok(thread),
        _ => Err(not_found(id)),
    }
}

fn review_of(world: &World, id: &str) -> Result<ReviewId, WorldRefusal> {
    match GraphqlNode::find(world, id) {
        Some(GraphqlNode::Review(review)) => Ok(review),
        _ => Err(not_found(id)),
    }
}

fn account_of(world: &World, id: &str) -> Result<AccountId, WorldRefusal> {
    match GraphqlNode::find(world, id) {
        Some(GraphqlNode::Account(account)) => Ok(account),
        _ => Err(not_found(id)),
    }
}

fn subject_of(world: &World, id: &str) -> Result<Subject, WorldRefusal> {
    match GraphqlNode::find(world, id) {
        Some(GraphqlNode::PullRequest(pull)) => Ok(Subject::Pull(pull)),
        Some(GraphqlNode::Issue(issue)) => Ok(Subject::Issue(issue)),
        _ => Err(not_found(id)),
    }
}

/// Writing to an archived repository is refused to everybody.
fn require_writable(world: &World, subject: Subject) -> Result<(), WorldRefusal> {
    if world[world.repository_of(subject)].archived {
        return Err(WorldRefusal::Forbidden("Repository was archived so is read-only.".to_owned()));
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OnThread {
    thread_id: String,
}

fn resolve(world: &mut World, by: AccountId, input: &OnThread, resolve: bool) -> MutationResult {
    let thread = thread_of(world, &input.thread_id)?;
    if resolve {
        world.resolve(thread, by)?;
    } else {
        world.unresolve(thread, by)?;
    }
    Ok(vec![("thread", GraphqlNode::Thread(thread))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReplyInput {
    pull_request_review_thread_id: String,
    body: String,
}

fn reply(world: &mut World, by: AccountId, input: &ReplyInput) -> MutationResult {
    let thread = thread_of(world, &input.pull_request_review_thread_id)?;
    require_writable(world, Subject::Pull(world[thread].pull))?;
    let comment = world.reply(thread, by, &input.body)?;
    Ok(vec![("comment", GraphqlNode::ReviewComment(comment))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AddReview {
    pull_request_id: String,
    body: Option<String>,
    event: Option<String>,
    #[serde(rename = "commitOID")]
    commit_oid: Option<String>,
    threads: Option<Vec<Option<DraftThread>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DraftThread {
    path: Option<String>,
    line: Option<i64>,
    start_line: Option<i64>,
    side: Option<String>,
    body: String,
}

fn state_of(event: Option<&str>) -> SimulatedReviewState {
    match event {
        Some("APPROVE") => SimulatedReviewState::Approved,
        Some("REQUEST_CHANGES") => SimulatedReviewState::ChangesRequested,
        Some("COMMENT") => SimulatedReviewState::Commented,
        Some("DISMISS") => SimulatedReviewState::Dismissed,
        // Without an event a review stays its author's draft.
        _ => SimulatedReviewState::Pending,
    }
}

fn add_review(world: &mut World, by: AccountId, input: AddReview) -> MutationResult {
    let pull = pull_of(world, &input.pull_request_id)?;
    require_writable(world, Subject::Pull(pull))?;
    let threads = input.threads.into_iter().flatten().flatten().map(|thread| NewSimulatedThread {
        path: thread.path.unwrap_or_default(),
        line: thread.line,
        start_line: thread.start_line,
        side: if thread.side.as_deref() == Some("LEFT") { Side::Left } else { Side::Right },
        body: thread.body,
    });
    let new = NewReview {
        state: state_of(input.event.as_deref()),
        body: input.body.unwrap_or_default(),
        commit: input.commit_oid.map(Into::into),
        threads: threads.collect(),
        only_in_diff: true,
    };
    let (review, _) = world.review(pull, by, new)?;
    Ok(vec![("pullRequestReview", GraphqlNode::Review(review))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SubmitReview {
    pull_request_id: Option<String>,
    pull_request_review_id: Option<String>,
    body: Option<String>,
    event: String,
}

fn submit_review(world: &mut World, by: AccountId, input: SubmitReview) -> MutationResult {
    let review = match (&input.pull_request_review_id, &input.pull_request_id) {
        (Some(id), _) => review_of(world, id)?,
        (None, Some(id)) => {
            let pull = pull_of(world, id)?;
            world.pending_review(pull, by).ok_or_else(|| not_found(id))?
        }
        (None, None) => return Err(WorldRefusal::Unprocessable("Which review is not said".to_owned())),
    };
    world.submit_review(review, by, state_of(Some(&input.event)), input.body)?;
    Ok(vec![("pullRequestReview", GraphqlNode::Review(review))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OnReview {
    pull_request_review_id: String,
}

fn delete_review(world: &mut World, by: AccountId, input: &OnReview) -> MutationResult {
    let review = review_of(world, &input.pull_request_review_id)?;
    if world[review].author != by || world[review].state != SimulatedReviewState::Pending {
        let message = "Can not delete a non-pending pull request review";
        return Err(WorldRefusal::Unprocessable(message.to_owned()));
    }
    world[review].deleted = true;
    Ok(vec![("pullRequestReview", GraphqlNode::Review(review))])
}

fn dismiss_review(world: &mut World, by: AccountId, input: &OnReview) -> MutationResult {
    let review = review_of(world, &input.pull_request_review_id)?;
    world.require_write(by, world[world[review].pull].repository, "DismissPullRequestReview")?;
    world[review].state = SimulatedReviewState::Dismissed;
    world.touch(world[review].pull);
    Ok(vec![("pullRequestReview", GraphqlNode::Review(review))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AddComment {
    subject_id: String,
    body: String,
}

fn add_comment(world: &mut World, by: AccountId, input: &AddComment) -> MutationResult {
    let subject = subject_of(world, &input.subject_id)?;
    require_writable(world, subject)?;
    let comment = world.comment(subject, by, &input.body)?;
    let index = match subject {
        Subject::Pull(pull) => world[pull].comments.len(),
        Subject::Issue(issue) => world[issue].comments.len(),
    };
    Ok(vec![
        (
            "commentEdge",
            lone_edge("IssueCommentEdge", index.saturating_sub(1), GraphqlNode::Comment(comment)),
        ),
        ("subject", GraphqlNode::subject(subject)),
    ])
}

#[derive(Deserialize)]
struct UpdateComment {
    id: String,
    #[serde(default)]
    body: String,
}

fn comment_to_change(
    world: &World,
    by: AccountId,
    id: &str,
) -> Result<crate::simulator::world::CommentId, WorldRefusal> {
    let Some(GraphqlNode::Comment(comment)) = GraphqlNode::find(world, id) else { return Err(not_found(id)) };
    if world[comment].author != by {
        let repository = world.repository_of(world[comment].subject);
        world.require_write(by, repository, "UpdateIssueComment")?;
    }
    Ok(comment)
}

fn update_comment(world: &mut World, by: AccountId, input: &UpdateComment) -> MutationResult {
    let comment = comment_to_change(world, by, &input.id)?;
    world.edit_comment(comment, by, &input.body);
    Ok(vec![("issueComment", GraphqlNode::Comment(comment))])
}

fn delete_comment(world: &mut World, by: AccountId, input: &UpdateComment) -> MutationResult {
    let comment = comment_to_change(world, by, &input.id)?;
    world.delete_comment(comment, by);
    Ok(Vec::new())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateReviewComment {
    pull_request_review_comment_id: String,
    body: String,
}

fn update_review_comment(world: &mut World, by: AccountId, input: &UpdateReviewComment) -> MutationResult {
    let id = &input.pull_request_review_comment_id;
    let Some(GraphqlNode::ReviewComment(comment)) = GraphqlNode::find(world, id) else {
        return Err(not_found(id));
    };
    if world[comment].author != by {
        let repository = world[world[world[comment].thread].pull].repository;
        world.require_write(by, repository, "UpdatePullRequestReviewComment")?;
    }
    world.edit_review_comment(comment, by, &input.body);
    Ok(vec![("pullRequestReviewComment", GraphqlNode::ReviewComment(comment))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Minimize {
    subject_id: String,
    /// Absent where a comment is shown again.
    classifier: Option<String>,
}

fn minimize(world: &mut World, by: AccountId, input: &Minimize) -> MutationResult {
    let node = GraphqlNode::find(world, &input.subject_id).ok_or_else(|| not_found(&input.subject_id))?;
    let (repository, on) = match &node {
        GraphqlNode::Comment(id) => {
            (world.repository_of(world[*id].subject), world.subject_name(world[*id].subject))
        }
        GraphqlNode::ReviewComment(id) => {
            let pull = world[world[*id].thread].pull;
            (world[pull].repository, world.pull_name(pull))
        }
        GraphqlNode::Review(id) => (world[world[*id].pull].repository, world.pull_name(world[*id].pull)),
        _ => return Err(not_found(&input.subject_id)),
    };
    world.require_write(by, repository, "MinimizeComment")?;
    // GitHub stores the reason in words: `OFF_TOPIC` reads back as `off-topic`.
    let reason = input.classifier.as_ref().map(|reason| reason.to_lowercase().replace('_', "-"));
    let marks = match &node {
        GraphqlNode::Comment(id) => &mut world[*id].marks,
        GraphqlNode::ReviewComment(id) => &mut world[*id].marks,
        GraphqlNode::Review(id) => &mut world[*id].marks,
        _ => return Err(not_found(&input.subject_id)),
    };
    marks.minimized.clone_from(&reason);
    let what = if reason.is_some() { "minimize" } else { "unminimize" };
    world.note(by, what, on, input.subject_id.clone(), reason.as_deref().unwrap_or_default(), false);
    let field = if reason.is_some() { "minimizedComment" } else { "unminimizedComment" };
    Ok(vec![(field, node)])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestReviews {
    pull_request_id: String,
    #[serde(default)]
    union: Option<bool>,
    user_ids: Option<Vec<String>>,
    bot_ids: Option<Vec<String>>,
    team_ids: Option<Vec<String>>,
}

fn request_reviews(world: &mut World, by: AccountId, input: &RequestReviews) -> MutationResult {
    let pull = pull_of(world, &input.pull_request_id)?;
    let ids = [&input.user_ids, &input.bot_ids, &input.team_ids];
    let asked = ids.into_iter().flatten().flatten().map(|id| account_of(world, id));
    let asked = asked.collect::<Result<Vec<_>, _>>()?;
    ask(world, by, pull, &asked, input.union)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestByLogin {
    pull_request_id: String,
    #[serde(default)]
    union: Option<bool>,
    user_logins: Option<Vec<String>>,
    bot_logins: Option<Vec<String>>,
    team_slugs: Option<Vec<String>>,
}

fn request_by_login(world: &mut World, by: AccountId, input: &RequestByLogin) -> MutationResult {
    let pull = pull_of(world, &input.pull_request_id)?;
    let logins = [&input.user_logins, &input.bot_logins, &input.team_slugs];
    let asked = logins.into_iter().flatten().flatten().map(|login| {
        let found = world.account(login);
        found.ok_or_else(|| WorldRefusal::NotFound(format!("Could not resolve to an account '{login}'.")))
    });
    let asked = asked.collect::<Result<Vec<_>, _>>()?;
    ask(world, by, pull, &asked, input.union)
}

/// Without `union` the new set replaces the old one: the trap that un-asks everybody else.
fn ask(
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
struct Labels {
    labelable_id: String,
    label_ids: Option<Vec<String>>,
}

fn labels(world: &mut World, by: AccountId, input: &Labels, add: bool) -> MutationResult {
    let subject = subject_of(world, &input.labelable_id)?;
    let what = if add { "AddLabelsToLabelable" } else { "RemoveLabelsFromLabelable" };
    world.require_write(by, world.repository_of(subject), what)?;
    let mut found = Vec::new();
    for id in input.label_ids.iter().flatten() {
        match GraphqlNode::find(world, id) {
            Some(GraphqlNode::Label(label)) if world[label].repository == world.repository_of(subject) => {
                found.push(label);
            }
            _ => return Err(not_found(id)),
        }
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
struct CreateLabel {
    repository_id: String,
    name: String,
    color: String,
    description: Option<String>,
}

fn create_label(world: &mut World, by: AccountId, input: &CreateLabel) -> MutationResult {
    let id = &input.repository_id;
    let Some(GraphqlNode::Repository(repository)) = GraphqlNode::find(world, id) else {
        return Err(not_found(id));
    };
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
struct CreateIssue {
    repository_id: String,
    title: String,
    body: Option<String>,
    label_ids: Option<Vec<String>>,
    assignee_ids: Option<Vec<String>>,
}

fn create_issue(world: &mut World, by: AccountId, input: &CreateIssue) -> MutationResult {
    let id = &input.repository_id;
    let Some(GraphqlNode::Repository(repository)) = GraphqlNode::find(world, id) else {
        return Err(not_found(id));
    };
    let labels = input.label_ids.iter().flatten().map(|id| match GraphqlNode::find(world, id) {
        Some(GraphqlNode::Label(label)) => Ok(label),
        _ => Err(not_found(id)),
    });
    let labels = labels.collect::<Result<Vec<_>, _>>()?;
    let assignees = input.assignee_ids.iter().flatten().map(|id| account_of(world, id));
    let assignees = assignees.collect::<Result<Vec<_>, _>>()?;
    let body = input.body.as_deref().unwrap_or_default();
    let issue = world.create_issue(repository, by, &input.title, body, labels, assignees);
    Ok(vec![("issue", GraphqlNode::Issue(issue))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assign {
    assignable_id: String,
    actor_ids: Option<Vec<String>>,
    actor_logins: Option<Vec<String>>,
}

fn assign(world: &mut World, by: AccountId, input: &Assign) -> MutationResult {
    let subject = subject_of(world, &input.assignable_id)?;
    world.require_write(by, world.repository_of(subject), "ReplaceActorsForAssignable")?;
    let by_id = input.actor_ids.iter().flatten().map(|id| account_of(world, id));
    let by_login =
        input.actor_logins.iter().flatten().map(|login| world.account(login).ok_or_else(|| not_found(login)));
    let actors = by_id.chain(by_login).collect::<Result<Vec<_>, _>>()?;
    world.set_assignees(subject, by, actors);
    Ok(vec![("assignable", GraphqlNode::subject(subject))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OnPull {
    pull_request_id: String,
}

/// Closing, reopening and drafts are for the author and for those who may write.
fn on_pull(
    world: &mut World,
    by: AccountId,
    input: &OnPull,
    what: &str,
    change: impl FnOnce(&mut World, PullId, AccountId) -> Result<(), WorldRefusal>,
) -> MutationResult {
    let pull = pull_of(world, &input.pull_request_id)?;
    if world[pull].author != by {
        world.require_write(by, world[pull].repository, what)?;
    }
    change(world, pull, by)?;
    Ok(vec![("pullRequest", GraphqlNode::PullRequest(pull))])
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Merge {
    pull_request_id: String,
    expected_head_oid: Option<String>,
}

fn merge(world: &mut World, by: AccountId, input: &Merge) -> MutationResult {
    let pull = pull_of(world, &input.pull_request_id)?;
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct React {
    subject_id: String,
    content: String,
}

fn react(world: &mut World, by: AccountId, input: &React) -> MutationResult {
    let node = GraphqlNode::find(world, &input.subject_id).ok_or_else(|| not_found(&input.subject_id))?;
    let reaction = world.react(by, &input.content, &input.subject_id);
    Ok(vec![("reaction", GraphqlNode::Reaction(reaction)), ("subject", node)])
}
