//! `cloture act` and `cloture pr`: write to GitHub for a person or a script. Each write is shown before it is
//! sent, and sent once.
//!
//! [`mod@plan`] turns an [`ActRequest`] into writes. After the person's [`consent`], they are carried out in
//! order; an [`ActReport`] has the outcome of each.
//!
//! What is absent: nothing here writes without a confirmed command, which is its own permission (S4).

pub mod consent;
pub mod plan;
pub mod text;

mod find_thread;
mod report;
mod run;
mod thread_act;

pub use crate::github::write::MergeMethod;
pub use consent::Consent;
pub use plan::{WritePlan, plan};
pub use report::{ActReport, DecisionReport, RecordingOutcome, WriteStep, WriteStepOutcome};
pub use run::{WriteSwitches, run};
pub use text::BodySource;

use crate::app::connection::ConnectionSettings;
use crate::app::selection;
use crate::app::session::{existing_journal, open_journal};
use crate::domain::snapshot::Account;
use crate::failure::Failure;
use crate::github::read::PullRequestRead;
use crate::github::write::Write;
use crate::github::writer::WritePace;
use crate::github::{Client, Reader, Writer};
use crate::journal::{Journal, PullRequestKey};
use crate::reviewers::profiles::Profiles;
use crate::supervisor::clock::{Clock, SystemClock};
use crate::supervisor::history::History;
use crate::supervisor::people::pull_request_planner::PullRequestPlanner;
use crate::supervisor::people::{ThreadAct, WriteAttempt, write_out};
use crate::supervisor::planned_writes::PlannedWrite;
use crate::supervisor::secrets;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The command as the user typed it.
#[derive(Debug, Clone, PartialEq)]
pub struct ActRequest {
    /// `OWNER/REPO#N` or a web address.
    pub pull_request: String,
    pub verb: ActKind,
    /// The caller's own key, instead of the head; see [`plan()`].
    pub key: Option<String>,
    /// The beginning of the head that the caller expects: at any other head, nothing is done.
    pub head: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ActKind {
    Thread {
        /// Its id, the beginning or end of its id, or its place.
        thread: String,
        verb: ReasonedThreadAct,
    },
    PullRequest(PullRequestAct),
}

/// An act on one thread, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasonedThreadAct {
    pub what: ThreadAct,
    /// Why; for a reply, the reply itself.
    pub reason: Option<String>,
}

/// An act on a pull request.
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
        /// The name of a known reviewer, or a login.
        reviewer: String,
        /// The comment that asks this reviewer, if a review request would not reach it.
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

/// Reads the pull request, plans the writes, gets consent, and carries them out. An error means that nothing
/// was written; otherwise the report has the outcome of each write. Every write has its intent and its
/// outcome in the journal, which is in `state_folder` unless the configuration says otherwise.
pub async fn act(
    request: &ActRequest,
    settings: &ConnectionSettings<'_>,
    profiles: &Profiles,
    state_folder: Option<PathBuf>,
    consent: Consent<'_>,
) -> Result<ActReport, Failure> {
    let host = settings.host()?;
    let addresses = selection::parse_addresses(std::slice::from_ref(&request.pull_request), &host)?;
    let Some(address) = addresses.first() else {
        return Err(Failure::usage("no pull request is named; name one as OWNER/REPO#NUMBER"));
    };
    let client = settings.connect(host).await?.client;
    let reader = Reader::new(&client);
    let read = reader.read(address).await;
    let mut read = read.map_err(|error| report::nothing_written(&error))?;
    let by = reader.known_viewer().map_or_else(|| UNKNOWN.to_owned(), Account::spelled);
    if let ActKind::Thread { thread, verb } = &request.verb {
        let arguments = thread_act::ThreadActArguments { request, thread, verb, by };
        return thread_act::act(arguments, settings, profiles, &client, read, state_folder, consent).await;
    }
    let now = SystemClock.now();
    let host = client.host().name().to_owned();
    let secrets = secrets::scanner(settings.config, &client, settings.environment).await;
    let writer = Writer::new(client, WritePace::default()).withholding(secrets);
    if let Consent::Rehearsal = consent {
        // A rehearsal leaves nothing behind, not even an empty journal.
        if let Some(journal) = existing_journal(settings, state_folder, now).await? {
            journal.repositories().await?.recognise(&host, &mut read.snapshot);
            journal.close().await?;
        }
        let plan = plan(request, &read.snapshot, profiles)?;
        let steps = rehearse(&writer, plan).await?;
        return Ok(ActReport {
            pull_request: plan::address(&read.snapshot),
            decision: None,
            steps,
            trouble: None,
        });
    }
    // Nothing is done that cannot be recorded, so open the journal before asking for consent.
    let first = plan(request, &read.snapshot, profiles)?;
    if let Some(withheld) = first.writes.iter().find_map(|write| writer.withheld(write)) {
        return Err(report::nothing_written(&withheld));
    }
    let (journal, _) = open_journal(settings, state_folder, now).await?;
    let about = journal.identify(&host, &mut read.snapshot).await?;
    // Keys contain the name under which the journal files the repository (L13).
    let plan = plan(request, &read.snapshot, profiles)?;
    if let Consent::Ask(ask) = consent {
        let sentences: Vec<String> = plan.writes.iter().map(Write::sentence).collect();
        consent::get_consent(ask, &sentences)?;
    }
    carry_out(plan, &by, &read, &about, journal, &writer).await
}

/// The name for records if GitHub does not tell whose token it is.
const UNKNOWN: &str = "unknown";

/// The exact calls that would be sent.
async fn rehearse(writer: &Writer<Client>, plan: WritePlan) -> Result<Vec<WriteStep>, Failure> {
    let mut steps = Vec::new();
    for write in plan.writes {
        let described = writer.rehearse(&write).await.map_err(|error| report::nothing_written(&error))?;
        let outcome = WriteStepOutcome::Rehearsed(described.calls);
        steps.push(WriteStep { write, outcome, only_marks: false });
    }
    Ok(steps)
}

async fn carry_out(
    plan: WritePlan,
    by: &str,
    read: &PullRequestRead,
    about: &PullRequestKey,
    journal: Journal,
    writer: &Writer<Client>,
) -> Result<ActReport, Failure> {
    let history = History::load(&journal, about).await?;
    let why = format!("requested by {by}");
    let planner = PullRequestPlanner::new(&read.snapshot, None);
    let to_send = plan.writes.into_iter().map(|write| planner.planned_write(write, why.clone(), &history));
    let to_send: Vec<_> = to_send.collect();
    let done = write_out(&to_send, by, about, &journal, writer).await;
    let closed = journal.close().await;
    let trouble = done.trouble.or(closed.err()).map(Failure::from);
    let steps = to_send.into_iter().zip(done.writes);
    let steps = steps.map(|(planned, attempt)| WriteStep::new(planned, attempt)).collect();
    Ok(ActReport { pull_request: plan::address(&read.snapshot), decision: None, steps, trouble })
}

impl WriteStep {
    fn new(planned: PlannedWrite, attempt: WriteAttempt) -> WriteStep {
        let PlannedWrite { write, only_marks, .. } = planned;
        WriteStep { write, outcome: attempt.into(), only_marks }
    }
}

impl From<WriteAttempt> for WriteStepOutcome {
    fn from(attempt: WriteAttempt) -> Self {
        match attempt {
            WriteAttempt::Outcome(outcome) => WriteStepOutcome::Outcome(outcome),
            WriteAttempt::NotDone(error) => WriteStepOutcome::NotDone(error),
            WriteAttempt::NotTried => WriteStepOutcome::NotTried,
        }
    }
}
