//! Everything that can be done in the terminal is done here by keys, in the real program in a pseudo-terminal, and what
//! came of it is looked for on the server.

#![cfg(unix)]

mod world;

mod deciding;
mod desktop;
mod handoff;
mod leaving;
mod loops;
