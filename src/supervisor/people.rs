//! What people do to threads and pull requests (T6, T7, H6, L6): whatever the keyboard can do a script can do, with the same checks.
//!
//! An [`ThreadRequest`] is what somebody wants; [`plan`](plan()) holds it against where the pull request stands and says what it means: a
//! fact to record and deeds to write, or an [`PlanError`]. [`carry_out`] records first, because what cannot be recorded is
//! not done, and then writes, each with its intent before and its outcome after. Whoever is interrupted simply does the
//! same again: [`History`](crate::supervisor::history::History) tells what was recorded, and the writer looks for what was written.
//!
//! What is absent: nothing here asks for consent. A person's confirmed act is its own permission (S4), and whoever calls
//! [`carry_out`] has got that.

pub mod inbox;
pub mod request_handler;
pub mod stored;
pub mod ways_out;

pub(crate) mod key;
mod notifier;
mod planning;
pub(crate) mod pull_request_planner;
mod routing;

pub use notifier::InboxNotifier;
pub use planning::plan;
pub use ways_out::{Way, WayOut, WayOutMeans, WayOutQuery, ways_out};

use crate::domain::machine::Decision;

use crate::domain::driven::Refusal;
use crate::domain::finding::Destination;
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

/// What a person wants done to a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRequest {
    /// The forge's id or the engine's.
    pub thread: ThreadId,
    pub what: ThreadAct,
    /// Why; for a reply, the reply itself.
    pub reason: Option<String>,
    /// The person's login.
    pub by: String,
    /// What tells this act from the same one at another time, instead of the head.
    pub occasion: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadAct {
    /// What the machine knows about.
    Decide(Decision),
    /// H6, H9: hand it off at the merge, to this target.
    QueueFor(TargetName),
    /// H9: where it goes if it is handed off, or that it does not go.
    Route(Destination),
    /// Whatever would hand it off does not: it is taken off the queue, or off the list of what goes by itself.
    Remove,
    /// R3: open on the forge again what was resolved there.
    Unresolve,
    Reply,
    /// Hide the first comment as a duplicate.
    Hide,
}

impl ThreadAct {
    pub fn name(&self) -> &'static str {
        match self {
            ThreadAct::Decide(verb) => verb.name(),
            ThreadAct::QueueFor(_) => Decision::Queue.name(),
            ThreadAct::Route(Destination::Target(_) | Destination::AsConfigured) => "retarget",
            ThreadAct::Route(Destination::Nowhere) => "withhold",
            ThreadAct::Remove => "remove",
            ThreadAct::Unresolve => "unresolve",
            ThreadAct::Reply => "reply",
            ThreadAct::Hide => "hide",
        }
    }
}

/// What an act comes to. Nothing is done yet.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadPlan {
    pub act: ThreadRequest,
    /// What is recorded before anything is written, all of it or nothing, with its time; none where nothing is, or was
    /// before.
    pub facts: Vec<(Timestamp, Fact)>,
    /// The same person has recorded the very same already, and the thread stands as it says.
    pub already: bool,
    /// What it means, in a sentence; none where the deeds say all of it.
    pub sentence: Option<String>,
    /// What is written to the forge, in order.
    pub deeds: Vec<PlannedWrite>,
}

impl ThreadPlan {
    /// What whoever is to agree gets to see (U3).
    pub fn sentences(&self) -> Vec<String> {
        let deeds = self.deeds.iter().map(|deed| deed.write.sentence());
        self.sentence.clone().into_iter().chain(deeds).collect()
    }
}

/// Why an act cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It does not fit where the thread stands.
    #[error("nothing was done ({}): {refusal}; {standing}", refusal.kind())]
    Refused { refusal: Refusal, standing: String },
    /// The configuration has no such target.
    #[error("nothing was done (unknown_target): there is no target \"{target}\"; {}", known_targets(known))]
    UnknownTarget { target: TargetName, known: Vec<TargetName> },
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl PlanError {
    /// The word that scripts go by, where it has one.
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

/// What became of a plan.
#[derive(Debug)]
pub struct PlanOutcome {
    pub recorded: bool,
    /// One for each deed.
    pub deeds: Vec<WriteAttempt>,
    /// Why the rest was given up.
    pub trouble: Option<JournalError>,
}

#[derive(Debug)]
pub enum WriteAttempt {
    Told(WriteOutcome),
    /// Certainly not done.
    NotDone(Error),
    /// One before it is not in effect, or could not be recorded.
    NotTried,
}

impl WriteAttempt {
    pub fn is_in_effect(&self) -> bool {
        matches!(self, WriteAttempt::Told(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_)))
    }
}

/// What a write changes, so that a copy that is kept says so before the next look.
pub fn take_over(write: &Write, snapshot: &mut PullRequestSnapshot) {
    let (target, resolved) = match write {
        Write::Resolve { thread } => (thread, true),
        Write::Unresolve { thread } => (thread, false),
        _ => return,
    };
    for seen in snapshot.threads.iter_mut().filter(|seen| seen.id == target.id) {
        seen.resolved = resolved;
    }
}

/// Records, then writes one deed after the other, and none after one that is not in effect: a thread whose reason nobody
/// can see is not resolved.
pub async fn carry_out(
    plan: &ThreadPlan,
    about: &PullRequestKey,
    journal: &Journal,
    writer: &Writer<Client>,
) -> PlanOutcome {
    let by = plan.act.by.as_str();
    let mut done = PlanOutcome { recorded: false, deeds: Vec::new(), trouble: None };
    if !plan.facts.is_empty() {
        let why = plan.act.reason.as_deref().unwrap_or_default();
        let records = plan.facts.iter().map(|(at, fact)| fact.clone().record(*at, about, by, why));
        match journal.append(records.collect()).await {
            Ok(_) => done.recorded = true,
            Err(error) => done.trouble = Some(error),
        }
    }
    write_all(&plan.deeds, by, about, journal, writer, &mut done).await;
    done
}

/// Writes what somebody agreed to, with its intent before and its outcome after it, one after the other and none after one
/// that is not in effect.
pub async fn write_out(
    deeds: &[PlannedWrite],
    by: &str,
    about: &PullRequestKey,
    journal: &Journal,
    writer: &Writer<Client>,
) -> PlanOutcome {
    let mut done = PlanOutcome { recorded: false, deeds: Vec::new(), trouble: None };
    write_all(deeds, by, about, journal, writer, &mut done).await;
    done
}

async fn write_all(
    deeds: &[PlannedWrite],
    by: &str,
    about: &PullRequestKey,
    journal: &Journal,
    writer: &Writer<Client>,
    done: &mut PlanOutcome,
) {
    for deed in deeds {
        let may_go_on = done.trouble.is_none() && done.deeds.iter().all(WriteAttempt::is_in_effect);
        let tried = if may_go_on {
            match attempt(deed, about, by, None, journal, writer).await {
                Ok(Attempt::Concluded { outcome, .. }) => WriteAttempt::Told(outcome),
                Ok(Attempt::Unknown { reason }) => {
                    WriteAttempt::Told(WriteOutcome::Unknown { reason, may_be_repeated: true })
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
        done.deeds.push(tried);
    }
}
