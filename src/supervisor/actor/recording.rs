//! The records that the actor adds to the journal.

use super::PullRequestActor;
use crate::domain::diff as unified;
use crate::domain::observed::RaisedAgain;
use crate::domain::review_loop::Exit;
use crate::domain::snapshot::{PullRequestSnapshot, PullRequestState};
use crate::domain::vocabulary::{ReviewerName, ThreadId};
use crate::github::diff;
use crate::journal::JournalError;
use crate::supervisor::adoption;
use crate::supervisor::computed_state::{ComputedState, UnreadableReview};
use crate::supervisor::fact::{DatedFact, Fact};
use crate::supervisor::forge_facts::UnrecordedFact;
use jiff::Timestamp;
use std::sync::Arc;

impl PullRequestActor {
    /// Records a fact that any instance may record, and takes it into account. Returns true if it is new.
    pub(super) async fn record(&mut self, fact: Fact, by: &str, why: &str) -> Result<bool, JournalError> {
        self.append(fact, by, why, false).await
    }

    /// Records a fact that only the driver may record. Returns true if it is new.
    pub(super) async fn record_held(
        &mut self,
        fact: Fact,
        by: &str,
        why: &str,
    ) -> Result<bool, JournalError> {
        self.append(fact, by, why, true).await
    }

    async fn append(&mut self, fact: Fact, by: &str, why: &str, held: bool) -> Result<bool, JournalError> {
        let at = self.history.no_earlier_than_last(self.context.clock.now());
        let record = fact.record(at, &self.key, by, why);
        let appended = match (self.lease.held(), held) {
            (Some(lease), true) => self.context.journal.append_held(lease, vec![record]).await?,
            // An instance without the lease decides nothing about the pull request.
            (None, true) => return Ok(false),
            (_, false) => self.context.journal.append(vec![record]).await?,
        };
        let mut is_new = false;
        for appended in &appended {
            is_new |= appended.is_new();
            self.history.learn(appended.record());
        }
        self.recompute_latest();
        Ok(is_new)
    }

    /// The driver first records changes that only this snapshot shows, before anything follows from them.
    pub(super) async fn record_transitions(
        &mut self,
        snapshot: &Arc<PullRequestSnapshot>,
    ) -> Result<(), JournalError> {
        if self.lease.held().is_none() {
            // The stored snapshot is the driver's: an instance on standby does not overwrite it.
            return Ok(());
        }
        let old = self.latest.snapshot().cloned();
        // First, because people may have replied in such a thread.
        self.adopt_threads(snapshot).await?;
        self.record_thread_changes(old.as_deref(), snapshot).await?;
        let reopened_at = snapshot
            .reopened_at
            .filter(|at| snapshot.state == PullRequestState::Open && self.is_after_close(*at));
        if self.latest.snapshot().is_none_or(|old| old != snapshot) {
            let state = self.progress.stored();
            self.context.journal.save_snapshot(self.key.host.clone(), snapshot, Some(&state)).await?;
        }
        if let Some(reopened_at) = reopened_at {
            if self.was_close_missed() {
                // The pull request was closed and reopened between two polls.
                self.record_at(reopened_at, Fact::Closed).await?;
            }
            let resets = self.is_reopened_by_someone_who_may(snapshot);
            self.record_at(reopened_at, Fact::ReopenedPullRequest { resets }).await?;
        }
        self.record_push(snapshot).await?;
        self.adopt_threads(snapshot).await
    }

