//! Everything that decides what is on the screen.

use super::action::Action;
use super::dialog::Overlay;
use super::guide::Guide;
use super::keymap::Keymap;
use super::list_cache::{ListCache, ListInputs, OrderedList};
use super::rows::handoff::HandoffRow;
use super::rows::inbox::InboxRow;
use super::rows::journal::JournalRow;
use super::rows::thread::ThreadRow;
use super::rows::{PullRow, PullRows, RowBuilder};
use super::startup::Startup;
use super::theme::Theme;
use super::thread_reading::ThreadReading;
use crate::domain::vocabulary::ThreadId;
use crate::github::PullRequestAddress;
use crate::supervisor::Board;
use crate::supervisor::people::request_handler::{PersonRequest, ThreadAddress};
use jiff::Timestamp;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config as MatcherConfig, Matcher, Utf32Str};
use ratatui_textarea::TextArea;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what is shown and what is not are independent of each other"
)]
pub struct Model {
    pub making: RowBuilder,
    pub keymap: Keymap,
    pub theme: Theme,
    pub board: Arc<Board>,
    pub pulls: PullRows,
    /// Newest first.
    pub records: VecDeque<JournalRow>,
    /// What was ever handed off, newest first.
    pub handed_off: Vec<HandoffRow>,
    pub now: Timestamp,
    pub width: u16,
    pub height: u16,
    pub screen: Screen,
    pub pane: Pane,
    pub overlay: Overlay,
    /// What is typed to find something, and where the cursor is, on each list.
    pub finding: [ListFilter; 4],
    /// The cursor among the selected pull request's threads.
    pub thread: Cursor,
    pub sort: Sort,
    pub inbox_by_age: bool,
    /// Lines that a page is scrolled by.
    pub scroll: usize,
    /// Where in a thread one reads.
    pub(super) reading: ThreadReading,
    pub unfolded: bool,
    /// The text that is being written, while one is.
    pub text: TextArea<'static>,
    /// The threads that are meant together.
    pub marked: BTreeSet<ThreadAddress>,
    /// The threads about which there is something new since somebody looked.
    pub unread: BTreeSet<ThreadAddress>,
    /// What went wrong with a thread, until somebody has seen it.
    pub troubles: BTreeMap<ThreadAddress, String>,
    /// The same for a whole pull request.
    pub pull_troubles: BTreeMap<PullRequestAddress, String>,
    /// What was done and can be undone, the last at the end.
    pub undoable: Vec<PersonRequest>,
    /// Names the last order that was to be worked out; the answer to an earlier one is late.
    pub ticket: u32,
    /// Orders that are being carried out.
    pub under_way: usize,
    /// Where the mouse has put the line between the panes: columns from the left, and rows from the top.
    pub split: (Option<u16>, Option<u16>),
    pub dragging: bool,
    /// The last thing that a person should know, until the next key.
    pub notice: Option<String>,
    /// What the guide line of the demo is made from; none elsewhere.
    pub guide: Option<Guide>,
    /// Who sits here, for the journal.
    pub by: String,
    /// Pull requests are still being looked for.
    pub searching: bool,
    /// How far the start has come.
    pub start: Startup,
    /// Counts the changes of pull requests and records.
    pub(super) version: u64,
    lists: ListCache,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Screen {
    Watch,
    Inbox,
    Handoff,
    Journal,
    /// One thread, and the list one comes from.
    Thread {
        address: PullRequestAddress,
        id: ThreadId,
        from: ListScreen,
    },
    Record {
        seq: u64,
    },
    /// Nobody has configured anything yet: what was found, and what could be written.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    PullRequests,
    Threads,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Urgency,
    Age,
    Name,
}

#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    pub filter: String,
    pub cursor: Cursor,
}

/// A place in a list that moves with its row when the list changes.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    pub key: Option<String>,
    pub index: usize,
}

