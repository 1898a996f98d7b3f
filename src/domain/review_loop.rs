//! The pull request's loop (L): waiting for reviews, handing findings to the author, and knowing when to stop.
//!
//! A pure machine. It is told what woke it and when, and says what is to be done as data; whoever drives it
//! does that and comes back. The driver keeps at most one deadline: each effect that names a time replaces the last.
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
pub use observation::{Observation, PostContent, PostKind, ReviewArrivals, ReviewerPost, WaitAnchor, names};

use super::policy::Policy;
use super::snapshot::PullRequestState;
use super::vocabulary::ReviewerName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Where one pull request's loop stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReviewLoop {
    expected: BTreeSet<ReviewerName>,
    phase: Phase,
    /// What the wait is tied to (L1); none before the first poll.
    anchor: Option<WaitAnchor>,
    /// Polls spent in this wait.
    attempt: u32,
    /// Whether any of them got through.
    reached: bool,
    /// Author rounds this loop has started (L6).
    restarts: u32,
    /// Author rounds dispatched on this pull request since it was last reopened, earlier loops included.
    dispatched: u32,
    /// Rounds that a person granted beyond the caps.
    granted: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// For reviews of the anchored head.
    Waiting,
    /// For the author to push.
    WithAuthor,
    Paused(ResumeTo),
    Ended(Exit),
}

/// What a paused loop goes back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ResumeTo {
    Waiting,
    WithAuthor,
}

/// Everything that can wake a loop.
#[derive(Debug, Clone)]
pub enum LoopEvent<'a> {
    Polled(&'a Observation),
    /// The forge could not be reached (L8).
    Unreachable,
    /// The forge says when to come back (L8).
    RateLimited {
        until: Timestamp,
    },
    /// The author's program ended without a push.
    AuthorGaveUp,
    // A person's doing (L10).
    Pause,
    Resume,
    Stop,
    PollNow,
    /// L6: one more round than the caps allow.
    GrantRound,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopEffect {
    // Towards the forge.
    Poll,

    // Towards the author.
    DispatchAuthor {
        round: u32,
    },

    // Towards the clock.
    /// When the next attempt is due, instead of the time named before.
    WakeAt(Timestamp),

    // Towards people.
    Announce(Exit),
}

/// What came of a wake-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    Do(Vec<LoopEffect>),
    /// Nothing, for a reason worth keeping.
    Ignored(&'static str),
}

impl ReviewLoop {
    /// A loop that waits for these reviewers. `dispatched` are the author rounds that earlier loops already
    /// started on this pull request since it was last reopened: a new loop is not a new budget.
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

    /// A loop that ended because nobody is expected by name and nobody came (L3).
    pub fn nobody_came(anchor: WaitAnchor, attempt: u32, dispatched: u32, granted: u32) -> ReviewLoop {
        let phase = Phase::Ended(Exit::Timeout { missing: TimedOutOn::Anybody });
        let begun = ReviewLoop::new(BTreeSet::new(), dispatched);
        ReviewLoop { phase, anchor: Some(anchor), attempt, granted, ..begun }
    }

    /// A loop that goes on after earlier ones. With an anchor, the author is at work on it.
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

    /// Author rounds dispatched since the pull request was last reopened.
    pub fn dispatched(&self) -> u32 {
        self.dispatched
    }

    pub fn granted(&self) -> u32 {
        self.granted
    }

    pub fn wake(&mut self, wake: LoopEvent<'_>, now: Timestamp, policy: &Policy) -> Transition {
        match (&self.phase, wake) {
            // A person's grant is the one thing that can follow the round cap.
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

    fn polled(&mut self, seen: &Observation, now: Timestamp, policy: &Policy) -> Transition {
        self.reached = true;
        match seen.state {
            PullRequestState::Merged => return self.end(Exit::PrMerged),
            PullRequestState::Closed => return self.end(Exit::PrClosed),
            PullRequestState::Open => {}
        }
        if let Some(broken) = &seen.broken_glass {
            return self.end(Exit::BreakGlass(broken.clone()));
        }
        let moved = self.anchor.as_ref() != Some(&seen.anchor);
        if moved {
            // L5: whatever was waited for is no longer what counts.
            self.anchor = Some(seen.anchor.clone());
            self.phase = Phase::Waiting;
            self.attempt = 0;
        }
        self.attempt += 1;
        if self.phase == Phase::WithAuthor {
            return self.try_again(now, policy, TimedOutOn::Push);
        }
        let standing = seen.standing(&self.expected);
        if let Some((reviewer, reason)) = standing.failed.into_iter().next() {
            return self.end(Exit::WorkflowFailure { reviewer, reason });
        }
        if standing.missing.is_empty() {
            return self.all_in(seen, now, policy);
        }
        if self.attempt >= policy.max_attempts && seen.something_to_fix && seen.has_author {
            // Time is up for the missing, but what did arrive is not left lying (L4).
            return self.all_in(seen, now, policy);
        }
        self.try_again(now, policy, TimedOutOn::Reviews(standing.missing))
    }

    fn all_in(&mut self, seen: &Observation, now: Timestamp, policy: &Policy) -> Transition {
        if !seen.something_to_fix {
            return self.end(Exit::Success);
        }
        if !seen.has_author {
            return self.end(Exit::IssuesFound { author_gave_up: false });
        }
        let used = seen.rounds_on_forge.max(self.dispatched);
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
