//! A person's ways out of a loop whose rounds are spent (L6), and the break-glass label (R7).
//!
//! Each way describes itself in sentences and carries its writes as data; [`write_out`](super::write_out)
//! carries them out, each with its intent and its outcome in the journal.
//!
//! What is absent: nothing here asks for consent, and nothing is written here.

use super::pull_request_planner::PullRequestPlanner;
use super::{PlanOutcome, WriteAttempt};
use crate::domain::re_review::{BreakGlassRules, BrokenGlass};
use crate::domain::review_loop::Exit;
use crate::domain::snapshot::PullRequestState;
use crate::failure::Failure;
use crate::github::WriteOutcome;
use crate::github::write::{MergeMethod, Write};
use crate::supervisor::LoopCommand;
use crate::supervisor::computed_state::{ComputedState, RepositoryRules};
use crate::supervisor::history::History;
use crate::supervisor::planned_writes::{self, PlannedWrite};

/// The inputs for planning the ways out.
#[derive(Debug, Clone, Copy)]
pub struct WayOutQuery<'a> {
    pub computed: &'a ComputedState,
    pub history: &'a History,
    pub rules: &'a RepositoryRules<'a>,
    /// How the loop ended, if it did.
    pub exit: Option<&'a Exit>,
    /// The merge methods that the repository allows, preferred one first; all methods if that is not known.
    pub methods: &'a [MergeMethod],
    /// The person's login.
    pub by: &'a str,
    /// The person's reason, for the journal. It is also the text of an approval.
    pub reason: Option<&'a str>,
}

/// One way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Merge(MergeMethod),
    Approve,
    CloseAndReopen,
    PushByHand,
    GrantRound,
    BreakGlass,
    /// Take the break-glass label off again.
    MendGlass,
}

/// A way out, planned for this pull request.
#[derive(Debug, Clone, PartialEq)]
pub struct WayOut {
    pub way: Way,
    /// What happens, in sentences that a person can agree to (U3). They hold text from the forge.
    pub sentences: Vec<String>,
    pub means: WayOutMeans,
}

#[derive(Debug, Clone, PartialEq)]
pub enum WayOutMeans {
    /// Writes in order; none is sent after one that is not in effect.
    Write(Vec<PlannedWrite>),
    /// A command for the supervisor; the caller still asks for the reason.
    Tell(LoopCommand),
    /// The person does it elsewhere.
    ByHand,
    /// Not possible now, and why, in a sentence without a full stop.
    Not(String),
}

impl Way {
    /// A few words for a menu.
    pub fn name(self) -> &'static str {
        match self {
            Way::Merge(MergeMethod::Merge) => "merge as it is, with a merge commit",
            Way::Merge(MergeMethod::Squash) => "merge as it is, squashed",
            Way::Merge(MergeMethod::Rebase) => "merge as it is, rebased",
            Way::Approve => "approve in spite of the open findings",
            Way::CloseAndReopen => "close and reopen",
            Way::PushByHand => "push the last fix by hand",
            Way::GrantRound => "grant one more round",
            Way::BreakGlass => "break glass",
            Way::MendGlass => "mend the glass",
        }
    }
}

/// All ways, in the order of the menu: those of L6 first. A way that is not possible now says why.
pub fn ways_out(query: &WayOutQuery<'_>) -> Result<Vec<WayOut>, Failure> {
    let methods = query.methods.iter().map(|method| Way::Merge(*method));
    let others = [
        Way::Approve,
        Way::CloseAndReopen,
        Way::PushByHand,
        Way::GrantRound,
        Way::BreakGlass,
        Way::MendGlass,
    ];
    methods.chain(others).map(|way| way_out(way, query)).collect()
}

/// One way.
pub fn way_out(way: Way, query: &WayOutQuery<'_>) -> Result<WayOut, Failure> {
    let (means, notes) = match way {
        Way::Merge(method) => query.merge(method),
        Way::Approve => query.approve()?,
        Way::CloseAndReopen => query.close_and_reopen(),
        Way::PushByHand => query.push_by_hand(),
        Way::GrantRound => query.grant_round(),
        Way::BreakGlass => query.break_glass(),
        Way::MendGlass => query.mend_glass(),
    };
    let sentences: Vec<String> = match &means {
        WayOutMeans::Write(writes) => writes.iter().map(|planned| planned.write.sentence()).collect(),
        WayOutMeans::Tell(_) | WayOutMeans::ByHand | WayOutMeans::Not(_) => Vec::new(),
    };
    Ok(WayOut { way, sentences: sentences.into_iter().chain(notes).collect(), means })
}

