//! Runs programs in the background: a reviewer for one attempt, the author's agent for one round. Each result
//! wakes the loop.

use super::actor::{LoopMessage, WakeUp};
use super::clock::WorkGuard;
use super::computed_state::ComputedState;
use super::fact::RecordedAnswer;
use crate::agents::authors;
use crate::agents::secret::SecretScanner;
use crate::config::{AuthorConfig, ReviewerConfig};
use crate::domain::cycle::{FrozenCycle, Violation};
use crate::domain::post::PostReader;
use crate::domain::snapshot::{self, PullRequestSnapshot};
use crate::domain::vocabulary::ReviewerName;
use crate::domain::vocabulary::ThreadId;
use crate::github::diff::{self, DiffInScope};
use crate::github::{Client, Error, Reader};
use crate::reviewers::adapters::{ReviewerCall, ReviewerDriver};
use crate::reviewers::request::{PreparedRequest, RequestSources, prepare};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// The programs of one pull request. They end with their actor.
pub(super) struct RunningPrograms {
    pub(super) reviewers: BTreeMap<ReviewerName, RunningProgram>,
    pub(super) author: Option<RunningProgram>,
    /// Where the programs report.
    pub(super) reports: mpsc::Sender<LoopMessage>,
}

impl RunningPrograms {
    pub(super) fn new(reports: mpsc::Sender<LoopMessage>) -> RunningPrograms {
        RunningPrograms { reviewers: BTreeMap::new(), author: None, reports }
    }

    /// Whether any program is at work.
    pub(super) fn any(&self) -> bool {
        self.author.is_some() || !self.reviewers.is_empty()
    }

    /// R7: stops every program at once. Each still reports its end, so that the journal has it and nobody waits
    /// for it. A reviewer whose diff is still being read was not called, so nothing is left to report.
    pub(super) fn stop(&mut self, why: &str) {
        self.reviewers.retain(|_, program| program.stop(why));
        if let Some(author) = &mut self.author {
            author.stop(why);
        }
    }

    /// Ends everything without a report.
    pub(super) fn abort(&mut self) {
        for (_, program) in std::mem::take(&mut self.reviewers) {
            program.task.abort();
        }
        if let Some(program) = self.author.take() {
            program.task.abort();
        }
    }
}

/// A task that runs a program, or prepares its run.
pub(super) struct RunningProgram {
    task: JoinHandle<()>,
    stop: StopSwitch,
}

enum StopSwitch {
    /// The task ends its program for the reason that it gets, and reports.
    Ready(oneshot::Sender<String>),
    Used,
    /// The task runs no program yet.
    None,
}

impl RunningProgram {
    /// Returns false if the task has ended without a report.
    fn stop(&mut self, why: &str) -> bool {
        match std::mem::replace(&mut self.stop, StopSwitch::Used) {
            StopSwitch::Ready(stop) => {
                tracing::info!(why, "a program is stopped");
                // Fails if the program has ended by itself; its report is on the way.
                let _ended = stop.send(why.to_owned());
                true
            }
            StopSwitch::Used => true,
            StopSwitch::None => {
                self.task.abort();
                false
            }
        }
    }
}

/// Completes with the reason when somebody stops the program.
async fn stopped(order: oneshot::Receiver<String>) -> String {
    match order.await {
        Ok(why) => why,
        // Nobody can stop it any more.
        Err(_) => std::future::pending().await,
    }
}

impl Drop for RunningPrograms {
    fn drop(&mut self) {
        self.abort();
    }
}

/// Everything that one attempt needs.
pub(super) struct CycleAttempt {
    pub(super) reviewer: ReviewerConfig,
    pub(super) frozen: FrozenCycle,
    pub(super) computed: Arc<ComputedState>,
    /// The violations of the attempt before.
    pub(super) violations: Vec<Violation>,
    pub(super) changes: DiffInScope,
    pub(super) reads: Arc<dyn PostReader>,
    pub(super) most_bytes: u32,
    pub(super) secrets: SecretScanner,
    pub(super) environment: fn(&str) -> Option<String>,
}

impl CycleAttempt {
    /// Asks in the background and reports the answer to the loop. If the loop has ended, the answer is lost;
    /// the call still counts.
    pub(super) fn spawn(self, wake: mpsc::Sender<LoopMessage>, working: WorkGuard) -> RunningProgram {
        let (stop, order) = oneshot::channel();
        let task = tokio::spawn(async move {
            let reviewer = self.reviewer.name.clone();
            let frozen = self.frozen.clone();
            let (answer, log, warning) = tokio::select! {
                answered = self.ask() => answered,
                // Dropping the call ends its program. The call counts.
                why = stopped(order) => {
                    let message = format!("Cloture stopped the reviewer, because {why}");
                    (RecordedAnswer::failed(message), String::new(), None)
                }
            };
            let head = frozen.head.clone().unwrap_or_else(|| "".into());
            let answered =
                WakeUp::ReviewerAnswered { reviewer, head, attempt: frozen.attempt, answer, log, warning };
            let _loop_ended = wake.send(LoopMessage { wake: Box::new(answered), working }).await;
        });
        RunningProgram { task, stop: StopSwitch::Ready(stop) }
    }

