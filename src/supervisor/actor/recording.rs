//! The actor's dealings with the journal: what it learns from it, what it adds to it, and who may.

use super::PullRequestActor;
use crate::domain::diff as unified;
use crate::domain::review_loop::LoopEffect;
use crate::domain::snapshot::{PullRequestSnapshot, PullRequestState};
use crate::github::diff;
use crate::journal::{Acquired, JournalError, RecordFilter};
use crate::supervisor::fact::{DatedFact, Fact};
use crate::supervisor::forge_facts::UnrecordedFact;
use crate::supervisor::view::DriverRole;
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;
use tokio::time::Instant;

impl PullRequestActor {
    /// Records a fact that anybody may, and takes it into account.
    pub(super) async fn record(&mut self, fact: Fact, by: &str, why: &str) -> Result<bool, JournalError> {
        self.add(fact, by, why, false).await
    }

    /// Records a fact that only the driver may. True where it was not known before.
    pub(super) async fn record_held(
        &mut self,
        fact: Fact,
        by: &str,
        why: &str,
    ) -> Result<bool, JournalError> {
        self.add(fact, by, why, true).await
    }

    async fn add(&mut self, fact: Fact, by: &str, why: &str, held: bool) -> Result<bool, JournalError> {
        let at = self.history.no_earlier_than_last(self.setup.clock.now());
        let record = fact.record(at, &self.key, by, why);
        let appended = match (&self.lease, held) {
            (Some(lease), true) => self.setup.journal.append_held(lease, vec![record]).await?,
            // Whoever does not hold the pull request decides nothing about it.
            (None, true) => return Ok(false),
            (_, false) => self.setup.journal.append(vec![record]).await?,
        };
        let mut is_new = false;
        for appended in &appended {
            is_new |= appended.is_new();
            self.history.learn(appended.record());
        }
        if let Some(standing) = &self.standing {
            let snapshot = Arc::clone(&standing.snapshot);
            self.restand(snapshot);
        }
        Ok(is_new)
    }

    /// Takes or keeps the lease, by the database's clock. One that has more than half of its time left is not prolonged:
    /// with hundreds of pull requests, each poll would otherwise write as many times.
    pub(super) async fn hold(&mut self) -> Result<(), JournalError> {
        if self.setup.read_only {
            return Ok(());
        }
        if self.lease.is_some() && self.renew_at.is_some_and(|at| Instant::now() < at) {
            return Ok(());
        }
        let asked_at = Instant::now();
        let acquired =
            self.setup.journal.acquire(&self.key, self.setup.instance.clone(), self.setup.lease).await?;
        match acquired {
            Acquired::Held(lease) => {
                let is_new = self.lease.is_none();
                self.renew_at = Some(asked_at + lease.remaining / 2);
                self.lease = Some(lease);
                if is_new {
                    self.catch_up().await?;
                }
                if self.role != DriverRole::Driver {
                    tracing::info!("this instance drives now");
                }
                self.role = DriverRole::Driver;
            }
            Acquired::Taken(lease) => self.stand_by(lease.holder),
        }
        Ok(())
    }

    /// Whoever begins to drive knows everything that the driver before it recorded, the last moment included, and goes
    /// on with the loop where that one left it.
    async fn catch_up(&mut self) -> Result<(), JournalError> {
        let filter = RecordFilter::about(&self.key);
        let mut is_news = false;
        for record in self.setup.journal.records(filter).await? {
            is_news |= self.history.learn(&record);
        }
        if is_news && let Some(standing) = &self.standing {
            self.restand(Arc::clone(&standing.snapshot));
        }
        if matches!(&self.role, DriverRole::Standby { holder } if !holder.is_empty()) {
            let stored = self.setup.journal.last_snapshot(&self.key).await?;
            self.review_loop = self.obeyed.restore_loop(
                stored.as_ref().and_then(|stored| stored.poll.as_ref()),
                self.history.commands(),
            );
            self.next_at = None;
            if let Some(standing) = self.standing.clone() {
                // What was seen here while the other drove, and that one may not have come to record.
                let before = stored.as_ref().map(|stored| &stored.snapshot);
                self.notice_threads(before, &standing.snapshot, None).await?;
            }
        }
        Ok(())
    }

