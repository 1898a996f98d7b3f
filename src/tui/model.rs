//! Everything that decides what is on the screen. `update` changes it, `view` draws it, and nothing else
//! keeps state.

mod cursor;
mod list_cache;
mod lists;
mod screen;
mod selection;

pub(super) use cursor::{Cursor, RowKey};
pub(super) use screen::Sort;
pub use screen::{ListScreen, Pane, Screen};

use super::dialog::Overlay;
use super::guide::Guide;
use super::keymap::Keymap;
use super::rows::handoff::HandoffRow;
use super::rows::journal::JournalRow;
use super::rows::{PullRows, RowBuilder};
use super::startup::Startup;
use super::theme::Theme;
use super::thread_reading::ThreadReading;
use crate::github::PullRequestAddress;
use crate::supervisor::Board;
use crate::supervisor::people::request_handler::{PersonRequest, ThreadAddress};
use jiff::Timestamp;
use list_cache::ListCache;
use ratatui::layout::Size;
use ratatui_textarea::TextArea;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Model {
    pub row_builder: RowBuilder,
    pub keymap: Keymap,
    pub theme: Theme,
    /// The person at this terminal, for the journal.
    pub by: String,
    pub now: Timestamp,
    pub size: Size,
    pub screen: Screen,
    pub data: SupervisorData,
    pub lists: ListState,
    pub page: OpenPage,
    pub dialog: Dialog,
    pub marks: ThreadMarks,
    pub requests: RequestState,
    pub startup: Startup,
    /// One sentence for the person, until the next key.
    pub notice: Option<String>,
    /// Only in the demo.
    pub guide: Option<Guide>,
}

/// What the supervisor and the journal have sent.
#[derive(Debug, Clone, Default)]
pub struct SupervisorData {
    pub board: Arc<Board>,
    pub pulls: PullRows,
    /// Newest first.
    pub records: VecDeque<JournalRow>,
    /// Every task in the journal, newest first.
    pub handed_off: Vec<HandoffRow>,
    /// Counts the changes to all of this, for the cached lists.
    pub(super) version: u64,
}

/// Filters, order and cursors of the lists.
#[derive(Debug, Clone)]
pub struct ListState {
    /// One for each [`ListScreen`].
    pub filters: [ListFilter; 4],
    pub pane: Pane,
    /// The cursor among the selected pull request's threads.
    pub thread_cursor: Cursor,
    pub sort: Sort,
    pub inbox_by_age: bool,
    pub split: PaneSplit,
    cache: ListCache,
}

/// The filter of a list, and its cursor.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    pub text: String,
    pub cursor: Cursor,
}

/// Where the person dragged the line between the panes of the watch screen.
#[derive(Debug, Clone, Default)]
pub struct PaneSplit {
    /// Columns of the left pane, on a wide screen.
    pub columns: Option<u16>,
    /// Rows of the upper pane, on a narrow screen.
    pub rows: Option<u16>,
    pub dragging: bool,
}

/// The page of a thread or record while one is open.
#[derive(Debug, Clone, Default)]
pub struct OpenPage {
    /// Lines that a record is scrolled by.
    pub scroll: usize,
    /// The place in a thread.
    pub(super) reading: ThreadReading,
    pub unfolded: bool,
}

/// The overlay that takes the keys, and the text area of a text prompt.
#[derive(Debug, Clone)]
pub struct Dialog {
    pub overlay: Overlay,
    pub text: TextArea<'static>,
}

/// The signs beside threads and pull requests.
#[derive(Debug, Clone, Default)]
pub struct ThreadMarks {
    /// The threads that the person marked, to act on all of them at once.
    pub marked: BTreeSet<ThreadAddress>,
    /// The threads with news that the person has not opened yet.
    pub unread: BTreeSet<ThreadAddress>,
    /// Why a request about a thread failed, until the person has read it.
    pub problems: BTreeMap<ThreadAddress, String>,
    /// The same for a whole pull request.
    pub pull_problems: BTreeMap<PullRequestAddress, String>,
}

/// The person's requests to the request handler.
#[derive(Debug, Clone, Default)]
pub struct RequestState {
    /// Requests that undo what was done, the latest at the end.
    pub undoable: Vec<PersonRequest>,
    /// Numbers the latest proposal that was asked for; answers with another ticket are stale.
    pub ticket: u32,
    /// How many requests are being carried out.
    pub under_way: usize,
}

impl Model {
    pub fn new(row_builder: RowBuilder, theme: Theme, by: String, now: Timestamp) -> Model {
        Model {
            keymap: Keymap::new(&row_builder.config.keys),
            row_builder,
            theme,
            by,
            now,
            size: Size::new(80, 24),
            screen: Screen::Watch,
            data: SupervisorData::default(),
            lists: ListState {
                filters: std::array::from_fn(|_| ListFilter::default()),
                pane: Pane::PullRequests,
                thread_cursor: Cursor::default(),
                sort: Sort::Urgency,
                inbox_by_age: false,
                split: PaneSplit::default(),
                cache: ListCache::default(),
            },
            page: OpenPage::default(),
            dialog: Dialog { overlay: Overlay::None, text: TextArea::default() },
            marks: ThreadMarks::default(),
            requests: RequestState::default(),
            startup: Startup::finished(),
            notice: None,
            guide: None,
        }
    }

    /// The filter and cursor of the list on the screen.
    pub fn filter(&self) -> &ListFilter {
        &self.lists.filters[self.screen.list() as usize]
    }

    pub fn filter_mut(&mut self) -> &mut ListFilter {
        &mut self.lists.filters[self.screen.list() as usize]
    }

    /// Whether anything on the screen changes with time alone.
    pub fn shows_times(&self) -> bool {
        !self.data.pulls.is_empty()
    }
}
