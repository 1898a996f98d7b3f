//! Cloture supervises AI review loops on pull requests: it works out where each review thread stands and which
//! actions are still legal, and keeps the whole loop inside bounds that are proved.
//!
//! The crate in reading order:
//!
//! - [`domain`]: every decision, pure. Start with `machine` (one thread), then `cycle` (one reviewer's look),
//!   `pull_request` (the fold of everything that happens to one) and `review_loop` (waiting and stopping).
//! - [`reviewers`]: which accounts are known reviewers, what driven ones are asked for and how their answers are read.
//! - [`config`]: what was typed becomes what is valid.
//! - [`github`]: reading, polling and writing the real thing; the only place that knows GitHub's types.
//! - [`simulator`]: a GitHub inside the program, for the demo and for tests.
//! - `object`: a reader's helper that both of them and traces share.
//! - [`clean`]: the forge's text, made safe for a terminal; `thread_line`: a thread as JSON.
//! - [`forge`]: which GitHub, as whom, about which pull requests; [`failure`]: why not, with an exit code.
//! - [`status`] and [`doctor`]: the commands that look at GitHub; [`simulate`] and [`bound`]: those that show the
//!   engine from outside.
//! - [`classify`] and [`roster`]: what is made of a post, and by which profiles.
//! - [`cli`]: the command line; `main` runs it, prints an error once and maps it to an exit code.
//!
//! Invariants, each held by a test in `tests/architecture.rs`:
//!
//! - `domain` imports nothing else of ours, and reads no clock, file, socket, environment or process; nothing in
//!   it iterates in random order.
//! - Arrows point inward: nothing below imports `cli`.
//! - Only `main` prints to the terminal's error stream and decides the exit code.

pub mod bound;
pub mod classify;
pub mod clean;
pub mod cli;
pub mod config;
pub mod doctor;
pub mod domain;
pub mod failure;
pub mod forge;
pub mod github;
mod object;
pub mod reviewers;
pub mod roster;
pub mod simulate;
pub mod simulator;
pub mod status;
mod thread_line;
