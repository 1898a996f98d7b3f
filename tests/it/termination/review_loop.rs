//! The loop of a pull request: polls that fail, reviews that never come, an author that may or may not push,
//! and people who pause, stop and grant.

use cloture::domain::policy::Policy;
use cloture::domain::review_loop::{
    Exit, LoopEffect, LoopEvent, Observation, Phase, PostContent, PostKind, ReviewLoop, ReviewerPost,
    Transition, WaitAnchor,
};
use cloture::domain::snapshot::PullRequestState;
use cloture::domain::vocabulary::ReviewerName;
use jiff::Timestamp;
use stateright::{Checker, Model, Property};
use std::collections::BTreeSet;

struct LoopModel {
    policy: Policy,
    /// Pushes by anybody, including the author of a round.
    max_pushes: u32,
    max_grants: u32,
    max_pauses: u32,
    /// Rate limits and polls by hand cost no attempt, so the model limits them.
    max_free_polls: u32,
    /// Whether GitHub's review history counts rounds, as it does if verdicts are posted.
    forge_counts: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LoopState {
    review_loop: ReviewLoop,
    pushes: u32,
    pauses: u32,
    free_polls: u32,
    /// Rounds as the model counts them.
    dispatched: u32,
    /// The driver's state: at most one deadline for the next poll, and whether a poll is under way.
    has_deadline: bool,
    polling: bool,
    caps_announced: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The driver's deadline has passed, so it polls.
    Deadline,
    Poll(PollResult),
    Unreachable,
    RateLimited,
    Push,
    AuthorGaveUp,
    Pause,
    Resume,
    Stop,
    PollNow,
    Grant,
}

/// The result of a poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PollResult {
    NoReview,
    CleanReview,
    Issues,
    Failure,
    Merged,
}

impl LoopModel {
    fn observation(&self, state: &LoopState, result: PollResult) -> Observation {
        let head = format!("h{}", state.pushes).into();
        let anchor = WaitAnchor { head, pushed_at: Timestamp::UNIX_EPOCH };
        let content = match result {
            PollResult::NoReview | PollResult::Merged => None,
            PollResult::CleanReview | PollResult::Issues => Some(PostContent::Complete),
            PollResult::Failure => Some(PostContent::Failure("out of quota".to_owned())),
        };
        let post = content.map(|content| ReviewerPost {
            reviewer: reviewer(),
            kind: PostKind::Review(content),
            at: Timestamp::UNIX_EPOCH,
            commit: Some(anchor.head.clone()),
        });
        Observation {
            state: if result == PollResult::Merged {
                PullRequestState::Merged
            } else {
                PullRequestState::Open
            },
            anchor,
            posts: post.into_iter().collect(),
            broken_glass: None,
            something_to_fix: result == PollResult::Issues,
            has_author: true,
            rounds_on_forge: if self.forge_counts { state.dispatched } else { 0 },
        }
    }

    /// Carries out the loop's effects, like a driver.
    fn carry_out(&self, state: &mut LoopState, event: LoopEvent<'_>) {
        let Transition::Do(effects) = state.review_loop.wake(event, Timestamp::UNIX_EPOCH, &self.policy)
        else {
            return;
        };
        for effect in effects {
            match effect {
                LoopEffect::Poll => (state.polling, state.has_deadline) = (true, false),
                LoopEffect::WakeAt(_) => state.has_deadline = true,
                LoopEffect::DispatchAuthor { .. } => state.dispatched += 1,
                LoopEffect::Announce(exit) => {
                    state.has_deadline = false;
                    state.caps_announced += u32::from(matches!(exit, Exit::RoundCap { .. }));
                }
            }
        }
    }
}

impl Model for LoopModel {
    type State = LoopState;
    type Action = Event;

    fn init_states(&self) -> Vec<LoopState> {
        vec![LoopState {
            review_loop: ReviewLoop::new(BTreeSet::from([reviewer()]), 0),
            pushes: 0,
            pauses: 0,
            free_polls: 0,
            dispatched: 0,
            has_deadline: false,
            // A driver polls as soon as it starts.
            polling: true,
            caps_announced: 0,
        }]
    }

    fn actions(&self, state: &LoopState, events: &mut Vec<Event>) {
        if state.has_deadline {
            events.push(Event::Deadline);
        }
        if state.polling {
            let results = [
                PollResult::NoReview,
                PollResult::CleanReview,
                PollResult::Issues,
                PollResult::Failure,
                PollResult::Merged,
            ];
            events.extend(results.map(Event::Poll));
            events.push(Event::Unreachable);
            if state.free_polls < self.max_free_polls {
                events.push(Event::RateLimited);
            }
        }
        if state.pushes < self.max_pushes {
            events.push(Event::Push);
        }
        if state.pauses < self.max_pauses {
            events.push(Event::Pause);
        }
        if state.review_loop.granted() < self.max_grants {
            events.push(Event::Grant);
        }
        events.extend([Event::AuthorGaveUp, Event::Resume, Event::Stop]);
        if !state.polling && state.free_polls < self.max_free_polls {
            events.push(Event::PollNow);
        }
    }

