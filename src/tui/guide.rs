//! The demo's guide: one line that says what to look at now and which key to try.
//!
//! It changes with what happens and with what the person has done. [`follow`] notices the second,
//! [`Model::guide_line`] is a function of both; neither touches anything else. Keys are named as they are bound.

use super::action::Action;
use super::dialog::Overlay;
use super::model::{ListScreen, Model, Pane, Screen};
use super::rows::PullRow;
use super::rows::handoff::HandoffStage;
use crate::domain::machine::Decision;
use crate::domain::review_loop::Exit;
use crate::domain::snapshot::RepositoryName;
use std::collections::BTreeSet;

/// What the person has seen and done so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guide {
    learned: BTreeSet<Lesson>,
    /// A repository that would have an author if there were `git` here.
    without_author: Option<RepositoryName>,
    /// Whether a loop ever stood at the round cap.
    was_capped: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lesson {
    Threads,
    Inbox,
    Conversation,
    Decide,
    Handoff,
    Queue,
    WaysOut,
    NoAuthor,
    Journal,
    Filter,
    Palette,
    Help,
}

impl Guide {
    pub fn new(without_author: Option<RepositoryName>) -> Guide {
        Guide { without_author, ..Guide::default() }
    }

    fn knows(&self, lesson: Lesson) -> bool {
        self.learned.contains(&lesson)
    }
}

/// Notices what the person did. Called after every message.
pub(super) fn follow(model: &mut Model) {
    let Some(mut guide) = model.guide.take() else { return };
    let done: Vec<Lesson> =
        ALL.into_iter().filter(|lesson| !guide.knows(*lesson) && is_done(*lesson, &guide, model)).collect();
    guide.learned.extend(done);
    guide.was_capped |= capped(model).is_some();
    model.guide = Some(guide);
}

const ALL: [Lesson; 12] = [
    Lesson::Threads,
    Lesson::Inbox,
    Lesson::Conversation,
    Lesson::Decide,
    Lesson::Handoff,
    Lesson::Queue,
    Lesson::WaysOut,
    Lesson::NoAuthor,
    Lesson::Journal,
    Lesson::Filter,
    Lesson::Palette,
    Lesson::Help,
];

fn is_done(lesson: Lesson, guide: &Guide, model: &Model) -> bool {
    let by_person = |kind: &str| model.records.iter().any(|row| row.kind == kind && row.by == model.by);
    let here = |list: ListScreen| model.screen == list.screen();
    match lesson {
        Lesson::Threads => model.pane == Pane::Threads || matches!(model.screen, Screen::Thread { .. }),
        Lesson::Inbox => here(ListScreen::Inbox) && stuck(model) > 0,
        Lesson::Conversation => matches!(model.screen, Screen::Thread { .. }),
        Lesson::Decide => by_person("decided"),
        Lesson::Handoff => here(ListScreen::Handoff) && has_sent(model),
        Lesson::Queue => {
            model.pulls.values().flat_map(|pull| pull.threads.iter()).any(|thread| thread.queued)
        }
        Lesson::WaysOut => {
            let asked = !matches!(
                model.overlay,
                Overlay::None | Overlay::Filter | Overlay::Palette { .. } | Overlay::Help { .. }
            );
            let is_concerned = model.concerned().is_some_and(is_capped);
            (guide.was_capped && capped(model).is_none()) || (asked && is_concerned) || by_person("granted")
        }
        Lesson::NoAuthor => {
            here(ListScreen::Watch) && model.selected_pull().is_some_and(|pull| lacks_author(pull, guide))
        }
        Lesson::Journal => here(ListScreen::Journal),
        Lesson::Filter => model.overlay == Overlay::Filter,
        Lesson::Palette => matches!(model.overlay, Overlay::Palette { .. }),
        Lesson::Help => matches!(model.overlay, Overlay::Help { .. }),
    }
}

impl Model {
    /// What to say now; none where there is no guide.
    pub fn guide_line(&self) -> Option<String> {
        let guide = self.guide.as_ref()?;
        let said = at_hand(guide, self).or_else(|| happened(guide, self)).or_else(|| at_leisure(guide, self));
        Some(said.unwrap_or_else(|| {
            let quit = GuideKeys(self).of(Action::Quit);
            format!("That is all there is to show. {quit} leaves, and nothing stays behind")
        }))
    }
}

