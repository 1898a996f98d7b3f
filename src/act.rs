//! `cloture act` and `cloture pr`: what a person or a script wants written to GitHub, shown before it is sent, and sent
//! once.
//!
//! An [`Order`] is what was asked for; [`mod@plan`] turns it into writes, without sending anything; the writes are
//! rehearsed, agreed to ([`consent`]) and carried out one after the other; a [`Report`] says what became of each.
//!
//! What is absent: nothing here decides by itself that something is to be written. A confirmed command is its own
//! permission (S4), and nothing else is.

pub mod consent;
pub mod plan;
pub mod text;

mod report;
mod thread;
mod threads;

pub use crate::github::write::MergeMethod;
pub use consent::Consent;
pub use plan::{Plan, plan};
pub use report::{Became, Decision, Recorded, Report, Step};
pub use text::Text;

use crate::domain::snapshot::Account;
use crate::failure::Failure;
use crate::forge::{self, Settings};
use crate::github::write::Write;
use crate::github::writer::Pace;
use crate::github::{Client, Outcome, PullRequestAddress, Reader, Writer};
use crate::people::What;
use crate::reviewers::profiles::Profiles;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// What is to be done, as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// As it was typed: `OWNER/REPO#N` or a web address.
    pub pull_request: String,
    pub verb: Verb,
    /// The caller's own name for this order, instead of the head; see [`plan()`].
    pub key: Option<String>,
    /// The beginning of the head that the caller looked at: at any other, nothing is done.
    pub head: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Verb {
    Thread {
        /// Its id, the beginning or the end of it, or its place.
        thread: String,
        verb: ThreadVerb,
    },
    PullRequest(PullRequestVerb),
}

/// What can be done with one thread.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadVerb {
    pub what: What,
    /// Why; for a reply, the reply itself.
    pub reason: Option<String>,
}

/// What can be done with a pull request, or because of it.
#[derive(Debug, Clone, PartialEq)]
pub enum PullRequestVerb {
    Comment {
        body: String,
    },
    Label {
        name: String,
    },
    Unlabel {
        name: String,
    },
    Approve {
        body: String,
    },
    RequestChanges {
        body: String,
    },
    RequestReview {
        /// A reviewer that is known by name, or a login.
        reviewer: String,
        /// The comment by which this reviewer wants to be asked, where a request would not reach it.
        mention: Option<String>,
    },
    Close,
    Reopen,
    Merge {
        method: MergeMethod,
    },
    OpenIssue {
        title: String,
        body: String,
        labels: Vec<String>,
        assignees: Vec<String>,
    },
    Dispatch {
        event_type: String,
        payload: Map<String, Value>,
    },
}

/// Reads the pull request, makes the plan, gets consent, and carries it out. What could be planned is reported write by
/// write; an error means that nothing was written. What is done to a thread is kept in the journal, which is in
/// `state_folder` unless the configuration says otherwise.
pub async fn act(
    order: &Order,
    settings: &Settings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    consent: Consent<'_>,
) -> Result<Report, Failure> {
    let host = settings.host()?;
    let addresses = forge::named(std::slice::from_ref(&order.pull_request), &host)?;
    let Some(address) = addresses.first() else {
        return Err(Failure::usage("no pull request is named; name one as OWNER/REPO#NUMBER"));
    };
    let client = settings.connect(host).await?.client;
    let reader = Reader::new(&client);
    let read = reader.read(address).await;
    let read = read.map_err(|error| report::nothing_written(&error))?;
    if let Verb::Thread { thread, verb } = &order.verb {
        let by = reader.known_viewer().map_or_else(|| UNKNOWN.to_owned(), Account::spelled);
        let wanted = threads::Wanted { order, thread, verb, by };
        return threads::act(wanted, settings, profiles, &client, read, state_folder, consent).await;
    }
    let address =
        PullRequestAddress { repository: read.snapshot.repository.clone(), number: read.snapshot.number };
    let plan = plan(order, &read.snapshot, profiles)?;
    let writer = Writer::new(&client, Pace::default());
    let steps = match consent {
        Consent::Rehearsal => rehearse(&writer, plan).await?,
        Consent::Given => carry_out(&writer, plan).await,
        Consent::Ask(ask) => {
            let sentences: Vec<String> = plan.writes.iter().map(Write::sentence).collect();
            consent::agreed(ask, &sentences)?;
            carry_out(&writer, plan).await
        }
    };
    Ok(Report { pull_request: address, decision: None, steps, trouble: None })
}

/// Who did it, where GitHub does not tell whose token it is.
const UNKNOWN: &str = "unknown";

/// Exactly what would be sent.
async fn rehearse(writer: &Writer<&Client>, plan: Plan) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    for write in plan.writes {
        let described = writer.rehearse(&write).await.map_err(|error| report::nothing_written(&error))?;
        steps.push(Step { write, became: Became::Rehearsed(described.calls) });
    }
    Ok(steps)
}

/// One after the other, and none after one that is not in effect: a thread whose reason nobody can see is not resolved.
async fn carry_out(writer: &Writer<&Client>, plan: Plan) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for write in plan.writes {
        let became = if steps.iter().all(Step::is_in_effect) {
            match writer.write(&write).await {
                Ok(outcome) => Became::Told(outcome),
                Err(error) => Became::NotDone(error),
            }
        } else {
            Became::NotTried
        };
        steps.push(Step { write, became });
    }
    steps
}

impl Step {
    fn is_in_effect(&self) -> bool {
        matches!(self.became, Became::Told(Outcome::Done(_) | Outcome::AlreadyThere(_)))
    }
}
