//! One pull request's loop: a task that wakes for one closed set of reasons, asks the engine, records, acts, records.

mod asking;
mod handoff;
mod recording;
mod writes;

use super::SupervisorContext;
use super::clock::WorkGuard;
use super::computed_state::{ComputedState, RepositoryRules};
use super::fact::{Fact, RecordedAnswer, RecordedCommand};
use super::history::History;
use super::obeyed_commands::ObeyedCommands;
use super::programs::DiffReading;
use super::view::{DriverRole, HandoffView, PullRequestView};
use crate::domain::review_loop::{Exit, LoopEffect, LoopEvent, Phase, ReviewLoop, TimedOutOn, Transition};
use crate::domain::snapshot::{PullRequestSnapshot, PullRequestState};
use crate::domain::vocabulary::{ReviewerName, Sha};
use crate::failure::Failure;
use crate::github::PullRequestAddress;
use crate::journal::{JournalError, Lease, PullRequestKey, Record};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Everything that can wake a pull request's loop.
#[derive(Debug)]
pub(super) enum WakeUp {
    // The forge
    Polled(Arc<PullRequestSnapshot>),
    /// It was looked at, and nothing is new.
    Unchanged,
    Unreachable(String),
    /// Nothing will come of trying again: not allowed, or not there.
    Refused(Failure),
    RateLimited {
        until: Timestamp,
        why: String,
    },

    // The journal: what other instances and people recorded
    Recorded(Box<Record>),

    // Programs
    /// What a reviewer is to look at was read, or could not be.
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
        /// The end of its log, for people.
        log: String,
        /// R6: that the prompt was large.
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
    /// Names the reason in the log.
    fn name(&self) -> &'static str {
        match self {
            WakeUp::Polled(_) => "polled",
            WakeUp::Unchanged => "unchanged",
            WakeUp::Unreachable(_) => "unreachable",
            WakeUp::Refused(_) => "refused",
            WakeUp::RateLimited { .. } => "rate_limited",
            WakeUp::Recorded(_) => "recorded",
            WakeUp::ChangesRead { .. } => "changes_read",
            WakeUp::ReviewerAnswered { .. } => "reviewer_answered",
            WakeUp::AuthorEnded { .. } => "author_ended",
            WakeUp::Person(_) => "person",
            WakeUp::Shutdown => "shutdown",
        }
    }
}

/// What a person can tell a loop.
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
    /// A task that is stuck is to be tried again.
    RetryTask {
        key: String,
    },
}

/// A wake-up with the proof that somebody waits for it to be dealt with.
#[derive(Debug)]
pub(super) struct LoopMessage {
    /// Boxed because a channel keeps room for many, and there are hundreds of channels.
    pub(super) wake: Box<WakeUp>,
    pub(super) working: WorkGuard,
}

pub(super) struct PullRequestActor {
    setup: Arc<SupervisorContext>,
    address: PullRequestAddress,
    key: PullRequestKey,
    history: History,
    obeyed: ObeyedCommands,
    /// The last poll before the start, until it was looked at.
    last: Option<Arc<PullRequestSnapshot>>,
    standing: Option<Arc<ComputedState>>,
    /// Whether the journal ever saw it open, and so saw it merge.
    seen_open: bool,
    seen_at: Option<Timestamp>,
    review_loop: Option<ReviewLoop>,
    next_at: Option<Timestamp>,
    /// Since when the loop has been at its end.
    ended_at: Option<Timestamp>,
    /// Polls at which there was nobody to wait for.
    alone: u32,
    lease: Option<Lease>,
    /// When the lease is to be prolonged, by this process's own count.
    renew_at: Option<Instant>,
    role: DriverRole,
    thinking: BTreeMap<ReviewerName, JoinHandle<()>>,
    author: Option<JoinHandle<()>>,
    due: Vec<String>,
    trouble: Option<String>,
    refusal: Option<Failure>,
    attempts_failed: u32,
    /// The tasks that the merge decided.
    handoffs: Vec<HandoffView>,
    /// When a task that was refused is tried again.
    waits: BTreeMap<String, Timestamp>,
    /// Tasks that a person wants tried again, stuck or not.
    forced: BTreeSet<String>,
    /// Where programs report; the hub's own messages come the same way.
    programs: mpsc::Sender<LoopMessage>,
}

/// What an actor is started with.
pub(super) struct ActorStart {
    pub(super) address: PullRequestAddress,
    pub(super) records: Vec<Record>,
    /// The last poll, and the loop as it was then kept.
    pub(super) last: Option<(Arc<PullRequestSnapshot>, Timestamp, Option<Value>)>,
}

