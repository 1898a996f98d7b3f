//! One pull request's loop: a task that wakes for one closed set of reasons, asks the engine, records, acts,
//! records.
//!
//! What is absent: nothing here polls. The hub polls for all loops and wakes each one with its part.

mod asking;
mod handoff;
mod identity;
mod latest;
mod lease;
mod recording;
mod turns;
mod writes;

use super::SupervisorContext;
use super::clock::WorkGuard;
use super::computed_state::RepositoryRules;
use super::fact::{Fact, RecordedAnswer, RecordedCommand};
use super::history::History;
use super::polling::PollCause;
use super::programs::{DiffReading, RunningPrograms};
use super::view::{DueWrite, JournalFailure, PullRequestView};
use crate::domain::review_loop::Exit;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::vocabulary::{ReviewerName, Sha};
use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::journal::{JournalError, PullRequestKey, Record, instance};
use handoff::HandoffProgress;
use identity::KnownIdentity;
use jiff::Timestamp;
use latest::LatestReading;
use lease::DriverLease;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use turns::{LoopProgress, LoopTrigger};

/// Everything that can wake a pull request's loop.
#[derive(Debug)]
pub(super) enum WakeUp {
    // The forge
    Polled(Arc<PullRequestSnapshot>, PollCause),
    /// A poll found nothing new.
    Unchanged(PollCause),
    Unreachable(String, PollCause),
    /// Trying again is useless: the token may not read the pull request, or it does not exist.
    Refused(Failure),
    /// GitHub limits requests, and why it says so. That costs no attempt (L8); the hub waits.
    RateLimited(String),

    // The journal: records of other instances and of people
    Recorded(Box<Record>),

    // Programs
    /// The diff for a reviewer was read, or could not be.
    ChangesRead {
        reviewer: ReviewerName,
        head: Sha,
        changes: DiffReading,
    },
    ReviewerAnswered {
        reviewer: ReviewerName,
        head: Sha,
        attempt: u32,
        answer: RecordedAnswer,
        /// The end of the reviewer's log, for people.
        log: String,
        /// R6: the prompt was large.
        warning: Option<String>,
    },
    AuthorEnded {
        head: Sha,
        outcome: String,
        pushed: bool,
    },

    // People (L10)
    Person(LoopCommand),
    Shutdown,
}

impl WakeUp {
    /// Whether the loop would have spent an attempt (L2), had the journal worked.
    fn is_scheduled_poll(&self) -> bool {
        matches!(
            self,
            WakeUp::Polled(_, PollCause::Schedule)
                | WakeUp::Unchanged(PollCause::Schedule)
                | WakeUp::Unreachable(_, PollCause::Schedule)
        )
    }

    /// The reason's name in the log.
    fn name(&self) -> &'static str {
        match self {
            WakeUp::Polled(..) => "polled",
            WakeUp::Unchanged(_) => "unchanged",
            WakeUp::Unreachable(..) => "unreachable",
            WakeUp::Refused(_) => "refused",
            WakeUp::RateLimited(_) => "rate_limited",
            WakeUp::Recorded(_) => "recorded",
            WakeUp::ChangesRead { .. } => "changes_read",
            WakeUp::ReviewerAnswered { .. } => "reviewer_answered",
            WakeUp::AuthorEnded { .. } => "author_ended",
            WakeUp::Person(_) => "person",
            WakeUp::Shutdown => "shutdown",
        }
    }
}

/// A person's command to a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopCommand {
    Pause,
    Resume,
    Stop,
    PollNow,
    GrantRound {
        by: String,
        why: String,
    },
    /// Tries a stuck handoff task again.
    RetryTask {
        key: String,
    },
}

/// A wake-up. The guard marks the supervisor as busy until the loop has dealt with it.
#[derive(Debug)]
pub(super) struct LoopMessage {
    /// Boxed because each of hundreds of channels reserves room for many messages.
    pub(super) wake: Box<WakeUp>,
    pub(super) working: WorkGuard,
}

