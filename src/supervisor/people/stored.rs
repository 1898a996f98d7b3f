//! The pull requests in the journal, computed from their last snapshots without a request to GitHub.

use crate::config::Config;
use crate::domain::post::PostReader;
use crate::domain::review_loop::Exit;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::failure::{Failure, FailureKind};
use crate::github::{PullRequestAddress, Reader, Transport};
use crate::journal::{
    Journal, JournalError, NewRecord, PullRequestKey, Record, RecordFilter, StoredSnapshot,
};
use crate::supervisor::computed_state::{ComputedState, RepositoryRules};
use crate::supervisor::fact::DatedFact;
use crate::supervisor::forge_facts::UnrecordedFact;
use crate::supervisor::history::History;
use crate::supervisor::obeyed_commands::stored_loop;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One pull request.
#[derive(Debug)]
pub struct StoredPullRequest {
    pub about: PullRequestKey,
    pub computed: ComputedState,
    pub history: History,
    /// The age of the snapshot.
    pub age: Duration,
    /// How its loop ended at this head, if the last driver stored that.
    pub exit: Option<Exit>,
}

/// All of them, in the order of host, repository and number. The second list names those whose stored
/// snapshot this version cannot read.
pub async fn all(
    journal: &Journal,
    config: &Config,
    reads: &dyn PostReader,
) -> Result<(Vec<StoredPullRequest>, Vec<PullRequestKey>), JournalError> {
    let stored = journal.load_snapshots().await?;
    let mut records: BTreeMap<PullRequestKey, Vec<Record>> = BTreeMap::new();
    for record in journal.records(RecordFilter::default()).await? {
        if let Some(about) = record.pull_request.clone() {
            records.entry(about).or_default().push(record);
        }
    }
    let computed = stored.readable.into_iter().map(|stored| {
        let history = History::of(&records.remove(&stored.pull_request).unwrap_or_default());
        with_state(stored, history, config, reads)
    });
    let mut all: Vec<StoredPullRequest> = computed.collect();
    all.sort_by(|a, b| a.about.cmp(&b.about));
    Ok((all, stored.unreadable.into_iter().map(|(about, _)| about).collect()))
}

/// One of them, if the journal has it.
pub async fn one(
    journal: &Journal,
    config: &Config,
    reads: &dyn PostReader,
    about: &PullRequestKey,
) -> Result<Option<StoredPullRequest>, JournalError> {
    let Some(stored) = journal.last_snapshot(about).await? else { return Ok(None) };
    let history = History::load(journal, &stored.pull_request).await?;
    Ok(Some(with_state(stored, history, config, reads)))
}

fn with_state(
    stored: StoredSnapshot,
    history: History,
    config: &Config,
    reads: &dyn PostReader,
) -> StoredPullRequest {
    let StoredSnapshot { pull_request: about, age, snapshot, poll, .. } = stored;
    let computed = compute_stored(&Arc::new(snapshot), &history, config, reads);
    let review_loop = stored_loop(poll.as_ref());
    let is_current = review_loop.anchor() == Some(&computed.seen.anchor);
    let exit = review_loop.exit().filter(|_| is_current).cloned();
    StoredPullRequest { about, computed, history, age, exit }
}

/// Computes the state from a snapshot and a history.
pub fn compute_stored(
    snapshot: &Arc<PullRequestSnapshot>,
    history: &History,
    config: &Config,
    reads: &dyn PostReader,
) -> ComputedState {
    let rules = RepositoryRules::of_names(config, reads, snapshot.names(), false);
    ComputedState::of(Arc::clone(snapshot), history, &rules)
}

/// Adds to the history the changes that only this snapshot shows: people's replies and resolutions in driven
/// threads, and reopened threads (R3). Returns their records; append these before the new snapshot replaces
/// the stored one.
pub fn note_transitions(
    before: Option<&StoredSnapshot>,
    snapshot: &PullRequestSnapshot,
    about: &PullRequestKey,
    history: &mut History,
    rules: &RepositoryRules<'_>,
) -> Vec<NewRecord> {
    let unrecorded = history.unrecorded_facts(before.map(|before| &before.snapshot), snapshot, rules);
    let mut records = Vec::new();
    for UnrecordedFact { fact, by, why } in unrecorded {
        let at = history.thread_event_time(snapshot);
        records.push(fact.clone().record(at, about, &by, why));
        history.add(DatedFact { at, fact }, &by, why);
    }
    records
}

/// Reads these pull requests again and stores the snapshots. After a failure, the last snapshot stays.
pub async fn refresh<T: Transport + Sync>(
    journal: &Journal,
    reader: &Reader<T>,
    host: &str,
    addresses: &[PullRequestAddress],
    config: &Config,
    reads: &dyn PostReader,
) -> Result<Vec<Failure>, JournalError> {
    let mut failures = Vec::new();
    for address in addresses {
        let mut read = match reader.read(address).await {
            Ok(read) => read,
            Err(error) => {
                failures.push(Failure::about(address, &error));
                continue;
            }
        };
        if let Some(gap) = read.gaps.first() {
            let sentence = format!(
                "{address} could be read only in part ({gap}); the result shows its last complete snapshot"
            );
            failures.push(Failure::new(FailureKind::OutOfReach, sentence));
            continue;
        }
        let about = journal.identify(host, &mut read.snapshot).await?;
        let snapshot = &read.snapshot;
        let before = journal.last_snapshot(&about).await?;
        let mut history = History::load(journal, &about).await?;
        let rules = RepositoryRules::of(config, reads, &snapshot.repository, false);
        let records = note_transitions(before.as_ref(), snapshot, &about, &mut history, &rules);
        if !records.is_empty() {
            journal.append(records).await?;
        }
        journal.save_snapshot(host, snapshot, None).await?;
    }
    Ok(failures)
}