impl Cursor {
    /// Where the cursor is among these rows; the same place where its row is gone.
    pub fn among(&self, keys: &[String]) -> usize {
        let found = self.key.as_ref().and_then(|key| keys.iter().position(|other| other == key));
        found.unwrap_or(self.index).min(keys.len().saturating_sub(1))
    }

    pub fn put(&mut self, index: usize, keys: &[String]) {
        self.index = index.min(keys.len().saturating_sub(1));
        self.key = keys.get(self.index).cloned();
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

    pub fn name(self) -> &'static str {
        match self {
            Sort::Urgency => "urgency",
            Sort::Age => "age",
            Sort::Name => "name",
        }
    }
}

impl Screen {
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

impl Model {
    pub fn new(making: RowBuilder, theme: Theme, by: String, now: Timestamp) -> Model {
        Model {
            keymap: Keymap::new(&making.config.keys),
            making,
            theme,
            board: Arc::default(),
            pulls: PullRows::new(),
            records: VecDeque::new(),
            handed_off: Vec::new(),
            now,
            width: 80,
            height: 24,
            screen: Screen::Watch,
            pane: Pane::PullRequests,
            overlay: Overlay::None,
            finding: std::array::from_fn(|_| ListFilter::default()),
            thread: Cursor::default(),
            sort: Sort::Urgency,
            inbox_by_age: false,
            scroll: 0,
            reading: ThreadReading::default(),
            unfolded: false,
            text: TextArea::default(),
            marked: BTreeSet::new(),
            unread: BTreeSet::new(),
            troubles: BTreeMap::new(),
            pull_troubles: BTreeMap::new(),
            undoable: Vec::new(),
            ticket: 0,
            under_way: 0,
            split: (None, None),
            dragging: false,
            notice: None,
            guide: None,
            by,
            searching: false,
            start: Startup::over(now),
            version: 0,
            lists: ListCache::default(),
        }
    }

    pub fn finding(&self) -> &ListFilter {
        &self.finding[self.screen.list() as usize]
    }

    pub fn finding_mut(&mut self) -> &mut ListFilter {
        &mut self.finding[self.screen.list() as usize]
    }

    /// The pull requests that are shown, in order.
    pub fn visible_pulls(&self) -> Vec<&PullRow> {
        shown(&self.all_pulls(), &self.listed(ListScreen::Watch))
    }

    /// Worst and oldest first; a loop that waits comes before threads of no stated severity.
    pub fn visible_inbox(&self) -> Vec<&InboxRow> {
        shown(&self.all_inbox(), &self.listed(ListScreen::Inbox))
    }

    pub fn visible_handoff(&self) -> Vec<&HandoffRow> {
        shown(&self.all_handoff(), &self.listed(ListScreen::Handoff))
    }

    pub fn visible_records(&self) -> Vec<&JournalRow> {
        shown(&self.all_records(), &self.listed(ListScreen::Journal))
    }

    fn all_pulls(&self) -> Vec<&PullRow> {
        self.pulls.values().map(|pull| &**pull).collect()
    }

    fn all_inbox(&self) -> Vec<&InboxRow> {
        self.pulls.values().flat_map(|pull| &pull.inbox).collect()
    }

    /// What the board knows, and what was handed off from pull requests that it does not show.
    fn all_handoff(&self) -> Vec<&HandoffRow> {
        let elsewhere = self.handed_off.iter().filter(|row| !self.pulls.contains_key(&row.address));
        let known = self.pulls.values().flat_map(|pull| pull.handoff.iter().chain(pull.staying()));
        known.chain(elsewhere).collect()
    }

    fn all_records(&self) -> Vec<&JournalRow> {
        self.records.iter().collect()
    }

