//! A GitHub inside the program: an HTTP server on loopback that speaks the GraphQL and REST that Cloture uses.
//!
//! It has state, pages, rate limits, points by the documented formula, faults on request, and a clock that tests and the
//! demo drive. GraphQL is executed against our subset of GitHub's schema, so a wrong query fails here as it would there.
//! What happens on it is a [`Scenario`]: a file, not code.
//!
//! Reading order: `world` is the forge's state and what changes it; `scenario` what can be written about it; `script`
//! plays that in virtual time; `graphql` and `rest` let clients see it; `core` answers one request; `server` has the
//! sockets. Invariants: nothing here knows the client, the engine or the screen; nothing runs in the background, so the
//! world is a function of the scenario, the clock and the requests; only `clock` looks at real time.

mod clock;
mod core;
mod faults;
mod graphql;
mod inspect;
mod limits;
mod rest;
mod scenario;
mod script;
mod server;
mod world;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinHandle;

pub use clock::ClockMode;
pub use faults::{Fault, FaultKind};
pub use inspect::{
    CommentSnapshot, IssueSnapshot, PullSnapshot, RequestRecord, ReviewSnapshot, Snapshot, ThreadSnapshot,
};
pub use limits::SimulatedLimits;
pub use scenario::{
    AccountEntry, ByAction, CheckRunAction, CommentAction, Condition, DeleteAccountAction, EditAction,
    Hidden, LabelAction, MinimiseAction, OnThreadAction, PullRequestEntry, PushAction, Replacement,
    ReplyAction, RepositoryEntry, RequestAction, ReviewAction, Scenario, ScenarioAction, ScenarioError,
    ScenarioStep, StepTrigger, ThreadEntry, TokenEntry,
};
pub use world::{
    Dispatch, PullState, ReceivedWrite, Side, SimulatedAccountKind, SimulatedAssociation,
    SimulatedReviewState, WorldEventKind,
};

use server::SharedCore;

/// Why the simulator does not start, or does not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Listen {
        port: u16,
        #[source]
        source: std::io::Error,
    },
    #[error("the simulator's own parts do not fit: {0}")]
    Broken(String),
    #[error("the action cannot be carried out: {0}")]
    Action(String),
}

/// How to start; the default is what tests want.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatorOptions {
    /// 0 takes any free port.
    pub port: u16,
    pub clock: ClockMode,
}

impl Default for SimulatorOptions {
    fn default() -> Self {
        Self { port: 0, clock: ClockMode::Manual }
    }
}

/// A running simulator. It stops, and closes its connections, when dropped.
#[derive(Debug)]
pub struct Simulator {
    shared: SharedCore,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Simulator {
    /// Starts on loopback, inside the current tokio runtime.
    pub async fn start(scenario: &Scenario, options: SimulatorOptions) -> Result<Self, SimulatorError> {
        let core = core::Core::new(scenario, options.clock).map_err(SimulatorError::Broken)?;
        let shared = SharedCore::new(core);
        let (listener, address) = server::bind(options.port)
            .await
            .map_err(|source| SimulatorError::Listen { port: options.port, source })?;
        let running = server::run(listener, shared.clone());
        let task = tokio::spawn(async move {
            running.await;
        });
        Ok(Self { shared, address, task })
    }

    /// The API's base: REST below it, GraphQL at `/graphql`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base an Enterprise server would have for REST; its GraphQL is at `/api/graphql`.
    pub fn enterprise_url(&self) -> String {
        format!("http://{}/api/v3", self.address)
    }

    /// The virtual time.
    pub fn now(&self) -> Timestamp {
        self.shared.lock().now()
    }

    /// Moves virtual time on; the script's steps that become due by then have happened when this returns.
    pub fn advance(&self, by: Duration) {
        self.shared.lock().advance(by);
    }

    /// Adds a fault to those in force.
    pub fn inject(&self, fault: Fault) {
        self.shared.lock().install(fault);
    }

    pub fn clear_faults(&self) {
        self.shared.lock().faults().clear();
    }

    /// Lets a scripted account do something now, on `owner/name#number`.
    pub fn perform(&self, pull_request: &str, action: &ScenarioAction) -> Result<(), SimulatorError> {
        self.shared.lock().perform(pull_request, action).map_err(SimulatorError::Action)
    }

    /// The same, with actions written as a scenario writes them.
    pub fn perform_toml(&self, pull_request: &str, text: &str) -> Result<(), SimulatorError> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Actions {
            #[serde(rename = "do")]
            actions: Vec<ScenarioAction>,
        }
        let actions: Actions =
            toml::from_str(text).map_err(|error| SimulatorError::Action(error.to_string()))?;
        actions.actions.iter().try_for_each(|action| self.perform(pull_request, action))
    }