    /// Adopts the driven reviewers' threads that Cloture posted with another journal. GitHub gives their lines
    /// at this head, so the engine must be there, too.
    async fn adopt_threads(&mut self, snapshot: &PullRequestSnapshot) -> Result<(), JournalError> {
        let is_here = self.history.last_head().is_none_or(|head| *head == snapshot.head.sha);
        // H1: a merge hands their findings off, too.
        let is_open = match snapshot.state {
            PullRequestState::Open => true,
            PullRequestState::Merged => self.history.merged().is_none(),
            PullRequestState::Closed => false,
        };
        if !is_here || !is_open || !self.rules().drive {
            return Ok(());
        }
        let config = Arc::clone(&self.context.config);
        let driven = config.reviewers.iter().filter(|reviewer| reviewer.adapter.is_some());
        let reviewers: Vec<&ReviewerName> = driven.map(|reviewer| &reviewer.name).collect();
        let computed = self.latest.computed.clone();
        let replayed = computed.is_none().then(|| self.history.replay(snapshot, &config));
        let folded = computed.as_ref().map(|computed| &computed.folded).or(replayed.as_ref());
        let is_known = |id: &ThreadId| folded.is_some_and(|folded| folded.engine.thread(id).is_some());
        for fact in adoption::unknown_threads(snapshot, &reviewers, is_known) {
            self.record_held(fact, "engine", "it was posted with another journal").await?;
        }
        Ok(())
    }

    /// Records people's acts on threads since the snapshot before this one.
    pub(super) async fn record_thread_changes(
        &mut self,
        before: Option<&PullRequestSnapshot>,
        snapshot: &PullRequestSnapshot,
    ) -> Result<(), JournalError> {
        let unrecorded = self.history.unrecorded_facts(before, snapshot, &self.rules());
        for UnrecordedFact { fact, by, why } in unrecorded {
            let Some(lease) = self.lease.held() else { return Ok(()) };
            let at = self.history.thread_event_time(snapshot);
            let record = fact.record(at, &self.key, &by, why);
            for appended in self.context.journal.append_held(lease, vec![record]).await? {
                self.history.learn(appended.record());
            }
            self.recompute_latest();
        }
        Ok(())
    }

    /// D4, D5: records which threads the driver is about to open again. GitHub does not say afterwards that they
    /// were resolved when their finding was raised again.
    pub(super) async fn record_raised_again(&mut self, computed: &ComputedState) -> Result<(), JournalError> {
        if !self.drives() {
            return Ok(());
        }
        for shown in computed.threads() {
            let Some(RaisedAgain { by, resolved_by_person }) = shown.raised_again.cloned() else { continue };
            let fact = Fact::RaisedAgain { thread: shown.id().clone(), by, resolved_by_person };
            let is_recorded = |dated: &DatedFact| match (&dated.fact, &fact) {
                (
                    Fact::RaisedAgain { thread, by, .. },
                    Fact::RaisedAgain { thread: other, by: again, .. },
                ) => (thread, by) == (other, again),
                _ => false,
            };
            let Some(lease) = self.lease.held() else { return Ok(()) };
            if self.history.facts().any(is_recorded) {
                continue;
            }
            let at = self.history.thread_event_time(&computed.snapshot);
            let reviewer = shown.thread.reviewer.as_str();
            let why = "it was resolved, and its reviewer raised it again";
            let record = fact.record(at, &self.key, reviewer, why);
            for appended in self.context.journal.append_held(lease, vec![record]).await? {
                self.history.learn(appended.record());
            }
            self.recompute_latest();
        }
        Ok(())
    }

    /// L3: records each unreadable post once, and again after an edit.
    pub(super) async fn record_unreadable_posts(&mut self) -> Result<(), JournalError> {
        let computed = self.latest.computed.as_ref();
        let posts = computed.map(|computed| computed.unreadable()).unwrap_or_default();
        for UnreadableReview { reviewer, url, written_at, reason, start } in posts {
            let by = reviewer.to_string();
            let start = self.context.writer.secrets().redacted(&start).into_owned();
            let fact = Fact::UnreadablePost { reviewer, url, written_at, reason: reason.clone(), start };
            if !self.history.facts().any(|dated| dated.fact == fact) {
                self.record_held(fact, &by, &reason).await?;
            }
        }
        Ok(())
    }

