//! What the journal holds about a pull request beyond what the forge can tell: facts, each a record.
//!
//! The time in a fact is by the clock that the forge's own times are held against, so that a person's decision and a
//! bot's comment fall into their true order; the database's own time of the record is for people to read.

use crate::domain::cycle::Protocol;
use crate::domain::finding::Destination;
use crate::domain::handoff::HandoffTask;
use crate::domain::machine::Decision;
use crate::domain::place::FileChange;
use crate::domain::policy::Policy;
use crate::domain::review_loop::{Exit, LoopEvent};
use crate::domain::vocabulary::{FilePath, Intent, ReviewerName, Sha, TargetName, ThreadId};
use crate::journal::{NewRecord, PullRequestKey, Record};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A fact and when it came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatedFact {
    pub at: Timestamp,
    #[serde(flatten)]
    pub fact: Fact,
}

/// The variant's name is the record's kind; what is known to a later version only is passed over by this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    // What people did
    Decided {
        thread: ThreadId,
        verb: Decision,
    },
    /// H9: where somebody wants a finding to go at the merge, or that it goes nowhere.
    Routed {
        thread: ThreadId,
        to: Destination,
    },
    /// A thread that was seen resolved was open again at the next look (R3).
    Reopened {
        thread: ThreadId,
    },
    /// R3: what somebody who may override a driven reviewer said in one of its threads, and where that changed by an edit.
    /// The order in which people's words and reviewers' answers came to be known is the journal's, not that of two clocks:
    /// an answer that was good when it came stays good.
    Replied {
        thread: ThreadId,
        comment: String,
        intent: Intent,
        /// How often that comment was recorded before.
        #[serde(default)]
        turn: u32,
    },
    /// A person resolved a driven reviewer's thread on the forge.
    ResolvedThere {
        thread: ThreadId,
        /// How often that was recorded before.
        #[serde(default)]
        turn: u32,
    },
    /// L10: what somebody told the loop.
    Told {
        told: RecordedCommand,
    },
    /// L6: one more round than the caps allow.
    Granted {
        head: Sha,
    },

    // What the author did
    /// The head moved; `changes` tell how, where that could be found out.
    Pushed {
        head: Sha,
        changes: Vec<FileChange>,
        /// How many there were before: a head that was left can be pushed again.
        #[serde(default)]
        number: u32,
    },
    /// The author was sent to work on this head.
    Dispatched {
        head: Sha,
        round: u32,
        findings: Vec<ThreadId>,
    },
    /// It came back, with a push or without.
    AuthorEnded {
        head: Sha,
        outcome: String,
    },
    Merged {
        tasks: Vec<TaskFact>,
        /// A journal that was damaged may have known that they are sent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        may_be_sent: bool,
    },
    Closed,
    /// The pull request was reopened at the fact's time.
    ReopenedPullRequest,

    // What driven reviewers did
    /// A reviewer was asked; asking costs money, whatever comes of it.
    Asked {
        reviewer: ReviewerName,
        head: Sha,
        attempt: u32,
        /// What the answer is held against, also when somebody has changed the configuration since.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terms: Option<CycleTerms>,
    },
    /// It answered: the text as it was printed, or what was wrong with getting one.
    Answered {
        reviewer: ReviewerName,
        head: Sha,
        attempt: u32,
        answer: RecordedAnswer,
    },

    // What the loop came to
    Ended {
        exit: Exit,
        /// The head it ended at.
        #[serde(default)]
        head: Option<Sha>,
    },
}

/// The rules under which a reviewer was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CycleTerms {
    pub policy: Policy,
    pub protocol: Protocol,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedAnswer {
    Printed(String),
    /// A violation's kind and message, where nothing could be read.
    Failed {
        oversized: bool,
        message: String,
    },
}

/// What a person can tell a loop, be it the driver's or that of an instance that stands by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedCommand {
    Pause,
    Resume,
    Stop,
}

