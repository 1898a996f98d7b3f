//! Notifies the user when a thread starts to wait for a person, once per arrival in the inbox.

use super::inbox::{self, InboxArrival, waiting};
use super::stored::StoredPullRequest;
use crate::agents::notify::{self, Notification, NotifyError, VERSION, should_notify};
use crate::config::{Config, NotificationConfig, NotifyWhen};
use crate::domain::policy::Policy;
use crate::supervisor::PullRequestView;
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::JoinSet;

/// Compares each view with the arrivals it knows.
#[derive(Debug)]
pub struct InboxNotifier {
    notifications: NotificationConfig,
    policy: Policy,
    /// Arrivals that are no news, by the pull request's id. The first view of a pull request only fills this.
    known_arrivals: BTreeMap<String, BTreeSet<InboxArrival>>,
    running: JoinSet<Result<Vec<u8>, NotifyError>>,
}

impl InboxNotifier {
    pub fn new(config: &Config) -> InboxNotifier {
        let (notifications, policy) = (config.notifications.clone(), config.policy.clone());
        InboxNotifier { notifications, policy, ..InboxNotifier::disabled() }
    }

    /// A notifier that never notifies.
    pub fn disabled() -> InboxNotifier {
        InboxNotifier {
            notifications: NotificationConfig::default(),
            policy: Policy::default(),
            known_arrivals: BTreeMap::new(),
            running: JoinSet::new(),
        }
    }

    /// Threads that waited before the start are no news.
    pub fn seed(&mut self, stored: &StoredPullRequest) {
        let waiting = waiting(&stored.computed, &self.policy);
        let arrivals = waiting.iter().map(inbox::InboxThread::arrival).collect();
        self.known_arrivals.insert(stored.computed.snapshot.node_id.clone(), arrivals);
    }

    /// Whether the configuration asks for notifications.
    pub fn is_enabled(&self) -> bool {
        self.notifications.when != NotifyWhen::Never
    }

    /// Starts a notification for each new arrival.
    pub fn notify_arrivals(&mut self, view: &PullRequestView) {
        let Some(computed) = &view.computed else { return };
        let node_id = &computed.snapshot.node_id;
        let was_tracked = self.known_arrivals.contains_key(node_id);
        let known = self.known_arrivals.entry(node_id.clone()).or_default();
        for waiting in waiting(computed, &self.policy) {
            let arrival = waiting.arrival();
            let severity = waiting.shown.thread.finding.severity;
            let is_news = known.insert(arrival.clone()) && was_tracked && arrival.is_news();
            if !is_news || !should_notify(&self.notifications, severity) {
                continue;
            }
            let notice = Notification {
                notification: VERSION,
                pull_request: view.name().to_string(),
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
