//! Which pull requests a command is about: those named, the current branch's, or those the `[[watch]]` rules find.

use super::connection::ConnectionSettings;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::failure::Failure;
use crate::github::CallCost;
use crate::github::discover::{self, Checkout, CheckoutError, PullRequestRef, WatchRule};
use crate::github::host::HostKind;
use crate::github::{Client, Error, Host, PullRequestAddress};

/// The pull requests that are meant.
#[derive(Debug, Default)]
pub struct Selection {
    /// Each with its id, where finding it told that.
    pub pull_requests: Vec<PullRequestRef>,
    /// What kept others from being found.
    pub failures: Vec<Failure>,
    pub spent: CallCost,
}

/// Reads what the command line names, each once. A web address must be of the GitHub that is asked.
pub fn named(arguments: &[String], host: &Host) -> Result<Vec<PullRequestAddress>, Failure> {
    let mut addresses = Vec::new();
    for argument in arguments {
        let (on, address) = PullRequestAddress::parse(argument)?;
        if let Some(on) = on
            && !is_same(&on, host)
        {
            return Err(elsewhere(&format!("{address} is"), &on, host));
        }
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(addresses)
}

/// Those named, else the current branch's, else those the rules find, else a sentence that says what to do.
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
            "no pull request is named, and {why_not}; name some as OWNER/REPO#NUMBER, or add a [[watch]] rule to the \
             configuration"
        )));
    }
    selected(&settings.config.watch, client).await
}

/// What rules select, each once.
async fn selected(rules: &[WatchRule], client: &Client) -> Result<Selection, Failure> {
    let mut selection = Selection::default();
    for rule in rules {
        let found = discover::find(client, rule).await?;
        selection.spent.add(found.spent);
        selection.failures.extend(found.notes.iter().map(Failure::usage));
        for (address, id) in found.pull_requests {
            if !selection.pull_requests.iter().any(|known| known.address == address) {
                selection.pull_requests.push(PullRequestRef { address, node_id: Some(id) });
            }
        }
    }
    selection.pull_requests.sort();
    Ok(selection)
}

/// What is watched where nobody names anything: what the rules select, or everything open in the checkout's repository; and
/// in any case the pull request of the checkout's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchSelection {
    rules: Vec<WatchRule>,
    pub checkout: Result<Checkout, String>,
}

impl WatchSelection {
    /// Finds out what is meant by being here. Only this machine is asked.
    pub async fn here(settings: &ConnectionSettings<'_>, host: &Host) -> WatchSelection {
        let checkout = checkout(settings, host).await;
        WatchSelection::new(settings.config.watch.clone(), checkout)
    }

    /// By rules that came later.
    pub fn new(rules: Vec<WatchRule>, checkout: Result<Checkout, String>) -> WatchSelection {
        WatchSelection { rules, checkout }
    }

    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// Whether nothing says what to watch.
    pub fn is_nothing(&self) -> bool {
        self.rules.is_empty() && self.checkout.is_err()
    }

    /// Whether a pull request that was seen before is likely to be among them.
    pub fn may_include(&self, seen: &PullRequestSnapshot) -> bool {
        if !self.rules.is_empty() {
            return self.rules.iter().any(|rule| rule.may_fit(seen)) || self.is_of_branch(seen);
        }
        let Ok(checkout) = &self.checkout else { return false };
        checkout.repository.is_same(&seen.repository) || self.is_of_branch(seen)
    }

    /// Whether it is the pull request of the checkout's branch.
    pub fn is_of_branch(&self, seen: &PullRequestSnapshot) -> bool {
        let Ok(checkout) = &self.checkout else { return false };
        if let Some(number) = checkout.pull_request {
            return seen.number == number && checkout.repository.is_same(&seen.repository);
        }
        let from = seen.head_repository.as_ref().unwrap_or(&seen.repository);
        seen.head.name == checkout.branch && checkout.repository.is_same(from)
    }

    /// Asks GitHub which those are now. The branch's comes first, with what could not be listed after them.
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
                // A fork's pull requests are in the repository that it was forked from.
                let parent = of_branch.as_ref().map(|address| address.repository.clone());
                let repositories = vec![parent.unwrap_or_else(|| checkout.repository.clone())];
                selected(&[WatchRule { repositories, ..WatchRule::default() }], client).await?
            }
            _ => selected(&self.rules, client).await?,
        };
        if let Some(address) = &of_branch
            && !selection.pull_requests.iter().any(|known| known.address == *address)
        {
            selection.pull_requests.insert(0, address.clone().into());
        }
        Ok((of_branch, selection))
    }
}

/// The checkout here, or why there is none that counts.
async fn checkout(settings: &ConnectionSettings<'_>, host: &Host) -> Result<Checkout, String> {
    let checkout = Checkout::read(settings.directory).await.map_err(|error| match error {
        CheckoutError::NotACheckout => "this folder is no git checkout".to_owned(),
        CheckoutError::Detached => "no branch is checked out here".to_owned(),
        CheckoutError::NoRemote => "the checkout here has no remote on a GitHub".to_owned(),
        CheckoutError::Process(error) => error.to_string(),
    })?;
    if is_same(&checkout.host, host) {
        return Ok(checkout);
    }
    let Checkout { host: on, repository, .. } = &checkout;
    Err(format!("{repository} is on {on}, while {host} is asked"))
}

/// The current branch's pull request, or the reason why there is none. Only what would also strike the rules is an
/// error.
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

/// A plain address, the simulator's above all, stands for whatever host its pull requests claim to be on.
fn is_same(name: &str, host: &Host) -> bool {
    host.kind() == HostKind::Plain || host.is_loopback() || name.eq_ignore_ascii_case(host.name())
}

fn elsewhere(what: &str, on: &str, host: &Host) -> Failure {
    Failure::usage(format_args!("{what} on {on}, while {host} is asked; pass --api-url https://{on}"))
}
