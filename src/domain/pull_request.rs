//! One pull request as the engine sees it: its threads, its reviewers' cycles, its queue.
//!
//! Every event comes in through one method here, and each method is the whole of what that event does. The
//! state is their fold: replaying the same events gives the same state, which is what `simulate`, the
//! journal and the proof all rely on.

use super::cycle::{
    Answer, Elsewhere, Frozen, FrozenThread, Report, Skip, Trigger, Violation, check_choices,
    check_reports_against_each_other,
};
use super::duplicates::Shelves;
use super::finding::{Finding, Thread};
use super::handoff::{HandoffRules, Task, tasks};
use super::machine::{Decision, EscalatedBy, Misfit, Regression, ResolvedBy, Status};
use super::place::{Delta, FileChange, Route};
use super::policy::Policy;
use super::re_review::{Reply, Scope};
use super::verdict::{Unsettled, Verdict, verdict};
use super::vocabulary::{Action, ReviewerName, Severity, Sha, Stance, ThreadId};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// See the module's text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PullRequest {
    author_is_bot: bool,
    state: PrState,
    head: Option<Sha>,
    threads: BTreeMap<ThreadId, Thread>,
    reviewers: BTreeMap<ReviewerName, Record>,
    rounds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrState {
    Open,
    Merged,
    Closed,
}

/// What is remembered of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Record {
    /// Completed cycles since the pull request was last reopened (C6).
    completed: u32,
    /// Times the reviewer was asked since then.
    calls: u32,
    /// Heads it is done with, whatever was reopened since (C5).
    reviewed: BTreeSet<Option<Sha>>,
    /// What was pushed since its last completed cycle; nothing to tell before the first (R2).
    since_last_review: Option<Delta>,
    /// A cycle whose answers have failed so far (C4).
    pending: Option<Pending>,
    threads: Vec<ThreadId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Pending {
    head: Option<Sha>,
    failures: u32,
}

/// What to do about a driven reviewer now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextCall {
    /// Ask it this.
    Ask(Frozen),
    /// Its calls are spent; the cycle is closed without asking, as a failed one is (C4).
    ClosedUnasked,
    Skip(Skip),
}

/// What came of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CycleOutcome {
    Completed {
        verdict: Verdict,
        notes: Vec<Note>,
    },
    /// C3: nothing of the answer counted. `closed` where the retries were spent and the engine closed the
    /// cycle itself (C4).
    Failed {
        violations: Vec<Violation>,
        closed: bool,
    },
    /// The head moved, or the pull request ended, while the reviewer was thinking: its answer is about
    /// something that no longer is.
    Overtaken,
}

/// What a completed cycle did with a finding or thread beyond what the thread itself shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    Opened(ThreadId),
    /// C7: listed again.
    Relisted(ThreadId),
    /// D5
    Regressed(ThreadId, Regression),
    /// D4: the person who has it, or had it, is not asked again.
    Suppressed {
        report: ThreadId,
        thread: ThreadId,
    },
    /// D4
    Worsened {
        report: ThreadId,
        thread: ThreadId,
    },
    /// R2
    OutOfScope {
        report: ThreadId,
        finding: Finding,
    },
    /// A person ended the thread while the reviewer was thinking.
    EndedMeanwhile(ThreadId),
}

/// What a person asks for on a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PersonAct {
    Decide(Decision),
    Queue,
    Unqueue,
}

/// Why it was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Refusal {
    #[error("there is no such thread on this pull request")]
    UnknownThread,
    #[error("the thread is not open")]
    NotOpen,
    #[error("the thread does not wait for a person")]
    NotWaiting,
    #[error("the thread is already settled")]
    AlreadySettled,
    #[error("the finding was handed off already, and never goes twice")]
    AlreadyHandedOff,
}

impl Refusal {
    pub fn kind(self) -> &'static str {
        match self {
            Refusal::UnknownThread => "unknown_thread",
            Refusal::NotOpen => "not_open",
            Refusal::NotWaiting => "not_waiting",
            Refusal::AlreadySettled => "already_settled",
            Refusal::AlreadyHandedOff => "already_handed_off",
        }
    }
}

