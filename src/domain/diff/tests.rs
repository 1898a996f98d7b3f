use super::*;
use crate::domain::place::{Anchor, LineMap, LineRange};
use proptest::prelude::*;
use similar::TextDiff;

fn hunk(old_start: u32, old_lines: u32, new_start: u32, new_lines: u32) -> Hunk {
    Hunk { old_start, old_lines, new_start, new_lines }
}

#[test]
fn one_hunk_yields_its_separate_stretches() {
    let text = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
                @@ -1,7 +1,7 @@ fn f()\n a\n-b\n+B\n+BB\n c\n d\n-e\n-f\n+\n\
             \\ No newline at end of file\n g\n";
    let [change] = <[_; 1]>::try_from(read(text)).unwrap();
    assert_eq!(change.path.as_str(), "src/a.rs");
    assert_eq!((change.renamed_from, change.deleted), (None, false));
    assert_eq!(change.hunks, [hunk(2, 1, 2, 2), hunk(5, 2, 6, 1)]);
}

#[test]
fn insertions_and_deletions_name_the_line_before_them() {
    let text = "--- a/x\n+++ b/x\n@@ -3,0 +4,2 @@\n+one\n+two\n@@ -10,2 +12,0 @@\n-ten\n-eleven\n";
    assert_eq!(read(text)[0].hunks, [hunk(3, 0, 4, 2), hunk(10, 2, 12, 0)]);
}

#[test]
fn new_deleted_renamed_binary_and_empty_files_are_recognised() {
    let text = "diff --git a/new.rs b/new.rs\nnew file mode 100644\n--- /dev/null\n+++ b/new.rs\n\
             @@ -0,0 +1,2 @@\n+a\n+b\n\
                diff --git a/old.rs b/old.rs\ndeleted file mode 100644\n--- a/old.rs\n+++ /dev/null\n\
             @@ -1 +0,0 @@\n-a\n\
                diff --git a/from here.rs b/to there.rs\nsimilarity index 100%\nrename from from here.rs\n\
             rename to to there.rs\n\
                diff --git a/a picture.png b/a picture.png\nindex 1..2\n\
             Binary files a/a picture.png and b/a picture.png differ\n\
                diff --git a/empty b/empty\nnew file mode 100644\n\
                diff --git a/x b/y.png b/x b/y.png\nBinary files differ\n\
                diff --git \"a/\\303\\244 \\\"b.rs\" \"b/\\303\\244 \\\"b.rs\"\n\
             --- \"a/\\303\\244 \\\"b.rs\"\n+++ \"b/\\303\\244 \\\"b.rs\"\n@@ -1 +1 @@\n-x\n+y\n";
    let found = read(text);
    let summary: Vec<_> = found
        .iter()
        .map(|change| {
            let from = change.renamed_from.as_ref().map(FilePath::as_str);
            (change.path.as_str(), from, change.deleted, change.hunks.len())
        })
        .collect();
    let expected = [
        ("new.rs", None, false, 1),
        ("old.rs", None, true, 1),
        ("to there.rs", Some("from here.rs"), false, 0),
        ("a picture.png", None, false, 0),
        ("empty", None, false, 0),
        ("x b/y.png", None, false, 0),
        ("ä \"b.rs", None, false, 1),
    ];
    assert_eq!(summary, expected);
    assert_eq!(found[0].hunks, [hunk(0, 0, 1, 2)]);
    assert_eq!(found[1].hunks, [hunk(1, 1, 0, 0)]);
}

#[test]
fn code_that_looks_like_a_diff_stays_code() {
    let text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,3 +1,3 @@\n--- a comment\n+++ b/evil.rs\n @@ -1 +1 @@\n\
             -diff --git a/q b/q\n+x\n\
                --- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n";
    let paths: Vec<_> = read(text).into_iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths, ["x.sql", "y"]);
}

#[test]
fn every_file_keeps_its_own_text() {
    let first = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n";
    let second = "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n";
    let text = format!("{first}{second}");
    let texts: Vec<_> = files(&text).into_iter().map(|file| file.text).collect();
    assert_eq!(texts, [first, second]);
}

