//! The supervisor from end to end: the real loops over HTTP against the simulator, in virtual time, with real programs as
//! reviewers, authors and targets, and a real journal. Each promise is held against what is on the forge afterwards.
#![cfg(unix)]

mod authors;
mod crash;
mod driven;
mod handoff;
mod kill;
mod many;
mod observed;
mod orders;
mod people;
mod repository;
mod routing;
mod together;
mod troubles;
mod words;
