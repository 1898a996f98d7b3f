//! What a reviewer reports, and the thread that grows from it.

use super::machine::{ThreadMachine, ThreadStatus};
use super::place::{Anchor, LineRange};
use super::vocabulary::{Category, FilePath, ReviewerName, Severity, TargetName, ThreadId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One problem, as a reviewer reports it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    pub path: FilePath,
    /// None for a remark about the whole file.
    pub lines: Option<LineRange>,
    pub title: Arc<str>,
    pub body: Arc<str>,
    /// None where the bot states none. Unknown is not low: nothing is invented for it.
    pub severity: Option<Severity>,
    pub category: Category,
    /// Replacement code, ready to be applied.
    pub suggestion: Option<Arc<str>>,
    /// The reviewer's own id for this finding. Where there is one, it beats any comparison of text.
    pub own_id: Option<Arc<str>>,
}

/// Where a person wants a finding to go at the merge, whatever the rules say.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Destination {
    /// Where the rules send it: nobody said otherwise, or somebody took it back.
    #[default]
    AsConfigured,
    Target(TargetName),
    /// It is withheld: nothing hands it off by itself.
    Nowhere,
}

/// The conversation about one finding, owned by the reviewer that opened it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Thread {
    pub id: ThreadId,
    pub reviewer: ReviewerName,
    /// As first reported, except that its severity may have been raised since.
    pub finding: Finding,
    pub anchor: Anchor,
    pub machine: ThreadMachine,
    /// H5: found by a fixer's own verification run.
    pub from_verification: bool,
    /// H6: a person wants it handed off.
    pub queued: bool,
    /// Where a person sent it.
    pub routed: Destination,
    /// H4: it was handed off, and never will be again.
    pub handed_off: bool,
}

impl Thread {
    pub fn opened(id: ThreadId, reviewer: ReviewerName, finding: Finding, from_verification: bool) -> Thread {
        let anchor = Anchor::new(finding.path.clone(), finding.lines);
        let machine = ThreadMachine::opened();
        Thread {
            id,
            reviewer,
            finding,
            anchor,
            machine,
            from_verification,
            queued: false,
            routed: Destination::AsConfigured,
            handed_off: false,
        }
    }

    /// H6: a person wants it handed off, which also takes back that somebody withheld it.
    pub(super) fn queue(&mut self) {
        self.queued = true;
        if self.routed == Destination::Nowhere {
            self.routed = Destination::AsConfigured;
        }
    }

    /// A person says where it goes. What goes nowhere is not queued either.
    pub(super) fn route(&mut self, to: Destination) {
        self.queued &= to != Destination::Nowhere;
        self.routed = to;
    }

    /// H4: it is on its way, and nothing that anybody wanted with it before counts any more.
    pub(super) fn hand_off(&mut self) {
        (self.queued, self.handed_off) = (false, true);
    }

    pub fn status(&self) -> ThreadStatus {
        self.machine.status
    }

    /// Takes over a higher severity; one never falls. True where it is strictly higher than before, which an
    /// unknown one cannot be known to be.
    pub fn worsen_to(&mut self, severity: Option<Severity>) -> bool {
        let before = self.finding.severity;
        self.finding.severity = before.max(severity);
        before.is_some() && severity > before
    }
}
