//! Shell completions and manual pages, generated from the command line's definition.

use crate::cli::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, Write};
use std::path::Path;

/// Prints a completion script for a shell.
pub fn completions(shell: Shell, mut output: impl Write) -> io::Result<()> {
    // The generator panics when a pipe is closed, so it writes to memory first.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cloture", &mut script);
    output.write_all(&script)
}

/// Prints the manual page of the program itself.
pub fn page(mut output: impl Write) -> io::Result<()> {
    Man::new(Cli::command()).render(&mut output)
}

/// Writes a page for the program and one for each command into an existing folder.
pub fn pages_into(folder: &Path) -> io::Result<()> {
    clap_mangen::generate_to(Cli::command(), folder)
}
