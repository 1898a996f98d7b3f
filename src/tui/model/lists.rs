//! The rows of every list: filtered, sorted, and with the cursor kept on its item.

use super::list_cache::{ListInputs, OrderedList};
use super::{ListScreen, Model, RowKey, Sort};
use crate::tui::action::Action;
use crate::tui::rows::PullRow;
use crate::tui::rows::handoff::HandoffRow;
use crate::tui::rows::inbox::InboxRow;
use crate::tui::rows::journal::JournalRow;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config as MatcherConfig, Matcher, Utf32Str};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Model {
    pub fn visible_pulls(&self) -> Vec<&PullRow> {
        in_order(&self.all_pulls(), &self.ordered(ListScreen::Watch))
    }

    /// Worst and oldest first, then whole pull requests.
    pub fn visible_inbox(&self) -> Vec<&InboxRow> {
        in_order(&self.all_inbox(), &self.ordered(ListScreen::Inbox))
    }

    pub fn visible_handoff(&self) -> Vec<&HandoffRow> {
        in_order(&self.all_handoff(), &self.ordered(ListScreen::Handoff))
    }

    pub fn visible_records(&self) -> Vec<&JournalRow> {
        in_order(&self.all_records(), &self.ordered(ListScreen::Journal))
    }

    /// The keys of a list's rows, in order.
    pub fn keys(&self, list: ListScreen) -> Arc<[RowKey]> {
        self.ordered(list).keys
    }

    /// The row of a list that has the cursor.
    pub fn selected(&self, list: ListScreen) -> usize {
        self.lists.filters[list as usize].cursor.index_in(&self.keys(list))
    }

    /// Keeps the cursors of the list on the screen on their items. Called after every message.
    pub(in crate::tui) fn follow_rows(&mut self) {
        let list = self.screen.list();
        let rows = self.keys(list);
        let is_elsewhere = self.lists.filters[list as usize].cursor.follow(&rows);
        if list == ListScreen::Watch {
            if is_elsewhere {
                self.lists.thread_cursor = super::Cursor::default();
            }
            let threads = self.thread_keys();
            self.lists.thread_cursor.follow(&threads);
        }
    }

    fn all_pulls(&self) -> Vec<&PullRow> {
        self.data.pulls.values().map(|pull| &**pull).collect()
    }

    fn all_inbox(&self) -> Vec<&InboxRow> {
        self.data.pulls.values().flat_map(|pull| &pull.inbox).collect()
    }

    /// The findings of the pull requests on the board, and the journal's tasks of all others.
    fn all_handoff(&self) -> Vec<&HandoffRow> {
        let pulls = &self.data.pulls;
        let on_board = pulls.values().flat_map(|pull| pull.handoff.iter().chain(pull.not_handed_off()));
        let names: BTreeSet<&str> = pulls.values().map(|pull| pull.name.as_str()).collect();
        let elsewhere = self.data.handed_off.iter().filter(|row| !names.contains(row.pull.as_str()));
        on_board.chain(elsewhere).collect()
    }

    fn all_records(&self) -> Vec<&JournalRow> {
        self.data.records.iter().collect()
    }

    /// The order of a list and the keys of its rows, from the cache unless an input changed.
    fn ordered(&self, list: ListScreen) -> OrderedList {
        let inputs = ListInputs {
            version: self.data.version,
            filter: self.lists.filters[list as usize].text.clone(),
            sort: self.lists.sort,
            by_age: self.lists.inbox_by_age,
        };
        self.lists.cache.get(list, inputs, || match list {
            ListScreen::Watch => {
                let rows = self.all_pulls();
                let urgency: Vec<(usize, usize)> =
                    rows.iter().map(|row| (row.inbox.len(), row.open())).collect();
                // Rows come sorted by name, and every sort here is stable.
                self.order(list, &rows, PullRow::haystack, PullRow::key, |order| match self.lists.sort {
                    Sort::Urgency => order.sort_by_key(|index| Reverse(urgency[*index])),
                    Sort::Age => order.sort_by_key(|index| rows[*index].opened_at),
                    Sort::Name => {}
                })
            }
            ListScreen::Inbox => {
                let rows = self.all_inbox();
                self.order(list, &rows, InboxRow::haystack, InboxRow::key, |order| {
                    if self.lists.inbox_by_age {
                        order.sort_by_key(|index| (rows[*index].since, Reverse(rows[*index].urgency())));
                    } else {
                        order.sort_by_key(|index| &rows[*index].rank);
                    }
                })
            }
            ListScreen::Handoff => {
                let rows = self.all_handoff();
                let sort = |order: &mut Vec<usize>| order.sort_by_key(|index| rows[*index].stage);
                self.order(list, &rows, HandoffRow::haystack, HandoffRow::key, sort)
            }
            ListScreen::Journal => {
                let rows = self.all_records();
                self.order(list, &rows, JournalRow::haystack, JournalRow::key, |_| {})
            }
        })
    }

    /// The rows that match the list's filter, the best match first; without a filter all of them, sorted.
    fn order<T>(
        &self,
        list: ListScreen,
        rows: &[&T],
        text: impl Fn(&T) -> String,
        key: impl Fn(&T) -> RowKey,
        sort: impl FnOnce(&mut Vec<usize>),
    ) -> OrderedList {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        sort(&mut order);
        let query = &self.lists.filters[list as usize].text;
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

fn in_order<'a, T>(rows: &[&'a T], list: &OrderedList) -> Vec<&'a T> {
    list.order.iter().filter_map(|index| rows.get(*index).copied()).collect()
}

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

    /// How well a text matches; none if it does not.
    fn score(&mut self, text: &str) -> Option<u32> {
        let FuzzySearch { pattern, matcher, buffer } = self;
        pattern.score(Utf32Str::new(text, buffer), matcher)
    }
}
