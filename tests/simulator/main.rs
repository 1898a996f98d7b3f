//! The simulator, asked over HTTP as a client asks it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail the test")]

mod acting;
mod client;
mod faults;
mod limits;
mod playing;
mod reading;
mod rest;
mod schema;
