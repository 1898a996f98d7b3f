//! The loop of one pull request (L): wait for reviews, send findings to the author, know when to stop.
//!
//! A pure machine: an event and the time come in, effects go out as data, and the driver carries them out.
//! The driver keeps one deadline, and each effect that names a time replaces it.
//!
//! ```text
//!   start ─► waiting ──(all in, something to fix)──► with the author ──(the head moved)──► waiting
//!               │ ▲ └──(head moved: re-anchor)─┐                │
//!               │ └────────────────────────────┘                │
//!               └──────────────► ended (one of L4's exits) ◄────┘
//! ```

mod exit;
mod observation;

pub use exit::{Exit, TimedOutOn};
pub use observation::{
    Observation, PostContent, PostKind, ReviewArrivals, ReviewerPost, WaitAnchor, matches_commit,
};

use super::policy::Policy;
use super::snapshot::PullRequestState;
use super::vocabulary::ReviewerName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The loop of one pull request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReviewLoop {
    expected: BTreeSet<ReviewerName>,
    phase: Phase,
    /// The head that the wait is tied to (L1). None before the first poll.
    anchor: Option<WaitAnchor>,
    /// Polls in this wait.
    attempt: u32,
    /// Whether any poll reached GitHub.
    reached: bool,
    /// Author rounds that this loop has started (L6).
    restarts: u32,
    /// Author rounds on this pull request since the last reopening, including those of earlier loops.
    dispatched: u32,
    /// Rounds that a person granted beyond the caps.
    granted: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Waits for reviews of the anchored head.
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
#[derive(Debug, Clone)]
pub enum LoopEvent<'a> {
    Polled(&'a Observation),
    /// A request did not reach GitHub (L8).
    Unreachable,
    /// GitHub named a time for the next request (L8).
    RateLimited {
        until: Timestamp,
    },
    /// The author agent ended without a push.
    AuthorGaveUp,
    // A person's commands (L10).
    Pause,
    Resume,
    Stop,
    PollNow,
    /// L6: allow one round beyond the caps.
    GrantRound,
}

/// An effect for the driver to carry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopEffect {
    // On GitHub.
    Poll,

    // For the author.
    DispatchAuthor {
        round: u32,
    },

    // For the clock.
    /// The next attempt; replaces the deadline before it.
    WakeAt(Timestamp),

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
    /// A loop that waits for these reviewers. `dispatched` counts the author rounds of earlier loops since
    /// the last reopening: a new loop gets no new budget.
    pub fn new(expected: BTreeSet<ReviewerName>, dispatched: u32) -> ReviewLoop {
        ReviewLoop {
            expected,
            phase: Phase::Waiting,
            anchor: None,
            attempt: 0,
            reached: false,
            restarts: 0,
            dispatched,
            granted: 0,
        }
    }

    /// A loop that ended because the configuration expects no reviewer by name and none posted (L3).
    pub fn ended_without_reviewers(
        anchor: WaitAnchor,
        attempt: u32,
        dispatched: u32,
        granted: u32,
    ) -> ReviewLoop {
        let phase = Phase::Ended(Exit::Timeout { missing: TimedOutOn::Anybody });
        let begun = ReviewLoop::new(BTreeSet::new(), dispatched);
        ReviewLoop { phase, anchor: Some(anchor), attempt, granted, ..begun }
    }

    /// A loop that continues after earlier ones. With an anchor, the author is at work on that head.
    pub fn resumed(
        expected: BTreeSet<ReviewerName>,
        dispatched: u32,
        granted: u32,
        at_work: Option<WaitAnchor>,
    ) -> ReviewLoop {
        let phase = if at_work.is_some() { Phase::WithAuthor } else { Phase::Waiting };
        let restarts = u32::from(at_work.is_some());
        ReviewLoop { phase, anchor: at_work, restarts, granted, ..ReviewLoop::new(expected, dispatched) }
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

    pub fn expected(&self) -> &BTreeSet<ReviewerName> {
        &self.expected
    }

    /// Author rounds since the last reopening.
    pub fn dispatched(&self) -> u32 {
        self.dispatched
    }

    pub fn granted(&self) -> u32 {
        self.granted
    }

    pub fn wake(&mut self, event: LoopEvent<'_>, now: Timestamp, policy: &Policy) -> Transition {
        match (&self.phase, event) {
            // Only a person's grant continues a loop after the round cap.
            (Phase::Ended(Exit::RoundCap { .. }), LoopEvent::GrantRound) => {
                self.granted += 1;
                self.phase = Phase::Waiting;
                self.attempt = 0;
                Transition::Do(vec![LoopEffect::Poll])
            }
            (_, LoopEvent::GrantRound) => {
                Transition::Ignored("a round is granted only where the cap was reached")
            }
            (Phase::Ended(_), _) => Transition::Ignored("the loop has ended"),
            (_, LoopEvent::Stop) => self.end(Exit::Stopped),
            (Phase::Paused(_), LoopEvent::Pause) => Transition::Ignored("the loop is paused already"),
            (Phase::Paused(resumed), LoopEvent::Resume) => {
                self.phase = match resumed {
                    ResumeTo::Waiting => Phase::Waiting,
                    ResumeTo::WithAuthor => Phase::WithAuthor,
                };
                Transition::Do(vec![LoopEffect::Poll])
            }
            (Phase::Paused(_), _) => Transition::Ignored("the loop is paused"),
            (_, LoopEvent::Resume) => Transition::Ignored("the loop is not paused"),
            (phase, LoopEvent::Pause) => {
                let resumed =
                    if *phase == Phase::WithAuthor { ResumeTo::WithAuthor } else { ResumeTo::Waiting };
                self.phase = Phase::Paused(resumed);
                Transition::Do(Vec::new())
            }
            (_, LoopEvent::PollNow) => Transition::Do(vec![LoopEffect::Poll]),
            (_, LoopEvent::RateLimited { until }) => Transition::Do(vec![LoopEffect::WakeAt(until.max(now))]),
            (_, LoopEvent::Unreachable) => {
                self.attempt += 1;
                self.try_again(now, policy, TimedOutOn::Unknown)
            }
            (Phase::WithAuthor, LoopEvent::AuthorGaveUp) => {
                self.end(Exit::IssuesFound { author_gave_up: true })
            }
            (_, LoopEvent::AuthorGaveUp) => Transition::Ignored("the author is not at work"),
            (_, LoopEvent::Polled(observation)) => self.polled(observation, now, policy),
        }
    }

    fn polled(&mut self, observation: &Observation, now: Timestamp, policy: &Policy) -> Transition {
        self.reached = true;
        match observation.state {
            PullRequestState::Merged => return self.end(Exit::PrMerged),
            PullRequestState::Closed => return self.end(Exit::PrClosed),
            PullRequestState::Open => {}
        }
        if let Some(broken) = &observation.broken_glass {
            return self.end(Exit::BreakGlass(broken.clone()));
        }
        let moved = self.anchor.as_ref() != Some(&observation.anchor);
        if moved {
            // L5: the wait starts again for the new head.
            self.anchor = Some(observation.anchor.clone());
            self.phase = Phase::Waiting;
            self.attempt = 0;
        }
        self.attempt += 1;
        if self.phase == Phase::WithAuthor {
            return self.try_again(now, policy, TimedOutOn::Push);
        }
        let arrivals = observation.arrivals(&self.expected);
        if let Some((reviewer, reason)) = arrivals.failed.into_iter().next() {
            return self.end(Exit::WorkflowFailure { reviewer, reason });
        }
        if arrivals.missing.is_empty() {
            return self.all_in(observation, now, policy);
        }
        if self.attempt >= policy.max_attempts && observation.something_to_fix && observation.has_author {
            // L4: the time for the missing reviews is up, but the findings that did arrive still start a
            // round.
            return self.all_in(observation, now, policy);
        }
        self.try_again(now, policy, TimedOutOn::Reviews(arrivals.missing))
    }

    fn all_in(&mut self, observation: &Observation, now: Timestamp, policy: &Policy) -> Transition {
        if !observation.something_to_fix {
            return self.end(Exit::Success);
        }
        if !observation.has_author {
            return self.end(Exit::IssuesFound { author_gave_up: false });
        }
        let used = observation.rounds_on_forge.max(self.dispatched);
        if used >= policy.max_rounds.saturating_add(self.granted)
            || self.restarts >= policy.max_restarts.saturating_add(self.granted)
        {
            return self.end(Exit::RoundCap { rounds: used });
        }
        self.restarts += 1;
        self.dispatched += 1;
        self.phase = Phase::WithAuthor;
        self.attempt = 0;
        Transition::Do(vec![LoopEffect::DispatchAuthor { round: used + 1 }, wake_later(now, policy)])
    }

    fn try_again(&mut self, now: Timestamp, policy: &Policy, missing: TimedOutOn) -> Transition {
        if self.attempt < policy.max_attempts {
            Transition::Do(vec![wake_later(now, policy)])
        } else if self.reached {
            self.end(Exit::Timeout { missing })
        } else {
            self.end(Exit::OutOfReach)
        }
    }

    fn end(&mut self, exit: Exit) -> Transition {
        self.phase = Phase::Ended(exit.clone());
        Transition::Do(vec![LoopEffect::Announce(exit)])
    }
}

fn wake_later(now: Timestamp, policy: &Policy) -> LoopEffect {
    LoopEffect::WakeAt(now.checked_add(policy.poll_interval).unwrap_or(Timestamp::MAX))
}
