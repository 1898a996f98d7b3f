//! A simulated GitHub: an HTTP server on loopback with the parts of GraphQL and REST that Cloture uses.
//!
//! It has state, pages, rate limits, query costs, faults, and a virtual clock. GraphQL runs against our
//! subset of GitHub's schema, so a wrong query fails here as it would on GitHub. A [`Scenario`] file says
//! what happens.
//!
//! Reading order: `world` (the state and its changes), `scenario` (the file format), `script` (plays the
//! scenario), `graphql` and `rest` (answers for clients), `core` (one request), `server` (the sockets).
//! Nothing here knows the client, the engine or the screen. Nothing runs in the background: the world depends
//! only on the scenario, the clock and the requests. Only `clock` reads real time.

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
    Hidden, LabelAction, MinimiseAction, OnThreadAction, PullRequestEntry, PushAction, RenameAction,
    Replacement, ReplyAction, RepositoryEntry, RequestAction, ReviewAction, Scenario, ScenarioAction,
    ScenarioError, ScenarioStep, StepTrigger, ThreadEntry, TokenEntry,
};
pub use world::{
    Dispatch, PullState, ReceivedWrite, Side, SimulatedAccountKind, SimulatedAssociation,
    SimulatedReviewState, WorldEventKind,
};

use server::SharedCore;

/// Why the simulator cannot start or cannot carry out an action.
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
    #[error("cannot start the simulator: {0}; this is a defect in Cloture")]
    Broken(String),
    #[error("cannot carry out the action: {0}")]
    Action(String),
}

/// How to start. The default suits tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatorOptions {
    /// 0 means any free port.
    pub port: u16,
    pub clock: ClockMode,
}

impl Default for SimulatorOptions {
    fn default() -> Self {
        Self { port: 0, clock: ClockMode::Manual }
    }
}

/// A running simulator. Dropping it stops it and closes its connections.
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

    /// The API's base URL: REST below it, GraphQL at `/graphql`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The REST base URL of an Enterprise server; its GraphQL is at `/api/graphql`.
    pub fn enterprise_url(&self) -> String {
        format!("http://{}/api/v3", self.address)
    }

    pub fn now(&self) -> Timestamp {
        self.shared.lock().now()
    }

    /// Moves virtual time forward and carries out every step of the script that becomes due.
    pub fn advance(&self, by: Duration) {
        self.shared.lock().advance(by);
    }

    pub fn inject(&self, fault: Fault) {
        self.shared.lock().install(fault);
    }

    pub fn clear_faults(&self) {
        self.shared.lock().faults().clear();
    }

    /// Carries out an action of a scripted account now, on `owner/name#number`.
    pub fn perform(&self, pull_request: &str, action: &ScenarioAction) -> Result<(), SimulatorError> {
        self.shared.lock().perform(pull_request, action).map_err(SimulatorError::Action)
    }

    /// The same, with actions in the syntax of a scenario file.
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

    pub fn snapshot(&self) -> Snapshot {
        self.shared.lock().snapshot()
    }

    /// One pull request, by `owner/name#number`.
    pub fn pull_request(&self, name: &str) -> Option<PullSnapshot> {
        self.shared.lock().pull_request(name)
    }

    /// The author of `owner/name#number`; `None` before it is opened.
    pub fn author_of(&self, name: &str) -> Option<String> {
        self.shared.lock().author_of(name)
    }

    /// The viewer's writes over the API, in the order they took effect.
    pub fn posts(&self) -> Vec<ReceivedWrite> {
        self.posts_since(0)
    }

    /// The viewer's writes after the first `count`, without copying the older ones.
    pub fn posts_since(&self, count: usize) -> Vec<ReceivedWrite> {
        self.shared.lock().viewer_posts().skip(count).cloned().collect()
    }

    pub fn post_count(&self) -> usize {
        self.shared.lock().viewer_posts().count()
    }

    pub fn dispatches(&self) -> Vec<Dispatch> {
        self.shared.lock().dispatches().to_vec()
    }

    pub fn issues(&self) -> Vec<IssueSnapshot> {
        self.shared.lock().issues()
    }

    /// Actions of the script that failed; empty for a correct scenario.
    pub fn problems(&self) -> Vec<String> {
        self.shared.lock().problems().to_vec()
    }

    /// Waits until the condition holds, and checks it after every request.
    pub async fn wait_until(&self, mut holds: impl FnMut(&Self) -> bool) {
        let mut handled = self.shared.requests_handled();
        while !holds(self) {
            // The sender lives as long as `self`, so this never fails.
            if handled.changed().await.is_err() {
                return;
            }
        }
    }

    /// Every request so far, also those whose connection a fault dropped.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.requests_since(0)
    }

    /// The requests after the first `count`, without copying the older ones.
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

/// Serves a scenario until `shutdown` completes, for `cloture simulator`. `ready` receives the address.
/// Virtual time runs at the scenario's `speed`, or at real speed without one.
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
