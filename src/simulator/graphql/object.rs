//! The schema's objects, as handles into the world, and their node ids.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::JsonValue;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::page::{GraphqlConnection, GraphqlEdge};
use super::{Caller, Cost, account, commit, conversation, issue, mutation, pull_request, query};
use super::{page, repository, timeline};
use crate::simulator::world::{
    AccountId, CheckId, CommentId, IssueId, LabelId, Oid, PullId, ReactionId, RepositoryId, ReviewCommentId,
    ReviewId, Subject, ThreadId, World,
};

pub(super) type Resolved<'a> = Result<ResolvedValue<'a>, FieldError>;

/// Shared by all resolvers of one request.
pub(super) struct GraphqlContext<'w> {
    world: &'w RefCell<World>,
    pub(super) caller: Caller,
    pub(super) cost: Cost,
    /// Errors whose path the engine cannot produce: a missing element of `nodes`.
    errors: RefCell<Vec<Value>>,
}

impl<'w> GraphqlContext<'w> {
    pub(super) fn new(world: &'w RefCell<World>, caller: Caller, cost: Cost) -> Self {
        Self { world, caller, cost, errors: RefCell::new(Vec::new()) }
    }

    pub(super) fn world(&self) -> Ref<'w, World> {
        self.world.borrow()
    }

    pub(super) fn world_mut(&self) -> RefMut<'w, World> {
        self.world.borrow_mut()
    }

    pub(super) fn viewer(&self) -> AccountId {
        self.caller.account
    }

    pub(super) fn report(&self, kind: &str, path: &Value, message: &str) {
        self.errors.borrow_mut().push(json!({ "type": kind, "path": path, "message": message }));
    }

    pub(super) fn into_errors(self) -> Vec<Value> {
        self.errors.into_inner()
    }

    pub(super) fn object(&self, node: GraphqlNode) -> ResolvedValue<'_> {
        ResolvedValue::object(GraphqlObject { context: self, node })
    }

    pub(super) fn optional(&self, node: Option<GraphqlNode>) -> ResolvedValue<'_> {
        node.map_or_else(ResolvedValue::null, |node| self.object(node))
    }

    pub(super) fn list(&self, nodes: Vec<Option<GraphqlNode>>) -> ResolvedValue<'_> {
        ResolvedValue::list(nodes.into_iter().map(|node| self.optional(node)))
    }

    /// An account as an author: null once deleted.
    pub(super) fn author(&self, account: AccountId) -> ResolvedValue<'_> {
        let deleted = self.world()[account].deleted;
        self.optional((!deleted).then_some(GraphqlNode::Account(account)))
    }
}

/// One object of the response.
#[derive(Debug, Clone)]
pub(super) enum GraphqlNode {
    Query,
    Mutation,
    RateLimit,
    Account(AccountId),
    /// The viewer, when it is an app: GitHub answers with a `User` whose login ends in `[bot]`.
    AppAsViewer(AccountId),
    Repository(RepositoryId),
    Ref(RepositoryId, String),
    PullRequest(PullId),
    Thread(ThreadId),
    ReviewComment(ReviewCommentId),
    Review(ReviewId),
    Comment(CommentId),
    Issue(IssueId),
    Label(LabelId),
    ReviewRequest(PullId, AccountId),
    Commit(Oid),
    GitActor(AccountId, Timestamp),
    Blob(Oid, String),
    PullRequestCommit(PullId, Oid),
    ChangedFile(PullId, usize),
    Rollup(Oid),
    Check(CheckId),
    StateCount(String, usize),
    CheckSuite(Oid, AccountId),
    App(AccountId),
    TimelineEvent(PullId, usize),
    Reaction(ReactionId),
    Connection(Rc<GraphqlConnection>),
    Edge(Rc<GraphqlEdge>),
    PageInfo(Rc<GraphqlConnection>),
    Payload(Rc<Payload>),
}

