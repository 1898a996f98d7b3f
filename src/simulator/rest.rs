//! The REST routes that Cloture uses, with the answers and refusals that GitHub gives.

mod code;
mod route;
mod shapes;

use serde_json::{Value, json};

use super::world::{
    AccountId, PullId, PullState, RepositoryId, SimulatedAccountKind, Subject, World, WorldRefusal,
};

pub(crate) use route::RestRoute;

/// The parts of a REST request that routes read.
#[derive(Debug)]
pub(crate) struct RestRequest<'a> {
    /// The path's segments, decoded, without `/api/v3` and the query.
    pub(crate) segments: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) accept: &'a str,
    pub(crate) body: &'a [u8],
}

#[derive(Debug)]
pub(crate) struct RestAnswer {
    pub(crate) status: u16,
    pub(crate) body: RestBody,
    /// The number of the next page, for the `link` header.
    pub(crate) next_page: Option<usize>,
    /// The path of a moved object, for the `location` header.
    pub(crate) moved_to: Option<String>,
}

#[derive(Debug)]
pub(crate) enum RestBody {
    Json(Value),
    Text(String),
    Empty,
}

impl RestAnswer {
    pub(crate) fn json(status: u16, body: Value) -> Self {
        Self { status, body: RestBody::Json(body), next_page: None, moved_to: None }
    }

    pub(crate) fn message(status: u16, message: &str) -> Self {
        let url = "https://docs.github.com/rest";
        Self::json(
            status,
            json!({ "message": message, "documentation_url": url, "status": status.to_string() }),
        )
    }

    /// GitHub's answer to a repository's former name.
    fn moved(repository: RepositoryId, rest: &[String]) -> Self {
        let mut path = format!("/repositories/{}", repository.database_id());
        for segment in rest {
            path = format!("{path}/{segment}");
        }
        Self { moved_to: Some(path), ..Self::message(301, "Moved Permanently") }
    }

    fn text(text: String) -> Self {
        Self { status: 200, body: RestBody::Text(text), next_page: None, moved_to: None }
    }
}

/// A path by a repository's number, as the path by its present name.
pub(crate) fn by_name(world: &World, segments: Vec<String>) -> Vec<String> {
    let found = match segments.as_slice() {
        [first, number, ..] if first == "repositories" => {
            (0..world.repositories.len()).map(RepositoryId).find(|id| id.database_id().to_string() == *number)
        }
        _ => None,
    };
    let Some(id) = found else { return segments };
    let (owner, name) = (world[world[id].owner].login.clone(), world[id].name.clone());
    ["repos".to_owned(), owner, name].into_iter().chain(segments.into_iter().skip(2)).collect()
}

/// Carries a request out, except `rate_limit`: `core` answers that one, because it keeps the budgets.
pub(crate) fn answer(
    world: &mut World,
    by: AccountId,
    route: RestRoute,
    request: &RestRequest<'_>,
) -> RestAnswer {
    match carry_out(world, by, route, request) {
        Ok(answer) => answer,
        Err(WorldRefusal::NotFound(message)) => RestAnswer::message(404, &message),
        Err(WorldRefusal::Forbidden(message)) => RestAnswer::message(403, &message),
        Err(WorldRefusal::Unprocessable(message)) => RestAnswer::message(422, &message),
    }
}

