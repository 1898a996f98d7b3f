//! Carries out a planned write: intent in the journal, the write, outcome in the journal.

use super::planned_writes::PlannedWrite;
use super::review_posting::{self, PostedReview};
use super::{markers, people};
use crate::domain::vocabulary::Sha;
use crate::github::error::RetryAfter;
use crate::github::write::{Write, WriteKey};
use crate::github::{Client, Error, WriteOutcome, Writer};
use crate::journal::{Journal, JournalError, Lease, NewRecord, PullRequestKey, Record};
use serde_json::json;
use std::borrow::Cow;

/// Marks the outcome of a write that Cloture did not send, because it has a secret in it (S2).
pub(super) const WITHHELD: &str = "withheld";

/// The driver's result of a write.
#[derive(Debug)]
pub enum WriteResult {
    /// The write is in effect, or the driver never tries it again; with its outcome record.
    Concluded(WriteOutcome, Record),
    /// The forge refused it for good; this is its outcome record, and why.
    Refused(Record, String),
    /// Try again later; this is why not now.
    Later(String),
    /// The same, and the forge takes no other write until then either.
    Limited(RetryAfter, String),
    /// Retrying is useless until a person changes something, or the object is back. Other writes need not
    /// wait for it.
    NotAllowed(String),
}

/// One try at a write.
#[derive(Debug)]
pub enum Attempt {
    Concluded {
        outcome: WriteOutcome,
        record: Box<Record>,
    },
    /// The answer was lost. The writer looks for the write before it sends it again.
    Unknown {
        reason: String,
    },
    Failed(Error),
}

/// The key of a write in the journal, where all pull requests of a host share one space of keys.
pub fn journal_key(about: &PullRequestKey, name: &str) -> String {
    format!("{about}/{name}")
}

/// Writes exactly once, for the driver, which looks at `head`. With a lease, only while this instance holds it.
pub async fn perform(
    planned: &PlannedWrite,
    head: &Sha,
    about: &PullRequestKey,
    by: &str,
    lease: Option<&Lease>,
    journal: &Journal,
    writer: &Writer<Client>,
) -> Result<WriteResult, JournalError> {
    let error = match attempt(planned, about, by, lease, journal, writer).await? {
        Attempt::Concluded { outcome, record } => return Ok(WriteResult::Concluded(outcome, *record)),
        Attempt::Unknown { reason } => return Ok(WriteResult::Later(reason)),
        Attempt::Failed(error) => error,
    };
    let why = error.to_string();
    match error {
        Error::Refused { .. } => {
            let refused = NewRecord::new("", by).about(about.clone()).with_reason(planned.why.clone());
            let refused = refused.with(json!({"refused": why, "head": head}));
            let appended = journal.conclude(lease, journal_key(about, &planned.name), refused).await?;
            Ok(WriteResult::Refused(appended.record().clone(), why))
        }
        // S2: the record says which secret, and shows nothing of the text.
        Error::Withheld { .. } => {
            let withheld = NewRecord::new("", by).about(about.clone()).with_reason(why.clone());
            let withheld = withheld.with(json!({"refused": why, WITHHELD: true, "head": head}));
            let appended = journal.conclude(lease, journal_key(about, &planned.name), withheld).await?;
            Ok(WriteResult::Refused(appended.record().clone(), why))
        }
        // GitHub tells a token without access that the object is not there. If it is gone for good, the next
        // snapshot no longer calls for the write; giving it up here would lose the write if the object comes
        // back.
        Error::Denied { .. } | Error::Unauthorised { .. } | Error::Gone { .. } => {
            Ok(WriteResult::NotAllowed(why))
        }
        Error::RateLimited { retry_after, .. } => Ok(WriteResult::Limited(retry_after, why)),
        Error::Transient { .. } | Error::Malformed { .. } => Ok(WriteResult::Later(why)),
    }
}

/// One try, for a person who decides about the next step from its exact outcome.
pub async fn attempt(
    planned: &PlannedWrite,
    about: &PullRequestKey,
    by: &str,
    lease: Option<&Lease>,
    journal: &Journal,
    writer: &Writer<Client>,
) -> Result<Attempt, JournalError> {
    // Before the intent, which quotes a part of some writes.
    if let Some(withheld) = writer.withheld(&planned.write) {
        tracing::warn!(pull_request = %about, name = planned.name, error = %withheld, "not written");
        return Ok(Attempt::Failed(withheld));
    }
    let key = journal_key(about, &planned.name);
    let record =
        |body| NewRecord::new("", by).about(about.clone()).with_reason(planned.why.clone()).with(body);
    let marker = planned.write.key().map(WriteKey::as_str);
    let intent = record(json!({"does": planned.write.sentence(), "key": marker}));
    let intended = journal.intend(lease, key.clone(), intent).await?;
    let write = as_intended(planned, intended.record());
    tracing::info!(pull_request = %about, name = planned.name, "writing");
    let PostedReview { outcome, changes } = if review_posting::is_of_cycle(&write) {
        review_posting::post(&write, writer).await
    } else {
        PostedReview { outcome: writer.write(&write).await, changes: Vec::new() }
    };
    match &outcome {
        Ok(outcome) => {
            tracing::info!(pull_request = %about, name = planned.name, outcome = outcome.name(), "written");
        }
        Err(error) => tracing::info!(pull_request = %about, name = planned.name, %error, "not written"),
    }
    match outcome {
        Ok(WriteOutcome::Unknown { reason, may_be_repeated: true }) => Ok(Attempt::Unknown { reason }),
        Err(error) => Ok(Attempt::Failed(error)),
        Ok(outcome) => {
            let sentences = [vec![outcome.sentence()], changes].concat().join(" ");
            let body = json!({"outcome": sentences, "url": proof_url(&outcome)});
            let appended = journal.conclude(lease, key, record(body)).await?;
            Ok(Attempt::Concluded { outcome, record: Box::new(appended.record().clone()) })
        }
    }
}

/// The write with the key under which it may already be on GitHub. Older versions recorded no key in the
/// intent, and gave reviews and replies other keys than this version does.
fn as_intended<'a>(planned: &'a PlannedWrite, intent: &Record) -> Cow<'a, Write> {
    let is_the_drivers =
        planned.write.key().is_some_and(|key| !key.as_str().starts_with(people::key::KEY_PREFIX));
    let former = if intent.body.get("key").is_none() && is_the_drivers {
        markers::former_key(&planned.name)
    } else {
        None
    };
    match former {
        Some(key) => Cow::Owned(planned.write.clone().with_key(key)),
        None => Cow::Borrowed(&planned.write),
    }
}

fn proof_url(outcome: &WriteOutcome) -> Option<&str> {
    match outcome {
        WriteOutcome::Done(proof)
        | WriteOutcome::AlreadyThere(proof)
        | WriteOutcome::SwallowedByDraft(proof) => proof.url.as_deref(),
        WriteOutcome::Unknown { .. } => None,
    }
}
