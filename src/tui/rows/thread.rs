//! A thread as a row: its counters, the actions that are still legal, and whose turn it is.

use super::line;
use crate::domain::actionable::must_be_fixed;
use crate::domain::handoff::Eligibility;
use crate::domain::machine::{EscalatedBy, ResolvedBy, ThreadMachine, ThreadStatus, VetoedBy};
use crate::domain::observed::UnownedThread;
use crate::domain::policy::Policy;
use crate::domain::review_loop::{Phase, ReviewArrivals};
use crate::domain::vocabulary::{ReviewerAction, Severity, Stance, ThreadId};
use crate::supervisor::PullRequestView;
use crate::supervisor::computed_state::{HandoffGuards, RepositoryRules, ThreadView};
use crate::supervisor::people::inbox::urgency;
use jiff::Timestamp;
use std::cmp::Reverse;

#[expect(clippy::struct_excessive_bools, reason = "these are independent notes, not modes")]
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mark of its own, and any of them go together")]
pub struct ThreadRow {
    pub id: ThreadId,
    /// The account that opened the thread.
    pub reviewer: String,
    pub severity: Option<Severity>,
    pub place: String,
    pub title: String,
    pub status: ThreadStatus,
    /// None if no reviewer opened the thread.
    pub counters: Option<ThreadCounters>,
    pub turn: WhoseTurn,
    pub since: Option<Timestamp>,
    /// The number of comments and the time of the last one; a change is news.
    pub comments: (usize, Option<Timestamp>),
    pub url: Option<String>,
    /// Whether the thread repeats another one, which counts instead.
    pub repeats: bool,
    pub resolve_proposed: bool,
    /// R4: the author resolved it on GitHub, and may not.
    pub resolved_as_argument: bool,
    pub queued: bool,
    /// H8: whether a merge now would hand the finding off, and why. None if there is no finding.
    pub handoff: Option<Eligibility>,
}

#[derive(Debug, Clone)]
pub struct ThreadCounters {
    pub stance: Option<Stance>,
    pub rounds: u32,
    pub repeat_limit: u32,
    pub flips: u32,
    pub flip_limit: u32,
    pub cycles: u32,
    /// T5: after at most this many cycles the AI must stop.
    pub bound: u64,
    pub returns: u32,
    pub reopens: u32,
    pub legal: [(ReviewerAction, bool); 4],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhoseTurn {
    You,
    Author,
    Reviewer,
    Nobody,
}

impl WhoseTurn {
    pub fn name(self) -> &'static str {
        match self {
            WhoseTurn::You => "you",
            WhoseTurn::Author => "author",
            WhoseTurn::Reviewer => "reviewer",
            WhoseTurn::Nobody => "–",
        }
    }
}

/// In the order on the screen.
const ACTIONS: [ReviewerAction; 4] =
    [ReviewerAction::Resolve, ReviewerAction::Reply, ReviewerAction::Veto, ReviewerAction::Escalate];

impl ThreadRow {
    /// Whether the thread waits for a person's decision.
    pub fn is_stuck(&self) -> bool {
        !self.repeats && self.status.waits_for_person()
    }

    pub fn severity_name(&self) -> &'static str {
        self.severity.map_or("–", Severity::name)
    }

    pub fn status_name(&self) -> String {
        let note = match (self.repeats, self.resolve_proposed) {
            (true, _) => ", repeats another",
            (false, true) => ", seems fixed",
            (false, false) if self.resolved_as_argument => ", resolved only by the author",
            (false, false) => "",
        };
        format!("{}{note}", self.status.name())
    }

    pub fn will_be_handed_off(&self) -> bool {
        self.handoff.is_some_and(Eligibility::is_eligible)
    }

    pub fn handoff_reason(&self) -> String {
        match &self.handoff {
            Some(eligibility) => eligibility.to_string(),
            None => "not a reviewer's finding, so it is never handed off".to_owned(),
        }
    }

    /// The severity for sorting. A thread between people has none, not an unknown one.
    fn urgency(&self) -> Option<Severity> {
        self.counters.as_ref().map(|_| urgency(self.severity))
    }

    /// Why the thread has its status.
    pub fn why(&self) -> &'static str {
        match self.status {
            ThreadStatus::Open => "",
            ThreadStatus::Resolved(ResolvedBy::Reviewer) => "the reviewer is satisfied",
            ThreadStatus::Resolved(ResolvedBy::Person) => "a person resolved it",
            ThreadStatus::Resolved(ResolvedBy::Acknowledged) => "a person acknowledged it",
            ThreadStatus::Resolved(ResolvedBy::WontFix) | ThreadStatus::Dismissed => {
                "a person decided that it will not be fixed"
            }
            ThreadStatus::Upheld => "a person decided that the finding is right, so the author must fix it",
            ThreadStatus::Vetoed(VetoedBy::Reviewer) => "the reviewer stopped arguing",
            ThreadStatus::Vetoed(VetoedBy::Person) | ThreadStatus::Escalated(EscalatedBy::Person) => {
                "a person took it over"
            }
            ThreadStatus::Escalated(EscalatedBy::Reviewer) => "the reviewer asked for a person",
            ThreadStatus::Escalated(EscalatedBy::RoundLimit) => "no round is left, and neither side moved",
            ThreadStatus::Escalated(EscalatedBy::ReviewerFailed) => "the reviewer never gave a usable answer",
            ThreadStatus::Escalated(EscalatedBy::IterationCap) => {
                "the reviewer has no cycle left on this pull request"
            }
            ThreadStatus::Escalated(EscalatedBy::Worsened) => {
                "the reviewer raised it again, and worse, after a person had decided"
            }
            ThreadStatus::Escalated(EscalatedBy::Regressed) => "it was resolved and came back",
        }
    }
}

