//! What a person can do about a whole pull request: the ways out of a loop whose rounds are spent (L6), and the glass (R7).
//!
//! Each way says in sentences what it does and carries what there is to do as data; [`write_out`](super::write_out) carries
//! out the writes, each with its intent and its outcome in the journal.
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

/// Who looks for a way out, and of what.
#[derive(Debug, Clone, Copy)]
pub struct WayOutQuery<'a> {
    pub standing: &'a ComputedState,
    pub history: &'a History,
    pub rules: &'a RepositoryRules<'a>,
    /// How the loop ended, if it did.
    pub exit: Option<&'a Exit>,
    /// How the repository may be merged into, the preferred one first; every way there is where that is not known.
    pub methods: &'a [MergeMethod],
    /// The person's login.
    pub by: &'a str,
    /// Why, in the person's words. It is kept in the journal, and said where an approval says something.
    pub reason: Option<&'a str>,
}

/// One thing that a person can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Merge(MergeMethod),
    Approve,
    CloseAndReopen,
    PushByHand,
    GrantRound,
    BreakGlass,
    /// Takes back that the glass was broken.
    MendGlass,
}

/// The same, for this pull request as it stands now.
#[derive(Debug, Clone, PartialEq)]
pub struct WayOut {
    pub way: Way,
    /// What happens, in sentences that somebody can agree to (U3). Names in them are as the forge has them.
    pub sentences: Vec<String>,
    pub means: WayOutMeans,
}

#[derive(Debug, Clone, PartialEq)]
pub enum WayOutMeans {
    /// To be written in this order, and none after one that is not in effect.
    Write(Vec<PlannedWrite>),
    /// For the supervisor; the reason is still to be asked for.
    Tell(LoopCommand),
    /// There is nothing to do here: the person does it elsewhere.
    ByHand,
    /// Not now, and why, in a sentence without a full stop.
    Not(String),
}

impl Way {
    /// A few words for a menu.
    pub fn name(self) -> &'static str {
        match self {
            Way::Merge(MergeMethod::Merge) => "merge as it is, with a merge commit",
            Way::Merge(MergeMethod::Squash) => "merge as it is, squashed",
            Way::Merge(MergeMethod::Rebase) => "merge as it is, rebased",
            Way::Approve => "approve in spite of what is open",
            Way::CloseAndReopen => "close and reopen",
            Way::PushByHand => "push the last fix by hand",
            Way::GrantRound => "grant one more round",
            Way::BreakGlass => "break glass",
            Way::MendGlass => "mend the glass",
        }
    }
}

/// Every way there is, in the order of a menu: those of L6 first. A way that is not open now says why.
pub fn ways_out(asked: &WayOutQuery<'_>) -> Result<Vec<WayOut>, Failure> {
    let methods = asked.methods.iter().map(|method| Way::Merge(*method));
    let others = [
        Way::Approve,
        Way::CloseAndReopen,
        Way::PushByHand,
        Way::GrantRound,
        Way::BreakGlass,
        Way::MendGlass,
    ];
    methods.chain(others).map(|way| way_out(way, asked)).collect()
}

/// One of them.
pub fn way_out(way: Way, asked: &WayOutQuery<'_>) -> Result<WayOut, Failure> {
    let (means, said) = match way {
        Way::Merge(method) => asked.merge(method),
        Way::Approve => asked.approve()?,
        Way::CloseAndReopen => asked.close_and_reopen(),
        Way::PushByHand => asked.push_by_hand(),
        Way::GrantRound => asked.grant_round(),
        Way::BreakGlass => asked.break_glass(),
        Way::MendGlass => asked.mend_glass(),
    };
    let writes: Vec<String> = match &means {
        WayOutMeans::Write(deeds) => deeds.iter().map(|deed| deed.write.sentence()).collect(),
        WayOutMeans::Tell(_) | WayOutMeans::ByHand | WayOutMeans::Not(_) => Vec::new(),
    };
    Ok(WayOut { way, sentences: writes.into_iter().chain(said).collect(), means })
}

