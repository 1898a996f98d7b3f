//! The command line, as types only.

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Supervises AI review loops on pull requests, inside bounds that are proved.
#[derive(Debug, Parser)]
#[command(name = "cloture", version, propagate_version = true)]
pub struct Cli {
    /// The configuration file to use instead of the one in the platform's configuration folder.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Replay a script of one pull request through the engine and print what became of it, a JSON line per event.
    Simulate {
        /// The script, as JSON Lines; `-` reads standard input.
        trace: PathBuf,
    },
    /// Print the worst case that the configuration in force allows.
    Bound {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
}
