//! Parses a unified diff: which files it changes, and where.
//!
//! A diff comes from GitHub or from `git`, and its content from anybody. The parser skips what it cannot
//! read, and its output always keeps the promises of [`FileChange`].

mod header;

use super::place::{FileChange, Hunk};
use super::vocabulary::FilePath;
use header::{NOWHERE, path_of_both, ranges, unquoted, without_prefix};

/// One file's part of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff<'a> {
    pub change: FileChange,
    /// The part's text, headers included.
    pub text: &'a str,
    /// The byte offset of `text` in the diff. Always the start of a line.
    pub at: usize,
}

/// The changed files, in the order of the diff.
pub fn read(text: &str) -> Vec<FileChange> {
    files(text).into_iter().map(|file| file.change).collect()
}

/// The same, each with its part of the text.
pub fn files(text: &str) -> Vec<FileDiff<'_>> {
    let mut reading = DiffParser { text, files: Vec::new(), begun: None };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        reading.line(at, line.trim_end_matches('\n').trim_end_matches('\r'));
        at += line.len();
    }
    reading.finish(text.len());
    reading.files
}

struct DiffParser<'a> {
    text: &'a str,
    files: Vec<FileDiff<'a>>,
    begun: Option<OpenFileDiff>,
}

/// A file whose end the parser has not reached.
#[derive(Default)]
struct OpenFileDiff {
    at: usize,
    /// The path from the `diff --git` line, which names both sides without a separator.
    both: Option<String>,
    old: Option<String>,
    new: Option<String>,
    deleted: bool,
    /// Whether a `---` line was parsed. Another one starts another file.
    named: bool,
    hunks: Vec<Hunk>,
    inside: Option<OpenHunk>,
}

/// A hunk of the diff. It may hold several changed stretches with unchanged lines between them.
struct OpenHunk {
    old_next: u32,
    new_next: u32,
    old_left: u32,
    new_left: u32,
    stretch: Hunk,
}

impl DiffParser<'_> {
    fn line(&mut self, at: usize, line: &str) {
        if let Some(begun) = &mut self.begun
            && begun.takes(line)
        {
            return;
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.begin(at).both = path_of_both(names);
        } else if let Some(name) = line.strip_prefix("--- ") {
            let begun = match &mut self.begun {
                Some(begun) if !begun.named => begun,
                _ => self.begin(at),
            };
            begun.named = true;
            begun.old = Some(unquoted(name));
        } else if let Some(begun) = &mut self.begun {
            begun.header(line);
        }
    }

    fn begin(&mut self, at: usize) -> &mut OpenFileDiff {
        self.finish(at);
        self.begun.insert(OpenFileDiff { at, ..OpenFileDiff::default() })
    }

    fn finish(&mut self, end: usize) {
        if let Some(mut begun) = self.begun.take() {
            begun.leave();
            let (at, text) = (begun.at, &self.text[begun.at..end]);
            self.files.extend(begun.change().map(|change| FileDiff { change, text, at }));
        }
    }
}

impl OpenFileDiff {
    /// Whether the line belongs to the open hunk. The counts in the hunk's header decide, because code can
    /// look like a header.
    fn takes(&mut self, line: &str) -> bool {
        if line.starts_with('\\') {
            // "No newline at end of file" belongs to the line before it and is not counted.
            return true;
        }
        let Some(inside) = &mut self.inside else { return false };
        let fits = inside.take(line, &mut self.hunks);
        if !fits || (inside.old_left == 0 && inside.new_left == 0) {
            self.leave();
        }
        fits
    }

    fn leave(&mut self) {
        if let Some(mut inside) = self.inside.take() {
            inside.close_stretch(&mut self.hunks);
        }
    }

