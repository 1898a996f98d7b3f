//! The loop of a pull request and all its successors: reviews that never come, run again or cannot be read,
//! reviewers that show up late, an author that may or may not push, a contributor who pushes, closes and reopens, and
//! people who reopen, pause, stop, restart and grant.
//!
//! Everything that happens outside the loop is an *outside event*, and the model allows a limited number of
//! them in every order. Polls, failed or not, and looks by hand are unlimited.

use cloture::domain::policy::Policy;
use cloture::domain::re_review::BrokenGlass;
use cloture::domain::review_loop::{
    AuthorState, Exit, LoopEffect, LoopEvent, Observation, Phase, PostContent, PostKind, ReviewLoop,
    ReviewerPost, TimedOutOn, Transition, WaitAnchor,
};
use cloture::domain::snapshot::PullRequestState;
use cloture::domain::vocabulary::ReviewerName;
use jiff::Timestamp;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::{BTreeMap, BTreeSet};

struct LoopModel {
    policy: Policy,
    /// Outside events in one run.
    max_events: u32,
    /// Whether GitHub's review history counts rounds, as it does if verdicts are posted.
    forge_counts: bool,
    /// Whether the reviewer has to be asked for each review.
    asks: bool,
    /// A driver that gives each successor of an ended loop fresh counts. The shipped one does not.
    forgets_rounds: bool,
}

/// The pull request, the journal and the author, apart from the loop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    head: u32,
    state: PullRequestState,
    reopenings: u32,
    /// The number of the last reopening by somebody who may override.
    reset_at: u32,
    review: Review,
    late_reviewer: LateReviewer,
    glass_broken: bool,
    author: AuthorState,
    /// Author rounds, grants and requests for a review since the last reopening by somebody who may override.
    rounds: u32,
    granted: u32,
    asks: u32,
    /// Whether Cloture has asked the reviewer about this head.
    is_asked: bool,
}

/// What the reviewer has posted about the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Review {
    Missing,
    Running,
    Unreadable,
    Failed,
    Clean,
    Issues,
    /// Nothing to fix, but an escalated thread.
    NeedsPerson,
    /// C6: Cloture drives the reviewer and does not ask it any more.
    Exhausted,
}

/// A second reviewer, which nobody expected at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum LateReviewer {
    Unknown,
    Working,
    Done,
}

#[expect(clippy::struct_excessive_bools, reason = "these are independent observations, not modes")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LoopState {
    review_loop: ReviewLoop,
    world: World,
    events: u32,
    /// Whether the loop's last poll has seen the world as it is.
    up_to_date: bool,
    /// Whether a look by hand has ever cost an attempt.
    free_look_cost: bool,
    /// A person stopped the loop or broke the glass, and nobody who may started it again.
    is_held: bool,
    /// Whether the loop left a person's stop or a broken glass by itself.
    went_on_unasked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Poll,
    LookByHand,
    Unreachable,
    // Outside events
    Push,
    Post(Review),
    LateReviewer(LateReviewer),
    Close,
    /// By somebody who may override, or by a contributor.
    Reopen {
        resets: bool,
    },
    Merge,
    BreakGlass,
    Author(AuthorState),
    Grant,
    Pause,
    Resume,
    Stop,
    Restart,
}

impl World {
    fn new() -> World {
        World {
            head: 0,
            state: PullRequestState::Open,
            reopenings: 0,
            reset_at: 0,
            review: Review::Missing,
            late_reviewer: LateReviewer::Unknown,
            glass_broken: false,
            author: AuthorState::Idle,
            rounds: 0,
            granted: 0,
            asks: 0,
            is_asked: false,
        }
    }

    /// Everything that L4 asks for a success, in the model's own words.
    fn is_clean(&self) -> bool {
        self.state == PullRequestState::Open
            && !self.glass_broken
            && self.review == Review::Clean
            && self.late_reviewer != LateReviewer::Working
    }

