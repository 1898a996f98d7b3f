//! Facts: records of what the forge alone cannot tell about a pull request.
//!
//! A fact has two times. Its own is comparable with the forge's times, so that a person's decision and a
//! bot's comment sort in their true order. The database's time of the record is for people to read.

use super::adoption::AdoptedThread;
use crate::domain::cycle::Protocol;
use crate::domain::finding::Destination;
use crate::domain::handoff::HandoffTask;
use crate::domain::machine::Decision;
use crate::domain::place::FileChange;
use crate::domain::policy::Policy;
use crate::domain::review_loop::{Exit, LoopEvent};
use crate::domain::vocabulary::{FilePath, Intent, ReviewerName, Sha, TargetName, ThreadId};
use crate::journal::{NewRecord, PullRequestKey, Record};
use crate::reviewers::ask::ThreadNaming;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A fact and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatedFact {
    pub at: Timestamp,
    #[serde(flatten)]
    pub fact: Fact,
}

/// The variant's name is the record's kind. A version skips records of kinds that it does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    // People
    Decided {
        thread: ThreadId,
        verb: Decision,
        /// The finding's threads that were not resolved on the forge then. The forge does not say when a thread
        /// was resolved.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unresolved: Vec<ThreadId>,
    },
    /// T6: the person undid their last decision or choice about the thread.
    Undone {
        thread: ThreadId,
    },
    /// H9: a person chose where a finding goes at the merge.
    Routed {
        thread: ThreadId,
        to: Destination,
    },
    /// R3: a resolved thread was open again in the next snapshot.
    Reopened {
        thread: ThreadId,
    },
    /// D4, D5: the forge showed an observed reviewer's thread resolved when another thread raised its finding
    /// again. The driver opens it then.
    RaisedAgain {
        thread: ThreadId,
        by: ThreadId,
        /// A person had resolved it.
        resolved_by_person: bool,
    },
    /// R3: a person who may override a driven reviewer replied in its thread, or edited such a reply. Replies
    /// and answers take effect in journal order, not by two clocks: an answer that was valid on arrival stays
    /// valid.
    Replied {
        thread: ThreadId,
        comment: String,
        intent: Intent,
        /// How many records of this comment there were before.
        #[serde(default)]
        turn: u32,
    },
    /// A person resolved a driven reviewer's thread on the forge.
    ResolvedThere {
        thread: ThreadId,
        /// How many such records there were before.
        #[serde(default)]
        turn: u32,
    },
    /// L10: a person's command to the loop.
    Told {
        told: RecordedCommand,
    },
    /// L6: a person granted one more round than the caps allow.
    Granted {
        head: Sha,
    },

    // The author and the pull request
    /// The head moved; `changes` are the changed lines, empty for the first head.
    Pushed {
        head: Sha,
        changes: Vec<FileChange>,
        /// How many pushes were recorded before: the same head can be pushed again.
        #[serde(default)]
        number: u32,
        /// GitHub does not compare this head with the one before, so `changes` is empty.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unseen: bool,
    },
    /// The driver dispatched the author to this head.
    Dispatched {
        head: Sha,
        round: u32,
        findings: Vec<ThreadId>,
        /// How many rounds were recorded before.
        #[serde(default)]
        number: u32,
    },
    /// The author's program ended, with a push or without.
    AuthorEnded {
        head: Sha,
        outcome: String,
        /// Whether it says that it pushed. Older versions did not record it.
        #[serde(default = "pushed")]
        pushed: bool,
        /// The number of its round.
        #[serde(default)]
        number: u32,
    },
    Merged {
        tasks: Vec<TaskFact>,
        /// The journal replaces a damaged one, which may have sent these tasks.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        may_be_sent: bool,
    },
    Closed,
    /// The pull request was reopened, at the fact's time.
    ReopenedPullRequest {
        /// Whether somebody did it who may override, so that the counts start again. Every reopening did in older
        /// versions.
        #[serde(default = "resets")]
        resets: bool,
    },

    // Driven reviewers
    /// The driver called a reviewer. The call costs money, with an answer or without.
    Asked {
        reviewer: ReviewerName,
        head: Sha,
        attempt: u32,
        /// The rules for checking the answer. A later change of the configuration does not affect them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terms: Option<CycleTerms>,
        /// R2: why the reviewer got the whole pull request instead of the changes since its last cycle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<String>,
    },
    /// The reviewer was not called, because GitHub does not show the pull request's diff at this head.
    Unreviewable {
        reviewer: ReviewerName,
        head: Sha,
        reason: String,
    },
    /// The reviewer answered, or failed to.
    Answered {
        reviewer: ReviewerName,
        head: Sha,
        attempt: u32,
        answer: RecordedAnswer,
    },

    /// The driver found a thread on GitHub that Cloture posted with another journal.
    Adopted {
        #[serde(flatten)]
        adopted: Box<AdoptedThread>,
    },

    // Observed reviewers
    /// L3: the reviewer's profile cannot read this post. One record for each edit of the post.
    UnreadablePost {
        reviewer: ReviewerName,
        url: String,
        written_at: Timestamp,
        reason: String,
        /// The post's first lines.
        start: String,
    },

    // The loop
    Ended {
        exit: Exit,
        /// The head at which the loop ended.
        #[serde(default)]
        head: Option<Sha>,
    },
}

/// Without a word about it, the loop waits for the push.
fn pushed() -> bool {
    true
}

/// In older versions every reopening started the counts again.
fn resets() -> bool {
    true
}

