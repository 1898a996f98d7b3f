//! The invariants of Cloture after every step: it knows the forge's state, its views agree with its journal,
//! and it passes no bound.

use super::lives::Rules;
use super::world::VIEWER;
use cloture::domain::machine::ThreadStatus;
use cloture::domain::snapshot::PullRequestState;
use cloture::journal::Record;
use cloture::simulator::{PullSnapshot, PullState};
use cloture::supervisor::PullRequestView;
use cloture::supervisor::computed_state::{ComputedState, RepositoryRules as Standards};
use cloture::supervisor::fact::Fact;
use cloture::supervisor::history::History;
use cloture::supervisor::markers::posted_reply;
use cloture::supervisor::people::inbox::waiting;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A state that is computed anew from the journal and the last snapshot equals the view.
pub(crate) fn is_as_recorded(
    view: &PullRequestView,
    records: &[Record],
    rules: &Rules,
) -> Result<(), String> {
    let Some(computed) = &view.computed else { return Ok(()) };
    let past = History::of(records);
    let standards = Standards::of(&rules.config, &*rules.reads, &view.address.repository, false);
    let anew = ComputedState::of(Arc::clone(&computed.snapshot), &past, &standards);
    let parts = |of: &ComputedState| {
        [
            format!("{:?}", of.observed),
            format!("{:?}", of.folded),
            format!("{:?}", of.seen),
            format!("{:?} {:?} {:?}", of.unowned, of.recognised, of.seen.expected),
        ]
    };
    for (shown, anew) in parts(computed).iter().zip(parts(&anew)) {
        if *shown != anew {
            let same = shown.bytes().zip(anew.bytes()).take_while(|(a, b)| a == b).count();
            let around = |of: &str| of.chars().skip(same.saturating_sub(200)).take(500).collect::<String>();
            return Err(format!(
                "{}: what is shown is not what is recorded:\n  shown {}\n  anew  {}",
                view.address,
                around(shown),
                around(&anew)
            ));
        }
    }
    Ok(())
}

/// The bounds of the thread machine and of the loop, and that threads that wait for a person are in the
/// inbox.
pub(crate) fn bounds(view: &PullRequestView, records: &[Record], rules: &Rules) -> Vec<String> {
    let Some(computed) = &view.computed else { return Vec::new() };
    let policy = &rules.config.policy;
    let at = &view.address;
    let mut wrong = Vec::new();
    let inbox = waiting(computed, policy);
    let listed: BTreeSet<_> =
        inbox.iter().flat_map(|item| item.others.iter().chain([item.shown.id()])).collect();
    for shown in computed.threads() {
        let (id, machine) = (shown.id(), shown.thread.machine);
        let counters = machine.counters;
        let bound = policy.cycles_per_thread();
        let is_open = machine.status == ThreadStatus::Open;
        if u64::from(counters.cycles) > bound || is_open && u64::from(counters.cycles) >= bound {
            wrong.push(format!(
                "{at}: T5: {id} has taken {} cycles and is {:?}",
                counters.cycles, machine.status
            ));
        }
        // D5 counts on when a reviewer resolves a thread at its limit and then raises the finding again.
        let most_rounds = policy.repeat_limit + policy.reopen_limit + 1;
        if counters.round_count > most_rounds || counters.flips > policy.flip_limit {
            wrong.push(format!("{at}: T3: {id} has {counters:?}"));
        }
        if machine.reopens > policy.reopen_limit + 1 {
            wrong.push(format!("{at}: D5: {id} was reopened {} times", machine.reopens));
        }
        // T5 on the forge: the replies in the reviewer's name.
        let replies = shown.on_forge.map_or(0, |seen| seen.comments.iter().filter_map(posted_reply).count());
        if replies as u64 > bound * u64::from(machine.returns + 1) {
            wrong.push(format!("{at}: T5: {id} has {replies} replies of its reviewer"));
        }
        let waits = matches!(machine.status, ThreadStatus::Vetoed(_) | ThreadStatus::Escalated(_));
        if waits && shown.repeats.is_none() && !listed.contains(id) {
            wrong.push(format!("{at}: T2: {id} is {:?} and not in the inbox", machine.status));
        }
    }
    let folded = &computed.folded;
    if folded.dispatched > policy.max_rounds + folded.granted {
        wrong.push(format!("{at}: L6: {} rounds, {} granted", folded.dispatched, folded.granted));
    }
    for (reviewer, calls) in calls(records) {
        if calls > policy.calls_per_reviewer() {
            wrong.push(format!("{at}: C4, C6: {reviewer} was asked {calls} times"));
        }
    }
    let attempt = view.review_loop.attempt();
    if attempt > policy.max_attempts {
        wrong.push(format!("{at}: L2: attempt {attempt} of {}", policy.max_attempts));
    }
    wrong
}

