//! Standard output as commands write to it. Its errors name it, so that `main` can tell a full disk or a reader
//! that has gone from every other failure.

use std::io::{self, Write};

/// Standard output. Every error is an [`OutputError`] inside an [`io::Error`] of the same kind.
#[derive(Debug)]
pub struct StandardOutput(io::Stdout);

/// Why standard output cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output: {}; {}", reason(.0), advice(.0))]
pub struct OutputError(io::Error);

pub fn standard_output() -> StandardOutput {
    StandardOutput(io::stdout())
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(OutputError::in_io_error)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(OutputError::in_io_error)
    }
}

impl OutputError {
    /// For printing that does not go through [`StandardOutput`].
    pub fn in_io_error(error: io::Error) -> io::Error {
        match error.kind() {
            // The caller writes again.
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, OutputError(error)),
        }
    }

    /// The output error among the causes of an error.
    pub fn among<'a>(
        mut causes: impl Iterator<Item = &'a (dyn std::error::Error + 'static)>,
    ) -> Option<&'a OutputError> {
        causes.find_map(|cause| cause.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref())
    }

    /// Whether the reader of the output has gone, as `head` does.
    pub fn is_closed_pipe(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

/// The system's words, without its number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room there, or send the output somewhere else"
        }
        _ => "send the output somewhere else",
    }
}
