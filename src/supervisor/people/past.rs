//! What the journal says about one pull request, with who did what: the history, people's acts, and what has an outcome.

use crate::domain::machine::Decision;

use crate::domain::finding::Destination;
use crate::domain::vocabulary::ThreadId;
use crate::github::PullRequestAddress;
use crate::journal::{Journal, JournalError, OUTCOME, PullRequestKey, Record, RecordFilter};
use crate::supervisor::fact::{DatedFact, Fact};
use crate::supervisor::history::History;
use crate::supervisor::perform::journal_key;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// See the module's text.
#[derive(Debug, Clone, Default)]
pub struct JournalHistory {
    pub history: History,
    /// In the order of the journal.
    acts: Vec<RecordedAct>,
    /// What became of each deed, by its name in the journal, and when that was recorded.
    outcomes: BTreeMap<String, (Timestamp, Value)>,
}

/// Somebody did something to a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAct {
    pub at: Timestamp,
    pub thread: ThreadId,
    pub did: RecordedActKind,
    pub by: String,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedActKind {
    Decided(Decision),
    /// Somebody said where it goes at the merge.
    Routed(Destination),
    /// It was opened again on the forge.
    Reopened,
}

impl RecordedActKind {
    /// Queueing says nothing about the argument, and the argument's end nothing about the queue.
    fn is_queueing(&self) -> bool {
        matches!(self, RecordedActKind::Decided(Decision::Queue | Decision::Unqueue))
    }

    fn is_routing(&self) -> bool {
        matches!(self, RecordedActKind::Routed(_))
    }
}

impl JournalHistory {
    pub async fn load(journal: &Journal, about: &PullRequestKey) -> Result<JournalHistory, JournalError> {
        Ok(JournalHistory::of(&journal.records(RecordFilter::about(about)).await?))
    }

    /// Of the records of one pull request.
    pub fn of(records: &[Record]) -> JournalHistory {
        let mut past = JournalHistory::default();
        for record in records {
            past.learn(record);
        }
        past
    }

    fn learn(&mut self, record: &Record) {
        if record.kind == OUTCOME {
            if let Some(key) = &record.key {
                self.outcomes.insert(key.clone(), (record.at, record.body.clone()));
            }
        } else if let Some(dated) = Fact::read(record) {
            self.add(dated, &record.by, &record.why);
        }
    }

    /// Takes a fact into account that may not be in the journal yet.
    pub fn add(&mut self, dated: DatedFact, by: &str, why: &str) {
        let did = match &dated.fact {
            Fact::Decided { thread, verb } => Some((thread.clone(), RecordedActKind::Decided(*verb))),
            Fact::Routed { thread, to } => Some((thread.clone(), RecordedActKind::Routed(to.clone()))),
            Fact::Reopened { thread } => Some((thread.clone(), RecordedActKind::Reopened)),
            _ => None,
        };
        if let Some((thread, did)) = did {
            self.acts.push(RecordedAct { at: dated.at, thread, did, by: by.to_owned(), why: why.to_owned() });
        }
        self.history.add(dated);
    }

    /// How often anybody did anything to a thread, which goes by these ids.
    pub fn count(&self, ids: &[&ThreadId]) -> usize {
        self.about(ids).count()
    }

    /// What was last done about the argument.
    pub fn last_decision(&self, ids: &[&ThreadId]) -> Option<&RecordedAct> {
        self.about(ids).filter(|acted| !acted.did.is_queueing() && !acted.did.is_routing()).last()
    }

    pub fn last_queueing(&self, ids: &[&ThreadId]) -> Option<&RecordedAct> {
        self.about(ids).filter(|acted| acted.did.is_queueing()).last()
    }

    pub fn last_routing(&self, ids: &[&ThreadId]) -> Option<&RecordedAct> {
        self.about(ids).filter(|acted| acted.did.is_routing()).last()
    }

    fn about(&self, ids: &[&ThreadId]) -> impl Iterator<Item = &RecordedAct> {
        self.acts.iter().filter(move |acted| ids.contains(&&acted.thread))
    }

    /// What became of a deed or a task, by its name in the journal.
    pub fn outcome(&self, key: &str) -> Option<&(Timestamp, Value)> {
        self.outcomes.get(key)
    }

    /// Whether a deed is done. What the forge refused is not, and a person may well try it again.
    pub fn is_concluded(&self, address: &PullRequestAddress, name: &str) -> bool {
        let PullRequestAddress { repository, number } = address.clone();
        // A deed's name in the journal leaves out the host.
        let about = PullRequestKey { host: String::new(), repository, number };
        let outcome = self.outcome(&journal_key(&about, name));
        outcome.is_some_and(|(_, body)| body.get("refused").is_none())
    }

    /// Nothing that is recorded from here on comes before anything that is known.
    pub fn not_before(&self, at: Timestamp) -> Timestamp {
        self.history.facts().map(|dated| dated.at).max().map_or(at, |last| last.max(at))
    }
}
