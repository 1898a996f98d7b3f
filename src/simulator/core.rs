//! The server without its sockets: takes a request, returns the reply.
//!
//! As at GitHub's edge, the order is: identify the account, parse the request, apply a fault that prevents
//! the work, check the limits, do the work.

mod control;
mod wire;

use std::cell::RefCell;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::clock::{ClockMode, VirtualClock};
use super::faults::{Fault, FaultKind, FaultTarget, Faults};
use super::graphql::{self, Caller, Engine};
use super::inspect::{self, IssueSnapshot, PullSnapshot, RequestRecord, Snapshot};
use super::limits::{Exceeded, HourlyBudget, Resource, UsageLedger};
use super::rest::{self, RestAnswer, RestBody, RestRequest, RestRoute};
use super::scenario::{Hidden, Scenario, ScenarioAction, TokenEntry};
use super::script::{self, Script};
use super::world::{AccountId, Dispatch, ReceivedWrite, World};

pub(crate) use wire::{HttpAnswer, HttpReply, Incoming, ResponseFault};

#[derive(Debug)]
pub(crate) struct Core {
    clock: VirtualClock,
    engine: Engine,
    world: RefCell<World>,
    script: Script,
    viewer: AccountId,
    tokens: Vec<TokenEntry>,
    ledger: UsageLedger,
    faults: Faults,
    /// Every request while tests drive the clock; only the newest [`MOST_LOGGED`] while it runs by itself.
    log: Vec<RequestRecord>,
    most_logged: usize,
    /// How many of the oldest records `log` no longer holds.
    forgotten: usize,
    points: i64,
}

/// A clock that runs by itself may run for days, so the log is bounded then.
const MOST_LOGGED: usize = 1_000;

/// A parsed request.
struct ParsedRequest {
    target: RequestTarget,
    operation: String,
    fields: Vec<String>,
    writes: bool,
    points: i64,
    nodes: u64,
}

enum RequestTarget {
    Graphql(Box<graphql::PreparedOperation>),
    /// An invalid GraphQL request, with its answer.
    Invalid(Value),
    Rest(RestRoute),
    Nowhere,
}

impl Core {
    pub(crate) fn new(scenario: &Scenario, mode: ClockMode) -> Result<Self, String> {
        let (world, script) = script::build(scenario);
        let viewer = world
            .account(&scenario.viewer)
            .ok_or_else(|| format!("there is no account `{}`", scenario.viewer))?;
        Ok(Self {
            clock: VirtualClock::new(scenario.start, mode),
            engine: Engine::new()?,
            world: RefCell::new(world),
            script,
            viewer,
            tokens: scenario.tokens.clone(),
            ledger: UsageLedger::new(scenario.limits),
            faults: Faults::default(),
            log: Vec::new(),
            most_logged: if mode == ClockMode::Manual { usize::MAX } else { MOST_LOGGED },
            forgotten: 0,
            points: 0,
        })
    }

    /// Plays the script up to the current time. Every reader of the world calls this first.
    fn catch_up(&mut self) -> Timestamp {
        let now = self.clock.now();
        self.script.play_until(self.world.get_mut(), now);
        now
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
        self.catch_up();
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        self.catch_up();
        inspect::snapshot(self.world.get_mut(), self.script.problems())
    }

    /// One pull request, by `owner/name#number`.
    pub(crate) fn pull_request(&mut self, name: &str) -> Option<PullSnapshot> {
        self.catch_up();
        let world = self.world.get_mut();
        world.pull_named(name).map(|id| inspect::pull(world, id))
    }

    pub(crate) fn dispatches(&mut self) -> &[Dispatch] {
        self.catch_up();
        &self.world.get_mut().dispatches
    }

    pub(crate) fn issues(&mut self) -> Vec<IssueSnapshot> {
        self.catch_up();
        inspect::issues(self.world.get_mut())
    }

    pub(crate) fn problems(&mut self) -> &[String] {
        self.catch_up();
        self.script.problems()
    }

    /// The viewer's own writes over the API.
    pub(crate) fn viewer_posts(&mut self) -> impl Iterator<Item = &ReceivedWrite> {
        self.catch_up();
        let world: &World = self.world.get_mut();
        let viewer = world[self.viewer].login.as_str();
        world.posts.iter().filter(move |post| post.by == viewer)
    }

