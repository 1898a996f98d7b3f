//! Everything that can be done in the terminal is done here by keys, in the real program in a pseudo-terminal, and what
//! came of it is looked for on the server.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod coverage;
mod pty;
#[path = "terminal/world.rs"]
mod world;

#[path = "terminal/deciding.rs"]
mod deciding;
#[path = "terminal/desktop.rs"]
mod desktop;
#[path = "terminal/handoff.rs"]
mod handoff;
#[path = "terminal/leaving.rs"]
mod leaving;
#[path = "terminal/loops.rs"]
mod loops;
