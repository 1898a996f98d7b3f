//! The pull requests that the journal knows, each where it stood at the last look, without asking GitHub anything.

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
    pub standing: ComputedState,
    pub history: History,
    /// How long ago it was looked at.
    pub age: Duration,
}

/// Everything there is, in the order of host, repository and number. The second list names what cannot be read any more and
/// has to be looked at again.
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
    let known = stored.readable.into_iter().map(|stored| {
        let StoredSnapshot { pull_request: about, age, snapshot, .. } = stored;
        let history = History::of(&records.remove(&about).unwrap_or_default());
        let standing = stand(&Arc::new(snapshot), &history, config, reads);
        StoredPullRequest { about, standing, history, age }
    });
    let mut known: Vec<StoredPullRequest> = known.collect();
    known.sort_by(|a, b| a.about.cmp(&b.about));
    Ok((known, stored.unreadable.into_iter().map(|(about, _)| about).collect()))
}

/// One of them, if it is known.
pub async fn one(
    journal: &Journal,
    config: &Config,
    reads: &dyn PostReader,
    about: &PullRequestKey,
) -> Result<Option<StoredPullRequest>, JournalError> {
    let Some(stored) = journal.last_snapshot(about).await? else { return Ok(None) };
    let StoredSnapshot { pull_request: about, age, snapshot, .. } = stored;
    let history = History::load(journal, &about).await?;
    let standing = stand(&Arc::new(snapshot), &history, config, reads);
    Ok(Some(StoredPullRequest { about, standing, history, age }))
}

/// Where a pull request stands by what was read and what is recorded.
pub fn stand(
    snapshot: &Arc<PullRequestSnapshot>,
    history: &History,
    config: &Config,
    reads: &dyn PostReader,
) -> ComputedState {
    let rules = RepositoryRules::of(config, reads, &snapshot.repository, false);
    ComputedState::of(Arc::clone(snapshot), history, &rules)
}

/// What a fresh look tells and a later one would not, because it replaces the last: what people said and resolved in driven
/// reviewers' threads, and threads that were resolved then and are open now (R3). It is taken into account at once; the
/// records are to be appended before the new look is kept.
pub fn notice(
    before: Option<&StoredSnapshot>,
    snapshot: &PullRequestSnapshot,
    about: &PullRequestKey,
    history: &mut History,
    now: Timestamp,
) -> Vec<NewRecord> {
    let at = history.no_earlier_than_last(now);
    let news = history.unrecorded_facts(before.map(|before| &before.snapshot), snapshot);
    let mut records = Vec::new();
    for UnrecordedFact { fact, by, why } in news {
        records.push(fact.clone().record(at, about, &by, why));
        history.add(DatedFact { at, fact }, &by, why);
    }
    records
}

/// Looks at these anew and keeps what was seen. What cannot be read is told, and the last look at it stays.
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
            let sentence = format!("{address} was read in part only ({gap}); what was seen before is shown");
            failures.push(Failure::new(FailureKind::OutOfReach, sentence));
            continue;
        }
        let snapshot = &read.snapshot;
        let (repository, number) = (snapshot.repository.clone(), snapshot.number);
        let about = PullRequestKey { host: host.to_owned(), repository, number };
        let before = journal.last_snapshot(&about).await?;
        let mut history = History::load(journal, &about).await?;
        let news = notice(before.as_ref(), snapshot, &about, &mut history, now);
        if !news.is_empty() {
            journal.append(news).await?;
        }
        journal.save_snapshot(host, snapshot, None).await?;
    }
    Ok(failures)
}