fn carry_out(
    world: &mut World,
    by: AccountId,
    route: RestRoute,
    request: &RestRequest<'_>,
) -> Result<RestAnswer, WorldRefusal> {
    if route == RestRoute::User {
        return Ok(RestAnswer::json(200, shapes::account(world, by)));
    }
    let segment = |index: usize| request.segments.get(index).map_or("", String::as_str);
    let repository = find_repository(world, by, segment(1), segment(2))?;
    if world.repository_now(segment(1), segment(2)).is_none() {
        return Ok(RestAnswer::moved(repository, &request.segments[3..]));
    }
    if route.writes() && world[repository].archived {
        return Err(WorldRefusal::Forbidden("Repository was archived so is read-only.".to_owned()));
    }
    let numbered = || {
        let number = segment(4).parse::<i64>().map_err(|_| not_found())?;
        let pull = world.pull(repository, number).map(Subject::Pull);
        pull.or_else(|| world.issue(repository, number).map(Subject::Issue)).ok_or_else(not_found)
    };
    match route {
        RestRoute::User | RestRoute::RateLimit => Err(not_found()),
        RestRoute::Repository => Ok(RestAnswer::json(200, shapes::repository(world, repository, by))),
        RestRoute::Dispatch => dispatch(world, by, repository, &request.json()?),
        RestRoute::CreateIssue => create_issue(world, by, repository, &request.json()?),
        RestRoute::ListIssues => Ok(list_issues(world, repository, request)),
        RestRoute::GetIssue => {
            let subject = numbered()?;
            Ok(RestAnswer::json(200, shapes::subject(world, subject)))
        }
        RestRoute::CreateComment => {
            let subject = numbered()?;
            let body = request.json()?;
            let comment = world.comment(subject, by, text(&body, "body"))?;
            Ok(RestAnswer::json(201, shapes::comment(world, comment)))
        }
        RestRoute::Reactions => {
            let pull = as_pull(numbered()?)?;
            let reactions = world[pull].reactions.iter().map(|id| shapes::reaction(world, *id));
            Ok(RestAnswer::json(200, Value::Array(reactions.collect())))
        }
        RestRoute::AddLabels | RestRoute::RemoveLabel => {
            let subject = numbered()?;
            label(world, by, subject, route, request)
        }
        RestRoute::GetPull => {
            let pull = as_pull(numbered()?)?;
            if request.accept.contains("diff") {
                return Ok(RestAnswer::text(code::unified(&world.changed_files(pull))));
            }
            Ok(RestAnswer::json(200, shapes::pull(world, pull)))
        }
        RestRoute::PullFiles => {
            let pull = as_pull(numbered()?)?;
            let files = world.changed_files(pull).iter().map(shapes::file).collect();
            Ok(request.page(files))
        }
        RestRoute::RequestReviewers | RestRoute::RequestedReviewers | RestRoute::UnrequestReviewers => {
            let pull = as_pull(numbered()?)?;
            reviewers(world, by, pull, route, request)
        }
        RestRoute::Merge => {
            let pull = as_pull(numbered()?)?;
            merge(world, by, pull, &request.json().unwrap_or_default())
        }
        RestRoute::Compare => {
            code::compare(world, repository, &request.segments[4..].join("/"), request.accept)
        }
        RestRoute::Contents => code::contents(world, repository, &request.segments[4..].join("/"), request),
    }
}

fn not_found() -> WorldRefusal {
    WorldRefusal::NotFound("Not Found".to_owned())
}

/// GitHub answers 404 for a private repository that the account may not read.
fn find_repository(
    world: &World,
    by: AccountId,
    owner: &str,
    name: &str,
) -> Result<RepositoryId, WorldRefusal> {
    let id = world.repository(owner, name).ok_or_else(not_found)?;
    if world.may_read(by, id) { Ok(id) } else { Err(not_found()) }
}

fn as_pull(subject: Subject) -> Result<PullId, WorldRefusal> {
    match subject {
        Subject::Pull(pull) => Ok(pull),
        Subject::Issue(_) => Err(not_found()),
    }
}

