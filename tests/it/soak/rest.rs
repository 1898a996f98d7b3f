//! The end of a soak: no faults, nobody acts, and every loop must come to rest. Then the test checks that
//! every task arrived once, that everything that waits for a person says so, and that the journal is intact.

use super::course::Course;
use super::forge_side::{ForgeSide, our_texts, task_key};
use super::our_side;
use super::world::VIEWER;
use crate::support::harness::{Place, address};
use cloture::agents::targets::KEY_PREFIX;
use cloture::domain::machine::Decision;
use cloture::domain::machine::ThreadStatus;
use cloture::domain::observed::{ThreadEvent, ThreadEventKind};
use cloture::domain::review_loop::{Exit, Phase};
use cloture::domain::snapshot::PullRequestState;
use cloture::domain::vocabulary::ThreadId;
use cloture::github::PullRequestAddress;
use cloture::github::write::WriteKey;
use cloture::journal::{INTENT, Record};
use cloture::simulator::{CommentSnapshot, PullSnapshot, PullState, Snapshot};
use cloture::supervisor::fact::Fact;
use cloture::supervisor::history::History;
use cloture::supervisor::view::HandoffState;
use cloture::supervisor::{DueState, PullRequestView};
use sqlx::{ConnectOptions, Connection};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Every loop comes to rest within this many polls: Cloture looks for a missing pull request again after an
/// hour, and then a whole wait may follow.
const POLLS: usize = 100;

/// Waits until every loop is at rest, and checks the final state.
pub(crate) fn come_to_rest(course: &mut Course) {
    // A new instance, on a machine with the right clock.
    course.start_anew();
    let mut restless = Vec::new();
    for _ in 0..POLLS {
        course.quiet_step();
        let views = course.views();
        restless = views.values().filter_map(|view| why_restless(view)).collect();
        if restless.is_empty() && views.len() == course.pulls.len() {
            break;
        }
    }
    course.judge(&restless);
    let forge = course.place.simulator.snapshot();
    let views = course.views();
    let mut wrong = ForgeSide::standing_marks(&forge);
    let delivered = deliveries(&course.place, &forge);
    let mut decided = BTreeMap::new();
    for pull in &forge.pull_requests {
        let name = address(&format!("{}#{}", pull.repository, pull.number));
        let view = &views[&name];
        wrong.extend(our_side::knows(view, pull));
        wrong.extend(addressed(view, pull));
        wrong.extend(handed_over(view, pull, &delivered));
        decided.extend(view.handoffs.iter().map(|handoff| (handoff.key.clone(), name.clone())));
        course.counted(&format!("at the end: pull requests {}", ending(view)), 1);
        let computed = view.computed.as_ref().unwrap();
        for shown in computed.threads() {
            course.counted(&format!("at the end: threads {}", shown.thread.status().name()), 1);
        }
        course.counted("at the end: threads of nobody", computed.unowned.len());
        for handoff in &view.handoffs {
            let state = match &handoff.state {
                HandoffState::Sent { .. } => "sent",
                HandoffState::Stuck(_) => "left to a person",
                HandoffState::Waiting { .. } => "waiting",
            };
            course.counted(&format!("at the end: tasks {state}"), 1);
        }
    }
    for (key, times) in &delivered {
        if !decided.contains_key(key) {
            wrong.push(format!("H1: {key} was delivered {times} times, and no merge decided it"));
        }
    }
    wrong.extend(told_and_kept(course, &views));
    course.judge(&wrong);
}