    pub(crate) fn author_of(&mut self, pull: &str) -> Option<String> {
        self.catch_up();
        let world = self.world.get_mut();
        world.pull_named(pull).map(|id| world[world[id].author].login.clone())
    }

    pub(crate) fn log(&self) -> &[RequestRecord] {
        &self.log
    }

    pub(crate) fn request_count(&self) -> usize {
        self.forgotten + self.log.len()
    }

    /// The requests after the first `count`, as far as the log still holds them.
    pub(crate) fn requests_since(&self, count: usize) -> &[RequestRecord] {
        self.log.get(count.saturating_sub(self.forgotten)..).unwrap_or_default()
    }

    pub(crate) fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    pub(crate) fn perform(&mut self, pull: &str, action: &ScenarioAction) -> Result<(), String> {
        self.catch_up();
        let world = self.world.get_mut();
        let id = world.pull_named(pull).ok_or_else(|| format!("there is no pull request `{pull}`"))?;
        let outcome = self.script.act(world, id, action);
        self.catch_up();
        outcome
    }

    /// Answers one request.
    pub(crate) fn handle(&mut self, incoming: &Incoming) -> HttpReply {
        let now = self.catch_up();
        if incoming.path.starts_with("/_simulator/") {
            return HttpReply::Answer(control::handle(self, incoming));
        }
        let path = normal_path(&incoming.path);
        let Some((account, cannot_read)) = self.identify(incoming) else {
            let answer = RestAnswer::message(401, "Requires authentication");
            self.record(incoming, None, None, Some(401), "unauthenticated");
            return HttpReply::Answer(wire::rest(answer, incoming));
        };
        let parsed = self.parse(incoming, &path);
        let graphql = path == "/graphql";
        let target = FaultTarget {
            graphql,
            writes: parsed.writes,
            operation: &parsed.operation,
            fields: &parsed.fields,
        };
        let fault = self.faults.take_matching(&target);
        if let Some(kind) = fault.as_ref().filter(|kind| !kind.takes_effect()) {
            let reply = self.answer_with_fault(kind, graphql, account, now);
            let outcome = format!("fault: {}", kind.name());
            self.record(incoming, Some(&parsed), Some(account), reply.status(), &outcome);
            return reply;
        }
        let resource = if graphql { Resource::Graphql } else { Resource::Core };
        let free = matches!(parsed.target, RequestTarget::Rest(RestRoute::RateLimit));
        let points = if free { 0 } else { parsed.points };
        let charged = if free {
            Ok(self.ledger.budget(account, resource, now))
        } else {
            self.ledger.charge(account, resource, points, parsed.writes, now)
        };
        let budget = match charged {
            Ok(budget) => budget,
            Err(exceeded) => return self.refuse_over_limit(incoming, &parsed, account, exceeded, now),
        };
        let (answer, outcome) = self.carry_out(incoming, &parsed, account, cannot_read, budget);
        let answer = answer.with_budget(budget, resource, now);
        let reply = match &fault {
            Some(kind) => wire::apply_fault(answer, kind),
            None => HttpReply::Answer(answer),
        };
        let outcome = match &fault {
            Some(kind) => format!("fault: {}", kind.name()),
            None => outcome,
        };
        self.record(incoming, Some(&parsed), Some(account), reply.status(), &outcome);
        // Steps without a delay happen before the client's next request.
        self.script.play_until(self.world.get_mut(), now);
        reply
    }

    /// The account of the request's token. Every token that the scenario does not name is the viewer's.
    fn identify(&self, incoming: &Incoming) -> Option<(AccountId, Vec<Hidden>)> {
        let header = incoming.authorization.as_deref()?;
        let (_, token) = header.split_once(' ')?;
        let token = token.trim();
        if token.is_empty() {
            return None;
        }
        match self.tokens.iter().find(|entry| entry.token == token) {
            Some(entry) => {
                let account = self.world.borrow().account(&entry.login)?;
                Some((account, entry.cannot_read.clone()))
            }
            None => Some((self.viewer, Vec::new())),
        }
    }

    fn parse(&self, incoming: &Incoming, path: &str) -> ParsedRequest {
        if path == "/graphql" {
            return self.parse_graphql(incoming);
        }
        let segments = rest::by_name(&self.world.borrow(), wire::segments(path));
        let route = RestRoute::of(&incoming.method, &segments);
        ParsedRequest {
            operation: route
                .map_or_else(|| format!("{} {path}", incoming.method), |r| r.template().to_owned()),
            writes: route.is_some_and(RestRoute::writes),
            target: route.map_or(RequestTarget::Nowhere, RequestTarget::Rest),
            fields: Vec::new(),
            points: 1,
            nodes: 0,
        }
    }

