//! The reviewers' events on a driven pull request: begin a cycle, take an answer, close a failed cycle.

use super::{DrivenPullRequest, PendingCycle};
use crate::domain::cycle::{
    AnswerFinding, CycleSkip, CycleTrigger, FrozenCycle, FrozenThread, ReviewerAnswer, UnaskedThread,
    Violation, check_choices, check_reports_against_each_other,
};
use crate::domain::duplicates::DuplicateIndex;
use crate::domain::finding::{Finding, Thread};
use crate::domain::machine::{EscalatedBy, RegressionOutcome};
use crate::domain::place::Delta;
use crate::domain::policy::Policy;
use crate::domain::re_review::ReviewScope;
use crate::domain::repeats::{FindingMatch, RaisedBy, RepeatOutcome, Repetition, match_finding, raise_again};
use crate::domain::snapshot::PullRequestState;
use crate::domain::verdict::{UnsettledThreads, Verdict, verdict};
use crate::domain::vocabulary::{ReviewerAction, ReviewerName, Severity, Stance, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// The next step for a driven reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextCall {
    Ask(FrozenCycle),
    /// C4: its calls are spent, so the engine closed the cycle like a failed one, without asking.
    ClosedUnasked,
    Skip(CycleSkip),
}

/// The result of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CycleOutcome {
    Completed {
        verdict: Verdict,
        notes: Vec<CycleNote>,
    },
    /// C3: no part of the answer counts. `closed` if the retries were spent and the engine closed the cycle
    /// (C4).
    Failed {
        violations: Vec<Violation>,
        closed: bool,
    },
    /// The head moved or the pull request ended while the reviewer worked, so the answer is stale.
    Overtaken,
}

/// An effect of a completed cycle that the thread alone does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CycleNote {
    Opened(ThreadId),
    /// C7: the answer listed the thread's finding again.
    Relisted(ThreadId),
    /// C7: the answer no longer lists the thread's finding, so the thread is resolved.
    Unlisted(ThreadId),
    /// D5: the reviewer raised a finding that it had resolved.
    Regressed(ThreadId, RegressionOutcome),
    /// D4: a person has decided about the finding or will, so they are not asked again.
    Suppressed {
        report: ThreadId,
        thread: ThreadId,
    },
    /// D4: the finding got strictly worse, so it goes back to the inbox.
    Worsened {
        report: ThreadId,
        thread: ThreadId,
    },
    /// R2: the finding is about code that did not change.
    OutOfScope {
        report: ThreadId,
        finding: Finding,
    },
    /// A person ended the thread while the reviewer worked.
    EndedMeanwhile(ThreadId),
}

impl DrivenPullRequest {
    /// Why the reviewer may not start a cycle now, if there is a reason (C5, C6).
    pub fn obstacle(&self, reviewer: &ReviewerName, policy: &Policy) -> Option<CycleSkip> {
        match self.state {
            PullRequestState::Merged => return Some(CycleSkip::PrMerged),
            PullRequestState::Closed => return Some(CycleSkip::PrClosed),
            PullRequestState::Open => {}
        }
        let record = self.reviewers.get(reviewer)?;
        if record.reviewed.contains(&self.head) {
            Some(CycleSkip::SameSha)
        } else if record.completed >= policy.max_review_iterations {
            Some(CycleSkip::IterationCap)
        } else {
            None
        }
    }

    /// C1: begins or retries a cycle, and freezes the question.
    pub fn begin_cycle(
        &mut self,
        reviewer: &ReviewerName,
        trigger: CycleTrigger,
        policy: &Policy,
    ) -> Result<FrozenCycle, CycleSkip> {
        if let Some(skip) = self.obstacle(reviewer, policy) {
            return Err(skip);
        }
        let record = self.reviewers.entry(reviewer.clone()).or_default();
        record.calls = record.calls.saturating_add(1);
        let failures = match &record.pending {
            Some(pending) if pending.head == self.head => pending.failures,
            _ => 0,
        };
        let open =
            record.threads.iter().filter_map(|id| self.threads.get(id)).filter(|t| t.machine.is_open());
        Ok(FrozenCycle {
            reviewer: reviewer.clone(),
            head: self.head.clone(),
            baseline: record.last_reviewed.clone(),
            number: record.completed + 1,
            attempt: failures + 1,
            trigger,
            threads: open
                .map(|thread| (thread.id.clone(), FrozenThread { legal: thread.machine.legal(policy) }))
                .collect(),
        })
    }