/// What can be tried on the screen that the person is on.
fn at_hand(guide: &Guide, model: &Model) -> Option<String> {
    let keys = GuideKeys(model);
    let decide = || {
        let [uphold, dismiss, give_back] = [Decision::Uphold, Decision::Dismiss, Decision::Return]
            .map(|decision| keys.of(Action::Decide(decision)));
        format!("You decide: {uphold} uphold, {dismiss} dismiss, {give_back} give it back to the loop")
    };
    match &model.screen {
        Screen::Inbox if stuck(model) > 0 && !guide.knows(Lesson::Conversation) => {
            Some(format!("{} opens the argument, and says what was counted", keys.of(Action::Open)))
        }
        Screen::Inbox | Screen::Thread { .. } if stuck(model) > 0 && !guide.knows(Lesson::Decide) => {
            Some(decide())
        }
        Screen::Handoff if !guide.knows(Lesson::Queue) => {
            let queue = keys.of(Action::Queue);
            Some(format!("Findings of one file are one task, sent once. {queue} queues one that stays"))
        }
        Screen::Journal if !guide.knows(Lesson::Filter) => Some(format!(
            "Who decided what, and why. {} finds: illegal shows a refused answer",
            keys.of(Action::Filter)
        )),
        _ => None,
    }
}

/// What happened elsewhere and was not looked at yet.
fn happened(guide: &Guide, model: &Model) -> Option<String> {
    let keys = GuideKeys(model);
    let waiting = stuck(model);
    if waiting > 0 && !guide.knows(Lesson::Inbox) {
        let what = if waiting == 1 { "A thread is" } else { "Threads are" };
        return Some(format!("{what} out of the AI's hands. {}: your inbox", keys.of(Action::Inbox)));
    }
    if has_sent(model) && !guide.knows(Lesson::Handoff) {
        return Some(format!("A merge fired its queue. {}: what was handed off", keys.of(Action::Handoff)));
    }
    if let Some(pull) = capped(model).filter(|_| !guide.knows(Lesson::WaysOut)) {
        let name = &pull.name;
        let key = keys.of(Action::WaysOut);
        return Some(format!("{name} has spent its author's rounds. There, {key}: the ways out"));
    }
    let alone = model.pulls.values().find(|pull| lacks_author(pull, guide));
    if let Some(pull) = alone.filter(|_| !guide.knows(Lesson::NoAuthor)) {
        return Some(format!("There is no git here, so that nobody is sent to fix {}", pull.name));
    }
    None
}

/// What is worth knowing when nothing presses.
fn at_leisure(guide: &Guide, model: &Model) -> Option<String> {
    let keys = GuideKeys(model);
    if !guide.knows(Lesson::Threads) {
        let (down, up) = (keys.of(Action::Down), keys.of(Action::Up));
        let open = keys.of(Action::Open);
        return Some(format!(
            "A simulated GitHub, a minute a second. {down} {up} choose, {open}: its threads"
        ));
    }
    if !guide.knows(Lesson::Journal) {
        return Some(format!("{}: the journal, every decision with its reason", keys.of(Action::Journal)));
    }
    if !guide.knows(Lesson::Palette) {
        return Some(format!("{} finds any command by its name", keys.of(Action::Palette)));
    }
    if !guide.knows(Lesson::Help) {
        return Some(format!("{} lists all keys of this screen", keys.of(Action::Help)));
    }
    None
}

/// Commands by the keys that are bound to them.
struct GuideKeys<'a>(&'a Model);

impl GuideKeys<'_> {
    /// By name in the palette where somebody took all keys away.
    fn of(&self, action: Action) -> String {
        let key = self.0.keymap.key(action);
        if key.is_empty() { format!(":{}", action.name()) } else { key }
    }
}

fn stuck(model: &Model) -> usize {
    model.pulls.values().map(|pull| pull.stuck()).sum()
}

fn has_sent(model: &Model) -> bool {
    model.pulls.values().flat_map(|pull| pull.handoff.iter()).any(|row| row.going == HandoffStage::Sent)
}

fn is_capped(pull: &PullRow) -> bool {
    pull.state == "open" && matches!(pull.view.exit(), Some(Exit::RoundCap { .. }))
}

fn capped(model: &Model) -> Option<&PullRow> {
    model.pulls.values().map(|pull| &**pull).find(|pull| is_capped(pull))
}

/// Findings that nobody fixes, where somebody was meant to.
fn lacks_author(pull: &PullRow, guide: &Guide) -> bool {
    guide.without_author.as_ref() == Some(&pull.address.repository)
        && matches!(pull.view.exit(), Some(Exit::IssuesFound { .. }))
}
