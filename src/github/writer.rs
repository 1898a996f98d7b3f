//! Writes, one at a time, and exactly once: a write whose answer was lost is looked for before it is tried again.

use super::call::{ApiReply, Call, Transport};
use super::documents;
use super::error::{Error, RequestSent};
use super::evidence::{WriteEvidence, WriteProof};
use super::identity::{self, Identity};
use super::wire;
use super::write::{Description, Write, same_reviewer};
use crate::domain::snapshot::RepositoryName;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::{Instant, sleep, sleep_until};

/// The only way to write. Everything that writes to one GitHub shares one of these.
#[derive(Debug)]
pub struct Writer<T> {
    transport: T,
    pace: WritePace,
    /// When the next write may leave; held for the whole of a write, so that there is only ever one.
    next: Mutex<Option<Instant>>,
    us: OnceCell<Option<Identity>>,
}

/// How patient to be.
#[derive(Debug, Clone)]
pub struct WritePace {
    /// Between two writes; GitHub asks for a second.
    pub between: Duration,
    /// After a lost answer, how long to wait before each look for the write. Together they outlast the ten seconds
    /// after which GitHub gives up on a request, so that what is not there by then will not appear later.
    pub looks: Vec<Duration>,
    /// How often the write is sent at most.
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

/// What became of a write. An `Err` beside it means: certainly not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    Done(WriteProof),
    /// It was there before: by an earlier run, or by somebody else.
    AlreadyThere(WriteProof),
    /// GitHub took the text into a draft review of ours, where nobody sees it. A person has to submit or delete
    /// that draft.
    SwallowedByDraft(WriteProof),
    /// No answer, and no way to find out at the moment.
    Unknown {
        reason: String,
        may_be_repeated: bool,
    },
}

impl WriteOutcome {
    /// The word that scripts and the log know it by.
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
                    "Nobody knows yet whether it arrived ({reason}); it is looked for before it is sent again."
                )
            }
            WriteOutcome::Unknown { reason, may_be_repeated: false } => {
                format!("Nobody knows whether it arrived ({reason}); it is not sent again, so look yourself.")
            }
        }
    }
}

/// What one answer says about the write.
enum Judgement {
    Took(WriteOutcome),
    Refused(Error),
    Doubt(Error),
}

impl<T: Transport + Sync> Writer<T> {
    pub fn new(transport: T, pace: WritePace) -> Self {
        Self { transport, pace, next: Mutex::new(None), us: OnceCell::new() }
    }

    pub fn into_transport(self) -> T {
        self.transport
    }

    /// Exactly what would be sent; nothing is. Only a label's id is looked up.
    pub async fn rehearse(&self, write: &Write) -> Result<Description, Error> {
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

    /// Carries out a write: looks whether it is there, sends it, and after a lost answer looks again.
    pub async fn write(&self, write: &Write) -> Result<WriteOutcome, Error> {
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
                Ok(reply) => match judge(write, &call, reply) {
                    Judgement::Took(outcome) => return Ok(outcome),
                    Judgement::Refused(error) => return Err(error),
                    Judgement::Doubt(error) => error,
                },
                Err(error) if error.leaves_doubt() => error,
                Err(error) => return Err(error),
            };
            tracing::warn!(error = %lost, "the answer to a write was lost; looking for it");
            match self.look(write, us).await {
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

    /// Sends one call that writes, not sooner than a pace after the one before.
    async fn send(&self, call: &Call, next: &mut Option<Instant>) -> Result<ApiReply, Error> {
        if let Some(moment) = *next {
            sleep_until(moment).await;
        }
        let reply = self.transport.send(call).await;
        *next = Some(Instant::now() + self.pace.between);
        reply
    }

    /// Looks for a write whose answer was lost, patiently: it may still be under way. A look that fails in
    /// passing is not the last one.
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

    /// The id of the label to add or remove. One that is to be added is created where there is none; one that is
    /// to be removed and does not exist needs no removing.
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
                        (None, Some(error)) => error.judge(&call),
                        (None, None) => doubt(&call),
                    }
                }
                Err(error) => error,
            };
            if !lost.leaves_doubt() || attempt >= self.pace.attempts {
                return Err(lost);
            }
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

fn create_label(repository_id: &str, name: &str) -> Call {
    Call::graphql(
        &documents::CREATE_LABEL,
        json!({"repository": repository_id, "name": name, "color": "ededed"}),
    )
}

fn doubt(call: &Call) -> Error {
    Error::Transient {
        what: call.purpose().to_owned(),
        cause: "the answer does not say whether it worked".to_owned(),
        sent: RequestSent::Maybe,
    }
}

/// What an answer that did arrive says. Only a proof is a yes, and only a refusal of the write itself is a no.
fn judge(write: &Write, call: &Call, mut reply: ApiReply) -> Judgement {
    let outcome = match call {
        Call::Graphql { .. } => graphql_outcome(write, call, &mut reply),
        Call::Rest { .. } | Call::Diff { .. } => rest_outcome(write, call, &mut reply),
    };
    match outcome {
        Ok(Some(outcome)) => Judgement::Took(outcome),
        Err(error) if !error.leaves_doubt() => Judgement::Refused(error),
        Err(error) => Judgement::Doubt(error),
        Ok(None) => match reply.errors.iter().find(|error| error.is_refusal() && error.path.len() <= 1) {
            Some(error) => Judgement::Refused(error.judge(call)),
            None => Judgement::Doubt(doubt(call)),
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
    let state = |written: wire::WrittenNode, wanted: &str| {
        let fits = written.state.as_deref() == Some(wanted);
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

/// REST says by its status that it took the request, and by the documented body that it was the API that said so: an
/// event is answered with nothing at all, a request for review with who is asked now.
fn rest_outcome(write: &Write, call: &Call, reply: &mut ApiReply) -> Result<Option<WriteOutcome>, Error> {
    match write {
        Write::OpenIssue { .. } => {
            let issue: wire::RestIssue = reply.parse(call)?;
            Ok(Some(WriteOutcome::Done(WriteProof { id: issue.node_id, url: Some(issue.html_url) })))
        }
        Write::RequestReview { reviewer, .. } => {
            // A login that cannot review here is taken without a word and left off the list.
            let Some(asked) = reply.body.get("requested_reviewers").and_then(Value::as_array) else {
                return Ok(None);
            };
            let mut logins = asked.iter().filter_map(|user| user.get("login")?.as_str());
            if !logins.any(|login| same_reviewer(login, reviewer)) {
                return Err(Error::Refused {
                    what: call.purpose().to_owned(),
                    message: format!(
                        "it took the request, but did not ask {reviewer}, who cannot review here"
                    ),
                });
            }
            Ok(Some(WriteOutcome::Done(WriteProof::default())))
        }
        _ => Ok(reply.body.is_null().then(|| WriteOutcome::Done(WriteProof::default()))),
    }
}