impl WayOut {
    /// What went wrong, in sentences; none if all writes are in effect.
    pub fn trouble(&self, done: &PlanOutcome) -> Option<String> {
        let failed = done.writes.iter().find_map(|tried| match tried {
            WriteAttempt::Outcome(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_))
            | WriteAttempt::NotTried => None,
            WriteAttempt::Outcome(outcome) => Some(outcome.sentence()),
            WriteAttempt::NotDone(error) => Some(format!("It was not done: {error}.")),
        });
        let unrecorded = done.trouble.as_ref();
        let unrecorded = unrecorded.map(|error| format!("It could not be recorded: {error}."));
        let why = unrecorded.or(failed)?;
        let WayOutMeans::Write(writes) = &self.means else { return Some(why) };
        let last_done = writes.iter().zip(&done.writes).rfind(|(_, tried)| tried.is_in_effect());
        match last_done {
            Some((PlannedWrite { write: Write::Close { on }, .. }, _)) => Some(format!(
                "{} is closed now and was not reopened. {why} Choose the same again: Cloture only reopens it \
                 and does not close it a second time.",
                on.address
            )),
            _ => Some(why),
        }
    }
}

/// The means, and notes beside the sentences of the writes.
type MeansAndNotes = (WayOutMeans, Vec<String>);

fn not(why: impl Into<String>) -> MeansAndNotes {
    (WayOutMeans::Not(why.into()), Vec::new())
}

