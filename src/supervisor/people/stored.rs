//! The pull requests in the journal, computed from their last snapshots without a request to GitHub.

use crate::config::Config;
use crate::domain::post::PostReader;
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
use jiff::Timestamp;
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
        let StoredSnapshot { pull_request: about, age, snapshot, .. } = stored;
        let history = History::of(&records.remove(&about).unwrap_or_default());
        let computed = compute_stored(&Arc::new(snapshot), &history, config, reads);
        StoredPullRequest { about, computed, history, age }
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
    let StoredSnapshot { pull_request: about, age, snapshot, .. } = stored;
    let history = History::load(journal, &about).await?;
    let computed = compute_stored(&Arc::new(snapshot), &history, config, reads);
    Ok(Some(StoredPullRequest { about, computed, history, age }))
}

/// Computes the state from a snapshot and a history.
pub fn compute_stored(
    snapshot: &Arc<PullRequestSnapshot>,
    history: &History,
    config: &Config,
    reads: &dyn PostReader,
) -> ComputedState {
    let rules = RepositoryRules::of(config, reads, &snapshot.repository, false);
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
    now: Timestamp,
) -> Vec<NewRecord> {
    let at = history.no_earlier_than_last(now);
    let unrecorded = history.unrecorded_facts(before.map(|before| &before.snapshot), snapshot);
    let mut records = Vec::new();
    for UnrecordedFact { fact, by, why } in unrecorded {
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
    now: Timestamp,
) -> Result<Vec<Failure>, JournalError> {
    let mut failures = Vec::new();
    for address in addresses {
        let read = match reader.read(address).await {
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
        let snapshot = &read.snapshot;
        let (repository, number) = (snapshot.repository.clone(), snapshot.number);
        let about = PullRequestKey { host: host.to_owned(), repository, number };
        let before = journal.last_snapshot(&about).await?;
        let mut history = History::load(journal, &about).await?;
        let records = note_transitions(before.as_ref(), snapshot, &about, &mut history, now);
        if !records.is_empty() {
            journal.append(records).await?;
        }
        journal.save_snapshot(host, snapshot, None).await?;
    }
    Ok(failures)
}
