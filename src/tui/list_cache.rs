//! The order of every list, worked out once for what it follows from. A frame asks for the same lists a dozen times, and
//! with thousands of rows sorting and matching them each time is what a person would wait for.

use super::model::{ListScreen, Sort};
use std::cell::RefCell;
use std::sync::Arc;

/// What was last worked out for each list.
#[derive(Debug, Clone, Default)]
pub(super) struct ListCache([RefCell<Option<CachedList>>; 4]);

#[derive(Debug, Clone)]
struct CachedList {
    follows_from: ListInputs,
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

/// A list in order. Cloning it copies nothing.
#[derive(Debug, Clone)]
pub(super) struct OrderedList {
    /// Each row by its place among all that there are.
    pub(super) order: Arc<[usize]>,
    /// The names of the rows, for a cursor that stays with its row.
    pub(super) keys: Arc<[String]>,
}

impl ListCache {
    pub(super) fn get(
        &self,
        list: ListScreen,
        follows_from: ListInputs,
        work_out: impl FnOnce() -> OrderedList,
    ) -> OrderedList {
        let known = &self.0[list as usize];
        if let Some(known) = &*known.borrow()
            && known.follows_from == follows_from
        {
            return known.list.clone();
        }
        // Nothing is borrowed meanwhile: whoever works a list out may ask for another.
        let list = work_out();
        known.replace(Some(CachedList { follows_from, list: list.clone() }));
        list
    }
}