impl RecordedCommand {
    pub fn event(self) -> LoopEvent<'static> {
        match self {
            RecordedCommand::Pause => LoopEvent::Pause,
            RecordedCommand::Resume => LoopEvent::Resume,
            RecordedCommand::Stop => LoopEvent::Stop,
        }
    }
}

/// A task as it was decided at the merge, for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFact {
    pub target: TargetName,
    pub path: FilePath,
    pub findings: Vec<ThreadId>,
    pub coalesced: bool,
    /// Why its findings go, in one sentence.
    pub reason: String,
    /// The findings' titles, for whoever looks when nothing else is known of them any more.
    #[serde(default)]
    pub titles: Vec<String>,
}

impl TaskFact {
    pub fn new(task: HandoffTask, reason: String, titles: Vec<String>) -> Self {
        let HandoffTask { target, path, findings, coalesced } = task;
        TaskFact { target, path, findings, coalesced, reason, titles }
    }
}

impl From<TaskFact> for HandoffTask {
    fn from(fact: TaskFact) -> Self {
        let TaskFact { target, path, findings, coalesced, reason: _, titles: _ } = fact;
        HandoffTask { target, path, findings, coalesced }
    }
}

impl Fact {
    /// The record's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Fact::Decided { .. } => "decided",
            Fact::Routed { .. } => "routed",
            Fact::Reopened { .. } => "reopened",
            Fact::Replied { .. } => "replied",
            Fact::ResolvedThere { .. } => "resolved_there",
            Fact::Told { .. } => "told",
            Fact::Granted { .. } => "granted",
            Fact::Pushed { .. } => "pushed",
            Fact::Dispatched { .. } => "dispatched",
            Fact::AuthorEnded { .. } => "author_ended",
            Fact::Merged { .. } => "merged",
            Fact::Closed => "closed",
            Fact::ReopenedPullRequest => "reopened_pull_request",
            Fact::Asked { .. } => "asked",
            Fact::Answered { .. } => "answered",
            Fact::Ended { .. } => "ended",
        }
    }

    /// What makes a second one of the same impossible, whoever writes it; none where it may happen again.
    fn key(&self, at: Timestamp) -> Option<String> {
        match self {
            Fact::Decided { .. }
            | Fact::Routed { .. }
            | Fact::Told { .. }
            | Fact::Ended { .. }
            | Fact::Granted { .. }
            | Fact::Asked { .. }
            // One that nothing was asked for is passed over, and a head can be looked at again after it was left.
            | Fact::Answered { .. } => None,
            Fact::Reopened { thread } => Some(format!("{thread}@{at}")),
            Fact::Replied { comment, turn, .. } => Some(format!("{comment}/{turn}")),
            Fact::ResolvedThere { thread, turn } => Some(format!("{thread}/{turn}")),
            Fact::Pushed { head, number, .. } => Some(format!("{number}/{head}")),
            // One round a head: whatever the author did to it, the next round is about another.
            Fact::Dispatched { head, .. } | Fact::AuthorEnded { head, .. } => Some(head.to_string()),
            Fact::Merged { .. } => Some("merged".to_owned()),
            Fact::Closed | Fact::ReopenedPullRequest => Some(at.to_string()),
        }
    }

    /// The fact as a record of the journal.
    pub fn record(self, at: Timestamp, about: &PullRequestKey, by: &str, why: &str) -> NewRecord {
        let key = self.key(at).map(|key| format!("{about}/{key}"));
        let record = NewRecord::new(self.kind(), by).about(about.clone()).because(why);
        let dated = DatedFact { at, fact: self };
        // A fact has only text keys and finite numbers, so it always has a JSON form.
        let body = serde_json::to_value(&dated).unwrap_or(Value::Null);
        NewRecord { key, ..record.with(body) }
    }

    /// The fact in a record; none where the record is of another sort.
    pub fn read(record: &Record) -> Option<DatedFact> {
        DatedFact::deserialize(&record.body).ok().filter(|dated| dated.fact.kind() == record.kind)
    }
}
