//! One poll for all loops at once: its events while it runs, and its end.

use super::clock::WorkGuard;
use super::view::{SupervisorProblem, SupervisorProblemKind};
use crate::github::poll::{PollEvent, PollReport};
use crate::github::{Client, Error, Poller, PullRequestAddress};
use jiff::Timestamp;
use std::collections::BTreeSet;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

/// A poll that has ended.
pub(super) struct FinishedPoll {
    pub(super) poller: Poller<Client>,
    pub(super) report: PollReport,
    /// Dropped once all loops are woken.
    pub(super) working: WorkGuard,
}

/// Why the hub polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollCause {
    /// The interval has passed, so this poll is an attempt of every wait (L2).
    Schedule,
    /// Somebody asked for it: a person, or a pull request that was not polled yet. It costs no attempt (L10).
    Request,
}

/// A poll under way. Dropping it ends it.
pub(super) struct RunningPoll {
    pub(super) began: Timestamp,
    pub(super) cause: PollCause,
    task: JoinHandle<Box<FinishedPoll>>,
    /// Each event wakes its loop at once: hundreds of snapshots need not wait in memory for the last one.
    events: mpsc::UnboundedReceiver<PollEvent>,
    /// The pull requests whose loop was woken.
    pub(super) reported: BTreeSet<PullRequestAddress>,
    /// The first error.
    failed: Option<Error>,
    has_read_any: bool,
}

/// The next step of a poll.
pub(super) enum PollProgress {
    Event(PollEvent),
    Ended(Result<Box<FinishedPoll>, JoinError>),
}

impl RunningPoll {
    pub(super) fn begin(
        mut poller: Poller<Client>,
        cause: PollCause,
        began: Timestamp,
        working: WorkGuard,
    ) -> RunningPoll {
        let (sender, events) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let report_event = |event| {
                // If the hub has dropped the receiver, it is about to end this poll as well.
                let _ended = sender.send(event);
            };
            let report = poller.poll(began, report_event).await;
            Box::new(FinishedPoll { poller, report, working })
        });
        let reported = BTreeSet::new();
        RunningPoll { began, cause, task, events, reported, failed: None, has_read_any: false }
    }

    pub(super) fn note(&mut self, event: &PollEvent) {
        match event {
            PollEvent::Failed(_, error) => self.failed = self.failed.take().or_else(|| Some(error.clone())),
            PollEvent::Read { .. } | PollEvent::Gone(_) => self.has_read_any = true,
        }
    }

    pub(super) async fn progress(polling: &mut Option<RunningPoll>) -> PollProgress {
        let Some(RunningPoll { task, events, .. }) = polling else { return std::future::pending().await };
        tokio::select! {
            biased;
            Some(event) = events.recv() => PollProgress::Event(event),
            ended = task => PollProgress::Ended(ended),
        }
    }

    /// The problem of a poll that read nothing at all. If it read anything, its errors concern single pull
    /// requests only.
    pub(super) fn failure(&self, watched: usize) -> Option<SupervisorProblem> {
        let error = self.failed.as_ref().filter(|_| !self.has_read_any && self.reported.len() >= watched)?;
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
