//! The demo's guide: one line that says what to look at now and which key to try.
//!
//! [`follow`] records what the person has done after every message. [`Model::guide_line`] chooses the line
//! from that and from the loops. It names keys as they are bound.

use super::action::Action;
use super::dialog::Overlay;
use super::model::{ListScreen, Model, Pane, Screen};
use super::rows::PullRow;
use super::rows::handoff::HandoffStage;
use crate::domain::machine::Decision;
use crate::domain::review_loop::Exit;
use crate::domain::snapshot::RepositoryName;
use std::collections::BTreeSet;

/// The lessons that the person has had.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guide {
    learned: BTreeSet<Lesson>,
    /// A repository that has no author because `git` is missing here.
    without_author: Option<RepositoryName>,
    /// Whether a loop ever reached the round cap.
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

    fn has_taught(&self, lesson: Lesson) -> bool {
        self.learned.contains(&lesson)
    }
}

/// Records the lessons that the person has just had. Called after every message.
pub(super) fn follow(model: &mut Model) {
    let Some(mut guide) = model.guide.take() else { return };
    let done: Vec<Lesson> = ALL
        .into_iter()
        .filter(|lesson| !guide.has_taught(*lesson) && is_done(*lesson, &guide, model))
        .collect();
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
    let by_person = |kind: &str| model.data.records.iter().any(|row| row.kind == kind && row.by == model.by);
    let is_on = |list: ListScreen| model.screen == list.screen();
    match lesson {
        Lesson::Threads => model.lists.pane == Pane::Threads || matches!(model.screen, Screen::Thread { .. }),
        Lesson::Inbox => is_on(ListScreen::Inbox) && stuck(model) > 0,
        Lesson::Conversation => matches!(model.screen, Screen::Thread { .. }),
        Lesson::Decide => by_person("decided"),
        Lesson::Handoff => is_on(ListScreen::Handoff) && has_sent(model),
        Lesson::Queue => {
            model.data.pulls.values().flat_map(|pull| pull.threads.iter()).any(|thread| thread.queued)
        }
        Lesson::WaysOut => {
            let asked = !matches!(
                model.dialog.overlay,
                Overlay::None | Overlay::Filter | Overlay::Palette { .. } | Overlay::Help { .. }
            );
            let is_in_focus = model.pull_request_in_focus().is_some_and(is_capped);
            (guide.was_capped && capped(model).is_none()) || (asked && is_in_focus) || by_person("granted")
        }
        // The cursor may have been on it from the start; only its threads show that the person looked.
        Lesson::NoAuthor => {
            is_on(ListScreen::Watch)
                && model.lists.pane == Pane::Threads
                && model.selected_pull().is_some_and(|pull| lacks_author(pull, guide))
        }
        Lesson::Journal => is_on(ListScreen::Journal),
        Lesson::Filter => model.dialog.overlay == Overlay::Filter,
        Lesson::Palette => matches!(model.dialog.overlay, Overlay::Palette { .. }),
        Lesson::Help => matches!(model.dialog.overlay, Overlay::Help { .. }),
    }
}

impl Model {
    /// The guide's line; none without a guide.
    pub fn guide_line(&self) -> Option<String> {
        let guide = self.guide.as_ref()?;
        let line = on_this_screen(guide, self)
            .or_else(|| news_elsewhere(guide, self))
            .or_else(|| next_lesson(guide, self));
        Some(line.unwrap_or_else(|| {
            let quit = GuideKeys(self).of(Action::Quit);
            format!("That was the tour. {quit} quits, and nothing is left on your machine")
        }))
    }
}

