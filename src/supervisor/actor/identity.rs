//! Which pull request this is (L13). The journal files it by GitHub's id of the repository, so its history
//! goes on when the repository is renamed or transferred.

use super::PullRequestActor;
use super::latest::LatestReading;
use super::lease::DriverLease;
use super::turns::LoopProgress;
use crate::domain::snapshot::{KnownNames, PullRequestSnapshot, RepositoryName};
use crate::journal::{JournalError, PullRequestKey};
use crate::supervisor::history::History;
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// The repository that the last reading showed, and its names.
#[derive(Debug)]
pub(super) struct KnownIdentity {
    repository_id: String,
    /// In GitHub's spelling.
    name: String,
    names: KnownNames,
}

impl PullRequestActor {
    /// Adds the repository's names to a snapshot. The first reading, and a reading after a rename, ask the
    /// journal for them.
    pub(super) async fn identified(
        &mut self,
        mut snapshot: Arc<PullRequestSnapshot>,
    ) -> Result<Arc<PullRequestSnapshot>, JournalError> {
        let read = Arc::make_mut(&mut snapshot);
        let (repository_id, name) = (read.repository_id.clone(), read.repository.to_string());
        let known = self.identity.as_ref();
        if let Some(known) = known.filter(|known| known.repository_id == repository_id && known.name == name)
        {
            read.known_as = known.names.clone();
            return Ok(snapshot);
        }
        let (journal, host) = (&self.context.journal, &self.context.host);
        let key = if self.context.read_only {
            // An instance that only watches needs no journal to show what GitHub says.
            let Ok(known) = journal.repositories().await else { return Ok(snapshot) };
            known.recognise(host, read)
        } else {
            journal.identify(host, read).await?
        };
        let names = read.known_as.clone();
        if key != self.key {
            self.adopt(&key).await?;
        }
        // The same key may have another spelling.
        self.key = key;
        self.identity = Some(KnownIdentity { repository_id, name, names });
        Ok(snapshot)
    }

    /// Continues from the history of another key: GitHub's answer showed that this name is another
    /// repository's than the journal knew.
    async fn adopt(&mut self, key: &PullRequestKey) -> Result<(), JournalError> {
        tracing::info!(filed_as = %key, "continuing under another name of the repository");
        let context = Arc::clone(&self.context);
        let history = History::load(&context.journal, key).await?;
        let stored = context.journal.last_snapshot(key).await?;
        if let Some(lease) = self.lease.held() {
            context.journal.release(lease).await?;
        }
        self.lease = DriverLease::new(context.read_only);
        self.history = history;
        self.latest = LatestReading::default();
        self.progress = LoopProgress::default();
        if let Some(stored) = stored {
            let age = SignedDuration::try_from(stored.age).unwrap_or(SignedDuration::ZERO);
            let seen_at = context.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN);
            self.latest = LatestReading::stored(Arc::new(stored.snapshot), seen_at);
            self.progress.restore(stored.poll.as_ref(), &self.history);
        }
        if context.fresh {
            self.progress.start_again(&self.history, &self.context.config.policy);
        }
        if let Some(snapshot) = self.latest.take_stored() {
            self.recompute(snapshot);
        }
        Ok(())
    }

    /// Every name under which the configuration may mention the repository, the present one first.
    pub(super) fn names<'a>(
        &'a self,
        snapshot: Option<&'a Arc<PullRequestSnapshot>>,
    ) -> impl Iterator<Item = &'a RepositoryName> {
        let names = snapshot.into_iter().flat_map(|snapshot| snapshot.names());
        names.chain(std::iter::once(&self.address.repository))
    }
}
