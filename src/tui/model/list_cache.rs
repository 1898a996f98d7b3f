//! Caches the order of every list. One frame asks for the same list a dozen times, and sorting thousands of
//! rows each time would make the person wait.

use super::cursor::RowKey;
use super::{ListScreen, Sort};
use std::cell::RefCell;
use std::sync::Arc;

/// The last result for each list.
#[derive(Debug, Clone, Default)]
pub(super) struct ListCache([RefCell<Option<CachedList>>; 4]);

#[derive(Debug, Clone)]
struct CachedList {
    inputs: ListInputs,
    list: OrderedList,
}

/// Everything that the order of a list depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListInputs {
    /// Counts the changes of the rows.
    pub(super) version: u64,
    pub(super) filter: String,
    pub(super) sort: Sort,
    pub(super) by_age: bool,
}

/// A list in order. Cloning it copies no rows.
#[derive(Debug, Clone)]
pub(super) struct OrderedList {
    /// Each row as an index into the unsorted rows.
    pub(super) order: Arc<[usize]>,
    pub(super) keys: Arc<[RowKey]>,
}

impl ListCache {
    pub(super) fn get(
        &self,
        list: ListScreen,
        inputs: ListInputs,
        compute: impl FnOnce() -> OrderedList,
    ) -> OrderedList {
        let slot = &self.0[list as usize];
        if let Some(cached) = &*slot.borrow()
            && cached.inputs == inputs
        {
            return cached.list.clone();
        }
        // The slot is not borrowed here, because computing one list may ask for another.
        let list = compute();
        slot.replace(Some(CachedList { inputs, list: list.clone() }));
        list
    }
}
