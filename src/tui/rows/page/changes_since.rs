//! What became of a thread's code since it was opened, as far as anybody knows.
//!
//! Where the engine follows the head, the journal has every push with what it changed. Elsewhere the forge says at least
//! whether the place still exists and which line it is at now.

use super::line;
use crate::domain::place::{Anchor, FileChange, Hunk, LineMap, LineRange};
use crate::domain::snapshot::{ReviewThread, ThreadComment};
use crate::domain::vocabulary::Sha;
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::replay::RecordedPush;
use crate::tui::text::count;

/// In a sentence, and whether anything changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesSince {
    pub changed: bool,
    pub sentence: String,
}

impl ChangesSince {
    fn unchanged(sentence: impl Into<String>) -> ChangesSince {
        ChangesSince { changed: false, sentence: sentence.into() }
    }

    fn changed(sentence: impl Into<String>) -> ChangesSince {
        ChangesSince { changed: true, sentence: sentence.into() }
    }
}

/// None where nothing is known at all.
pub(super) fn since(
    seen: &ReviewThread,
    first: &ThreadComment,
    standing: &ComputedState,
) -> Option<ChangesSince> {
    let head = &standing.snapshot.head.sha;
    let written = first.original_commit.as_ref();
    if written == Some(head) {
        return Some(ChangesSince::unchanged("Nothing was pushed since."));
    }
    if let Some(pushes) = pushes_since(&standing.folded.pushes, written, first) {
        let last = seen.original_line;
        let start = seen.original_start_line.or(last);
        let lines = last.and_then(|last| LineRange::new(start.unwrap_or(last).min(last), last));
        return Some(through(pushes, Anchor::new(seen.path.clone(), lines)));
    }
    let written = written?;
    let from = short(written);
    if seen.outdated {
        return Some(ChangesSince::changed(format!(
            "The code was changed since {from}: GitHub calls the place outdated. The head is now {}.",
            short(head)
        )));
    }
    Some(ChangesSince::unchanged(match (seen.original_line, seen.line) {
        (Some(before), Some(now)) if before != now => {
            format!("The code is unchanged since {from}; it moved from line {before} to {now}.")
        }
        _ => format!("The code is unchanged since {from}. The head is now {}.", short(head)),
    }))
}

/// For a finding of our own, which the engine has followed already.
pub(super) fn followed(anchor: &Anchor, lines: Option<LineRange>) -> Option<ChangesSince> {
    let now = anchor.lines?;
    if anchor.gone {
        return Some(ChangesSince::changed(format!(
            "The code was changed since; it would be at {}.",
            spelled(now)
        )));
    }
    (lines != Some(now))
        .then(|| ChangesSince::unchanged(format!("The code is unchanged; it moved to {}.", spelled(now))))
}

/// The pushes after the commit a comment was written on; none where the journal does not know all of them.
fn pushes_since<'a>(
    pushes: &'a [RecordedPush],
    written: Option<&Sha>,
    first: &ThreadComment,
) -> Option<&'a [RecordedPush]> {
    let by_commit = pushes.iter().rposition(|push| Some(&push.head) == written);
    let by_time = || pushes.iter().rposition(|push| push.at <= first.created_at);
    let from = by_commit.or_else(by_time)?;
    Some(&pushes[from + 1..]).filter(|pushes| !pushes.is_empty())
}

/// Follows a place through pushes and tells which of them touched it.
fn through(pushes: &[RecordedPush], mut anchor: Anchor) -> ChangesSince {
    let mut told = Vec::new();
    for push in pushes {
        let head = short(&push.head);
        let change = push.changes.iter().find(|change| *old_path(change) == anchor.path);
        match change {
            Some(change) if change.deleted => told.push(format!("the file was deleted in {head}")),
            Some(change) => {
                let touched = ranges(change, anchor.lines);
                if !touched.is_empty() {
                    told.push(format!("the code changed in {head}: {}", touched.join(", ")));
                }
                if change.path != anchor.path {
                    told.push(format!("the file became {} in {head}", line(change.path.as_str())));
                }
            }
            None => {}
        }
        anchor.follow(&LineMap::from_changes(&push.changes));
    }
    if told.is_empty() {
        let at = anchor.lines.map_or_else(String::new, |lines| format!("; it is at {} now", spelled(lines)));
        let pushes = count(pushes.len(), "push", "pushes");
        return ChangesSince::unchanged(format!("The code is unchanged in the {pushes} since{at}."));
    }
    let mut sentence = told.join("; ");
    if let Some(first) = sentence.get(..1).map(str::to_uppercase) {
        sentence.replace_range(..1, &first);
    }
    ChangesSince::changed(format!("{sentence}."))
}

