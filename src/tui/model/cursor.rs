//! The cursor of a list. It stays on its item while a poll adds, removes or moves rows.

use crate::supervisor::people::request_handler::ThreadAddress;
use std::collections::HashMap;
use std::sync::Arc;

/// Identifies a row of a list, whatever its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowKey {
    pub name: String,
    /// The threads behind a row of the handoff list: a finding moves to another row when it joins a task.
    threads: Vec<ThreadAddress>,
}

impl RowKey {
    pub fn new(name: String) -> RowKey {
        RowKey { name, threads: Vec::new() }
    }

    pub fn with_threads(name: String, threads: Vec<ThreadAddress>) -> RowKey {
        RowKey { name, threads }
    }

    fn shares_thread(&self, other: &RowKey) -> bool {
        self.threads.iter().any(|thread| other.threads.contains(thread))
    }
}

#[derive(Debug, Clone, Default)]
pub struct Cursor {
    key: Option<RowKey>,
    index: usize,
    /// The rows when the cursor was last placed: they tell which item follows one that is gone.
    rows: Arc<[RowKey]>,
    /// Whether the person moved the cursor or opened its item, or the start put it there.
    is_chosen: bool,
}

impl Cursor {
    /// The place of the cursor's item in these rows. Where it is gone, the place of the item that followed
    /// it.
    pub fn index_in(&self, rows: &[RowKey]) -> usize {
        self.find(rows).unwrap_or(self.index).min(rows.len().saturating_sub(1))
    }

    /// Puts the cursor on a row because the person chose it.
    pub fn put(&mut self, index: usize, rows: &Arc<[RowKey]>) {
        self.place(index.min(rows.len().saturating_sub(1)), rows);
        self.is_chosen = true;
    }

    /// Chooses an item that may not be in the list yet, unless an item is chosen already.
    pub fn choose(&mut self, key: RowKey) {
        if !self.is_chosen {
            *self = Cursor { key: Some(key), is_chosen: true, ..Cursor::default() };
        }
    }

    /// Takes over the rows that are shown now, and stays on its item. Returns whether it is on another item.
    pub fn follow(&mut self, rows: &Arc<[RowKey]>) -> bool {
        let awaits_its_item = self.key.is_some() && self.rows.is_empty() && self.find(rows).is_none();
        if rows.is_empty() || awaits_its_item || Arc::ptr_eq(rows, &self.rows) {
            return false;
        }
        let before = self.key.clone();
        self.place(self.index_in(rows), rows);
        before.is_some_and(|before| self.key.as_ref().is_none_or(|now| now.name != before.name))
    }

    /// Forgets a place that the person did not choose: the list begins at its first row again.
    pub fn leave(&mut self) {
        if !self.is_chosen {
            *self = Cursor::default();
        }
    }

    fn place(&mut self, index: usize, rows: &Arc<[RowKey]>) {
        self.index = index;
        self.key = rows.get(index).cloned();
        self.rows = Arc::clone(rows);
    }

    fn find(&self, rows: &[RowKey]) -> Option<usize> {
        let key = self.key.as_ref()?;
        let is_same = |row: &RowKey| row.name == key.name;
        if rows.get(self.index).is_some_and(is_same) {
            return Some(self.index);
        }
        rows.iter()
            .position(is_same)
            .or_else(|| rows.iter().position(|row| row.shares_thread(key)))
            .or_else(|| self.successor(key, rows))
    }

    /// The nearest row that is still there: one below, or else one above.
    fn successor(&self, key: &RowKey, rows: &[RowKey]) -> Option<usize> {
        self.rows.get(self.index).filter(|row| row.name == key.name)?;
        let (above, below) = (self.rows.get(..self.index)?, self.rows.get(self.index + 1..)?);
        let places: HashMap<&str, usize> =
            rows.iter().enumerate().map(|(index, row)| (&*row.name, index)).collect();
        below.iter().chain(above.iter().rev()).find_map(|row| places.get(&*row.name).copied())
    }
}
