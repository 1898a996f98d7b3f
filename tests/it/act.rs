//! `cloture act` and `cloture pr`, run as programs against the simulator.

mod asking;
mod faults;
mod once;
mod rehearsal;
mod threads;
