//! One poll for all loops at once, as the hub sees it: what it finds on the way, and how it ended.

use super::clock::Working;
use super::view::{Trouble, TroubleKind};
use crate::github::poll::{PollReport, Sighting};
use crate::github::{Client, Error, Poller, PullRequestAddress};
use jiff::Timestamp;
use std::collections::BTreeSet;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

/// A poll that has come back.
pub(super) struct Polled {
    pub(super) poller: Poller<Client>,
    pub(super) report: PollReport,
    /// Until everybody was told.
    pub(super) working: Working,
}

/// A poll under way. It ends with whoever waits for it.
pub(super) struct Polling {
    pub(super) began: Timestamp,
    task: JoinHandle<Box<Polled>>,
    /// What it has found so far and nobody was told yet. Each goes its way at once: hundreds of pull requests are not kept
    /// until the last was read, nor does anybody wait for it.
    sightings: mpsc::UnboundedReceiver<Sighting>,
    /// Who was told something.
    pub(super) told: BTreeSet<PullRequestAddress>,
    /// What failed everybody so far; none once anybody was seen.
    failed: Option<Error>,
    anybody_seen: bool,
}

/// What comes of a poll.
pub(super) enum Progress {
    Sighted(Sighting),
    Ended(Result<Box<Polled>, JoinError>),
}

impl Polling {
    pub(super) fn begin(mut poller: Poller<Client>, began: Timestamp, working: Working) -> Polling {
        let (found, sightings) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let tell = |sighting| {
                // With nobody left to tell, this poll is about to be ended, too.
                let _ended = found.send(sighting);
            };
            let report = poller.poll(began, tell).await;
            Box::new(Polled { poller, report, working })
        });
        Polling { began, task, sightings, told: BTreeSet::new(), failed: None, anybody_seen: false }
    }

    pub(super) fn note(&mut self, sighting: &Sighting) {
        match sighting {
            Sighting::Failed(_, error) => self.failed = self.failed.take().or_else(|| Some(error.clone())),
            Sighting::Read { .. } | Sighting::Gone(_) => self.anybody_seen = true,
        }
    }

    pub(super) async fn progress(polling: &mut Option<Polling>) -> Progress {
        let Some(Polling { task, sightings, .. }) = polling else { return std::future::pending().await };
        tokio::select! {
            biased;
            Some(sighting) = sightings.recv() => Progress::Sighted(sighting),
            ended = task => Progress::Ended(ended),
        }
    }

    /// What kept a poll from seeing anything at all. One that saw something has failed nobody but those it tells so.
    pub(super) fn failure(&self, watched: usize) -> Option<Trouble> {
        let error = self.failed.as_ref().filter(|_| !self.anybody_seen && self.told.len() >= watched)?;
        let refused = matches!(error, Error::Unauthorised { .. } | Error::Denied { .. });
        let kind = if refused { TroubleKind::Refused } else { TroubleKind::OutOfReach };
        Some(Trouble { kind, why: error.to_string(), since: self.began, until: None })
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        self.task.abort();
    }
}
