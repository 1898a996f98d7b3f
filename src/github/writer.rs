//! Carries out writes one at a time and exactly once. After a lost answer, the writer looks for the effect on
//! GitHub before it retries.

use super::call::{ApiReply, Call, Transport};
use super::documents;
use super::error::{Error, RequestSent};
use super::evidence::{WriteEvidence, WriteProof};
use super::identity::{self, Identity};
use super::wire;
use super::write::{Description, Write, same_reviewer};
use crate::agents::secret::SecretScanner;
use crate::domain::snapshot::RepositoryName;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::Instrument;

/// The only way to write to GitHub. Everything that writes to one host shares one writer.
#[derive(Debug)]
pub struct Writer<T> {
    transport: T,
    pace: WritePace,
    /// When the next write may be sent. The lock is held during a write, so writes never overlap.
    next: Mutex<Option<Instant>>,
    us: OnceCell<Option<Identity>>,
    /// No text with one of these leaves.
    secrets: SecretScanner,
}

/// The waits and retries of the writer.
#[derive(Debug, Clone)]
pub struct WritePace {
    /// The pause between two writes. GitHub asks for one second.
    pub between: Duration,
    /// After a lost answer, the wait before each look for the effect. The sum exceeds the ten seconds after
    /// which GitHub aborts a request, so a write that is not there by then will not appear later.
    pub looks: Vec<Duration>,
    /// The most times that a write is sent.
    pub attempts: u32,
}

impl Default for WritePace {
    fn default() -> Self {
        Self {
            between: Duration::from_secs(1),
            looks: vec![Duration::from_secs(2), Duration::from_secs(9)],
            attempts: 3,
        }
    }
}

/// The result of a write. An `Err` instead means that the write was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    Done(WriteProof),
    /// An earlier run or another person had already done it.
    AlreadyThere(WriteProof),
    /// GitHub put the text into a draft review of our account, which nobody else sees. A person must submit
    /// or delete that draft.
    SwallowedByDraft(WriteProof),
    /// No answer arrived, and the writer cannot find out at the moment.
    Unknown {
        reason: String,
        may_be_repeated: bool,
    },
}

impl WriteOutcome {
    /// The name in JSON output and in the log.
    pub fn name(&self) -> &'static str {
        match self {
            WriteOutcome::Done(_) => "done",
            WriteOutcome::AlreadyThere(_) => "already_there",
            WriteOutcome::SwallowedByDraft(_) => "swallowed_by_draft",
            WriteOutcome::Unknown { .. } => "unknown",
        }
    }

    /// One sentence for the journal and the screen.
    pub fn sentence(&self) -> String {
        match self {
            WriteOutcome::Done(_) => "It is done.".to_owned(),
            WriteOutcome::AlreadyThere(_) => "It was there already, so nothing was sent.".to_owned(),
            WriteOutcome::SwallowedByDraft(_) => {
                "GitHub put it into a draft review of your account, where nobody else \
                 sees it; submit or delete that draft on the pull request's page."
                    .to_owned()
            }
            WriteOutcome::Unknown { reason, may_be_repeated: true } => {
                format!(
                    "Cloture cannot tell yet whether it arrived ({reason}); it looks for it before it sends \
                     it again."
                )
            }
            WriteOutcome::Unknown { reason, may_be_repeated: false } => {
                format!(
                    "Cloture cannot tell whether it arrived ({reason}) and does not send it again; check on \
                     GitHub."
                )
            }
        }
    }
}

/// What an answer says about the write.
enum AnswerVerdict {
    Accepted(WriteOutcome),
    Refused(Error),
    Unclear(Error),
}

impl<T: Transport + Sync> Writer<T> {
    pub fn new(transport: T, pace: WritePace) -> Self {
        let secrets = SecretScanner::default();
        Self { transport, pace, next: Mutex::new(None), us: OnceCell::new(), secrets }
    }

    /// The same writer, which also knows these secrets. Without them it knows the forms of common keys.
    #[must_use]
    pub fn withholding(self, secrets: SecretScanner) -> Self {
        Self { secrets, ..self }
    }

    /// The secrets that this writer withholds.
    pub fn secrets(&self) -> &SecretScanner {
        &self.secrets
    }

    /// Why the writer would not send this write, if it has a secret in it.
    pub fn withheld(&self, write: &Write) -> Option<Error> {
        let secret = write.find_secret(&self.secrets)?;
        Some(Error::Withheld { what: write.call("").purpose().to_owned(), secret })
    }