impl PullRequestActor {
    pub(super) fn new(
        setup: Arc<SupervisorContext>,
        start: ActorStart,
        programs: mpsc::Sender<LoopMessage>,
    ) -> Self {
        let ActorStart { address, records, last } = start;
        let key = setup.key(&address);
        let role = if setup.read_only {
            DriverRole::ReadOnly
        } else {
            DriverRole::Standby { holder: String::new() }
        };
        let mut actor = Self {
            setup,
            address,
            key,
            history: History::of(&records),
            obeyed: ObeyedCommands::default(),
            last: None,
            standing: None,
            seen_open: false,
            seen_at: None,
            review_loop: None,
            next_at: None,
            ended_at: None,
            alone: 0,
            lease: None,
            renew_at: None,
            role,
            thinking: BTreeMap::new(),
            author: None,
            due: Vec::new(),
            trouble: None,
            refusal: None,
            attempts_failed: 0,
            handoffs: Vec::new(),
            waits: BTreeMap::new(),
            forced: BTreeSet::new(),
            programs,
        };
        if let Some((snapshot, at, kept)) = last {
            actor.seen_at = Some(at);
            actor.seen_open = snapshot.state == PullRequestState::Open;
            actor.review_loop = actor.obeyed.restore_loop(kept.as_ref(), actor.history.commands());
            actor.last = Some(snapshot);
        }
        if actor.setup.fresh
            && (actor.obeyed.skip_to_last_stop(actor.history.commands()) || actor.has_ended())
        {
            actor.review_loop = None;
        }
        actor
    }

    /// Runs until it is told to stop or nobody can wake it any more.
    pub(super) async fn run(
        mut self,
        mut inbox: mpsc::Receiver<LoopMessage>,
        mut programs: mpsc::Receiver<LoopMessage>,
    ) {
        // Here and not before, so that hundreds of loops do not wait for each other's.
        if let Some(snapshot) = self.last.take() {
            self.restand(snapshot);
        }
        self.publish();
        loop {
            let LoopMessage { wake, working } = tokio::select! {
                message = inbox.recv() => match message {
                    Some(message) => message,
                    None => break,
                },
                // The sender is ours, so this never ends by itself.
                Some(message) = programs.recv() => message,
            };
            if matches!(*wake, WakeUp::Shutdown) {
                break;
            }
            tracing::debug!(reason = wake.name(), "woken");
            // Boxed, so that hundreds of loops that wait take no more room than waiting does.
            if let Err(error) = Box::pin(self.wake(*wake)).await {
                self.failed(&error);
            }
            self.publish();
            drop(working);
        }
        Box::pin(self.leave()).await;
    }

    async fn wake(&mut self, wake: WakeUp) -> Result<(), JournalError> {
        let now = self.setup.clock.now();
        match wake {
            WakeUp::Polled(snapshot) => {
                let last_look = self.seen_at;
                self.reached(now);
                self.hold().await?;
                self.notice(&snapshot, last_look).await?;
                let changed = self.standing.as_ref().is_none_or(|old| *old.snapshot != *snapshot);
                // What was put together from the same is the same.
                if changed {
                    self.restand(snapshot);
                }
                self.step(LoopTrigger::Polled { changed }).await
            }
            WakeUp::Unchanged => {
                self.reached(now);
                self.hold().await?;
                self.step(LoopTrigger::Polled { changed: false }).await
            }
            WakeUp::Unreachable(why) => {
                self.trouble = Some(why);
                self.attempts_failed += 1;
                self.hold().await?;
                self.step(LoopTrigger::Unreachable).await
            }
            WakeUp::RateLimited { until, why } => {
                self.trouble = Some(why);
                self.hold().await?;
                self.step(LoopTrigger::RateLimited(until)).await
            }
            WakeUp::Refused(failure) => {
                self.trouble = Some(failure.to_string());
                self.refusal = Some(failure);
                Ok(())
            }
            WakeUp::Recorded(record) => {
                if self.history.learn(&record)
                    && let Some(standing) = &self.standing
                {
                    self.restand(Arc::clone(&standing.snapshot));
                    self.step(LoopTrigger::Learned).await?;
                }
                Ok(())
            }
            WakeUp::ChangesRead { reviewer, head, changes } => {
                self.thinking.remove(&reviewer);
                match changes {
                    DiffReading::Read(changes) => self.ask_about(&reviewer, &head, Ok(changes)).await,
                    DiffReading::Refused(why) => self.ask_about(&reviewer, &head, Err(why)).await,
                    // Nobody was asked, so that it costs the reviewer nothing. The next poll reads again.
                    DiffReading::NotNow(why) => {
                        self.trouble = Some(why);
                        Ok(())
                    }
                }
            }
            WakeUp::ReviewerAnswered { reviewer, head, attempt, answer, log, warning } => {
                self.thinking.remove(&reviewer);
                let why = [warning, last_line(&log)].into_iter().flatten().collect::<Vec<_>>().join("; ");
                let fact = Fact::Answered { reviewer: reviewer.clone(), head, attempt, answer };
                self.record_held(fact, reviewer.as_str(), &why).await?;
                self.step(LoopTrigger::Learned).await
            }
            WakeUp::AuthorEnded { head, outcome, pushed } => {
                self.author = None;
                self.record_held(Fact::AuthorEnded { head, outcome: outcome.clone() }, "author", &outcome)
                    .await?;
                self.step(if pushed { LoopTrigger::Learned } else { LoopTrigger::AuthorGaveUp }).await
            }
            WakeUp::Person(command) => self.person(command).await,
            WakeUp::Shutdown => Ok(()),
        }
    }

