//! What people do to threads, from outside: the real program, over HTTP, against the simulator, with a journal.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "people/acts.rs"]
mod acts;
mod coverage;
#[path = "people/driven.rs"]
mod driven;
#[path = "people/interrupted.rs"]
mod interrupted;
#[path = "people/lists.rs"]
mod lists;
mod program;
#[path = "people/routing.rs"]
mod routing;
mod simulated;
#[path = "people/telling.rs"]
mod telling;
#[path = "people/ways_out.rs"]
mod ways_out;
#[path = "people/world.rs"]
mod world;