impl ThreadCounters {
    fn of(machine: &ThreadMachine, policy: &Policy) -> ThreadCounters {
        let counters = machine.counters;
        let legal = machine.legal(policy).for_stance(counters.stance.unwrap_or(Stance::SeeksChange));
        ThreadCounters {
            stance: counters.stance,
            rounds: counters.round_count,
            repeat_limit: policy.repeat_limit,
            flips: counters.flips,
            flip_limit: policy.flip_limit,
            cycles: counters.cycles,
            bound: policy.cycles_per_thread(),
            returns: machine.returns,
            reopens: machine.reopens,
            legal: ACTIONS.map(|action| (action, legal.contains(action))),
        }
    }

    pub fn may(&self, action: ReviewerAction) -> bool {
        self.legal.contains(&(action, true))
    }

    /// One sign for each spent round and one for each round that is left.
    pub fn rounds_bar(&self) -> String {
        let spent = self.rounds.min(self.repeat_limit);
        let sign = |index| if index < spent { '●' } else { '○' };
        (0..self.repeat_limit.min(8)).map(sign).collect()
    }

    /// The counters in words, and what the reviewer may still do.
    pub fn explanation(&self, status: ThreadStatus) -> String {
        let stance = self.stance.map_or("no stance", |stance| match stance {
            Stance::SeeksChange => "`seeks change`",
            Stance::Accepts => "`accepts`",
        });
        let held = match (self.stance, self.rounds) {
            (None, _) => "has taken no stance yet".to_owned(),
            (Some(_), 0) => format!("took {stance} and has not repeated it"),
            // With no flip left, another change of stance counts as a round (T3).
            (Some(_), rounds) if self.flips > 0 && self.flips >= self.flip_limit => {
                format!("says {stance} and has used {rounds} of {} rounds", self.repeat_limit)
            }
            (Some(_), rounds) => format!("held {stance} for {} cycles", rounds.saturating_add(1)),
        };
        let follows = if status != ThreadStatus::Open {
            "the AI is done here".to_owned()
        } else if self.may(ReviewerAction::Reply) {
            // The counter rises before the reviewer chooses its action, so the next cycle has one round less
            // (T3).
            let left = self.repeat_limit.saturating_sub(self.rounds + 1).max(1);
            format!("`reply` stays legal for {}", super::super::text::count(left as usize, "cycle", "cycles"))
        } else {
            "`reply` is no longer legal".to_owned()
        };
        let flips = match self.flips {
            0 => String::new(),
            flips => format!("; {flips} of {} changes of stance used", self.flip_limit),
        };
        let returns = match self.returns {
            0 => String::new(),
            returns => format!("; returned {returns}× by a person"),
        };
        let reopens = match self.reopens {
            0 => String::new(),
            reopens => format!("; came back {reopens}×"),
        };
        let (cycles, bound) = (self.cycles, self.bound);
        format!("{held}: {follows} (cycle {cycles} of at most {bound}{flips}{reopens}{returns})")
    }
}

/// All threads of a pull request: those that wait for a person first, then open ones, the most severe first.
pub(super) fn rows(
    view: &PullRequestView,
    rules: &RepositoryRules<'_>,
    arrivals: &ReviewArrivals,
) -> Vec<ThreadRow> {
    let Some(computed) = view.computed.as_deref() else { return Vec::new() };
    let owned = computed.threads();
    let guards = computed.handoff_guards(rules);
    let owned = owned.iter().map(|shown| owned_row(shown, &guards, view, rules, arrivals));
    let mut rows: Vec<ThreadRow> = owned.chain(computed.unowned.iter().map(unowned_row)).collect();
    let rank = |row: &ThreadRow| match row.status {
        _ if row.is_stuck() => 0,
        _ if row.repeats => 4,
        ThreadStatus::Open => 1,
        ThreadStatus::Upheld => 2,
        _ => 3,
    };
    rows.sort_by(|a, b| {
        let order = |row: &ThreadRow| (rank(row), Reverse(row.urgency()), row.since);
        order(a).cmp(&order(b)).then_with(|| a.id.cmp(&b.id))
    });
    rows
}

