//! The supervisor from end to end: the real loops over HTTP against the simulator, in virtual time, with real programs as
//! reviewers, authors and targets, and a real journal. Each promise is held against what is on the forge afterwards.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod simulated;

#[path = "supervisor/authors.rs"]
mod authors;
#[path = "supervisor/crash.rs"]
mod crash;
#[path = "supervisor/driven.rs"]
mod driven;
#[path = "supervisor/handoff.rs"]
mod handoff;
#[path = "supervisor/harness.rs"]
mod harness;
#[path = "supervisor/kill.rs"]
mod kill;
#[path = "supervisor/many.rs"]
mod many;
#[path = "supervisor/observed.rs"]
mod observed;
#[path = "supervisor/people.rs"]
mod people;
#[path = "journal/places.rs"]
#[macro_use]
#[expect(dead_code, unused_macros, clippy::expect_used, reason = "the journal's own tests use the rest")]
mod places;
#[path = "supervisor/orders.rs"]
mod orders;
#[path = "supervisor/routing.rs"]
mod routing;
#[path = "supervisor/together.rs"]
mod together;
#[path = "supervisor/troubles.rs"]
mod troubles;
#[path = "supervisor/words.rs"]
mod words;
