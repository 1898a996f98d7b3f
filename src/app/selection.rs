//! Which pull requests a command works on: those named, the current branch's, or those that the `[[watch]]`
//! rules find.

use super::connection::ConnectionSettings;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::failure::Failure;
use crate::github::CallCost;
use crate::github::discover::{self, Checkout, CheckoutError, PullRequestRef, WatchRule};
use crate::github::host::HostKind;
use crate::github::{Client, Error, Host, PullRequestAddress};

/// The pull requests that a command works on.
#[derive(Debug, Default)]
pub struct Selection {
    /// With the node id, if the search returned it.
    pub pull_requests: Vec<PullRequestRef>,
    /// Why others could not be found.
    pub failures: Vec<Failure>,
    pub spent: CallCost,
}

/// Parses the pull requests on the command line, and drops duplicates. A web address must name the host that
/// Cloture talks to.
pub fn parse_addresses(arguments: &[String], host: &Host) -> Result<Vec<PullRequestAddress>, Failure> {
    let mut addresses = Vec::new();
    for argument in arguments {
        let address = parse_address(argument, host)?;
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(addresses)
}

/// Parses one pull request, like [`parse_addresses`].
pub fn parse_address(argument: &str, host: &Host) -> Result<PullRequestAddress, Failure> {
    let (named_host, address) = PullRequestAddress::parse(argument)?;
    match named_host {
        Some(named_host) if !is_same(&named_host, host) => Err(Failure::usage(format_args!(
            "{address} is on {named_host}, but Cloture talks to {host}; pass --api-url https://{named_host}"
        ))),
        _ => Ok(address),
    }
}

/// The pull requests that were named, else the current branch's, else those that the rules find. With none of
/// these, the failure says what to do.
pub async fn select(
    named: Vec<PullRequestAddress>,
    settings: &ConnectionSettings<'_>,
    client: &Client,
) -> Result<Selection, Failure> {
    if !named.is_empty() {
        let pull_requests = named.into_iter().map(PullRequestRef::from).collect();
        return Ok(Selection { pull_requests, ..Selection::default() });
    }
    let why_not = match of_branch(settings, client).await? {
        Ok(address) => {
            return Ok(Selection { pull_requests: vec![address.into()], ..Selection::default() });
        }
        Err(why_not) => why_not,
    };
    if settings.config.watch.is_empty() {
        return Err(Failure::usage(format_args!(
            "no pull request was named, and {why_not}; name one as OWNER/REPO#NUMBER, or add a [[watch]] \
             rule to the configuration"
        )));
    }
    find_by_rules(&settings.config.watch, client).await
}

/// The pull requests that the rules find, without duplicates.
async fn find_by_rules(rules: &[WatchRule], client: &Client) -> Result<Selection, Failure> {
    let mut selection = Selection::default();
    for rule in rules {
        let found = discover::find(client, rule).await?;
        selection.spent.add(found.spent);
        selection.failures.extend(found.notes.iter().map(Failure::usage));
        for (address, id) in found.pull_requests {
            let node_id = Some(&id);
            let is_there =
                |found: &PullRequestRef| found.address == address || found.node_id.as_ref() == node_id;
            if !selection.pull_requests.iter().any(is_there) {
                selection.pull_requests.push(PullRequestRef { address, node_id: Some(id) });
            }
        }
    }
    selection.pull_requests.sort();
    Ok(selection)
}

/// The pull requests that the terminal watches: those that the rules find, or, without rules, all open ones
/// of the checkout's repository; and always the pull request of the checkout's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchSelection {
    rules: Vec<WatchRule>,
    /// The checkout in the current folder, or why there is none to use.
    pub checkout: Result<Checkout, String>,
}

impl WatchSelection {
    /// Reads the configuration and the checkout. GitHub is not asked.
    pub async fn from_directory(settings: &ConnectionSettings<'_>, host: &Host) -> WatchSelection {
        let checkout = checkout(settings, host).await;
        WatchSelection::new(settings.config.watch.clone(), checkout)
    }

    pub fn new(rules: Vec<WatchRule>, checkout: Result<Checkout, String>) -> WatchSelection {
        WatchSelection { rules, checkout }
    }