pub(super) struct PullRequestActor {
    context: Arc<SupervisorContext>,
    /// The address by which it is tracked.
    address: PullRequestAddress,
    /// The key under which the journal files it.
    key: PullRequestKey,
    /// Set by the first reading.
    identity: Option<KnownIdentity>,
    /// What the journal says.
    history: History,
    /// What the forge said last.
    latest: LatestReading,
    progress: LoopProgress,
    lease: DriverLease,
    programs: RunningPrograms,
    handoffs: HandoffProgress,
    problems: ActorProblems,
}

/// What is not done here, and why: for people to see.
#[derive(Debug, Default)]
struct ActorProblems {
    /// Writes that are due and not done.
    due: Vec<DueWrite>,
    /// How often each write failed in this run, by its key.
    failed_writes: BTreeMap<String, u32>,
    /// The last thing that went wrong and still is.
    trouble: Option<String>,
    /// Why the forge refuses to show this pull request.
    refusal: Option<Failure>,
    attempts_failed: u32,
    journal_failure: Option<JournalFailure>,
}

impl ActorProblems {
    fn clear_after_reading(&mut self) {
        self.trouble = None;
        self.refusal = None;
    }
}

/// Completes when loops must stop at once.
async fn told_to_hurry(hurry: &mut watch::Receiver<bool>) {
    // The sender lives as long as the supervisor's context, which the actor holds.
    let _told = hurry.wait_for(|hurry| *hurry).await.is_ok();
}

/// The stored state that an actor starts with.
pub(super) struct ActorStart {
    pub(super) address: PullRequestAddress,
    pub(super) key: PullRequestKey,
    pub(super) records: Vec<Record>,
    /// The last poll, and the loop as it was stored then.
    pub(super) last: Option<(Arc<PullRequestSnapshot>, Timestamp, Option<Value>)>,
}

impl PullRequestActor {
    pub(super) fn new(
        context: Arc<SupervisorContext>,
        start: ActorStart,
        reports: mpsc::Sender<LoopMessage>,
    ) -> Self {
        let ActorStart { address, key, records, last } = start;
        let history = History::of(&records);
        let mut progress = LoopProgress::default();
        let mut latest = LatestReading::default();
        if let Some((snapshot, at, stored_loop)) = last {
            latest = LatestReading::stored(snapshot, at);
            progress.restore(stored_loop.as_ref(), &history);
        }
        if context.fresh {
            progress.start_again(&history, &context.config.policy);
        }
        Self {
            key,
            identity: None,
            lease: DriverLease::new(context.read_only),
            context,
            address,
            history,
            latest,
            progress,
            programs: RunningPrograms::new(reports),
            handoffs: HandoffProgress::default(),
            problems: ActorProblems::default(),
        }
    }

    /// Runs until the hub shuts it down or drops its inbox.
    pub(super) async fn run(
        mut self,
        mut inbox: mpsc::Receiver<LoopMessage>,
        mut reports: mpsc::Receiver<LoopMessage>,
    ) {
        // Computed here and not in `new`, so that hundreds of loops do not wait for each other.
        if let Some(snapshot) = self.latest.take_stored() {
            self.recompute(snapshot);
        }
        self.publish();
        let context = Arc::clone(&self.context);
        let mut hurry = context.hurry.subscribe();
        loop {
            let LoopMessage { wake, working } = tokio::select! {
                () = told_to_hurry(&mut hurry) => break,
                message = inbox.recv() => match message {
                    Some(message) => message,
                    None => break,
                },
                // This actor holds a sender, so this channel never closes by itself.
                Some(message) = reports.recv() => message,
                // A poll renews the lease, too, but none may come while a program runs: GitHub may limit
                // requests for an hour.
                () = self.lease.renewal_is_due(), if self.programs.any() => {
                    self.renew_for_programs().await;
                    continue;
                }
            };
            if matches!(*wake, WakeUp::Shutdown) {
                break;
            }
            tracing::debug!(reason = wake.name(), "woken");
            let is_scheduled = wake.is_scheduled_poll();
            // Boxed, so that hundreds of idle loops stay small.
            let mut turn = Box::pin(self.wake(*wake));
            let outcome = tokio::select! {
                outcome = &mut turn => Some(outcome),
                // An interrupted write has its intent in the journal, and the next start looks for it.
                () = told_to_hurry(&mut hurry) => None,
            };
            drop(turn);
            match outcome {
                Some(Ok(())) if is_scheduled => self.problems.journal_failure = None,
                Some(Ok(())) => {}
                Some(Err(error)) => self.failed(&error, is_scheduled),
                None => break,
            }
            self.publish();
            drop(working);
        }
        Box::pin(self.release_lease()).await;
    }

