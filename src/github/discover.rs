//! Finds pull requests: by address, by the checkout's branch, or by a rule.

mod checkout;
mod rule;

pub use checkout::{Checkout, CheckoutError};
pub use rule::{Lookup, WatchRule};

use super::call::{Call, Transport};
use super::cost::CallCost;
use super::documents;
use super::error::Error;
use super::wire;
use crate::domain::snapshot::RepositoryName;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;

/// A pull request's address, `OWNER/REPO#NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PullRequestAddress {
    pub repository: RepositoryName,
    pub number: u64,
}

/// A pull request, with GitHub's id for it if a search returned one. The id saves a look-up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PullRequestRef {
    pub address: PullRequestAddress,
    pub node_id: Option<String>,
}

impl From<PullRequestAddress> for PullRequestRef {
    fn from(address: PullRequestAddress) -> Self {
        Self { address, node_id: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PullRequestAddressError {
    #[error("`{0}` names no pull request; write OWNER/REPO#NUMBER or its web address")]
    NoAddress(String),
    #[error("`{0}` names no pull request: GitHub's numbers go from 1 to {HIGHEST_NUMBER}")]
    NoNumber(String),
}

/// GitHub's API takes numbers of 32 bits with a sign.
const HIGHEST_NUMBER: u64 = 2_147_483_647;

impl PullRequestAddress {
    /// Parses `OWNER/REPO#N` or a web address. A web address also has the host.
    pub fn parse(text: &str) -> Result<(Option<String>, Self), PullRequestAddressError> {
        let text = text.trim();
        Self::from_web_address(text)
            .map(|(host, address)| (Some(host), address))
            .or_else(|| Self::from_short(text).map(|address| (None, address)))
            .ok_or_else(|| PullRequestAddressError::NoAddress(shortened(text)))
            .and_then(|(host, address)| match address.number {
                1..=HIGHEST_NUMBER => Ok((host, address)),
                _ => Err(PullRequestAddressError::NoNumber(shortened(text))),
            })
    }

    fn from_short(text: &str) -> Option<Self> {
        let (repository, number) = text.split_once('#')?;
        Some(Self { repository: RepositoryName::parse(repository)?, number: digits(number)? })
    }

    fn from_web_address(text: &str) -> Option<(String, Self)> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
        let rest = rest.split(['?', '#']).next()?;
        let mut steps = rest.split('/');
        let host = steps.next().filter(|host| !host.is_empty() && !host.contains('@'))?;
        let repository = RepositoryName::new(steps.next()?, steps.next()?)?;
        matches!(steps.next()?, "pull" | "pulls").then_some(())?;
        Some((host.to_ascii_lowercase(), Self { repository, number: digits(steps.next()?)? }))
    }
}

impl fmt::Display for PullRequestAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.repository, self.number)
    }
}

/// A number in plain digits. One that is too large even for 64 bits becomes the largest.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().unwrap_or(u64::MAX))
}

fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

/// The pull requests that a rule selects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Discovery {
    /// With GitHub's ids, which the light query needs.
    pub pull_requests: BTreeMap<PullRequestAddress, String>,
    /// Sentences about repositories and searches that could not be listed completely.
    pub notes: Vec<String>,
    pub spent: CallCost,
}

/// GitHub's search returns at most this many results.
const SEARCH_LIMIT: usize = 1000;

/// Finds the pull requests of a rule. A repository that cannot be read becomes a note.
pub async fn find(transport: &(impl Transport + Sync), rule: &WatchRule) -> Result<Discovery, Error> {
    let mut discovery = Discovery::default();
    for lookup in rule.lookups() {
        match &lookup {
            Lookup::OpenIn(repository) => match list(transport, repository, &mut discovery).await {
                Err(error @ (Error::Gone { .. } | Error::Denied { .. })) => {
                    discovery.notes.push(format!("{repository}: {error}"));
                }
                other => other?,
            },
            Lookup::Search(query) => search(transport, query, &mut discovery).await?,
        }
    }
    let (found, points) = (discovery.pull_requests.len(), discovery.spent.points);
    tracing::debug!(found, points, notes = discovery.notes.len(), "looked for pull requests");
    Ok(discovery)
}