    async fn ask(self) -> (RecordedAnswer, String, Option<String>) {
        let failed = |message: String| (RecordedAnswer::failed(message), String::new(), None);
        let Some(adapter) = self.reviewer.adapter.clone() else {
            return failed(format!(
                "the reviewer {} has no kind, so there is nothing to run",
                self.reviewer.name
            ));
        };
        let driver = match ReviewerDriver::ready(adapter, &self.environment).await {
            Ok(driver) => driver.withholding(self.secrets.clone()),
            Err(error) => return failed(error.to_string()),
        };
        let snapshot = &self.computed.snapshot;
        let posted = &self.computed.folded.posted;
        let conversation = |id: &ThreadId| -> Option<&snapshot::ReviewThread> {
            let forge = posted.get(id)?;
            snapshot.threads.iter().find(|seen| seen.id == *forge)
        };
        let previous = snapshot
            .reviews
            .iter()
            .filter(|review| super::markers::posted_review(review).as_ref() == Some(&self.reviewer.name));
        let previous = previous.max_by_key(|review| review.submitted_at.unwrap_or(review.created_at));
        let sources = RequestSources {
            snapshot,
            conversation: &conversation,
            reviewer_of: &|comment| {
                let observed = || self.reads.reviewer(comment.author.as_ref()?, &comment.body);
                super::markers::posted_reply(comment).or_else(observed)
            },
            previous_review: previous.map(|review| review.body.as_str()),
            diff: &self.changes.text,
            protocol: self.reviewer.protocol,
            context_window: self.reviewer.context_window,
        };
        let engine = &self.computed.folded.engine;
        let mut frozen = self.frozen.clone();
        if self.changes.whole.is_some() {
            // The request then says that its scope is everything.
            frozen.baseline = None;
        }
        let PreparedRequest { request, fit } =
            prepare(&frozen, engine, &sources, &self.violations, driver.prompt_text());
        let asked = ReviewerCall {
            request: &request,
            frozen: &self.frozen,
            protocol: self.reviewer.protocol,
            most_bytes: self.most_bytes,
        };
        let reply = driver.ask(&asked).await;
        let answer = match reply.answer {
            Ok(printed) => RecordedAnswer::Printed(String::from_utf8_lossy(&printed).into_owned()),
            Err(Violation::OversizedAnswer(message)) => {
                RecordedAnswer::Failed { oversized: true, message, withheld: false }
            }
            Err(Violation::MalformedAnswer(message)) => {
                RecordedAnswer::Failed { oversized: false, message, withheld: reply.withheld }
            }
            Err(other) => RecordedAnswer::failed(other.to_string()),
        };
        (answer, reply.log, fit.uses_over_half_the_window().then(|| fit.to_string()))
    }
}

/// The result of reading the diff for a reviewer.
#[derive(Debug)]
pub(super) enum DiffReading {
    Read(DiffInScope),
    /// The forge would refuse it again, also for the whole pull request.
    Refused(String),
    /// A later try may work.
    NotNow(String),
}

/// Reads the diff for a reviewer in the background.
pub(super) fn read_changes(
    reader: Arc<Reader<Client>>,
    snapshot: Arc<PullRequestSnapshot>,
    frozen: FrozenCycle,
    wake: mpsc::Sender<LoopMessage>,
    working: WorkGuard,
) -> RunningProgram {
    let task = tokio::spawn(async move {
        let changes = match diff::in_scope(reader.transport(), &snapshot, frozen.baseline.as_ref()).await {
            Ok(changes) => DiffReading::Read(changes),
            Err(error @ (Error::Refused { .. } | Error::Malformed { .. })) => {
                DiffReading::Refused(error.to_string())
            }
            Err(error) => DiffReading::NotNow(format!("{} was not asked yet: {error}", frozen.reviewer)),
        };
        let head = snapshot.head.sha.clone();
        let read = WakeUp::ChangesRead { reviewer: frozen.reviewer, head, changes };
        let _loop_ended = wake.send(LoopMessage { wake: Box::new(read), working }).await;
    });
    RunningProgram { task, stop: StopSwitch::None }
}

/// Starts the author's agent in the background.
pub(super) fn dispatch(
    author: &AuthorConfig,
    computed: &ComputedState,
    round: u32,
    wake: mpsc::Sender<LoopMessage>,
    working: WorkGuard,
) -> RunningProgram {
    let agent = author.agent.clone();
    let threads = computed.threads();
    let open = threads.iter().filter(|shown| shown.repeats.is_none() && !shown.resolve_proposed);
    let task = authors::AuthorTask::of(&computed.snapshot, open.map(|shown| shown.thread), round);
    let head = computed.snapshot.head.sha.clone();
    let (stop, order) = oneshot::channel();
    let task = tokio::spawn(async move {
        let (outcome, pushed) = match agent {
            None => ("no author is configured".to_owned(), false),
            Some(agent) => match authors::dispatch(&agent, task, stopped(order)).await {
                Ok(outcome) => (outcome.sentence(&agent), outcome.pushed()),
                Err(error) => (error.to_string(), false),
            },
        };
        let ended = WakeUp::AuthorEnded { head, outcome, pushed };
        let _loop_ended = wake.send(LoopMessage { wake: Box::new(ended), working }).await;
    });
    RunningProgram { task, stop: StopSwitch::Ready(stop) }
}
