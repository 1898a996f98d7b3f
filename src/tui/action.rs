//! Everything a person can do with one key, as one closed set. What each is called, what it does in words and where it
//! means anything is here; which key calls it is data.

use super::model::Screen;

/// A command of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    // Going places
    Watch,
    Inbox,
    Handoff,
    Journal,
    NextScreen,
    PreviousScreen,
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
    Left,
    Right,
    Open,
    Back,
    NextStuck,

    // Finding
    Filter,
    Palette,
    Help,
    Sort,
    Fold,

    // The loop
    Poll,
    Pause,
    Resume,
    Stop,
    GrantRound,
    RetryTask,

    // Elsewhere
    Browse,
    CopyLink,
    Demo,
    Quit,
}

use Action::{
    Back, Bottom, Browse, CopyLink, Demo, Down, Filter, Fold, GrantRound, Handoff, Help, Inbox, Journal,
    Left, NextScreen, NextStuck, Open, PageDown, PageUp, Palette, Pause, Poll, PreviousScreen, Quit, Resume,
    RetryTask, Right, Sort, Stop, Top, Up, Watch,
};

/// With the name that the configuration and the palette know it by, and what it does.
const ALL: [(Action, &str, &str); 32] = [
    (Watch, "watch", "pull requests, their loops and threads"),
    (Inbox, "inbox", "what waits for a person"),
    (Handoff, "handoff", "what is handed to coding agents at merge"),
    (Journal, "journal", "everything that was decided, by whom and why"),
    (NextScreen, "next_screen", "the screen to the right"),
    (PreviousScreen, "previous_screen", "the screen to the left"),
    (Up, "up", "up"),
    (Down, "down", "down"),
    (PageUp, "page_up", "a page up"),
    (PageDown, "page_down", "a page down"),
    (Top, "top", "to the first"),
    (Bottom, "bottom", "to the last"),
    (Left, "left", "to the pull requests"),
    (Right, "right", "to the threads"),
    (Open, "open", "open what is selected"),
    (Back, "back", "back, or drop the filter"),
    (NextStuck, "next_stuck", "jump to the next thread that waits for a person"),
    (Filter, "filter", "show only what matches"),
    (Palette, "palette", "find a command by its name"),
    (Help, "help", "all keys of this screen"),
    (Sort, "sort", "sort by something else"),
    (Fold, "fold", "unfold or fold what bots hide in their posts"),
    (Poll, "poll", "look at GitHub now"),
    (Pause, "pause", "pause this loop"),
    (Resume, "resume", "let this loop go on"),
    (Stop, "stop", "stop this loop for good"),
    (GrantRound, "grant_round", "grant the author one more round"),
    (RetryTask, "retry_task", "send a stuck task again"),
    (Browse, "browse", "open it in the browser"),
    (CopyLink, "copy_link", "copy its link"),
    (Demo, "demo", "play the demo"),
    (Quit, "quit", "leave"),
];

impl Action {
    pub fn all() -> impl Iterator<Item = Action> {
        ALL.into_iter().map(|(action, _, _)| action)
    }

    pub fn named(name: &str) -> Option<Action> {
        ALL.into_iter().find(|(_, known, _)| *known == name).map(|(action, _, _)| action)
    }

    pub fn name(self) -> &'static str {
        ALL.into_iter().find(|(action, _, _)| *action == self).map_or("", |(_, name, _)| name)
    }

    /// What it does, for the help and the palette.
    pub fn meaning(self) -> &'static str {
        ALL.into_iter().find(|(action, _, _)| *action == self).map_or("", |(_, _, meaning)| meaning)
    }

    /// Whether it means anything on a screen, so that help and palette never offer a dead key.
    pub fn works_on(self, screen: &Screen) -> bool {
        let lists = matches!(screen, Screen::Watch | Screen::Inbox | Screen::Handoff | Screen::Journal);
        let about_a_pull_request =
            matches!(screen, Screen::Watch | Screen::Inbox | Screen::Handoff | Screen::Thread { .. });
        let first_run = matches!(screen, Screen::FirstRun { .. });
        match self {
            Help | Palette | Quit => true,
            Demo => first_run,
            Watch | Inbox | Handoff | Journal | NextScreen | PreviousScreen | Up | Down | PageUp
            | PageDown | Top | Bottom | Back => !first_run,
            Left | Right | NextStuck => matches!(screen, Screen::Watch),
            Open | Filter => lists,
            Sort => matches!(screen, Screen::Watch | Screen::Inbox),
            Fold => matches!(screen, Screen::Thread { .. }),
            Poll | Pause | Resume | Stop | GrantRound | Browse | CopyLink => about_a_pull_request,
            RetryTask => matches!(screen, Screen::Handoff),
        }
    }

    /// The few that are worth a place in the line at the bottom, the most useful first.
    pub fn hints(screen: &Screen) -> &'static [Action] {
        match screen {
            Screen::Watch => &[
                Open, Filter, NextStuck, Palette, Help, Quit, Poll, Pause, Resume, Sort, Stop, GrantRound,
                Browse,
            ],
            Screen::Inbox => &[Open, Filter, Palette, Help, Quit, Sort, Browse, CopyLink],
            Screen::Handoff => &[Open, Filter, RetryTask, Palette, Help, Quit, Browse],
            Screen::Journal => &[Open, Filter, Palette, Help, Quit],
            Screen::Thread { .. } => &[Back, Down, Up, Fold, Browse, CopyLink, Palette, Help, Quit],
            Screen::Record { .. } => &[Back, Down, Up, Help, Quit],
            Screen::FirstRun { .. } => &[Demo, Help, Quit],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Keys;

    #[test]
    fn every_command_has_keys_and_every_key_a_command() {
        let keys = Keys::default();
        for (name, combinations) in keys.iter() {
            assert!(Action::named(name).is_some(), "{name}");
            assert!(!combinations.is_empty(), "{name}");
        }
        assert_eq!(keys.iter().count(), Action::all().count());
    }

    #[test]
    fn hints_only_offer_what_works() {
        for screen in
            [Screen::Watch, Screen::Inbox, Screen::Handoff, Screen::Journal, Screen::Record { seq: 1 }]
        {
            for action in Action::hints(&screen) {
                assert!(action.works_on(&screen), "{action:?} on {screen:?}");
            }
        }
    }
}
