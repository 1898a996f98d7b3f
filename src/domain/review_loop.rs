//! The loop of one pull request (L): wait for reviews, send findings to the author, know when to stop.
//!
//! A pure machine: an event comes in, effects go out as data, and the driver carries them out. One value lives
//! as long as the pull request is tracked. When an ended loop goes on (the head moved, the pull request was
//! reopened, a review is running again, a person restarts it) is decided here and nowhere else, because the
//! model checker proves the bounds over these functions (T8).
//!
//! ```text
//!   start ─► waiting ──(all in, something to fix)──► with the author ──(the head moved)──► waiting
//!             ▲ │ ▲ └──(head moved: re-anchor)─┐                │
//!             │ │ └────────────────────────────┘                │
//!             │ └──────────────► ended (one of L4's exits) ◄────┘
//!             └──(news, a push, a reopening, a person)──┘
//! ```
//!
//! The loop has no clock and no counts of rounds. The hub polls on a schedule, and each scheduled poll costs an
//! attempt. The counts come from the journal and from GitHub with each [`Observation`], so no successor of a
//! loop can start with a fresh budget.

mod exit;
mod judgement;
mod observation;

pub use exit::{Exit, TimedOutOn};
pub use judgement::{Judgement, StateCounts};
pub use observation::{
    AuthorState, Observation, PostContent, PostKind, ReviewArrivals, ReviewerPost, UnreadablePost,
    WaitAnchor, matches_commit,
};

use super::policy::Policy;
use super::vocabulary::ReviewerName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The loop of one pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReviewLoop {
    /// The reviewers that the last look expected.
    expected: BTreeSet<ReviewerName>,
    phase: Phase,
    /// The head that the wait is tied to (L1). None before the first look.
    anchor: Option<WaitAnchor>,
    /// Scheduled polls in this wait.
    attempt: u32,
    /// The attempts were spent, and the missing reviews have not arrived since.
    #[serde(default)]
    time_is_up: bool,
    /// Whether any poll reached GitHub.
    reached: bool,
    /// The last reopening that the loop has seen (L6).
    #[serde(default)]
    reopened_at: Option<Timestamp>,
    /// The last one of these by somebody who may override.
    #[serde(default)]
    counts_from: Option<Timestamp>,
    /// A person's pause or stop, or the broken glass, that was in force when the pull request was closed.
    #[serde(default)]
    held_at_close: Option<Phase>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Waits for reviews of the anchored head.
    #[default]
    Waiting,
    /// Waits for the author's push.
    WithAuthor,
    Paused(ResumeTo),
    Ended(Exit),
}

/// The phase that a paused loop resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ResumeTo {
    Waiting,
    WithAuthor,
}

/// Everything that can wake a loop.
#[derive(Debug, Clone, Copy)]
pub enum LoopEvent<'a> {
    /// A poll on schedule. It costs an attempt (L2).
    Polled(&'a Observation),
    /// A look outside the schedule, which costs no attempt: a person polled by hand (L10), or the journal
    /// brought something new.
    Learned(&'a Observation),
    /// A scheduled poll did not reach GitHub (L8).
    Unreachable,
    // A person's commands (L10).
    Pause,
    Resume,
    Stop,
    /// Runs an ended loop again. The counts of rounds stay.
    Restart,
}

/// An effect for the driver to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopEffect {
    // For the author.
    DispatchAuthor { round: u32 },

    // For people.
    Announce(Exit),
}

/// The result of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    Do(Vec<LoopEffect>),
    /// Nothing changed, for this reason.
    Ignored(&'static str),
}

impl ReviewLoop {
    /// A loop before its first look.
    pub fn new() -> ReviewLoop {
        ReviewLoop::default()
    }

    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    pub fn anchor(&self) -> Option<&WaitAnchor> {
        self.anchor.as_ref()
    }

    pub fn exit(&self) -> Option<&Exit> {
        match &self.phase {
            Phase::Ended(exit) => Some(exit),
            Phase::Waiting | Phase::WithAuthor | Phase::Paused(_) => None,
        }
    }

    pub fn wake(&mut self, event: LoopEvent<'_>, policy: &Policy) -> Transition {
        match event {
            LoopEvent::Polled(observation) => self.look(observation, true, policy),
            LoopEvent::Learned(observation) => self.look(observation, false, policy),
            LoopEvent::Unreachable => self.unreachable(policy),
            LoopEvent::Pause => self.pause(),
            LoopEvent::Resume => self.resume(),
            LoopEvent::Stop => self.stop(),
            LoopEvent::Restart => self.restart(),
        }
    }

