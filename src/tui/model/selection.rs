//! The rows with the cursor, and the threads and pull requests that a command works on.

use super::{ListScreen, Model, Pane, RowKey, Screen};
use crate::supervisor::people::request_handler::ThreadAddress;
use crate::tui::rows::PullRow;
use crate::tui::rows::handoff::HandoffRow;
use crate::tui::rows::inbox::InboxRow;
use crate::tui::rows::journal::JournalRow;
use crate::tui::rows::thread::ThreadRow;
use std::sync::Arc;

impl Model {
    pub fn selected_pull(&self) -> Option<&PullRow> {
        self.visible_pulls().get(self.selected(ListScreen::Watch)).copied()
    }

    pub fn selected_inbox(&self) -> Option<&InboxRow> {
        self.visible_inbox().get(self.selected(ListScreen::Inbox)).copied()
    }

    pub fn selected_handoff(&self) -> Option<&HandoffRow> {
        self.visible_handoff().get(self.selected(ListScreen::Handoff)).copied()
    }

    pub fn selected_record(&self) -> Option<&JournalRow> {
        self.visible_records().get(self.selected(ListScreen::Journal)).copied()
    }

    /// The keys of the selected pull request's threads, in order.
    pub fn thread_keys(&self) -> Arc<[RowKey]> {
        let threads = self.selected_pull().map(|pull| &pull.threads);
        let threads = threads.into_iter().flat_map(|threads| threads.iter());
        threads.map(|thread| RowKey::new(thread.id.as_str().to_owned())).collect()
    }

    pub fn selected_thread(&self) -> Option<&ThreadRow> {
        let index = self.lists.thread_cursor.index_in(&self.thread_keys());
        self.selected_pull()?.threads.get(index)
    }

    /// The pull request that a command on this screen works on.
    pub fn pull_request_in_focus(&self) -> Option<&PullRow> {
        let address = match &self.screen {
            Screen::Watch => return self.selected_pull(),
            Screen::Inbox => &self.selected_inbox()?.address,
            Screen::Handoff => &self.selected_handoff()?.address,
            Screen::Thread { address, .. } => address,
            Screen::Journal | Screen::Record { .. } | Screen::FirstRun => return None,
        };
        self.data.pulls.get(address).map(|pull| &**pull)
    }

    /// The thread at the cursor, or all threads of the row at the cursor.
    pub fn threads_at_cursor(&self) -> Vec<ThreadAddress> {
        match &self.screen {
            Screen::Watch if self.lists.pane == Pane::Threads => {
                let row = self.selected_pull().zip(self.selected_thread());
                row.map(|(pull, thread)| (pull.address.clone(), thread.id.clone())).into_iter().collect()
            }
            Screen::Inbox => {
                let row =
                    self.selected_inbox().and_then(|row| Some((row.address.clone(), row.thread.clone()?)));
                row.into_iter().collect()
            }
            Screen::Handoff => {
                let Some(row) = self.selected_handoff() else { return Vec::new() };
                row.threads.iter().map(|id| (row.address.clone(), id.clone())).collect()
            }
            Screen::Thread { address, id, .. } => vec![(address.clone(), id.clone())],
            Screen::Watch | Screen::Journal | Screen::Record { .. } | Screen::FirstRun => Vec::new(),
        }
    }

    /// The threads that a command works on: the marked ones, on the screens that show marks, else the one at
    /// the cursor.
    pub fn marked_or_selected(&self) -> Vec<ThreadAddress> {
        let shows_marks = matches!(self.screen, Screen::Watch | Screen::Inbox);
        if shows_marks && !self.marks.marked.is_empty() {
            return self.marks.marked.iter().cloned().collect();
        }
        self.threads_at_cursor()
    }

    pub fn thread_row(&self, (address, id): &ThreadAddress) -> Option<&ThreadRow> {
        self.data.pulls.get(address)?.threads.iter().find(|row| row.id == *id)
    }

    /// The thread whose page is open.
    pub fn open_thread(&self) -> Option<(&PullRow, &ThreadRow)> {
        let Screen::Thread { address, id, .. } = &self.screen else { return None };
        let pull = self.data.pulls.get(address)?;
        let row = pull.threads.iter().find(|row| row.id == *id)?;
        Some((pull, row))
    }

    /// The web address of the selected row, for the browser.
    pub fn link(&self) -> Option<&str> {
        match &self.screen {
            Screen::Watch if self.lists.pane == Pane::Threads => {
                self.selected_thread().and_then(|thread| thread.url.as_deref())
            }
            Screen::Inbox => self.selected_inbox().and_then(|row| row.url.as_deref()),
            Screen::Handoff => self.selected_handoff().and_then(|row| {
                let thread = || self.thread_row(&(row.address.clone(), row.threads.first()?.clone()));
                row.url.as_deref().or_else(|| thread()?.url.as_deref())
            }),
            Screen::Thread { address, id, .. } => {
                let threads = self.data.pulls.get(address).map(|pull| &pull.threads);
                let mut rows = threads.into_iter().flat_map(|threads| threads.iter());
                rows.find(|row| row.id == *id).and_then(|row| row.url.as_deref())
            }
            _ => None,
        }
        .or_else(|| self.pull_request_in_focus()?.url.as_deref())
    }
}