    fn observation(&self, model: &LoopModel) -> Observation {
        let head = format!("h{}", self.head).into();
        let anchor = WaitAnchor { head, pushed_at: Timestamp::UNIX_EPOCH };
        let post = |reviewer: &str, content| ReviewerPost {
            reviewer: reviewer.into(),
            kind: PostKind::Review(content),
            at: Timestamp::UNIX_EPOCH,
            commit: Some(anchor.head.clone()),
            url: None,
            aside: false,
        };
        let content = match self.review {
            Review::Missing | Review::Exhausted => None,
            Review::Running => Some(PostContent::InProgress),
            Review::Unreadable => Some(PostContent::Unreadable("no known mark".to_owned())),
            Review::Failed => Some(PostContent::Failure("out of quota".to_owned())),
            Review::Clean | Review::Issues | Review::NeedsPerson => Some(PostContent::Complete),
        };
        let late = (self.late_reviewer == LateReviewer::Done).then(|| post("late", PostContent::Complete));
        let posts = content.map(|content| post("r", content)).into_iter().chain(late).collect();
        let mut expected = BTreeSet::from([ReviewerName::from("r")]);
        if self.late_reviewer != LateReviewer::Unknown {
            expected.insert("late".into());
        }
        let mut observation = Observation {
            state: self.state,
            reopened_at: (self.reopenings > 0).then(|| at(self.reopenings)),
            counts_from: (self.reset_at > 0).then(|| at(self.reset_at)),
            expected,
            exhausted: (self.review == Review::Exhausted).then(|| "r".into()).into_iter().collect(),
            asks_spent: BTreeSet::new(),
            expects_anybody: false,
            posts,
            broken_glass: self.glass_broken.then(|| BrokenGlass::Label("stop".to_owned())),
            to_fix: u32::from(self.review == Review::Issues),
            for_person: if self.review == Review::NeedsPerson { vec!["a:1".to_owned()] } else { Vec::new() },
            author: self.author,
            rounds_on_forge: if model.forge_counts { self.rounds } else { 0 },
            rounds_recorded: if model.forgets_rounds { 0 } else { self.rounds },
            granted: self.granted,
            anchor,
        };
        observation.count_asks(&BTreeMap::from([("r".into(), self.asks)]), &model.policy);
        observation
    }
}

impl LoopState {
    /// Carries out the loop's effects, like a driver: a round is recorded, and the author's agent starts.
    fn wake(&mut self, model: &LoopModel, event: LoopEvent<'_>) -> Vec<LoopEffect> {
        match self.review_loop.wake(event, &model.policy) {
            Transition::Ignored(_) => Vec::new(),
            Transition::Do(effects) => {
                if effects.iter().any(|effect| matches!(effect, LoopEffect::DispatchAuthor { .. })) {
                    self.world.rounds += 1;
                    self.world.author = AuthorState::AtWork;
                }
                effects
            }
        }
    }

    fn look(&mut self, model: &LoopModel, scheduled: bool) -> Vec<LoopEffect> {
        let observation = self.world.observation(model);
        let (attempt, was_silenced) = (self.review_loop.attempt(), self.is_silenced());
        let event =
            if scheduled { LoopEvent::Polled(&observation) } else { LoopEvent::Learned(&observation) };
        let effects = self.wake(model, event);
        // Like the driver, which asks once for a head.
        let is_waiting = *self.review_loop.phase() == Phase::Waiting;
        if model.asks && is_waiting && !self.world.is_asked && observation.to_ask().contains(&"r".into()) {
            self.world.is_asked = true;
            self.world.asks += 1;
        }
        self.up_to_date = true;
        self.free_look_cost |= !scheduled && self.review_loop.attempt() > attempt;
        let is_over = self.world.state != PullRequestState::Open;
        self.is_held |= self.is_silenced();
        self.went_on_unasked |= (was_silenced || self.is_held) && !self.is_silenced() && !is_over;
        effects
    }

    fn is_silenced(&self) -> bool {
        matches!(self.review_loop.exit(), Some(Exit::Stopped | Exit::BreakGlass(_)))
    }

    fn has_ended(&self) -> bool {
        self.review_loop.exit().is_some()
    }
}

impl Model for LoopModel {
    type State = LoopState;
    type Action = Event;

    fn init_states(&self) -> Vec<LoopState> {
        vec![LoopState {
            review_loop: ReviewLoop::new(),
            world: World::new(),
            events: 0,
            up_to_date: false,
            free_look_cost: false,
            is_held: false,
            went_on_unasked: false,
        }]
    }

    fn actions(&self, state: &LoopState, events: &mut Vec<Event>) {
        events.extend([Event::Poll, Event::LookByHand, Event::Unreachable]);
        if state.events == self.max_events {
            return;
        }
        events.extend([Event::Pause, Event::Resume, Event::Stop, Event::Restart, Event::Grant]);
        match state.world.state {
            PullRequestState::Open => {
                events.extend([Event::Push, Event::Close, Event::Merge, Event::BreakGlass]);
                let reviews = [
                    Review::Running,
                    Review::Unreadable,
                    Review::Failed,
                    Review::Clean,
                    Review::Issues,
                    Review::NeedsPerson,
                    Review::Exhausted,
                ];
                events.extend(reviews.map(Event::Post));
                events.extend([LateReviewer::Working, LateReviewer::Done].map(Event::LateReviewer));
            }
            PullRequestState::Closed => {
                events.extend([true, false].map(|resets| Event::Reopen { resets }));
            }
            PullRequestState::Merged => {}
        }
        if state.world.author == AuthorState::AtWork {
            events.extend([AuthorState::Pushed, AuthorState::GaveUp].map(Event::Author));
        }
    }

