//! The entries of `cloture demo`, and of the two hidden commands that play its driven reviewer and its
//! author.

use crate::app::{launch, runtime};
use crate::commands::Outcome;
use crate::config::Config;
use crate::failure::ExitStatus;
use crate::output::standard::standard_output;
use crate::tui::TerminalEnd;
use std::io::{self, Write};
use std::time::Duration;

/// Plays the demo with the person's own keys and theme.
pub fn run(own: &Config) -> anyhow::Result<Outcome> {
    launch::require_terminal("run `cloture demo` in one")?;
    let demo = super::play(own, launch::themes(own), runtime::interrupted());
    let status = match runtime::block_on_one_worker(demo)?? {
        TerminalEnd::Panicked => ExitStatus::Bug,
        TerminalEnd::Quit | TerminalEnd::PlayDemo => ExitStatus::Success,
    };
    Ok(status.into())
}

pub fn run_reviewer(think: Duration) -> anyhow::Result<Outcome> {
    super::review(io::stdin().lock(), standard_output(), think)?;
    Ok(Outcome::SUCCESS)
}

pub fn run_author(simulator: &str, think: Duration) -> anyhow::Result<Outcome> {
    let work = super::work(io::stdin().lock(), simulator, think);
    writeln!(standard_output(), "{}", runtime::block_on_one_worker(work)??)?;
    Ok(Outcome::SUCCESS)
}
