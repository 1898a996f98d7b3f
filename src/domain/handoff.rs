//! Handoff (H): which findings become fix tasks at the merge, for which target, and why the others do not.

use super::finding::{Destination, Thread};
use super::vocabulary::{Category, FilePath, Severity, TargetName, ThreadId};
use glob::Pattern;
use std::collections::BTreeMap;
use std::fmt;

/// The team's handoff settings.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoffRules {
    pub mode: HandoffMode,
    /// H2: the lowest severity that `threshold_auto` hands off.
    pub auto_threshold: Severity,
    /// H2: the categories that `threshold_auto` hands off. Empty means all.
    pub auto_categories: Vec<Category>,
    /// The configured targets. One task per file is the default for any other target.
    pub targets: Vec<HandoffTarget>,
    /// The first route that fits a finding decides its target.
    pub routes: Vec<HandoffRoute>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HandoffMode {
    Off,
    ThresholdAuto,
    FullAuto,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffTarget {
    pub name: TargetName,
    /// H7: all findings of one file become one task.
    pub coalesce: bool,
}

/// Sends matching findings to a target. An empty condition matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRoute {
    pub target: TargetName,
    pub min_severity: Option<Severity>,
    pub categories: Vec<Category>,
    pub paths: Vec<Pattern>,
}

/// The target of findings that no route matches.
pub const DEFAULT_TARGET: &str = "default";

impl Default for HandoffRules {
    fn default() -> Self {
        Self {
            mode: HandoffMode::Off,
            auto_threshold: Severity::High,
            auto_categories: Vec::new(),
            targets: Vec::new(),
            routes: Vec::new(),
        }
    }
}

impl HandoffRules {
    /// The target of a finding: the one that a person chose, else that of the first matching route.
    pub fn target_of(&self, thread: &Thread) -> TargetName {
        if let Destination::Target(target) = &thread.routed {
            return target.clone();
        }
        let route = self.routes.iter().find(|route| route.fits(thread));
        route.map_or_else(|| DEFAULT_TARGET.into(), |route| route.target.clone())
    }

    /// Every target name that a person can choose, in the order of the configuration.
    pub fn known_targets(&self) -> Vec<TargetName> {
        let mut names: Vec<TargetName> = self.targets.iter().map(|target| target.name.clone()).collect();
        if !names.iter().any(|name| name.as_str() == DEFAULT_TARGET) {
            names.push(DEFAULT_TARGET.into());
        }
        names
    }

    fn coalesces(&self, target: &TargetName) -> bool {
        self.targets.iter().find(|candidate| candidate.name == *target).is_none_or(|target| target.coalesce)
    }
}

impl HandoffRoute {
    fn fits(&self, thread: &Thread) -> bool {
        let finding = &thread.finding;
        self.min_severity.is_none_or(|least| finding.severity >= Some(least))
            && (self.categories.is_empty() || self.categories.contains(&finding.category))
            && (self.paths.is_empty()
                || self.paths.iter().any(|path| path.matches(thread.anchor.path.as_str())))
    }
}

/// Whether a finding will be handed off at the merge. People read its text (H8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Eligibility {
    Queued,
    OverThreshold(Severity),
    EverythingGoes,
    HandedOffAlready,
    Settled,
    Withheld,
    ModeOff,
    BotPullRequest,
    Verification,
    UnknownSeverity,
    UnderThreshold { severity: Severity, threshold: Severity },
    OtherCategory(Category),
}

impl Eligibility {
    pub fn is_eligible(self) -> bool {
        matches!(self, Eligibility::Queued | Eligibility::OverThreshold(_) | Eligibility::EverythingGoes)
    }
}

