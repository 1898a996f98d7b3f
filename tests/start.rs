//! The start of the terminal, and leaving it: the real program in a pseudo-terminal, with and without a journal, a token, a
//! configuration, a checkout and a network.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod coverage;
mod pty;

#[path = "start/first.rs"]
mod first;
#[path = "start/here.rs"]
mod here;
#[path = "start/leaving.rs"]
mod leaving;
#[path = "start/states.rs"]
mod states;
