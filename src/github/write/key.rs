//! The hidden marker by which Cloture recognises its own posts.

use crate::domain::snapshot::KEY_OPENING as OPENING;
use std::fmt;

/// Identifies a text that must be posted only once. The key is in the text as an HTML comment, which GitHub
/// hides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteKey(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot mark a comment: a key has 1 to 120 letters, digits, `.`, `_`, `:`, `/` or single `-`")]
pub struct WriteKeyError(String);

const CLOSING: &str = " -->";

/// GitHub refuses a longer text, and the marker must fit too.
const LONGEST_TEXT: usize = 65_536 - 256;

impl WriteKey {
    pub fn new(text: &str) -> Result<Self, WriteKeyError> {
        let fits = (1..=120).contains(&text.len())
            && !text.contains("--")
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '/' | '-'));
        if fits { Ok(Self(text.to_owned())) } else { Err(WriteKeyError(text.chars().take(120).collect())) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `<!-- cloture:KEY -->`
    pub fn marker(&self) -> String {
        format!("{OPENING}{}{CLOSING}", self.0)
    }

    /// The text with its marker at the end. A marker that the text quotes is made harmless: Cloture would
    /// take it for its own.
    pub fn mark(&self, text: &str) -> String {
        let text = text.replace(OPENING, "<!-- quoted cloture:");
        let text = text.trim_end();
        let marker = self.marker();
        match text.char_indices().nth(LONGEST_TEXT) {
            Some((end, _)) => format!("{}\n\n… (cut: GitHub takes no more)\n\n{marker}", &text[..end]),
            None if text.is_empty() => marker,
            None => format!("{text}\n\n{marker}"),
        }
    }

    /// Whether a text has this marker. It proves something only in a post by our own account.
    pub fn marks(&self, text: &str) -> bool {
        text.contains(&self.marker())
    }

    /// The key in a text's last marker.
    pub fn parse_marker(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(OPENING)?;
        let (key, _) = rest.split_once(CLOSING)?;
        Self::new(key).ok()
    }
}

impl fmt::Display for WriteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_recognised_and_a_quoted_one_is_not() {
        let key = WriteKey::new("cap/o/r/7/round-3").unwrap();
        let other = WriteKey::new("other").unwrap();
        let text = other.mark(&format!("He wrote: {} and left.", key.marker()));
        assert!(text.ends_with("<!-- cloture:other -->"), "{text}");
        assert!(other.marks(&text) && !key.marks(&text));
        assert_eq!(WriteKey::parse_marker(&text), Some(other));
        assert_eq!(WriteKey::parse_marker("nothing"), None);
        assert!(!key.marks(&WriteKey::new("cap/o/r/7/round-33").unwrap().mark("x")));
    }

    #[test]
    fn a_text_that_is_too_long_keeps_its_marker() {
        let key = WriteKey::new("k").unwrap();
        let text = key.mark(&"ü".repeat(100_000));
        assert!(text.chars().count() <= 65_536 && key.marks(&text));
    }

    #[test]
    fn a_key_cannot_break_out_of_the_html_comment() {
        for text in ["", "a b", "a-->", "a--b", "ä", &"a".repeat(121)] {
            assert!(WriteKey::new(text).is_err(), "{text}");
        }
    }
}
