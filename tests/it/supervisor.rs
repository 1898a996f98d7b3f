//! The supervisor from end to end: the real loops over HTTP against the simulator, in virtual time, with real
//! programs as reviewers, authors and targets, and a real journal. Each test checks the forge afterwards.
#![cfg(unix)]

mod authors;
mod commands;
mod crash;
mod driven;
mod handoff;
mod identity;
mod kill;
mod leftovers;
mod lost_journal;
mod many;
mod observed;
mod people;
mod replies;
mod repository;
mod routing;
mod together;
mod troubles;