impl From<Misfit> for Refusal {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::NotOpen => Refusal::NotOpen,
            Misfit::NotWaiting => Refusal::NotWaiting,
            Misfit::AlreadySettled => Refusal::AlreadySettled,
        }
    }
}

/// What a finding of an answer turns out to be once it is compared with its reviewer's threads (D3–D5).
#[derive(Debug, Clone, PartialEq, Eq)]
enum Match {
    New,
    /// An open thread reports it already.
    Open(ThreadId),
    /// A person closed it or has it.
    WithPerson(ThreadId),
    /// The reviewer resolved it itself.
    Regression(ThreadId),
}

impl PullRequest {
    pub fn new(author_is_bot: bool) -> PullRequest {
        PullRequest {
            author_is_bot,
            state: PrState::Open,
            head: None,
            threads: BTreeMap::new(),
            reviewers: BTreeMap::new(),
            rounds: 0,
        }
    }

    pub fn author_is_bot(&self) -> bool {
        self.author_is_bot
    }

    pub fn state(&self) -> PrState {
        self.state
    }

    pub fn head(&self) -> Option<&Sha> {
        self.head.as_ref()
    }

    /// All threads, by id.
    pub fn threads(&self) -> impl Iterator<Item = &Thread> {
        self.threads.values()
    }

    pub fn thread(&self, id: &ThreadId) -> Option<&Thread> {
        self.threads.get(id)
    }

    /// Completed cycles since the last reopen, of every reviewer that ever completed one.
    pub fn cycles(&self) -> impl Iterator<Item = (&ReviewerName, u32)> {
        let known = self.reviewers.iter().filter(|(_, record)| record.since_last_review.is_some());
        known.map(|(name, record)| (name, record.completed))
    }

    /// Times a reviewer was asked since the last reopen.
    pub fn calls(&self, reviewer: &ReviewerName) -> u32 {
        self.reviewers.get(reviewer).map_or(0, |record| record.calls)
    }

    /// L6: request-changes verdicts since the last reopen.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    // The author's doing.

    pub fn push(&mut self, head: Sha, changes: &[FileChange]) {
        let route = Route::through(changes);
        self.head = Some(head);
        for thread in self.threads.values_mut() {
            thread.anchor.follow(&route);
        }
        for delta in self.reviewers.values_mut().filter_map(|record| record.since_last_review.as_mut()) {
            delta.extend(&route);
        }
    }

    // The reviewers' doing.

    /// What is in a reviewer's way, if anything (C5, C6).
    pub fn obstacle(&self, reviewer: &ReviewerName, policy: &Policy) -> Option<Skip> {
        match self.state {
            PrState::Merged => return Some(Skip::PrMerged),
            PrState::Closed => return Some(Skip::PrClosed),
            PrState::Open => {}
        }
        let record = self.reviewers.get(reviewer)?;
        if record.reviewed.contains(&self.head) {
            Some(Skip::SameSha)
        } else if record.completed >= policy.max_review_iterations {
            Some(Skip::IterationCap)
        } else {
            None
        }
    }

    /// C1: begins a cycle, or tries it again, by freezing what is put to the reviewer.
    pub fn begin_cycle(
        &mut self,
        reviewer: &ReviewerName,
        trigger: Trigger,
        policy: &Policy,
    ) -> Result<Frozen, Skip> {
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
        Ok(Frozen {
            reviewer: reviewer.clone(),
            head: self.head.clone(),
            number: record.completed + 1,
            attempt: failures + 1,
            trigger,
            threads: open
                .map(|thread| (thread.id.clone(), FrozenThread { legal: thread.machine.legal(policy) }))
                .collect(),
        })
    }

