//! Asks the driven reviewers. The actor reads the diff first and calls the reviewer only then: a call costs
//! money and one of few attempts (C4), which a failing network must not use up.

use super::PullRequestActor;
use super::turns::LoopTrigger;
use crate::config::ReviewerConfig;
use crate::domain::cycle::{CycleSkip, CycleTrigger, FrozenCycle};
use crate::domain::driven::NextCall;
use crate::domain::review_loop::Phase;
use crate::domain::snapshot::PullRequestState;
use crate::domain::vocabulary::{ReviewerName, Sha};
use crate::github::diff::DiffInScope;
use crate::journal::JournalError;
use crate::reviewers::ask::ThreadNaming;
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::fact::{CycleTerms, Fact};
use crate::supervisor::programs::{self, CycleAttempt};
use std::sync::Arc;

impl PullRequestActor {
    /// Starts every driven reviewer that may review this head and has not.
    pub(super) async fn ask_reviewers(&mut self, computed: &Arc<ComputedState>) -> Result<(), JournalError> {
        if !self.is_asking(computed) {
            return Ok(());
        }
        let config = Arc::clone(&self.context.config);
        for reviewer in &config.reviewers {
            let is_due = reviewer.adapter.is_some() && computed.seen.expected.contains(&reviewer.name);
            if !is_due || self.programs.reviewers.contains_key(&reviewer.name) {
                continue;
            }
            match self.next_call(reviewer, computed) {
                NextCall::Ask(frozen) => {
                    let (reader, snapshot) =
                        (Arc::clone(&self.context.reader), Arc::clone(&computed.snapshot));
                    let (wake, working) = (self.programs.reports.clone(), self.context.busy.begin());
                    let reading = programs::read_changes(reader, snapshot, frozen, wake, working);
                    self.programs.reviewers.insert(reviewer.name.clone(), reading);
                }
                NextCall::ClosedUnasked => {
                    let head = computed.snapshot.head.sha.clone();
                    let asked = Fact::Asked {
                        reviewer: reviewer.name.clone(),
                        head,
                        attempt: 0,
                        terms: Some(self.terms(reviewer)),
                        whole: None,
                    };
                    let why = "its calls are spent: the cycle is closed without asking";
                    self.record_held(asked, "engine", why).await?;
                }
                NextCall::Skip(_) => {}
            }
        }
        Ok(())
    }

    /// The forge refuses to show the diff. That costs neither a call nor a cycle, and the loop ends with this
    /// reason at once; a push may help.
    pub(super) async fn cannot_ask_about(
        &mut self,
        reviewer: ReviewerName,
        head: Sha,
        why: &str,
    ) -> Result<(), JournalError> {
        let is_due = self.latest.computed.as_ref().is_some_and(|computed| {
            self.drives() && self.is_asking(computed) && computed.snapshot.head.sha == head
        });
        if is_due {
            let reason = format!("GitHub does not show the diff of the pull request: {why}");
            let fact = Fact::Unreviewable { reviewer, head, reason: reason.clone() };
            self.record_held(fact, "engine", &reason).await?;
            self.step(LoopTrigger::Learned).await?;
        }
        Ok(())
    }

    /// Asks the reviewer about the diff, unless the head or the loop has changed since the reading began.
    pub(super) async fn ask_about(
        &mut self,
        name: &ReviewerName,
        head: &Sha,
        changes: DiffInScope,
    ) -> Result<(), JournalError> {
        let config = Arc::clone(&self.context.config);
        let reviewer = config.reviewers.iter().find(|reviewer| reviewer.name == *name);
        let (Some(reviewer), Some(computed)) = (reviewer, self.latest.computed.clone()) else {
            return Ok(());
        };
        if !self.drives() || !self.is_asking(&computed) || computed.snapshot.head.sha != *head {
            return Ok(());
        }
        let NextCall::Ask(frozen) = self.next_call(reviewer, &computed) else { return Ok(()) };
        let attempt = frozen.attempt;
        let refused = computed.folded.violations.get(name).into_iter().flatten();
        let refused = refused.map(|violation| format!("; {}: {violation}", violation.kind()));
        let mut why = format!("cycle {}, attempt {attempt}{}", frozen.number, refused.collect::<String>());
        if let Some(whole) = &changes.whole {
            why = format!("{why}; it gets the whole pull request: {whole}");
        }
        let asked = Fact::Asked {
            reviewer: name.clone(),
            head: head.clone(),
            attempt,
            terms: Some(self.terms(reviewer)),
            whole: changes.whole.clone(),
        };
        self.record_held(asked, "engine", &why).await?;
        if let Some(computed) = self.latest.computed.clone() {
            self.ask(reviewer, frozen, computed, changes);
        }
        Ok(())
    }

    /// Whether the loop waits for reviews of the head that the engine is at.
    fn is_asking(&self, computed: &ComputedState) -> bool {
        computed.seen.state == PullRequestState::Open
            && *self.progress.review_loop.phase() == Phase::Waiting
            && computed.folded.engine.head() == Some(&computed.snapshot.head.sha)
    }

    fn terms(&self, reviewer: &ReviewerConfig) -> CycleTerms {
        let policy = self.context.config.policy.clone();
        CycleTerms { policy, protocol: reviewer.protocol, naming: ThreadNaming::ByText }
    }

    fn next_call(&self, reviewer: &ReviewerConfig, computed: &ComputedState) -> NextCall {
        // C5: this journal may be new, but GitHub shows the review.
        if computed.has_posted_review(&reviewer.name) {
            return NextCall::Skip(CycleSkip::SameSha);
        }
        let mut engine = computed.folded.engine.clone();
        engine.next_call(&reviewer.name, CycleTrigger::Review, &self.context.config.policy)
    }

    fn ask(
        &mut self,
        reviewer: &ReviewerConfig,
        frozen: FrozenCycle,
        computed: Arc<ComputedState>,
        changes: DiffInScope,
    ) {
        let attempt = CycleAttempt {
            violations: computed.folded.violations.get(&reviewer.name).cloned().unwrap_or_default(),
            reviewer: reviewer.clone(),
            frozen,
            computed,
            changes,
            reads: Arc::clone(&self.context.reads),
            most_bytes: self.context.config.policy.max_answer_bytes,
            secrets: self.context.writer.secrets().clone(),
            environment: self.context.environment,
        };
        let task = attempt.spawn(self.programs.reports.clone(), self.context.busy.begin());
        self.programs.reviewers.insert(reviewer.name.clone(), task);
    }
}
