//! Notifies the user when a thread starts to wait for a person, once per arrival in the inbox.

use super::inbox::{self, InboxArrival, waiting};
use super::stored::StoredPullRequest;
use crate::agents::notify::{self, Notification, NotifyError, VERSION, should_notify};
use crate::config::{Config, NotificationConfig, NotifyWhen};
use crate::domain::policy::Policy;
use crate::github::PullRequestAddress;
use crate::journal::{Journal, PullRequestKey};
use crate::supervisor::PullRequestView;
use crate::supervisor::history::History;
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::JoinSet;

/// Compares each view with the arrivals it knows.
#[derive(Debug)]
pub struct InboxNotifier {
    notifications: NotificationConfig,
    policy: Policy,
    /// The journal with people's reasons, and the host of its pull requests.
    reasons: Option<(Journal, String)>,
    /// Arrivals that are no news. The first view of a pull request only fills this.
    known_arrivals: BTreeMap<PullRequestAddress, BTreeSet<InboxArrival>>,
    running: JoinSet<Result<Vec<u8>, NotifyError>>,
}

impl InboxNotifier {
    pub fn new(config: &Config, journal: Journal, host: String) -> InboxNotifier {
        let (notifications, policy) = (config.notifications.clone(), config.policy.clone());
        InboxNotifier { notifications, policy, reasons: Some((journal, host)), ..InboxNotifier::disabled() }
    }

    /// A notifier that never notifies.
    pub fn disabled() -> InboxNotifier {
        InboxNotifier {
            notifications: NotificationConfig::default(),
            policy: Policy::default(),
            reasons: None,
            known_arrivals: BTreeMap::new(),
            running: JoinSet::new(),
        }
    }

    /// Threads that waited before the start are no news.
    pub fn seed(&mut self, stored: &StoredPullRequest) {
        let PullRequestKey { repository, number, .. } = stored.about.clone();
        let waiting = waiting(&stored.computed, &stored.history, &self.policy);
        let arrivals = waiting.iter().map(inbox::InboxThread::arrival).collect();
        self.known_arrivals.insert(PullRequestAddress { repository, number }, arrivals);
    }

    /// Whether the configuration asks for notifications.
    pub fn is_enabled(&self) -> bool {
        self.notifications.when != NotifyWhen::Never
    }

    /// Starts a notification for each new arrival.
    pub async fn notify_arrivals(&mut self, view: &PullRequestView) {
        let Some(computed) = &view.computed else { return };
        let was_tracked = self.known_arrivals.contains_key(&view.address);
        let known = self.known_arrivals.entry(view.address.clone()).or_default();
        if !computed.threads().iter().any(inbox::waits) {
            return;
        }
        // The reason of a decision is optional: a notification does not wait for a failing journal.
        let history = match &self.reasons {
            Some((journal, host)) => {
                let PullRequestAddress { repository, number } = view.address.clone();
                let about = PullRequestKey { host: host.clone(), repository, number };
                History::load(journal, &about).await.unwrap_or_default()
            }
            None => History::default(),
        };
        for waiting in waiting(computed, &history, &self.policy) {
            let arrival = waiting.arrival();
            let severity = waiting.shown.thread.finding.severity;
            let is_news = known.insert(arrival.clone()) && was_tracked && arrival.is_news();
            if !is_news || !should_notify(&self.notifications, severity) {
                continue;
            }
            let notice = Notification {
                notification: VERSION,
                pull_request: view.address.to_string(),
                title: waiting.shown.thread.finding.title.to_string(),
                reason: waiting.why,
                severity,
                url: waiting.shown.url().map(ToOwned::to_owned),
            };
            let how = self.notifications.how.clone();
            self.running.spawn(async move { notify::notify(&how, &notice).await });
        }
    }

    /// The result of the next notification; waits for ever if none is under way.
    pub async fn next(&mut self) -> Result<Vec<u8>, NotifyError> {
        loop {
            match self.running.join_next().await {
                Some(Ok(result)) => return result,
                // An aborted notification has no result.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Waits for all notifications under way; each has a time limit of its own.
    pub async fn rest(&mut self) -> Vec<Result<Vec<u8>, NotifyError>> {
        let mut rest = Vec::new();
        while let Some(result) = self.running.join_next().await {
            rest.extend(result.ok());
        }
        rest
    }
}
