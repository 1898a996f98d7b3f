//! The entry of `cloture simulate`: opens the trace and replays it to standard output.

use super::{SimulateError, simulate};
use crate::commands::Outcome;
use crate::output::standard::standard_output;
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// Replays the trace in a file; `-` stands for standard input.
pub fn run(trace: &Path) -> anyhow::Result<Outcome> {
    let output = standard_output();
    if trace.as_os_str() == "-" {
        simulate(io::stdin().lock(), output)?;
    } else {
        let file =
            File::open(trace).map_err(SimulateError::Read).with_context(|| trace.display().to_string())?;
        simulate(BufReader::new(file), output)?;
    }
    Ok(Outcome::SUCCESS)
}