/// L4, L8: every loop has ended or waits for a person, and no write is under way or due.
pub(crate) fn why_restless(view: &PullRequestView) -> Option<String> {
    let phase = view.review_loop.phase();
    let waits = match phase {
        Phase::Ended(_) | Phase::Paused(_) => None,
        phase => Some(format!("its loop is {phase:?}")),
    };
    let silenced = matches!(phase, Phase::Paused(_) | Phase::Ended(Exit::Stopped | Exit::BreakGlass(_)));
    let is_open = view.snapshot().is_some_and(|snapshot| snapshot.state == PullRequestState::Open);
    let possible = view.due.iter().find(|due| !matches!(due.state, DueState::CannotBeDone(_)));
    let possible = possible.filter(|_| view.drive && is_open && !silenced);
    let due = possible.map(|due| format!("{due:?} is due"));
    let sending = view.handoffs.iter().find(|handoff| matches!(handoff.state, HandoffState::Waiting { .. }));
    let sending = sending.map(|handoff| format!("a task is on its way: {handoff:?}"));
    let trouble = view.trouble.clone().or_else(|| view.refusal.as_ref().map(ToString::to_string));
    let working =
        (!view.thinking.is_empty() || view.author_at_work).then(|| "somebody is at work".to_owned());
    let why = waits.or(due).or(sending).or(trouble).or(working)?;
    Some(format!("{} does not come to rest: {why}", view.address))
}

fn ending(view: &PullRequestView) -> String {
    match view.review_loop.phase() {
        Phase::Ended(exit) => exit.name().to_owned(),
        phase => format!("{phase:?}").to_lowercase().chars().take_while(|c| c.is_alphabetic()).collect(),
    }
}

/// T7, L6: we told people on the forge what they have to decide; forged marks do not count. D5: a thread that is
/// open here is open there, or a comment of ours says why not.
pub(crate) fn addressed(view: &PullRequestView, pull: &PullSnapshot) -> Vec<String> {
    let mut wrong = Vec::new();
    let ended = view.exit().map_or("", Exit::name);
    let silenced =
        matches!(view.review_loop.phase(), Phase::Paused(_)) || ended == "stopped" || ended == "break_glass";
    if !view.drive || pull.state != PullState::Open || silenced {
        return wrong;
    }
    let computed = view.computed.as_ref().unwrap();
    for shown in computed.threads() {
        let in_text = computed.folded.in_text.contains_key(&shown.thread.id);
        let is_posted = shown.on_forge.is_some() || in_text;
        if !is_posted || shown.repeats.is_some() || shown.thread.status().is_settled() {
            continue;
        }
        let thread = pull.threads.iter().find(|thread| thread.id == shown.id().as_str());
        let says = |comments: &[CommentSnapshot], what: &str| {
            let said = comments.iter().filter(|comment| comment.by == VIEWER);
            let mut keys = said.filter_map(|comment| WriteKey::parse_marker(&comment.body));
            keys.any(|key| key.as_str().contains(what))
        };
        let conversation = thread.map_or(&pull.comments, |thread| &thread.comments);
        let is_escalated = matches!(shown.thread.status(), ThreadStatus::Escalated(_));
        if is_escalated && !says(conversation, "escalated") {
            wrong.push(format!("{}: T7: {} is escalated, and nobody was told", view.address, shown.id()));
        }
        if thread.is_some_and(|thread| thread.resolved) && !says(&pull.comments, "closed-there") {
            let status = shown.thread.status();
            wrong.push(format!("{}: D5: {} is {status:?}, and resolved there", view.address, shown.id()));
        }
    }
    if ended == "round_cap" {
        let mut keys = our_texts(pull).filter_map(WriteKey::parse_marker);
        if !keys.any(|key| key.as_str().starts_with("round-cap/")) {
            wrong.push(format!("{}: L6: the rounds are spent, and nobody was told", view.address));
        }
    }
    wrong
}

/// How often each task arrived, at any target.
pub(crate) fn deliveries(place: &Place, forge: &Snapshot) -> BTreeMap<String, usize> {
    let mut delivered = BTreeMap::new();
    let issues = forge.issues.iter().filter(|issue| issue.by == VIEWER).map(|issue| issue.body.as_str());
    let comments = forge.pull_requests.iter().flat_map(our_texts);
    let keys = issues.chain(comments).filter_map(WriteKey::parse_marker).map(|key| key.to_string());
    let events = forge.dispatches.iter().filter_map(|event| task_key(&event.client_payload));
    let commands = place.read("tasks");
    let commands = commands.lines().map(ToOwned::to_owned);
    for key in keys.filter(|key| key.starts_with(KEY_PREFIX)).chain(events).chain(commands) {
        *delivered.entry(key).or_default() += 1;
    }
    delivered
}