    /// The same, for a reviewer whose calls cost money. A push abandons a failing cycle, so caps on cycles
    /// and retries alone would allow new calls after every push. This cap counts the calls themselves (C4).
    pub fn next_call(&mut self, reviewer: &ReviewerName, trigger: CycleTrigger, policy: &Policy) -> NextCall {
        if let Some(skip) = self.obstacle(reviewer, policy) {
            return NextCall::Skip(skip);
        }
        if u64::from(self.calls(reviewer)) >= policy.calls_per_reviewer() {
            self.close_failed_cycle(reviewer, policy);
            return NextCall::ClosedUnasked;
        }
        match self.begin_cycle(reviewer, trigger, policy) {
            Ok(frozen) => NextCall::Ask(frozen),
            Err(skip) => NextCall::Skip(skip),
        }
    }

    /// Applies an answer, or the violation found while parsing it.
    pub fn answer(
        &mut self,
        frozen: &FrozenCycle,
        answer: Result<ReviewerAnswer, Violation>,
        policy: &Policy,
    ) -> CycleOutcome {
        if self.state != PullRequestState::Open || self.head != frozen.head {
            return CycleOutcome::Overtaken;
        }
        let checked = answer.map_err(|violation| vec![violation]).and_then(|answer| {
            let matches = self.check(frozen, &answer, policy)?;
            Ok((answer, matches))
        });
        match checked {
            Ok((answer, matches)) => self.complete(frozen, answer, matches, policy),
            Err(violations) => self.fail(frozen, violations, policy),
        }
    }

    /// C2: all violations of an answer, or a match for each of its findings.
    fn check(
        &self,
        frozen: &FrozenCycle,
        answer: &ReviewerAnswer,
        policy: &Policy,
    ) -> Result<Vec<FindingMatch<ThreadId>>, Vec<Violation>> {
        let mut violations = match answer {
            ReviewerAnswer::Actions { choices, .. } => {
                check_choices(frozen, choices, |id| self.classify_unasked(id, frozen))
            }
            ReviewerAnswer::Findings { .. } => Vec::new(),
        };
        let reports = answer.reports();
        violations.extend(check_reports_against_each_other(reports, policy));
        let raised_by = RaisedBy::Driven(answer.protocol());
        let matches = self.compare(&frozen.reviewer, reports, raised_by, policy);
        for (report, matched) in reports.iter().zip(&matches) {
            match matched {
                FindingMatch::Violation(thread) => {
                    violations.push(Violation::duplicate(&report.finding, Some(thread.clone())));
                }
                FindingMatch::New if self.threads.contains_key(&report.id) => {
                    let taken = format!("the id {} is that of another thread", report.id);
                    violations.push(Violation::MalformedAnswer(taken));
                }
                FindingMatch::New | FindingMatch::Repeats(..) => {}
            }
        }
        if violations.is_empty() { Ok(matches) } else { Err(violations) }
    }

    fn classify_unasked(&self, id: &ThreadId, frozen: &FrozenCycle) -> UnaskedThread {
        match self.threads.get(id) {
            None => UnaskedThread::Unknown,
            Some(thread) if thread.reviewer != frozen.reviewer => UnaskedThread::Foreign,
            Some(_) => UnaskedThread::Closed,
        }
    }

