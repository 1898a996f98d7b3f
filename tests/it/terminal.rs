//! Every command of the terminal, by keys in the real program in a pseudo-terminal. The tests check the
//! result on the simulated GitHub and in the journal.

#![cfg(unix)]

mod world;

mod deciding;
mod desktop;
mod handoff;
mod leaving;
mod loops;
mod suspending;
