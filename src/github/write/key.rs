//! The hidden marker by which a text of ours is found again.

use std::fmt;

/// Names one text that is to be posted once. It stands in the text as an HTML comment, which GitHub does not show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteKey(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot mark a comment: a key has 1 to 120 letters, digits, `.`, `_`, `:`, `/` or single `-`")]
pub struct WriteKeyError(String);

const OPENING: &str = "<!-- cloture:";
const CLOSING: &str = " -->";

/// GitHub refuses a longer text; the marker has to fit as well.
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

    /// The text with its marker at the end. A marker that the text itself brings along, by quoting somebody, is
    /// defused: it would pass for one of ours.
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

    /// Whether a text carries this very marker. Only a text written by our own account proves anything.
    pub fn marks(&self, text: &str) -> bool {
        text.contains(&self.marker())
    }

    /// The key that a text of ours carries, whichever it is.
    pub fn found_in(text: &str) -> Option<Self> {
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
    fn a_marker_is_found_again_and_cannot_be_smuggled_in() {
        let key = WriteKey::new("cap/o/r/7/round-3").unwrap();
        let other = WriteKey::new("other").unwrap();
        let text = other.mark(&format!("He wrote: {} and left.", key.marker()));
        assert!(text.ends_with("<!-- cloture:other -->"), "{text}");
        assert!(other.marks(&text) && !key.marks(&text));
        assert_eq!(WriteKey::found_in(&text), Some(other));
        assert_eq!(WriteKey::found_in("nothing"), None);
        assert!(!key.marks(&WriteKey::new("cap/o/r/7/round-33").unwrap().mark("x")));
    }

    #[test]
    fn a_text_that_is_too_long_keeps_its_marker() {
        let key = WriteKey::new("k").unwrap();
        let text = key.mark(&"ü".repeat(100_000));
        assert!(text.chars().count() <= 65_536 && key.marks(&text));
    }

    #[test]
    fn what_could_break_out_of_the_comment_is_no_key() {
        for text in ["", "a b", "a-->", "a--b", "ä", &"a".repeat(121)] {
            assert!(WriteKey::new(text).is_err(), "{text}");
        }
    }
}