    fn next_state(&self, state: &LoopState, event: Event) -> Option<LoopState> {
        let mut next = state.clone();
        match event {
            Event::Poll | Event::LookByHand => {
                next.look(self, event == Event::Poll);
                return (next != *state).then_some(next);
            }
            Event::Unreachable => {
                next.wake(self, LoopEvent::Unreachable);
                next.up_to_date = false;
                return (next != *state).then_some(next);
            }
            Event::Push => {
                next.world.head += 1;
                next.world.is_asked = false;
                next.world.author = AuthorState::Idle;
                if next.world.review != Review::Exhausted {
                    next.world.review = Review::Missing;
                }
                if next.world.late_reviewer == LateReviewer::Done {
                    next.world.late_reviewer = LateReviewer::Working;
                }
            }
            Event::Post(review) => next.world.review = review,
            Event::LateReviewer(late) => next.world.late_reviewer = late,
            Event::Close => next.world.state = PullRequestState::Closed,
            Event::Reopen { resets } => {
                next.world.state = PullRequestState::Open;
                next.world.reopenings += 1;
                if resets {
                    next.world.reset_at = next.world.reopenings;
                    (next.world.rounds, next.world.granted, next.world.asks) = (0, 0, 0);
                    if next.world.author != AuthorState::AtWork {
                        next.world.author = AuthorState::Idle;
                    }
                    next.is_held = false;
                }
            }
            Event::Merge => next.world.state = PullRequestState::Merged,
            Event::BreakGlass => next.world.glass_broken = true,
            Event::Author(author) => next.world.author = author,
            Event::Grant => next.world.granted += 1,
            Event::Pause => drop(next.wake(self, LoopEvent::Pause)),
            Event::Resume => drop(next.wake(self, LoopEvent::Resume)),
            Event::Stop => drop(next.wake(self, LoopEvent::Stop)),
            Event::Restart => {
                next.is_held = false;
                drop(next.wake(self, LoopEvent::Restart));
            }
        }
        if next == *state {
            return None;
        }
        next.events += 1;
        next.up_to_date = false;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "L6: author rounds are bounded over all successors of a loop",
                |model: &Self, state: &LoopState| {
                    let World { rounds, granted, .. } = state.world;
                    rounds <= model.policy.max_rounds + granted
                        && rounds <= model.policy.max_restarts + granted
                },
            ),
            Property::always(
                "C6: requests for a review are bounded over all successors of a loop",
                |model: &Self, s: &LoopState| s.world.asks <= model.policy.max_asks,
            ),
            Property::sometimes("all requests for a review are used", |model: &Self, s: &LoopState| {
                !model.asks || s.world.asks == model.policy.max_asks && !s.world.is_asked
            }),
            Property::always("L2: no wait polls more often than it may", |model: &Self, s: &LoopState| {
                s.review_loop.attempt() <= model.policy.max_attempts
            }),
            Property::always("L10: a look by hand costs no attempt", |_: &Self, s: &LoopState| {
                !s.free_look_cost
            }),
            Property::always(
                "T8: left alone, every wait ends within its attempts and stays ended",
                ends_if_left_alone,
            ),
            Property::always("L4: no success while anything waits", |_: &Self, s: &LoopState| {
                !s.up_to_date || s.review_loop.exit() != Some(&Exit::Success) || s.world.is_clean()
            }),
            Property::always("L4: a clean pull request is called so", |_: &Self, s: &LoopState| {
                let may_say_it = !s.is_silenced()
                    && !matches!(s.review_loop.phase(), Phase::Paused(_) | Phase::WithAuthor);
                !(s.up_to_date && s.world.is_clean() && may_say_it)
                    || s.review_loop.exit() == Some(&Exit::Success)
            }),
            Property::always(
                "R7, L10: a stopped loop goes on only if a person says so",
                |_: &Self, s: &LoopState| !s.went_on_unasked,
            ),
            Property::sometimes("all rounds are used", |model: &Self, s: &LoopState| {
                s.world.rounds == model.policy.max_rounds.min(model.policy.max_restarts)
            }),
            Property::sometimes("success", |_: &Self, s: &LoopState| ended(s, "success")),
            Property::sometimes("needs a person", |_: &Self, s: &LoopState| ended(s, "needs_person")),
            Property::sometimes("timeout", |_: &Self, s: &LoopState| ended(s, "timeout")),
            Property::sometimes("the author does not push", |_: &Self, s: &LoopState| {
                s.review_loop.exit() == Some(&Exit::Timeout { missing: TimedOutOn::Push })
            }),
            Property::sometimes("unreadable", |_: &Self, s: &LoopState| {
                matches!(s.review_loop.exit(), Some(Exit::Unreadable { .. }))
            }),
            Property::sometimes("failed", |_: &Self, s: &LoopState| {
                matches!(s.review_loop.exit(), Some(Exit::WorkflowFailure { .. }))
            }),
            Property::sometimes("round cap", |_: &Self, s: &LoopState| ended(s, "round_cap")),
            Property::sometimes("merged", |_: &Self, s: &LoopState| ended(s, "pr_merged")),
            Property::sometimes("out of reach", |_: &Self, s: &LoopState| ended(s, "out_of_reach")),
            Property::sometimes("the author gives up", |_: &Self, s: &LoopState| {
                matches!(s.review_loop.exit(), Some(Exit::RoundCap { author_gave_up: true, .. }))
            }),
            Property::sometimes("nobody reviews the head", |_: &Self, s: &LoopState| {
                matches!(
                    s.review_loop.exit(),
                    Some(Exit::Timeout { missing: TimedOutOn::ExhaustedReviewers(_) })
                )
            }),
            Property::always(
                "C6: no wait for a review that Cloture does not ask for",
                |_: &Self, s: &LoopState| {
                    let World { review, late_reviewer, .. } = s.world;
                    let is_exhausted = review == Review::Exhausted && late_reviewer != LateReviewer::Working;
                    !(s.up_to_date && is_exhausted) || *s.review_loop.phase() != Phase::Waiting
                },
            ),
        ]
    }
}

