//! The entry of every command that writes to GitHub: `act`, `pr`, and the `queue` commands that change
//! something.

use super::{ActRequest, act, consent};
use crate::app::invocation::Invocation;
use crate::commands::Outcome;
use crate::failure::Failure;
use crate::output::standard::standard_output;
use std::io::{self, IsTerminal, Write};

/// The switches of one writing command.
#[derive(Debug, Clone, Copy)]
pub struct WriteSwitches {
    pub dry_run: bool,
    pub yes: bool,
    pub json: bool,
}

/// Carries a request out. `request` may read a text from standard input, so consent is settled before it is
/// called. The question goes to `question_output`, because standard output belongs to the report.
pub fn run(
    invocation: &Invocation,
    switches: WriteSwitches,
    request: impl FnOnce() -> Result<ActRequest, Failure>,
    mut question_output: impl Write,
) -> anyhow::Result<Outcome> {
    let flags = consent::ConsentFlags {
        dry_run: switches.dry_run,
        yes: switches.yes,
        read_only: invocation.read_only,
        is_terminal: io::stdin().is_terminal(),
    };
    let mut ask = |sentences: &[String]| consent::ask(sentences, io::stdin().lock(), &mut question_output);
    let consent = flags.consent(&mut ask)?;
    let request = request()?;
    let report = invocation.with_context(async |context| {
        act(&request, &context.settings, &context.profiles, context.state_folder, consent).await
    })?;
    let text = if switches.json { format!("{}\n", report.to_json()?) } else { report.to_string() };
    write!(standard_output(), "{text}")?;
    Ok(Outcome::of(report.failures()))
}
