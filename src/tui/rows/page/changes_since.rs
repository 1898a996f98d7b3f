//! The changes to a thread's code since the thread was opened.
//!
//! The journal holds every push that the engine followed, with its changes. For other pull requests GitHub
//! tells only whether the place still exists and its present line.

use super::line;
use crate::domain::place::{Anchor, FileChange, Hunk, LineMap, LineRange};
use crate::domain::snapshot::{ReviewThread, ThreadComment};
use crate::domain::vocabulary::Sha;
use crate::supervisor::computed_state::ComputedState;
use crate::supervisor::replay::RecordedPush;
use crate::tui::text::count;

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

/// None if there is no information at all.
pub(super) fn of_thread(
    thread: &ReviewThread,
    first: &ThreadComment,
    computed: &ComputedState,
) -> Option<ChangesSince> {
    let head = &computed.snapshot.head.sha;
    let written = first.original_commit.as_ref();
    if written == Some(head) {
        return Some(ChangesSince::unchanged("There was no push since."));
    }
    if let Some(pushes) = pushes_since(&computed.folded.pushes, written, first) {
        let last = thread.original_line;
        let start = thread.original_start_line.or(last);
        let lines = last.and_then(|last| LineRange::new(start.unwrap_or(last).min(last), last));
        return Some(through(pushes, Anchor::new(thread.path.clone(), lines)));
    }
    let written = written?;
    let from = short(written);
    if thread.outdated {
        return Some(ChangesSince::changed(format!(
            "The code changed since {from}: GitHub marks this place as outdated. The head is now {}.",
            short(head)
        )));
    }
    Some(ChangesSince::unchanged(match (thread.original_line, thread.line) {
        (Some(before), Some(now)) if before != now => {
            format!("The code is unchanged since {from}; it moved from line {before} to {now}.")
        }
        _ => format!("The code is unchanged since {from}. The head is now {}.", short(head)),
    }))
}

/// For a driven reviewer's finding, whose anchor the engine moves with every push.
pub(super) fn of_anchor(anchor: &Anchor, lines: Option<LineRange>) -> Option<ChangesSince> {
    let now = anchor.lines?;
    if anchor.gone {
        return Some(ChangesSince::changed(format!(
            "The code changed since then; the place would be at {} now.",
            spelled(now)
        )));
    }
    (lines != Some(now))
        .then(|| ChangesSince::unchanged(format!("The code is unchanged; it moved to {}.", spelled(now))))
}

/// The pushes after the commit of the first comment; none if the journal does not have all of them with their
/// changes.
fn pushes_since<'a>(
    pushes: &'a [RecordedPush],
    written: Option<&Sha>,
    first: &ThreadComment,
) -> Option<&'a [RecordedPush]> {
    let by_commit = pushes.iter().rposition(|push| Some(&push.head) == written);
    let by_time = || pushes.iter().rposition(|push| push.at <= first.created_at);
    let from = by_commit.or_else(by_time)?;
    let pushes = &pushes[from + 1..];
    (!pushes.is_empty() && pushes.iter().all(|push| !push.unseen)).then_some(pushes)
}

/// Follows a place through pushes and says which of them changed it.
fn through(pushes: &[RecordedPush], mut anchor: Anchor) -> ChangesSince {
    let mut changes = Vec::new();
    for push in pushes {
        let head = short(&push.head);
        let change = push.changes.iter().find(|change| *old_path(change) == anchor.path);
        match change {
            Some(change) if change.deleted => changes.push(format!("the file was deleted in {head}")),
            Some(change) => {
                let touched = ranges(change, anchor.lines);
                if !touched.is_empty() {
                    changes.push(format!("the code changed in {head}: {}", touched.join(", ")));
                }
                if change.path != anchor.path {
                    changes.push(format!("the file was renamed to {} in {head}", line(change.path.as_str())));
                }
            }
            None => {}
        }
        anchor.follow(&LineMap::from_changes(&push.changes));
    }
    if changes.is_empty() {
        let at = anchor.lines.map_or_else(String::new, |lines| format!("; it is at {} now", spelled(lines)));
        let pushes = count(pushes.len(), "push", "pushes");
        return ChangesSince::unchanged(format!("The code is unchanged in the {pushes} since{at}."));
    }
    let mut sentence = changes.join("; ");
    if let Some(first) = sentence.get(..1).map(str::to_uppercase) {
        sentence.replace_range(..1, &first);
    }
    ChangesSince::changed(format!("{sentence}."))
}