    fn next_state(&self, state: &LoopState, event: Event) -> Option<LoopState> {
        let mut next = state.clone();
        match event {
            Event::Deadline => (next.polling, next.has_deadline) = (true, false),
            Event::Poll(result) => {
                next.polling = false;
                let observation = self.observation(state, result);
                self.carry_out(&mut next, LoopEvent::Polled(&observation));
            }
            Event::Unreachable => {
                next.polling = false;
                self.carry_out(&mut next, LoopEvent::Unreachable);
            }
            Event::RateLimited => {
                next.free_polls += 1;
                next.polling = false;
                self.carry_out(&mut next, LoopEvent::RateLimited { until: Timestamp::UNIX_EPOCH });
            }
            Event::Push => next.pushes += 1,
            Event::AuthorGaveUp => self.carry_out(&mut next, LoopEvent::AuthorGaveUp),
            Event::Pause => {
                next.pauses += 1;
                self.carry_out(&mut next, LoopEvent::Pause);
            }
            Event::Resume => self.carry_out(&mut next, LoopEvent::Resume),
            Event::Stop => self.carry_out(&mut next, LoopEvent::Stop),
            Event::PollNow => {
                next.free_polls += 1;
                self.carry_out(&mut next, LoopEvent::PollNow);
            }
            Event::Grant => self.carry_out(&mut next, LoopEvent::GrantRound),
        }
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("L6: author rounds are bounded", |model: &Self, state: &LoopState| {
                let granted = state.review_loop.granted();
                state.dispatched <= model.policy.max_rounds + granted
                    && state.dispatched <= model.policy.max_restarts + granted
            }),
            Property::always(
                "L6: the operator is told at the cap, once for each time it is reached",
                |_: &Self, s: &LoopState| s.caps_announced <= 1 + s.review_loop.granted(),
            ),
            Property::always("L2: no wait polls more often than it may", |model: &Self, s: &LoopState| {
                s.review_loop.attempt() <= model.policy.max_attempts
            }),
            Property::always(
                "a loop that has not ended is waiting for something that will come",
                |_: &Self, s: &LoopState| match s.review_loop.phase() {
                    Phase::Ended(_) | Phase::Paused(_) => true,
                    Phase::Waiting | Phase::WithAuthor => s.polling || s.has_deadline,
                },
            ),
            Property::sometimes("all rounds are used", |model: &Self, s: &LoopState| {
                s.dispatched == model.policy.max_rounds.min(model.policy.max_restarts) + model.max_grants
            }),
            Property::sometimes("it ends well", |_: &Self, s: &LoopState| ended(s, "success")),
            Property::sometimes("it runs out of time", |_: &Self, s: &LoopState| ended(s, "timeout")),
            Property::sometimes("it sees a failed workflow", |_: &Self, s: &LoopState| {
                ended(s, "workflow_failure")
            }),
            Property::sometimes("it hits the round cap", |_: &Self, s: &LoopState| ended(s, "round_cap")),
            Property::sometimes("it sees the merge", |_: &Self, s: &LoopState| ended(s, "pr_merged")),
            Property::sometimes("it never reaches the forge", |_: &Self, s: &LoopState| {
                ended(s, "out_of_reach")
            }),
            Property::sometimes("the author gives up", |_: &Self, s: &LoopState| ended(s, "issues_found")),
        ]
    }
}

fn ended(state: &LoopState, name: &str) -> bool {
    matches!(state.review_loop.phase(), Phase::Ended(exit) if Exit::name(exit) == name)
}

fn reviewer() -> ReviewerName {
    "r".into()
}

#[test]
fn author_rounds_are_bounded_under_all_events() {
    let mut states = 0;
    for (max_rounds, max_restarts) in [(1, 1), (2, 2), (3, 3), (2, 3), (3, 2)] {
        for forge_counts in [true, false] {
            let model = LoopModel {
                policy: Policy { max_attempts: 2, max_rounds, max_restarts, ..Policy::default() },
                max_pushes: 4,
                max_grants: 1,
                max_pauses: 2,
                max_free_polls: 2,
                forge_counts,
            };
            let checker = model.checker().threads(2).spawn_bfs().join();
            checker.assert_properties();
            states += checker.unique_state_count();
        }
    }
    assert_eq!(states, 106_378);
}
