//! The diff hunk under which a thread was opened.

use crate::output::sanitize;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeHunk {
    pub lines: Vec<CodeLine>,
    /// The number of lines above these that are not kept.
    pub left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLine {
    /// `+`, `-` or a space, as in the diff; `@` for the hunk's header.
    pub sign: char,
    pub old: Option<u32>,
    pub new: Option<u32>,
    /// Without its sign, and safe for a terminal. Tabs stay tabs.
    pub text: String,
    /// Whether the comment is about this line.
    pub about: bool,
}

/// The end of the hunk is kept, because the comment is about it.
const MOST_LINES: usize = 400;

/// In bytes; only minified files have longer lines.
const LONGEST_LINE: usize = 4_000;

impl CodeHunk {
    /// Reads a hunk from GitHub. `about` are the lines of the comment, in the old file if `is_left`.
    pub(super) fn read(hunk: &str, about: Option<(u32, u32)>, is_left: bool) -> CodeHunk {
        let count = hunk.lines().count();
        let left_out = count.saturating_sub(MOST_LINES);
        let (mut old, mut new) = (None, None);
        let mut lines = Vec::new();
        for (index, text) in hunk.lines().enumerate() {
            if let Some((old_start, new_start)) = text.strip_prefix("@@ ").and_then(starts) {
                (old, new) = (Some(old_start), Some(new_start));
                if index >= left_out {
                    lines.push(CodeLine {
                        sign: '@',
                        old: None,
                        new: None,
                        text: cleaned(text),
                        about: false,
                    });
                }
                continue;
            }
            let sign = text.chars().next().filter(|c| matches!(c, '+' | '-' | ' ' | '\\'));
            let in_old = matches!(sign, Some('-' | ' ') | None);
            let in_new = matches!(sign, Some('+' | ' ') | None);
            let number = |next: &mut Option<u32>, is_in: bool| {
                let this = next.filter(|_| is_in);
                if is_in {
                    *next = next.map(|number| number.saturating_add(1));
                }
                this
            };
            let (in_old, in_new) = (number(&mut old, in_old), number(&mut new, in_new));
            let line = if is_left { in_old } else { in_new };
            let about = about.zip(line).is_some_and(|((first, last), this)| (first..=last).contains(&this));
            if index >= left_out {
                let text = text.get(sign.map_or(0, char::len_utf8)..).unwrap_or_default();
                let sign = sign.unwrap_or(' ');
                lines.push(CodeLine { sign, old: in_old, new: in_new, text: cleaned(text), about });
            }
        }
        CodeHunk { lines, left_out }
    }

    /// The lines of the new file that a suggestion would replace.
    pub fn lines_to_replace(&self) -> Vec<String> {
        let lines = self.lines.iter().filter(|line| line.about && line.new.is_some());
        lines.map(|line| line.text.clone()).collect()
    }
}

fn cleaned(text: &str) -> String {
    let end = (0..=text.len().min(LONGEST_LINE)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    sanitize::block(&text[..end])
}

/// The first line numbers, from `-a,b +c,d @@ …`.
fn starts(ranges: &str) -> Option<(u32, u32)> {
    let mut words = ranges.split(' ');
    let mut start = |sign: char| words.next()?.strip_prefix(sign)?.split(',').next()?.parse().ok();
    Some((start('-')?, start('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HUNK: &str = "@@ -3,3 +3,4 @@ fn f()\n a\n-b\n+c\n+d\n e";

    #[test]
    fn lines_have_their_numbers_on_both_sides() {
        let code = CodeHunk::read(HUNK, Some((5, 6)), false);
        let lines: Vec<_> =
            code.lines.iter().map(|l| (l.sign, l.old, l.new, l.text.as_str(), l.about)).collect();
        assert_eq!(
            lines,
            [
                ('@', None, None, "@@ -3,3 +3,4 @@ fn f()", false),
                (' ', Some(3), Some(3), "a", false),
                ('-', Some(4), None, "b", false),
                ('+', None, Some(4), "c", false),
                ('+', None, Some(5), "d", true),
                (' ', Some(5), Some(6), "e", true),
            ]
        );
        assert_eq!(code.lines_to_replace(), ["d", "e"]);
    }

    #[test]
    fn a_comment_on_a_removed_line_is_about_the_old_line() {
        let code = CodeHunk::read(HUNK, Some((4, 4)), true);
        let signs: Vec<_> = code.lines.iter().filter(|line| line.about).map(|line| line.sign).collect();
        assert_eq!(signs, ['-']);
        assert!(code.lines_to_replace().is_empty(), "there is nothing left to replace");
    }

    #[test]
    fn no_text_breaks_the_reader() {
        for hunk in [
            "",
            "no hunk at all",
            "@@ nonsense @@\n+a",
            "@@ -1 +1 @@\n\\ No newline\n日本",
            "@@ -4294967295,1 +4294967295,1 @@\n a\n b",
        ] {
            let _ = CodeHunk::read(hunk, Some((1, u32::MAX)), false);
        }
        let long = CodeHunk::read(
            &format!("@@ -1,1 +1,9999 @@\n{}", "+x\n".repeat(9999)),
            Some((9999, 9999)),
            false,
        );
        assert_eq!((long.lines.len(), long.left_out), (MOST_LINES, 10_000 - MOST_LINES));
        assert!(long.lines.last().unwrap().about);
        let wide = CodeHunk::read(&"日".repeat(400_000), None, false);
        assert!(wide.lines[0].text.len() <= LONGEST_LINE);
    }
}
