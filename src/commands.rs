//! One module for each subcommand. `run` is its entry: it gathers the inputs, asks the rooms below, prints
//! the result and returns an [`Outcome`]. What is absent: no command writes to the error stream or ends the
//! process.

pub mod act;
pub mod bound;
pub mod classify;
pub mod demo;
pub mod doctor;
pub mod inbox;
pub mod journal;
pub mod queue;
mod report;
pub mod review;
pub mod reviewers;
pub mod simulate;
pub mod simulator;
pub mod status;
pub mod watch;

pub use report::{Outcome, Report};