/// The reason why a thread that an instance just resolved should be open.
pub(crate) fn should_be_open(view: &PullRequestView, thread: &str) -> Option<String> {
    let computed = view.computed.as_ref()?;
    let shown = computed.thread(&thread.into())?;
    let status = shown.thread.status();
    let may = status.is_settled() || shown.repeats.is_some() || shown.resolve_proposed;
    (!may).then(|| format!("{}: {thread} was resolved, and is {status:?}", view.address))
}

/// The number of calls of each driven reviewer in the journal.
fn calls(records: &[Record]) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    for record in records {
        if let Some(dated) = Fact::read(record)
            && let Fact::Asked { reviewer, attempt, .. } = dated.fact
            && attempt > 0
        {
            *calls.entry(reviewer.to_string()).or_default() += 1;
        }
    }
    calls
}

/// The view has everything that the forge has. Only for a pull request that was polled after its last change.
pub(crate) fn knows(view: &PullRequestView, pull: &PullSnapshot) -> Vec<String> {
    let at = &view.address;
    // Cloture looks again for a missing pull request only after an hour, and shows it as missing until then.
    if view.refusal.is_some() {
        return Vec::new();
    }
    let Some(computed) = &view.computed else {
        return vec![format!("{at} was never read: {:?}", view.trouble)];
    };
    let snapshot = &computed.snapshot;
    let mut wrong = Vec::new();
    let state = match snapshot.state {
        PullRequestState::Open => PullState::Open,
        PullRequestState::Closed => PullState::Closed,
        PullRequestState::Merged => PullState::Merged,
    };
    if state != pull.state || snapshot.head.sha.as_str() != pull.head {
        wrong.push(format!(
            "{at} is {:?} at {}, and is taken for {state:?} at {}; {:?}",
            pull.state, pull.head, snapshot.head.sha, view.trouble
        ));
    }
    let on_board: BTreeSet<&str> = computed
        .threads()
        .iter()
        .map(|shown| shown.id().as_str())
        .chain(computed.unowned.iter().map(|thread| thread.id.as_str()))
        .collect();
    for thread in &pull.threads {
        let known = snapshot.threads.iter().find(|seen| seen.id.as_str() == thread.id);
        let Some(known) = known else {
            wrong.push(format!("{at}: the thread {} is not known", thread.id));
            continue;
        };
        let comments = thread.comments.iter().filter(|comment| !comment.pending).count();
        if known.resolved != thread.resolved || known.comments.len() != comments {
            wrong.push(format!(
                "{at}: the thread {} is resolved: {} with {comments} comments, and is taken for {} with {}",
                thread.id,
                thread.resolved,
                known.resolved,
                known.comments.len()
            ));
        }
        if !on_board.contains(thread.id.as_str()) {
            wrong.push(format!("{at}: the thread {} is on nobody's board", thread.id));
        }
    }
    // S1: only threads that we wrote count as ours, and Cloture forgets none that it posted.
    for (own, forge) in &computed.folded.posted {
        if computed.folded.engine.thread(own).is_none() {
            let driven: Vec<_> = computed.folded.engine.threads().map(|thread| &thread.id).collect();
            wrong.push(format!("{at}: {own} was posted as {forge}, and only {driven:?} are known"));
        }
        let thread = pull.threads.iter().find(|thread| thread.id == forge.as_str());
        let by = thread.and_then(|thread| thread.comments.first()).map(|comment| comment.by.as_str());
        if by != Some(VIEWER) {
            wrong.push(format!("{at}: S1: the thread {forge} counts as ours and is by {by:?}"));
        }
    }
    wrong
}
