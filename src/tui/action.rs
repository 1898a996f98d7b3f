//! Everything a person can do with one key, as one closed set. What each is called, what it does in words and where it
//! means anything is here; which key calls it is data.

use super::model::Screen;
use crate::domain::machine::Decision;

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
    NextUnread,

    // Finding
    Filter,
    Palette,
    Help,
    Sort,
    Fold,
    NextComment,
    PreviousComment,

    // Deciding about threads
    Mark,
    MarkAll,
    Decide(Decision),
    Unresolve,
    Reply,
    /// Queues the finding for handoff, or takes it off the queue.
    Queue,
    Retarget,
    Undo,

    // Writing a text
    Submit,
    Editor,

    // The loop
    Poll,
    Pause,
    Resume,
    Stop,
    WaysOut,
    GrantRound,
    BreakGlass,
    RetryTask,

    // Elsewhere
    Browse,
    CopyLink,
    CopyPrompt,
    WriteConfiguration,
    Demo,
    Quit,
}

use Action::{
    Back, Bottom, BreakGlass, Browse, CopyLink, CopyPrompt, Decide, Demo, Down, Editor, Filter, Fold,
    GrantRound, Handoff, Help, Inbox, Journal, Left, Mark, MarkAll, NextComment, NextScreen, NextStuck,
    NextUnread, Open, PageDown, PageUp, Palette, Pause, Poll, PreviousComment, PreviousScreen, Queue, Quit,
    Reply, Resume, Retarget, RetryTask, Right, Sort, Stop, Submit, Top, Undo, Unresolve, Up, Watch, WaysOut,
    WriteConfiguration,
};

