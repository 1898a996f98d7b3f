//! Places in files, and how pushes move them.

use super::vocabulary::FilePath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Lines `first` to `last` of a file, both included, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineRange {
    first: u32,
    last: u32,
}

impl LineRange {
    /// None for line zero or a reversed range.
    pub fn new(first: u32, last: u32) -> Option<LineRange> {
        (1 <= first && first <= last).then_some(LineRange { first, last })
    }

    pub fn first(self) -> u32 {
        self.first
    }

    pub fn last(self) -> u32 {
        self.last
    }

    /// The distance in lines: 0 if the ranges meet, 1 for neighbours.
    pub fn distance(self, other: LineRange) -> u32 {
        if other.first > self.last { other.first - self.last } else { self.first.saturating_sub(other.last) }
    }

    /// A line number that overflows is kept at the maximum.
    fn clamped(first: i64, last: i64) -> LineRange {
        let first = u32::try_from(first.max(1)).unwrap_or(u32::MAX);
        let last = u32::try_from(last.max(1)).unwrap_or(u32::MAX);
        LineRange { first, last: last.max(first) }
    }
}

/// One changed stretch of a file, as in a unified diff without context: `old_lines` lines from `old_start`
/// became `new_lines` lines from `new_start`. Without old lines, text was inserted *after* `old_start`.
/// Without new lines, the text after `new_start` was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hunk {
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
}

impl Hunk {
    /// A stretch that was rewritten line by line.
    pub fn rewritten(lines: LineRange) -> Hunk {
        let count = (lines.last - lines.first).saturating_add(1);
        Hunk { old_start: lines.first, old_lines: count, new_start: lines.first, new_lines: count }
    }

    fn old_end(self) -> i64 {
        i64::from(self.old_start) + i64::from(self.old_lines) - 1
    }

    fn is_before(self, line: i64) -> bool {
        // An insertion directly above the line moves it, and so does a change that ends directly above.
        if self.old_lines == 0 { i64::from(self.old_start) < line } else { self.old_end() < line }
    }

    fn is_after(self, line: i64) -> bool {
        if self.old_lines == 0 { i64::from(self.old_start) >= line } else { i64::from(self.old_start) > line }
    }

    fn growth(self) -> i64 {
        i64::from(self.new_lines) - i64::from(self.old_lines)
    }

    /// The line of the new stretch with the same offset as `line` had in the old one.
    fn counterpart(self, line: i64) -> i64 {
        let into = line - i64::from(self.old_start);
        i64::from(self.new_start) + into.min(i64::from(self.new_lines) - 1).max(0)
    }

    /// The changed lines in the new file. A deletion counts as a change of the line before it.
    fn new_range(self) -> LineRange {
        let first = i64::from(self.new_start);
        LineRange::clamped(first, first + i64::from(self.new_lines) - 1)
    }
}

/// The changes of one file by a push.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileChange {
    pub path: FilePath,
    /// The old name, if the push renamed the file.
    pub renamed_from: Option<FilePath>,
    pub deleted: bool,
    /// In the order of the file, without overlaps.
    pub hunks: Vec<Hunk>,
}

impl FileChange {
    fn old_path(&self) -> &FilePath {
        self.renamed_from.as_ref().unwrap_or(&self.path)
    }
}

/// What a push did to a range of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// The lines are unchanged, and are here now.
    Kept(LineRange),
    /// Some of the lines were rewritten or removed. They would be here now.
    Rewritten(LineRange),
}

/// A push, indexed to find where many places moved: a look-up by file, then a binary search by line.
#[derive(Debug)]
pub struct LineMap<'a> {
    files: BTreeMap<&'a FilePath, FileLineMap<'a>>,
}

impl<'a> LineMap<'a> {
    pub fn from_changes(changes: &'a [FileChange]) -> LineMap<'a> {
        LineMap {
            files: changes.iter().map(|change| (change.old_path(), FileLineMap::new(change))).collect(),
        }
    }
}

#[derive(Debug)]
struct FileLineMap<'a> {
    change: &'a FileChange,
    /// How many lines the file grew before each hunk.
    growth_before: Vec<i64>,
}

impl<'a> FileLineMap<'a> {
    fn new(change: &'a FileChange) -> Self {
        let growth_before = change
            .hunks
            .iter()
            .scan(0, |grown, hunk| {
                let before = *grown;
                *grown += hunk.growth();
                Some(before)
            })
            .collect();
        Self { change, growth_before }
    }

