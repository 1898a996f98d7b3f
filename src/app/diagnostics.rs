//! The log file for bug reports: what the program did, when, and how long it took.
//!
//! What is absent: events of dependencies, because one of them might print a header with the token; and, at
//! the default level, the text of comments, reviews and diffs.

use crate::failure::Failure;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// The variable that holds the filter, in the syntax of `tracing-subscriber`: `debug`, or
/// `cloture::github=trace`.
pub const FILTER_VARIABLE: &str = "CLOTURE_LOG";
const DEFAULT_FILTER: &str = "info";

/// The file to log to. `--log FILE` names it; if only the filter is set, it is `cloture.log` in the state
/// folder.
pub fn log_file(
    named: Option<&Path>,
    filter: Option<&str>,
    state_folder: Option<PathBuf>,
) -> Option<PathBuf> {
    let named = named.map(Path::to_owned);
    named.or_else(|| filter.and(state_folder).map(|folder| folder.join("cloture.log")))
}

/// Starts the log. Only its owner can read the file, and later runs append to it.
pub fn start(file: &Path, filter: Option<&str>) -> Result<(), Failure> {
    let filter = filter.map(str::trim).filter(|filter| !filter.is_empty()).unwrap_or(DEFAULT_FILTER);
    let levels = EnvFilter::try_new(filter).map_err(|error| {
        Failure::usage(format_args!(
            "{FILTER_VARIABLE} is `{filter}`, which is not a log filter: {error}; try `debug` or \
             `cloture::github=debug`"
        ))
    })?;
    let unwritable = |error| {
        Failure::usage(format_args!(
            "cannot write the log to {}: {error}; name another --log FILE",
            file.display()
        ))
    };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let log = options.open(file).map_err(unwritable)?;
    let own_events = filter_fn(|metadata| metadata.target().starts_with("cloture"));
    let lines = fmt::layer()
        .with_writer(Mutex::new(log))
        .with_ansi(false)
        .with_filter(levels)
        .with_filter(own_events);
    // This fails only if the process logs already. Then the first log goes on.
    let _already_started = tracing_subscriber::registry().with(lines).try_init();
    Ok(())
}