    fn reached(&mut self, now: Timestamp) {
        self.seen_at = Some(now);
        self.trouble = None;
        self.refusal = None;
    }

    async fn person(&mut self, command: LoopCommand) -> Result<(), JournalError> {
        match command {
            LoopCommand::Pause => self.told(RecordedCommand::Pause).await,
            LoopCommand::Resume => self.told(RecordedCommand::Resume).await,
            LoopCommand::Stop => self.told(RecordedCommand::Stop).await,
            LoopCommand::PollNow => self.step(LoopTrigger::Person(LoopEvent::PollNow)).await,
            LoopCommand::GrantRound { by, why } => {
                let phase = self.review_loop.as_ref().map(ReviewLoop::phase);
                let (Some(standing), Some(Phase::Ended(Exit::RoundCap { .. }))) = (&self.standing, phase)
                else {
                    // A grant in advance would be one that nobody sees being used.
                    return Ok(());
                };
                let head = standing.snapshot.head.sha.clone();
                self.record(Fact::Granted { head }, &by, &why).await?;
                self.step(LoopTrigger::Learned).await
            }
            LoopCommand::RetryTask { key } => {
                self.forced.insert(key);
                self.step(LoopTrigger::Learned).await
            }
        }
    }

    /// L10: whoever drives does what a person tells any of the instances, and the journal says that somebody did.
    async fn told(&mut self, told: RecordedCommand) -> Result<(), JournalError> {
        if self.setup.read_only {
            return self.step(LoopTrigger::Person(told.wake())).await;
        }
        let instance = self.setup.instance.clone();
        self.record(Fact::Told { told }, &instance, "").await?;
        self.step(LoopTrigger::Learned).await
    }

    /// One turn of the loop: what the occasion means to it, what it then wants, and everything else that is due.
    async fn step(&mut self, occasion: LoopTrigger) -> Result<(), JournalError> {
        let now = self.setup.clock.now();
        let Some(standing) = self.standing.clone() else {
            self.grope(&occasion, now);
            return Ok(());
        };
        let before = (self.review_loop.clone(), self.next_at);
        let obeyed = self.obeyed.clone();
        let effects = self.turn(&occasion, &standing, now);
        if let Err(error) = self.act(&standing, effects).await {
            // What could not be recorded did not happen: the next wake-up decides it again.
            (self.review_loop, self.next_at) = before;
            self.obeyed = obeyed;
            return Err(error);
        }
        if self.review_loop.as_ref().map(ReviewLoop::phase) != before.0.as_ref().map(ReviewLoop::phase) {
            let phase = self.review_loop.as_ref().map(ReviewLoop::phase);
            tracing::info!(?phase, "the loop moved on");
        }
        self.ended_at = self.has_ended().then(|| self.ended_at.unwrap_or(now));
        let (before, _) = before;
        if self.review_loop != before || self.obeyed != obeyed {
            self.save_loop().await?;
        }
        Ok(())
    }

