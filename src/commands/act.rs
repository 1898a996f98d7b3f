//! `cloture act` and `cloture pr`: what a person or a script wants written to GitHub, shown before it is sent, and sent
//! once.
//!
//! An [`ActRequest`] is what was asked for; [`mod@plan`] turns it into writes, without sending anything; the writes are
//! rehearsed, agreed to ([`consent`]) and carried out one after the other; a [`ActReport`] says what became of each.
//!
//! What is absent: nothing here decides by itself that something is to be written. A confirmed command is its own
//! permission (S4), and nothing else is.

pub mod consent;
pub mod plan;
pub mod text;

mod find_thread;
mod report;
mod thread_act;

pub use crate::github::write::MergeMethod;
pub use consent::Consent;
pub use plan::{WritePlan, plan};
pub use report::{ActReport, DecisionReport, RecordingOutcome, WriteStep, WriteStepOutcome};
pub use text::BodySource;

use crate::app::connection::ConnectionSettings;
use crate::app::selection;
use crate::app::session::open_journal;
use crate::domain::snapshot::Account;
use crate::failure::Failure;
use crate::github::read::PullRequestRead;
use crate::github::write::Write;
use crate::github::writer::WritePace;
use crate::github::{Client, PullRequestAddress, Reader, Writer};
use crate::journal::{Journal, PullRequestKey};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::supervisor::history::History;
use crate::supervisor::people::pull_request_planner::PullRequestPlanner;
use crate::supervisor::people::{ThreadAct, WriteAttempt, write_out};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// What is to be done, as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ActRequest {
    /// As it was typed: `OWNER/REPO#N` or a web address.
    pub pull_request: String,
    pub verb: ActKind,
    /// The caller's own name for this order, instead of the head; see [`plan()`].
    pub key: Option<String>,
    /// The beginning of the head that the caller looked at: at any other, nothing is done.
    pub head: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ActKind {
    Thread {
        /// Its id, the beginning or the end of it, or its place.
        thread: String,
        verb: ReasonedThreadAct,
    },
    PullRequest(PullRequestAct),
}

/// What can be done with one thread.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasonedThreadAct {
    pub what: ThreadAct,
    /// Why; for a reply, the reply itself.
    pub reason: Option<String>,
}

/// What can be done with a pull request, or because of it.
#[derive(Debug, Clone, PartialEq)]
pub enum PullRequestAct {
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
/// write; an error means that nothing was written. Whatever leaves the machine has its intent and its outcome in the
/// journal, which is in `state_folder` unless the configuration says otherwise.
pub async fn act(
    order: &ActRequest,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    consent: Consent<'_>,
) -> Result<ActReport, Failure> {
    let host = settings.host()?;
    let addresses = selection::named(std::slice::from_ref(&order.pull_request), &host)?;
    let Some(address) = addresses.first() else {
        return Err(Failure::usage("no pull request is named; name one as OWNER/REPO#NUMBER"));
    };
    let client = settings.connect(host).await?.client;
    let reader = Reader::new(&client);
    let read = reader.read(address).await;
    let read = read.map_err(|error| report::nothing_written(&error))?;
    let by = reader.known_viewer().map_or_else(|| UNKNOWN.to_owned(), Account::spelled);
    if let ActKind::Thread { thread, verb } = &order.verb {
        let wanted = thread_act::ThreadActArguments { order, thread, verb, by };
        return thread_act::act(wanted, settings, profiles, &client, read, state_folder, consent).await;
    }
    let plan = plan(order, &read.snapshot, profiles)?;
    let PullRequestAddress { repository, number } = plan::address(&read.snapshot);
    let about = PullRequestKey { host: client.host().name().to_owned(), repository, number };
    let writer = Writer::new(client, WritePace::default());
    if let Consent::Rehearsal = consent {
        let steps = rehearse(&writer, plan).await?;
        return Ok(ActReport {
            pull_request: plan::address(&read.snapshot),
            decision: None,
            steps,
            trouble: None,
        });
    }
    // What cannot be recorded is not done, so that nobody is asked about it either.
    let (journal, _) = open_journal(settings, state_folder, SystemClock.now()).await?;
    if let Consent::Ask(ask) = consent {
        let sentences: Vec<String> = plan.writes.iter().map(Write::sentence).collect();
        consent::agreed(ask, &sentences)?;
    }
    carry_out(plan, &by, &read, &about, journal, &writer).await
}

/// Who did it, where GitHub does not tell whose token it is.
const UNKNOWN: &str = "unknown";

/// Exactly what would be sent.
async fn rehearse(writer: &Writer<Client>, plan: WritePlan) -> Result<Vec<WriteStep>, Failure> {
    let mut steps = Vec::new();
    for write in plan.writes {
        let described = writer.rehearse(&write).await.map_err(|error| report::nothing_written(&error))?;
        steps.push(WriteStep { write, became: WriteStepOutcome::Rehearsed(described.calls) });
    }
    Ok(steps)
}

/// One after the other, each with its intent before and its outcome after it in the journal.
async fn carry_out(
    plan: WritePlan,
    by: &str,
    read: &PullRequestRead,
    about: &PullRequestKey,
    journal: Journal,
    writer: &Writer<Client>,
) -> Result<ActReport, Failure> {
    let history = History::load(&journal, about).await?;
    let why = format!("{by} wants it");
    let planner = PullRequestPlanner::new(&read.snapshot, None);
    let deeds = plan.writes.into_iter().map(|write| planner.planned_write(write, why.clone(), &history));
    let deeds: Vec<_> = deeds.collect();
    let done = write_out(&deeds, by, about, &journal, writer).await;
    let closed = journal.close().await;
    let trouble = done.trouble.or(closed.err()).map(Failure::from);
    let steps = deeds.into_iter().zip(done.deeds);
    let steps = steps.map(|(deed, tried)| WriteStep { write: deed.write, became: tried.into() }).collect();
    Ok(ActReport { pull_request: plan::address(&read.snapshot), decision: None, steps, trouble })
}

impl From<WriteAttempt> for WriteStepOutcome {
    fn from(tried: WriteAttempt) -> Self {
        match tried {
            WriteAttempt::Told(outcome) => WriteStepOutcome::Told(outcome),
            WriteAttempt::NotDone(error) => WriteStepOutcome::NotDone(error),
            WriteAttempt::NotTried => WriteStepOutcome::NotTried,
        }
    }
}
