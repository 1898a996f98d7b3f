//! `cloture act` and `cloture pr`, from outside: the real program, over HTTP, against the simulator.

mod asking;
mod faults;
mod once;
mod rehearsal;
mod threads;
