//! Everything the journal says about one pull request, built record by record: facts, people's acts on
//! threads, commands to the loop, and the outcome of every write. The actor and the planners for people share
//! it.
//!
//! What is absent: nothing here reads the forge or decides anything. `replay` turns a history into threads
//! and cycles.

use super::fact::{DatedFact, Fact, RecordedAnswer, RecordedCommand};
use super::perform::{WITHHELD, journal_key};
use crate::domain::finding::Destination;
use crate::domain::machine::Decision;
use crate::domain::review_loop::Exit;
use crate::domain::snapshot::PullRequestSnapshot;
use crate::domain::vocabulary::{ReviewerName, Sha, ThreadId};
use crate::journal::{Journal, JournalError, OUTCOME, PullRequestKey, Record, RecordFilter};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// See the module's text.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Numbers of the records that are in here, so that none counts twice.
    records: BTreeSet<u64>,
    facts: Vec<Numbered<DatedFact>>,
    acts: Vec<Numbered<RecordedAct>>,
    commands: BTreeMap<u64, RecordedCommand>,
    /// The outcome of each write and each delivery, by its key in the journal, and when it was recorded.
    outcomes: BTreeMap<String, (Timestamp, Value)>,
}

/// A value with its record's number; lists of these are in the journal's order.
type Numbered<T> = (u64, T);

/// The number of facts that are not in the journal yet: they come after all that are.
const NOT_RECORDED: u64 = u64::MAX;

/// A person's act on a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAct {
    pub thread: ThreadId,
    pub did: RecordedActKind,
    pub by: String,
    pub why: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedActKind {
    Decided(Decision),
    /// The person chose where the finding goes at the merge.
    Routed(Destination),
    /// The thread was opened again on the forge.
    Reopened,
    /// The person undid the last act before this one that is not undone yet.
    Undone,
}

impl RecordedActKind {
    fn is_queueing(&self) -> bool {
        matches!(self, RecordedActKind::Decided(Decision::Queue | Decision::Unqueue))
    }

    fn is_routing(&self) -> bool {
        matches!(self, RecordedActKind::Routed(_))
    }

    /// A reopened thread is a return by a person on the forge, and no act of Cloture's to undo.
    pub fn can_be_undone(&self) -> bool {
        matches!(self, RecordedActKind::Decided(_) | RecordedActKind::Routed(_))
    }
}

impl History {
    pub async fn load(journal: &Journal, about: &PullRequestKey) -> Result<History, JournalError> {
        Ok(History::of(&journal.records(RecordFilter::about(about)).await?))
    }

    /// From the records of one pull request.
    pub fn of(records: &[Record]) -> History {
        let mut history = History::default();
        for record in records {
            history.learn(record);
        }
        history
    }

    /// Takes a record into account. Returns true if it holds a fact that is new here. Two instances learn of
    /// each other's records in any order and end up with the same history.
    pub fn learn(&mut self, record: &Record) -> bool {
        if !self.records.insert(record.seq) {
            return false;
        }
        if record.kind == OUTCOME {
            if let Some(key) = &record.key {
                self.outcomes.insert(key.clone(), (record.at, record.body.clone()));
            }
            return false;
        }
        let Some(dated) = Fact::read(record) else { return false };
        if let Fact::Told { told } = &dated.fact {
            self.commands.insert(record.seq, *told);
        }
        self.insert(record.seq, dated, &record.by, &record.why);
        true
    }

    /// Takes a fact into account that is not in the journal yet.
    pub fn add(&mut self, dated: DatedFact, by: &str, why: &str) {
        self.insert(NOT_RECORDED, dated, by, why);
    }

    fn insert(&mut self, record: u64, dated: DatedFact, by: &str, why: &str) {
        let act = match &dated.fact {
            Fact::Decided { thread, verb, .. } => Some((thread.clone(), RecordedActKind::Decided(*verb))),
            Fact::Undone { thread } => Some((thread.clone(), RecordedActKind::Undone)),
            Fact::Routed { thread, to } => Some((thread.clone(), RecordedActKind::Routed(to.clone()))),
            Fact::Reopened { thread } => Some((thread.clone(), RecordedActKind::Reopened)),
            _ => None,
        };
        if let Some((thread, did)) = act {
            let act = RecordedAct { thread, did, by: by.to_owned(), why: why.to_owned(), at: dated.at };
            insert_in_order(&mut self.acts, record, act);
        }
        insert_in_order(&mut self.facts, record, dated);
    }

