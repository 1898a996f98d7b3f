//! One thread under every possible event.

use cloture::domain::machine::{
    ActionSet, Decision, DecisionError, EscalatedBy, ResolvedBy, ThreadMachine, ThreadStatus,
};
use cloture::domain::policy::Policy;
use cloture::domain::vocabulary::{Intent, ReviewerAction, Stance};
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::BTreeSet;

/// An event of the reviewer, the engine or a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Event {
    /// The reviewer tries an action, legal or not.
    Act(Stance, ReviewerAction),
    /// The reviewer says nothing new, and the engine holds its stance.
    Hold(Stance),
    /// The engine gives up on the reviewer.
    CutOff(EscalatedBy),
    /// The reviewer raises a finding that it had resolved.
    RaiseAgain,
    /// The reviewer raises a finding that a person had, with a higher severity.
    Worsen,
    Decide(Decision),
    /// A person undoes the decision that brought the thread here.
    Undo,
    Override(Intent),
    ReopenOnForge,
}

/// A rule without the part that makes it terminate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rules {
    AsWritten,
    /// T3 without the flip budget: every change of stance resets the count.
    NoFlipBudget,
    /// D5 with a fresh count for a finding that is raised again, and without a limit.
    FreshCountOnReopen,
}

struct ThreadModel {
    /// The policy whose bound is checked.
    policy: Policy,
    /// The policy that the machine runs under: the same, unless a rule is removed.
    effective: Policy,
    rules: Rules,
    /// How often people may return the thread. Each return starts a new count, so more would only repeat
    /// this.
    max_returns: u32,
}

impl ThreadModel {
    fn new(policy: Policy, rules: Rules) -> Self {
        let mut effective = policy.clone();
        match rules {
            Rules::AsWritten => {}
            Rules::NoFlipBudget => effective.flip_limit = u32::MAX,
            Rules::FreshCountOnReopen => effective.reopen_limit = u32::MAX,
        }
        Self { policy, effective, rules, max_returns: 2 }
    }