fn text<'v>(body: &'v Value, key: &str) -> &'v str {
    body.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn texts(body: &Value, key: &str) -> Vec<String> {
    let values = body.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl RestRequest<'_> {
    fn json(&self) -> Result<Value, WorldRefusal> {
        serde_json::from_slice(self.body)
            .map_err(|_| WorldRefusal::Unprocessable("Problems parsing JSON".to_owned()))
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn page(&self, items: Vec<Value>) -> RestAnswer {
        let number = |name: &str| self.parameter(name).and_then(|value| value.parse::<usize>().ok());
        let size = number("per_page").unwrap_or(30).clamp(1, 100);
        let page = number("page").unwrap_or(1).max(1);
        let total = items.len();
        let shown: Vec<Value> = items.into_iter().skip((page - 1) * size).take(size).collect();
        let next_page = (page * size < total).then_some(page + 1);
        RestAnswer { next_page, ..RestAnswer::json(200, Value::Array(shown)) }
    }
}

/// GitHub's documented limits for a dispatch.
const MOST_PAYLOAD_KEYS: usize = 10;
const LONGEST_EVENT_TYPE: usize = 100;

fn dispatch(
    world: &mut World,
    by: AccountId,
    repository: RepositoryId,
    body: &Value,
) -> Result<RestAnswer, WorldRefusal> {
    world.require_write(by, repository, "RepositoryDispatch")?;
    let event = text(body, "event_type");
    let payload = body.get("client_payload").cloned().unwrap_or_else(|| json!({}));
    if event.is_empty() || event.chars().count() > LONGEST_EVENT_TYPE {
        let message = "Invalid request.\n\nevent_type must be 1 to 100 characters.";
        return Err(WorldRefusal::Unprocessable(message.to_owned()));
    }
    if payload.as_object().is_none_or(|payload| payload.len() > MOST_PAYLOAD_KEYS) {
        let message = "Invalid request.\n\nNo more than 10 properties are allowed in client_payload.";
        return Err(WorldRefusal::Unprocessable(message.to_owned()));
    }
    world.dispatch(repository, by, event, payload);
    Ok(RestAnswer { status: 204, body: RestBody::Empty, next_page: None, moved_to: None })
}

fn create_issue(
    world: &mut World,
    by: AccountId,
    repository: RepositoryId,
    body: &Value,
) -> Result<RestAnswer, WorldRefusal> {
    let title = text(body, "title");
    if title.is_empty() {
        return Err(WorldRefusal::Unprocessable("Validation Failed".to_owned()));
    }
    let writer = world.association(by, repository).may_write();
    let mut labels = Vec::new();
    let mut assignees = Vec::new();
    // GitHub silently drops labels and assignees when the account may not set them.
    if writer {
        labels = texts(body, "labels").iter().map(|name| world.ensure_label(repository, name)).collect();
        for login in texts(body, "assignees") {
            let found = world.account(&login).filter(|id| may_be_assigned(world, repository, *id));
            let message =
                || WorldRefusal::Unprocessable(format!("Validation Failed: {login} cannot be assigned"));
            assignees.push(found.ok_or_else(message)?);
        }
    }
    let issue = world.create_issue(repository, by, title, text(body, "body"), labels, assignees);
    Ok(RestAnswer::json(201, shapes::subject(world, Subject::Issue(issue))))
}

fn may_be_assigned(world: &World, repository: RepositoryId, id: AccountId) -> bool {
    world[id].kind == SimulatedAccountKind::Bot || world.association(id, repository).may_write()
}

/// GitHub lists pull requests as issues too.
fn list_issues(world: &World, repository: RepositoryId, request: &RestRequest<'_>) -> RestAnswer {
    let state = request.parameter("state").unwrap_or("open");
    let creator = request.parameter("creator").map(|login| world.account(login));
    let labels: Vec<&str> = request.parameter("labels").map(|l| l.split(',').collect()).unwrap_or_default();
    let subjects = world[repository].issues.iter().map(|id| Subject::Issue(*id));
    let subjects = subjects.chain(world[repository].pulls.iter().map(|id| Subject::Pull(*id)));
    let mut found: Vec<(jiff::Timestamp, Value)> = subjects
        .filter_map(|subject| {
            let (open, author, its_labels, at) = match subject {
                Subject::Issue(id) => (true, world[id].author, &world[id].labels, world[id].created_at),
                Subject::Pull(id) => {
                    let pull = &world[id];
                    (pull.state == PullState::Open, pull.author, &pull.labels, pull.created_at)
                }
            };
            let in_state = match state {
                "all" => true,
                "closed" => !open,
                _ => open,
            };
            let labelled = labels
                .iter()
                .all(|name| its_labels.iter().any(|label| world[*label].name.eq_ignore_ascii_case(name)));
            let by = creator.is_none_or(|creator| creator == Some(author));
            (in_state && labelled && by).then(|| (at, shapes::subject(world, subject)))
        })
        .collect();
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    request.page(found.into_iter().map(|(_, value)| value).collect())
}

fn label(
    world: &mut World,
    by: AccountId,
    subject: Subject,
    route: RestRoute,
    request: &RestRequest<'_>,
) -> Result<RestAnswer, WorldRefusal> {
    let repository = world.repository_of(subject);
    world.require_write(by, repository, "Labels")?;
    if route == RestRoute::AddLabels {
        // REST creates a missing label. GraphQL's mutation takes only ids, so it cannot.
        for name in texts(&request.json()?, "labels") {
            let label = world.ensure_label(repository, &name);
            world.add_label(subject, by, label);
        }
    } else {
        let name = request.segments.get(6).map_or("", String::as_str);
        let label = world.label(repository, name);
        let label = label.ok_or_else(|| WorldRefusal::NotFound("Label does not exist".to_owned()))?;
        world.remove_label(subject, by, label);
    }
    Ok(RestAnswer::json(200, shapes::labels(world, subject)))
}

/// GitHub accepts a bot only by its exact REST login. Any other spelling succeeds and does nothing.
fn reviewers(
    world: &mut World,
    by: AccountId,
    pull: PullId,
    route: RestRoute,
    request: &RestRequest<'_>,
) -> Result<RestAnswer, WorldRefusal> {
    if route == RestRoute::RequestedReviewers {
        return Ok(RestAnswer::json(200, shapes::requested(world, pull)));
    }
    world.require_write(by, world[pull].repository, "RequestReviewers")?;
    let body = request.json()?;
    let mut asked = Vec::new();
    for login in texts(&body, "reviewers").into_iter().chain(texts(&body, "team_reviewers")) {
        let refusal = || {
            let message = "Reviews may only be requested from collaborators. One or more of the users or teams \
                           you specified is not a collaborator of the repository.";
            WorldRefusal::Unprocessable(message.to_owned())
        };
        let id = world.account(&login).ok_or_else(refusal)?;
        if id == world[pull].author {
            let message = "Review cannot be requested from pull request author.";
            return Err(WorldRefusal::Unprocessable(message.to_owned()));
        }
        if world[id].kind == SimulatedAccountKind::Bot && world[id].rest_login() != login {
            continue;
        }
        asked.push(id);
    }
    for of in asked {
        if route == RestRoute::RequestReviewers {
            world.request_review(pull, by, of);
        } else {
            world.unrequest_review(pull, by, of);
        }
    }
    let status = if route == RestRoute::RequestReviewers { 201 } else { 200 };
    Ok(RestAnswer::json(status, shapes::pull(world, pull)))
}

fn merge(world: &mut World, by: AccountId, pull: PullId, body: &Value) -> Result<RestAnswer, WorldRefusal> {
    world.require_write(by, world[pull].repository, "Merge")?;
    let expected = text(body, "sha");
    if !expected.is_empty() && expected != &*world[pull].head {
        let message = "Head branch was modified. Review and try the merge again.";
        return Ok(RestAnswer::message(409, message));
    }
    match world.merge(pull, by) {
        Ok(oid) => {
            let merged =
                json!({ "sha": &*oid, "merged": true, "message": "Pull Request successfully merged" });
            Ok(RestAnswer::json(200, merged))
        }
        Err(refusal) => Ok(RestAnswer::message(405, &refusal.to_string())),
    }
}
