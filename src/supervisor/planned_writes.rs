//! What ought to be on the forge by now and may not be: deeds, each with a name under which it is done once.
//!
//! Nothing here remembers what was sent. The same standing always makes the same deeds with the same names; the journal
//! knows which of them are concluded, and the writer looks for the rest before it sends them. So a crash at any moment
//! leaves nothing undone and nothing done twice.

use super::computed_state::{ComputedState, ThreadView};
use super::markers;
use super::replay::CycleResult;
use crate::config::OperatorConfig;
use crate::domain::cycle::ThreadChoice;
use crate::domain::driven::CycleNote;
use crate::domain::machine::{EscalatedBy, ResolvedBy, ThreadStatus};
use crate::domain::review_loop::PostContent;
use crate::domain::vocabulary::{ReviewerAction, ReviewerName, Severity, ThreadId};
use crate::github::discover::PullRequestAddress;
use crate::github::write::{NewReviewThread, PullRequestTarget, ThreadTarget, Write};
use jiff::Timestamp;
use std::fmt::Write as _;

/// One thing to write, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedWrite {
    /// Unique on the pull request.
    pub name: String,
    pub write: Write,
    pub why: String,
}

/// Everything that a driven repository's standing asks for, in the order in which it is to be done.
pub fn planned_writes(standing: &ComputedState, operator: &OperatorConfig) -> Vec<PlannedWrite> {
    let mut deeds = Vec::new();
    for cycle in &standing.folded.cycles {
        cycle_deeds(standing, cycle, &mut deeds);
    }
    for shown in standing.threads() {
        repetition_deeds(standing, &shown, &mut deeds);
        if shown.resolve_proposed {
            let why = "the code was changed, and the reviewer said nothing more about it".to_owned();
            resolve(standing, &shown, "let-go", why, &mut deeds);
        }
        escalation_writes(standing, &shown, operator, &mut deeds);
    }
    deeds
}

/// C3: a cycle's answer as one review with its threads, then what it said in the threads that were there.
fn cycle_deeds(standing: &ComputedState, cycle: &CycleResult, deeds: &mut Vec<PlannedWrite>) {
    let Some(key) = markers::review(&cycle.reviewer, cycle.number) else { return };
    let (mut threads, mut elsewhere) = (Vec::new(), Vec::new());
    for id in &cycle.opened {
        let Some(thread) = standing.folded.engine.thread(id) else { continue };
        let finding = &thread.finding;
        match (finding.lines, markers::finding(id)) {
            (Some(lines), Some(key)) => threads.push(NewReviewThread {
                path: finding.path.clone(),
                line: lines.last(),
                start_line: (lines.first() < lines.last()).then(|| lines.first()),
                body: finding_text(
                    thread.finding.severity,
                    &finding.title,
                    &finding.body,
                    finding.suggestion.as_deref(),
                ),
                key,
            }),
            _ => elsewhere.push(format!("- `{}`: **{}** {}", finding.path, finding.title, finding.body)),
        }
    }
    let body = review_text(cycle, &elsewhere);
    let (verdict, head) = (cycle.verdict, cycle.head.clone());
    let write = Write::Review { on: target(standing), verdict, head, body, threads, key };
    let name = format!("review/{}/{}", cycle.reviewer, cycle.number);
    deeds.push(PlannedWrite {
        name,
        write,
        why: format!("{} completed its look at {}", cycle.reviewer, cycle.head),
    });
    for choice in &cycle.choices {
        choice_deeds(standing, cycle, choice, deeds);
    }
    if cycle.choices.is_empty() {
        derived_deeds(standing, cycle, deeds);
    }
}

fn choice_deeds(
    standing: &ComputedState,
    cycle: &CycleResult,
    choice: &ThreadChoice,
    deeds: &mut Vec<PlannedWrite>,
) {
    let Some(shown) = standing.thread(&choice.thread) else { return };
    let turn = markers::turn(&cycle.reviewer, cycle.number);
    if let Some(body) = choice.comment.as_deref().filter(|body| !body.trim().is_empty()) {
        let why = format!("{} chose to {}", cycle.reviewer, choice.action.name());
        reply(standing, &shown, &turn, body.to_owned(), why, deeds);
    }
    if choice.action == ReviewerAction::Resolve {
        let why = format!("{} says that it is fixed", cycle.reviewer);
        resolve(standing, &shown, &turn, why, deeds);
    }
}

