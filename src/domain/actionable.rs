//! Which findings start an author round, and which do not (L7).

use super::finding::{Finding, Thread};
use super::machine::ThreadStatus;
use super::vocabulary::{Category, Severity, ThreadId};
use std::fmt;

/// The findings of a pull request that are the author's: those an author can act on, and those a round skips.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TriagedFindings {
    pub actionable: Vec<ThreadId>,
    pub skipped: Vec<(ThreadId, SkipReason)>,
}

/// Why a finding starts no author round. The text goes into the round's list of skipped findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    Style,
    BareConsideration,
    NoClearFix,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SkipReason::Style => "a matter of style",
            SkipReason::BareConsideration => "asks to consider something, without a change",
            SkipReason::NoClearFix => "names neither a code change nor a clear fix",
        })
    }
}

/// Sorts the threads that are the author's to act on: open ones and upheld ones. A thread that waits for a
/// person is not.
pub fn triage<'a>(threads: impl Iterator<Item = &'a Thread>) -> TriagedFindings {
    let mut sorted = TriagedFindings::default();
    for thread in threads.filter(|thread| thread.machine.is_open() || must_be_fixed(thread)) {
        let skip = if must_be_fixed(thread) { None } else { reason_to_skip(&thread.finding) };
        match skip {
            None => sorted.actionable.push(thread.id.clone()),
            Some(reason) => sorted.skipped.push((thread.id.clone(), reason)),
        }
    }
    sorted
}

/// T6: a person upheld the finding, so it has to be fixed, whatever its style or severity. A finding that was
/// handed off is the coding agent's.
pub fn must_be_fixed(thread: &Thread) -> bool {
    thread.status() == ThreadStatus::Upheld && !thread.handed_off
}

/// L7: a critical finding is always actionable; style, nits and a bare "consider …" never are. Anything else
/// is if it carries a code change, says plainly what to do, or is of severity `high`.
pub fn reason_to_skip(finding: &Finding) -> Option<SkipReason> {
    if finding.severity == Some(Severity::Critical) {
        return None;
    }
    if finding.category == Category::Style || finding.severity == Some(Severity::Nit) {
        return Some(SkipReason::Style);
    }
    if finding.suggestion.is_some() || finding.body.contains("```") {
        return None;
    }
    let text = format!("{}\n{}", finding.title, finding.body).to_lowercase();
    let tentative = sentences(&text).any(is_tentative);
    let clear_fix = sentences(&text).any(|sentence| says_what_to_do(sentence) && !is_tentative(sentence));
    match (clear_fix, tentative) {
        (true, _) => None,
        (false, true) => Some(SkipReason::BareConsideration),
        // A grave problem is worth a round even if the reviewer names no fix.
        (false, false) if finding.severity >= Some(Severity::High) => None,
        (false, false) => Some(SkipReason::NoClearFix),
    }
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['.', '!', '?', ';', '\n']).map(str::trim).filter(|sentence| !sentence.is_empty())
}

/// Words that leave it open whether the author should do anything.
const TENTATIVE: [&str; 8] =
    ["consider", "might want", "may want", "could be nice", "nice to have", "optional", "perhaps", "maybe"];

/// Words that say what to do. They match whole words only: "address" is not "add".
const DIRECTIVE: [&str; 34] = [
    "add",
    "apply",
    "avoid",
    "await",
    "call",
    "change",
    "check",
    "close",
    "convert",
    "declare",
    "delete",
    "ensure",
    "escape",
    "fix",
    "guard",
    "handle",
    "initialise",
    "initialize",
    "instead",
    "limit",
    "make",
    "must",
    "move",
    "needs",
    "pass",
    "remove",
    "rename",
    "replace",
    "return",
    "should",
    "update",
    "use",
    "validate",
    "wrap",
];

fn is_tentative(sentence: &str) -> bool {
    TENTATIVE.iter().any(|words| sentence.contains(words))
}

fn says_what_to_do(sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric());
    words.any(|word| DIRECTIVE.contains(&word))
}