    fn pause(&mut self) -> Transition {
        let resumed = match self.phase {
            Phase::Waiting => ResumeTo::Waiting,
            Phase::WithAuthor => ResumeTo::WithAuthor,
            Phase::Paused(_) => return Transition::Ignored("the loop is paused already"),
            Phase::Ended(_) => return Transition::Ignored("the loop has ended"),
        };
        self.phase = Phase::Paused(resumed);
        Transition::Do(Vec::new())
    }

    fn resume(&mut self) -> Transition {
        self.phase = match self.phase {
            Phase::Paused(ResumeTo::Waiting) => Phase::Waiting,
            Phase::Paused(ResumeTo::WithAuthor) => Phase::WithAuthor,
            Phase::Waiting | Phase::WithAuthor | Phase::Ended(_) => {
                return Transition::Ignored("the loop is not paused");
            }
        };
        Transition::Do(Vec::new())
    }

    /// A stop also holds for an ended loop, which could go on by itself otherwise.
    fn stop(&mut self) -> Transition {
        match &self.phase {
            Phase::Ended(Exit::PrMerged | Exit::PrClosed | Exit::BreakGlass(_)) => {
                Transition::Ignored("the loop has ended for good")
            }
            _ => self.end(Exit::Stopped),
        }
    }

    fn restart(&mut self) -> Transition {
        match &self.phase {
            Phase::Ended(Exit::PrMerged) => Transition::Ignored("the pull request is merged"),
            Phase::Ended(_) => {
                self.begin_wait();
                Transition::Do(Vec::new())
            }
            _ => Transition::Ignored("the loop has not ended"),
        }
    }

    fn unreachable(&mut self, policy: &Policy) -> Transition {
        match self.phase {
            Phase::Ended(_) => return Transition::Ignored("the loop has ended"),
            Phase::Paused(_) => return Transition::Ignored("the loop is paused"),
            Phase::Waiting | Phase::WithAuthor => {}
        }
        self.attempt += 1;
        if self.attempt < policy.max_attempts {
            Transition::Do(Vec::new())
        } else if self.reached {
            self.end(Exit::Timeout { missing: TimedOutOn::Unknown })
        } else {
            self.end(Exit::OutOfReach)
        }
    }

    /// Takes a look at the pull request into account, also after the loop has ended.
    fn look(&mut self, observation: &Observation, costs_attempt: bool, policy: &Policy) -> Transition {
        self.reached = true;
        let judgement = observation.judge();
        match &judgement {
            // The pull request's own end is the last word, however the loop ended before.
            Judgement::Merged => return self.end(Exit::PrMerged),
            Judgement::Closed => return self.end_as_closed(),
            _ => {}
        }
        // R4: a contributor's close and reopening does not undo a person's pause or stop.
        let may_start_anew = observation.counts_from > self.counts_from;
        self.counts_from = self.counts_from.max(observation.counts_from);
        if self.phase == Phase::Ended(Exit::PrClosed)
            && let Some(held) = self.held_at_close.take()
            && !may_start_anew
        {
            self.phase = held;
        }
        match &self.phase {
            Phase::Ended(Exit::Stopped | Exit::BreakGlass(_)) => {
                return Transition::Ignored("only a person starts this loop again");
            }
            Phase::Ended(Exit::PrMerged) => return Transition::Ignored("the pull request is merged"),
            _ => {}
        }
        if let Judgement::GlassBroken(broken) = judgement {
            return self.end(Exit::BreakGlass(broken));
        }
        if matches!(self.phase, Phase::Paused(_)) {
            return Transition::Ignored("the loop is paused");
        }
        self.follow(observation, &judgement);
        if !self.has_ended() {
            self.attempt += u32::from(costs_attempt);
            self.time_is_up |= self.attempt >= policy.max_attempts;
        }
        if self.phase == Phase::WithAuthor {
            if observation.author == AuthorState::GaveUp {
                if observation.to_fix > 0 {
                    return self.begin_round(observation, policy);
                }
            } else if !self.time_is_up {
                return Transition::Do(Vec::new());
            } else if observation.to_fix > 0 {
                return self.end(Exit::Timeout { missing: TimedOutOn::Push });
            }
            // The findings that the author was sent for are settled without a push.
            self.phase = Phase::Waiting;
        }
        let has_waited = self.time_is_up || !judgement.waits_for_reviews();
        match judgement {
            Judgement::ReviewFailed { reviewer, reason } => {
                self.end(Exit::WorkflowFailure { reviewer, reason })
            }
            Judgement::Incomplete { .. } if !has_waited => Transition::Do(Vec::new()),
            // L4: the time for the missing reviews is up, but the findings that did arrive start a round.
            Judgement::Incomplete { .. }
                if observation.to_fix > 0 && observation.author != AuthorState::Absent =>
            {
                self.send_to_author(observation, policy)
            }
            Judgement::Incomplete { mut missing, exhausted, mut unreadable, anybody, asks_spent: _ } => self
                .end(match unreadable.pop_first() {
                    Some((reviewer, UnreadablePost { reason, url, at: _ })) => {
                        Exit::Unreadable { reviewer, reason, url }
                    }
                    None if anybody => Exit::Timeout { missing: TimedOutOn::Anybody },
                    None if missing.is_empty() => {
                        Exit::Timeout { missing: TimedOutOn::ExhaustedReviewers(exhausted) }
                    }
                    None => {
                        missing.extend(exhausted);
                        Exit::Timeout { missing: TimedOutOn::Reviews(missing) }
                    }
                }),
            Judgement::ToFix(_) => self.send_to_author(observation, policy),
            Judgement::NeedsPerson(threads) => self.end(Exit::NeedsPerson { threads }),
            Judgement::Clean => self.end(Exit::Success),
            Judgement::Merged | Judgement::Closed | Judgement::GlassBroken(_) => {
                Transition::Ignored("the pull request is at its end")
            }
        }
    }

