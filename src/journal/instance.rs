//! The identity of one running program among those that share a journal: a name for people, and a nonce.
//!
//! A host name and a process id are not enough: every container may be process 1 on a host of the same name.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Stands between the name and the nonce.
const NONCE: char = '#';

/// An identity that no other program has, whatever its name. Each call makes another one.
pub fn unique(name: &str) -> String {
    // The standard library's hasher begins with random numbers of the operating system.
    let random = RandomState::new().build_hasher().finish() & 0xffff_ffff_ffff;
    format!("{name}{NONCE}{random:012x}")
}

/// The name in an identity, for people.
pub fn name(instance: &str) -> &str {
    instance.rsplit_once(NONCE).map_or(instance, |(name, _)| name)
}

/// How one instance names another to people: without the nonce, unless both have the same name.
pub fn shown<'a>(other: &'a str, to: &str) -> &'a str {
    if name(other) == name(to) { other } else { name(other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_instances_of_one_name_differ_and_people_read_the_nonce_only_then() {
        let (one, two) = (unique("runner/1"), unique("runner/1"));
        assert_ne!(one, two);
        assert_eq!((name(&one), name("runner/1")), ("runner/1", "runner/1"));
        assert_eq!(shown(&one, &two), one);
        assert_eq!(shown(&one, "desk/7#0123456789ab"), "runner/1");
        assert_eq!(shown("older/7", &one), "older/7");
    }
}