fn owned_row(
    shown: &ThreadView<'_>,
    guards: &HandoffGuards,
    view: &PullRequestView,
    rules: &RepositoryRules<'_>,
    arrivals: &ReviewArrivals,
) -> ThreadRow {
    let thread = shown.thread;
    let policy = &rules.config.policy;
    ThreadRow {
        id: shown.id().clone(),
        reviewer: line(thread.reviewer.as_str()),
        severity: thread.finding.severity,
        place: place(thread.finding.path.as_str(), shown.line(), shown.outdated()),
        title: line(&thread.finding.title),
        status: thread.status(),
        counters: Some(ThreadCounters::of(&thread.machine, policy)),
        turn: turn(shown, view, arrivals),
        since: shown.opened_at(),
        comments: comments(shown),
        url: shown.url().map(str::to_owned),
        repeats: shown.repeats.is_some(),
        resolve_proposed: shown.resolve_proposed,
        resolved_as_argument: shown.resolved_as_argument,
        queued: thread.queued,
        handoff: Some(guards.eligibility(thread)),
    }
}

fn unowned_row(unowned: &UnownedThread) -> ThreadRow {
    ThreadRow {
        id: unowned.id.clone(),
        reviewer: super::account(unowned.opened_by.as_ref()),
        severity: unowned.finding.severity,
        place: place(unowned.finding.path.as_str(), unowned.line, unowned.outdated),
        title: line(&unowned.finding.title),
        status: unowned.status,
        counters: None,
        turn: if unowned.status.is_settled() { WhoseTurn::Nobody } else { WhoseTurn::Author },
        since: None,
        comments: (0, None),
        url: Some(unowned.url.clone()),
        repeats: false,
        resolve_proposed: false,
        resolved_as_argument: false,
        queued: false,
        handoff: None,
    }
}

/// Counts the comments that may be news: no drafts, and nothing that Cloture wrote.
fn comments(shown: &ThreadView<'_>) -> (usize, Option<Timestamp>) {
    let comments = shown.on_forge.map(|thread| &thread.comments).into_iter().flatten();
    let others = comments.filter(|comment| !comment.pending && !comment.is_posted_by_cloture());
    others.fold((0, None), |(count, last), comment| (count + 1, last.max(Some(comment.updated_at))))
}

fn turn(shown: &ThreadView<'_>, view: &PullRequestView, arrivals: &ReviewArrivals) -> WhoseTurn {
    let thread = shown.thread;
    match thread.status() {
        ThreadStatus::Vetoed(_) | ThreadStatus::Escalated(_) => WhoseTurn::You,
        ThreadStatus::Open => {
            let with_author = *view.review_loop.phase() == Phase::WithAuthor;
            let looking =
                arrivals.missing.contains(&thread.reviewer) || view.thinking.contains(&thread.reviewer);
            let accepts = thread.machine.counters.stance == Some(Stance::Accepts);
            if !with_author && (looking || accepts) { WhoseTurn::Reviewer } else { WhoseTurn::Author }
        }
        ThreadStatus::Upheld if must_be_fixed(thread) => WhoseTurn::Author,
        ThreadStatus::Resolved(_) | ThreadStatus::Upheld | ThreadStatus::Dismissed => WhoseTurn::Nobody,
    }
}

pub(super) fn place(path: &str, at: Option<u32>, outdated: bool) -> String {
    line(&match (at, outdated) {
        (Some(at), _) => format!("{path}:{at}"),
        (None, true) => format!("{path} (outdated)"),
        (None, false) => path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(rounds: u32) -> ThreadCounters {
        let policy = Policy::default();
        let mut machine = ThreadMachine::opened();
        for _ in 0..rounds {
            machine.hold(Stance::SeeksChange, &policy);
        }
        ThreadCounters::of(&machine, &policy)
    }

    #[test]
    fn the_explanation_says_what_is_still_legal() {
        let fresh = counters(0).explanation(ThreadStatus::Open);
        assert!(fresh.contains("legal for 1 cycle "), "{fresh}");
        let last = counters(1);
        assert_eq!(last.rounds_bar(), "●○");
        let text = last.explanation(ThreadStatus::Open);
        assert!(text.contains("held `seeks change` for 2 cycles: `reply` is no longer legal"), "{text}");
        assert!(!last.may(ReviewerAction::Reply) && last.may(ReviewerAction::Veto));
    }

    #[test]
    fn a_reviewer_that_changed_its_mind_has_not_held_a_stance() {
        let policy = Policy::default();
        let mut machine = ThreadMachine::opened();
        for stance in [Stance::SeeksChange, Stance::Accepts, Stance::SeeksChange] {
            machine.hold(stance, &policy);
        }
        let text = ThreadCounters::of(&machine, &policy).explanation(ThreadStatus::Open);
        assert!(text.starts_with("says `seeks change` and has used 1 of 2 rounds"), "{text}");
    }
}