    /// A pull request that was never seen has nobody to wait for yet, but attempts to see it count all the same.
    fn grope(&mut self, occasion: &LoopTrigger, now: Timestamp) {
        let wake = match occasion {
            LoopTrigger::Unreachable => LoopEvent::Unreachable,
            LoopTrigger::RateLimited(until) => LoopEvent::RateLimited { until: *until },
            _ => return,
        };
        let review_loop = self.review_loop.get_or_insert_with(|| ReviewLoop::new(BTreeSet::new(), 0));
        if let Transition::Do(effects) = review_loop.wake(wake, now, &self.setup.config.policy) {
            for effect in effects {
                if let LoopEffect::WakeAt { at, .. } = effect {
                    self.next_at = Some(at);
                }
            }
        }
    }

    /// Wakes the loop, starting a new one where the last has ended and the head has moved on since.
    fn turn(&mut self, occasion: &LoopTrigger, standing: &ComputedState, now: Timestamp) -> Vec<LoopEffect> {
        let policy = &self.setup.config.policy;
        let nobody_yet = standing.expected.is_empty()
            && self.rules().expected.is_none()
            && standing.seen.state == PullRequestState::Open
            && standing.seen.broken_glass.is_none();
        let stale = self.review_loop.as_ref().is_none_or(|review_loop| {
            let moved = review_loop.anchor() != Some(&standing.seen.anchor);
            let reopened = standing.seen.state == PullRequestState::Open
                && *review_loop.phase() == Phase::Ended(Exit::PrClosed);
            let more = !standing.expected.is_subset(review_loop.expected());
            let nobody_came = Phase::Ended(Exit::Timeout { missing: TimedOutOn::Anybody });
            let came_late = *review_loop.phase() == nobody_came && more;
            // However a loop ended, what became of the pull request itself is the last word.
            let over = standing.seen.state != PullRequestState::Open
                && matches!(review_loop.phase(), Phase::Ended(exit) if !matches!(exit, Exit::PrMerged | Exit::PrClosed));
            // What is new may be what was waited for, or may have settled what was to be fixed.
            let news = matches!(occasion, LoopTrigger::Polled { changed: true })
                && matches!(review_loop.phase(), Phase::Ended(exit) if exit.is_provisional());
            over || came_late || news || matches!(review_loop.phase(), Phase::Ended(exit) if !matches!(exit, Exit::Stopped | Exit::BreakGlass(_)))
                && (moved || reopened)
                || more && matches!(review_loop.phase(), Phase::Waiting)
        });
        if stale {
            if nobody_yet {
                return self.alone(occasion, standing);
            }
            self.alone = 0;
            self.review_loop = Some(Self::new_loop(standing));
        }
        let Some(review_loop) = &mut self.review_loop else { return Vec::new() };
        let mut wakes = Vec::new();
        // First what people told this loop, be it while another instance drove it, or none.
        for (record, told) in self.obeyed.pending(self.history.commands()) {
            wakes.push(told.wake());
            self.obeyed.mark_obeyed(record);
        }
        if standing.folded.granted > review_loop.granted() {
            wakes.push(LoopEvent::GrantRound);
        }
        let is_due = self.next_at.is_none_or(|due| now >= due);
        match occasion {
            LoopTrigger::Polled { changed } if is_due || *changed || stale => {
                wakes.push(LoopEvent::Polled(&standing.seen));
            }
            LoopTrigger::Polled { .. } | LoopTrigger::Learned => {}
            LoopTrigger::Unreachable => wakes.push(LoopEvent::Unreachable),
            LoopTrigger::RateLimited(until) => wakes.push(LoopEvent::RateLimited { until: *until }),
            LoopTrigger::AuthorGaveUp => wakes.push(LoopEvent::AuthorGaveUp),
            LoopTrigger::Person(wake) => wakes.push(wake.clone()),
        }
        let steps = wakes.into_iter().map(|wake| review_loop.wake(wake, now, policy));
        let effects = steps.filter_map(|step| match step {
            Transition::Do(effects) => Some(effects),
            Transition::Ignored(_) => None,
        });
        effects.flatten().collect()
    }

    fn has_ended(&self) -> bool {
        matches!(self.review_loop.as_ref().map(ReviewLoop::phase), Some(Phase::Ended(_)))
    }

    /// Whether what is due at the end of the loop is in good hands. Whoever stands by cannot see whether the driver still
    /// lives; it either has told the same end, or was alive after it: until then, this instance may be the next.
    fn is_end_known(&self) -> bool {
        let (DriverRole::Standby { .. }, Some(standing)) = (&self.role, &self.standing) else { return true };
        let outlived = self.ended_at.and_then(|at| at.checked_add(self.setup.lease).ok());
        // Each poll asks for the lease: whoever still had it at that one has prolonged it since.
        if outlived.is_some() && self.seen_at >= outlived {
            return true;
        }
        let head = &standing.snapshot.head.sha;
        let exit = self.review_loop.as_ref().and_then(|review_loop| match review_loop.phase() {
            Phase::Ended(exit) => Some(exit.name()),
            _ => None,
        });
        let told = standing.folded.ended.as_ref();
        let told =
            told.filter(|(_, at)| at.as_ref().is_none_or(|at| at == head)).map(|(exit, _)| exit.name());
        let undecided = standing.seen.state == PullRequestState::Merged && self.history.merged().is_none();
        exit == told && !undecided
    }