impl WayOut {
    /// What a person has to hear of what became of it; nothing where all of it is in effect.
    pub fn trouble(&self, done: &PlanOutcome) -> Option<String> {
        let failed = done.deeds.iter().find_map(|tried| match tried {
            WriteAttempt::Told(WriteOutcome::Done(_) | WriteOutcome::AlreadyThere(_))
            | WriteAttempt::NotTried => None,
            WriteAttempt::Told(outcome) => Some(outcome.sentence()),
            WriteAttempt::NotDone(error) => Some(format!("It was not done: {error}.")),
        });
        let unrecorded = done.trouble.as_ref();
        let unrecorded = unrecorded.map(|error| format!("It could not be recorded: {error}."));
        let why = unrecorded.or(failed)?;
        let WayOutMeans::Write(deeds) = &self.means else { return Some(why) };
        let last_done = deeds.iter().zip(&done.deeds).rfind(|(_, tried)| tried.is_in_effect());
        match last_done {
            Some((PlannedWrite { write: Write::Close { on }, .. }, _)) => Some(format!(
                "{} is closed now and was not reopened. {why} Reopen it; it is not closed a second time for that.",
                on.address
            )),
            _ => Some(why),
        }
    }
}

/// What there is to do, and what to say about it beside the writes' own sentences.
type MeansAndNotes = (WayOutMeans, Vec<String>);

fn not(why: impl Into<String>) -> MeansAndNotes {
    (WayOutMeans::Not(why.into()), Vec::new())
}

