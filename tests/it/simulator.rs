//! The simulator, asked over HTTP as a client asks it.

mod acting;
mod client;
mod faults;
mod limits;
mod playing;
mod reading;
mod rest;
mod schema;
