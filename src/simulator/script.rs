//! Plays a scenario's steps on the world, in virtual time.
//!
//! Nothing runs in the background. Before anything reads the world, [`Script::play_until`] carries out every step
//! that is due by now, in order and each at its own time. So the same scenario gives the same world at the same
//! time, however often somebody looked at it before.

mod perform;
mod stage;

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::scenario::{Condition, PullRequestEntry, Scenario, ScenarioAction, ScenarioStep, StepTrigger};
use super::world::{CommentId, PullId, ReviewCommentId, ThreadId, World, WorldEvent, WorldEventKind};

pub(crate) use stage::build;

/// More steps than this at one instant means that steps trigger each other without end.
const STEPS_AT_ONCE: u32 = 10_000;

/// The steps, the schedule, and the names that steps gave to threads and comments.
#[derive(Debug, Default)]
pub(crate) struct Script {
    steps: Vec<ScenarioStep>,
    /// Pull requests that an event opens.
    awaiting: Vec<PullRequestEntry>,
    due: BTreeMap<(Timestamp, u64), ScheduledStep>,
    sequence: u64,
    /// How often each step's trigger has matched, for each pull request.
    matched: BTreeMap<(usize, Option<PullId>), u32>,
    threads: BTreeMap<(PullId, String), ThreadId>,
    comments: BTreeMap<(PullId, String), NamedComment>,
    problems: Vec<String>,
}

/// A comment that a step named.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NamedComment {
    Comment(CommentId),
    Review(ReviewCommentId),
}

/// An entry of the schedule.
#[derive(Debug)]
enum ScheduledStep {
    Open {
        entry: Box<PullRequestEntry>,
        n: u32,
    },
    /// Without `pull`, the step applies to the pull requests it names, looked up when it is due.
    Step {
        step: usize,
        pull: Option<PullId>,
        thread: Option<ThreadId>,
        n: u32,
    },
}

/// The place an action applies to.
#[derive(Debug, Clone, Copy)]
struct StepContext {
    pull: PullId,
    /// The event's thread, which steps call `it`.
    thread: Option<ThreadId>,
    n: u32,
}

