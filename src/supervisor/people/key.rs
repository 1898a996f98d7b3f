//! The key of a text that a command posts, made from what is done: the same command makes the same key, so that running
//! it again after a lost answer finds the text instead of posting it twice.

use crate::failure::Failure;
use crate::github::write::WriteKey;

/// A command's key: its verb in clear, for whoever reads the marker, and everything that makes it this command.
/// The parts are counted by length, so that no two lists of parts run together into one.
pub(crate) fn key(verb: &str, parts: &[&str]) -> Result<WriteKey, Failure> {
    let mut hash = OFFSET;
    for part in [verb].iter().chain(parts) {
        for byte in (part.len() as u64).to_be_bytes().into_iter().chain(part.bytes()) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
    WriteKey::new(&format!("act/{verb}/{hash:032x}")).map_err(Failure::usage)
}

/// FNV-1a in 128 bits: the same in every version and on every machine, which the standard hasher is not. It need not
/// withstand an attacker, because a marker counts only in a post that our own account wrote.
const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_command_has_the_same_key_in_every_version() {
        let known = key("comment", &["acme/shop#1", "Hello."]).unwrap();
        assert_eq!(known.as_str(), "act/comment/b5bf3e874d848f9a7d6b583ac6005ce7");
    }

    #[test]
    fn whatever_differs_makes_another_key() {
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
