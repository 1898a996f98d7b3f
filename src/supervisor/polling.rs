//! One poll for all loops at once, as the hub sees it: what it finds on the way, and how it ended.

use super::clock::WorkGuard;
use super::view::{SupervisorProblem, SupervisorProblemKind};
use crate::github::poll::{PollEvent, PollReport};
use crate::github::{Client, Error, Poller, PullRequestAddress};
use jiff::Timestamp;
use std::collections::BTreeSet;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

/// A poll that has come back.
pub(super) struct FinishedPoll {
    pub(super) poller: Poller<Client>,
    pub(super) report: PollReport,
    /// Until everybody was told.
    pub(super) working: WorkGuard,
}

/// A poll under way. It ends with whoever waits for it.
pub(super) struct RunningPoll {
    pub(super) began: Timestamp,
    task: JoinHandle<Box<FinishedPoll>>,
    /// What it has found so far and nobody was told yet. Each goes its way at once: hundreds of pull requests are not kept
    /// until the last was read, nor does anybody wait for it.
    sightings: mpsc::UnboundedReceiver<PollEvent>,
    /// Who was told something.
    pub(super) told: BTreeSet<PullRequestAddress>,
    /// What failed everybody so far; none once anybody was seen.
    failed: Option<Error>,
    anybody_seen: bool,
}

/// What comes of a poll.
pub(super) enum PollProgress {
    Sighted(PollEvent),
    Ended(Result<Box<FinishedPoll>, JoinError>),
}

impl RunningPoll {
    pub(super) fn begin(mut poller: Poller<Client>, began: Timestamp, working: WorkGuard) -> RunningPoll {
        let (found, sightings) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let tell = |sighting| {
                // With nobody left to tell, this poll is about to be ended, too.
                let _ended = found.send(sighting);
            };
            let report = poller.poll(began, tell).await;
            Box::new(FinishedPoll { poller, report, working })
        });
        RunningPoll { began, task, sightings, told: BTreeSet::new(), failed: None, anybody_seen: false }
    }

    pub(super) fn note(&mut self, sighting: &PollEvent) {
        match sighting {
            PollEvent::Failed(_, error) => self.failed = self.failed.take().or_else(|| Some(error.clone())),
            PollEvent::Read { .. } | PollEvent::Gone(_) => self.anybody_seen = true,
        }
    }

    pub(super) async fn progress(polling: &mut Option<RunningPoll>) -> PollProgress {
        let Some(RunningPoll { task, sightings, .. }) = polling else { return std::future::pending().await };
        tokio::select! {
            biased;
            Some(sighting) = sightings.recv() => PollProgress::Sighted(sighting),
            ended = task => PollProgress::Ended(ended),
        }
    }

    /// What kept a poll from seeing anything at all. One that saw something has failed nobody but those it tells so.
    pub(super) fn failure(&self, watched: usize) -> Option<SupervisorProblem> {
        let error = self.failed.as_ref().filter(|_| !self.anybody_seen && self.told.len() >= watched)?;
        let refused = matches!(error, Error::Unauthorised { .. } | Error::Denied { .. });
        let kind = if refused { SupervisorProblemKind::Refused } else { SupervisorProblemKind::OutOfReach };
        Some(SupervisorProblem { kind, why: error.to_string(), since: self.began, until: None })
    }
}

impl Drop for RunningPoll {
    fn drop(&mut self) {
        self.task.abort();
    }
}
