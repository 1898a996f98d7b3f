//! The result of every cell, and the printed table.

use super::trouble::{Trouble, leak};
use std::collections::BTreeMap;
use std::fmt;

/// The result of an operation under a fault.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The sentences on the screen meanwhile, each once.
    pub(crate) shown: Vec<String>,
    /// The number of attempts.
    pub(crate) tries: usize,
    pub(crate) lost: Vec<String>,
    pub(crate) twice: Vec<String>,
    /// The broken promises.
    pub(crate) broken: Vec<String>,
}

impl Told {
    pub(crate) fn broken(why: String) -> Told {
        Told { broken: vec![why], ..Told::default() }
    }

    pub(crate) fn show(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !sentence.trim().is_empty() && !self.shown.contains(&sentence) {
            self.shown.push(sentence);
        }
    }

    /// Compares the final state with the state without the fault.
    pub(crate) fn compare(&mut self, found: &[String], wanted: &[String]) {
        self.lost = missing(found, wanted);
        self.twice = missing(wanted, found);
    }

    pub(crate) fn expect(&mut self, holds: bool, promise: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(promise());
        }
    }
}

/// The items of one list that the other lacks, as often as it lacks them.
fn missing(from: &[String], wanted: &[String]) -> Vec<String> {
    let mut found: Vec<&String> = from.iter().collect();
    let mut lost = Vec::new();
    for item in wanted {
        match found.iter().position(|other| *other == item) {
            Some(at) => {
                found.swap_remove(at);
            }
            None => lost.push(item.clone()),
        }
    }
    lost
}

#[derive(Debug)]
pub(crate) enum Cell {
    Ran(Told),
    /// Why this fault cannot happen to this operation.
    Nonsense(&'static str),
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) operations: Vec<String>,
    cells: BTreeMap<(usize, Trouble), Cell>,
}

impl Table {
    pub(crate) fn set(&mut self, row: usize, trouble: Trouble, cell: Cell) {
        self.cells.insert((row, trouble), cell);
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The broken promises of all cells.
    pub(crate) fn broken(&self) -> Vec<String> {
        let mut all = Vec::new();
        for ((row, trouble), cell) in &self.cells {
            let Cell::Ran(told) = cell else { continue };
            let mut broken = told.broken.clone();
            broken.extend(told.lost.iter().map(|it| format!("lost: {it}")));
            broken.extend(told.twice.iter().map(|it| format!("twice, or not asked for: {it}")));
            broken.extend(leak(&told.shown).map(|it| format!("shows what it must not: {it}")));
            let name = &self.operations[*row];
            all.extend(broken.iter().map(|it| format!("{name} × {}: {it}", trouble.name())));
        }
        all
    }
}

/// The length at which the table cuts a sentence.
const SHOWN: usize = 150;

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:24} {:16} {:>5} {:>4} {:>5}  shown", "operation", "fault", "tries", "lost", "twice")?;
        for ((row, trouble), cell) in &self.cells {
            write!(f, "{:24} {:16} ", self.operations[*row], trouble.name())?;
            match cell {
                Cell::Nonsense(why) => writeln!(f, "    –    –     –  ({why})")?,
                Cell::Ran(told) => {
                    let shown = told.shown.join(" | ").replace('\n', " ");
                    let mut short: String = shown.chars().take(SHOWN).collect();
                    if short.len() < shown.len() {
                        short.push('…');
                    }
                    let broken = if told.broken.is_empty() { "" } else { "BROKEN " };
                    let (lost, twice) = (told.lost.len(), told.twice.len());
                    writeln!(f, "{:>5} {lost:>4} {twice:>5}  {broken}{short}", told.tries)?;
                }
            }
        }
        let ran = self.cells.values().filter(|cell| matches!(cell, Cell::Ran(_))).count();
        write!(f, "{} cells, {ran} of them run, {} without sense", self.len(), self.len() - ran)
    }
}