/// C7: a reviewer that lists findings only resolves what it leaves out.
fn derived_deeds(standing: &ComputedState, cycle: &CycleResult, deeds: &mut Vec<PlannedWrite>) {
    for shown in standing.threads() {
        let own = shown.driven && shown.thread.reviewer == cycle.reviewer;
        let relisted =
            cycle.notes.iter().any(|note| matches!(note, CycleNote::Relisted(id) if *id == shown.thread.id));
        let by_reviewer = shown.thread.status() == ThreadStatus::Resolved(ResolvedBy::Reviewer);
        if own && by_reviewer && !relisted {
            let why = format!("{} no longer lists it", cycle.reviewer);
            resolve(standing, &shown, "unlisted", why, deeds);
        }
    }
}

/// D3: a thread that repeats another points there and is closed, so that the argument stays in one place.
fn repetition_deeds(standing: &ComputedState, shown: &ThreadView<'_>, deeds: &mut Vec<PlannedWrite>) {
    let Some(first) = shown.repeats.and_then(|id| standing.thread(id)) else { return };
    if shown.on_forge.is_none_or(|seen| seen.resolved) {
        return;
    }
    let place = first.url().map_or_else(|| first.id().to_string(), ToOwned::to_owned);
    let body = format!("This repeats {place}; it is counted and answered there.");
    let why = format!("it repeats {}", first.id());
    reply(standing, shown, "repeats", body, why.clone(), deeds);
    resolve(standing, shown, "repeats", why, deeds);
}

/// T7: what was cut off is addressed to the operator, once for each time it got there.
pub(crate) fn escalation_writes(
    standing: &ComputedState,
    shown: &ThreadView<'_>,
    operator: &OperatorConfig,
    deeds: &mut Vec<PlannedWrite>,
) {
    let ThreadStatus::Escalated(cause) = shown.thread.status() else { return };
    if shown.repeats.is_some() || shown.on_forge.is_some_and(|seen| seen.resolved) {
        return;
    }
    let because = escalation_sentence(cause, &shown.thread.reviewer);
    let machine = shown.thread.machine;
    let turn = format!("escalated/{}/{}/{}", cause_name(cause), machine.returns, machine.reopens);
    if let Some(label) = &operator.label {
        deeds.push(PlannedWrite {
            // Each escalation sets it once: who took it off is not argued with until something new waits.
            name: format!("label/{label}/{}/{turn}", shown.id()),
            write: Write::AddLabel { on: target(standing), label: label.clone() },
            why: "a thread waits for a person".to_owned(),
        });
    }
    let mut body = String::new();
    if let Some(mention) = &operator.mention {
        let _infallible = write!(body, "{mention} ");
    }
    let _infallible = write!(
        body,
        "This needs a person: {because}. Nothing more is asked of the reviewer here until somebody decides: uphold, \
         dismiss, or return it to the loop."
    );
    reply(standing, shown, &turn, body, because, deeds);
}

fn cause_name(cause: EscalatedBy) -> &'static str {
    ThreadStatus::Escalated(cause).cause().unwrap_or("escalated")
}

pub(crate) fn escalation_sentence(cause: EscalatedBy, reviewer: &ReviewerName) -> String {
    match cause {
        EscalatedBy::Reviewer => format!("{reviewer} found it worse than it thought"),
        EscalatedBy::Person => "somebody escalated it".to_owned(),
        EscalatedBy::RoundLimit => format!("{reviewer} has held its stance as often as it may"),
        EscalatedBy::ReviewerFailed => format!("{reviewer} never gave an answer that could be used"),
        EscalatedBy::IterationCap => format!("{reviewer} has used up its looks at this pull request"),
        EscalatedBy::Worsened => format!("{reviewer} raised it again, and worse, after a person had it"),
        EscalatedBy::Regressed => format!("{reviewer} resolved it and raised it again too often"),
    }
}

/// L5: a reviewer that has to be asked is asked to look at a new head, once.
pub fn ask_for_review(
    standing: &ComputedState,
    reviewer: &ReviewerName,
    ask: &ReReviewRequest,
) -> Option<PlannedWrite> {
    let head = &standing.snapshot.head.sha;
    let write = match ask {
        ReReviewRequest::Mention(text) => Write::Comment {
            on: target(standing),
            body: text.clone(),
            key: markers::key(&["ask", reviewer.as_str(), head.as_str()])?,
        },
        ReReviewRequest::Request { login } => {
            Write::RequestReview { on: target(standing), reviewer: login.clone(), is_bot: true }
        }
    };
    Some(PlannedWrite {
        name: format!("ask/{reviewer}/{head}"),
        write,
        why: format!("{reviewer} has not reviewed {head} and has to be asked"),
    })
}

/// How a reviewer is asked to look again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReReviewRequest {
    Mention(String),
    Request { login: crate::domain::vocabulary::Login },
}

