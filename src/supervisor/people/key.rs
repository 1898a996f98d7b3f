//! The key of a text that a person posts through Cloture. The same request makes the same key, so repeating
//! it after a lost answer finds the text instead of posting it twice.

use crate::failure::Failure;
use crate::github::write::WriteKey;
use crate::supervisor::markers::digest;

/// The beginning of these keys. The driver's keys begin otherwise.
pub(crate) const KEY_PREFIX: &str = "act/";

/// The verb in clear text, for people who read the marker, and a digest of the verb and the parts. Each part
/// is preceded by its length, so that two different lists never look alike.
pub(crate) fn key(verb: &str, parts: &[&str]) -> Result<WriteKey, Failure> {
    let all = [verb].into_iter().chain(parts.iter().copied());
    let bytes = all.flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.bytes()));
    WriteKey::new(&format!("{KEY_PREFIX}{verb}/{}", digest(bytes))).map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_request_has_the_same_key_in_every_version() {
        let known = key("comment", &["acme/shop#1", "Hello."]).unwrap();
        assert_eq!(known.as_str(), "act/comment/b5bf3e874d848f9a7d6b583ac6005ce7");
    }

    #[test]
    fn different_parts_make_different_keys() {
        let keys = [
            key("reply", &["a", "b"]),
            key("reply", &["b", "a"]),
            key("reply", &["ab"]),
            key("reply", &["ab", ""]),
            key("reply", &["", "ab"]),
            key("comment", &["a", "b"]),
        ];
        let keys: std::collections::BTreeSet<WriteKey> = keys.into_iter().map(Result::unwrap).collect();
        assert_eq!(keys.len(), 6);
    }
}
