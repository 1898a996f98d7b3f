//! Differences between two file trees: hunks as GitHub shows them, and where an old line is now.

use std::fmt::Write as _;
use std::sync::Arc;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{Change, ChangeTag, DiffOp, DiffTag, diff_ratio, group_diff_ops};

use super::Tree;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileStatus {
    Added,
    Modified,
    Removed,
    Renamed,
}

#[derive(Debug, Clone)]
pub(crate) struct SimulatedFileChange {
    pub(crate) path: String,
    pub(crate) previous_path: Option<String>,
    pub(crate) status: FileStatus,
    pub(crate) additions: i64,
    pub(crate) deletions: i64,
    pub(crate) patch: String,
}

/// The files that differ, in path order. A removed file whose contents reappear under a new path is a rename.
pub(crate) fn changes(before: &Tree, after: &Tree) -> Vec<SimulatedFileChange> {
    let mut removed: Vec<&String> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    let mut found = Vec::new();
    for (path, contents) in after {
        match before.get(path) {
            Some(old) if old == contents => {}
            Some(old) => found.push(change(path, None, FileStatus::Modified, old, contents)),
            None => {
                if let Some(index) = removed.iter().position(|old| alike(&before[*old], contents)) {
                    let old = removed.swap_remove(index);
                    found.push(change(path, Some(old), FileStatus::Renamed, &before[old], contents));
                } else {
                    found.push(change(path, None, FileStatus::Added, "", contents));
                }
            }
        }
    }
    found.extend(removed.into_iter().map(|path| change(path, None, FileStatus::Removed, &before[path], "")));
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// A diff of two texts by lines. `similar::TextDiff` would compile every algorithm for every kind of text; this
/// needs one algorithm for one kind.
struct LineDiff<'a> {
    before: Vec<&'a str>,
    after: Vec<&'a str>,
    operations: Vec<DiffOp>,
}

impl<'a> LineDiff<'a> {
    fn new(before: &'a str, after: &'a str) -> Self {
        let before: Vec<&str> = before.split_inclusive('\n').collect();
        let after: Vec<&str> = after.split_inclusive('\n').collect();
        let mut found = Compact::new(Replace::new(Capture::new()), &before[..], &after[..]);
        let Ok(()) = myers::diff(&mut found, &before[..], 0..before.len(), &after[..], 0..after.len());
        let operations = found.into_inner().into_inner().into_ops();
        Self { before, after, operations }
    }

    fn changes(&self, of: &[DiffOp]) -> impl Iterator<Item = Change<&'a str>> {
        of.iter().flat_map(|operation| operation.iter_changes(&self.before[..], &self.after[..]))
    }

    fn share_in_common(&self) -> f32 {
        diff_ratio(&self.operations, self.before.len(), self.after.len())
    }
}

/// Git's rule: two files with more than half in common are the same file.
fn alike(old: &Arc<str>, new: &Arc<str>) -> bool {
    old == new || LineDiff::new(old, new).share_in_common() > 0.5
}

fn change(
    path: &str,
    previous: Option<&String>,
    status: FileStatus,
    before: &str,
    after: &str,
) -> SimulatedFileChange {
    let diff = LineDiff::new(before, after);
    let count = |tag| {
        let lines = diff.changes(&diff.operations).filter(|change| change.tag() == tag).count();
        i64::try_from(lines).unwrap_or(i64::MAX)
    };
    SimulatedFileChange {
        path: path.to_owned(),
        previous_path: previous.cloned(),
        status,
        additions: count(ChangeTag::Insert),
        deletions: count(ChangeTag::Delete),
        patch: hunks(&diff).iter().map(|hunk| hunk.text.as_str()).collect::<Vec<_>>().join("\n"),
    }
}

/// Unchanged lines shown above and below a change.
const LINES_AROUND: usize = 3;

/// One hunk. Each line has its number in the old file, its number in the new file, and its text.
#[derive(Debug)]
struct TextHunk {
    text: String,
    header: String,
    lines: Vec<(Option<i64>, Option<i64>, String)>,
}