/// L6: said once, however often the cap is reached before somebody grants a round or reopens.
pub fn round_cap(standing: &ComputedState, rounds: u32, operator: &OperatorConfig) -> Option<PlannedWrite> {
    let since = standing.snapshot.reopened_at.map_or(0, Timestamp::as_second);
    let granted = standing.folded.granted;
    let name = format!("round-cap/{since}/{granted}");
    let mention = operator.mention.as_ref().map_or_else(String::new, |mention| format!("{mention} "));
    let count = match rounds {
        1 => "1 author round".to_owned(),
        _ => format!("{rounds} author rounds"),
    };
    let body = format!(
        "{mention}{count} did not settle this pull request, so no more are started. A person can:\n\n\
         - merge it is,\n- approve it in spite of what is open,\n- close and reopen it, which starts the count again,\n\
         - push the last fix by hand."
    );
    let key = markers::key(&["round-cap", &since.to_string(), &granted.to_string()])?;
    let write = Write::Comment { on: target(standing), body, key };
    Some(PlannedWrite { name, write, why: "the author's rounds are spent".to_owned() })
}

fn reply(
    standing: &ComputedState,
    shown: &ThreadView<'_>,
    turn: &str,
    body: String,
    why: String,
    deeds: &mut Vec<PlannedWrite>,
) {
    let Some(seen) = shown.on_forge else { return };
    let Some(key) = markers::key(&["reply", seen.id.as_str(), turn]) else { return };
    let write = Write::Reply { thread: place(standing, shown, &seen.id), body, key };
    deeds.push(PlannedWrite { name: format!("reply/{}/{turn}", seen.id), write, why });
}

fn resolve(
    standing: &ComputedState,
    shown: &ThreadView<'_>,
    turn: &str,
    why: String,
    deeds: &mut Vec<PlannedWrite>,
) {
    let Some(seen) = shown.on_forge.filter(|seen| !seen.resolved) else { return };
    let write = Write::Resolve { thread: place(standing, shown, &seen.id) };
    deeds.push(PlannedWrite { name: format!("resolve/{}/{turn}", seen.id), write, why });
}

pub fn place(standing: &ComputedState, shown: &ThreadView<'_>, id: &ThreadId) -> ThreadTarget {
    ThreadTarget {
        pull_request: address(standing),
        id: id.clone(),
        path: shown.thread.anchor.path.clone(),
        line: shown.line(),
    }
}

pub fn address(standing: &ComputedState) -> PullRequestAddress {
    PullRequestAddress { repository: standing.snapshot.repository.clone(), number: standing.snapshot.number }
}

pub fn target(standing: &ComputedState) -> PullRequestTarget {
    PullRequestTarget { address: address(standing), node_id: standing.snapshot.node_id.clone() }
}

fn review_text(cycle: &CycleResult, elsewhere: &[String]) -> String {
    let mut body = format!("**{}**", cycle.reviewer);
    match &cycle.summary {
        Some(summary) if !summary.trim().is_empty() => {
            let _infallible = write!(body, "\n\n{}", summary.trim());
        }
        _ => {}
    }
    if !elsewhere.is_empty() {
        let _infallible = write!(body, "\n\nOutside the diff:\n\n{}", elsewhere.join("\n"));
    }
    body
}

fn finding_text(severity: Option<Severity>, title: &str, body: &str, suggestion: Option<&str>) -> String {
    let severity = severity.map_or_else(String::new, |severity| format!(" ({})", severity.name()));
    let mut text = format!("**{title}**{severity}");
    if !body.trim().is_empty() {
        let _infallible = write!(text, "\n\n{}", body.trim_end());
    }
    if let Some(suggestion) = suggestion {
        // A longer fence than any in the code keeps the code inside.
        let longest = suggestion.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let _infallible =
            write!(text, "\n\n{fence}suggestion\n{}\n{fence}", suggestion.trim_end_matches('\n'));
    }
    text
}

/// Whether a reviewer that is missing at this head may be asked at all (C5, C6).
pub fn may_be_asked(standing: &ComputedState, reviewer: &ReviewerName, most: u32) -> bool {
    let done = standing.observed.cycles.get(reviewer).copied().unwrap_or(0);
    let gave_verdict = standing.seen.posts.iter().any(|post| {
        post.reviewer == *reviewer
            && post.counts_for(&standing.seen.anchor)
            && post.is_complete()
            && !matches!(&post.kind, crate::domain::review_loop::PostKind::Comment(PostContent::NotReady))
    });
    done < most && !gave_verdict
}