    /// The order of a list and the names of its rows, worked out anew only where something changed that matters.
    fn listed(&self, list: ListScreen) -> OrderedList {
        let filter = self.finding[list as usize].filter.clone();
        let follows_from =
            ListInputs { version: self.version, filter, sort: self.sort, by_age: self.inbox_by_age };
        self.lists.get(list, follows_from, || match list {
            ListScreen::Watch => {
                let rows = self.all_pulls();
                let urgency: Vec<(usize, usize)> =
                    rows.iter().map(|row| (row.inbox.len(), row.open())).collect();
                // Rows come in the order of their names, and what is equal stays in that order.
                self.order(
                    list,
                    &rows,
                    PullRow::haystack,
                    |row| row.name.clone(),
                    |order| match self.sort {
                        Sort::Urgency => order.sort_by_key(|index| Reverse(urgency[*index])),
                        Sort::Age => order.sort_by_key(|index| rows[*index].opened_at),
                        Sort::Name => {}
                    },
                )
            }
            ListScreen::Inbox => {
                let rows = self.all_inbox();
                self.order(list, &rows, InboxRow::haystack, InboxRow::key, |order| {
                    if self.inbox_by_age {
                        order.sort_by_key(|index| (rows[*index].since, Reverse(rows[*index].urgency())));
                    } else {
                        order.sort_by_key(|index| {
                            let row = rows[*index];
                            (Reverse(row.urgency()), row.thread.is_some(), row.since)
                        });
                    }
                })
            }
            ListScreen::Handoff => {
                let rows = self.all_handoff();
                let sort = |order: &mut Vec<usize>| order.sort_by_key(|index| rows[*index].going);
                self.order(list, &rows, HandoffRow::haystack, HandoffRow::key, sort)
            }
            ListScreen::Journal => {
                let rows = self.all_records();
                self.order(list, &rows, JournalRow::haystack, JournalRow::key, |_| {})
            }
        })
    }

    /// What matches the filter of a list, the best match first and otherwise sorted.
    fn order<T>(
        &self,
        list: ListScreen,
        rows: &[&T],
        text: impl Fn(&T) -> String,
        key: impl Fn(&T) -> String,
        sort: impl FnOnce(&mut Vec<usize>),
    ) -> OrderedList {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        sort(&mut order);
        let query = &self.finding[list as usize].filter;
        if !query.trim().is_empty() {
            let mut search = FuzzySearch::new(query);
            let scored =
                order.into_iter().filter_map(|index| Some((search.score(&text(rows[index]))?, index)));
            let mut scored: Vec<(u32, usize)> = scored.collect();
            scored.sort_by_key(|(score, _)| Reverse(*score));
            order = scored.into_iter().map(|(_, index)| index).collect();
        }
        let keys = order.iter().map(|index| key(rows[*index])).collect();
        OrderedList { order: order.into(), keys }
    }

    /// The keys of the rows of a list, for its cursor.
    pub fn keys(&self, list: ListScreen) -> Arc<[String]> {
        self.listed(list).keys
    }

    pub fn selected(&self, list: ListScreen) -> usize {
        self.finding[list as usize].cursor.among(&self.keys(list))
    }

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

    pub fn thread_keys(&self) -> Vec<String> {
        let threads = self.selected_pull().map(|pull| &pull.threads);
        let threads = threads.into_iter().flat_map(|threads| threads.iter());
        threads.map(|thread| thread.id.as_str().to_owned()).collect()
    }

    pub fn selected_thread(&self) -> Option<&ThreadRow> {
        let index = self.thread.among(&self.thread_keys());
        self.selected_pull()?.threads.get(index)
    }

    /// The pull request that a command on this screen is about.
    pub fn concerned(&self) -> Option<&PullRow> {
        let address = match &self.screen {
            Screen::Watch => return self.selected_pull(),
            Screen::Inbox => &self.selected_inbox()?.address,
            Screen::Handoff => &self.selected_handoff()?.address,
            Screen::Thread { address, .. } => address,
            Screen::Journal | Screen::Record { .. } | Screen::FirstRun => return None,
        };
        self.pulls.get(address).map(|pull| &**pull)
    }