    /// The number of rules.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// Whether neither a rule nor a checkout says what to watch.
    pub fn is_nothing(&self) -> bool {
        self.rules.is_empty() && self.checkout.is_err()
    }

    /// Whether a pull request from the journal probably belongs to the selection.
    pub fn may_include(&self, snapshot: &PullRequestSnapshot) -> bool {
        if !self.rules.is_empty() {
            return self.rules.iter().any(|rule| rule.may_fit(snapshot)) || self.is_of_branch(snapshot);
        }
        let Ok(checkout) = &self.checkout else { return false };
        snapshot.is_in(&checkout.repository) || self.is_of_branch(snapshot)
    }

    /// Whether this is the pull request of the checkout's branch.
    pub fn is_of_branch(&self, snapshot: &PullRequestSnapshot) -> bool {
        let Ok(checkout) = &self.checkout else { return false };
        if let Some(number) = checkout.pull_request {
            return snapshot.number == number && snapshot.is_in(&checkout.repository);
        }
        snapshot.head.name == checkout.branch && snapshot.head_is_in(&checkout.repository)
    }

    /// Asks GitHub for the selection. The branch's pull request is returned on its own as well, and comes
    /// first.
    pub async fn find(&self, client: &Client) -> Result<(Option<PullRequestAddress>, Selection), Failure> {
        let of_branch = match &self.checkout {
            Ok(checkout) => match discover::of_checkout(client, checkout).await {
                Ok(address) => Some(address),
                Err(Error::Gone { .. }) => None,
                Err(error) => return Err(error.into()),
            },
            Err(_) => None,
        };
        let mut selection = match &self.checkout {
            Ok(checkout) if self.rules.is_empty() => {
                // A fork's pull requests are in its parent repository.
                let parent = of_branch.as_ref().map(|address| address.repository.clone());
                let repositories = vec![parent.unwrap_or_else(|| checkout.repository.clone())];
                find_by_rules(&[WatchRule { repositories, ..WatchRule::default() }], client).await?
            }
            _ => find_by_rules(&self.rules, client).await?,
        };
        let Some(address) = of_branch else { return Ok((None, selection)) };
        // The checkout may spell the name differently; GitHub's spelling counts.
        let found = selection.pull_requests.iter().find(|found| found.address == address);
        if let Some(found) = found.map(|found| found.address.clone()) {
            return Ok((Some(found), selection));
        }
        selection.pull_requests.insert(0, address.clone().into());
        Ok((Some(address), selection))
    }
}

/// The checkout in the current folder, or why it cannot be used.
async fn checkout(settings: &ConnectionSettings<'_>, host: &Host) -> Result<Checkout, String> {
    let checkout = Checkout::read(settings.directory).await.map_err(|error| match error {
        CheckoutError::NotACheckout => "this folder is not a git checkout".to_owned(),
        CheckoutError::Detached => "no branch is checked out here".to_owned(),
        CheckoutError::NoRemote => "the checkout here has no remote on GitHub".to_owned(),
        CheckoutError::Process(error) => error.to_string(),
    })?;
    if is_same(&checkout.host, host) {
        return Ok(checkout);
    }
    let Checkout { host: remote_host, repository, .. } = &checkout;
    Err(format!("{repository} is on {remote_host}, but Cloture talks to {host}"))
}

/// The current branch's pull request, or the reason why there is none. An error means that the rules would
/// fail too.
async fn of_branch(
    settings: &ConnectionSettings<'_>,
    client: &Client,
) -> Result<Result<PullRequestAddress, String>, Failure> {
    let checkout = match checkout(settings, client.host()).await {
        Ok(checkout) => checkout,
        Err(why_not) => return Ok(Err(why_not)),
    };
    match discover::of_checkout(client, &checkout).await {
        Ok(address) => Ok(Ok(address)),
        Err(Error::Gone { .. }) => {
            Ok(Err(format!("the branch {} of {} has none", checkout.branch, checkout.repository)))
        }
        Err(error) => Err(error.into()),
    }
}

/// A plain address, such as the simulator's, stands for every host that its pull requests name.
fn is_same(name: &str, host: &Host) -> bool {
    host.kind() == HostKind::Plain || host.is_loopback() || name.eq_ignore_ascii_case(host.name())
}