/// A mutation's answer: named objects, and the client's own id.
#[derive(Debug)]
pub(super) struct Payload {
    pub(super) type_name: String,
    pub(super) client_mutation_id: Option<String>,
    pub(super) fields: Vec<(&'static str, GraphqlNode)>,
}

/// A node with the context that its resolvers need.
pub(super) struct GraphqlObject<'w> {
    context: &'w GraphqlContext<'w>,
    node: GraphqlNode,
}

impl<'w> GraphqlObject<'w> {
    pub(super) fn new(context: &'w GraphqlContext<'w>, node: GraphqlNode) -> Self {
        Self { context, node }
    }
}

impl ObjectValue for GraphqlObject<'_> {
    fn type_name(&self) -> &str {
        match &self.node {
            GraphqlNode::Query => "Query",
            GraphqlNode::Mutation => "Mutation",
            GraphqlNode::RateLimit => "RateLimit",
            GraphqlNode::Account(id) => self.context.world()[*id].type_name(),
            GraphqlNode::AppAsViewer(_) => "User",
            GraphqlNode::Repository(_) => "Repository",
            GraphqlNode::Ref(..) => "Ref",
            GraphqlNode::PullRequest(_) => "PullRequest",
            GraphqlNode::Thread(_) => "PullRequestReviewThread",
            GraphqlNode::ReviewComment(_) => "PullRequestReviewComment",
            GraphqlNode::Review(_) => "PullRequestReview",
            GraphqlNode::Comment(_) => "IssueComment",
            GraphqlNode::Issue(_) => "Issue",
            GraphqlNode::Label(_) => "Label",
            GraphqlNode::ReviewRequest(..) => "ReviewRequest",
            GraphqlNode::Commit(_) => "Commit",
            GraphqlNode::GitActor(..) => "GitActor",
            GraphqlNode::Blob(..) => "Blob",
            GraphqlNode::PullRequestCommit(..) => "PullRequestCommit",
            GraphqlNode::ChangedFile(..) => "PullRequestChangedFile",
            GraphqlNode::Rollup(_) => "StatusCheckRollup",
            GraphqlNode::Check(_) => "CheckRun",
            GraphqlNode::StateCount(..) => "CheckRunStateCount",
            GraphqlNode::CheckSuite(..) => "CheckSuite",
            GraphqlNode::App(_) => "App",
            GraphqlNode::TimelineEvent(pull, index) => timeline::type_name(self.context, *pull, *index),
            GraphqlNode::Reaction(_) => "Reaction",
            GraphqlNode::Connection(connection) => &connection.type_name,
            GraphqlNode::Edge(edge) => &edge.type_name,
            GraphqlNode::PageInfo(_) => "PageInfo",
            GraphqlNode::Payload(payload) => &payload.type_name,
        }
    }

    fn resolve_field<'a>(&'a self, info: &'a ResolveInfo<'a>) -> Resolved<'a> {
        let context = self.context;
        let found = match &self.node {
            GraphqlNode::Query => query::field(context, info),
            GraphqlNode::Mutation => mutation::field(context, info),
            GraphqlNode::RateLimit => Ok(query::rate_limit(context, info)),
            GraphqlNode::AppAsViewer(id) if info.field_name() == "login" => {
                Ok(leaf(context.world()[*id].rest_login()))
            }
            GraphqlNode::Account(id) | GraphqlNode::AppAsViewer(id) => Ok(account::field(context, *id, info)),
            GraphqlNode::Repository(id) => repository::field(context, *id, info),
            GraphqlNode::Ref(id, name) => Ok(repository::reference(context, *id, name, info)),
            GraphqlNode::PullRequest(id) => pull_request::field(context, *id, info),
            GraphqlNode::Thread(id) => conversation::thread(context, *id, info),
            GraphqlNode::ReviewComment(id) => Ok(conversation::review_comment(context, *id, info)),
            GraphqlNode::Review(id) => conversation::review(context, *id, info),
            GraphqlNode::Comment(id) => Ok(conversation::comment(context, *id, info)),
            GraphqlNode::Issue(id) => issue::field(context, *id, info),
            GraphqlNode::Label(id) => Ok(issue::label(context, *id, info)),
            GraphqlNode::ReviewRequest(pull, of) => pull_request::review_request(context, *pull, *of, info),
            GraphqlNode::Commit(oid) => commit::field(context, oid, info),
            GraphqlNode::GitActor(id, at) => Ok(commit::git_actor(context, *id, *at, info)),
            GraphqlNode::Blob(oid, path) => Ok(commit::blob(context, oid, path, info)),
            GraphqlNode::PullRequestCommit(pull, oid) => {
                Ok(commit::pull_request_commit(context, *pull, oid, info))
            }
            GraphqlNode::ChangedFile(pull, index) => Ok(commit::changed_file(context, *pull, *index, info)),
            GraphqlNode::Rollup(oid) => commit::rollup(context, oid, info),
            GraphqlNode::Check(id) => Ok(commit::check(context, *id, info)),
            GraphqlNode::StateCount(state, number) => Ok(match info.field_name() {
                "state" => leaf(state.as_str()),
                "count" => count(*number),
                _ => unknown(),
            }),
            GraphqlNode::CheckSuite(oid, app) => commit::check_suite(context, oid, *app, info),
            GraphqlNode::App(id) => Ok(account::app(context, *id, info)),
            GraphqlNode::TimelineEvent(pull, index) => Ok(timeline::field(context, *pull, *index, info)),
            GraphqlNode::Reaction(id) => Ok(issue::reaction(context, *id, info)),
            GraphqlNode::Connection(connection) => Ok(page::connection(context, connection, info)),
            GraphqlNode::Edge(edge) => Ok(page::edge(context, edge, info)),
            GraphqlNode::PageInfo(connection) => Ok(page::page_info(connection, info)),
            GraphqlNode::Payload(payload) => Ok(mutation::payload(context, payload, info)),
        };
        match found {
            // A field of the schema without a resolver is our defect: an error, never a null.
            Ok(ResolvedValue::SkipForPartialExecution) => Err(self.unknown_field_error(info)),
            other => other,
        }
    }
}

