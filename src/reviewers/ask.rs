//! Asking a driven reviewer: one attempt, or a whole cycle with its retries (C1–C4).
//!
//! [`cycle`] is for whoever only wants to know how it ends. The supervisor, which keeps a journal, makes the attempts itself
//! and records what it must in between. Either way the engine decides: what is asked, whether the answer counts, and when
//! enough is enough.

use super::adapters::{ReviewerCall, ReviewerDriver, ReviewerResponse};
use super::answer::{self, ReceivedAnswer};
use super::request::{PreparedRequest, RequestSources, prepare};
use crate::domain::cycle::{CycleSkip, CycleTrigger, FrozenCycle, Violation};
use crate::domain::driven::{CycleOutcome, DrivenPullRequest, NextCall};
use crate::domain::policy::Policy;
use crate::domain::re_review::PromptFit;
use crate::domain::vocabulary::{ReviewerName, ThreadId};
use std::time::Duration;

/// One call, and what came back.
#[derive(Debug, Clone, PartialEq)]
pub struct CallAttempt {
    /// What it was asked.
    pub frozen: FrozenCycle,
    /// R6: whether that was much, too much, and what was cut.
    pub fit: PromptFit,
    /// What it answered, read but not yet believed; or what was wrong with reading it.
    pub received: Result<ReceivedAnswer, Violation>,
    /// The end of its log, for people. Not cleaned.
    pub log: String,
    pub took: Duration,
}

/// An attempt and what the engine made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedAttempt {
    pub attempt: CallAttempt,
    pub outcome: CycleOutcome,
}

/// How a cycle ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CycleEnd {
    /// With an answer that counts, or closed by the engine (C4), or overtaken by a push; the last turn says which.
    Asked(Vec<JudgedAttempt>),
    /// Its calls were spent before it could be asked (C4).
    ClosedUnasked,
    Skipped(CycleSkip),
}

/// Asks once for what was frozen. The engine has not seen the answer yet: give it to [`DrivenPullRequest::answer`].
/// `violations` are those of the attempt before.
async fn attempt(
    driver: &ReviewerDriver,
    frozen: FrozenCycle,
    engine: &DrivenPullRequest,
    sources: &RequestSources<'_>,
    violations: &[Violation],
    policy: &Policy,
) -> CallAttempt {
    let PreparedRequest { request, fit } = prepare(&frozen, engine, sources, violations, driver.wording());
    let most_bytes = policy.max_answer_bytes;
    let asked = ReviewerCall { request: &request, frozen: &frozen, protocol: sources.protocol, most_bytes };
    let ReviewerResponse { answer, log, took } = driver.ask(&asked).await;
    let received = answer.and_then(|printed| {
        answer::read(&printed, sources.protocol, policy, |index| thread_name(&frozen, index))
    });
    CallAttempt { frozen, fit, received, log, took }
}

/// Runs a cycle to its end. Every turn is told as it happens.
pub async fn cycle(
    engine: &mut DrivenPullRequest,
    reviewer: &ReviewerName,
    driver: &ReviewerDriver,
    sources: &RequestSources<'_>,
    trigger: CycleTrigger,
    policy: &Policy,
    mut told: impl FnMut(&JudgedAttempt),
) -> CycleEnd {
    let mut turns: Vec<JudgedAttempt> = Vec::new();
    let mut violations: Vec<Violation> = Vec::new();
    loop {
        let frozen = match engine.next_call(reviewer, trigger, policy) {
            NextCall::Ask(frozen) => frozen,
            NextCall::ClosedUnasked => return CycleEnd::ClosedUnasked,
            NextCall::Skip(skip) => return CycleEnd::Skipped(skip),
        };
        let attempt = attempt(driver, frozen, engine, sources, &violations, policy).await;
        let answer = attempt.received.clone().map(|received| received.answer);
        let outcome = engine.answer(&attempt.frozen, answer, policy);
        let turn = JudgedAttempt { attempt, outcome };
        told(&turn);
        let again = match &turn.outcome {
            CycleOutcome::Failed { violations: found, closed: false } => {
                violations.clone_from(found);
                true
            }
            CycleOutcome::Failed { closed: true, .. }
            | CycleOutcome::Completed { .. }
            | CycleOutcome::Overtaken => false,
        };
        turns.push(turn);
        if !again {
            return CycleEnd::Asked(turns);
        }
    }
}

/// The name of the thread that a finding would open. A reviewer completes one cycle at a head at most (C5), so its head
/// and the finding's place in the answer tell it from every other.
pub fn thread_name(frozen: &FrozenCycle, index: usize) -> ThreadId {
    let head: String = frozen.head.as_ref().map_or("", |head| head.as_str()).chars().take(12).collect();
    format!("{}/{head}/{}", frozen.reviewer, index + 1).into()
}
