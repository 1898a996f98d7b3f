//! The client and the simulator, wired together over HTTP on loopback.

use cloture::domain::snapshot::RepositoryName;
use cloture::github::token::TokenSource;
use cloture::github::{Client, Credentials, Host, PullRequestAddress, Timeouts, Token};
use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use std::io::Write as _;
use std::time::Duration;

/// Starts a scenario that must play without a problem.
pub(crate) async fn start(scenario: &Scenario) -> Simulator {
    let simulator = Simulator::start(scenario, SimulatorOptions::default()).await.unwrap();
    assert_eq!(simulator.problems(), [""; 0]);
    simulator
}

/// Any token is the viewer's, unless the scenario names it.
pub(crate) fn client(url: &str, token: &str, timeout: Duration) -> Client {
    let token = Token::new(token, TokenSource::Environment("GH_TOKEN")).unwrap();
    let timeouts = Timeouts { connect: timeout, read: timeout, whole: timeout };
    Client::new(Host::from_api_url(url).unwrap(), &Credentials::Token(token), timeouts).unwrap()
}

/// Long enough that only a server that never answers reaches it.
pub(crate) const PATIENT: Duration = Duration::from_mins(1);

pub(crate) fn address(repository: &str, number: u64) -> PullRequestAddress {
    PullRequestAddress { repository: RepositoryName::parse(repository).unwrap(), number }
}

/// Shows a line to whoever runs the test, past the harness that keeps what `println!` says.
pub(crate) fn show(line: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").unwrap();
}