#[test]
fn hunks_out_of_order_or_with_impossible_lines_are_skipped() {
    let text = "--- a/x\n+++ b/x\n@@ -10 +10 @@\n-a\n+b\n@@ -2 +2 @@\n-a\n+b\n@@ -99999999999 +1 @@\n-a\n+b\n\
                @@ -0 +0 @@\n-a\n+b\n@@ -4294967295,9 +4294967295,9 @@\n-a\n-b\n+c\n";
    let hunks = &read(text)[0].hunks;
    assert_eq!(hunks[0], hunk(10, 1, 10, 1));
    assert!(hunks.windows(2).all(|pair| pair[0].old_start < pair[1].old_start), "{hunks:?}");
    assert_eq!(hunks.len(), 2);
}

#[test]
fn a_hunk_has_the_lines_that_its_header_counts() {
    let hunks = |text: &str| read(&format!("--- a/x\n+++ b/x\n{text}"))[0].hunks.clone();
    let two = [hunk(1, 1, 1, 1), hunk(20, 1, 20, 1)];
    assert_eq!(hunks("@@ -1,5 +1,5 @@\n-a\n+b\n@@ -20 +20 @@\n-c\n+d\n"), two, "the first was cut short");
    assert_eq!(hunks("@@ -1 +1 @@\n-a\n+b\n+c\n"), [hunk(1, 1, 1, 1)], "one line too many was added");
    assert_eq!(hunks("@@ -1 +1,2 @@\n-a\n-b\n+c\n"), [hunk(1, 1, 0, 0)], "one line too many was removed");
    // There is no line 0, and hunks must go down the file on both sides.
    for bad in ["@@ -0 +1 @@\n-a\n+b\n", "@@ -1 +0 @@\n-a\n+b\n"] {
        assert_eq!(hunks(bad), [], "{bad}");
    }
    for back in ["@@ -2 +30 @@\n-a\n+b\n", "@@ -30 +2 @@\n-a\n+b\n"] {
        assert_eq!(hunks(&format!("@@ -10 +10 @@\n-a\n+b\n{back}")), [hunk(10, 1, 10, 1)], "{back}");
    }
}

#[test]
fn a_file_is_deleted_by_its_mode_or_by_dev_null() {
    let deleted = |text: &str| read(text)[0].deleted;
    assert!(deleted("diff --git a/picture.png b/picture.png\ndeleted file mode 100644\nindex 1..0\n"));
    assert!(deleted("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"));
    assert!(!deleted("--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n"));
}

/// The lines of a file that no hunk touches.
fn untouched<'t>(text: &'t str, ranges: &[(u32, u32)]) -> Vec<&'t str> {
    let numbered = text.lines().enumerate().map(|(index, line)| (u32::try_from(index).unwrap() + 1, line));
    let outside = numbered
        .filter(|(number, _)| !ranges.iter().any(|(start, count)| (*start..start + count).contains(number)));
    outside.map(|(_, line)| line).collect()
}

proptest! {
    #[test]
    fn lines_outside_the_hunks_are_equal_on_both_sides(
        before in prop::collection::vec("[abc+@ -]{0,3}", 0..40),
        after in prop::collection::vec("[abc+@ -]{0,3}", 0..40),
        context in 0_usize..5,
    ) {
        let (before, after) = (before.join("\n"), after.join("\n"));
        let diff = TextDiff::from_lines(&before, &after);
        let text = diff.unified_diff().context_radius(context).header("a/f", "b/f").to_string();
        let changes = read(&text);
        let hunks = changes.first().map(|change| change.hunks.clone()).unwrap_or_default();
        let old: Vec<_> = hunks.iter().map(|hunk| (hunk.old_start, hunk.old_lines)).collect();
        let new: Vec<_> = hunks.iter().map(|hunk| (hunk.new_start, hunk.new_lines)).collect();
        prop_assert_eq!(untouched(&before, &old), untouched(&after, &new), "{}", text);
    }

    #[test]
    fn any_text_can_be_parsed_and_followed(
        text in "([-+ @a/0-9,\"\\\\]|diff --git |@@ -|--- a/|\\+\\+\\+ b/|\n){0,80}",
    ) {
        let changes = read(&text);
        let route = LineMap::from_changes(&changes);
        let mut anchor = Anchor::new("a".into(), LineRange::new(1, u32::MAX));
        anchor.follow(&route);
        for change in &changes {
            prop_assert!(!change.path.as_str().is_empty());
            for pair in change.hunks.windows(2) {
                prop_assert!(pair[0].old_start + pair[0].old_lines <= pair[1].old_start + 1);
                prop_assert!(pair[0].new_start + pair[0].new_lines <= pair[1].new_start + 1);
            }
        }
    }
}
