//! People's acts on threads and pull requests (T6, T7, H6, L6). The terminal and scripts use the same plans
//! and checks.
//!
//! [`plan`](plan()) checks a [`ThreadRequest`] against the computed state. It returns the facts to record and
//! the writes to send, or a [`PlanError`]. [`carry_out`] records first, because nothing is done that cannot
//! be recorded, and then writes, each with its intent before and its outcome after. After an interruption,
//! repeat the request: the [`History`](crate::supervisor::history::History) tells what was recorded, and the
//! writer looks for what was written.
//!
//! What is absent: nothing here asks for consent. A person's confirmed act is its own permission (S4); the
//! caller of [`carry_out`] has asked.

pub mod inbox;
pub mod request_handler;
pub mod stored;
pub mod ways_out;

pub(crate) mod key;
mod notifier;
mod planning;
pub(crate) mod pull_request_planner;
mod routing;
mod undoing;

pub use notifier::InboxNotifier;
pub use planning::plan;
pub use ways_out::{Way, WayOut, WayOutMeans, WayOutQuery, ways_out};

use crate::domain::driven::Refusal;
use crate::domain::finding::Destination;
use crate::domain::machine::Decision;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::vocabulary::{TargetName, ThreadId};
use crate::failure::Failure;
use crate::github::write::Write;
use crate::github::{Client, Error, WriteOutcome, Writer};
use crate::journal::{Journal, JournalError, PullRequestKey};
use crate::supervisor::fact::Fact;
use crate::supervisor::perform::{Attempt, attempt};
use crate::supervisor::planned_writes::PlannedWrite;
use jiff::Timestamp;

/// A person's request about one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRequest {
    /// The forge's id or the engine's.
    pub thread: ThreadId,
    pub what: ThreadAct,
    /// Why; for a reply, the reply itself.
    pub reason: Option<String>,
    /// The person's login.
    pub by: String,
    /// The caller's own key. It takes the head's place in the keys of posted texts.
    pub callers_key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadAct {
    /// A decision of the thread machine.
    Decide(Decision),
    /// H6, H9: hand it off at the merge, to this target.
    QueueFor(TargetName),
    /// H9: where the finding goes at the merge, or that it stays.
    Route(Destination),
    /// Do not hand the finding off: take it off the queue, or off the list of findings that go by themselves.
    Remove,
    /// T6: undo the person's last act on the thread: a decision or a choice about its handoff.
    Undo,
    /// R3: open a resolved thread on the forge again.
    Unresolve,
    Reply,
    /// Minimize the first comment as a duplicate.
    Hide,
}

impl ThreadAct {
    pub fn name(&self) -> &'static str {
        match self {
            ThreadAct::Decide(decision) => decision.name(),
            ThreadAct::QueueFor(_) => Decision::Queue.name(),
            ThreadAct::Route(Destination::Target(_) | Destination::AsConfigured) => "retarget",
            ThreadAct::Route(Destination::Nowhere) => "withhold",
            ThreadAct::Remove => "remove",
            ThreadAct::Undo => "undo",
            ThreadAct::Unresolve => "unresolve",
            ThreadAct::Reply => "reply",
            ThreadAct::Hide => "hide",
        }
    }
}

/// The plan for one request. Nothing is done yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadPlan {
    pub act: ThreadRequest,
    /// Facts to record before the writes, all or none. Empty if there are none, or if they are recorded
    /// already.
    pub facts: Vec<(Timestamp, Fact)>,
    /// The same person has already recorded the same act, and it still holds.
    pub already: bool,
    /// The effect in a sentence; none if the sentences of the writes say it all.
    pub sentence: Option<String>,
    /// In order.
    pub writes: Vec<PlannedWrite>,
}

impl ThreadPlan {
    /// The sentences that a person agrees to (U3).
    pub fn sentences(&self) -> Vec<String> {
        let writes = self.writes.iter().map(|planned| planned.write.sentence());
        self.sentence.clone().into_iter().chain(writes).collect()
    }
}

/// Why an act cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The thread's status does not allow it.
    #[error("nothing was done ({}): {refusal}; {situation}", refusal.kind())]
    Refused { refusal: Refusal, situation: String },
    /// The configuration has no such target.
    #[error("nothing was done (unknown_target): there is no target \"{target}\"; {}", known_targets(known))]
    UnknownTarget { target: TargetName, known: Vec<TargetName> },
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl PlanError {
    /// The word that scripts rely on, if there is one.
    pub fn kind(&self) -> Option<&'static str> {
        match self {
            PlanError::Refused { refusal, .. } => Some(refusal.kind()),
            PlanError::UnknownTarget { .. } => Some("unknown_target"),
            PlanError::Failed(_) => None,
        }
    }
}

