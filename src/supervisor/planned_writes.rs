//! The writes that the computed state calls for. Each has a name under which it is done once.
//!
//! Nothing here remembers what was sent. The same state always gives the same writes with the same names; the
//! journal knows which of them have an outcome, and the writer looks for the others before it sends them. So
//! a crash at any moment leaves no write undone and repeats none.

mod reopening;

pub(crate) use reopening::cannot_reopen;

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
use crate::github::write::{NewReviewThread, PullRequestTarget, ThreadTarget, Write, WriteKey};
use crate::output::foreign_text;
use jiff::Timestamp;
use std::fmt::Write as _;

/// One thing to write, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedWrite {
    /// Unique on the pull request.
    pub name: String,
    pub write: Write,
    pub why: String,
    /// It only marks what another write tells a person, as a label does. If GitHub refuses it, that is said and
    /// nothing else fails.
    pub only_marks: bool,
}

/// The turn of the resolution of a thread that the reviewer let go (C8). Each time the finding is raised again, it
/// can be let go once more.
pub(crate) fn let_go(raised_again: u32) -> String {
    match raised_again {
        0 => "let-go".to_owned(),
        times => format!("let-go/{times}"),
    }
}

/// The turn of the writes in a duplicate thread (D3).
pub(crate) const REPEATS: &str = "repeats";

/// The name of the driver's resolution of a thread.
pub(crate) fn resolve_name(thread: &ThreadId, turn: &str) -> String {
    format!("resolve/{thread}/{turn}")
}

/// All writes that the state of a driven pull request calls for, in order.
pub fn planned_writes(computed: &ComputedState, operator: &OperatorConfig) -> Vec<PlannedWrite> {
    let mut writes = Vec::new();
    for cycle in &computed.folded.cycles {
        cycle_writes(computed, cycle, &mut writes);
    }
    for shown in computed.threads() {
        repetition_writes(computed, &shown, &mut writes);
        if shown.resolve_proposed {
            let why = "the code was changed, and the reviewer said nothing more about it".to_owned();
            let raised_again = computed.folded.raised_again.get(shown.id()).copied().unwrap_or(0);
            resolve(computed, &shown, &let_go(raised_again), why, &mut writes);
        }
        reopening::reopening_writes(computed, &shown, operator, &mut writes);
        escalation_writes(computed, &shown, operator, &mut writes);
    }
    writes
}

/// C3: a cycle's answer as one review with its new threads, then its replies in existing threads.
fn cycle_writes(computed: &ComputedState, cycle: &CycleResult, writes: &mut Vec<PlannedWrite>) {
    let Some(key) = markers::review(&cycle.reviewer, &cycle.head) else { return };
    let (mut threads, mut elsewhere) = (Vec::new(), Vec::new());
    for id in &cycle.opened {
        let Some(thread) = computed.folded.engine.thread(id) else { continue };
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
            (_, key) => {
                let marker = key.as_ref().map(markers::in_text).unwrap_or_default();
                let (path, title) =
                    (foreign_text::code(finding.path.as_str()), foreign_text::title(&finding.title));
                let body = markers::without_markers(&foreign_text::markdown(&finding.body));
                let title = markers::without_markers(&title);
                let body: String = body.lines().flat_map(|line| ["\n  ", line]).collect();
                let space = if body.is_empty() { "" } else { "\n" };
                elsewhere.push(format!("- {marker}{path}: **{title}**{space}{body}"));
            }
        }
    }
    let body = review_text(cycle, &elsewhere);
    let (verdict, head) = (cycle.verdict, cycle.head.clone());
    let write = Write::Review { on: target(computed), verdict, head, body, threads, key };
    let name = format!("review/{}/{}", cycle.reviewer, cycle.number);
    writes.push(PlannedWrite {
        name,
        write,
        why: format!("{} completed its look at {}", cycle.reviewer, cycle.head),
        only_marks: false,
    });
    for choice in &cycle.choices {
        choice_writes(computed, cycle, choice, writes);
    }
    unlisted_writes(computed, cycle, writes);
}

