//! Asking the driven reviewers: what there is to look at is read first, and only who is then called was asked. A call costs
//! money and one of few attempts (C4), which a network that fails must not use up.

use super::{PullRequestActor, is_waiting};
use crate::config::ReviewerConfig;
use crate::domain::cycle::{CycleTrigger, FrozenCycle};
use crate::domain::driven::NextCall;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::{ReviewerName, Sha};
use crate::journal::JournalError;
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::fact::{CycleTerms, Fact};
use crate::supervisor::programs::{self, CycleAttempt};
use std::sync::Arc;

impl PullRequestActor {
    /// Begins with every driven reviewer that may and should look at this head.
    pub(super) async fn ask_reviewers(&mut self, standing: &Arc<ComputedState>) -> Result<(), JournalError> {
        if !self.is_asking(standing) {
            return Ok(());
        }
        let config = Arc::clone(&self.setup.config);
        for reviewer in &config.reviewers {
            let wanted = reviewer.adapter.is_some() && standing.expected.contains(&reviewer.name);
            if !wanted || self.thinking.contains_key(&reviewer.name) {
                continue;
            }
            match self.next_call(reviewer, standing) {
                NextCall::Ask(frozen) => {
                    let (reader, snapshot) = (Arc::clone(&self.setup.reader), Arc::clone(&standing.snapshot));
                    let (wake, working) = (self.programs.clone(), self.setup.busy.begin());
                    let reading = programs::read_changes(reader, snapshot, frozen, wake, working);
                    self.thinking.insert(reviewer.name.clone(), reading);
                }
                NextCall::ClosedUnasked => {
                    let head = standing.snapshot.head.sha.clone();
                    let asked = Fact::Asked {
                        reviewer: reviewer.name.clone(),
                        head,
                        attempt: 0,
                        terms: Some(self.terms(reviewer)),
                    };
                    let why = "its calls are spent: the cycle is closed without asking";
                    self.record_held(asked, "engine", why).await?;
                }
                NextCall::Skip(_) => {}
            }
        }
        Ok(())
    }

    /// Asks about what was read, if all is still as it was when the reading began. What the forge will never let anybody
    /// read is an attempt that failed.
    pub(super) async fn ask_about(
        &mut self,
        name: &ReviewerName,
        head: &Sha,
        changes: Result<String, String>,
    ) -> Result<(), JournalError> {
        let config = Arc::clone(&self.setup.config);
        let reviewer = config.reviewers.iter().find(|reviewer| reviewer.name == *name);
        let (Some(reviewer), Some(standing)) = (reviewer, self.standing.clone()) else { return Ok(()) };
        if !self.drives() || !self.is_asking(&standing) || standing.snapshot.head.sha != *head {
            return Ok(());
        }
        let NextCall::Ask(frozen) = self.next_call(reviewer, &standing) else { return Ok(()) };
        let attempt = frozen.attempt;
        let refused = standing.folded.violations.get(name).into_iter().flatten();
        let refused = refused.map(|violation| format!("; {}: {violation}", violation.kind()));
        let why = format!("cycle {}, attempt {attempt}{}", frozen.number, refused.collect::<String>());
        let asked = Fact::Asked {
            reviewer: name.clone(),
            head: head.clone(),
            attempt,
            terms: Some(self.terms(reviewer)),
        };
        self.record_held(asked, "engine", &why).await?;
        if let Some(standing) = self.standing.clone() {
            self.ask(reviewer, frozen, standing, changes);
        }
        Ok(())
    }

    /// Whether the loop waits for reviewers at a head that the engine knows.
    fn is_asking(&self, standing: &ComputedState) -> bool {
        standing.seen.state == PullRequestState::Open
            && self.review_loop.as_ref().is_some_and(is_waiting)
            && standing.folded.engine.head() == Some(&standing.snapshot.head.sha)
    }

    fn terms(&self, reviewer: &ReviewerConfig) -> CycleTerms {
        CycleTerms { policy: self.setup.config.policy.clone(), protocol: reviewer.protocol }
    }

    fn next_call(&self, reviewer: &ReviewerConfig, standing: &ComputedState) -> NextCall {
        let mut engine = standing.folded.engine.clone();
        engine.next_call(&reviewer.name, CycleTrigger::Review, &self.setup.config.policy)
    }

    fn ask(
        &mut self,
        reviewer: &ReviewerConfig,
        frozen: FrozenCycle,
        standing: Arc<ComputedState>,
        changes: Result<String, String>,
    ) {
        let attempt = CycleAttempt {
            violations: standing.folded.violations.get(&reviewer.name).cloned().unwrap_or_default(),
            reviewer: reviewer.clone(),
            frozen,
            standing,
            changes,
            reads: Arc::clone(&self.setup.reads),
            most_bytes: self.setup.config.policy.max_answer_bytes,
            environment: self.setup.environment,
        };
        let task = attempt.spawn(self.programs.clone(), self.setup.busy.begin());
        self.thinking.insert(reviewer.name.clone(), task);
    }
}