    async fn wake(&mut self, wake: WakeUp) -> Result<(), JournalError> {
        let now = self.context.clock.now();
        match wake {
            WakeUp::Polled(snapshot, cause) => {
                self.stop_programs_after(&snapshot);
                let identified = self.identified(snapshot).await;
                self.reached(now);
                let snapshot = identified?;
                self.keep_lease().await?;
                self.record_transitions(&snapshot).await?;
                let changed = self.latest.snapshot().is_none_or(|old| **old != *snapshot);
                // The same inputs give the same state, so the computed one is reused.
                if changed {
                    self.recompute(snapshot);
                    self.record_unreadable_posts().await?;
                }
                self.step(LoopTrigger::Polled(cause)).await
            }
            WakeUp::Unchanged(cause) => {
                self.reached(now);
                self.keep_lease().await?;
                self.step(LoopTrigger::Polled(cause)).await
            }
            WakeUp::Unreachable(why, cause) => {
                self.problems.trouble = Some(why);
                self.problems.attempts_failed += 1;
                self.keep_lease().await?;
                self.step(LoopTrigger::Unreachable(cause)).await
            }
            WakeUp::RateLimited(why) => {
                self.problems.trouble = Some(why);
                self.keep_lease().await?;
                self.step(LoopTrigger::Learned).await
            }
            WakeUp::Refused(failure) => {
                self.problems.trouble = Some(failure.to_string());
                self.problems.refusal = Some(failure);
                Ok(())
            }
            WakeUp::Recorded(record) => {
                if record.pull_request.as_ref() != Some(&self.key) {
                    return Ok(());
                }
                if self.history.learn(&record) && self.recompute_latest() {
                    self.step(LoopTrigger::Learned).await?;
                }
                Ok(())
            }
            WakeUp::ChangesRead { reviewer, head, changes } => {
                self.programs.reviewers.remove(&reviewer);
                self.keep_lease().await?;
                match changes {
                    DiffReading::Read(changes) => self.ask_about(&reviewer, &head, changes).await,
                    DiffReading::Refused(why) => self.cannot_ask_about(reviewer, head, &why).await,
                    // The reviewer was not called, so this costs no attempt. The next poll reads again.
                    DiffReading::NotNow(why) => {
                        self.problems.trouble = Some(why);
                        Ok(())
                    }
                }
            }
            WakeUp::ReviewerAnswered { reviewer, head, attempt, answer, log, warning } => {
                self.programs.reviewers.remove(&reviewer);
                self.keep_lease().await?;
                let why = [warning, last_line(&log)].into_iter().flatten().collect::<Vec<_>>().join("; ");
                let fact = Fact::Answered { reviewer: reviewer.clone(), head, attempt, answer };
                self.record_held(fact, reviewer.as_str(), &why).await?;
                self.step(LoopTrigger::Learned).await
            }
            WakeUp::AuthorEnded { head, outcome, pushed } => {
                self.programs.author = None;
                self.keep_lease().await?;
                let number = self.history.author_rounds().saturating_sub(1);
                let ended = Fact::AuthorEnded { head, outcome: outcome.clone(), pushed, number };
                self.record_held(ended, "author", &outcome).await?;
                self.step(LoopTrigger::Learned).await
            }
            WakeUp::Person(command) => self.obey(command).await,
            WakeUp::Shutdown => Ok(()),
        }
    }