    pub fn facts(&self) -> impl DoubleEndedIterator<Item = &DatedFact> {
        self.facts.iter().map(|(_, dated)| dated)
    }

    /// People's commands to the loop (L10), by the number of their record.
    pub fn commands(&self) -> &BTreeMap<u64, RecordedCommand> {
        &self.commands
    }

    /// The time of a new fact about a thread: that of the snapshot's last event, and after every earlier fact
    /// about a thread. It is the forge's time, because it is compared with the forge's events; this machine's
    /// clock may be ahead or behind.
    pub fn thread_event_time(&self, snapshot: &PullRequestSnapshot) -> Timestamp {
        let last = self.facts().filter(|dated| dated.fact.is_about_thread()).map(|dated| dated.at).max();
        let after = last.map(|last| last.checked_add(SignedDuration::from_nanos(1)).unwrap_or(last));
        after.map_or(snapshot.last_event_at(), |after| after.max(snapshot.last_event_at()))
    }

    /// This time, or that of the latest fact if it is later: a clock that was set back must not put a new
    /// fact before an older one.
    pub fn no_earlier_than_last(&self, now: Timestamp) -> Timestamp {
        self.facts().map(|dated| dated.at).fold(now, Timestamp::max)
    }

    pub fn merged(&self) -> Option<&Fact> {
        self.facts().map(|dated| &dated.fact).find(|fact| matches!(fact, Fact::Merged { .. }))
    }

    /// Whether any of these threads comes from another journal.
    pub fn has_adopted(&self, threads: &[ThreadId]) -> bool {
        self.facts().any(|dated| match &dated.fact {
            Fact::Adopted { adopted } => threads.contains(&adopted.thread),
            _ => false,
        })
    }

    /// The exit of the last loop that ended.
    pub fn last_exit(&self) -> Option<&Exit> {
        self.facts().rev().find_map(|dated| match &dated.fact {
            Fact::Ended { exit, .. } => Some(exit),
            _ => None,
        })
    }

    /// How often the author was sent to work, over all reopenings.
    pub fn author_rounds(&self) -> u32 {
        let rounds = self.facts().filter(|dated| matches!(dated.fact, Fact::Dispatched { .. }));
        u32::try_from(rounds.count()).unwrap_or(u32::MAX)
    }

    pub fn last_head(&self) -> Option<&Sha> {
        self.facts().rev().find_map(|dated| match &dated.fact {
            Fact::Pushed { head, .. } => Some(head),
            _ => None,
        })
    }

    /// How many acts there are on a thread, which may have been recorded under any of these ids.
    pub fn count(&self, ids: &[&ThreadId]) -> usize {
        self.acts_on(ids).count()
    }

    /// The last record about the thread, even if it says that an act was undone.
    pub fn last_record(&self, ids: &[&ThreadId]) -> Option<&RecordedAct> {
        self.acts_on(ids).last()
    }

    /// The acts that are not undone, oldest first, each with its number on the thread.
    pub fn standing_acts(&self, ids: &[&ThreadId]) -> Vec<(usize, &RecordedAct)> {
        let mut standing = Vec::new();
        for (index, act) in self.acts_on(ids).enumerate() {
            if act.did != RecordedActKind::Undone {
                standing.push((index + 1, act));
            } else if let Some(undone) =
                standing.iter().rposition(|(_, act): &(usize, &RecordedAct)| act.did.can_be_undone())
            {
                standing.remove(undone);
            }
        }
        standing
    }

    /// The last act that concerns the argument. Queueing and routing do not.
    pub fn last_decision(&self, ids: &[&ThreadId]) -> Option<&RecordedAct> {
        self.last_standing(ids, |did| !did.is_queueing() && !did.is_routing())
    }

    pub fn last_queueing(&self, ids: &[&ThreadId]) -> Option<&RecordedAct> {
        self.last_standing(ids, RecordedActKind::is_queueing)
    }

