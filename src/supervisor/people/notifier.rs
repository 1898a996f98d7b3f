//! Who is told, while somebody watches, that a thread starts to wait for a person: once for each time that it gets there.

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

/// Compares each look with what was known before.
#[derive(Debug)]
pub struct InboxNotifier {
    notifications: NotificationConfig,
    policy: Policy,
    /// Where the reasons of people are, and the host that they are about.
    reasons: Option<(Journal, String)>,
    /// What was told or was known before. Of a pull request that nobody knew, the first look is where it begins.
    known: BTreeMap<PullRequestAddress, BTreeSet<InboxArrival>>,
    telling: JoinSet<Result<Vec<u8>, NotifyError>>,
}

impl InboxNotifier {
    pub fn new(config: &Config, journal: Journal, host: String) -> InboxNotifier {
        let (notifications, policy) = (config.notifications.clone(), config.policy.clone());
        InboxNotifier { notifications, policy, reasons: Some((journal, host)), ..InboxNotifier::silent() }
    }

    /// One that tells nobody.
    pub fn silent() -> InboxNotifier {
        InboxNotifier {
            notifications: NotificationConfig::default(),
            policy: Policy::default(),
            reasons: None,
            known: BTreeMap::new(),
            telling: JoinSet::new(),
        }
    }

    /// What waited when the watching began is no news.
    pub fn know(&mut self, known: &StoredPullRequest) {
        let PullRequestKey { repository, number, .. } = known.about.clone();
        let waiting = waiting(&known.standing, &known.history, &self.policy);
        let occasions = waiting.iter().map(inbox::InboxThread::occasion).collect();
        self.known.insert(PullRequestAddress { repository, number }, occasions);
    }

    /// Whether anybody wants to be told anything.
    pub fn is_wanted(&self) -> bool {
        self.notifications.when != NotifyWhen::Never
    }

    /// Begins to tell of what is new.
    pub async fn look(&mut self, view: &PullRequestView) {
        let Some(standing) = &view.standing else { return };
        let known_before = self.known.contains_key(&view.address);
        let known = self.known.entry(view.address.clone()).or_default();
        if !standing.threads().iter().any(inbox::waits) {
            return;
        }
        // Why somebody decided is nice to have, and telling does not wait for a journal that is in trouble.
        let history = match &self.reasons {
            Some((journal, host)) => {
                let PullRequestAddress { repository, number } = view.address.clone();
                let about = PullRequestKey { host: host.clone(), repository, number };
                History::load(journal, &about).await.unwrap_or_default()
            }
            None => History::default(),
        };
        for waiting in waiting(standing, &history, &self.policy) {
            let occasion = waiting.occasion();
            let severity = waiting.shown.thread.finding.severity;
            let is_news = known.insert(occasion.clone()) && known_before && occasion.is_news();
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
            self.telling.spawn(async move { notify::notify(&how, &notice).await });
        }
    }

    /// What came of the next one; waits for ever where none is under way.
    pub async fn next(&mut self) -> Result<Vec<u8>, NotifyError> {
        loop {
            match self.telling.join_next().await {
                Some(Ok(told)) => return told,
                // One that was ended has nothing to say.
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }

    /// Waits for all that are under way; each has a time limit of its own.
    pub async fn rest(&mut self) -> Vec<Result<Vec<u8>, NotifyError>> {
        let mut rest = Vec::new();
        while let Some(told) = self.telling.join_next().await {
            rest.extend(told.ok());
        }
        rest
    }
}