fn old_path(change: &FileChange) -> &crate::domain::vocabulary::FilePath {
    change.renamed_from.as_ref().unwrap_or(&change.path)
}

/// Where a push shows in the new file, as far as it touched these lines; all of it where no lines are meant.
fn ranges(change: &FileChange, lines: Option<LineRange>) -> Vec<String> {
    let touching = change.hunks.iter().filter(|hunk| lines.is_none_or(|lines| touches(**hunk, lines)));
    let mut told: Vec<String> = touching.clone().take(MOST_RANGES).map(|hunk| became(*hunk)).collect();
    let more = touching.count().saturating_sub(MOST_RANGES);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

/// Whoever rewrote a whole file is not told line by line.
const MOST_RANGES: usize = 4;

fn touches(hunk: Hunk, lines: LineRange) -> bool {
    let (first, last) = (hunk.old_start, hunk.old_start.saturating_add(hunk.old_lines.saturating_sub(1)));
    if hunk.old_lines == 0 {
        // Text inserted between two of the lines.
        lines.first() <= first && first < lines.last()
    } else {
        first <= lines.last() && lines.first() <= last
    }
}

fn became(hunk: Hunk) -> String {
    let old = hunk.old_start.saturating_add(hunk.old_lines.saturating_sub(1));
    if let (0, Some(old)) = (hunk.new_lines, LineRange::new(hunk.old_start, old)) {
        return format!("{} removed", spelled(old));
    }
    let last = hunk.new_start.saturating_add(hunk.new_lines.saturating_sub(1));
    LineRange::new(hunk.new_start, last).map_or_else(|| "the beginning".to_owned(), spelled)
}

fn spelled(lines: LineRange) -> String {
    if lines.first() == lines.last() {
        format!("line {}", lines.first())
    } else {
        format!("lines {}–{}", lines.first(), lines.last())
    }
}

fn short(sha: &Sha) -> String {
    line(&sha.as_str().chars().take(7).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(head: &str, hunks: &[(u32, u32, u32, u32)]) -> RecordedPush {
        let hunk = |&(old_start, old_lines, new_start, new_lines): &(u32, u32, u32, u32)| Hunk {
            old_start,
            old_lines,
            new_start,
            new_lines,
        };
        RecordedPush {
            at: "2026-03-02T10:00:00Z".parse().unwrap(),
            head: Sha::from(head.to_owned()),
            changes: vec![FileChange {
                path: "a.rs".to_owned().into(),
                renamed_from: None,
                deleted: false,
                hunks: hunks.iter().map(hunk).collect(),
            }],
        }
    }

    fn told(pushes: &[RecordedPush]) -> ChangesSince {
        through(pushes, Anchor::new("a.rs".to_owned().into(), LineRange::new(10, 12)))
    }

    #[test]
    fn a_push_that_touches_the_place_is_named_with_its_lines() {
        let since = told(&[push("abc1234def", &[(11, 1, 11, 4)])]);
        assert_eq!(since, ChangesSince::changed("The code changed in abc1234: lines 11–14."));
        assert_eq!(
            told(&[push("abc1234def", &[(10, 3, 9, 0)])]).sentence,
            "The code changed in abc1234: lines 10–12 removed."
        );
    }

    #[test]
    fn pushes_elsewhere_only_move_it() {
        let since = told(&[push("abc1234def", &[(2, 0, 3, 5)]), push("bbb1234def", &[(40, 1, 40, 1)])]);
        assert_eq!(
            since,
            ChangesSince::unchanged("The code is unchanged in the 2 pushes since; it is at lines 15–17 now.")
        );
    }

    #[test]
    fn a_later_push_is_looked_for_where_the_place_has_moved_to() {
        let since = told(&[push("abc1234def", &[(2, 0, 3, 5)]), push("bbb1234def", &[(16, 1, 16, 1)])]);
        assert_eq!(since.sentence, "The code changed in bbb1234: line 16.");
    }

    #[test]
    fn a_file_that_is_gone_or_renamed_is_told() {
        let mut gone = push("abc1234def", &[]);
        gone.changes[0].deleted = true;
        assert_eq!(told(&[gone]).sentence, "The file was deleted in abc1234.");
        let mut renamed = push("abc1234def", &[]);
        renamed.changes[0].renamed_from = Some("a.rs".to_owned().into());
        renamed.changes[0].path = "b.rs".to_owned().into();
        assert_eq!(told(&[renamed]).sentence, "The file became b.rs in abc1234.");
    }
}
