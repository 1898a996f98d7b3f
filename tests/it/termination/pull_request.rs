//! A whole pull request: reviewers that answer anything, an author that pushes at will, a contributor who closes and
//! reopens at will, people with a limited number of decisions, answers that get lost, and merges that are reported
//! twice.

use cloture::domain::cycle::{
    AnswerFinding, CycleSkip, CycleTrigger, FrozenCycle, ReviewerAnswer, ThreadChoice, Violation,
};
use cloture::domain::driven::{CycleOutcome, DrivenPullRequest, NextCall};
use cloture::domain::finding::{Finding, UndoableAct};
use cloture::domain::handoff::{HandoffMode, HandoffRules};
use cloture::domain::machine::Decision;
use cloture::domain::place::{FileChange, Hunk, LineRange};
use cloture::domain::policy::Policy;
use cloture::domain::re_review::{ClassifiedReply, ReplyAuthor};
use cloture::domain::snapshot::PullRequestState;
use cloture::domain::vocabulary::{
    Association, Category, Intent, ReviewerAction, ReviewerName, Severity, Stance, ThreadId,
};
use stateright::{Checker, Model, Property};
use std::collections::BTreeMap;

struct PrModel {
    policy: Policy,
    handoff: HandoffRules,
    author_is_bot: bool,
    reviewers: Vec<ReviewerName>,
    /// How many problems each reviewer can raise.
    problems: usize,
    max_pushes: u32,
    /// The most decisions of people, including returns.
    max_decisions: u32,
    max_reopenings: u32,
    /// Whether people undo their decisions.
    may_undo: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PrModelState {
    pr: DrivenPullRequest,
    pushes: u32,
    decisions: u32,
    reopenings: u32,
    /// The last act of a person that is not undone.
    act: Option<(ThreadId, UndoableAct)>,
    /// Findings that were handed off, in order.
    sent: Vec<ThreadId>,
    /// Findings that were queued when the pull request was closed. Nobody unqueues any in this model.
    queued: Vec<ThreadId>,
    /// The promise that a transition broke, if any.
    broken: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Event {
    /// A push that changes nothing near the findings, or all of their lines.
    Push {
        rewrites: bool,
    },
    /// A force-push back to the first head.
    PushBack,
    Ask {
        reviewer: usize,
        response: Response,
    },
    Person {
        thread: ThreadId,
        act: Decision,
    },
    Undo,
    /// "Won't fix", by a person who may override or by one who may not.
    WontFix {
        thread: ThreadId,
        association: Association,
    },
    Merge,
    Close,
    /// By somebody who may override, or by a contributor, who may do it at will.
    Reopen {
        resets: bool,
    },
}

/// A reviewer's response.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Response {
    /// No answer, because the program or Cloture crashed.
    Nothing,
    Junk,
    /// An answer without any action.
    Silence,
    /// One choice for each open thread in order, and perhaps a new finding.
    Choices(Vec<(Stance, ReviewerAction)>, Option<Raised>),
    /// The protocol `findings`: the problems that the reviewer still sees.
    List(Vec<Raised>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Raised {
    problem: usize,
    severity: Severity,
}

const CHOICES: [(Stance, ReviewerAction); 5] = [
    (Stance::SeeksChange, ReviewerAction::Reply),
    (Stance::Accepts, ReviewerAction::Reply),
    (Stance::Accepts, ReviewerAction::Resolve),
    (Stance::SeeksChange, ReviewerAction::Resolve),
    (Stance::SeeksChange, ReviewerAction::Veto),
];

impl PrModel {
    fn thread_id(&self, reviewer: usize, problem: usize) -> ThreadId {
        format!("{}-{problem}", self.reviewers[reviewer]).into()
    }

    fn report(&self, reviewer: usize, raised: Raised) -> AnswerFinding {
        const TITLES: [&str; 3] = ["unchecked index", "leaked handle", "stale cache"];
        let line = 10 + 20 * u32::try_from(raised.problem).unwrap();
        let finding = Finding {
            path: "a.rs".into(),
            lines: LineRange::new(line, line),
            title: TITLES[raised.problem].into(),
            body: "".into(),
            severity: Some(raised.severity),
            category: Category::Bug,
            suggestion: None,
            own_id: None,
        };
        AnswerFinding { id: self.thread_id(reviewer, raised.problem), finding }
    }

    fn all_responses(&self, frozen: &FrozenCycle) -> Vec<Response> {
        let severities = [Severity::Medium, Severity::Critical];
        let raised: Vec<Raised> = (0..self.problems)
            .flat_map(|problem| severities.map(|severity| Raised { problem, severity }))
            .collect();
        let mut responses = vec![Response::Nothing, Response::Junk];
        if !frozen.threads.is_empty() {
            responses.push(Response::Silence);
        }
        let mut choices: Vec<Vec<(Stance, ReviewerAction)>> = vec![Vec::new()];
        for _ in &frozen.threads {
            choices = choices
                .iter()
                .flat_map(|chosen| CHOICES.map(|choice| [chosen.as_slice(), &[choice]].concat()))
                .collect();
        }
        for chosen in choices {
            responses.extend(raised.iter().map(|&raised| Response::Choices(chosen.clone(), Some(raised))));
            responses.push(Response::Choices(chosen, None));
        }
        responses.push(Response::List(Vec::new()));
        responses.extend(raised.iter().map(|&raised| Response::List(vec![raised])));
        responses
    }

    fn answer(
        &self,
        reviewer: usize,
        response: &Response,
        frozen: &FrozenCycle,
    ) -> Option<Result<ReviewerAnswer, Violation>> {
        let choice = |(thread, &(stance, action)): (&ThreadId, &(Stance, ReviewerAction))| ThreadChoice {
            thread: thread.clone(),
            action,
            stance,
            comment: None,
        };
        Some(match response {
            Response::Nothing => return None,
            Response::Junk => Err(Violation::MalformedAnswer("junk".to_owned())),
            Response::Silence => Ok(ReviewerAnswer::Actions { choices: Vec::new(), reports: Vec::new() }),
            Response::Choices(choices, raised) => Ok(ReviewerAnswer::Actions {
                choices: frozen.threads.keys().zip(choices).map(choice).collect(),
                reports: raised.iter().map(|&raised| self.report(reviewer, raised)).collect(),
            }),
            Response::List(raised) => Ok(ReviewerAnswer::Findings {
                reports: raised.iter().map(|&raised| self.report(reviewer, raised)).collect(),
            }),
        })
    }

    /// Asks a reviewer and applies its answer. Checks every promise about the cycle.
    fn ask(&self, state: &mut PrModelState, reviewer: usize, response: &Response) {
        let before = state.pr.clone();
        let NextCall::Ask(frozen) =
            state.pr.next_call(&self.reviewers[reviewer], CycleTrigger::Review, &self.policy)
        else {
            return;
        };
        let Some(answer) = self.answer(reviewer, response, &frozen) else { return };
        let outcome = state.pr.answer(&frozen, answer, &self.policy);
        let cycles = |pr: &DrivenPullRequest| -> BTreeMap<ThreadId, u32> {
            pr.threads().map(|thread| (thread.id.clone(), thread.machine.counters.cycles)).collect()
        };
        let (counted, now) = (cycles(&before), cycles(&state.pr));
        match outcome {
            CycleOutcome::Completed { .. } => {
                if !frozen.threads.keys().all(|thread| now[thread] == counted[thread] + 1) {
                    state.broken = Some(ONE_ACTION);
                }
            }
            CycleOutcome::Failed { closed, .. } => {
                let untouched = before
                    .threads()
                    .zip(state.pr.threads())
                    .all(|(old, new)| old == new || (closed && old.machine.counters == new.machine.counters));
                if !untouched || before.threads().count() != state.pr.threads().count() {
                    state.broken = Some(ALL_OR_NOTHING);
                }
                let open = |pr: &DrivenPullRequest| {
                    pr.threads()
                        .filter(|t| t.reviewer == self.reviewers[reviewer] && t.machine.is_open())
                        .count()
                };
                if closed && open(&state.pr) > 0 {
                    state.broken = Some(CLOSED_FOR_IT);
                }
            }
            CycleOutcome::Overtaken => {}
        }
    }
}

impl Model for PrModel {
    type State = PrModelState;
    type Action = Event;

    fn init_states(&self) -> Vec<PrModelState> {
        let mut pr = DrivenPullRequest::new(self.author_is_bot);
        pr.push("h0".into(), &[]);
        vec![PrModelState {
            pr,
            pushes: 0,
            decisions: 0,
            reopenings: 0,
            act: None,
            sent: Vec::new(),
            queued: Vec::new(),
            broken: None,
        }]
    }

    fn actions(&self, state: &PrModelState, events: &mut Vec<Event>) {
        if state.pushes < self.max_pushes {
            events.extend([true, false].map(|rewrites| Event::Push { rewrites }));
        }
        events.push(Event::PushBack);
        for reviewer in 0..self.reviewers.len() {
            let mut asked = state.pr.clone();
            match asked.next_call(&self.reviewers[reviewer], CycleTrigger::Review, &self.policy) {
                NextCall::Ask(frozen) => {
                    let responses = self.all_responses(&frozen);
                    events.extend(responses.into_iter().map(|response| Event::Ask { reviewer, response }));
                }
                NextCall::ClosedUnasked => events.push(Event::Ask { reviewer, response: Response::Nothing }),
                NextCall::Skip(_) => {}
            }
        }
        for thread in state.pr.threads().map(|thread| thread.id.clone()) {
            if state.decisions < self.max_decisions {
                let decisions = Decision::CHANGING_STATUS.into_iter();
                events.extend(
                    decisions
                        .chain([Decision::Queue])
                        .map(|act| Event::Person { thread: thread.clone(), act }),
                );
                let association = Association::Owner;
                events.push(Event::WontFix { thread: thread.clone(), association });
            }
            events.push(Event::WontFix { thread, association: Association::Contributor });
        }
        if state.act.is_some() {
            events.push(Event::Undo);
        }
        events.extend([Event::Merge, Event::Close, Event::Reopen { resets: false }]);
        if state.reopenings < self.max_reopenings {
            events.push(Event::Reopen { resets: true });
        }
    }

    fn next_state(&self, state: &PrModelState, event: Event) -> Option<PrModelState> {
        let mut next = state.clone();
        match event {
            Event::Push { rewrites } => {
                next.pushes += 1;
                let everything = LineRange::new(1, 100).unwrap();
                let hunks = if rewrites { vec![Hunk::rewritten(everything)] } else { Vec::new() };
                let change = FileChange { path: "a.rs".into(), renamed_from: None, deleted: false, hunks };
                next.pr.push(format!("h{}", next.pushes).into(), &[change]);
            }
            Event::PushBack => next.pr.push("h0".into(), &[]),
            Event::Ask { reviewer, response } => self.ask(&mut next, reviewer, &response),
            Event::Person { thread, act } => {
                if let Ok(undoable) = next.pr.decide(&thread, act) {
                    next.decisions += 1;
                    next.act = self.may_undo.then_some((thread, undoable));
                }
            }
            Event::Undo => {
                let (thread, act) = next.act.take()?;
                let before = next.pr.clone();
                if next.pr.undo(&thread, &act, &self.policy).is_err() && next.pr != before {
                    next.broken = Some(UNDO);
                }
            }
            Event::WontFix { thread, association } => {
                let reply =
                    ClassifiedReply { writer: ReplyAuthor::Person, association, intent: Intent::WontFix };
                if next.pr.reply(&thread, &reply) == Ok(true) {
                    next.decisions += 1;
                }
            }
            Event::Merge => {
                let queued = queued(&next.pr);
                for finding in next.pr.merge(&self.handoff).into_iter().flat_map(|task| task.findings) {
                    if self.author_is_bot && !queued.contains(&finding) {
                        next.broken = Some(CHAIN);
                    }
                    next.sent.push(finding);
                }
            }
            Event::Close => {
                let queued = queued(&next.pr);
                if next.pr.close() {
                    next.queued = queued;
                }
            }
            Event::Reopen { resets } => {
                let before = next.pr.clone();
                if !next.pr.reopen(resets) {
                    return None;
                }
                next.reopenings += u32::from(resets);
                let counts = |pr: &DrivenPullRequest| {
                    let calls: Vec<u32> = self.reviewers.iter().map(|r| pr.calls(r)).collect();
                    (calls, pr.cycles().map(|(_, completed)| completed).collect::<Vec<u32>>())
                };
                if !resets && counts(&before) != counts(&next.pr) {
                    next.broken = Some(NO_RESET);
                }
                let survives = |id: &ThreadId| {
                    next.pr.thread(id).is_none_or(|thread| {
                        thread.queued || thread.handed_off || thread.status().is_settled()
                    })
                };
                if !next.queued.iter().all(survives) {
                    next.broken = Some(QUEUE);
                }
                next.queued.clear();
            }
        }
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "T5: a thread leaves the AI's hands within the bound",
                |model: &Self, s: &PrModelState| {
                    s.pr.threads().all(|thread| {
                        let cycles = u64::from(thread.machine.counters.cycles);
                        let bound = model.policy.cycles_per_thread();
                        cycles <= bound && (cycles < bound || !thread.machine.is_open())
                    })
                },
            ),
            Property::always(
                "C4, C6: a reviewer is asked a bounded number of times",
                |model: &Self, s: &PrModelState| {
                    model
                        .reviewers
                        .iter()
                        .all(|r| u64::from(s.pr.calls(r)) <= model.policy.calls_per_reviewer())
                },
            ),
            Property::always(
                "C6: and completes a bounded number of cycles",
                |model: &Self, s: &PrModelState| {
                    s.pr.cycles().all(|(_, completed)| completed <= model.policy.max_review_iterations)
                },
            ),
            Property::always(ONE_ACTION, |_: &Self, s: &PrModelState| s.broken != Some(ONE_ACTION)),
            Property::always(ALL_OR_NOTHING, |_: &Self, s: &PrModelState| s.broken != Some(ALL_OR_NOTHING)),
            Property::always(CLOSED_FOR_IT, |_: &Self, s: &PrModelState| s.broken != Some(CLOSED_FOR_IT)),
            Property::always(CHAIN, |_: &Self, s: &PrModelState| s.broken != Some(CHAIN)),
            Property::always(NO_RESET, |_: &Self, s: &PrModelState| s.broken != Some(NO_RESET)),
            Property::always(QUEUE, |_: &Self, s: &PrModelState| s.broken != Some(QUEUE)),
            Property::always(UNDO, |_: &Self, s: &PrModelState| s.broken != Some(UNDO)),
            Property::always("H4: no finding is dispatched twice", |_: &Self, s: &PrModelState| {
                s.sent.iter().enumerate().all(|(index, finding)| !s.sent[..index].contains(finding))
            }),
            Property::always("every unfinished state has a way on", |model: &Self, s: &PrModelState| {
                model.has_a_way_on(s)
            }),
            Property::sometimes(
                "a reviewer is asked as often as the bound allows",
                |model: &Self, s: &PrModelState| {
                    model
                        .reviewers
                        .iter()
                        .any(|r| u64::from(s.pr.calls(r)) == model.policy.calls_per_reviewer())
                },
            ),
            Property::sometimes("something is handed off", |_: &Self, s: &PrModelState| !s.sent.is_empty()),
        ]
    }
}

const ONE_ACTION: &str = "C2: exactly one action per open thread and cycle";
const ALL_OR_NOTHING: &str = "C3: a failed answer changes nothing but who has the threads";
const CLOSED_FOR_IT: &str = "C4: a reviewer that never behaves leaves nothing open";
const NO_RESET: &str = "L6, C6: a contributor's reopening resets no count";
const QUEUE: &str = "H1: what was queued at a close is queued again after it";
const UNDO: &str = "T6: an undoing that does not fit changes nothing";
const CHAIN: &str = "H3: nothing is handed off from a bot's pull request that nobody queued";

impl PrModel {
    /// Whether each open thread on an open pull request can still end: by its reviewer now, by its reviewer
    /// after a push, or, if the reviewer's cycles are spent, by the person who returned it.
    fn has_a_way_on(&self, state: &PrModelState) -> bool {
        let mut open = state.pr.threads().filter(|thread| thread.machine.is_open());
        state.pr.state() != PullRequestState::Open || open.all(|thread| self.can_end(&state.pr, &thread.id))
    }