/// Polls the same world again and again. A wait for reviews may be followed by one for the author's push, and
/// after the end nothing may happen any more.
fn ends_if_left_alone(model: &LoopModel, state: &LoopState) -> bool {
    let mut state = state.clone();
    state.look(model, true);
    // Also after a contributor's reopening, which does not undo a pause.
    if matches!(state.review_loop.phase(), Phase::Paused(_)) {
        return true;
    }
    for _ in 0..=2 * model.policy.max_attempts {
        state.look(model, true);
    }
    let resting = state.review_loop.clone();
    state.has_ended() && state.look(model, true).is_empty() && state.review_loop == resting
}

fn ended(state: &LoopState, name: &str) -> bool {
    state.review_loop.exit().is_some_and(|exit| exit.name() == name)
}

fn at(second: u32) -> Timestamp {
    Timestamp::from_second(i64::from(second)).unwrap()
}

#[test]
fn t8_l6_author_rounds_and_waits_are_bounded_over_all_successors() {
    let mut states = 0;
    for (max_rounds, max_restarts) in [(1, 1), (2, 2), (2, 1), (1, 2)] {
        for forge_counts in [true, false] {
            let model = LoopModel {
                policy: Policy {
                    max_attempts: 2,
                    max_rounds,
                    max_restarts,
                    max_asks: 2,
                    ..Policy::default()
                },
                max_events: 5,
                forge_counts,
                // They are independent of the rounds, so one policy is enough.
                asks: forge_counts && (max_rounds, max_restarts) == (1, 1),
                forgets_rounds: false,
            };
            let checker = model.checker().threads(2).spawn_bfs().join();
            checker.assert_properties();
            states += checker.unique_state_count();
        }
    }
    assert_eq!(states, 2_920_283);
}

#[test]
fn t8_with_fresh_counts_for_each_successor_the_checker_finds_the_endless_chain() {
    let model = LoopModel {
        policy: Policy { max_attempts: 2, max_rounds: 1, max_restarts: 1, ..Policy::default() },
        max_events: 3,
        forge_counts: false,
        asks: false,
        forgets_rounds: true,
    };
    let endless = "L6: author rounds are bounded over all successors of a loop";
    let checker = model.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let path = checker.discovery(endless).expect("without the counts, rounds must exceed their bound");
    let rounds = path.last_state().world.rounds;
    assert!(rounds > 1, "a push after the end starts another round: {rounds}");
}
