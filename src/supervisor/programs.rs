//! Running what is driven: a reviewer for one attempt, the author's agent for one round. What comes back wakes the loop.

use super::actor::{Message, WakeUp};
use super::clock::Working;
use super::fact::Answered;
use super::standing::Standing;
use crate::agents::authors;
use crate::config::{Author, Reviewer};
use crate::domain::cycle::{Frozen, Violation};
use crate::domain::post::Reads;
use crate::domain::snapshot::{self, PullRequestSnapshot};
use crate::domain::vocabulary::ThreadId;
use crate::github::{Client, Error, Reader, diff};
use crate::reviewers::adapters::{Asked, Driver};
use crate::reviewers::request::{Prepared, Sources, prepare};
use std::sync::Arc;
use tokio::sync::mpsc;

/// Everything that one attempt needs.
pub(super) struct Attempt {
    pub(super) reviewer: Reviewer,
    pub(super) frozen: Frozen,
    pub(super) standing: Arc<Standing>,
    /// Of the attempt before.
    pub(super) violations: Vec<Violation>,
    /// What it is to look at, or why nobody can.
    pub(super) changes: Result<String, String>,
    pub(super) reads: Arc<dyn Reads>,
    pub(super) most_bytes: u32,
    pub(super) environment: fn(&str) -> Option<String>,
}

impl Attempt {
    /// Asks in the background. The answer is sent where the loop listens; if nobody does any more, it is lost, and the
    /// call stays counted.
    pub(super) fn spawn(self, wake: mpsc::Sender<Message>, working: Working) -> tokio::task::JoinHandle<()> {
        tokio::spawn(async move {
            let reviewer = self.reviewer.name.clone();
            let frozen = self.frozen.clone();
            let (answer, log, warning) = self.ask().await;
            let head = frozen.head.clone().unwrap_or_else(|| "".into());
            let answered =
                WakeUp::ReviewerAnswered { reviewer, head, attempt: frozen.attempt, answer, log, warning };
            let _nobody_listens = wake.send(Message { wake: Box::new(answered), working }).await;
        })
    }

    async fn ask(self) -> (Answered, String, Option<String>) {
        let failed = |message: String| (Answered::Failed { oversized: false, message }, String::new(), None);
        let Some(adapter) = self.reviewer.adapter.clone() else {
            return failed(format!(
                "the reviewer {} has no kind, so there is nothing to run",
                self.reviewer.name
            ));
        };
        let driver = match Driver::ready(adapter, &self.environment).await {
            Ok(driver) => driver,
            Err(error) => return failed(error.to_string()),
        };
        let changes = match self.changes {
            Ok(changes) => changes,
            Err(why) => return failed(format!("what changed could not be read: {why}")),
        };
        let snapshot = &self.standing.snapshot;
        let posted = &self.standing.folded.posted;
        let conversation = |id: &ThreadId| -> Option<&snapshot::Thread> {
            let forge = posted.get(id)?;
            snapshot.threads.iter().find(|seen| seen.id == *forge)
        };
        let previous = snapshot
            .reviews
            .iter()
            .filter(|review| super::marks::posted_review(review).as_ref() == Some(&self.reviewer.name));
        let previous = previous.max_by_key(|review| review.submitted_at.unwrap_or(review.created_at));
        let sources = Sources {
            snapshot,
            conversation: &conversation,
            reviewer_of: &|comment| {
                let observed = || self.reads.reviewer(comment.author.as_ref()?, &comment.body);
                super::marks::posted_reply(comment).or_else(observed)
            },
            previous_review: previous.map(|review| review.body.as_str()),
            diff: &changes,
            protocol: self.reviewer.protocol,
            context_window: self.reviewer.context_window,
        };
        let engine = &self.standing.folded.engine;
        let Prepared { request, fit } =
            prepare(&self.frozen, engine, &sources, &self.violations, driver.wording());
        let asked = Asked {
            request: &request,
            frozen: &self.frozen,
            protocol: self.reviewer.protocol,
            most_bytes: self.most_bytes,
        };
        let said = driver.ask(&asked).await;
        let answer = match said.answer {
            Ok(printed) => Answered::Printed(String::from_utf8_lossy(&printed).into_owned()),
            Err(Violation::OversizedAnswer(message)) => Answered::Failed { oversized: true, message },
            Err(Violation::MalformedAnswer(message)) => Answered::Failed { oversized: false, message },
            Err(other) => Answered::Failed { oversized: false, message: other.to_string() },
        };
        (answer, said.log, fit.is_worth_a_warning().then(|| fit.to_string()))
    }
}

/// What came of reading what a reviewer is to look at.
#[derive(Debug)]
pub(super) enum Changes {
    Read(String),
    /// The forge would say the same again.
    Refused(String),
    /// It may be there later.
    NotNow(String),
}

/// Reads in the background what a reviewer is to be asked about.
pub(super) fn read_changes(
    reader: Arc<Reader<Client>>,
    snapshot: Arc<PullRequestSnapshot>,
    frozen: Frozen,
    wake: mpsc::Sender<Message>,
    working: Working,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let changes = match diff::in_scope(reader.transport(), &snapshot, frozen.baseline.as_ref()).await {
            Ok(changes) => Changes::Read(changes),
            Err(error @ (Error::Refused { .. } | Error::Malformed { .. })) => {
                Changes::Refused(error.to_string())
            }
            Err(error) => Changes::NotNow(format!("{} was not asked yet: {error}", frozen.reviewer)),
        };
        let head = snapshot.head.sha.clone();
        let read = WakeUp::ChangesRead { reviewer: frozen.reviewer, head, changes };
        let _nobody_listens = wake.send(Message { wake: Box::new(read), working }).await;
    })
}

/// Sends the author's agent to work in the background.
pub(super) fn dispatch(
    author: &Author,
    standing: &Standing,
    round: u32,
    wake: mpsc::Sender<Message>,
    working: Working,
) -> tokio::task::JoinHandle<()> {
    let agent = author.agent.clone();
    let threads = standing.threads();
    let open = threads.iter().filter(|shown| shown.repeats.is_none() && !shown.resolve_proposed);
    let task = authors::Task::of(&standing.snapshot, open.map(|shown| shown.thread), round);
    let head = standing.snapshot.head.sha.clone();
    tokio::spawn(async move {
        let (outcome, pushed) = match agent {
            None => ("no author is configured".to_owned(), false),
            Some(agent) => match authors::dispatch(&agent, task).await {
                Ok(outcome) => (outcome.sentence(&agent), outcome.pushed()),
                Err(error) => (error.to_string(), false),
            },
        };
        let ended = WakeUp::AuthorEnded { head, outcome, pushed };
        let _nobody_listens = wake.send(Message { wake: Box::new(ended), working }).await;
    })
}
