//! Carrying out a deed: intent, act, outcome.

use super::planned_writes::PlannedWrite;
use crate::github::error::RetryAfter;
use crate::github::write::{NewReviewThread, Write};
use crate::github::{Client, Error, WriteOutcome, Writer};
use crate::journal::{Journal, JournalError, Lease, NewRecord, PullRequestKey};
use serde_json::json;
use std::fmt::Write as _;

/// What became of a deed.
#[derive(Debug)]
pub enum WriteResult {
    /// It is there, or is never tried again, and the journal says so.
    Concluded(WriteOutcome),
    /// The forge understood and said no, and would say so again; the journal says so, too.
    Refused(String),
    /// It may be tried again later; this is why not now.
    Later(String),
    /// The same, and nothing else may be written until then.
    Limited(RetryAfter, String),
    /// The same, but nothing comes of it until somebody does something, or what it is for is back. What else is due need
    /// not wait for that.
    NotAllowed(String),
}

/// The name of a deed in the journal, where all pull requests of a host share one space of names.
pub fn journal_key(about: &PullRequestKey, name: &str) -> String {
    format!("{about}/{name}")
}

/// Writes what a deed says, exactly once. With a lease, only while it is held; without one, as a person's own act.
pub async fn perform(
    deed: &PlannedWrite,
    about: &PullRequestKey,
    by: &str,
    lease: Option<&Lease>,
    journal: &Journal,
    writer: &Writer<Client>,
) -> Result<WriteResult, JournalError> {
    match attempt(deed, about, by, lease, journal, writer).await? {
        Ok(WriteOutcome::Unknown { reason, may_be_repeated: true }) => Ok(WriteResult::Later(reason)),
        Ok(outcome) => Ok(WriteResult::Concluded(outcome)),
        Err(error @ Error::Refused { .. }) => {
            let why = error.to_string();
            let refused = NewRecord::new("", by).about(about.clone()).with_reason(deed.why.clone());
            let refused = refused.with(json!({"refused": why}));
            journal.conclude(lease, journal_key(about, &deed.name), refused).await?;
            Ok(WriteResult::Refused(why))
        }
        // A token that may not see something is told that it is not there, and what is gone for good is no longer due at
        // the next look: to give it up here would lose what comes back.
        Err(error @ (Error::Denied { .. } | Error::Unauthorised { .. } | Error::Gone { .. })) => {
            Ok(WriteResult::NotAllowed(error.to_string()))
        }
        Err(error @ Error::RateLimited { retry_after, .. }) => {
            Ok(WriteResult::Limited(retry_after, error.to_string()))
        }
        Err(error @ (Error::Transient { .. } | Error::Malformed { .. })) => {
            Ok(WriteResult::Later(error.to_string()))
        }
    }
}

/// The same, for somebody who does not come back by himself and wants to know exactly what became of it.
pub async fn attempt(
    deed: &PlannedWrite,
    about: &PullRequestKey,
    by: &str,
    lease: Option<&Lease>,
    journal: &Journal,
    writer: &Writer<Client>,
) -> Result<Result<WriteOutcome, Error>, JournalError> {
    let key = journal_key(about, &deed.name);
    let record = |body| NewRecord::new("", by).about(about.clone()).with_reason(deed.why.clone()).with(body);
    journal.intend(lease, key.clone(), record(json!({"does": deed.write.sentence()}))).await?;
    tracing::info!(pull_request = %about, name = deed.name, "writing");
    let outcome = match writer.write(&deed.write).await {
        // GitHub refuses a whole review for one line that is not in the diff. What cannot stand there is said in the
        // review's text instead.
        Err(Error::Refused { .. }) if has_threads(&deed.write) => {
            writer.write(&in_the_text(&deed.write)).await
        }
        outcome => outcome,
    };
    match &outcome {
        Ok(outcome) => {
            tracing::info!(pull_request = %about, name = deed.name, outcome = outcome.name(), "written")
        }
        Err(error) => tracing::info!(pull_request = %about, name = deed.name, %error, "not written"),
    }
    match &outcome {
        Ok(WriteOutcome::Unknown { may_be_repeated: true, .. }) | Err(_) => {}
        Ok(known) => {
            let body = json!({"outcome": known.sentence(), "url": proof_url(known)});
            journal.conclude(lease, key, record(body)).await?;
        }
    }
    Ok(outcome)
}

fn proof_url(outcome: &WriteOutcome) -> Option<&str> {
    match outcome {
        WriteOutcome::Done(proof)
        | WriteOutcome::AlreadyThere(proof)
        | WriteOutcome::SwallowedByDraft(proof) => proof.url.as_deref(),
        WriteOutcome::Unknown { .. } => None,
    }
}

fn has_threads(write: &Write) -> bool {
    matches!(write, Write::Review { threads, .. } if !threads.is_empty())
}

/// The same review with what its threads say in its own text.
fn in_the_text(write: &Write) -> Write {
    let mut moved = write.clone();
    if let Write::Review { body, threads, .. } = &mut moved {
        for NewReviewThread { path, line, body: text, .. } in std::mem::take(threads) {
            let _infallible = write!(body, "\n\n---\n\n`{path}:{line}`\n\n{text}");
        }
    }
    moved
}