    fn bound(&self) -> u64 {
        self.policy.cycles_per_thread()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ThreadState {
    machine: ThreadMachine,
    /// The decision that brought the thread here, and the machine before it. Older decisions are undone after
    /// this one, from a state that was reached before.
    decided: Option<(Decision, ThreadMachine)>,
    /// A thread that waited for a person came back without one.
    came_back_alone: bool,
    /// An event that was refused, or came after the thread was settled, changed it.
    changed_by_refused: bool,
}

impl Model for ThreadModel {
    type State = ThreadState;
    type Action = Event;

    fn init_states(&self) -> Vec<ThreadState> {
        vec![ThreadState {
            machine: ThreadMachine::opened(),
            decided: None,
            came_back_alone: false,
            changed_by_refused: false,
        }]
    }

    fn actions(&self, state: &ThreadState, events: &mut Vec<Event>) {
        for stance in Stance::ALL {
            events.extend(ReviewerAction::ALL.map(|action| Event::Act(stance, action)));
            events.push(Event::Hold(stance));
        }
        events.extend([EscalatedBy::ReviewerFailed, EscalatedBy::IterationCap].map(Event::CutOff));
        match state.machine.status {
            ThreadStatus::Resolved(ResolvedBy::Reviewer) => events.push(Event::RaiseAgain),
            ThreadStatus::Open => {}
            _ => events.push(Event::Worsen),
        }
        let may_return = state.machine.returns < self.max_returns;
        events.extend(
            Decision::CHANGING_STATUS
                .into_iter()
                .filter(|&d| may_return || d != Decision::Return)
                .map(Event::Decide),
        );
        if state.decided.is_some() {
            events.push(Event::Undo);
        }
        events.extend([Intent::WontFix, Intent::Acknowledged, Intent::Disagree].map(Event::Override));
        if may_return {
            events.push(Event::ReopenOnForge);
        }
    }

    fn next_state(&self, state: &ThreadState, event: Event) -> Option<ThreadState> {
        let before = state.machine;
        let mut machine = before;
        let mut decided = None;
        let (refused, by_person) = match event {
            Event::Act(stance, action) => (machine.act(stance, action, &self.effective).is_err(), false),
            Event::Hold(stance) => {
                machine.hold(stance, &self.effective);
                (!before.is_open(), false)
            }
            Event::CutOff(cause) => {
                machine.cut_off(cause);
                (!before.is_open(), false)
            }
            Event::RaiseAgain => {
                machine.regress(&self.effective);
                if self.rules == Rules::FreshCountOnReopen {
                    machine.counters.round_count = 0;
                }
                (false, false)
            }
            Event::Worsen => {
                machine.worsen();
                (false, false)
            }
            Event::Decide(decision) => {
                decided = Some((decision, before));
                (machine.decide(decision).is_err(), true)
            }
            Event::Undo => {
                let (decision, earlier) = state.decided?;
                (machine.undo(decision, earlier).is_err() || machine != earlier, true)
            }
            Event::Override(intent) => (!machine.apply_override(intent), true),
            Event::ReopenOnForge => (!machine.reopened_by_person(), true),
        };
        if machine == before {
            return None;
        }
        let was_a_persons = before.status.is_with_a_person() || before.status.is_settled();
        let resolved_it_itself = before.status == ThreadStatus::Resolved(ResolvedBy::Reviewer);
        // A decision that something else has overtaken cannot be undone.
        let mut overtaken = machine;
        let undone_late = state.decided.is_some_and(|(decision, earlier)| {
            event != Event::Undo && overtaken.undo(decision, earlier).is_ok()
        });
        Some(ThreadState {
            machine,
            decided,
            came_back_alone: state.came_back_alone
                || (was_a_persons && !resolved_it_itself && machine.is_open() && !by_person),
            changed_by_refused: state.changed_by_refused || refused || undone_late,
        })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(T5, |model: &Self, state: &ThreadState| {
                let cycles = u64::from(state.machine.counters.cycles);
                cycles <= model.bound() && (cycles < model.bound() || !state.machine.is_open())
            }),
            Property::sometimes(
                "the bound is reached, so it is not merely safe but exact",
                |model: &Self, state: &ThreadState| u64::from(state.machine.counters.cycles) == model.bound(),
            ),
            Property::always(
                "no path back into the loop without a person",
                |_: &Self, state: &ThreadState| !state.came_back_alone,
            ),
            Property::always("what is refused changes nothing", |_: &Self, state: &ThreadState| {
                !state.changed_by_refused
            }),
            Property::always(
                "every open thread can be ended now, and only an open one acted on",
                |model: &Self, s: &ThreadState| {
                    let legal = s.machine.legal(&model.effective);
                    Stance::ALL.into_iter().all(|stance| {
                        let ends = [ReviewerAction::Resolve, ReviewerAction::Veto, ReviewerAction::Escalate];
                        if s.machine.is_open() {
                            ends.into_iter().all(|action| legal.for_stance(stance).contains(action))
                        } else {
                            legal.for_stance(stance) == ActionSet::NONE
                        }
                    })
                },
            ),
            Property::always(
                "a thread in a person's hands admits every decision about it",
                |_: &Self, s: &ThreadState| {
                    !s.machine.status.is_with_a_person()
                        || [Decision::Uphold, Decision::Dismiss, Decision::Return, Decision::Resolve]
                            .into_iter()
                            .all(|decision| s.machine.admits(decision).is_ok())
                },
            ),
            Property::always("a returned thread starts afresh", |_: &Self, s: &ThreadState| {
                s.machine.counters.stance.is_some()
                    || (s.machine.counters.cycles == 0 && s.machine.returns > 0)
            }),
        ]
    }
}

const T5: &str = "T5: a thread leaves the AI's hands within the bound";

fn policy(repeat_limit: u32, flip_limit: u32, reopen_limit: u32) -> Policy {
    Policy { repeat_limit, flip_limit, reopen_limit, ..Policy::default() }
}

#[test]
fn every_thread_ends_within_the_bound_under_every_policy_of_the_grid() {
    let mut states = 0;
    for repeat_limit in 1..=3 {
        for flip_limit in 0..=2 {
            for reopen_limit in 0..=2 {
                let model =
                    ThreadModel::new(policy(repeat_limit, flip_limit, reopen_limit), Rules::AsWritten);
                let checker = model.checker().spawn_bfs().join();
                checker.assert_properties();
                states += checker.unique_state_count();
            }
        }
    }
    assert_eq!(states, STATES_OF_THE_GRID);
}

const STATES_OF_THE_GRID: usize = 202_962;

#[test]
fn the_formula_gives_the_published_figures() {
    assert_eq!(policy(2, 1, 1).cycles_per_thread(), 5);
    assert_eq!(policy(2, 0, 1).cycles_per_thread(), 3);
}

/// Without the flip budget, the checker must find a reviewer that alternates its stance for ever.
#[test]
fn without_the_flip_budget_the_checker_finds_the_endless_alternation() {
    let path = counterexample(Rules::NoFlipBudget);
    let stances: Vec<_> = path.iter().filter_map(|machine| machine.counters.stance).collect();
    assert!(stances.windows(2).any(|pair| pair[0] != pair[1]), "the reviewer changes its stance: {path:?}");
    assert!(
        repeats(&path, |machine| (machine.counters.stance, machine.counters.round_count)),
        "the path comes back to where it was, so it can be walked for ever: {path:?}"
    );
}

/// With a fresh count on reopening, the checker must find resolving and raising in turn.
#[test]
fn with_a_fresh_count_on_reopening_the_checker_finds_resolve_and_raise_again() {
    let path = counterexample(Rules::FreshCountOnReopen);
    assert!(path.last().is_some_and(|machine| machine.reopens > 1), "it is raised again and again: {path:?}");
    assert!(
        repeats(&path, |machine| (machine.status, machine.counters.stance, machine.counters.round_count)),
        "the path comes back to where it was, so it can be walked for ever: {path:?}"
    );
}

/// The states that lead to a violation of T5 by the reviewer alone.
fn counterexample(rules: Rules) -> Vec<ThreadMachine> {
    let mut model = ThreadModel::new(policy(2, 1, 1), rules);
    model.max_returns = 0;
    let checker = model.checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let path = checker.discovery(T5).expect("without its rule, the machine must exceed its bound");
    path.into_states().into_iter().map(|state| state.machine).collect()
}

fn repeats<K: Ord>(path: &[ThreadMachine], key: impl Fn(&ThreadMachine) -> K) -> bool {
    let mut visited = BTreeSet::new();
    !path.iter().all(|machine| visited.insert(key(machine)))
}

/// The table of T6 and T7, case by case.
#[test]
fn t6_t7_a_persons_decision_fits_exactly_the_listed_statuses() {
    use ThreadStatus::{Dismissed, Escalated, Open, Resolved, Upheld, Vetoed};
    let statuses = [
        Open,
        Resolved(ResolvedBy::Reviewer),
        Resolved(ResolvedBy::WontFix),
        Vetoed(cloture::domain::machine::VetoedBy::Reviewer),
        Escalated(EscalatedBy::RoundLimit),
        Upheld,
        Dismissed,
    ];
    for status in statuses {
        let machine = ThreadMachine { status, ..ThreadMachine::opened() };
        let with_person = matches!(status, Vetoed(_) | Escalated(_) | Upheld);
        let settled = matches!(status, Resolved(_) | Dismissed);
        for decision in Decision::CHANGING_STATUS {
            let expected = match decision {
                Decision::Veto | Decision::Escalate if status != Open => Err(DecisionError::NotOpen),
                Decision::Uphold | Decision::Dismiss if !with_person => Err(DecisionError::NotWaiting),
                Decision::Return if !with_person && status != Dismissed => Err(DecisionError::NotWaiting),
                Decision::Resolve if settled => Err(DecisionError::AlreadySettled),
                _ => Ok(()),
            };
            assert_eq!(machine.admits(decision), expected, "{decision:?} on {status:?}");
        }
    }
}