    /// For reads that decide how to write.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// The exact calls of a write, without sending them. Only a label's id is looked up.
    pub async fn rehearse(&self, write: &Write) -> Result<Description, Error> {
        if let Some(withheld) = self.withheld(write) {
            return Err(withheld);
        }
        let Some((repository, name)) = write.label() else { return Ok(write.describe()) };
        let (repository_id, label) = self.label(repository, name).await?;
        let calls = match (write, label) {
            (_, Some(id)) => vec![write.call(&id)],
            (Write::AddLabel { .. }, None) => {
                vec![create_label(&repository_id, name), write.call("(the new label's id)")]
            }
            (_, None) => Vec::new(),
        };
        Ok(Description { sentence: write.sentence(), calls })
    }

    /// Carries out a write: looks whether it is already done, sends it, and after a lost answer looks again.
    pub async fn write(&self, write: &Write) -> Result<WriteOutcome, Error> {
        let span = tracing::info_span!("write", kind = write.kind());
        let outcome = self.write_once(write).instrument(span.clone()).await;
        span.in_scope(|| match &outcome {
            Ok(outcome) => tracing::debug!(outcome = outcome.name(), "write finished"),
            Err(error) => tracing::debug!(%error, "write failed"),
        });
        outcome
    }

    async fn write_once(&self, write: &Write) -> Result<WriteOutcome, Error> {
        if let Some(withheld) = self.withheld(write) {
            return Err(withheld);
        }
        if let Some(message) = write.objection() {
            return Err(Error::Refused { what: write.call("").purpose().to_owned(), message });
        }
        let mut next = self.next.lock().await;
        let ask = async || identity::if_allowed(Identity::ask(&self.transport).await.0);
        let us = self.us.get_or_try_init(ask).await?.as_ref();
        match write.already_done(&self.transport, us).await? {
            WriteEvidence::Done(proof) => return Ok(WriteOutcome::AlreadyThere(proof)),
            WriteEvidence::InDraft(proof) => return Ok(WriteOutcome::SwallowedByDraft(proof)),
            WriteEvidence::NotDone | WriteEvidence::CannotTell => {}
        }
        let label_id = match write.label() {
            Some((repository, name)) => match self.label_for(write, repository, name, &mut next).await? {
                Some(id) => id,
                None => return Ok(WriteOutcome::AlreadyThere(WriteProof::default())),
            },
            None => String::new(),
        };
        let call = write.call(&label_id);
        let mut attempt = 1;
        loop {
            let lost = match self.send(&call, &mut next).await {
                Ok(reply) => match verdict(write, &call, reply) {
                    AnswerVerdict::Accepted(outcome) => return Ok(outcome),
                    AnswerVerdict::Refused(error) => return Err(error),
                    AnswerVerdict::Unclear(error) => error,
                },
                Err(error) if error.leaves_doubt() => error,
                Err(error) => return Err(error),
            };
            tracing::warn!(
                attempt,
                error = lost.event(),
                "the answer was lost; looking for the write on GitHub"
            );
            let evidence = self.look(write, us).await;
            log_evidence(&evidence);
            match evidence {
                Ok(WriteEvidence::Done(proof)) => return Ok(WriteOutcome::Done(proof)),
                Ok(WriteEvidence::InDraft(proof)) => return Ok(WriteOutcome::SwallowedByDraft(proof)),
                Ok(WriteEvidence::NotDone) if attempt < self.pace.attempts => attempt += 1,
                Ok(WriteEvidence::NotDone) => return Err(lost),
                Ok(WriteEvidence::CannotTell) => {
                    return Ok(WriteOutcome::Unknown { reason: lost.event(), may_be_repeated: false });
                }
                Err(error) => {
                    return Ok(WriteOutcome::Unknown {
                        reason: error.event(),
                        may_be_repeated: write.can_be_looked_for(),
                    });
                }
            }
        }
    }

    /// Sends one call that writes, after the pause since the last one.
    async fn send(&self, call: &Call, next: &mut Option<Instant>) -> Result<ApiReply, Error> {
        if let Some(moment) = *next {
            sleep_until(moment).await;
        }
        let reply = self.transport.send(call).await;
        *next = Some(Instant::now() + self.pace.between);
        reply
    }