    pub fn last_routing(&self, ids: &[&ThreadId]) -> Option<&RecordedAct> {
        self.last_standing(ids, RecordedActKind::is_routing)
    }

    fn last_standing(
        &self,
        ids: &[&ThreadId],
        is_meant: impl Fn(&RecordedActKind) -> bool,
    ) -> Option<&RecordedAct> {
        self.standing_acts(ids).into_iter().map(|(_, act)| act).rfind(|act| is_meant(&act.did))
    }

    fn acts_on(&self, ids: &[&ThreadId]) -> impl Iterator<Item = &RecordedAct> {
        self.acts.iter().map(|(_, act)| act).filter(move |act| ids.contains(&&act.thread))
    }

    /// The outcome of a write or a delivery, by its key in the journal, and when it was recorded.
    pub fn outcome(&self, key: &str) -> Option<&(Timestamp, Value)> {
        self.outcomes.get(key)
    }

    /// S2: the texts at this head that Cloture withheld because of a secret in them, as sentences without a full
    /// stop.
    pub fn withheld(&self, head: &Sha) -> Vec<String> {
        let answers = self.facts().filter_map(|dated| match &dated.fact {
            Fact::Answered {
                reviewer,
                head: at,
                answer: RecordedAnswer::Failed { withheld: true, message, .. },
                ..
            } if at == head => {
                Some(format!("{reviewer} gave an answer that Cloture does not use: {message}"))
            }
            _ => None,
        });
        let is_here = |body: &Value| body.get("head").and_then(Value::as_str) == Some(head.as_str());
        let writes = self.outcomes.values().map(|(_, body)| body);
        let writes = writes.filter(|body| body.get(WITHHELD).is_some() && is_here(body));
        let writes = writes.filter_map(|body| Some(body.get("refused")?.as_str()?.to_owned()));
        let mut sentences: Vec<String> = answers.chain(writes).collect();
        sentences.sort();
        sentences.dedup();
        sentences
    }

    /// Whether a write is done. One that the forge refused is not: a person may try it again.
    pub fn is_done(&self, snapshot: &PullRequestSnapshot, name: &str) -> bool {
        let (repository, number) = (snapshot.filed_as().clone(), snapshot.number);
        // The key of a write leaves out the host.
        let about = PullRequestKey { host: String::new(), repository, number };
        let outcome = self.outcome(&journal_key(&about, name));
        outcome.is_some_and(|(_, body)| body.get("refused").is_none())
    }

    /// The heads at which observed reviewers were asked for a review since this time, by the journal.
    pub fn asks(
        &self,
        snapshot: &PullRequestSnapshot,
        since: Option<Timestamp>,
    ) -> BTreeSet<(ReviewerName, Sha)> {
        let (repository, number) = (snapshot.filed_as().clone(), snapshot.number);
        let about = PullRequestKey { host: String::new(), repository, number };
        let beginning = journal_key(&about, "ask/");
        let keys =
            self.outcomes.range(beginning.clone()..).take_while(|(key, _)| key.starts_with(&beginning));
        let done = keys
            .filter(|(_, (at, body))| body.get("refused").is_none() && since.is_none_or(|since| *at > since));
        let asks = done.filter_map(|(key, _)| {
            let (reviewer, head) = key.strip_prefix(&beginning)?.rsplit_once('/')?;
            Some((ReviewerName::from(reviewer), Sha::from(head)))
        });
        asks.collect()
    }

    /// Whether a write is done whose name begins like this.
    pub fn has_done(&self, snapshot: &PullRequestSnapshot, beginning: &str) -> bool {
        let (repository, number) = (snapshot.filed_as().clone(), snapshot.number);
        let about = PullRequestKey { host: String::new(), repository, number };
        let beginning = journal_key(&about, beginning);
        let keys =
            self.outcomes.range(beginning.clone()..).take_while(|(key, _)| key.starts_with(&beginning));
        keys.into_iter().any(|(_, (_, body))| body.get("refused").is_none())
    }
}

fn insert_in_order<T>(list: &mut Vec<Numbered<T>>, record: u64, value: T) {
    let place = list.partition_point(|(number, _)| *number <= record);
    list.insert(place, (record, value));
}