/// With the name that the configuration and the palette know it by, and what it does.
const ALL: [(Action, &str, &str); 54] = [
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
    (NextUnread, "next_unread", "jump to the next thread with something new"),
    (Filter, "filter", "show only what matches"),
    (Palette, "palette", "find a command by its name"),
    (Help, "help", "all keys of this screen"),
    (Sort, "sort", "sort by something else"),
    (Fold, "fold", "unfold or fold what bots hide in their posts"),
    (NextComment, "next_comment", "to the next comment"),
    (PreviousComment, "previous_comment", "to the comment before"),
    (Mark, "mark", "mark this thread, to act on several at once"),
    (MarkAll, "mark_all", "mark all threads of this list, or none"),
    (Decide(Decision::Veto), Decision::Veto.name(), "stop the argument and keep the thread yourself"),
    (Decide(Decision::Escalate), Decision::Escalate.name(), "address the thread to the operator"),
    (Decide(Decision::Resolve), Decision::Resolve.name(), "settle the thread on GitHub"),
    (Unresolve, "unresolve", "open a settled thread on GitHub again"),
    (Reply, "reply", "answer in the thread"),
    (Decide(Decision::Uphold), Decision::Uphold.name(), "the finding stands"),
    (Decide(Decision::Dismiss), Decision::Dismiss.name(), "it will not be fixed: settle it with a reason"),
    (
        Decide(Decision::Return),
        Decision::Return.name(),
        "give the thread back to the loop, with fresh counters",
    ),
    (Queue, "queue", "hand it off at merge, or not after all"),
    (Retarget, "retarget", "hand it off to another target"),
    (Undo, "undo", "undo what you last did, where that is possible"),
    (Submit, "submit", "the text is finished"),
    (Editor, "editor", "write the text in your own editor"),
    (Poll, "poll", "look at GitHub now"),
    (Pause, "pause", "pause this loop"),
    (Resume, "resume", "let this loop go on"),
    (Stop, "stop", "stop this loop for good"),
    (WaysOut, "ways_out", "the ways out when the author's rounds are spent"),
    (GrantRound, "grant_round", "grant the author one more round"),
    (BreakGlass, "break_glass", "end this loop at once, for everybody to see"),
    (RetryTask, "retry_task", "send a stuck task again"),
    (Browse, "browse", "open it in the browser"),
    (CopyLink, "copy_link", "copy its link"),
    (CopyPrompt, "copy_prompt", "copy the finding as a prompt for a coding agent"),
    (WriteConfiguration, "write_configuration", "write the proposed configuration"),
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
        let first_run = matches!(screen, Screen::FirstRun);
        match self {
            Help | Palette | Quit => true,
            Demo | WriteConfiguration => first_run,
            Watch | Inbox | Handoff | Journal | NextScreen | PreviousScreen | Up | Down | PageUp
            | PageDown | Top | Bottom | Back | Undo => !first_run,
            Left | Right | NextStuck => matches!(screen, Screen::Watch),
            Open => lists || first_run,
            Filter => lists,
            Sort => matches!(screen, Screen::Watch | Screen::Inbox),
            NextUnread => matches!(screen, Screen::Watch | Screen::Thread { .. }),
            Mark | MarkAll => matches!(screen, Screen::Watch | Screen::Inbox),
            Decide(_) | Unresolve | Reply | Queue | CopyPrompt => about_a_pull_request,
            Retarget => matches!(screen, Screen::Handoff | Screen::Thread { .. }),
            // Only while a text is written; see `update::writing`.
            Submit | Editor => false,
            Fold | NextComment | PreviousComment => matches!(screen, Screen::Thread { .. }),
            Poll => about_a_pull_request || first_run,
            Pause | Resume | Stop | WaysOut | GrantRound | BreakGlass | Browse | CopyLink => {
                about_a_pull_request
            }
            RetryTask => matches!(screen, Screen::Handoff),
        }
    }

    /// The few that are worth a place in the line at the bottom, the most useful first.
    pub fn hints(screen: &Screen) -> &'static [Action] {
        match screen {
            Screen::Watch => &[
                Open,
                Filter,
                NextStuck,
                Palette,
                Help,
                Quit,
                Mark,
                Queue,
                Reply,
                Decide(Decision::Resolve),
                Decide(Decision::Veto),
                Decide(Decision::Escalate),
                Poll,
                Pause,
                Sort,
                Undo,
                WaysOut,
            ],
            Screen::Inbox => &[
                Decide(Decision::Uphold),
                Decide(Decision::Dismiss),
                Decide(Decision::Return),
                Queue,
                Open,
                Help,
                Quit,
                Reply,
                Mark,
                Filter,
                Palette,
                Sort,
                Browse,
                Undo,
            ],
            Screen::Handoff => &[Open, Queue, Retarget, RetryTask, Filter, Help, Quit, Palette, Browse],
            Screen::Journal => &[Open, Filter, Palette, Help, Quit],
            Screen::Thread { .. } => &[
                Back,
                Reply,
                Decide(Decision::Resolve),
                Queue,
                Decide(Decision::Veto),
                Decide(Decision::Escalate),
                Help,
                Quit,
                Decide(Decision::Uphold),
                Decide(Decision::Dismiss),
                Decide(Decision::Return),
                Fold,
                NextComment,
                CopyPrompt,
                Browse,
                Palette,
            ],
            Screen::Record { .. } => &[Back, Down, Up, Help, Quit],
            Screen::FirstRun => &[WriteConfiguration, Demo, Quit, Help, Open, Poll],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::KeyBindings;

    #[test]
    fn every_command_has_keys_and_every_key_a_command() {
        let keys = KeyBindings::default();
        for (name, combinations) in keys.iter() {
            assert!(Action::named(name).is_some(), "{name}");
            assert!(!combinations.is_empty(), "{name}");
        }
        assert_eq!(keys.iter().count(), Action::all().count());
    }

    #[test]
    fn hints_only_offer_what_works() {
        for screen in [
            Screen::Watch,
            Screen::Inbox,
            Screen::Handoff,
            Screen::Journal,
            Screen::Record { seq: 1 },
            Screen::FirstRun,
        ] {
            for action in Action::hints(&screen) {
                assert!(action.works_on(&screen), "{action:?} on {screen:?}");
            }
        }
    }
}