impl fmt::Display for Eligibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Eligibility::Queued => write!(f, "queued by a person: it will be handed off at merge"),
            Eligibility::OverThreshold(severity) => {
                write!(f, "{} is at or over the threshold: it will be handed off at merge", severity.name())
            }
            Eligibility::EverythingGoes => write!(f, "everything unsettled is handed off at merge"),
            Eligibility::HandedOffAlready => write!(f, "already handed off, which happens only once"),
            Eligibility::Settled => write!(f, "settled: nothing is left to fix"),
            Eligibility::Withheld => {
                write!(f, "taken off the list by a person: it is handed off only if somebody queues it")
            }
            Eligibility::ModeOff => write!(f, "automatic handoff is off, and nobody queued it"),
            Eligibility::BotPullRequest => write!(f, "bot PR, and nobody queued it"),
            Eligibility::Verification => write!(f, "found by a verification run, and nobody queued it"),
            Eligibility::UnknownSeverity => {
                write!(f, "the reviewer stated no severity, and nobody queued it")
            }
            Eligibility::UnderThreshold { severity, threshold } => {
                write!(
                    f,
                    "{} is under the threshold {}, and nobody queued it",
                    severity.name(),
                    threshold.name()
                )
            }
            Eligibility::OtherCategory(category) => {
                write!(
                    f,
                    "category {} is not handed off automatically, and nobody queued it",
                    category.name()
                )
            }
        }
    }
}

/// H2–H6: decides about one finding, with the reason.
pub fn eligibility(thread: &Thread, author_is_bot: bool, rules: &HandoffRules) -> Eligibility {
    if thread.handed_off {
        return Eligibility::HandedOffAlready;
    }
    if thread.status().is_settled() {
        return Eligibility::Settled;
    }
    // H6: a person's choice overrides the guards below, but none above.
    if thread.queued {
        return Eligibility::Queued;
    }
    if thread.routed == Destination::Nowhere {
        return Eligibility::Withheld;
    }
    if rules.mode == HandoffMode::Off {
        return Eligibility::ModeOff;
    }
    // H3: findings on a bot's fix would lead to the next fix, without end.
    if author_is_bot {
        return Eligibility::BotPullRequest;
    }
    if thread.from_verification {
        return Eligibility::Verification;
    }
    let category = thread.finding.category;
    match (rules.mode, thread.finding.severity) {
        (HandoffMode::FullAuto, _) => Eligibility::EverythingGoes,
        (_, None) => Eligibility::UnknownSeverity,
        (_, Some(severity)) if severity < rules.auto_threshold => {
            Eligibility::UnderThreshold { severity, threshold: rules.auto_threshold }
        }
        _ if !rules.auto_categories.is_empty() && !rules.auto_categories.contains(&category) => {
            Eligibility::OtherCategory(category)
        }
        (_, Some(severity)) => Eligibility::OverThreshold(severity),
    }
}

/// A fix task, ready to be sent to its target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandoffTask {
    pub target: TargetName,
    pub path: FilePath,
    pub findings: Vec<ThreadId>,
    /// H7: the task covers the whole file.
    pub coalesced: bool,
}

impl HandoffTask {
    /// The permanent name of the task (H4). A pull request merges once, and that merge makes one task per
    /// target and file, or per target and finding. Cloture looks for this key on GitHub before it sends
    /// anything.
    pub fn idempotence_key(&self, repository: &str, number: u64) -> String {
        let subject = match self.findings.first() {
            Some(finding) if !self.coalesced => finding.as_str(),
            _ => self.path.as_str(),
        };
        format!("{repository}#{number}/{}/{subject}", self.target)
    }
}

/// The tasks of a merge: eligible findings, routed and grouped (H7), sorted by target, path and first
/// finding.
pub fn tasks<'a>(
    threads: impl Iterator<Item = &'a Thread>,
    author_is_bot: bool,
    rules: &HandoffRules,
) -> Vec<HandoffTask> {
    let mut tasks: Vec<HandoffTask> = Vec::new();
    let mut whole_files: BTreeMap<(TargetName, FilePath), usize> = BTreeMap::new();
    for thread in threads.filter(|thread| eligibility(thread, author_is_bot, rules).is_eligible()) {
        let target = rules.target_of(thread);
        let path = thread.anchor.path.clone();
        let coalesced = rules.coalesces(&target);
        let place = (target, path);
        if let Some(&index) = whole_files.get(&place) {
            tasks[index].findings.push(thread.id.clone());
            continue;
        }
        if coalesced {
            whole_files.insert(place.clone(), tasks.len());
        }
        let (target, path) = place;
        tasks.push(HandoffTask { target, path, findings: vec![thread.id.clone()], coalesced });
    }
    tasks.sort();
    tasks
}