    /// Records a new head and its changes. Only driven reviewers need them, and reading them costs a request.
    async fn record_push(&mut self, snapshot: &PullRequestSnapshot) -> Result<(), JournalError> {
        let driven = self.rules().drive && self.context.config.reviewers.iter().any(|r| r.adapter.is_some());
        let head = &snapshot.head.sha;
        if !driven || snapshot.state != PullRequestState::Open || self.history.last_head() == Some(head) {
            return Ok(());
        }
        let (mut changes, mut unseen, mut why) = (Vec::new(), false, "the head moved".to_owned());
        if let Some(before) = self.history.last_head() {
            let context = Arc::clone(&self.context);
            let reading = diff::between(context.reader.transport(), &snapshot.repository, before, head);
            match self.lease.renewed_during(&context.journal, context.lease, reading).await {
                Ok(text) => changes = unified::read(&text),
                // Waiting does not help. The reviewers get the whole pull request (R2).
                Err(error) if diff::is_not_shown(&error) => {
                    unseen = true;
                    why = format!("{why}, and GitHub does not show what changed: {}", error.event());
                }
                Err(error) => {
                    // Without the diff, the driven reviewers' threads would lose their lines. The next
                    // poll retries.
                    self.problems.trouble = Some(error.to_string());
                    return Ok(());
                }
            }
        }
        let pushes = self.history.facts().filter(|dated| matches!(dated.fact, Fact::Pushed { .. }));
        let number = u32::try_from(pushes.count()).unwrap_or(u32::MAX);
        let fact = Fact::Pushed { head: head.clone(), changes, number, unseen };
        self.record_held(fact, "author", &why).await?;
        Ok(())
    }

    /// Whether the journal knows the pull request, but not that it was closed.
    fn was_close_missed(&self) -> bool {
        let has_facts = self.history.facts().next().is_some();
        has_facts && self.last_close_or_reopening().is_none_or(|dated| dated.fact != Fact::Closed)
    }

    /// Whether this reopening is newer than the last close or reopening in the journal.
    fn is_after_close(&self, reopened_at: Timestamp) -> bool {
        self.last_close_or_reopening().is_none_or(|dated| dated.at < reopened_at)
    }

    fn last_close_or_reopening(&self) -> Option<&DatedFact> {
        let mut facts = self.history.facts().rev();
        facts.find(|dated| matches!(dated.fact, Fact::Closed | Fact::ReopenedPullRequest { .. }))
    }

    /// L6: whether somebody who may override reopened the pull request since the last reopening in the journal.
    /// Several reopenings may be between two polls.
    fn is_reopened_by_someone_who_may(&self, snapshot: &PullRequestSnapshot) -> bool {
        let mut facts = self.history.facts().rev();
        let last = facts.find(|dated| matches!(dated.fact, Fact::ReopenedPullRequest { .. }));
        snapshot.counts_from.is_some_and(|at| last.is_none_or(|last| last.at < at))
    }

    /// Records a fact of the forge with the forge's own time.
    pub(super) async fn record_at(&mut self, at: Timestamp, fact: Fact) -> Result<(), JournalError> {
        let Some(lease) = self.lease.held() else { return Ok(()) };
        let record = fact.record(at, &self.key, "forge", "");
        for appended in self.context.journal.append_held(lease, vec![record]).await? {
            self.history.learn(appended.record());
        }
        self.recompute_latest();
        Ok(())
    }

    /// Stores how far the wait has come, so that a restart continues there.
    pub(super) async fn save_loop(&mut self) -> Result<(), JournalError> {
        if self.lease.held().is_none() {
            return Ok(());
        }
        self.context.journal.save_poll(&self.key, &self.progress.stored()).await
    }

    /// Records the end of a loop, once.
    pub(super) async fn announce(&mut self, exit: &Exit) -> Result<(), JournalError> {
        let head = self.latest.snapshot().map(|snapshot| snapshot.head.sha.clone());
        let begins_anew = |dated: &&DatedFact| {
            matches!(dated.fact, Fact::Granted { .. } | Fact::ReopenedPullRequest { .. })
        };
        let ended = Fact::Ended { exit: exit.clone(), head };
        let is_recorded = {
            let mut since = self.history.facts().rev().take_while(|dated| !begins_anew(dated));
            // An end that the loop had left again is recorded again: the last record is the one that holds.
            let last = since.find(|dated| matches!(dated.fact, Fact::Ended { .. }));
            last.is_some_and(|dated| dated.fact == ended)
        };
        if !is_recorded {
            self.record_held(ended, "engine", &exit.to_string()).await?;
        }
        Ok(())
    }
}