    fn header(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("+++ ") {
            self.new = Some(unquoted(name));
        } else if let Some(name) = line.strip_prefix("rename from ") {
            self.old = Some(format!("a/{}", unquoted(name)));
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.new = Some(format!("b/{}", unquoted(name)));
        } else if line.starts_with("deleted file mode") {
            self.deleted = true;
        } else if let Some((old, new)) = line.strip_prefix("@@ ").and_then(ranges) {
            // With a count of zero, the number names the line before.
            let first = |(start, count): (u32, u32)| if count == 0 { start.saturating_add(1) } else { start };
            let (old_next, new_next) = (first(old), first(new));
            let stretch = OpenHunk::empty(old_next, new_next);
            self.inside = Some(OpenHunk { old_next, new_next, old_left: old.1, new_left: new.1, stretch });
        }
    }

    /// None if the diff names no file.
    fn change(self) -> Option<FileChange> {
        let side = |name: Option<String>| name.filter(|name| name != NOWHERE);
        let gone = self.new.as_deref() == Some(NOWHERE);
        let old = side(self.old).map(|name| without_prefix(&name, "a/"));
        let new = side(self.new).map(|name| without_prefix(&name, "b/"));
        let path = new.clone().or_else(|| old.clone()).or(self.both).filter(|path| !path.is_empty())?;
        let renamed_from = old.filter(|old| new.is_some() && *old != path && !old.is_empty());
        Some(FileChange {
            path: FilePath::from(path),
            renamed_from: renamed_from.map(FilePath::from),
            deleted: self.deleted || gone,
            hunks: self.hunks,
        })
    }
}

impl OpenHunk {
    fn empty(old_next: u32, new_next: u32) -> Hunk {
        Hunk { old_start: old_next, old_lines: 0, new_start: new_next, new_lines: 0 }
    }

    /// Whether the line fits the counts that are left in the hunk.
    fn take(&mut self, line: &str, hunks: &mut Vec<Hunk>) -> bool {
        let (takes_old, takes_new) = match line.as_bytes().first() {
            Some(b'-') => (true, false),
            Some(b'+') => (false, true),
            // Some programs drop the leading space of an empty line.
            Some(b' ') | None => (true, true),
            _ => return false,
        };
        if (takes_old && self.old_left == 0) || (takes_new && self.new_left == 0) {
            return false;
        }
        let unchanged = takes_old && takes_new;
        if unchanged {
            self.close_stretch(hunks);
        }
        self.old_left -= u32::from(takes_old);
        self.new_left -= u32::from(takes_new);
        self.old_next = self.old_next.saturating_add(takes_old.into());
        self.new_next = self.new_next.saturating_add(takes_new.into());
        if unchanged {
            self.stretch = Self::empty(self.old_next, self.new_next);
        } else {
            self.stretch.old_lines += u32::from(takes_old);
            self.stretch.new_lines += u32::from(takes_new);
        }
        true
    }

    /// Adds the stretch, unless it is empty or breaks the order that [`FileChange`] promises.
    fn close_stretch(&mut self, hunks: &mut Vec<Hunk>) {
        let mut stretch = std::mem::replace(&mut self.stretch, Self::empty(self.old_next, self.new_next));
        if stretch.old_lines == 0 && stretch.new_lines == 0 {
            return;
        }
        let in_order = hunks.last().is_none_or(|before| {
            let follows = |start: u32, before: u32, lines: u32| {
                u64::from(start) >= u64::from(before) + u64::from(lines).max(1)
            };
            follows(stretch.old_start, before.old_start, before.old_lines)
                && follows(stretch.new_start, before.new_start, before.new_lines)
        });
        let exists = stretch.old_start > 0 && stretch.new_start > 0;
        if stretch.old_lines == 0 {
            stretch.old_start = stretch.old_start.saturating_sub(1);
        }
        if stretch.new_lines == 0 {
            stretch.new_start = stretch.new_start.saturating_sub(1);
        }
        if in_order && exists {
            hunks.push(stretch);
        }
    }
}

#[cfg(test)]
mod tests;
