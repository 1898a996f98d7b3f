//! A very small GitHub for the client's tests. It is a raw HTTP server on loopback, so it can cut an answer
//! off or never send one. It has just enough state to count how often a write took effect.

mod pull_request;
mod server;
mod state;

pub(crate) use pull_request::{PullRequest, PullRequests};
pub(crate) use server::{Answer, Request, Server};
pub(crate) use state::{Fault, Forge};

use cloture::domain::snapshot::RepositoryName;
use cloture::github::token::TokenSource;
use cloture::github::{Client, Credentials, Host, PullRequestAddress, Timeouts, Token};
use std::time::Duration;

pub(crate) const SECRET: &str = "ghp_opensesame";

/// A client for a server on loopback, with short timeouts.
pub(crate) fn client(address: &str) -> Client {
    let host = Host::from_api_url(address).unwrap();
    let token = Token::new(SECRET, TokenSource::Environment("GH_TOKEN")).unwrap();
    let timeouts = Timeouts {
        connect: Duration::from_secs(5),
        read: Duration::from_millis(500),
        whole: Duration::from_secs(5),
    };
    Client::new(host, &Credentials::Token(token), timeouts).unwrap()
}

pub(crate) fn address(number: u64) -> PullRequestAddress {
    PullRequestAddress { repository: RepositoryName::new("o", "r").unwrap(), number }
}