    fn carry(&self, range: LineRange) -> Moved {
        let hunks = &self.change.hunks;
        let (old_first, old_last) = (i64::from(range.first), i64::from(range.last));
        let next = hunks.partition_point(|hunk| hunk.is_before(old_first));
        let shift = match next.checked_sub(1) {
            Some(previous) => self.growth_before[previous] + hunks[previous].growth(),
            None => 0,
        };
        let (mut first, mut last) = (old_first + shift, old_last + shift);
        let mut rewritten = false;
        for hunk in hunks[next..].iter().take_while(|hunk| !hunk.is_after(old_last)) {
            if i64::from(hunk.old_start) <= old_first && hunk.old_lines > 0 {
                first = hunk.counterpart(old_first);
            }
            last = if hunk.old_end() >= old_last { hunk.counterpart(old_last) } else { last + hunk.growth() };
            rewritten = true;
        }
        let now = LineRange::clamped(first, last);
        if rewritten { Moved::Rewritten(now) } else { Moved::Kept(now) }
    }
}

/// Where a finding's code is *now* (D2), followed through the pushes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Anchor {
    pub path: FilePath,
    /// None if the finding is about the whole file.
    pub lines: Option<LineRange>,
    /// The code was rewritten or removed, at least in part, and would be at `lines`. GitHub calls this
    /// outdated.
    pub gone: bool,
}

impl Anchor {
    pub fn new(path: FilePath, lines: Option<LineRange>) -> Anchor {
        Anchor { path, lines, gone: false }
    }

    /// Moves the anchor with a push.
    pub fn follow(&mut self, route: &LineMap<'_>) {
        let Some(file) = route.files.get(&self.path) else {
            return;
        };
        let change = file.change;
        if self.path != change.path {
            self.path = change.path.clone();
        }
        self.gone |= change.deleted;
        match self.lines.map(|lines| file.carry(lines)) {
            None => {}
            Some(Moved::Kept(lines)) => self.lines = Some(lines),
            Some(Moved::Rewritten(lines)) => (self.lines, self.gone) = (Some(lines), true),
        }
    }
}

/// The changes since a reviewer's last cycle: the scope of its next one (R2).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Delta {
    changed: BTreeMap<FilePath, Vec<LineRange>>,
    /// Nobody knows what changed, so everything counts as changed.
    everything: bool,
}

impl Delta {
    /// Every place counts as changed from now on.
    pub fn widen(&mut self) {
        self.everything = true;
    }

    /// Adds a push. Earlier changes move with it.
    pub fn extend(&mut self, route: &LineMap<'_>) {
        let mut arrived = Vec::with_capacity(route.files.len());
        for (old_path, file) in &route.files {
            let earlier = self.changed.remove(*old_path).unwrap_or_default();
            let moved = earlier.into_iter().map(|range| match file.carry(range) {
                Moved::Kept(lines) | Moved::Rewritten(lines) => lines,
            });
            let mut ranges: Vec<_> =
                moved.chain(file.change.hunks.iter().map(|hunk| hunk.new_range())).collect();
            merge(&mut ranges);
            arrived.push((file.change.path.clone(), ranges));
        }
        self.changed.extend(arrived);
    }

    /// Whether a place lies within `slack` lines of a change.
    pub fn covers(&self, path: &FilePath, lines: Option<LineRange>, slack: u32) -> bool {
        if self.everything {
            return true;
        }
        let Some(ranges) = self.changed.get(path) else {
            return false;
        };
        lines.is_none_or(|lines| {
            let next = ranges.partition_point(|range| range.last.saturating_add(slack) < lines.first);
            ranges.get(next).is_some_and(|range| range.distance(lines) <= slack)
        })
    }

    pub fn ranges(&self) -> impl Iterator<Item = (&FilePath, &[LineRange])> {
        self.changed.iter().map(|(path, ranges)| (path, ranges.as_slice()))
    }
}

/// Sorts the ranges and joins those that meet, so that the list stays short after many pushes.
pub fn merge(ranges: &mut Vec<LineRange>) {
    ranges.sort_unstable();
    let mut merged: Vec<LineRange> = Vec::with_capacity(ranges.len());
    for range in ranges.drain(..) {
        match merged.last_mut() {
            Some(previous) if range.first <= previous.last.saturating_add(1) => {
                previous.last = previous.last.max(range.last);
            }
            _ => merged.push(range),
        }
    }
    *ranges = merged;
}
