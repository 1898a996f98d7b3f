//! Who is told, while somebody watches, that a thread starts to wait for a person: once for each time that it gets there.

use crate::config::{Config, Notifications};
use crate::domain::policy::Policy;
use crate::journal::{Journal, PullRequestKey};
use crate::notify::{self, Notice, NotifyError, VERSION, should_notify};
use crate::people::Past;
use crate::people::inbox::{Occasion, waiting};
use crate::people::known::Known;
use crate::supervisor::View;
use std::collections::BTreeSet;
use tokio::task::JoinSet;

/// Compares each look with what was known before.
#[derive(Debug)]
pub struct Teller {
    notifications: Notifications,
    policy: Policy,
    /// Where the reasons of people are.
    reasons: Option<(Journal, PullRequestKey)>,
    /// What was told or was known before; absent before the first look at a pull request that nobody knew.
    known: Option<BTreeSet<Occasion>>,
    telling: JoinSet<Result<Vec<u8>, NotifyError>>,
}

impl Teller {
    /// `before` is what was known of the pull request when the watching began: what waited then is no news. Of one that
    /// nobody knew, the first look is where it begins.
    pub fn new(config: &Config, journal: Journal, about: PullRequestKey, before: Option<&Known>) -> Teller {
        let policy = config.policy.clone();
        let waits = |known: &Known| {
            let waiting = waiting(&known.standing, &known.past, &policy);
            waiting.iter().map(crate::people::inbox::Waiting::occasion).collect()
        };
        let known = before.map(waits);
        let notifications = config.notifications.clone();
        Teller { notifications, policy, reasons: Some((journal, about)), known, telling: JoinSet::new() }
    }

    /// One that tells nobody.
    pub fn silent() -> Teller {
        let (notifications, policy) = (Notifications::default(), Policy::default());
        Teller { notifications, policy, reasons: None, known: None, telling: JoinSet::new() }
    }

    /// Begins to tell of what is new.
    pub(super) async fn look(&mut self, view: &View) {
        let Some(standing) = &view.standing else { return };
        // Why somebody decided is nice to have, and telling does not wait for a journal that is in trouble.
        let past = match &self.reasons {
            Some((journal, about)) => Past::load(journal, about).await.unwrap_or_default(),
            None => Past::default(),
        };
        let waiting = waiting(standing, &past, &self.policy);
        let Some(known) = &mut self.known else {
            self.known = Some(waiting.iter().map(crate::people::inbox::Waiting::occasion).collect());
            return;
        };
        for waiting in waiting {
            let occasion = waiting.occasion();
            let severity = waiting.shown.thread.finding.severity;
            let is_news = known.insert(occasion.clone()) && occasion.is_news();
            if !is_news || !should_notify(&self.notifications, severity) {
                continue;
            }
            let notice = Notice {
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
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, NotifyError> {
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
    pub(super) async fn rest(&mut self) -> Vec<Result<Vec<u8>, NotifyError>> {
        let mut rest = Vec::new();
        while let Some(told) = self.telling.join_next().await {
            rest.extend(told.ok());
        }
        rest
    }
}