fn choice_writes(
    computed: &ComputedState,
    cycle: &CycleResult,
    choice: &ThreadChoice,
    writes: &mut Vec<PlannedWrite>,
) {
    let Some(shown) = computed.thread(&choice.thread) else { return };
    let turn = turn(cycle);
    let resolves = choice.action == ReviewerAction::Resolve;
    let fixed = format!("{} says that it is fixed", cycle.reviewer);
    let mut body = foreign_text::markdown(choice.comment.as_deref().unwrap_or_default().trim());
    if resolves && shown.on_forge.is_none() {
        // Without a thread, nothing on the forge would show that it is resolved.
        let _infallible =
            write!(body, "{}{fixed}, so it is resolved.", if body.is_empty() { "" } else { "\n\n" });
    }
    if !body.is_empty() {
        let why = format!("{} chose to {}", cycle.reviewer, choice.action.name());
        let key = |thread: &ThreadId| markers::reply(thread, &cycle.reviewer, &cycle.head);
        reply_with(key, computed, &shown, &turn, body, why, writes);
    }
    // A thread that was raised again since then is open.
    if resolves && shown.thread.status().is_settled() {
        resolve(computed, &shown, &turn, fixed, writes);
    }
}

/// A cycle in the names of its writes, which the journal alone reads: a count is enough there.
fn turn(cycle: &CycleResult) -> String {
    format!("{}/{}", cycle.reviewer, cycle.number)
}

/// C7: a reviewer that only lists findings resolves those that it no longer lists.
fn unlisted_writes(computed: &ComputedState, cycle: &CycleResult, writes: &mut Vec<PlannedWrite>) {
    for note in &cycle.notes {
        let CycleNote::Unlisted(id) = note else { continue };
        let Some(shown) = computed.thread(id) else { continue };
        if shown.thread.status() == ThreadStatus::Resolved(ResolvedBy::Reviewer) {
            let turn = format!("unlisted/{}", turn(cycle));
            let why = format!("{} no longer lists it", cycle.reviewer);
            if shown.on_forge.is_none() {
                let body = format!("{why}, so it is resolved.");
                reply(computed, &shown, &turn, body, why.clone(), writes);
            }
            resolve(computed, &shown, &turn, why, writes);
        }
    }
}

/// D3: a duplicate thread gets a link to the first one and is resolved, so that the argument stays in one
/// place.
fn repetition_writes(computed: &ComputedState, shown: &ThreadView<'_>, writes: &mut Vec<PlannedWrite>) {
    let Some(first) = shown.repeats.and_then(|id| computed.thread(id)) else { return };
    if shown.on_forge.is_none_or(|seen| seen.resolved) {
        return;
    }
    let place = first.url().map_or_else(|| first.id().to_string(), ToOwned::to_owned);
    let body = format!("This repeats {place}; it is counted and answered there.");
    let why = format!("it repeats {}", first.id());
    reply(computed, shown, REPEATS, body, why.clone(), writes);
    // D4, D5: while the first thread is resolved on the forge, this one shows that the finding is not settled.
    let is_shown_there = first.on_forge.is_none_or(|seen| !seen.resolved);
    if is_shown_there || first.thread.status().is_settled() {
        resolve(computed, shown, REPEATS, why, writes);
    }
}