    /// The thread with the cursor, or the threads of the row with the cursor.
    pub fn pointed_at(&self) -> Vec<ThreadAddress> {
        match &self.screen {
            Screen::Watch if self.pane == Pane::Threads => {
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

    /// The threads that a command is about: those that are marked, on the screens that show it, else the one with the
    /// cursor.
    pub fn meant(&self) -> Vec<ThreadAddress> {
        let shows_marks = matches!(self.screen, Screen::Watch | Screen::Inbox);
        if shows_marks && !self.marked.is_empty() {
            return self.marked.iter().cloned().collect();
        }
        self.pointed_at()
    }

    pub fn thread_row(&self, (address, id): &ThreadAddress) -> Option<&ThreadRow> {
        self.pulls.get(address)?.threads.iter().find(|row| row.id == *id)
    }

    /// The thread that is shown in full.
    pub fn open_thread(&self) -> Option<(&PullRow, &ThreadRow)> {
        let Screen::Thread { address, id, .. } = &self.screen else { return None };
        let pull = self.pulls.get(address)?;
        let row = pull.threads.iter().find(|row| row.id == *id)?;
        Some((pull, row))
    }

    /// The address of what is selected, for the browser.
    pub fn link(&self) -> Option<&str> {
        match &self.screen {
            Screen::Watch if self.pane == Pane::Threads => {
                self.selected_thread().and_then(|thread| thread.url.as_deref())
            }
            Screen::Inbox => self.selected_inbox().and_then(|row| row.url.as_deref()),
            Screen::Handoff => self.selected_handoff().and_then(|row| {
                let thread = || self.thread_row(&(row.address.clone(), row.threads.first()?.clone()));
                row.url.as_deref().or_else(|| thread()?.url.as_deref())
            }),
            Screen::Thread { address, id, .. } => {
                let threads = self.pulls.get(address).map(|pull| &pull.threads);
                let mut rows = threads.into_iter().flat_map(|threads| threads.iter());
                rows.find(|row| row.id == *id).and_then(|row| row.url.as_deref())
            }
            _ => None,
        }
        .or_else(|| self.concerned()?.url.as_deref())
    }

    /// Whether anything on the screen changes by itself with time.
    pub fn counts(&self) -> bool {
        !self.pulls.is_empty()
    }

    /// The commands that the palette offers, the best match first.
    pub fn palette(&self, query: &str) -> Vec<Action> {
        let mut search = FuzzySearch::new(query);
        let fitting = Action::all().filter(|action| action.works_on(&self.screen)).filter_map(|action| {
            let text = format!("{} {}", action.name().replace('_', " "), action.meaning());
            Some((search.score(&text)?, action))
        });
        let mut found: Vec<(u32, Action)> = fitting.collect();
        found.sort_by_key(|(score, _)| Reverse(*score));
        found.into_iter().map(|(_, action)| action).collect()
    }
}

/// Rows in the order of a list.
fn shown<'a, T>(rows: &[&'a T], list: &OrderedList) -> Vec<&'a T> {
    list.order.iter().filter_map(|index| rows.get(*index).copied()).collect()
}

/// Fuzzy matching of what was typed.
struct FuzzySearch {
    pattern: Pattern,
    matcher: Matcher,
    buffer: Vec<char>,
}

impl FuzzySearch {
    fn new(query: &str) -> FuzzySearch {
        FuzzySearch {
            pattern: Pattern::parse(query, CaseMatching::Ignore, Normalization::Smart),
            matcher: Matcher::new(MatcherConfig::DEFAULT),
            buffer: Vec::new(),
        }
    }

    /// How well a text matches; none where it does not.
    fn score(&mut self, text: &str) -> Option<u32> {
        let FuzzySearch { pattern, matcher, buffer } = self;
        pattern.score(Utf32Str::new(text, buffer), matcher)
    }
}