    /// Where no reviewer has shown itself, there is nothing that could have come in, let alone everything; but nobody
    /// waits for ever.
    fn alone(&mut self, occasion: &LoopTrigger, standing: &ComputedState) -> Vec<LoopEffect> {
        if !matches!(occasion, LoopTrigger::Polled { .. }) {
            return Vec::new();
        }
        self.alone += 1;
        if self.alone < self.setup.config.policy.max_attempts {
            return Vec::new();
        }
        let folded = &standing.folded;
        let anchor = standing.seen.anchor.clone();
        let ended = ReviewLoop::nobody_came(anchor, self.alone, folded.dispatched, folded.granted);
        self.alone = 0;
        self.review_loop = Some(ended);
        vec![LoopEffect::Announce(Exit::Timeout { missing: TimedOutOn::Anybody })]
    }

    /// A loop that goes on where the journal says the last one was: rounds that were started stay started, and an author
    /// that is at work on this very head is waited for.
    fn new_loop(standing: &ComputedState) -> ReviewLoop {
        let folded = &standing.folded;
        let at_work = folded.author_at.get(&standing.snapshot.head.sha) == Some(&None);
        ReviewLoop::resumed(
            standing.expected.clone(),
            folded.dispatched,
            folded.granted,
            at_work.then(|| standing.seen.anchor.clone()),
        )
    }

    fn stand(&self, snapshot: Arc<PullRequestSnapshot>) -> ComputedState {
        ComputedState::of(snapshot, &self.history, &self.rules())
    }

    fn restand(&mut self, snapshot: Arc<PullRequestSnapshot>) {
        self.seen_open |= snapshot.state == PullRequestState::Open;
        self.standing = Some(Arc::new(self.stand(snapshot)));
    }

    fn rules(&self) -> RepositoryRules<'_> {
        self.setup.rules(&self.address.repository)
    }

    fn drives(&self) -> bool {
        self.role == DriverRole::Driver && self.rules().drive
    }

    pub(super) fn publish(&self) {
        let view = PullRequestView {
            address: self.address.clone(),
            standing: self.standing.clone(),
            last: self.last.clone(),
            seen_at: self.seen_at,
            review_loop: self.review_loop.clone(),
            next_at: self.next_at,
            role: self.role.clone(),
            drive: self.rules().drive,
            thinking: self.thinking.keys().cloned().collect(),
            author_at_work: self.author.is_some(),
            due: self.due.clone(),
            handoffs: self.handoffs.clone(),
            end_is_known: self.is_end_known(),
            refusal: self.refusal.clone(),
            attempts_failed: self.attempts_failed,
            max_attempts: self.setup.config.policy.max_attempts,
            trouble: self.trouble.clone(),
        };
        self.setup.board.send_modify(|board| {
            Arc::make_mut(board).pull_requests.insert(self.address.clone(), Arc::new(view));
        });
    }

    fn failed(&mut self, error: &JournalError) {
        if let JournalError::LeaseLost(lost) = error {
            self.stand_by(lost.now_held_by.clone().unwrap_or_default());
        } else {
            // What cannot be recorded is not done; the next wake-up tries again.
            self.trouble = Some(error.to_string());
        }
    }
}

impl Drop for PullRequestActor {
    /// Programs do not outlive whoever waits for them.
    fn drop(&mut self) {
        for task in self.thinking.values().chain(&self.author) {
            task.abort();
        }
    }
}

/// Why the loop is looked at.
enum LoopTrigger {
    Polled {
        changed: bool,
    },
    Unreachable,
    RateLimited(Timestamp),
    AuthorGaveUp,
    /// Something new is known that is no poll.
    Learned,
    Person(LoopEvent<'static>),
}

fn is_waiting(review_loop: &ReviewLoop) -> bool {
    *review_loop.phase() == Phase::Waiting
}

/// What a program said last is most likely why it failed.
fn last_line(log: &str) -> Option<String> {
    let line = log.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().take(300).collect())
}
