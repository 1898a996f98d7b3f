//! The real client and the simulator, connected over HTTP on loopback.

use cloture::domain::snapshot::RepositoryName;
use cloture::github::token::TokenSource;
use cloture::github::{Client, Credentials, Host, PullRequestAddress, Timeouts, Token};
use cloture::simulator::{Scenario, Simulator, SimulatorOptions};
use std::io::Write as _;
use std::time::Duration;

/// Starts a scenario and checks that its history played without problems.
pub(crate) async fn start(scenario: &Scenario) -> Simulator {
    let simulator = Simulator::start(scenario, SimulatorOptions::default()).await.unwrap();
    assert_eq!(simulator.problems(), [""; 0]);
    simulator
}

/// A client for `url`. Every token that the scenario does not name belongs to the viewer.
pub(crate) fn client(url: &str, token: &str, timeout: Duration) -> Client {
    let token = Token::new(token, TokenSource::Environment("GH_TOKEN")).unwrap();
    let timeouts = Timeouts { connect: timeout, read: timeout, whole: timeout };
    Client::new(Host::from_api_url(url).unwrap(), &Credentials::Token(token), timeouts).unwrap()
}

/// A timeout that only a server without an answer reaches.
pub(crate) const PATIENT: Duration = Duration::from_mins(1);

pub(crate) fn address(repository: &str, number: u64) -> PullRequestAddress {
    PullRequestAddress { repository: RepositoryName::parse(repository).unwrap(), number }
}

/// Prints a line even if the test passes: the test harness captures only `println!`.
pub(crate) fn show(line: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").unwrap();
}