    fn can_end(&self, pr: &DrivenPullRequest, id: &ThreadId) -> bool {
        let mut pr = pr.clone();
        let Some(thread) = pr.thread(id).cloned() else { return false };
        if pr.obstacle(&thread.reviewer, &self.policy) == Some(CycleSkip::SameSha) {
            pr.push("fresh".into(), &[]);
        }
        match pr.next_call(&thread.reviewer, CycleTrigger::Review, &self.policy) {
            NextCall::Ask(frozen) => {
                let choices = frozen.threads.keys().map(|thread| ThreadChoice {
                    thread: thread.clone(),
                    action: ReviewerAction::Resolve,
                    stance: Stance::Accepts,
                    comment: None,
                });
                let answer = ReviewerAnswer::Actions { choices: choices.collect(), reports: Vec::new() };
                pr.answer(&frozen, Ok(answer), &self.policy);
            }
            NextCall::ClosedUnasked => {}
            NextCall::Skip(CycleSkip::IterationCap) if thread.machine.returns > 0 => {
                return pr.decide(id, Decision::Resolve).is_ok();
            }
            NextCall::Skip(_) => return false,
        }
        pr.thread(id).is_some_and(|thread| !thread.machine.is_open())
    }
}

fn queued(pr: &DrivenPullRequest) -> Vec<ThreadId> {
    pr.threads().filter(|thread| thread.queued).map(|thread| thread.id.clone()).collect()
}

fn model(repeat_limit: u32, flip_limit: u32, max_review_iterations: u32, cycle_retries: u32) -> PrModel {
    PrModel {
        policy: Policy {
            repeat_limit,
            flip_limit,
            max_review_iterations,
            cycle_retries,
            ..Policy::default()
        },
        handoff: HandoffRules { mode: HandoffMode::FullAuto, ..HandoffRules::default() },
        author_is_bot: false,
        reviewers: vec!["r".into()],
        problems: 1,
        max_pushes: 2,
        max_decisions: 1,
        max_reopenings: 1,
        may_undo: false,
    }
}

fn checked(model: PrModel) -> usize {
    let checker = model.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count()
}

#[test]
fn every_promise_holds_under_every_policy_of_the_grid() {
    let mut states = 0;
    for repeat_limit in 1..=3 {
        for flip_limit in 0..=2 {
            states += checked(model(repeat_limit, flip_limit, 2, 1));
        }
    }
    assert_eq!(states, 1_110_473);
}

#[test]
fn every_promise_holds_on_a_bots_pull_request_with_two_problems() {
    let states = checked(PrModel { author_is_bot: true, problems: 2, ..model(1, 1, 2, 0) });
    assert_eq!(states, 379_920);
}

#[test]
fn every_promise_holds_when_people_undo_their_decisions() {
    let states = checked(PrModel { may_undo: true, ..model(2, 1, 2, 0) });
    assert_eq!(states, 77_769);
}

#[test]
fn every_promise_holds_with_two_reviewers() {
    let reviewers = vec!["r".into(), "s".into()];
    let states = checked(PrModel { reviewers, max_decisions: 0, max_reopenings: 0, ..model(1, 0, 2, 0) });
    assert_eq!(states, 124_752);
}
