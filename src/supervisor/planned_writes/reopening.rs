//! Opens threads on the forge that are resolved there and open here (D4, D5): a reviewer resolved a finding,
//! or a person did, and the reviewer raised it again.

use super::{PlannedWrite, place, reply, target};
use crate::config::OperatorConfig;
use crate::domain::cycle::ThreadChoice;
use crate::domain::driven::CycleNote;
use crate::domain::machine::ThreadStatus;
use crate::domain::vocabulary::{ReviewerAction, Sha, ThreadId};
use crate::github::write::Write;
use crate::output::foreign_text;
use crate::supervisor::computed_state::{ComputedState, ThreadView};
use crate::supervisor::markers;
use crate::supervisor::replay::CycleResult;

/// Why a thread is open here, and the turn of the writes that say so on the forge.
struct Reopening {
    turn: String,
    /// Absent if the reviewer's own reply says it.
    word: Option<String>,
}

/// A thread that is open here is opened there, with a reply that says why. If GitHub does not allow that, a
/// comment on the pull request names it.
pub(super) fn reopening_writes(
    computed: &ComputedState,
    shown: &ThreadView<'_>,
    operator: &OperatorConfig,
    writes: &mut Vec<PlannedWrite>,
) {
    let is_closed_there = shown.on_forge.is_none_or(|seen| seen.resolved);
    if !is_closed_there || shown.thread.status().is_settled() || shown.repeats.is_some() {
        return;
    }
    let reopening = if shown.driven { by_cycle(computed, shown) } else { by_thread(computed, shown) };
    let Some(Reopening { turn, word }) = reopening else { return };
    let why = format!("{} raised it again", shown.thread.reviewer);
    // The mention of the operator says why an escalated thread is open.
    if let Some(word) = word.filter(|_| shown.thread.status() == ThreadStatus::Open) {
        reply(computed, shown, &turn, word, why.clone(), writes);
    }
    let Some(seen) = shown.on_forge else { return };
    if seen.viewer_can_unresolve {
        let write = Write::Unresolve { thread: place(computed, shown, &seen.id) };
        let name = format!("unresolve/{}/{turn}", seen.id);
        writes.push(PlannedWrite { name, write, why, only_marks: false });
    } else {
        let refusal = "this account may not; the write role would be enough";
        writes.extend(cannot_reopen(computed, &seen.id, refusal, operator));
    }
}

/// The comment that names a thread which GitHub does not let Cloture open again. None if the thread need not be
/// opened any more.
pub(crate) fn cannot_reopen(
    computed: &ComputedState,
    thread: &ThreadId,
    refusal: &str,
    operator: &OperatorConfig,
) -> Option<PlannedWrite> {
    let shown = computed.thread(thread)?;
    let Reopening { turn, .. } =
        if shown.driven { by_cycle(computed, &shown) } else { by_thread(computed, &shown) }?;
    let mention = operator.mention.as_ref().map_or_else(String::new, |mention| format!("{mention} "));
    let title = foreign_text::title(&shown.thread.finding.title);
    let line = shown.line().map_or_else(String::new, |line| format!(":{line}"));
    let place = foreign_text::code(&format!("{}{line}", shown.thread.finding.path));
    let said = foreign_text::title(refusal);
    let url = shown.url().unwrap_or(&computed.snapshot.url);
    let reviewer = &shown.thread.reviewer;
    let body = format!(
        "{mention}{reviewer} raised **{title}** ([{place}]({url})) again after it was resolved. It is not \
         settled, but GitHub shows its thread as resolved, and Cloture cannot open it again: {said}. Please \
         open it, or decide about it."
    );
    let key = markers::key(&["closed-there", thread.as_str(), &turn])?;
    let why = format!("the thread cannot be opened again: {refusal}");
    let write = Write::Comment { on: target(computed), body, key };
    Some(PlannedWrite { name: format!("closed-there/{thread}/{turn}"), write, why, only_marks: false })
}

/// A driven reviewer's last word about its thread, if that word leaves it open.
fn by_cycle(computed: &ComputedState, shown: &ThreadView<'_>) -> Option<Reopening> {
    let own = computed.folded.cycles.iter().filter(|cycle| cycle.reviewer == shown.thread.reviewer);
    let words = own.rev().find_map(|cycle| Some((cycle, word(cycle, &shown.thread.id)?)));
    let (cycle, word) = words?;
    let turn = format!("raised-again/{}/{}", cycle.reviewer, cycle.head);
    let (reviewer, head) = (&cycle.reviewer, short(&cycle.head));
    let word = match word {
        LastWord::RaisesAgain => Some(format!(
            "{reviewer} raised this again at {head} after it was resolved, so it is open again."
        )),
        LastWord::Settles => return None,
        // A finding without a thread has nothing to open.
        _ if shown.on_forge.is_none() => return None,
        LastWord::Argues => None,
        LastWord::ListsAgain => Some(format!("{reviewer} still lists this at {head}, so it is open again.")),
    };
    Some(Reopening { turn, word })
}

/// An observed reviewer raised the finding again in another thread.
fn by_thread(computed: &ComputedState, shown: &ThreadView<'_>) -> Option<Reopening> {
    let again = &shown.raised_again?.by;
    let place = computed.thread(again).and_then(|other| other.url()).map_or(again.as_str(), |url| url);
    let word = format!(
        "{} raised this again in {place} after it was resolved. It is counted and answered here, so this thread \
         is open again.",
        shown.thread.reviewer
    );
    Some(Reopening { turn: format!("raised-again/{again}"), word: Some(word) })
}

enum LastWord {
    Settles,
    /// It replies, vetoes or escalates; its own text is posted in the thread.
    Argues,
    /// C7
    ListsAgain,
    /// D4, D5
    RaisesAgain,
}

/// What a cycle says about a thread. None if it does not mention it.
fn word(cycle: &CycleResult, id: &ThreadId) -> Option<LastWord> {
    let raised = cycle.notes.iter().find_map(|note| match note {
        CycleNote::Regressed(thread, _) | CycleNote::Worsened { thread, .. } if thread == id => {
            Some(LastWord::RaisesAgain)
        }
        CycleNote::Relisted(thread) if thread == id => Some(LastWord::ListsAgain),
        CycleNote::Unlisted(thread) if thread == id => Some(LastWord::Settles),
        _ => None,
    });
    let chosen = cycle.choices.iter().find(|choice| choice.thread == *id);
    raised.or_else(|| {
        Some(match chosen? {
            ThreadChoice { action: ReviewerAction::Resolve, .. } => LastWord::Settles,
            _ => LastWord::Argues,
        })
    })
}

fn short(sha: &Sha) -> &str {
    sha.as_str().get(..8).unwrap_or(sha.as_str())
}
