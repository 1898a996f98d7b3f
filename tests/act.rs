//! `cloture act` and `cloture pr`, from outside: the real program, over HTTP, against the simulator.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "act/asking.rs"]
mod asking;
mod coverage;
#[path = "act/faults.rs"]
mod faults;
#[path = "act/once.rs"]
mod once;
mod program;
#[path = "act/rehearsal.rs"]
mod rehearsal;
#[path = "act/threads.rs"]
mod threads;
#[path = "act/verbs.rs"]
mod verbs;