/// The result for a field without a resolver. `resolve_field` turns it into an error.
pub(super) fn unknown<'a>() -> ResolvedValue<'a> {
    ResolvedValue::SkipForPartialExecution
}

pub(super) fn leaf<'a>(value: impl Into<JsonValue>) -> ResolvedValue<'a> {
    ResolvedValue::leaf(value)
}

pub(super) fn time<'a>(at: Timestamp) -> ResolvedValue<'a> {
    leaf(at.to_string())
}

pub(super) fn time_or_null<'a>(at: Option<Timestamp>) -> ResolvedValue<'a> {
    at.map_or_else(ResolvedValue::null, time)
}

pub(super) fn text_or_null<'a>(text: Option<&str>) -> ResolvedValue<'a> {
    text.map_or_else(ResolvedValue::null, leaf)
}

pub(super) fn number_or_null<'a>(number: Option<i64>) -> ResolvedValue<'a> {
    number.map_or_else(ResolvedValue::null, leaf)
}

/// A count, as GraphQL's `Int`.
pub(super) fn count<'a>(number: usize) -> ResolvedValue<'a> {
    leaf(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The engine's field errors have only a message, so it carries the kind too; [`restore_kind`] separates them.
pub(super) fn refused(kind: &str, message: impl std::fmt::Display) -> FieldError {
    FieldError { message: format!("{kind}\u{1f}{message}") }
}

/// Gives an engine error GitHub's shape: `type` beside `message`.
pub(super) fn restore_kind(error: &mut Value) {
    let Some(error) = error.as_object_mut() else { return };
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let message = message.strip_prefix("resolver error: ").unwrap_or(message).to_owned();
    match message.split_once('\u{1f}') {
        Some((kind, message)) => {
            error.insert("type".to_owned(), json!(kind));
            error.insert("message".to_owned(), json!(message));
        }
        None => {
            error.insert("message".to_owned(), json!(message));
        }
    }
}

impl GraphqlNode {
    pub(super) fn subject(subject: Subject) -> Self {
        match subject {
            Subject::Pull(pull) => Self::PullRequest(pull),
            Subject::Issue(issue) => Self::Issue(issue),
        }
    }

    /// The global node id.
    pub(super) fn id(&self, world: &World) -> String {
        match self {
            Self::Account(id) => account_node(world, *id),
            Self::Repository(id) => World::repository_node(*id),
            Self::PullRequest(id) => World::pull_node(*id),
            Self::Thread(id) => World::thread_node(*id),
            Self::ReviewComment(id) => World::review_comment_node(*id),
            Self::Review(id) => World::review_node(*id),
            Self::Comment(id) => World::comment_node(*id),
            Self::Issue(id) => World::issue_node(*id),
            Self::Label(id) => format!("LA_{}", id.0 + 1),
            Self::Check(id) => format!("CR_{}", id.0 + 1),
            Self::Reaction(id) => format!("REA_{}", id.0 + 1),
            Self::Commit(oid) => format!("C_{oid}"),
            Self::Rollup(oid) => format!("SCR_{oid}"),
            Self::CheckSuite(oid, app) => format!("CS_{}_{oid}", app.0 + 1),
            Self::App(id) => format!("A_{}", id.0 + 1),
            Self::Ref(repository, name) => format!("REF_{}_{name}", repository.0 + 1),
            Self::Blob(oid, path) => format!("B_{oid}_{path}"),
            Self::PullRequestCommit(pull, oid) => format!("PRC_{}_{oid}", pull.0 + 1),
            Self::ReviewRequest(pull, of) => format!("RRQ_{}_{}", pull.0 + 1, of.0 + 1),
            Self::TimelineEvent(pull, index) => format!("EV_{}_{}", pull.0 + 1, index + 1),
            _ => String::new(),
        }
    }

    /// The object with this node id.
    pub(super) fn find(world: &World, id: &str) -> Option<Self> {
        let (prefix, rest) = id.split_once('_')?;
        let index =
            |length: usize| rest.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < length);
        let account = || {
            let id = AccountId(index(world.accounts.len())?);
            (account_node(world, id) == format!("{prefix}_{rest}") && !world[id].deleted).then_some(id)
        };
        Some(match prefix {
            "U" | "BOT" | "O" | "M" | "T" => Self::Account(account()?),
            "R" => Self::Repository(RepositoryId(index(world.repositories.len())?)),
            "PR" => Self::PullRequest(PullId(index(world.pulls.len())?)),
            "PRRT" => Self::Thread(ThreadId(index(world.threads.len())?)),
            "PRRC" => Self::ReviewComment(ReviewCommentId(index(world.review_comments.len())?)),
            "PRR" => {
                let id = ReviewId(index(world.reviews.len())?);
                (!world[id].deleted).then_some(Self::Review(id))?
            }
            "IC" => {
                let id = CommentId(index(world.comments.len())?);
                (!world[id].deleted).then_some(Self::Comment(id))?
            }
            "I" => Self::Issue(IssueId(index(world.issues.len())?)),
            "LA" => Self::Label(LabelId(index(world.labels.len())?)),
            "CR" => Self::Check(CheckId(index(world.checks.len())?)),
            "C" => Self::Commit(world.commit(rest)?.oid.clone()),
            "EV" => {
                let (pull, event) = rest.split_once('_')?;
                let pull = PullId(pull.parse::<usize>().ok()?.checked_sub(1)?);
                let event = event.parse::<usize>().ok()?.checked_sub(1)?;
                world.pulls.get(pull.0)?.timeline.get(event)?;
                Self::TimelineEvent(pull, event)
            }
            _ => return None,
        })
    }
}

fn account_node(world: &World, id: AccountId) -> String {
    let prefix = match world[id].type_name() {
        "Bot" => "BOT",
        "Organization" => "O",
        "Mannequin" => "M",
        "Team" => "T",
        _ => "U",
    };
    format!("{prefix}_{}", id.0 + 1)
}
