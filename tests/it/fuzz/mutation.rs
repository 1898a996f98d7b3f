//! Mutates correct inputs into nearly correct ones. The inputs are the same in every run.

use crate::support::dice::Dice;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Inputs of each kind, unless `CLOTURE_FUZZ_ROUNDS` says otherwise.
const ROUNDS: u64 = 300;

/// Texts that commonly break parsers.
const HOSTILE: &[&str] = &[
    "\0",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{200b}",
    "\u{feff}",
    "\u{fffd}",
    "é",
    "e\u{301}",
    "🧑‍🤝‍🧑",
    "例",
    "\r",
    "\r\n",
    "\n\n",
    "\t",
    "\"",
    "'",
    "`",
    "```",
    "<!--",
    "-->",
    "<details>",
    "</details>",
    "<summary>",
    "&#x1b;",
    "[](",
    "![",
    "| - |",
    "***",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "]]",
    ",",
    ":",
    "null",
    "true",
    "-1",
    "18446744073709551616",
    "1e999",
    "0x",
    "9999-99-99T99:99:99Z",
    "-9999-01-01T00:00:00Z",
    "\\u0000",
    "\\ud800",
    "@@ -1,1 +1,1 @@",
    "--- a/",
    "+++ b/",
    "cloture:",
];

/// One seed with a few changes.
pub(crate) fn mutated(seeds: &[Vec<u8>], random: &mut Dice) -> Vec<u8> {
    let mut bytes = random.any(seeds).clone();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let to = at + random.below((bytes.len() - at).min(64) + 1);
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let word = random.any(HOSTILE).as_bytes();
                bytes.splice(at..at, word.iter().copied());
            }
            3 => {
                let word = random.any(HOSTILE).as_bytes();
                bytes.splice(at..to, word.iter().copied());
            }
            4 => {
                let piece = bytes[at..to].to_vec();
                let times = 1 + random.below(40);
                bytes.splice(at..at, piece.repeat(times));
            }
            5 => {
                let other = random.any(seeds);
                let from = random.below(other.len() + 1);
                bytes.splice(at..to, other[from..].iter().take(200).copied());
            }
            6 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            _ => {
                let opening = *random.any(&[b"[".as_slice(), b"{\"a\":", b"> ", b"<b>", b"**", b"- "]);
                bytes.splice(at..at, opening.repeat(1 + random.below(300)));
            }
        }
        // Longer inputs find nothing new.
        bytes.truncate(64 * 1024);
    }
    bytes
}

/// Runs `read` on many inputs. An input that makes it panic is reduced and shown.
pub(crate) fn fuzz(name: &str, seeds: &[Vec<u8>], read: impl Fn(&[u8], &mut Dice)) {
    assert!(!seeds.is_empty(), "{name} has no seeds");
    let rounds = std::env::var("CLOTURE_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds = rounds.unwrap_or(ROUNDS);
    for seed in seeds {
        try_one(name, "a seed", seed, 0, &read);
    }
    for round in 0..rounds {
        let mut random = Dice::new(round);
        let input = mutated(seeds, &mut random);
        try_one(name, &format!("round {round}"), &input, round, &read);
    }
    println!("{name}: {} seeds, {rounds} inputs, none of them bad", seeds.len());
}

fn try_one(name: &str, which: &str, input: &[u8], round: u64, read: &impl Fn(&[u8], &mut Dice)) {
    let is_bad = |input: &[u8]| {
        catch_unwind(AssertUnwindSafe(|| read(input, &mut Dice::new(round.wrapping_add(1))))).is_err()
    };
    if is_bad(input) {
        // Reducing causes hundreds of panics, which would hide the first message.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let small = smallest(input, &is_bad);
        std::panic::set_hook(hook);
        panic!("{name}, {which}: {} bytes are bad: {:?}", small.len(), String::from_utf8_lossy(&small));
    }
}

/// Removes pieces as long as the rest still panics.
fn smallest(input: &[u8], is_bad: &impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut small = input.to_vec();
    let mut piece = small.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < small.len() {
            let mut less = small.clone();
            less.drain(at..(at + piece).min(less.len()));
            if is_bad(&less) {
                small = less;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    small
}
