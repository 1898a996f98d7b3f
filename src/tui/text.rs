//! Text in terminal columns: width, cutting, wrapping and ages.

use jiff::Timestamp;
use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// The columns of a text on a terminal, summed over its graphemes as ratatui does. The text as a whole can be
/// narrower, because a terminal may join graphemes.
pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(columns_of).sum() }
}

/// The columns of one grapheme.
pub(super) fn columns_of(grapheme: &str) -> usize {
    if grapheme.len() == 1 { 1 } else { usize::from(grapheme.cell_width()) }
}

/// Cuts a text with an ellipsis or pads it with blanks to exactly this width.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let mut fitted = cut(text, columns);
    let missing = columns.saturating_sub(width(&fitted));
    fitted.extend(std::iter::repeat_n(' ', missing));
    fitted
}

/// Cuts a text to at most this width, at a grapheme. Reads only the part that fits, however long the text is.
pub(super) fn cut(text: &str, columns: usize) -> String {
    let mut used = 0;
    // The end of the part that leaves room for an ellipsis.
    let mut short = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += columns_of(grapheme);
        if used > columns {
            let ellipsis = if columns > 0 { "…" } else { "" };
            return format!("{}{ellipsis}", &text[..short]);
        }
        if used < columns {
            short = at + grapheme.len();
        }
    }
    text.to_owned()
}

/// Breaks a line at blanks, and a word that is too long anywhere.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        let wide = width(word.trim_end());
        if used + wide > columns && !line.is_empty() {
            lines.push(line.trim_end().to_owned());
            line.clear();
            used = 0;
        }
        if wide <= columns {
            line.push_str(word);
            used += width(word);
            continue;
        }
        for grapheme in word.graphemes(true) {
            let wide = columns_of(grapheme);
            if used + wide > columns {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push_str(grapheme);
            used += wide;
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// How long ago, as one number and one letter.
pub(super) fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A number with its noun.
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
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
    }

    #[test]
    fn a_text_has_as_many_columns_as_it_is_given_cells() {
        use ratatui::buffer::Buffer;
        use ratatui::layout::Rect;
        use ratatui::style::Style;
        for text in [
            "plain",
            "日本語",
            "한국어",
            "ｶﾞｷﾞ",
            "e\u{301}tude",
            "กำลัง",
            "السلام عليكم",
            "לשלום",
            "⚠️ ✔️ ❤️",
            "🇩🇪🇯🇵",
            "👩💻",
            "👍🏽",
            "1️⃣",
            "ᄀ\u{1161}\u{11a8}",
            "नमस्ते",
            "\u{301}a",
            "ꓹꓼ",
            "⣿─│",
        ] {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 60, 1));
            let (end, _) = buffer.set_stringn(0, 0, text, 60, Style::default());
            assert_eq!(width(text), usize::from(end), "{text}");
            assert_eq!(width(&fit(text, 5)), 5, "{text}");
        }
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