/// T7: an escalated thread is addressed to the operator, once per escalation.
pub(crate) fn escalation_writes(
    computed: &ComputedState,
    shown: &ThreadView<'_>,
    operator: &OperatorConfig,
    writes: &mut Vec<PlannedWrite>,
) {
    let ThreadStatus::Escalated(cause) = shown.thread.status() else { return };
    if shown.repeats.is_some() {
        return;
    }
    let reason = escalation_sentence(cause, &shown.thread.reviewer);
    let machine = shown.thread.machine;
    let mut turn = format!("escalated/{}/{}/{}", cause_name(cause), machine.returns, machine.reopens);
    let escalations = computed.folded.escalations.get(&shown.thread.id).copied().unwrap_or(0);
    if cause == EscalatedBy::Person && escalations > 1 {
        let _infallible = write!(turn, "/{escalations}");
    }
    let mut body = String::new();
    if let Some(mention) = &operator.mention {
        let _infallible = write!(body, "{mention} ");
    }
    let _infallible = write!(
        body,
        "This needs a person: {reason}. Cloture asks the reviewer nothing more here until somebody decides: \
         uphold, dismiss, or return it to the loop."
    );
    // The comment tells a person; the label only marks it, and the token may not be allowed to create one.
    reply(computed, shown, &turn, body, reason, writes);
    if let Some(label) = &operator.label {
        writes.push(PlannedWrite {
            // Each escalation sets the label once. A person may take it off; only a new escalation sets it
            // again.
            name: format!("label/{label}/{}/{turn}", shown.id()),
            write: Write::AddLabel { on: target(computed), label: label.clone() },
            why: "a thread waits for a person".to_owned(),
            only_marks: true,
        });
    }
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

/// L5: asks a reviewer for a review of the new head, once.
pub fn ask_for_review(
    computed: &ComputedState,
    reviewer: &ReviewerName,
    ask: &ReReviewRequest,
) -> Option<PlannedWrite> {
    let head = &computed.snapshot.head.sha;
    let write = match ask {
        ReReviewRequest::Mention(text) => Write::Comment {
            on: target(computed),
            body: text.clone(),
            key: markers::key(&["ask", reviewer.as_str(), head.as_str()])?,
        },
        ReReviewRequest::Request { login } => {
            Write::RequestReview { on: target(computed), reviewer: login.clone(), is_bot: true }
        }
    };
    Some(PlannedWrite {
        name: format!("ask/{reviewer}/{head}"),
        write,
        why: format!("{reviewer} has not reviewed {head} and has to be asked"),
        only_marks: false,
    })
}

/// How to ask a reviewer for another review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReReviewRequest {
    Mention(String),
    Request { login: crate::domain::vocabulary::Login },
}

/// L6: posted once until a person grants a round or reopens the pull request.
pub fn round_cap(computed: &ComputedState, rounds: u32, operator: &OperatorConfig) -> Option<PlannedWrite> {
    let since = computed.snapshot.counts_from.map_or(0, Timestamp::as_second);
    let granted = computed.folded.granted;
    let name = format!("round-cap/{since}/{granted}");
    let mention = operator.mention.as_ref().map_or_else(String::new, |mention| format!("{mention} "));
    let count = match rounds {
        1 => "1 author round".to_owned(),
        _ => format!("{rounds} author rounds"),
    };
    let body = format!(
        "{mention}{count} did not settle this pull request, so no more are started. A person can:\n\n\
         - merge it as it is,\n- approve it in spite of the open findings,\n\
         - close and reopen it, which starts the count again,\n- push the last fix by hand."
    );
    let key = markers::key(&["round-cap", &since.to_string(), &granted.to_string()])?;
    let write = Write::Comment { on: target(computed), body, key };
    Some(PlannedWrite { name, write, why: "the author's rounds are spent".to_owned(), only_marks: false })
}

/// A reply in the finding's thread. A finding without a thread gets a comment that quotes it.
fn reply(
    computed: &ComputedState,
    shown: &ThreadView<'_>,
    turn: &str,
    body: String,
    why: String,
    writes: &mut Vec<PlannedWrite>,
) {
    let key = |thread: &ThreadId| markers::key(&["reply", thread.as_str(), turn]);
    reply_with(key, computed, shown, turn, body, why, writes);
}

/// The same, with a key of its own.
fn reply_with(
    key: impl FnOnce(&ThreadId) -> Option<WriteKey>,
    computed: &ComputedState,
    shown: &ThreadView<'_>,
    turn: &str,
    body: String,
    why: String,
    writes: &mut Vec<PlannedWrite>,
) {
    let Some(seen) = shown.on_forge else {
        writes.extend(comment_about(computed, shown, turn, &body, why));
        return;
    };
    let Some(key) = key(&seen.id) else { return };
    let write = Write::Reply { thread: place(computed, shown, &seen.id), body, key };
    let name = format!("reply/{}/{turn}", seen.id);
    writes.push(PlannedWrite { name, write, why, only_marks: false });
}