/// What the person can try on this screen.
fn on_this_screen(guide: &Guide, model: &Model) -> Option<String> {
    let keys = GuideKeys(model);
    let decide = || {
        let [uphold, dismiss, give_back] = [Decision::Uphold, Decision::Dismiss, Decision::Return]
            .map(|decision| keys.of(Action::Decide(decision)));
        format!("You decide: {uphold} uphold, {dismiss} dismiss, {give_back} return it to the loop")
    };
    match &model.screen {
        Screen::Inbox if stuck(model) > 0 && !guide.has_taught(Lesson::Conversation) => {
            Some(format!("{} opens the argument and shows its counters", keys.of(Action::Open)))
        }
        Screen::Inbox | Screen::Thread { .. } if stuck(model) > 0 && !guide.has_taught(Lesson::Decide) => {
            Some(decide())
        }
        Screen::Handoff if !guide.has_taught(Lesson::Queue) => {
            let queue = keys.of(Action::Queue);
            Some(format!("One task per file, sent once. On a row that stays, {queue} queues it"))
        }
        Screen::Journal if !guide.has_taught(Lesson::Filter) => Some(format!(
            "Who decided what, and why. {} filters: type illegal for a refused answer",
            keys.of(Action::Filter)
        )),
        _ => None,
    }
}

/// News on another screen that the person has not looked at yet.
fn news_elsewhere(guide: &Guide, model: &Model) -> Option<String> {
    let keys = GuideKeys(model);
    let waiting = stuck(model);
    if waiting > 0 && !guide.has_taught(Lesson::Inbox) {
        let what = if waiting == 1 { "A thread needs" } else { "Threads need" };
        return Some(format!("{what} your decision. {}: your inbox", keys.of(Action::Inbox)));
    }
    if has_sent(model) && !guide.has_taught(Lesson::Handoff) {
        return Some(format!(
            "A merge sent its queued tasks. {}: see them on Handoff",
            keys.of(Action::Handoff)
        ));
    }
    if let Some(pull) = capped(model).filter(|_| !guide.has_taught(Lesson::WaysOut)) {
        let name = &pull.name;
        let key = keys.of(Action::WaysOut);
        return Some(format!("{name}: the author is out of rounds. Select it, {key}: ways out"));
    }
    let alone = model.data.pulls.values().find(|pull| lacks_author(pull, guide));
    if let Some(pull) = alone.filter(|_| !guide.has_taught(Lesson::NoAuthor)) {
        return Some(format!("git is missing here, so no author fixes {}", pull.name));
    }
    None
}

/// The next thing to learn while nothing else happens.
fn next_lesson(guide: &Guide, model: &Model) -> Option<String> {
    let keys = GuideKeys(model);
    if !guide.has_taught(Lesson::Threads) {
        let (down, up) = (keys.of(Action::Down), keys.of(Action::Up));
        let open = keys.of(Action::Open);
        return Some(format!(
            "A simulated GitHub: 1 minute per second. {down} {up} select, {open}: its threads"
        ));
    }
    if !guide.has_taught(Lesson::Journal) {
        return Some(format!("{}: the journal, every decision with its reason", keys.of(Action::Journal)));
    }
    if !guide.has_taught(Lesson::Palette) {
        return Some(format!("{} finds any command by name", keys.of(Action::Palette)));
    }
    if !guide.has_taught(Lesson::Help) {
        return Some(format!("{} shows all keys of this screen", keys.of(Action::Help)));
    }
    None
}

/// Names commands by their keys.
struct GuideKeys<'a>(&'a Model);

impl GuideKeys<'_> {
    /// The command's name in the palette, if it has no key.
    fn of(&self, action: Action) -> String {
        let key = self.0.keymap.key(action);
        if key.is_empty() { format!(":{}", action.name()) } else { key }
    }
}

fn stuck(model: &Model) -> usize {
    model.data.pulls.values().map(|pull| pull.stuck()).sum()
}

fn has_sent(model: &Model) -> bool {
    model.data.pulls.values().flat_map(|pull| pull.handoff.iter()).any(|row| row.stage == HandoffStage::Sent)
}

fn is_capped(pull: &PullRow) -> bool {
    pull.state == "open" && matches!(pull.view.exit(), Some(Exit::RoundCap { .. }))
}

fn capped(model: &Model) -> Option<&PullRow> {
    model.data.pulls.values().map(|pull| &**pull).find(|pull| is_capped(pull))
}

/// Whether findings wait for an author that is missing here.
fn lacks_author(pull: &PullRow, guide: &Guide) -> bool {
    guide.without_author.as_ref() == Some(&pull.address.repository)
        && matches!(pull.view.exit(), Some(Exit::IssuesFound { .. }))
}