/// The rules under which a reviewer was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CycleTerms {
    pub policy: Policy,
    pub protocol: Protocol,
    /// How the threads of its findings are named.
    #[serde(default)]
    pub naming: ThreadNaming,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedAnswer {
    Printed(String),
    /// There was no answer to read: the violation and its message.
    Failed {
        oversized: bool,
        message: String,
        /// S2: there was an answer, and it had a secret in it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        withheld: bool,
    },
}

impl RecordedAnswer {
    /// There was no answer, for this reason.
    pub(super) fn failed(message: String) -> RecordedAnswer {
        RecordedAnswer::Failed { oversized: false, message, withheld: false }
    }
}

/// The commands that the journal stores, so that the driver obeys those given to an instance on standby.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedCommand {
    Pause,
    Resume,
    Stop,
    Restart,
}

impl RecordedCommand {
    pub fn event(self) -> LoopEvent<'static> {
        match self {
            RecordedCommand::Pause => LoopEvent::Pause,
            RecordedCommand::Resume => LoopEvent::Resume,
            RecordedCommand::Stop => LoopEvent::Stop,
            RecordedCommand::Restart => LoopEvent::Restart,
        }
    }
}

/// A task, as the merge decided it once and for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFact {
    pub target: TargetName,
    pub path: FilePath,
    pub findings: Vec<ThreadId>,
    pub coalesced: bool,
    /// Why its findings are handed off, in one sentence.
    pub reason: String,
    /// The findings' titles, for lists of old tasks whose threads are gone.
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
    /// A decision about a thread that is not resolved on the forge.
    pub fn decided(thread: ThreadId, verb: Decision) -> Fact {
        Fact::Decided { unresolved: vec![thread.clone()], thread, verb }
    }

    /// Whether the fact is part of a thread's own history. Such facts take effect in journal order.
    pub fn is_about_thread(&self) -> bool {
        matches!(
            self,
            Fact::Decided { .. }
                | Fact::Undone { .. }
                | Fact::Routed { .. }
                | Fact::Reopened { .. }
                | Fact::RaisedAgain { .. }
        )
    }

    /// The record's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Fact::Decided { .. } => "decided",
            Fact::Undone { .. } => "undone",
            Fact::Routed { .. } => "routed",
            Fact::Reopened { .. } => "reopened",
            Fact::RaisedAgain { .. } => "raised_again",
            Fact::Replied { .. } => "replied",
            Fact::ResolvedThere { .. } => "resolved_there",
            Fact::Told { .. } => "told",
            Fact::Granted { .. } => "granted",
            Fact::Pushed { .. } => "pushed",
            Fact::Dispatched { .. } => "dispatched",
            Fact::AuthorEnded { .. } => "author_ended",
            Fact::Merged { .. } => "merged",
            Fact::Closed => "closed",
            Fact::ReopenedPullRequest { .. } => "reopened_pull_request",
            Fact::Asked { .. } => "asked",
            Fact::Unreviewable { .. } => "unreviewable",
            Fact::Answered { .. } => "answered",
            Fact::Adopted { .. } => "adopted",
            Fact::UnreadablePost { .. } => "unreadable_post",
            Fact::Ended { .. } => "ended",
        }
    }

    /// A key makes a second record of the same fact impossible. Facts that may happen again have none.
    fn key(&self, at: Timestamp) -> Option<String> {
        match self {
            Fact::Decided { .. }
            | Fact::Undone { .. }
            | Fact::Routed { .. }
            | Fact::Told { .. }
            | Fact::Ended { .. }
            | Fact::Granted { .. }
            | Fact::Asked { .. }
            | Fact::Unreviewable { .. }
            // The replay skips an answer without a call, and a reviewer may answer twice for a head that came
            // back.
            | Fact::Answered { .. } => None,
            Fact::Reopened { thread } => Some(format!("{thread}@{at}")),
            Fact::RaisedAgain { thread, by, .. } => Some(format!("{thread}/{by}")),
            Fact::Replied { comment, turn, .. } => Some(format!("{comment}/{turn}")),
            Fact::ResolvedThere { thread, turn } => Some(format!("{thread}/{turn}")),
            Fact::Adopted { adopted } => Some(adopted.thread.to_string()),
            Fact::Pushed { head, number, .. } => Some(format!("{number}/{head}")),
            Fact::Dispatched { head, number, .. } | Fact::AuthorEnded { head, number, .. } => {
                Some(format!("{number}/{head}"))
            }
            Fact::UnreadablePost { url, written_at, .. } => Some(format!("{url}@{written_at}")),
            Fact::Merged { .. } => Some("merged".to_owned()),
            Fact::Closed | Fact::ReopenedPullRequest { .. } => Some(at.to_string()),
        }
    }

    /// The fact as a record of the journal.
    pub fn record(self, at: Timestamp, about: &PullRequestKey, by: &str, why: &str) -> NewRecord {
        let key = self.key(at).map(|key| format!("{about}/{key}"));
        let record = NewRecord::new(self.kind(), by).about(about.clone()).with_reason(why);
        let dated = DatedFact { at, fact: self };
        // Cannot fail: a fact has only text keys and finite numbers.
        let body = serde_json::to_value(&dated).unwrap_or(Value::Null);
        NewRecord { key, ..record.with(body) }
    }

    /// The fact in a record, if the record holds one.
    pub fn read(record: &Record) -> Option<DatedFact> {
        DatedFact::deserialize(&record.body).ok().filter(|dated| dated.fact.kind() == record.kind)
    }
}