fn hunks(diff: &LineDiff) -> Vec<TextHunk> {
    let number = |index: Option<usize>| index.and_then(|index| i64::try_from(index + 1).ok());
    group_diff_ops(diff.operations.clone(), LINES_AROUND)
        .iter()
        .map(|operations| {
            let header = UnifiedHunkHeader::new(operations).to_string();
            let lines: Vec<_> = diff
                .changes(operations)
                .map(|change| {
                    let sign = match change.tag() {
                        ChangeTag::Equal => ' ',
                        ChangeTag::Insert => '+',
                        ChangeTag::Delete => '-',
                    };
                    let text = format!("{sign}{}", change.value().trim_end_matches('\n'));
                    (number(change.old_index()), number(change.new_index()), text)
                })
                .collect();
            let mut text = header.clone();
            for (_, _, line) in &lines {
                text.push('\n');
                text.push_str(line);
            }
            TextHunk { text, header, lines }
        })
        .collect()
}

/// The part of a hunk up to a line of the new file, as review comments show it. A line outside every hunk gets the
/// lines above it, because scripted reviews may point anywhere.
pub(crate) fn hunk_ending_at(before: &str, after: &str, line: i64) -> String {
    for hunk in hunks(&LineDiff::new(before, after)) {
        if let Some(end) = hunk.lines.iter().position(|(_, new, _)| *new == Some(line)) {
            let mut text = hunk.header;
            for (_, _, shown) in &hunk.lines[..=end] {
                text.push('\n');
                text.push_str(shown);
            }
            return text;
        }
    }
    let first = (line - 3).max(1);
    let mut text = format!("@@ -{first},4 +{first},4 @@");
    let shown = usize::try_from(line - first + 1).unwrap_or(0);
    for context in after.lines().skip(usize::try_from(first - 1).unwrap_or(0)).take(shown) {
        let _ = write!(text, "\n {context}");
    }
    text
}

/// Whether the diff shows a line of the new file. GitHub accepts review comments only there.
pub(crate) fn shows_line(before: &str, after: &str, line: i64) -> bool {
    hunks(&LineDiff::new(before, after))
        .iter()
        .any(|hunk| hunk.lines.iter().any(|(_, new, _)| *new == Some(line)))
}

/// The number of an old line in the new text; `None` if the line was changed or removed.
pub(crate) fn line_now(before: &str, after: &str, line: i64) -> Option<i64> {
    let index = usize::try_from(line - 1).ok()?;
    let diff = LineDiff::new(before, after);
    diff.operations.iter().find(|op| op.old_range().contains(&index)).and_then(|op| {
        (op.tag() == DiffTag::Equal)
            .then(|| i64::try_from(op.new_range().start + index - op.old_range().start + 1).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

    #[test]
    fn a_line_moves_with_insertions_above_and_is_lost_when_changed() {
        let after = BEFORE.replace("two\n", "two\ntwo and a half\n").replace("eight", "8");
        assert_eq!(line_now(BEFORE, &after, 1), Some(1));
        assert_eq!(line_now(BEFORE, &after, 5), Some(6));
        assert_eq!(line_now(BEFORE, &after, 8), None);
        assert_eq!(line_now(BEFORE, &after, 40), None);
    }

    #[test]
    fn a_hunk_ends_at_the_requested_line() {
        let after = BEFORE.replace("five", "5");
        assert_eq!(hunk_ending_at(BEFORE, &after, 5), "@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+5");
        assert!(shows_line(BEFORE, &after, 8) && !shows_line(BEFORE, &after, 9));
    }

    #[test]
    fn a_rename_is_recognised_and_counted() {
        let tree = |path: &str, text: &str| Tree::from([(path.to_owned(), Arc::from(text))]);
        let found = changes(&tree("a.rs", BEFORE), &tree("b.rs", &BEFORE.replace("one", "1")));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].status, FileStatus::Renamed);
        assert_eq!(found[0].previous_path.as_deref(), Some("a.rs"));
        assert_eq!((found[0].additions, found[0].deletions), (1, 1));
    }
}