impl Script {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self { steps: scenario.steps.iter().map(|step| step.get_ref().clone()).collect(), ..Self::default() }
    }

    /// Actions that failed, each with its step. A correct scenario has none.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Schedules everything with a fixed time. Pull requests come first, so that a step at the same instant finds
    /// the pull request it needs.
    fn schedule_fixed(&mut self, scenario: &Scenario) {
        for entry in scenario.pull_requests.iter().map(toml::Spanned::get_ref) {
            if entry.on.is_some() {
                self.awaiting.push(entry.clone());
                continue;
            }
            let opened = scenario.start.saturating_add(entry.created).unwrap_or(scenario.start);
            for n in 1..=entry.repeat {
                self.put(opened, ScheduledStep::Open { entry: Box::new(entry.clone()), n });
            }
        }
        for index in 0..self.steps.len() {
            if let Some(offset) = self.steps[index].at {
                let at = scenario.start.saturating_add(offset).unwrap_or(Timestamp::MAX);
                self.schedule(at, index, None, None);
            }
        }
    }

    fn put(&mut self, at: Timestamp, due: ScheduledStep) {
        self.sequence += 1;
        self.due.insert((at, self.sequence), due);
    }

    fn schedule(&mut self, at: Timestamp, step: usize, pull: Option<PullId>, thread: Option<ThreadId>) {
        let (repeat, every, delay) =
            (self.steps[step].repeat, self.steps[step].every, self.steps[step].delay);
        let mut at = at.saturating_add(delay).unwrap_or(Timestamp::MAX);
        for n in 1..=repeat {
            self.put(at, ScheduledStep::Step { step, pull, thread, n });
            at = at.saturating_add(every).unwrap_or(Timestamp::MAX);
        }
    }

    /// Carries out everything due by `until`, and sets the world's time to `until`.
    pub(crate) fn play_until(&mut self, world: &mut World, until: Timestamp) {
        self.react(world);
        let mut at_once = 0;
        while let Some(entry) = self.due.first_entry() {
            let (at, _) = *entry.key();
            if at > until {
                break;
            }
            let due = entry.remove();
            at_once = if at > world.now { 0 } else { at_once + 1 };
            if at_once > STEPS_AT_ONCE {
                self.problems.push(format!("steps trigger each other without end at {at}"));
                self.due.clear();
                break;
            }
            world.now = world.now.max(at);
            self.carry_out(world, due);
            self.react(world);
        }
        world.now = world.now.max(until);
    }

    fn carry_out(&mut self, world: &mut World, due: ScheduledStep) {
        let (index, pull, thread, n) = match due {
            ScheduledStep::Open { entry, n } => {
                if let Err(problem) = stage::open_pull(world, &entry, n) {
                    self.problems.push(format!("{}#{}: {problem}", entry.repository, entry.number));
                }
                return;
            }
            ScheduledStep::Step { step, pull, thread, n } => (step, pull, thread, n),
        };
        let step = self.steps[index].clone();
        let targets = match pull {
            Some(pull) => vec![pull],
            None => pulls(world, step.pull_request.as_deref()),
        };
        if targets.is_empty() && step.at.is_some() {
            self.problems.push(format!("step {}: its pull request is not open yet", index + 1));
        }
        for pull in targets {
            if step.when.as_ref().is_some_and(|condition| !holds(world, pull, condition)) {
                continue;
            }
            for action in &step.actions {
                if let Err(problem) = self.perform(world, StepContext { pull, thread, n }, action) {
                    self.problems.push(format!("step {}: {problem}", index + 1));
                }
            }
        }
    }

    /// Carries out one action now, outside the steps: for tests and the control endpoint.
    pub(crate) fn act(
        &mut self,
        world: &mut World,
        pull: PullId,
        action: &ScenarioAction,
    ) -> Result<(), String> {
        let done = self.perform(world, StepContext { pull, thread: None, n: 1 }, action);
        self.react(world);
        done
    }

    /// Schedules the steps that new events trigger.
    fn react(&mut self, world: &mut World) {
        for event in std::mem::take(&mut world.events) {
            for index in 0..self.steps.len() {
                let step = &self.steps[index];
                let Some(trigger) = &step.on else { continue };
                let own = step.actions.first().and_then(ScenarioAction::by).and_then(|by| world.account(by));
                if own == Some(event.by) || !self.matches(world, trigger, &event) {
                    continue;
                }
                let (only, times) = (step.only.clone(), step.times);
                let names_pulls = step.pull_request.is_some();
                let count = self.matched.entry((index, event.pull)).or_insert(0);
                *count += 1;
                let is_selected = only.is_empty() || only.contains(count);
                if !is_selected || times.is_some_and(|times| *count > times) {
                    continue;
                }
                let pull = if names_pulls { None } else { event.pull };
                self.schedule(world.now, index, pull, event.thread);
            }
            self.open_awaited(world, &event);
        }
    }

    /// Schedules the pull requests that this event opens.
    fn open_awaited(&mut self, world: &World, event: &WorldEvent) {
        let (opened, awaiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.awaiting)
            .into_iter()
            .partition(|entry| entry.on.as_ref().is_some_and(|trigger| self.matches(world, trigger, event)));
        self.awaiting = awaiting;
        for entry in opened {
            let at = world.now.saturating_add(entry.delay).unwrap_or(Timestamp::MAX);
            for n in 1..=entry.repeat {
                self.put(at, ScheduledStep::Open { entry: Box::new(entry.clone()), n });
            }
        }
    }

    fn matches(&self, world: &World, trigger: &StepTrigger, event: &WorldEvent) -> bool {
        let is_of_kind = match trigger.event {
            WorldEventKind::Mention => {
                matches!(
                    event.kind,
                    WorldEventKind::Comment
                        | WorldEventKind::Reply
                        | WorldEventKind::Review
                        | WorldEventKind::Issue
                ) && trigger.of.as_deref().is_some_and(|login| super::world::mentions(&event.text, login))
            }
            kind => {
                kind == event.kind && trigger.of.as_deref().is_none_or(|of| world.account(of) == event.of)
            }
        };
        is_of_kind
            && trigger.by.as_deref().is_none_or(|by| world.account(by) == Some(event.by))
            && trigger
                .repository
                .as_deref()
                .is_none_or(|name| world.repository_named(name) == Some(event.repository))
            && trigger.pull_request.as_deref().is_none_or(|reference| {
                event.pull.is_some_and(|pull| pulls(world, Some(reference)).contains(&pull))
            })
            && trigger.contains.as_deref().is_none_or(|part| event.text.contains(part))
            && trigger.lacks.as_deref().is_none_or(|part| !event.text.contains(part))
            && trigger.label.as_deref().is_none_or(|label| event.text.eq_ignore_ascii_case(label))
            && trigger.thread.as_deref().is_none_or(|name| {
                let named = event.pull.and_then(|pull| self.threads.get(&(pull, name.to_owned())));
                named.is_some() && named.copied() == event.thread
            })
    }
}

fn holds(world: &World, pull: PullId, condition: &Condition) -> bool {
    let tree = world.tree(&world[pull].head);
    let text = tree.get(&condition.path).map_or("", |text| text);
    condition.contains.as_deref().is_none_or(|part| text.contains(part))
        && condition.lacks.as_deref().is_none_or(|part| !text.contains(part))
}

/// The pull requests of a reference: one, or with `#*` all of a repository.
fn pulls(world: &World, reference: Option<&str>) -> Vec<PullId> {
    let Some(reference) = reference else { return Vec::new() };
    match reference.strip_suffix("#*") {
        Some(repository) => {
            world.repository_named(repository).map(|id| world[id].pulls.clone()).unwrap_or_default()
        }
        None => world.pull_named(reference).into_iter().collect(),
    }
}