    /// D1: compares each finding with every thread of its reviewer.
    fn compare(
        &self,
        reviewer: &ReviewerName,
        reports: &[AnswerFinding],
        raised_by: RaisedBy,
        policy: &Policy,
    ) -> Vec<FindingMatch<ThreadId>> {
        let own = if reports.is_empty() { None } else { self.reviewers.get(reviewer) };
        let mut earlier = DuplicateIndex::new(policy);
        for thread in own.into_iter().flat_map(|record| &record.threads).filter_map(|id| self.threads.get(id))
        {
            earlier.add_thread(thread, &thread.finding, &thread.anchor);
        }
        let matched = |report: &AnswerFinding| {
            let overlapping = earlier.overlaps(&report.finding).into_iter();
            let candidates = overlapping.map(|it| (it.key.id.clone(), it.key.status(), it.nearness));
            match_finding(candidates, raised_by)
        };
        reports.iter().map(matched).collect()
    }

    /// Applies an answer without violations: first the actions on threads, then the findings.
    fn complete(
        &mut self,
        frozen: &FrozenCycle,
        answer: ReviewerAnswer,
        matches: Vec<FindingMatch<ThreadId>>,
        policy: &Policy,
    ) -> CycleOutcome {
        let mut notes = Vec::new();
        let reports = match answer {
            ReviewerAnswer::Actions { choices, reports } => {
                for choice in choices {
                    if let Some(thread) = self.threads.get_mut(&choice.thread)
                        && thread.machine.act(choice.stance, choice.action, policy).is_err()
                    {
                        notes.push(CycleNote::EndedMeanwhile(choice.thread));
                    }
                }
                reports
            }
            ReviewerAnswer::Findings { reports } => {
                self.derive_actions(frozen, &reports, &matches, policy, &mut notes);
                reports
            }
        };
        let scope = self.scope(&frozen.reviewer);
        let mut opened = BTreeSet::new();
        for (report, matched) in reports.into_iter().zip(matches) {
            match matched {
                // A violation fails the whole answer (C3), and `derive_actions` has already applied D3 to
                // open threads.
                FindingMatch::Violation(_) | FindingMatch::Repeats(_, Repetition::OfOpen) => {}
                FindingMatch::Repeats(thread, repetition) => {
                    self.raise_again(report, thread, repetition, policy, &mut notes);
                }
                FindingMatch::New if scope.admits(&report.finding, policy) => {
                    opened.insert(report.id.clone());
                    notes.push(CycleNote::Opened(report.id.clone()));
                    self.open(frozen, report);
                }
                FindingMatch::New => {
                    notes.push(CycleNote::OutOfScope { report: report.id, finding: report.finding });
                }
            }
        }
        let verdict = verdict(self.author_is_bot, self.unsettled(&frozen.reviewer, &opened));
        if verdict == Verdict::RequestChanges {
            self.rounds += 1;
        }
        self.close_cycle(&frozen.reviewer, policy);
        CycleOutcome::Completed { verdict, notes }
    }

    /// C7: derives an action for each open thread. A listed finding holds the stance; a missing one is
    /// resolved.
    fn derive_actions(
        &mut self,
        frozen: &FrozenCycle,
        reports: &[AnswerFinding],
        matches: &[FindingMatch<ThreadId>],
        policy: &Policy,
        notes: &mut Vec<CycleNote>,
    ) {
        let mut listed: BTreeMap<&ThreadId, Option<Severity>> = BTreeMap::new();
        for (report, matched) in reports.iter().zip(matches) {
            if let FindingMatch::Repeats(thread, Repetition::OfOpen) = matched {
                let worst = listed.entry(thread).or_default();
                *worst = (*worst).max(report.finding.severity);
            }
        }
        for id in frozen.threads.keys() {
            let Some(thread) = self.threads.get_mut(id) else { continue };
            if !thread.machine.is_open() {
                notes.push(CycleNote::EndedMeanwhile(id.clone()));
            } else if let Some(&severity) = listed.get(id) {
                raise_again(thread, Repetition::OfOpen, severity, true, policy);
                notes.push(CycleNote::Relisted(id.clone()));
            } else {
                // Resolving is legal on every open thread (T4).
                let _resolved = thread.machine.act(Stance::Accepts, ReviewerAction::Resolve, policy);
                notes.push(CycleNote::Unlisted(id.clone()));
            }
        }
    }

