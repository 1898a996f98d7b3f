//! The supervisor from end to end: the real loops over HTTP against the simulator, in virtual time, with real
//! programs as reviewers, authors and targets, and a real journal. Each test checks the forge afterwards.
#![cfg(unix)]

mod authors;
mod bot_commands;
mod commands;
mod comparisons;
mod crash;
mod driven;
mod ends;
mod handoff;
mod identity;
mod kill;
mod leftovers;
mod lost_journal;
mod many;
mod observed;
mod people;
mod posting;
mod regressions;
mod replies;
mod repository;
mod routing;
mod secrets;
mod stopping;
mod together;
mod troubles;
mod trust;
mod watching;