fn old_path(change: &FileChange) -> &crate::domain::vocabulary::FilePath {
    change.renamed_from.as_ref().unwrap_or(&change.path)
}

/// The ranges of the new file that a push changed, limited to hunks that touch these lines, if given.
fn ranges(change: &FileChange, lines: Option<LineRange>) -> Vec<String> {
    let touching = change.hunks.iter().filter(|hunk| lines.is_none_or(|lines| touches(**hunk, lines)));
    let mut ranges: Vec<String> = touching.clone().take(MOST_RANGES).map(|hunk| new_range(*hunk)).collect();
    let more = touching.count().saturating_sub(MOST_RANGES);
    if more > 0 {
        ranges.push(format!("and {more} more"));
    }
    ranges
}

/// A sentence lists no more ranges than this.
const MOST_RANGES: usize = 4;

fn touches(hunk: Hunk, lines: LineRange) -> bool {
    let (first, last) = (hunk.old_start, hunk.old_start.saturating_add(hunk.old_lines.saturating_sub(1)));
    if hunk.old_lines == 0 {
        // The hunk inserts text between two of the lines.
        lines.first() <= first && first < lines.last()
    } else {
        first <= lines.last() && lines.first() <= last
    }
}

fn new_range(hunk: Hunk) -> String {
    let old = hunk.old_start.saturating_add(hunk.old_lines.saturating_sub(1));
    if let (0, Some(old)) = (hunk.new_lines, LineRange::new(hunk.old_start, old)) {
        return format!("{} removed", spelled(old));
    }
    let last = hunk.new_start.saturating_add(hunk.new_lines.saturating_sub(1));
    LineRange::new(hunk.new_start, last).map_or_else(|| "the start of the file".to_owned(), spelled)
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
            unseen: false,
        }
    }

    fn after(pushes: &[RecordedPush]) -> ChangesSince {
        through(pushes, Anchor::new("a.rs".to_owned().into(), LineRange::new(10, 12)))
    }

    #[test]
    fn a_push_that_touches_the_place_is_named_with_its_lines() {
        let since = after(&[push("abc1234def", &[(11, 1, 11, 4)])]);
        assert_eq!(since, ChangesSince::changed("The code changed in abc1234: lines 11–14."));
        assert_eq!(
            after(&[push("abc1234def", &[(10, 3, 9, 0)])]).sentence,
            "The code changed in abc1234: lines 10–12 removed."
        );
    }

    #[test]
    fn pushes_elsewhere_only_move_the_place() {
        let since = after(&[push("abc1234def", &[(2, 0, 3, 5)]), push("bbb1234def", &[(40, 1, 40, 1)])]);
        assert_eq!(
            since,
            ChangesSince::unchanged("The code is unchanged in the 2 pushes since; it is at lines 15–17 now.")
        );
    }

    #[test]
    fn a_later_push_is_compared_with_the_moved_place() {
        let since = after(&[push("abc1234def", &[(2, 0, 3, 5)]), push("bbb1234def", &[(16, 1, 16, 1)])]);
        assert_eq!(since.sentence, "The code changed in bbb1234: line 16.");
    }

    #[test]
    fn a_deleted_or_renamed_file_is_named() {
        let mut gone = push("abc1234def", &[]);
        gone.changes[0].deleted = true;
        assert_eq!(after(&[gone]).sentence, "The file was deleted in abc1234.");
        let mut renamed = push("abc1234def", &[]);
        renamed.changes[0].renamed_from = Some("a.rs".to_owned().into());
        renamed.changes[0].path = "b.rs".to_owned().into();
        assert_eq!(after(&[renamed]).sentence, "The file was renamed to b.rs in abc1234.");
    }
}