    fn end_as_closed(&mut self) -> Transition {
        if self.phase != Phase::Ended(Exit::PrClosed) {
            let is_held =
                matches!(self.phase, Phase::Paused(_) | Phase::Ended(Exit::Stopped | Exit::BreakGlass(_)));
            self.held_at_close = is_held.then(|| self.phase.clone());
        }
        self.end(Exit::PrClosed)
    }

    /// The rule of succession: begins a new wait if this look calls for one. Once the time is up, only another
    /// reviewer, a push or a reopening does, because waiting again for the same review could go on for ever.
    fn follow(&mut self, observation: &Observation, judgement: &Judgement) {
        let has_moved = self.anchor.as_ref() != Some(&observation.anchor);
        let was_reopened = self.phase == Phase::Ended(Exit::PrClosed)
            || self.anchor.is_some() && observation.reopened_at > self.reopened_at;
        let has_more_reviewers = !observation.expected.is_subset(&self.expected);
        let waits_for_reviews = judgement.waits_for_reviews();
        self.time_is_up &= waits_for_reviews;
        let waits_again = match &self.phase {
            Phase::Waiting => has_more_reviewers,
            // A review that was in is running again, or GitHub can be reached again.
            Phase::Ended(_) => waits_for_reviews && (has_more_reviewers || !self.time_is_up),
            Phase::WithAuthor | Phase::Paused(_) => false,
        };
        self.anchor = Some(observation.anchor.clone());
        self.reopened_at = self.reopened_at.max(observation.reopened_at);
        self.expected.clone_from(&observation.expected);
        if has_moved || was_reopened || waits_again {
            self.begin_wait();
        }
    }

    fn begin_wait(&mut self) {
        self.phase = Phase::Waiting;
        self.attempt = 0;
        self.time_is_up = false;
    }

    fn begin_wait_for_push(&mut self) {
        self.phase = Phase::WithAuthor;
        self.attempt = 0;
        self.time_is_up = false;
    }

    fn send_to_author(&mut self, observation: &Observation, policy: &Policy) -> Transition {
        match observation.author {
            AuthorState::Absent => self.end(Exit::IssuesFound {}),
            AuthorState::Idle | AuthorState::GaveUp => self.begin_round(observation, policy),
            // Waiting once more for the same push could go on for ever.
            _ if self.phase == Phase::Ended(Exit::Timeout { missing: TimedOutOn::Push }) => {
                Transition::Ignored("the author did not push in time")
            }
            AuthorState::AtWork | AuthorState::Pushed => {
                self.begin_wait_for_push();
                Transition::Do(Vec::new())
            }
        }
    }

    /// L6: sends the author to work, unless the rounds are spent. A round without a push is a spent one.
    fn begin_round(&mut self, observation: &Observation, policy: &Policy) -> Transition {
        let Observation { rounds_on_forge, rounds_recorded, granted, .. } = *observation;
        let used = rounds_on_forge.max(rounds_recorded);
        if used >= policy.max_rounds.saturating_add(granted)
            || rounds_recorded >= policy.max_restarts.saturating_add(granted)
        {
            let author_gave_up = observation.author == AuthorState::GaveUp;
            return self.end(Exit::RoundCap { rounds: used, author_gave_up });
        }
        self.begin_wait_for_push();
        Transition::Do(vec![LoopEffect::DispatchAuthor { round: used + 1 }])
    }

    fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended(_))
    }

    fn end(&mut self, exit: Exit) -> Transition {
        if self.exit() == Some(&exit) {
            return Transition::Ignored("the loop has ended like this already");
        }
        self.phase = Phase::Ended(exit.clone());
        Transition::Do(vec![LoopEffect::Announce(exit)])
    }
}
