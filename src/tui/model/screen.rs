//! The screens, and the lists among them.

use crate::domain::vocabulary::ThreadId;
use crate::github::PullRequestAddress;
use crate::tui::action::Action;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Screen {
    Watch,
    Inbox,
    Handoff,
    Journal,
    /// One thread, and the list to go back to.
    Thread {
        address: PullRequestAddress,
        id: ThreadId,
        from: ListScreen,
    },
    Record {
        seq: u64,
    },
    /// Without a configuration: what Cloture found, and a proposed configuration.
    FirstRun,
}

/// The screens that are lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListScreen {
    Watch,
    Inbox,
    Handoff,
    Journal,
}

/// The two lists of the watch screen; one of them has the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    PullRequests,
    Threads,
}

/// The order of the pull requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Urgency,
    Age,
    Name,
}

impl Screen {
    /// The list on the screen, or the list that an open page belongs to.
    pub fn list(&self) -> ListScreen {
        match self {
            Screen::Watch | Screen::FirstRun => ListScreen::Watch,
            Screen::Inbox => ListScreen::Inbox,
            Screen::Handoff => ListScreen::Handoff,
            Screen::Journal | Screen::Record { .. } => ListScreen::Journal,
            Screen::Thread { from, .. } => *from,
        }
    }
}

impl ListScreen {
    pub const ALL: [ListScreen; 4] =
        [ListScreen::Watch, ListScreen::Inbox, ListScreen::Handoff, ListScreen::Journal];

    pub fn screen(self) -> Screen {
        match self {
            ListScreen::Watch => Screen::Watch,
            ListScreen::Inbox => Screen::Inbox,
            ListScreen::Handoff => Screen::Handoff,
            ListScreen::Journal => Screen::Journal,
        }
    }

    pub fn action(self) -> Action {
        match self {
            ListScreen::Watch => Action::Watch,
            ListScreen::Inbox => Action::Inbox,
            ListScreen::Handoff => Action::Handoff,
            ListScreen::Journal => Action::Journal,
        }
    }
}

impl Sort {
    pub fn next(self) -> Sort {
        match self {
            Sort::Urgency => Sort::Age,
            Sort::Age => Sort::Name,
            Sort::Name => Sort::Urgency,
        }
    }
}