    /// R2: everything is in scope until the reviewer completes its first cycle on the pull request.
    fn scope(&self, reviewer: &ReviewerName) -> ReviewScope {
        match self.reviewers.get(reviewer).and_then(|record| record.since_last_review.clone()) {
            None => ReviewScope::Everything,
            Some(delta) => ReviewScope::Delta(delta),
        }
    }

    fn open(&mut self, frozen: &FrozenCycle, report: AnswerFinding) {
        let AnswerFinding { id, finding } = report;
        let record = self.reviewers.entry(frozen.reviewer.clone()).or_default();
        record.threads.push(id.clone());
        let from_verification = frozen.trigger == CycleTrigger::Verify;
        let thread = Thread::opened(id.clone(), frozen.reviewer.clone(), finding, from_verification);
        self.threads.insert(id, thread);
    }

    /// D4, D5: notes what raising a finding again did to its thread.
    fn raise_again(
        &mut self,
        report: AnswerFinding,
        id: ThreadId,
        repetition: Repetition,
        policy: &Policy,
        notes: &mut Vec<CycleNote>,
    ) {
        let Some(thread) = self.threads.get_mut(&id) else { return };
        notes.push(match raise_again(thread, repetition, report.finding.severity, true, policy) {
            RepeatOutcome::Suppressed => CycleNote::Suppressed { report: report.id, thread: id },
            RepeatOutcome::Worsened => CycleNote::Worsened { report: report.id, thread: id },
            RepeatOutcome::Regressed(outcome) => CycleNote::Regressed(id, outcome),
            RepeatOutcome::Folded | RepeatOutcome::RegressedAlready => return,
        });
    }

    /// V2's two groups of unsettled threads: those from before the cycle, and those that the cycle opened.
    fn unsettled(&self, reviewer: &ReviewerName, opened: &BTreeSet<ThreadId>) -> UnsettledThreads {
        let own = self.reviewers.get(reviewer).into_iter().flat_map(|record| &record.threads);
        let mut unsettled = UnsettledThreads::default();
        for thread in own.filter_map(|id| self.threads.get(id)).filter(|t| !t.status().is_settled()) {
            let worst = if opened.contains(&thread.id) {
                &mut unsettled.worst_new
            } else {
                &mut unsettled.worst_carried_over
            };
            *worst = (*worst).max(thread.finding.severity);
        }
        unsettled
    }

    /// C4: a failed answer leaves its cycle pending, until the retries are spent.
    fn fail(&mut self, frozen: &FrozenCycle, violations: Vec<Violation>, policy: &Policy) -> CycleOutcome {
        let closed = frozen.attempt > policy.cycle_retries;
        if closed {
            self.close_failed_cycle(&frozen.reviewer, policy);
        } else if let Some(record) = self.reviewers.get_mut(&frozen.reviewer) {
            record.pending = Some(PendingCycle { head: frozen.head.clone(), failures: frozen.attempt });
        }
        CycleOutcome::Failed { violations, closed }
    }

    /// C4: the engine closes the cycle for a reviewer that failed.
    fn close_failed_cycle(&mut self, reviewer: &ReviewerName, policy: &Policy) {
        self.cut_off_threads(reviewer, EscalatedBy::ReviewerFailed);
        self.close_cycle(reviewer, policy);
    }

    fn close_cycle(&mut self, reviewer: &ReviewerName, policy: &Policy) {
        let record = self.reviewers.entry(reviewer.clone()).or_default();
        record.completed += 1;
        record.reviewed.insert(self.head.clone());
        record.last_reviewed.clone_from(&self.head);
        record.since_last_review = Some(Delta::default());
        record.pending = None;
        if record.completed >= policy.max_review_iterations {
            self.cut_off_threads(reviewer, EscalatedBy::IterationCap);
        }
    }

    fn cut_off_threads(&mut self, reviewer: &ReviewerName, cause: EscalatedBy) {
        let own = self.reviewers.get(reviewer).into_iter().flat_map(|record| &record.threads);
        for id in own {
            if let Some(thread) = self.threads.get_mut(id) {
                thread.machine.cut_off(cause);
            }
        }
    }
}