    /// Everything there is, in plain words.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.lock().snapshot()
    }

    /// One pull request, by `owner/name#number`.
    pub fn pull_request(&self, name: &str) -> Option<PullSnapshot> {
        self.shared.lock().pull_request(name)
    }

    /// Whose pull request `owner/name#number` is; none before it is opened.
    pub fn author_of(&self, name: &str) -> Option<String> {
        self.shared.lock().author_of(name)
    }

    /// The viewer's writes over the API, in the order they took effect.
    pub fn posts(&self) -> Vec<ReceivedWrite> {
        self.posts_since(0)
    }

    /// The viewer's writes after the first `count`: a caller that looks at every step copies only the new ones.
    pub fn posts_since(&self, count: usize) -> Vec<ReceivedWrite> {
        self.shared.lock().viewer_posts().skip(count).cloned().collect()
    }

    pub fn post_count(&self) -> usize {
        self.shared.lock().viewer_posts().count()
    }

    pub fn dispatches(&self) -> Vec<Dispatch> {
        self.snapshot().dispatches
    }

    pub fn issues(&self) -> Vec<IssueSnapshot> {
        self.snapshot().issues
    }

    /// What the script could not carry out; empty for a sound scenario.
    pub fn problems(&self) -> Vec<String> {
        self.snapshot().problems
    }

    /// Waits until something is so, looking again after every request: for a test whose client runs by itself.
    pub async fn wait_until(&self, mut is_so: impl FnMut(&Self) -> bool) {
        let mut handled = self.shared.requests_handled();
        while !is_so(self) {
            // The sender lives as long as `self`, so this only ends when a request was handled.
            if handled.changed().await.is_err() {
                return;
            }
        }
    }

    /// Every request so far, also those whose connection a fault dropped.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.requests_since(0)
    }

    /// The requests after the first `count`: a caller that looks at every step copies only the new ones.
    pub fn requests_since(&self, count: usize) -> Vec<RequestRecord> {
        self.shared.lock().requests_since(count).to_vec()
    }

    pub fn request_count(&self) -> usize {
        self.shared.lock().request_count()
    }

    /// Whether any request so far fits, without copying the log.
    pub fn any_request(&self, fits: impl FnMut(&RequestRecord) -> bool) -> bool {
        self.shared.lock().log().iter().any(fits)
    }

    /// GraphQL points spent so far.
    pub fn points(&self) -> i64 {
        self.shared.lock().points()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Runs a scenario alone until `shutdown` completes, for people writing reviewers: `cloture simulator`. `ready` is told
/// the address. Virtual time runs at the scenario's speed, or as fast as real time where it names none.
pub async fn serve(
    port: u16,
    scenario: &Scenario,
    ready: impl FnOnce(&str),
    shutdown: impl Future<Output = ()>,
) -> Result<(), SimulatorError> {
    let clock = ClockMode::Running { speed: scenario.speed.unwrap_or(1.0) };
    let simulator = Simulator::start(scenario, SimulatorOptions { port, clock }).await?;
    ready(&simulator.url());
    shutdown.await;
    Ok(())
}