impl WayOutQuery<'_> {
    fn merge(&self, method: MergeMethod) -> MeansAndNotes {
        let snapshot = &self.computed.snapshot;
        if let Some(why) = self.not_open() {
            return not(why);
        }
        if snapshot.draft {
            return not("it is a draft; mark it as ready for review first");
        }
        let write = self.planner().merge(method);
        let mut notes = self.left_open();
        let tasks = self.computed.tasks(self.rules);
        if !tasks.is_empty() {
            let each: Vec<String> =
                tasks.iter().map(|task| format!("{} for \"{}\"", task.path, task.target)).collect();
            notes.push(format!(
                "{} handed off then: {}.",
                counted(tasks.len(), "task is", "tasks are"),
                each.join(", ")
            ));
        }
        (self.write(vec![write], "merge it as it is"), notes)
    }

    fn approve(&self) -> Result<MeansAndNotes, Failure> {
        let snapshot = &self.computed.snapshot;
        if let Some(why) = self.not_open() {
            return Ok(not(why));
        }
        if snapshot.written_by_us {
            return Ok(not("GitHub lets nobody approve a pull request of their own; somebody else has to"));
        }
        let write = self.planner().approve(self.reason.unwrap_or_default())?;
        Ok((self.write(vec![write], "approve it in spite of the open findings"), self.left_open()))
    }

    /// A closed pull request is only reopened, for example after a reopening that failed.
    fn close_and_reopen(&self) -> MeansAndNotes {
        let snapshot = &self.computed.snapshot;
        let planner = self.planner();
        // L6: the author's own reopening resets nothing unless the author may override.
        let resets = !snapshot.written_by_us || snapshot.author_association.may_override();
        let starts = if resets {
            "The author's rounds and the reviewers' looks are counted from the start again."
        } else {
            "No count starts again: you are the author, and only an owner, member or collaborator resets the counts."
        };
        let starts = starts.to_owned();
        match snapshot.state {
            PullRequestState::Merged => not("it is merged already"),
            PullRequestState::Closed => (self.write(vec![planner.reopen()], "reopen it"), vec![starts]),
            PullRequestState::Open => {
                let writes = vec![planner.close(), planner.reopen()];
                (self.write(writes, "close and reopen it"), vec![starts])
            }
        }
    }

    fn push_by_hand(&self) -> MeansAndNotes {
        let snapshot = &self.computed.snapshot;
        if let Some(why) = self.not_open() {
            return not(why);
        }
        let Some(repository) = &snapshot.head_repository else {
            return not("the repository of its branch is gone, so nobody can push to it");
        };
        let notes = vec![
            format!(
                "Push the last fix to the branch {} of {repository} yourself. Nothing is written for you.",
                snapshot.head.name
            ),
            "The new head is reviewed like any other, but it gets no further author round.".to_owned(),
        ];
        (WayOutMeans::ByHand, notes)
    }

    fn grant_round(&self) -> MeansAndNotes {
        if let Some(why) = self.not_open() {
            return not(why);
        }
        if !matches!(self.exit, Some(Exit::RoundCap { .. })) {
            return not("the author's rounds are not spent, so there is nothing to grant");
        }
        let command = LoopCommand::GrantRound {
            by: self.by.to_owned(),
            why: self.reason.unwrap_or_default().trim().to_owned(),
        };
        let notes = vec![format!(
            "Send the author to work on {} once more, which may cost money. The journal records that {} \
             granted it, and why.",
            planned_writes::address(self.computed),
            self.by
        )];
        (WayOutMeans::Tell(command), notes)
    }

    fn break_glass(&self) -> MeansAndNotes {
        if let Some(why) = self.not_open() {
            return not(why);
        }
        if self.computed.seen.broken_glass.is_some() {
            return not("the glass is broken already");
        }
        let BreakGlassRules { label, phrase } = &self.rules.config.break_glass;
        let ends = "The loop on it ends at once: Cloture does nothing there by itself any more.".to_owned();
        if !label.is_empty() {
            let write = Write::AddLabel { on: planned_writes::target(self.computed), label: label.clone() };
            return (self.write(vec![write], "break the glass"), vec![ends]);
        }
        if phrase.is_empty() {
            return not("neither a label nor a phrase breaks the glass; name one in [break_glass]");
        }
        // R5: a post with Cloture's marker is nobody's reply.
        let by_hand = format!(
            "Comment \"{phrase}\" on {} yourself: no break-glass label is configured, and Cloture's \
             own posts do not count.",
            planned_writes::address(self.computed)
        );
        (WayOutMeans::ByHand, vec![by_hand, ends])
    }

    fn mend_glass(&self) -> MeansAndNotes {
        match &self.computed.seen.broken_glass {
            None => not("the glass is not broken"),
            Some(BrokenGlass::Phrase { by }) => not(format!(
                "{by} broke the glass with a comment, and only {by} can take that back: delete the \
                 comment, or remove the phrase from it"
            )),
            Some(BrokenGlass::Label(label)) => {
                let on = planned_writes::target(self.computed);
                let write = Write::RemoveLabel { on, label: label.clone() };
                let notes = vec![
                    "The loop on it stays ended; a new one starts when you start Cloture again.".to_owned(),
                ];
                (self.write(vec![write], "mend the glass"), notes)
            }
        }
    }

    fn write(&self, writes: Vec<Write>, what: &str) -> WayOutMeans {
        let reason = self.reason.map(str::trim).filter(|reason| !reason.is_empty());
        let why = reason.map_or_else(|| format!("{} wants to {what}", self.by), ToOwned::to_owned);
        let planner = self.planner();
        let writes = writes.into_iter().map(|write| planner.planned_write(write, why.clone(), self.history));
        WayOutMeans::Write(writes.collect())
    }

    fn planner(&self) -> PullRequestPlanner<'_> {
        PullRequestPlanner::new(&self.computed.snapshot, None)
    }

    fn not_open(&self) -> Option<String> {
        match self.computed.snapshot.state {
            PullRequestState::Open => None,
            state => Some(format!("it is {} already", state.name())),
        }
    }

    /// The state in the words of L4, and how many findings nobody has settled.
    fn left_open(&self) -> Vec<String> {
        let threads = self.computed.threads();
        let own = threads.iter().filter(|shown| shown.repeats.is_none());
        let unsettled = own.filter(|shown| !shown.thread.status().is_settled()).count();
        let state = format!("State now: {}.", self.computed.seen.judge());
        let unsettled = (unsettled > 0)
            .then(|| format!("{} left unsettled.", counted(unsettled, "finding is", "findings are")));
        [state].into_iter().chain(unsettled).collect()
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
