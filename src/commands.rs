//! One module for each subcommand: it gathers what the command needs, asks the rooms below, and words the result.

pub mod act;
pub mod bound;
pub mod classify;
pub mod demo;
pub mod doctor;
pub mod inbox;
pub mod journal;
pub mod queue;
pub mod review;
pub mod reviewers;
pub mod simulate;
pub mod status;
pub mod watch;