/// H1, H4, H6: each task is sent once, at the merge, and none without a merge.
pub(crate) fn handed_over(
    view: &PullRequestView,
    pull: &PullSnapshot,
    delivered: &BTreeMap<String, usize>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let at = &view.address;
    if pull.state != PullState::Merged && !view.handoffs.is_empty() {
        wrong.push(format!("{at}: H1: it is {:?} and hands over {:?}", pull.state, view.handoffs));
    }
    for handoff in &view.handoffs {
        let times = delivered.get(&handoff.key).copied().unwrap_or(0);
        let fits = match &handoff.state {
            HandoffState::Sent { .. } => times == 1,
            // In doubt, or refused every time: a person decides.
            HandoffState::Stuck(_) => times <= 1,
            HandoffState::Waiting { .. } => false,
        };
        if !fits {
            wrong.push(format!("{at}: H4: {} arrived {times} times and is {:?}", handoff.key, handoff.state));
        }
    }
    let computed = view.computed.as_ref().unwrap();
    let is_handoff = |event: &ThreadEvent| event.what == ThreadEventKind::HandedOff;
    let decided_none = !computed.folded.happened.iter().any(is_handoff);
    if pull.state == PullState::Merged && decided_none != view.handoffs.is_empty() {
        wrong.push(format!("{at}: H1: what was decided is not what is shown"));
    }
    wrong
}

/// H6: every queued finding is sent. Only for the view at the merge: a thread that is reopened later stays.
pub(crate) fn queued_goes(view: &PullRequestView, records: &[Record]) -> Vec<String> {
    let computed = view.computed.as_ref().unwrap();
    let queued = queued_before_merge(records);
    let forgotten = computed.threads().into_iter().filter(|shown| {
        let thread = shown.thread;
        let is_wanted = queued.contains(&thread.id) || queued.contains(shown.id());
        is_wanted && !thread.status().is_settled() && shown.repeats.is_none() && !thread.handed_off
    });
    let said = |id: &ThreadId| format!("{}: H6: {id} was queued, and was not handed over", view.address);
    forgotten.map(|shown| said(shown.id())).collect()
}

/// The threads in the queue when the merge was recorded. Queueing later has no effect, and Cloture says so.
fn queued_before_merge(records: &[Record]) -> BTreeSet<ThreadId> {
    let mut queued = BTreeSet::new();
    for dated in records.iter().filter_map(Fact::read) {
        match dated.fact {
            Fact::Merged { .. } => break,
            Fact::Decided { thread, verb: Decision::Queue, .. } => {
                queued.insert(thread);
            }
            Fact::Decided { thread, verb: Decision::Unqueue, .. } => {
                queued.remove(&thread);
            }
            Fact::Closed => queued.clear(),
            _ => {}
        }
    }
    queued
}

/// The journal has every exit and the outcome of every task, and its file is intact.
fn told_and_kept(
    course: &mut Course,
    views: &BTreeMap<PullRequestAddress, Arc<PullRequestView>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let unconcluded = course.world.block_on(course.journal.unconcluded(None)).unwrap();
    for record in unconcluded {
        assert_eq!(record.kind, INTENT);
        let is_task = record.key.as_ref().is_some_and(|key| key.starts_with(KEY_PREFIX));
        if is_task {
            wrong.push(format!("H4: nobody knows what became of a task: {record:?}"));
        }
        // A failed write that is no longer due: the head moved, or somebody else did it.
        course.counted("at the end: intents that nothing calls for any more", 1);
    }
    for (address, view) in views {
        let records = course.world.block_on(course.records(address));
        let told = History::of(&records).last_exit().map(Exit::name);
        if let Some(exit) = view.exit()
            && told != Some(exit.name())
        {
            wrong.push(format!("{address}: it ended with {}, and the journal says {told:?}", exit.name()));
        }
    }
    let path = course.place.journal.path().unwrap().to_owned();
    let whole: String = course.world.block_on(async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut connection = options.connect().await.unwrap();
        let whole = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        whole
    });
    if whole != "ok" {
        wrong.push(format!("the journal is damaged: {whole}"));
    }
    wrong
}