    /// Looks several times for a write whose answer was lost, because GitHub may still be working on it. A
    /// failure that may pass does not end the search.
    async fn look(&self, write: &Write, us: Option<&Identity>) -> Result<WriteEvidence, Error> {
        let mut outcome = Ok(WriteEvidence::CannotTell);
        for wait in &self.pace.looks {
            sleep(*wait).await;
            outcome = write.already_done(&self.transport, us).await;
            match &outcome {
                Ok(WriteEvidence::NotDone) => {}
                Err(error) if error.is_passing() || matches!(error, Error::Malformed { .. }) => {}
                _ => return outcome,
            }
        }
        outcome
    }

    /// The id of the label to add or remove. The writer creates a missing label that is to be added. It
    /// returns None for a missing label that is to be removed.
    async fn label_for(
        &self,
        write: &Write,
        repository: &RepositoryName,
        name: &str,
        next: &mut Option<Instant>,
    ) -> Result<Option<String>, Error> {
        let mut attempt = 1;
        loop {
            let (repository_id, label) = self.label(repository, name).await?;
            if label.is_some() || !matches!(write, Write::AddLabel { .. }) {
                return Ok(label);
            }
            let call = create_label(&repository_id, name);
            let lost = match self.send(&call, next).await {
                Ok(mut reply) => {
                    let created = reply
                        .parse::<wire::CreateLabelAnswer>(&call)
                        .ok()
                        .and_then(wire::CreateLabelAnswer::proof);
                    match (created, reply.errors.first()) {
                        (Some(label), _) => return Ok(Some(label.id)),
                        (None, Some(error)) => error.to_error(&call),
                        (None, None) => unclear(&call),
                    }
                }
                Err(error) => error,
            };
            if !lost.leaves_doubt() || attempt >= self.pace.attempts {
                return Err(lost);
            }
            tracing::warn!(
                attempt,
                error = lost.event(),
                "the answer was lost; looking for the label on GitHub"
            );
            attempt += 1;
            if let Some(wait) = self.pace.looks.first() {
                sleep(*wait).await;
            }
        }
    }

    async fn label(
        &self,
        repository: &RepositoryName,
        name: &str,
    ) -> Result<(String, Option<String>), Error> {
        let call = Call::graphql(
            &documents::LABEL_ID,
            json!({"owner": repository.owner(), "name": repository.name(), "label": name}),
        );
        let mut reply = self.transport.send(&call).await?;
        let answer: wire::LabelIdAnswer = reply.parse(&call)?;
        let Some(found) = answer.repository else { return Err(reply.absence(&call)) };
        Ok((found.id, found.label.map(|label| label.id)))
    }
}

/// Logs the result of the search for a lost write.
fn log_evidence(evidence: &Result<WriteEvidence, Error>) {
    match evidence {
        Ok(WriteEvidence::Done(_)) => tracing::info!("the write had arrived"),
        Ok(WriteEvidence::InDraft(_)) => tracing::info!("the write had arrived in a draft review"),
        Ok(WriteEvidence::NotDone) => tracing::info!("the write had not arrived"),
        Ok(WriteEvidence::CannotTell) => tracing::info!("GitHub keeps no record of this kind of write"),
        Err(error) => tracing::warn!(%error, "could not look for the write"),
    }
}

fn create_label(repository_id: &str, name: &str) -> Call {
    Call::graphql(
        &documents::CREATE_LABEL,
        json!({"repository": repository_id, "name": name, "color": "ededed"}),
    )
}

fn unclear(call: &Call) -> Error {
    Error::Transient {
        what: call.purpose().to_owned(),
        cause: "the answer does not say whether it worked".to_owned(),
        sent: RequestSent::Maybe,
    }
}

/// Reads an answer. Only the written object proves success, and only an error about the write itself is a
/// refusal.
fn verdict(write: &Write, call: &Call, mut reply: ApiReply) -> AnswerVerdict {
    let outcome = match call {
        Call::Graphql { .. } => graphql_outcome(write, call, &mut reply),
        Call::Rest { .. } | Call::Conditional { .. } | Call::Diff { .. } => {
            rest_outcome(write, call, &mut reply)
        }
    };
    match outcome {
        Ok(Some(outcome)) => AnswerVerdict::Accepted(outcome),
        Err(error) if !error.leaves_doubt() => AnswerVerdict::Refused(error),
        Err(error) => AnswerVerdict::Unclear(error),
        Ok(None) => match reply.errors.iter().find(|error| error.is_refusal() && error.path.len() <= 1) {
            Some(error) => AnswerVerdict::Refused(error.to_error(call)),
            None => AnswerVerdict::Unclear(unclear(call)),
        },
    }
}

