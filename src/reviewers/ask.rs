//! Runs a driven reviewer's cycle with its retries (C1–C4), for `cloture review`.
//!
//! The supervisor does not use [`cycle`]: it makes each attempt itself and records it in the journal. In both
//! cases the engine decides what to ask, whether the answer counts and when to stop.

use super::adapters::{ReviewerCall, ReviewerDriver, ReviewerResponse};
use super::answer::{self, ReceivedAnswer};
use super::request::{PreparedRequest, RequestSources, prepare};
use crate::domain::cycle::{CycleSkip, CycleTrigger, FrozenCycle, Violation};
use crate::domain::driven::{CycleOutcome, DrivenPullRequest, NextCall};
use crate::domain::finding::Finding;
use crate::domain::policy::Policy;
use crate::domain::re_review::PromptFit;
use crate::domain::vocabulary::{ReviewerName, ThreadId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One call of a reviewer and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CallAttempt {
    pub frozen: FrozenCycle,
    /// R6: how the request fits the context window.
    pub fit: PromptFit,
    /// The answer before the engine checks it, or why it cannot be read.
    pub received: Result<ReceivedAnswer, Violation>,
    /// The end of the reviewer's log. Not sanitized.
    pub log: String,
    pub took: Duration,
}

/// An attempt and the engine's decision about it.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedAttempt {
    pub attempt: CallAttempt,
    pub outcome: CycleOutcome,
}

/// How a cycle ended.
#[derive(Debug, Clone, PartialEq)]
pub enum CycleEnd {
    /// With a valid answer, closed by the engine (C4), or overtaken by a push. The last attempt says which.
    Asked(Vec<JudgedAttempt>),
    /// All calls were used up before (C4).
    ClosedUnasked,
    Skipped(CycleSkip),
}

/// Asks once. The caller gives the answer to [`DrivenPullRequest::answer`]. `violations` are those of the
/// previous attempt.
async fn attempt(
    driver: &ReviewerDriver,
    frozen: FrozenCycle,
    engine: &DrivenPullRequest,
    sources: &RequestSources<'_>,
    violations: &[Violation],
    policy: &Policy,
) -> CallAttempt {
    let PreparedRequest { request, fit } =
        prepare(&frozen, engine, sources, violations, driver.prompt_text());
    let most_bytes = policy.max_answer_bytes;
    let call = ReviewerCall { request: &request, frozen: &frozen, protocol: sources.protocol, most_bytes };
    let ReviewerResponse { answer, log, took, withheld: _ } = driver.ask(&call).await;
    let received = answer.and_then(|printed| {
        answer::read(&printed, sources.protocol, policy, |index, finding| {
            thread_name(&frozen, index, finding, ThreadNaming::ByText)
        })
    });
    CallAttempt { frozen, fit, received, log, took }
}

/// Runs a cycle to its end, and calls `on_attempt` after each attempt.
pub async fn cycle(
    engine: &mut DrivenPullRequest,
    reviewer: &ReviewerName,
    driver: &ReviewerDriver,
    sources: &RequestSources<'_>,
    trigger: CycleTrigger,
    policy: &Policy,
    mut on_attempt: impl FnMut(&JudgedAttempt),
) -> CycleEnd {
    let mut attempts: Vec<JudgedAttempt> = Vec::new();
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
        let judged = JudgedAttempt { attempt, outcome };
        on_attempt(&judged);
        let retry = match &judged.outcome {
            CycleOutcome::Failed { violations: found, closed: false } => {
                violations.clone_from(found);
                true
            }
            CycleOutcome::Failed { closed: true, .. }
            | CycleOutcome::Completed { .. }
            | CycleOutcome::Overtaken => false,
        };
        attempts.push(judged);
        if !retry {
            return CycleEnd::Asked(attempts);
        }
    }
}

/// What tells the threads of one answer apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadNaming {
    /// The finding's index, as in the answers that older versions asked for.
    #[default]
    ByIndex,
    /// The index and the finding's text. Two journals may ask about one head, and their answers need not have
    /// the same finding at an index.
    ByText,
}

/// The name of the thread that a finding would open. A reviewer completes at most one cycle at each head
/// (C5), so reviewer, head and the finding make the name unique.
pub fn thread_name(frozen: &FrozenCycle, index: usize, finding: &Finding, naming: ThreadNaming) -> ThreadId {
    let head: String = frozen.head.as_ref().map_or("", |head| head.as_str()).chars().take(12).collect();
    let name = format!("{}/{head}/{}", frozen.reviewer, index + 1);
    match naming {
        ThreadNaming::ByIndex => name.into(),
        ThreadNaming::ByText => {
            let text = [finding.path.as_str(), &finding.title, &finding.body].join("\0");
            // FNV-1a: the same in every version and on every machine.
            let digest = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
            format!("{name}-{:08x}", digest >> 32).into()
        }
    }
}