    /// The same, for a reviewer that costs money to ask. Pushes abandon cycles that have failed so far, so
    /// the caps on cycles and retries alone would let a reviewer that never behaves be asked for as long as
    /// somebody pushes. This bounds what is spent whoever pushes.
    pub fn next_call(&mut self, reviewer: &ReviewerName, trigger: Trigger, policy: &Policy) -> NextCall {
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

    /// Takes an answer, or what was wrong with reading it, to what was asked.
    pub fn answer(
        &mut self,
        frozen: &Frozen,
        answer: Result<Answer, Violation>,
        policy: &Policy,
    ) -> CycleOutcome {
        if self.state != PrState::Open || self.head != frozen.head {
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

    /// C2: everything that is wrong with an answer, or what each of its findings turns out to be.
    fn check(&self, frozen: &Frozen, answer: &Answer, policy: &Policy) -> Result<Vec<Match>, Vec<Violation>> {
        let mut violations = match answer {
            Answer::Actions { choices, .. } => {
                check_choices(frozen, choices, |id| self.elsewhere(id, frozen))
            }
            Answer::Findings { .. } => Vec::new(),
        };
        let reports = answer.reports();
        violations.extend(check_reports_against_each_other(reports, policy));
        let matches = self.compare(&frozen.reviewer, reports, policy);
        for (report, matched) in reports.iter().zip(&matches) {
            match (matched, answer) {
                (Match::Open(thread), Answer::Actions { .. }) => {
                    violations.push(Violation::duplicate(&report.finding, Some(thread.clone())));
                }
                (Match::New, _) if self.threads.contains_key(&report.id) => {
                    let taken = format!("the id {} is that of another thread", report.id);
                    violations.push(Violation::MalformedAnswer(taken));
                }
                _ => {}
            }
        }
        if violations.is_empty() { Ok(matches) } else { Err(violations) }
    }

    fn elsewhere(&self, id: &ThreadId, frozen: &Frozen) -> Elsewhere {
        match self.threads.get(id) {
            None => Elsewhere::Unknown,
            Some(thread) if thread.reviewer != frozen.reviewer => Elsewhere::Foreign,
            Some(_) => Elsewhere::Closed,
        }
    }

    /// D1: holds each finding against every thread of its reviewer. Where it overlaps several, an open one
    /// decides before one that a person had, and that before one the reviewer resolved.
    fn compare(&self, reviewer: &ReviewerName, reports: &[Report], policy: &Policy) -> Vec<Match> {
        let own = if reports.is_empty() { None } else { self.reviewers.get(reviewer) };
        let mut known = Shelves::new(policy);
        for thread in own.into_iter().flat_map(|record| &record.threads).filter_map(|id| self.threads.get(id))
        {
            known.add_thread(thread, &thread.finding, &thread.anchor);
        }
        let decide = |report: &Report| {
            let overlapping = known.overlaps(&report.finding);
            let nearest = overlapping.into_iter().min_by_key(|thread| match thread.status() {
                Status::Open => 0,
                Status::Resolved(ResolvedBy::Reviewer) => 2,
                _ => 1,
            });
            match nearest {
                None => Match::New,
                Some(thread) => match thread.status() {
                    Status::Open => Match::Open(thread.id.clone()),
                    Status::Resolved(ResolvedBy::Reviewer) => Match::Regression(thread.id.clone()),
                    _ => Match::WithPerson(thread.id.clone()),
                },
            }
        };
        reports.iter().map(decide).collect()
    }

    /// Carries out an answer that was found good: the threads first, then the findings.
    fn complete(
        &mut self,
        frozen: &Frozen,
        answer: Answer,
        matches: Vec<Match>,
        policy: &Policy,
    ) -> CycleOutcome {
        let mut notes = Vec::new();
        let reports = match answer {
            Answer::Actions { choices, reports } => {
                for choice in choices {
                    if let Some(thread) = self.threads.get_mut(&choice.thread)
                        && thread.machine.act(choice.stance, choice.action, policy).is_err()
                    {
                        notes.push(Note::EndedMeanwhile(choice.thread));
                    }
                }
                reports
            }
            Answer::Findings { reports } => {
                self.derive_actions(frozen, &reports, &matches, policy, &mut notes);
                reports
            }
        };
        let scope = self.scope(&frozen.reviewer);
        let mut opened = BTreeSet::new();
        for (report, matched) in reports.into_iter().zip(matches) {
            match matched {
                Match::Open(_) => {}
                Match::WithPerson(thread) => self.reach_person(report, &thread, &mut notes),
                Match::Regression(thread) => self.regress(&thread, &report, policy, &mut notes),
                Match::New if scope.admits(&report.finding, policy) => {
                    opened.insert(report.id.clone());
                    notes.push(Note::Opened(report.id.clone()));
                    self.open(frozen, report);
                }
                Match::New => {
                    notes.push(Note::OutOfScope { report: report.id, finding: report.finding });
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

    /// C7: what a list of findings says about each open thread. Listed again holds the stance; omitted
    /// resolves.
    fn derive_actions(
        &mut self,
        frozen: &Frozen,
        reports: &[Report],
        matches: &[Match],
        policy: &Policy,
        notes: &mut Vec<Note>,
    ) {
        let mut listed: BTreeMap<&ThreadId, Option<Severity>> = BTreeMap::new();
        for (report, matched) in reports.iter().zip(matches) {
            if let Match::Open(thread) = matched {
                let worst = listed.entry(thread).or_default();
                *worst = (*worst).max(report.finding.severity);
            }
        }
        for id in frozen.threads.keys() {
            let Some(thread) = self.threads.get_mut(id) else { continue };
            if !thread.machine.is_open() {
                notes.push(Note::EndedMeanwhile(id.clone()));
            } else if let Some(&severity) = listed.get(id) {
                thread.worsen_to(severity);
                thread.machine.hold(Stance::SeeksChange, policy);
                notes.push(Note::Relisted(id.clone()));
            } else {
                // Resolving is legal on every open thread (T4).
                let _resolved = thread.machine.act(Stance::Accepts, Action::Resolve, policy);
            }
        }
    }

    /// R2: round 1 is the first cycle a reviewer ever completes on the pull request.
    fn scope(&self, reviewer: &ReviewerName) -> Scope {
        match self.reviewers.get(reviewer).and_then(|record| record.since_last_review.clone()) {
            None => Scope::Everything,
            Some(delta) => Scope::Delta(delta),
        }
    }

    fn open(&mut self, frozen: &Frozen, report: Report) {
        let Report { id, finding } = report;
        let record = self.reviewers.entry(frozen.reviewer.clone()).or_default();
        record.threads.push(id.clone());
        let from_verification = frozen.trigger == Trigger::Verify;
        let thread = Thread::opened(id.clone(), frozen.reviewer.clone(), finding, from_verification);
        self.threads.insert(id, thread);
    }

    /// D4: a finding that a person had is raised again. Only a strictly worse one reaches them.
    fn reach_person(&mut self, report: Report, thread: &ThreadId, notes: &mut Vec<Note>) {
        let Some(known) = self.threads.get_mut(thread) else { return };
        let (report, worse) = (report.id, known.worsen_to(report.finding.severity));
        let thread = thread.clone();
        notes.push(if worse {
            known.machine.worsen();
            Note::Worsened { report, thread }
        } else {
            Note::Suppressed { report, thread }
        });
    }

    fn regress(&mut self, thread: &ThreadId, report: &Report, policy: &Policy, notes: &mut Vec<Note>) {
        let Some(known) = self.threads.get_mut(thread) else { return };
        known.worsen_to(report.finding.severity);
        // A second finding of this answer may overlap the thread that the first has just opened again.
        if known.status() == Status::Resolved(ResolvedBy::Reviewer) {
            notes.push(Note::Regressed(thread.clone(), known.machine.regress(policy)));
        }
    }

    /// V2's two groups: what was there before the cycle and is not settled, and what the cycle opened.
    fn unsettled(&self, reviewer: &ReviewerName, opened: &BTreeSet<ThreadId>) -> Unsettled {
        let own = self.reviewers.get(reviewer).into_iter().flat_map(|record| &record.threads);
        let mut unsettled = Unsettled::default();
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
    fn fail(&mut self, frozen: &Frozen, violations: Vec<Violation>, policy: &Policy) -> CycleOutcome {
        let closed = frozen.attempt > policy.cycle_retries;
        if closed {
            self.close_failed_cycle(&frozen.reviewer, policy);
        } else if let Some(record) = self.reviewers.get_mut(&frozen.reviewer) {
            record.pending = Some(Pending { head: frozen.head.clone(), failures: frozen.attempt });
        }
        CycleOutcome::Failed { violations, closed }
    }

    /// C4: the engine closes the cycle in the reviewer's place.
    fn close_failed_cycle(&mut self, reviewer: &ReviewerName, policy: &Policy) {
        self.cut_off_threads(reviewer, EscalatedBy::ReviewerFailed);
        self.close_cycle(reviewer, policy);
    }

    fn close_cycle(&mut self, reviewer: &ReviewerName, policy: &Policy) {
        let record = self.reviewers.entry(reviewer.clone()).or_default();
        record.completed += 1;
        record.reviewed.insert(self.head.clone());
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

    // People's doing.

    /// R3–R5: a reply in a thread. True where it settled the thread.
    pub fn reply(&mut self, thread: &ThreadId, reply: &Reply) -> Result<bool, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        Ok(reply.is_override() && thread.machine.overridden(reply.intent))
    }

    /// R3: a person re-opened a settled thread on the forge. True where that changed anything.
    pub fn reopened_by_person(&mut self, thread: &ThreadId) -> Result<bool, Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        Ok(thread.machine.reopened_by_person())
    }

    /// T6, T7, H6: a person decides about a thread, or queues it for handoff.
    pub fn person(&mut self, thread: &ThreadId, act: PersonAct) -> Result<(), Refusal> {
        let thread = self.threads.get_mut(thread).ok_or(Refusal::UnknownThread)?;
        match act {
            PersonAct::Decide(decision) => thread.machine.decide(decision)?,
            PersonAct::Queue if thread.handed_off => return Err(Refusal::AlreadyHandedOff),
            PersonAct::Queue if thread.status().is_settled() => return Err(Refusal::AlreadySettled),
            PersonAct::Queue => thread.queued = true,
            PersonAct::Unqueue => thread.queued = false,
        }
        Ok(())
    }

    /// H1: a merge fires what is eligible, each once, and drops what was queued and settled meanwhile.
    /// Nothing where the pull request cannot be merged.
    pub fn merge(&mut self, rules: &HandoffRules) -> Vec<Task> {
        if self.state != PrState::Open {
            return Vec::new();
        }
        self.state = PrState::Merged;
        let tasks = tasks(self.threads.values(), self.author_is_bot, rules);
        for finding in tasks.iter().flat_map(|task| &task.findings) {
            if let Some(thread) = self.threads.get_mut(finding) {
                thread.handed_off = true;
            }
        }
        self.drop_queue();
        tasks
    }

    /// H1: closing discards the queue. False where the pull request is not open.
    pub fn close(&mut self) -> bool {
        let fits = self.state == PrState::Open;
        if fits {
            self.state = PrState::Closed;
            self.drop_queue();
        }
        fits
    }

    /// L6: a reopened pull request starts counting rounds and cycles again, but what was reviewed stays
    /// reviewed (C5). False where it is not closed.
    pub fn reopen(&mut self) -> bool {
        let fits = self.state == PrState::Closed;
        if fits {
            self.state = PrState::Open;
            self.rounds = 0;
            for record in self.reviewers.values_mut() {
                (record.completed, record.calls) = (0, 0);
            }
        }
        fits
    }

    fn drop_queue(&mut self) {
        for thread in self.threads.values_mut() {
            thread.queued = false;
        }
    }
}
