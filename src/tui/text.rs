//! Texts in columns: how wide they are, where they break, how long ago something was.

use jiff::Timestamp;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The columns that a text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The text in exactly so many columns: cut with an ellipsis, or filled up with blanks.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let mut fitted = cut(text, columns);
    let missing = columns.saturating_sub(width(&fitted));
    fitted.extend(std::iter::repeat_n(' ', missing));
    fitted
}

/// The text in at most so many columns. What is seen as one character is kept or dropped as one.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let wide = width(grapheme);
        if used + wide + 1 > columns {
            break;
        }
        kept.push_str(grapheme);
        used += wide;
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// Breaks a line at blanks where it can, and anywhere where it must.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if width(&line) + width(word.trim_end()) > columns && !line.is_empty() {
            lines.push(line.trim_end().to_owned());
            line.clear();
        }
        if width(word.trim_end()) <= columns {
            line.push_str(word);
            continue;
        }
        for grapheme in word.graphemes(true) {
            if width(&line) + width(grapheme) > columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(grapheme);
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// How long ago, in one number and one letter.
pub(super) fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// How many are meant, in words.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_and_combining_characters_keep_their_columns() {
        assert_eq!(fit("日本語", 4), "日… ");
        assert_eq!(fit("e\u{301}tude", 6), "e\u{301}tude ");
        assert_eq!(width(&fit("🎉🎉🎉", 5)), 5);
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn long_words_break_and_short_ones_do_not() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("", 10), [""]);
    }

    #[test]
    fn ages_have_one_unit() {
        let now: Timestamp = "2026-03-02T10:00:00Z".parse().unwrap();
        let ago = |text: &str| age(text.parse().unwrap(), now);
        assert_eq!(ago("2026-03-02T09:59:30Z"), "30s");
        assert_eq!(ago("2026-03-02T08:00:00Z"), "2h");
        assert_eq!(ago("2026-02-20T10:00:00Z"), "10d");
        assert_eq!(ago("2026-03-02T11:00:00Z"), "0s");
    }

    proptest! {
        #[test]
        fn a_fitted_text_has_the_width_that_was_asked_for(text in "[a-z日🎉 ]{0,30}", columns in 0usize..40) {
            prop_assert_eq!(width(&fit(&text, columns)), columns);
        }

        #[test]
        fn no_wrapped_line_is_too_wide(text in "[a-z日 ]{0,60}", columns in 2usize..20) {
            for line in wrap(&text, columns) {
                prop_assert!(width(&line) <= columns, "{:?}", line);
            }
        }
    }
}