/// A comment on the pull request that quotes a finding without a thread. None if the finding is not posted yet,
/// or has a thread.
pub(crate) fn comment_about(
    computed: &ComputedState,
    shown: &ThreadView<'_>,
    turn: &str,
    body: &str,
    why: String,
) -> Option<PlannedWrite> {
    let id = &shown.thread.id;
    let review = computed.folded.in_text.get(id)?;
    let finding = &shown.thread.finding;
    let line = finding.lines.map_or_else(String::new, |lines| format!(":{}", lines.last()));
    let title = foreign_text::title(&finding.title);
    let place = foreign_text::code(&format!("{}{line}", finding.path));
    let body = format!("> **{title}** ([{place}]({review}))\n\n{body}");
    let key = markers::key(&["about", id.as_str(), turn])?;
    let write = Write::Comment { on: target(computed), body, key };
    Some(PlannedWrite { name: format!("about/{id}/{turn}"), write, why, only_marks: false })
}

fn resolve(
    computed: &ComputedState,
    shown: &ThreadView<'_>,
    turn: &str,
    why: String,
    writes: &mut Vec<PlannedWrite>,
) {
    let Some(seen) = shown.on_forge.filter(|seen| !seen.resolved) else { return };
    let write = Write::Resolve { thread: place(computed, shown, &seen.id) };
    writes.push(PlannedWrite { name: resolve_name(&seen.id, turn), write, why, only_marks: false });
}

pub fn place(computed: &ComputedState, shown: &ThreadView<'_>, id: &ThreadId) -> ThreadTarget {
    ThreadTarget {
        pull_request: address(computed),
        id: id.clone(),
        path: shown.thread.anchor.path.clone(),
        line: shown.line(),
    }
}

pub fn address(computed: &ComputedState) -> PullRequestAddress {
    PullRequestAddress { repository: computed.snapshot.repository.clone(), number: computed.snapshot.number }
}

pub fn target(computed: &ComputedState) -> PullRequestTarget {
    PullRequestTarget { address: address(computed), node_id: computed.snapshot.node_id.clone() }
}

fn review_text(cycle: &CycleResult, elsewhere: &[String]) -> String {
    let mut body = format!("**{}**", cycle.reviewer);
    match &cycle.summary {
        Some(summary) if !summary.trim().is_empty() => {
            let _infallible =
                write!(body, "\n\n{}", markers::without_markers(&foreign_text::markdown(summary)));
        }
        _ => {}
    }
    if let Some(why) = &cycle.whole {
        let _infallible = write!(
            body,
            "\n\n_This is a review of the whole pull request, not only of the changes since the last review: \
             {why}._"
        );
    }
    if !elsewhere.is_empty() {
        let _infallible = write!(body, "\n\nOutside the diff:\n\n{}", elsewhere.join("\n"));
    }
    body
}

pub(super) fn finding_text(
    severity: Option<Severity>,
    title: &str,
    body: &str,
    suggestion: Option<&str>,
) -> String {
    let severity = severity.map_or_else(String::new, |severity| format!(" ({})", severity.name()));
    let mut text = format!("**{}**{severity}", foreign_text::title(title));
    if !body.trim().is_empty() {
        let _infallible = write!(text, "\n\n{}", foreign_text::markdown(body));
    }
    if let Some(suggestion) = suggestion {
        let _infallible = write!(text, "\n\n{}", foreign_text::suggestion(suggestion).trim_end());
    }
    // GitHub may refuse the thread, and then this is part of the review's text.
    markers::without_markers(&text)
}

/// Whether a reviewer may be asked for a review of this head (C5, C6).
pub fn may_be_asked(computed: &ComputedState, reviewer: &ReviewerName, most: u32) -> bool {
    let done = computed.observed.cycles.get(reviewer).copied().unwrap_or(0);
    let gave_verdict = computed.seen.posts.iter().any(|post| {
        post.reviewer == *reviewer
            && post.counts_for(&computed.seen.anchor)
            && post.is_complete()
            && !matches!(&post.kind, crate::domain::review_loop::PostKind::Comment(PostContent::NotReady))
    });
    done < most && !gave_verdict
}
