//! The simulator over HTTP, as a client sees it.

mod acting;
mod client;
mod faults;
mod limits;
mod playing;
mod reading;
mod rest;
mod schema;
