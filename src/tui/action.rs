//! Every command of the terminal: its name, what it does in words, and the screens it works on. The keys are
//! data, in `assets/keys.toml` and the configuration.

use super::model::Screen;
use crate::domain::machine::Decision;

/// A command of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    // Moving
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

    // Decisions about threads
    Mark,
    MarkAll,
    Decide(Decision),
    Unresolve,
    Reply,
    /// Queues the finding for handoff, or removes it from the queue.
    Queue,
    Retarget,
    Undo,

    // In a text prompt
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

    // Outside
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

/// Each command with its name in the configuration and the palette, and what it does.
const ALL: [(Action, &str, &str); 54] = [
    (Watch, "watch", "show pull requests, their loops and threads"),
    (Inbox, "inbox", "show what waits for you"),
    (Handoff, "handoff", "show what coding agents get at merge"),
    (Journal, "journal", "show every decision, who made it and why"),
    (NextScreen, "next_screen", "go to the next screen"),
    (PreviousScreen, "previous_screen", "go to the previous screen"),
    (Up, "up", "go one row up"),
    (Down, "down", "go one row down"),
    (PageUp, "page_up", "go half a page up"),
    (PageDown, "page_down", "go half a page down"),
    (Top, "top", "go to the first row"),
    (Bottom, "bottom", "go to the last row"),
    (Left, "left", "go to the pull requests"),
    (Right, "right", "go to the threads"),
    (Open, "open", "open the selected row"),
    (Back, "back", "go back, or clear marks or the filter"),
    (NextStuck, "next_stuck", "go to the next thread that waits for you"),
    (NextUnread, "next_unread", "go to the next thread with news"),
    (Filter, "filter", "show only rows that match"),
    (Palette, "palette", "find a command by name"),
    (Help, "help", "show all keys of this screen"),
    (Sort, "sort", "change the sort order"),
    (Fold, "fold", "show or hide folded parts of posts"),
    (NextComment, "next_comment", "go to the next comment"),
    (PreviousComment, "previous_comment", "go to the previous comment"),
    (Mark, "mark", "mark this thread, to act on several at once"),
    (MarkAll, "mark_all", "mark all threads of this list, or unmark them"),
    (Decide(Decision::Veto), Decision::Veto.name(), "stop the argument and keep the thread yourself"),
    (Decide(Decision::Escalate), Decision::Escalate.name(), "address the thread to the operator"),
    (Decide(Decision::Resolve), Decision::Resolve.name(), "resolve the thread on GitHub"),
    (Unresolve, "unresolve", "reopen a resolved thread on GitHub"),
    (Reply, "reply", "reply in the thread on GitHub"),
    (Decide(Decision::Uphold), Decision::Uphold.name(), "rule that the finding is right"),
    (Decide(Decision::Dismiss), Decision::Dismiss.name(), "rule that it will not be fixed, with a reason"),
    (Decide(Decision::Return), Decision::Return.name(), "return the thread to the loop with fresh counters"),
    (Queue, "queue", "hand it to a coding agent at merge, or do not"),
    (Retarget, "retarget", "choose which target gets it at merge"),
    (Undo, "undo", "undo your last decision, if possible"),
    (Submit, "submit", "finish the text"),
    (Editor, "editor", "write the text in your own editor"),
    (Poll, "poll", "poll GitHub now"),
    (Pause, "pause", "pause this loop"),
    (Resume, "resume", "resume this loop"),
    (Stop, "stop", "stop this loop for good"),
    (WaysOut, "ways_out", "show the ways out when no author round is left"),
    (GrantRound, "grant_round", "grant the author one more round"),
    (BreakGlass, "break_glass", "end this loop at once, with a label on GitHub"),
    (RetryTask, "retry_task", "send a stuck task again"),
    (Browse, "browse", "open it in the browser"),
    (CopyLink, "copy_link", "copy the link"),
    (CopyPrompt, "copy_prompt", "copy the finding as a prompt for a coding agent"),
    (WriteConfiguration, "write_configuration", "write the proposed configuration"),
    (Demo, "demo", "play the demo"),
    (Quit, "quit", "leave Cloture"),
];

impl Action {
    pub fn all() -> impl Iterator<Item = Action> {
        ALL.into_iter().map(|(action, _, _)| action)
    }

    pub fn named(name: &str) -> Option<Action> {
        ALL.into_iter().find(|(_, other, _)| *other == name).map(|(action, _, _)| action)
    }

    pub fn name(self) -> &'static str {
        ALL.into_iter().find(|(action, _, _)| *action == self).map_or("", |(_, name, _)| name)
    }

    /// What the command does, for the help and the palette.
    pub fn meaning(self) -> &'static str {
        ALL.into_iter().find(|(action, _, _)| *action == self).map_or("", |(_, _, meaning)| meaning)
    }

    /// Whether the command works on a screen. Help and palette offer no others.
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
            // Only in a text prompt; see `update::writing`.
            Submit | Editor => false,
            Fold | NextComment | PreviousComment => matches!(screen, Screen::Thread { .. }),
            Poll => about_a_pull_request || first_run,
            Pause | Resume | Stop | WaysOut | GrantRound | BreakGlass | Browse | CopyLink => {
                about_a_pull_request
            }
            RetryTask => matches!(screen, Screen::Handoff),
        }
    }

    /// The commands for the bottom line, the most useful first.
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