impl WayOutQuery<'_> {
    fn merge(&self, method: MergeMethod) -> MeansAndNotes {
        let snapshot = &self.standing.snapshot;
        if let Some(why) = self.not_open() {
            return not(why);
        }
        if snapshot.draft {
            return not("it is a draft; mark it as ready for review first");
        }
        let write = self.planner().merge(method);
        let mut said = vec![self.left_open()];
        let tasks = self.standing.tasks(self.rules);
        if !tasks.is_empty() {
            let each: Vec<String> =
                tasks.iter().map(|task| format!("{} for \"{}\"", task.path, task.target)).collect();
            said.push(format!(
                "{} handed off then: {}.",
                counted(tasks.len(), "task is", "tasks are"),
                each.join(", ")
            ));
        }
        (self.write(vec![write], "merge it is"), said)
    }

    fn approve(&self) -> Result<MeansAndNotes, Failure> {
        let snapshot = &self.standing.snapshot;
        if let Some(why) = self.not_open() {
            return Ok(not(why));
        }
        if snapshot.written_by_us {
            return Ok(not("GitHub lets nobody approve a pull request of their own; somebody else has to"));
        }
        let write = self.planner().approve(self.reason.unwrap_or_default())?;
        Ok((self.write(vec![write], "approve it in spite of what is open"), vec![self.left_open()]))
    }

    /// One that is closed, be it because reopening it failed, is only reopened.
    fn close_and_reopen(&self) -> MeansAndNotes {
        let snapshot = &self.standing.snapshot;
        let planner = self.planner();
        let starts =
            "The author's rounds and the reviewers' looks are counted from the start again.".to_owned();
        match snapshot.state {
            PullRequestState::Merged => not("it is merged already"),
            PullRequestState::Closed => (self.write(vec![planner.reopen()], "reopen it"), vec![starts]),
            PullRequestState::Open => {
                let writes = vec![planner.close(), planner.reopen()];
                let queued = self.standing.threads().iter().filter(|shown| shown.thread.queued).count();
                // H1: closing discards the queue, whatever comes after it.
                let discarded = (queued > 0).then(|| {
                    format!(
                        "Closing discards the queue: {} no longer handed off unless queued again.",
                        counted(queued, "finding is", "findings are")
                    )
                });
                (self.write(writes, "close and reopen it"), [starts].into_iter().chain(discarded).collect())
            }
        }
    }

    fn push_by_hand(&self) -> MeansAndNotes {
        let snapshot = &self.standing.snapshot;
        if let Some(why) = self.not_open() {
            return not(why);
        }
        let Some(repository) = &snapshot.head_repository else {
            return not("the repository that its branch was in is gone, so that nobody can push to it");
        };
        let said = vec![
            format!(
                "Push the last fix to the branch {} of {repository} yourself. Nothing is written for you.",
                snapshot.head.name
            ),
            "The new head is reviewed like any other; no author is sent to it beyond the rounds there are."
                .to_owned(),
        ];
        (WayOutMeans::ByHand, said)
    }

    fn grant_round(&self) -> MeansAndNotes {
        if let Some(why) = self.not_open() {
            return not(why);
        }
        if !matches!(self.exit, Some(Exit::RoundCap { .. })) {
            return not("the author's rounds are not spent, so that there is nothing to grant");
        }
        let command = LoopCommand::GrantRound {
            by: self.by.to_owned(),
            why: self.reason.unwrap_or_default().trim().to_owned(),
        };
        let said = vec![format!(
            "Send the author to work on {} once more, which may cost money. It is recorded as granted by {}, with the reason.",
            planned_writes::address(self.standing),
            self.by
        )];
        (WayOutMeans::Tell(command), said)
    }

    fn break_glass(&self) -> MeansAndNotes {
        if let Some(why) = self.not_open() {
            return not(why);
        }
        if self.standing.seen.broken_glass.is_some() {
            return not("the glass is broken already");
        }
        let BreakGlassRules { label, phrase } = &self.rules.config.break_glass;
        let ends =
            "The loop on it ends at once: nothing is asked, dispatched or written there by itself any more."
                .to_owned();
        if !label.is_empty() {
            let write = Write::AddLabel { on: planned_writes::target(self.standing), label: label.clone() };
            return (self.write(vec![write], "break the glass"), vec![ends]);
        }
        if phrase.is_empty() {
            return not("neither a label nor a phrase breaks the glass; name one in [break_glass]");
        }
        // R5: what we post carries our mark, and is nobody's word.
        let said = format!(
            "Comment \"{phrase}\" on {} yourself: no label breaks the glass, and what Cloture posts does not count.",
            planned_writes::address(self.standing)
        );
        (WayOutMeans::ByHand, vec![said, ends])
    }

    fn mend_glass(&self) -> MeansAndNotes {
        match &self.standing.seen.broken_glass {
            None => not("the glass is not broken"),
            Some(BrokenGlass::Phrase { by }) => not(format!(
                "{by} broke the glass with a comment, which only {by} can take back: delete it, or take the phrase out of it"
            )),
            Some(BrokenGlass::Label(label)) => {
                let on = planned_writes::target(self.standing);
                let write = Write::RemoveLabel { on, label: label.clone() };
                let said = vec![
                    "The loop on it has ended all the same; it begins anew when Cloture is started again."
                        .to_owned(),
                ];
                (self.write(vec![write], "mend the glass"), said)
            }
        }
    }

    fn write(&self, writes: Vec<Write>, what: &str) -> WayOutMeans {
        let reason = self.reason.map(str::trim).filter(|reason| !reason.is_empty());
        let why = reason.map_or_else(|| format!("{} wants to {what}", self.by), ToOwned::to_owned);
        let planner = self.planner();
        let planned = writes.into_iter().map(|write| planner.planned_write(write, why.clone(), self.history));
        WayOutMeans::Write(planned.collect())
    }

    fn planner(&self) -> PullRequestPlanner<'_> {
        PullRequestPlanner::new(&self.standing.snapshot, None)
    }

    fn not_open(&self) -> Option<String> {
        match self.standing.snapshot.state {
            PullRequestState::Open => None,
            state => Some(format!("it is {} already", state.name())),
        }
    }

    fn left_open(&self) -> String {
        let threads = self.standing.threads();
        let own = threads.iter().filter(|shown| shown.repeats.is_none());
        match own.filter(|shown| !shown.thread.status().is_settled()).count() {
            0 => "Nothing that a reviewer found is left unsettled.".to_owned(),
            count => format!("{} left unsettled.", counted(count, "finding is", "findings are")),
        }
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
