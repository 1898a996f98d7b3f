//! Cloture supervises AI review loops on pull requests. It computes where each review thread stands and which
//! actions are still legal, and keeps the loop inside bounds that are proved.
//!
//! The rooms, from the inside out; `ARCHITECTURE.md` has the map and says where new things go:
//!
//! - [`domain`]: decides everything, without I/O. Start with `machine`, then `cycle`, `driven` and
//!   `review_loop`.
//! - [`output`]: text made safe for a terminal; threads as a table and as JSON.
//! - [`replies`]: what people mean by a reply.
//! - [`agents`]: everything outside that Cloture runs or calls.
//! - [`github`]: the client; the only room that knows GitHub's types.
//! - [`journal`]: the store; the only room with SQL.
//! - [`reviewers`]: profiles of known bots, and the reviewers that Cloture drives.
//! - [`simulator`]: a GitHub inside the program, for the demo and for tests.
//! - [`config`]: the file as typed becomes a valid configuration.
//! - [`failure`]: why a command failed, in one sentence with an exit status.
//! - [`supervisor`]: drives the loops, and carries out people's decisions.
//! - [`tui`]: the terminal; the only room that knows one.
//! - [`app`]: wiring that commands and the terminal share.
//! - [`commands`]: one module per subcommand.
//! - [`cli`]: the command line's types.
//!
//! Invariants, each held by a test in `tests/it/architecture.rs`:
//!
//! - `domain` imports nothing else of ours, reads no clock, file, socket, environment or process, and never
//!   iterates in random order.
//! - Imports point inward, roughly as the list above goes; `LAYERS` in that test has the exact order.
//! - Only `main` writes to the error stream and decides the exit code.
//! - Only `supervisor::clock::SystemClock` asks for the time of day.
//! - A loop comes into being in one place, and changes only through the functions that the proof walks.
//! - Only `github` knows octocrab, only `journal` sqlx, only `tui` ratatui and crossterm.

pub mod agents;
pub mod app;
pub mod cli;
pub mod commands;
pub mod config;
pub mod domain;
pub mod failure;
pub mod github;
pub mod journal;
pub mod output;
pub mod replies;
pub mod reviewers;
pub mod simulator;
pub mod supervisor;
pub mod tui;