    fn reached(&mut self, now: Timestamp) {
        self.latest.seen_at = Some(now);
        self.problems.clear_after_reading();
    }

    async fn obey(&mut self, command: LoopCommand) -> Result<(), JournalError> {
        match command {
            LoopCommand::Pause => self.obey_recorded_command(RecordedCommand::Pause).await,
            LoopCommand::Resume => self.obey_recorded_command(RecordedCommand::Resume).await,
            LoopCommand::Stop => self.obey_recorded_command(RecordedCommand::Stop).await,
            // The hub polls; there is nothing to do before that.
            LoopCommand::PollNow => Ok(()),
            LoopCommand::GrantRound { by, why } => {
                let (Some(snapshot), Some(Exit::RoundCap { .. })) =
                    (self.latest.snapshot(), self.progress.review_loop.exit())
                else {
                    tracing::debug!("a round is granted only where the cap was reached");
                    return Ok(());
                };
                let head = snapshot.head.sha.clone();
                self.record(Fact::Granted { head }, &by, &why).await?;
                self.step(LoopTrigger::Learned).await
            }
            LoopCommand::RetryTask { key } => {
                self.handoffs.forced.insert(key);
                self.step(LoopTrigger::Learned).await
            }
        }
    }

    /// L10: the command goes into the journal, so that the driver obeys it whichever instance received it.
    async fn obey_recorded_command(&mut self, command: RecordedCommand) -> Result<(), JournalError> {
        if self.context.read_only {
            return self.step(LoopTrigger::Command(command)).await;
        }
        let instance = self.context.instance_name().to_owned();
        self.record(Fact::Told { told: command }, &instance, "").await?;
        self.step(LoopTrigger::Learned).await
    }

    fn rules(&self) -> RepositoryRules<'_> {
        self.context.rules(self.names(self.latest.any()))
    }

    fn drives(&self) -> bool {
        self.lease.is_driver() && self.rules().drive
    }

    pub(super) fn publish(&self) {
        let view = PullRequestView {
            address: self.address.clone(),
            computed: self.latest.computed.clone(),
            last: self.latest.stored_snapshot(),
            seen_at: self.latest.seen_at,
            review_loop: self.progress.review_loop.clone(),
            role: self.lease.role().clone(),
            drive: self.rules().drive,
            thinking: self.programs.reviewers.keys().cloned().collect(),
            author_at_work: self.programs.author.is_some(),
            due: self.problems.due.clone(),
            handoffs: self.handoffs.tasks.clone(),
            end_is_known: self.is_end_known(),
            refusal: self.problems.refusal.clone(),
            attempts_failed: self.problems.attempts_failed,
            max_attempts: self.context.config.policy.max_attempts,
            trouble: self.problems.trouble.clone(),
            journal_failure: self.problems.journal_failure.clone(),
        };
        self.context.board.send_modify(|board| {
            Arc::make_mut(board).pull_requests.insert(self.address.clone(), Arc::new(view));
        });
    }

    fn failed(&mut self, error: &JournalError, is_scheduled: bool) {
        if let JournalError::LeaseLost(lost) = error {
            let holder = lost.now_held_by.as_deref().unwrap_or_default();
            self.stand_by(instance::shown(holder, &self.context.instance).to_owned());
            return;
        }
        // Nothing is done that cannot be recorded; the next wake-up tries again.
        let why = error.to_string();
        self.problems.trouble = Some(why.clone());
        let polls = self.problems.journal_failure.as_ref().map_or(0, |failure| failure.polls);
        let polls = polls.saturating_add(u32::from(is_scheduled));
        self.problems.journal_failure = Some(JournalFailure { polls, why });
    }
}

/// The last line of a program's log most likely says why it failed.
fn last_line(log: &str) -> Option<String> {
    let line = log.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().take(300).collect())
}