/// The pull request of a checkout's branch: the open one, or else the newest.
pub async fn of_checkout(
    transport: &(impl Transport + Sync),
    checkout: &Checkout,
) -> Result<PullRequestAddress, Error> {
    if let Some(number) = checkout.pull_request {
        return Ok(PullRequestAddress { repository: checkout.repository.clone(), number });
    }
    let repository = &checkout.repository;
    let call = Call::graphql(
        &documents::BRANCH_PULL_REQUESTS,
        json!({"owner": repository.owner(), "name": repository.name(), "branch": checkout.branch}),
    );
    let mut reply = transport.send(&call).await?;
    let answer: wire::BranchAnswer = reply.parse(&call)?;
    let Some(found) = answer.repository else { return Err(reply.absence(&call)) };
    let head = RepositoryName::parse(&found.name_with_owner);
    let parent = found.parent.map(|parent| parent.pull_requests);
    let mut candidates: Vec<wire::WirePullRequestRef> = found
        .pull_requests
        .into_items()
        .chain(parent.into_iter().flat_map(wire::WireConnection::into_items))
        // A branch of the same name in another fork is another branch. GitHub does not name a deleted fork,
        // so its pull requests stay in.
        .filter(|found| {
            let from = found.head_repository.as_ref();
            from.is_none_or(|from| RepositoryName::parse(&from.name_with_owner) == head)
        })
        .collect();
    candidates.sort_by_key(|found| found.state.as_deref() != Some("OPEN"));
    let first = candidates.into_iter().find_map(|found| target(found).map(|(address, _)| address));
    first.ok_or_else(|| Error::Gone {
        what: format!("looking for a pull request of branch {}", checkout.branch),
    })
}

async fn list(
    transport: &(impl Transport + Sync),
    repository: &RepositoryName,
    discovery: &mut Discovery,
) -> Result<(), Error> {
    let (mut after, mut trail) = (None, wire::CursorTrail::default());
    loop {
        let call = Call::graphql(
            &documents::OPEN_PULL_REQUESTS,
            json!({"owner": repository.owner(), "name": repository.name(), "after": after}),
        );
        let mut reply = transport.send(&call).await?;
        discovery.spent.count(reply.budget);
        let answer: wire::OpenPullRequestsAnswer = reply.parse(&call)?;
        let Some(found) = answer.repository else { return Err(reply.absence(&call)) };
        let next = trail.follow(found.pull_requests.next(), call.purpose())?;
        // L13: a renamed repository keeps the name that was asked for; the configuration may have only that.
        let is_renamed = RepositoryName::parse(&found.name_with_owner).is_some_and(|now| now != *repository);
        let asked = |address: PullRequestAddress| PullRequestAddress {
            repository: if is_renamed { repository.clone() } else { address.repository },
            number: address.number,
        };
        let targets = found.pull_requests.into_items().filter_map(target);
        discovery.pull_requests.extend(targets.map(|(address, id)| (asked(address), id)));
        match next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

async fn search(
    transport: &(impl Transport + Sync),
    query: &str,
    discovery: &mut Discovery,
) -> Result<(), Error> {
    let (mut after, mut trail) = (None, wire::CursorTrail::default());
    let mut results = 0;
    loop {
        let call = Call::graphql(&documents::SEARCH, json!({"query": query, "after": after}));
        let mut reply = transport.send(&call).await?;
        discovery.spent.count(reply.budget);
        let answer: wire::SearchAnswer = reply.parse(&call)?;
        let next = trail.follow(answer.search.next(), call.purpose())?;
        let before = results;
        for found in answer.search.into_items() {
            results += 1;
            discovery.pull_requests.extend(target(found));
        }
        match next {
            Some(next) if results > before => after = Some(next),
            _ => break,
        }
    }
    if results >= SEARCH_LIMIT {
        discovery
            .notes
            .push(format!("`{query}` matches more than GitHub returns; narrow the rule to see the rest"));
    }
    Ok(())
}

fn target(found: wire::WirePullRequestRef) -> Option<(PullRequestAddress, String)> {
    let repository = RepositoryName::parse(&found.repository?.name_with_owner)?;
    Some((PullRequestAddress { repository, number: found.number? }, found.id?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address_is_parsed() {
        let expected = PullRequestAddress { repository: RepositoryName::new("o", "r.s").unwrap(), number: 7 };
        assert_eq!(PullRequestAddress::parse(" o/r.s#7 ").unwrap(), (None, expected.clone()));
        for text in [
            "https://github.com/o/r.s/pull/7",
            "https://GitHub.com/o/r.s/pull/7/files?x=1",
            "https://github.com/o/r.s/pull/7#discussion_r1",
        ] {
            let parsed = PullRequestAddress::parse(text).unwrap();
            assert_eq!(parsed, (Some("github.com".to_owned()), expected.clone()), "{text}");
        }
        assert_eq!(expected.to_string(), "o/r.s#7");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "7",
            "#7",
            "o/r",
            "o/r#",
            "o/r#0",
            "o/r#-1",
            "o/r#+1",
            "o/r#7x",
            "o/../r#7",
            "../r#7",
            "o/r s#7",
            "https://github.com/o/r/issues/7",
            "https://github.com/o/r/pull/",
            "https://t@github.com/o/r/pull/7",
        ] {
            assert!(PullRequestAddress::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_that_github_cannot_have_is_refused_before_it_is_asked() {
        assert!(PullRequestAddress::parse("o/r#2147483647").is_ok());
        for text in ["o/r#2147483648", "o/r#4294967296", "https://github.com/o/r/pull/99999999999999999999"] {
            let refused = PullRequestAddress::parse(text).unwrap_err().to_string();
            assert!(refused.contains("from 1 to 2147483647"), "{refused}");
        }
    }
}