    fn parse_graphql(&self, incoming: &Incoming) -> ParsedRequest {
        let invalid = |operation: String, body: Value| ParsedRequest {
            target: RequestTarget::Invalid(body),
            operation,
            fields: Vec::new(),
            writes: false,
            points: 1,
            nodes: 0,
        };
        let request: graphql::GraphqlRequest = match serde_json::from_slice(&incoming.body) {
            Ok(request) => request,
            Err(error) => {
                let message = format!("Problems parsing JSON: {error}");
                return invalid(String::new(), json!({ "message": message }));
            }
        };
        match self.engine.prepare(&request) {
            Ok(prepared) => ParsedRequest {
                operation: prepared.name.clone(),
                fields: prepared.fields.clone(),
                writes: prepared.writes,
                points: prepared.cost.points,
                nodes: prepared.cost.nodes,
                target: RequestTarget::Graphql(Box::new(prepared)),
            },
            Err(body) => invalid(request.operation_name.unwrap_or_default(), body),
        }
    }

    fn carry_out(
        &mut self,
        incoming: &Incoming,
        parsed: &ParsedRequest,
        account: AccountId,
        cannot_read: Vec<Hidden>,
        budget: HourlyBudget,
    ) -> (HttpAnswer, String) {
        match &parsed.target {
            RequestTarget::Graphql(prepared) => {
                let most = self.ledger.limits().nodes_per_call;
                if parsed.nodes > most {
                    let message = format!(
                        "This query requests up to {} possible nodes which exceeds the maximum limit of {most}.",
                        parsed.nodes
                    );
                    let error = json!({ "type": "MAX_NODE_LIMIT_EXCEEDED", "message": message });
                    return (
                        HttpAnswer::json(200, &json!({ "errors": [error] })),
                        "errors: nodes".to_owned(),
                    );
                }
                self.world.get_mut().serving = true;
                let caller = Caller { account, cannot_read, budget };
                let body = self.engine.execute(prepared, &self.world, caller);
                self.world.get_mut().serving = false;
                let outcome = outcome_of(&body);
                (HttpAnswer::json(200, &body), outcome)
            }
            RequestTarget::Invalid(body) if body.get("errors").is_some() => {
                (HttpAnswer::json(200, body), "errors: invalid query".to_owned())
            }
            RequestTarget::Invalid(body) => (HttpAnswer::json(400, body), "bad request".to_owned()),
            RequestTarget::Nowhere => {
                let answer = RestAnswer::message(404, "Not Found");
                (wire::rest(answer, incoming), "no such route".to_owned())
            }
            RequestTarget::Rest(RestRoute::RateLimit) => {
                let now = self.world.get_mut().now;
                let show = |budget: HourlyBudget, resource: Resource| {
                    json!({ "limit": budget.limit, "used": budget.used, "remaining": budget.remaining(),
                            "reset": budget.reset_at.as_second(), "resource": resource.name() })
                };
                let core = show(self.ledger.budget(account, Resource::Core, now), Resource::Core);
                let graphql = show(self.ledger.budget(account, Resource::Graphql, now), Resource::Graphql);
                let body = json!({ "resources": { "core": core, "graphql": graphql }, "rate": core });
                (HttpAnswer::json(200, &body), "ok".to_owned())
            }
            RequestTarget::Rest(route) => {
                let request = RestRequest {
                    segments: rest::by_name(
                        self.world.get_mut(),
                        wire::segments(&normal_path(&incoming.path)),
                    ),
                    query: wire::parameters(incoming.query.as_deref().unwrap_or_default()),
                    accept: incoming.accept.as_deref().unwrap_or_default(),
                    body: &incoming.body,
                };
                let world = self.world.get_mut();
                world.serving = true;
                let answer = rest::answer(world, account, *route, &request);
                world.serving = false;
                let outcome = match answer.status {
                    301 => "moved".to_owned(),
                    status if status < 400 => "ok".to_owned(),
                    status => format!("refused: {status}"),
                };
                let answer = wire::rest(answer, incoming);
                let is_conditional = *route == RestRoute::Reactions;
                (if is_conditional { wire::conditional(answer, incoming) } else { answer }, outcome)
            }
        }
    }