fn known_targets(known: &[TargetName]) -> String {
    let names: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
    match names.as_slice() {
        [only] => format!("the configuration has only {only}"),
        names => format!("the configuration has {}", names.join(", ")),
    }
}

/// The result of carrying out a plan.
#[derive(Debug)]
pub struct PlanOutcome {
    pub recorded: bool,
    /// One per planned write.
    pub writes: Vec<WriteAttempt>,
    /// The journal failed, so the rest was given up.
    pub trouble: Option<JournalError>,
}

#[derive(Debug)]
pub enum WriteAttempt {
    Outcome(WriteOutcome),
    /// Certainly not done.
    NotDone(Error),
    /// An earlier write is not in effect, or the journal failed.
    NotTried,
}

impl WriteAttempt {
    pub fn is_in_effect(&self) -> bool {
        matches!(self, WriteAttempt::Outcome(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_)))
    }
}

/// Applies a write to a stored snapshot, so that the snapshot shows it before the next poll.
pub fn apply_to_snapshot(write: &Write, snapshot: &mut PullRequestSnapshot) {
    let (target, resolved) = match write {
        Write::Resolve { thread } => (thread, true),
        Write::Unresolve { thread } => (thread, false),
        _ => return,
    };
    for seen in snapshot.threads.iter_mut().filter(|seen| seen.id == target.id) {
        seen.resolved = resolved;
    }
}

/// Records the facts, then sends the writes in order. It stops at a write that is not in effect: a thread is
/// not resolved if the reason for it could not be posted. A write that only marks stops nothing.
pub async fn carry_out(
    plan: &ThreadPlan,
    about: &PullRequestKey,
    journal: &Journal,
    writer: &Writer<Client>,
) -> PlanOutcome {
    let by = plan.act.by.as_str();
    let mut done = PlanOutcome { recorded: false, writes: Vec::new(), trouble: None };
    // S2: nothing is recorded whose write cannot be sent.
    if let Some(withheld) = plan.writes.iter().find_map(|planned| writer.withheld(&planned.write)) {
        done.writes = plan.writes.iter().map(|_| WriteAttempt::NotTried).collect();
        if let Some(first) = done.writes.first_mut() {
            *first = WriteAttempt::NotDone(withheld);
        }
        return done;
    }
    if !plan.facts.is_empty() {
        let why = plan.act.reason.as_deref().unwrap_or_default();
        let records = plan.facts.iter().map(|(at, fact)| fact.clone().record(*at, about, by, why));
        match journal.append(records.collect()).await {
            Ok(_) => done.recorded = true,
            Err(error) => done.trouble = Some(error),
        }
    }
    write_all(&plan.writes, by, about, journal, writer, &mut done).await;
    done
}

/// Sends the writes that a person agreed to, in order, and stops at one that is not in effect.
pub async fn write_out(
    planned: &[PlannedWrite],
    by: &str,
    about: &PullRequestKey,
    journal: &Journal,
    writer: &Writer<Client>,
) -> PlanOutcome {
    let mut done = PlanOutcome { recorded: false, writes: Vec::new(), trouble: None };
    write_all(planned, by, about, journal, writer, &mut done).await;
    done
}

async fn write_all(
    planned: &[PlannedWrite],
    by: &str,
    about: &PullRequestKey,
    journal: &Journal,
    writer: &Writer<Client>,
    done: &mut PlanOutcome,
) {
    for next in planned {
        let mut earlier = planned.iter().zip(&done.writes);
        let may_go_on = done.trouble.is_none()
            && earlier.all(|(write, attempt)| write.only_marks || attempt.is_in_effect());
        let result = if may_go_on {
            match attempt(next, about, by, None, journal, writer).await {
                Ok(Attempt::Concluded { outcome, .. }) => WriteAttempt::Outcome(outcome),
                Ok(Attempt::Unknown { reason }) => {
                    WriteAttempt::Outcome(WriteOutcome::Unknown { reason, may_be_repeated: true })
                }
                Ok(Attempt::Failed(error)) => WriteAttempt::NotDone(error),
                Err(error) => {
                    done.trouble = Some(error);
                    WriteAttempt::NotTried
                }
            }
        } else {
            WriteAttempt::NotTried
        };
        done.writes.push(result);
    }
}