    pub(super) fn stand_by(&mut self, holder: String) {
        self.lease = None;
        self.role = DriverRole::Standby { holder };
        // Whatever was begun in the belief of being the driver is the new one's to do.
        for (_, task) in std::mem::take(&mut self.thinking) {
            task.abort();
        }
        if let Some(task) = self.author.take() {
            task.abort();
        }
    }

    /// Gives up the lease, so that whoever stands by need not wait for its end.
    pub(super) async fn leave(&mut self) {
        let lease = self.lease.take();
        self.stand_by(String::new());
        if let Some(lease) = lease {
            // The lease ends by itself if it cannot be given back.
            let _ends_by_itself = self.setup.journal.release(&lease).await;
        }
    }

    /// Records what a new snapshot tells and a later one would not: transitions, before anything follows from them.
    pub(super) async fn notice(
        &mut self,
        snapshot: &Arc<PullRequestSnapshot>,
        last_look: Option<Timestamp>,
    ) -> Result<(), JournalError> {
        if self.lease.is_none() {
            // What is kept is the driver's: whoever only looks does not write over it.
            return Ok(());
        }
        let old = self.standing.clone();
        self.notice_threads(old.as_ref().map(|old| &*old.snapshot), snapshot, last_look).await?;
        let reopened_at = snapshot
            .reopened_at
            .filter(|at| snapshot.state == PullRequestState::Open && self.is_after_close(*at));
        if self.standing.as_ref().is_none_or(|old| old.snapshot != *snapshot) {
            // L6: reopening starts the count again, whatever the loop had come to, also for whoever starts from here.
            let begins_anew = reopened_at.is_some();
            let state = if begins_anew { Some(self.obeyed.stored(None)) } else { self.loop_state() };
            self.setup.journal.save_snapshot(self.key.host.clone(), snapshot, state.as_ref()).await?;
        }
        if let Some(reopened_at) = reopened_at {
            if self.is_close_unseen() {
                // It was closed and reopened between two looks.
                self.record_at(reopened_at, Fact::Closed).await?;
            }
            self.record_at(reopened_at, Fact::ReopenedPullRequest).await?;
            self.review_loop = None;
        }
        self.notice_head(snapshot).await?;
        Ok(())
    }

    /// What people did to threads since the look before this one.
    async fn notice_threads(
        &mut self,
        before: Option<&PullRequestSnapshot>,
        snapshot: &PullRequestSnapshot,
        last_look: Option<Timestamp>,
    ) -> Result<(), JournalError> {
        for UnrecordedFact { fact, by, why } in self.history.unrecorded_facts(before, snapshot) {
            if !self.is_known(&fact, last_look) {
                self.record_held(fact, &by, why).await?;
            }
        }
        Ok(())
    }

    fn is_known(&self, fact: &Fact, last_look: Option<Timestamp>) -> bool {
        match fact {
            // Mostly it is settled, and we resolved it on the forge ourselves.
            Fact::ResolvedThere { thread, .. } => {
                let thread =
                    self.standing.as_ref().and_then(|standing| standing.folded.engine.thread(thread));
                thread.is_none_or(|thread| thread.status().is_settled())
            }
            // Whoever opened it again has said so since the last look.
            Fact::Reopened { .. } => self
                .history
                .facts()
                .rev()
                .any(|dated| dated.fact == *fact && last_look.is_some_and(|look| look <= dated.at)),
            _ => false,
        }
    }