    /// The reply for a fault that prevents the work.
    fn answer_with_fault(
        &mut self,
        kind: &FaultKind,
        graphql: bool,
        account: AccountId,
        now: Timestamp,
    ) -> HttpReply {
        let resource = if graphql { Resource::Graphql } else { Resource::Core };
        let budget = self.ledger.budget(account, resource, now);
        match kind {
            FaultKind::PrimaryLimit { reset_in, error_type } => {
                let reset_at = now.saturating_add(jiff::SignedDuration::from_secs(*reset_in)).unwrap_or(now);
                let empty = HourlyBudget { used: budget.limit, reset_at, ..budget };
                let id = self.world.borrow()[account].database_id;
                let answer = wire::primary_limit(graphql, id, error_type);
                HttpReply::Answer(answer.with_budget(empty, resource, now))
            }
            FaultKind::SecondaryLimit { retry_after, as_success } => {
                let answer = wire::secondary_limit(i64::from(*retry_after), *as_success);
                HttpReply::Answer(answer.with_budget(budget, resource, now))
            }
            kind => wire::apply_fault(
                HttpAnswer::json(200, &Value::Null).with_budget(budget, resource, now),
                kind,
            ),
        }
    }

    fn refuse_over_limit(
        &mut self,
        incoming: &Incoming,
        parsed: &ParsedRequest,
        account: AccountId,
        exceeded: Exceeded,
        now: Timestamp,
    ) -> HttpReply {
        let graphql = matches!(parsed.target, RequestTarget::Graphql(_) | RequestTarget::Invalid(_));
        let resource = if graphql { Resource::Graphql } else { Resource::Core };
        let (answer, outcome) = match exceeded {
            Exceeded::Primary => {
                let id = self.world.borrow()[account].database_id;
                (wire::primary_limit(graphql, id, "RATE_LIMITED"), "limit: primary")
            }
            Exceeded::Secondary { retry_after } => {
                (wire::secondary_limit(retry_after, false), "limit: secondary")
            }
        };
        let budget = self.ledger.budget(account, resource, now);
        let reply = HttpReply::Answer(answer.with_budget(budget, resource, now));
        self.record(incoming, Some(parsed), Some(account), reply.status(), outcome);
        reply
    }

    fn record(
        &mut self,
        incoming: &Incoming,
        parsed: Option<&ParsedRequest>,
        by: Option<AccountId>,
        status: Option<u16>,
        outcome: &str,
    ) {
        let counted = !outcome.starts_with("limit:");
        let login = by.map(|by| self.world.borrow()[by].login.clone());
        let writes = parsed.is_some_and(|parsed| parsed.writes);
        if self.log.len() >= self.most_logged {
            let oldest = self.most_logged / 2;
            self.log.drain(..oldest);
            self.forgotten += oldest;
        }
        let points = parsed.filter(|_| counted).map_or(0, |parsed| parsed.points);
        if incoming.path.ends_with("/graphql") {
            self.points += points;
        }
        self.log.push(RequestRecord {
            at: self.world.get_mut().now,
            method: incoming.method.clone(),
            path: incoming.path.clone(),
            operation: parsed.map(|parsed| parsed.operation.clone()).unwrap_or_default(),
            fields: parsed.map(|parsed| parsed.fields.clone()).unwrap_or_default(),
            writes,
            sent: if writes { serde_json::from_slice(&incoming.body).ok() } else { None },
            by: login,
            points,
            nodes: parsed.map_or(0, |parsed| parsed.nodes),
            status,
            outcome: outcome.to_owned(),
        });
    }

    /// GraphQL points of all accounts so far.
    pub(crate) fn points(&self) -> i64 {
        self.points
    }

    pub(crate) fn install(&mut self, fault: Fault) {
        self.faults.install(fault);
    }
}

/// Removes the prefixes of an Enterprise server: `/api/v3` for REST and `/api/graphql`.
fn normal_path(path: &str) -> String {
    match path {
        "/api/graphql" => "/graphql".to_owned(),
        path => path.strip_prefix("/api/v3").unwrap_or(path).to_owned(),
    }
}

fn outcome_of(body: &Value) -> String {
    let errors = body.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if errors.is_empty() {
        return "ok".to_owned();
    }
    let kinds: Vec<&str> =
        errors.iter().map(|error| error.get("type").and_then(Value::as_str).unwrap_or("?")).collect();
    format!("errors: {}", kinds.join(", "))
}
