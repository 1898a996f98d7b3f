//! What is made from the definition of the command line: completions for shells, and manual pages.

use crate::cli::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::{self, Write};
use std::path::Path;

/// Prints a script that lets a shell complete commands and options.
pub fn completions(shell: Shell, mut output: impl Write) -> io::Result<()> {
    // The generator cannot be told that nobody reads on, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cloture", &mut script);
    output.write_all(&script)
}

/// Prints the manual page of the program itself.
pub fn page(mut output: impl Write) -> io::Result<()> {
    Man::new(Cli::command()).render(&mut output)
}

/// Writes a page for the program and one for each command into a folder that is there.
pub fn pages_into(folder: &Path) -> io::Result<()> {
    clap_mangen::generate_to(Cli::command(), folder)
}
