//! Cloture supervises AI review loops on pull requests: it works out where each review thread stands and which
//! actions are still legal, and keeps the whole loop inside bounds that are proved.
//!
//! The crate in reading order:
//!
//! - [`domain`]: every decision, pure. Start with `machine` (one thread), then `cycle` (one reviewer's look),
//!   `pull_request` (the fold of everything that happens to one) and `review_loop` (waiting and stopping).
//! - [`process`]: running other people's programs inside limits; `secret`: a file that only its owner can read.
//! - [`http`]: one request to a server that is not GitHub.
//! - [`reviewers`]: which accounts are known reviewers, what driven ones are asked for and how their answers are read.
//! - [`authors`]: how the agent that fixes findings is sent to work, and what it is given.
//! - [`config`]: what was typed becomes what is valid.
//! - [`github`]: reading, polling and writing the real thing; the only place that knows GitHub's types.
//! - [`journal`]: everything that happened, kept in a file or on a server; the only place with SQL.
//! - [`simulator`]: a GitHub inside the program, for the demo and for tests.
//! - `object`: a helper for whoever reads JSON from others: answers, posts and traces.
//! - [`clean`]: the forge's text, made safe for a terminal; `thread_line`: a thread as JSON; `columns`: threads as a table.
//! - [`forge`]: which GitHub, as whom, about which pull requests; [`failure`]: why not, with an exit code.
//! - [`supervisor`]: drives the loops; `session`: what a command needs for that; [`watch`]: one loop as lines.
//! - [`people`]: what a person's act on a thread means and how it is carried out; [`inbox`] and [`queue`]: what waits for
//!   people, and what people queued.
//! - [`targets`]: how a task is sent to a coding agent; [`notify`]: how a person hears that something waits.
//! - [`status`], [`doctor`] and [`review`]: the commands that look at GitHub; [`act`]: those that write to it, once and only
//!   when somebody agreed; [`history`]: the one that prints the journal; [`simulate`] and [`bound`]: those that show the
//!   engine from outside.
//! - [`tui`]: the terminal, the only place that knows one; [`launch`]: what comes up behind its first frame; [`demo`]: the
//!   same over the simulator.
//! - [`classify`] and [`roster`]: what is made of a post, and by which profiles.
//! - [`cli`]: the command line; [`manual`]: its man page and completions; `main` runs it, prints an error once and maps it to an exit code.
//!
//! Invariants, each held by a test in `tests/it/architecture.rs`:
//!
//! - `domain` imports nothing else of ours, and reads no clock, file, socket, environment or process; nothing in
//!   it iterates in random order.
//! - Arrows point inward: nothing below imports `cli`.
//! - Only `main` prints to the terminal's error stream and decides the exit code.

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