fn graphql_outcome(write: &Write, call: &Call, reply: &mut ApiReply) -> Result<Option<WriteOutcome>, Error> {
    let written = |written: wire::WrittenNode| {
        let in_draft = written.state.as_deref() == Some("PENDING");
        let proof = WriteProof { id: Some(written.id), url: Some(written.url) };
        if in_draft { WriteOutcome::SwallowedByDraft(proof) } else { WriteOutcome::Done(proof) }
    };
    let done = |id: Option<String>| WriteOutcome::Done(WriteProof { id, url: None });
    let state = |written: wire::WrittenNode, expected: &str| {
        let fits = written.state.as_deref() == Some(expected);
        fits.then_some(WriteOutcome::Done(WriteProof { id: Some(written.id), url: Some(written.url) }))
    };
    Ok(match write {
        Write::Reply { .. } => reply.parse::<wire::ReplyAnswer>(call)?.proof().map(written),
        Write::Review { .. } => reply.parse::<wire::SubmitReviewAnswer>(call)?.proof().map(written),
        Write::Comment { .. } => {
            reply.parse::<wire::AddCommentAnswer>(call)?.proof().and_then(|edge| edge.node).map(written)
        }
        Write::Resolve { .. } => {
            let thread = reply.parse::<wire::ResolveAnswer>(call)?.proof();
            thread.filter(|thread| thread.is_resolved).map(|thread| done(Some(thread.id)))
        }
        Write::Unresolve { .. } => {
            let thread = reply.parse::<wire::UnresolveAnswer>(call)?.proof();
            thread.filter(|thread| !thread.is_resolved).map(|thread| done(Some(thread.id)))
        }
        Write::AddLabel { .. } => reply.parse::<wire::AddLabelAnswer>(call)?.proof().map(|_| done(None)),
        Write::RemoveLabel { .. } => {
            reply.parse::<wire::RemoveLabelAnswer>(call)?.proof().map(|_| done(None))
        }
        Write::Close { .. } => {
            reply.parse::<wire::CloseAnswer>(call)?.proof().and_then(|written| state(written, "CLOSED"))
        }
        Write::Reopen { .. } => {
            reply.parse::<wire::ReopenAnswer>(call)?.proof().and_then(|written| state(written, "OPEN"))
        }
        Write::Merge { .. } => {
            reply.parse::<wire::MergeAnswer>(call)?.proof().and_then(|written| state(written, "MERGED"))
        }
        Write::Minimize { .. } => {
            let flag = reply.parse::<wire::MinimizeAnswer>(call)?.proof();
            flag.filter(|flag| flag.is_minimized == Some(true)).map(|_| done(None))
        }
        Write::RequestReview { .. } | Write::OpenIssue { .. } | Write::Dispatch { .. } => None,
    })
}

/// A REST status of success counts only with the documented body: a proxy can also answer 200. GitHub answers
/// an event with an empty body, and a review request with the list of requested reviewers.
fn rest_outcome(write: &Write, call: &Call, reply: &mut ApiReply) -> Result<Option<WriteOutcome>, Error> {
    match write {
        Write::OpenIssue { .. } => {
            let issue: wire::RestIssue = reply.parse(call)?;
            Ok(Some(WriteOutcome::Done(WriteProof { id: issue.node_id, url: Some(issue.html_url) })))
        }
        Write::RequestReview { reviewer, .. } => {
            // GitHub accepts a login that cannot review here, and leaves it off the list.
            let Some(asked) = reply.body.get("requested_reviewers").and_then(Value::as_array) else {
                return Ok(None);
            };
            let mut logins = asked.iter().filter_map(|user| user.get("login")?.as_str());
            if !logins.any(|login| same_reviewer(login, reviewer)) {
                return Err(Error::Refused {
                    what: call.purpose().to_owned(),
                    message: format!(
                        "it accepted the request but did not ask {reviewer}, who cannot review here"
                    ),
                });
            }
            Ok(Some(WriteOutcome::Done(WriteProof::default())))
        }
        _ => Ok(reply.body.is_null().then(|| WriteOutcome::Done(WriteProof::default()))),
    }
}
