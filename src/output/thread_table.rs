//! Threads as a table, for every command that lists them for people.

use crate::domain::finding::Finding;
use crate::domain::machine::ThreadStatus;
use crate::domain::vocabulary::Severity;
use crate::output::sanitize;
use std::fmt;
use std::time::Duration;

/// A longer title would wrap in most terminals. `--json` has the whole title.
const LONGEST_TITLE: usize = 72;

/// A dash if the reviewer gave no severity.
pub(crate) fn severity(finding: &Finding) -> String {
    finding.severity.map_or("–", Severity::name).to_owned()
}

pub(crate) fn place(finding: &Finding, line: Option<u32>, outdated: bool) -> String {
    let place = match (line, outdated) {
        (Some(line), _) => format!("{}:{line}", finding.path),
        (None, true) => format!("{} (outdated)", finding.path),
        (None, false) => finding.path.to_string(),
    };
    sanitize::line(&place).into_owned()
}

pub(crate) fn shortened(title: &str) -> String {
    let title = sanitize::line(title).into_owned();
    match title.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title,
    }
}

pub(crate) fn described(status: ThreadStatus) -> String {
    match status.cause() {
        None => status.name().to_owned(),
        Some(cause) => format!("{} ({})", status.name(), cause.replace('_', " ")),
    }
}

/// Prints columns that are as wide as their longest cell, counted in characters.
pub(crate) fn table<const N: usize>(
    f: &mut fmt::Formatter<'_>,
    head: &[&str; N],
    rows: &[[String; N]],
) -> fmt::Result {
    let mut widths = head.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut print = |cells: &[&str]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str("  ");
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
        }
        writeln!(f, "{}", line.trim_end())
    };
    print(head)?;
    for row in rows {
        print(&row.each_ref().map(String::as_str))?;
    }
    Ok(())
}

/// An age in the unit that people would use.
pub(crate) fn ago(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s ago"),
        seconds @ 60..7200 => format!("{} min ago", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}