    /// The engine follows the head only where somebody is driven: what moved costs a request to find out.
    async fn notice_head(&mut self, snapshot: &PullRequestSnapshot) -> Result<(), JournalError> {
        let driven = self.rules().drive && self.setup.config.reviewers.iter().any(|r| r.adapter.is_some());
        let head = &snapshot.head.sha;
        if !driven || snapshot.state != PullRequestState::Open || self.history.last_head() == Some(head) {
            return Ok(());
        }
        let changes = match self.history.last_head() {
            None => Vec::new(),
            Some(before) => {
                let reader = &self.setup.reader;
                match diff::between(reader.transport(), &snapshot.repository, before, head).await {
                    Ok(text) => unified::read(&text),
                    Err(error) => {
                        // Without it the driven reviewers' threads would lose their places; the next poll asks again.
                        self.trouble = Some(error.to_string());
                        return Ok(());
                    }
                }
            }
        };
        let pushes = self.history.facts().filter(|dated| matches!(dated.fact, Fact::Pushed { .. }));
        let number = u32::try_from(pushes.count()).unwrap_or(u32::MAX);
        let fact = Fact::Pushed { head: head.clone(), changes, number };
        self.record_held(fact, "author", "the head moved").await?;
        Ok(())
    }

    /// Whether the journal knows the pull request, but not that it was closed.
    fn is_close_unseen(&self) -> bool {
        let facts = self.history.facts();
        let turns = |dated: &&DatedFact| matches!(dated.fact, Fact::Closed | Fact::ReopenedPullRequest);
        let mut facts = facts.rev().peekable();
        facts.peek().is_some() && facts.find(turns).is_none_or(|dated| dated.fact != Fact::Closed)
    }

    /// Whether this reopening is news: the last thing the journal says about it is that the pull request was closed.
    fn is_after_close(&self, reopened_at: Timestamp) -> bool {
        let last = self
            .history
            .facts()
            .rev()
            .find(|dated| matches!(dated.fact, Fact::Closed | Fact::ReopenedPullRequest));
        last.is_none_or(|dated| dated.at < reopened_at)
    }

    /// Records something that has a time of its own.
    pub(super) async fn record_at(&mut self, at: Timestamp, fact: Fact) -> Result<(), JournalError> {
        let Some(lease) = &self.lease else { return Ok(()) };
        let record = fact.record(at, &self.key, "forge", "");
        for appended in self.setup.journal.append_held(lease, vec![record]).await? {
            self.history.learn(appended.record());
        }
        // It may be about what was seen before, while another drove.
        if let Some(standing) = &self.standing {
            self.restand(Arc::clone(&standing.snapshot));
        }
        Ok(())
    }

    fn loop_state(&self) -> Option<Value> {
        self.review_loop.as_ref().map(|review_loop| self.obeyed.stored(Some(review_loop)))
    }

    /// Keeps how far the wait has come, so that a restart goes on there.
    pub(super) async fn save_loop(&mut self) -> Result<(), JournalError> {
        match self.loop_state().filter(|_| self.lease.is_some()) {
            Some(state) => self.setup.journal.save_poll(&self.key, &state).await,
            None => Ok(()),
        }
    }

    /// The end of a loop is told once and kept.
    pub(super) async fn announce(&mut self, effect: &LoopEffect) -> Result<(), JournalError> {
        let LoopEffect::Announce(exit) = effect else { return Ok(()) };
        let head = self.standing.as_ref().map(|standing| standing.snapshot.head.sha.clone());
        let begins_anew =
            |dated: &&DatedFact| matches!(dated.fact, Fact::Granted { .. } | Fact::ReopenedPullRequest);
        let ended = Fact::Ended { exit: exit.clone(), head };
        let is_told = {
            let mut since = self.history.facts().rev().take_while(|dated| !begins_anew(dated));
            // What it came to before and left again is told again: the last word is what everybody goes by.
            let last = since.find(|dated| matches!(dated.fact, Fact::Ended { .. }));
            last.is_some_and(|dated| dated.fact == ended)
        };
        if !is_told {
            self.record_held(ended, "engine", &exit.to_string()).await?;
        }
        Ok(())
    }
}
