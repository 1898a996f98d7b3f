//! What can be wrong with a configuration, and how it is shown.

use super::check::Problem;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Why there is no configuration to run with. Its text is complete, source line included.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: there is no such file, but {named_by} names it as the configuration", file.display())]
    Missing { file: PathBuf, named_by: &'static str },
    #[error("{}: this is a folder, not a configuration file", file.display())]
    Folder { file: PathBuf },
    #[error("{}: the configuration cannot be read: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: io::Error },
    /// `left_off` are the ones beyond the first hundred: such a file was never a configuration.
    #[error("{}", shown(file, complaints, *left_off))]
    Invalid { file: PathBuf, complaints: Vec<Complaint>, left_off: usize },
}

const MOST_COMPLAINTS: usize = 100;

impl ConfigError {
    pub(super) fn invalid(file: &Path, content: &[u8], faults: Vec<ConfigFault>) -> ConfigError {
        let left_off = faults.len().saturating_sub(MOST_COMPLAINTS);
        let first = faults.into_iter().take(MOST_COMPLAINTS);
        let complaints = first.map(|fault| Complaint::about(content, fault)).collect();
        ConfigError::Invalid { file: file.to_owned(), complaints, left_off }
    }
}

/// One thing that is wrong in a file, and where. Its text is all but the file's name, which stands before it.
///
/// ```text
/// 7:16: policy.repeat_limit: expected a whole number from 1 to 1000000000, found 0
///   |
/// 7 | repeat_limit = 0
///   |                ^
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Counted from 1, as editors do.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// The key, what was expected and what was found.
    pub message: String,
    /// The source line, or as much of it as is shown.
    excerpt: String,
    /// The characters of the excerpt before the underlined ones.
    indent: usize,
    underlined: usize,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Complaint { line, column, message, excerpt, indent, underlined } = self;
        let number = line.to_string();
        let margin = number.len();
        writeln!(f, "{line}:{column}: {message}")?;
        writeln!(f, "{:margin$} |", "")?;
        writeln!(f, "{}", format!("{number} | {excerpt}").trim_end())?;
        write!(f, "{:margin$} | {:indent$}{}", "", "", "^".repeat(*underlined))
    }
}

/// Something wrong at a place that is still counted in bytes.
#[derive(Debug)]
pub(super) struct ConfigFault {
    pub(super) span: Range<usize>,
    pub(super) key: Option<String>,
    message: String,
}

impl ConfigFault {
    pub(super) fn of(span: Range<usize>, problem: &Problem) -> ConfigFault {
        ConfigFault { span, key: Some(problem.key.clone()), message: problem.to_string() }
    }

    /// Whether the line may not be shown: the address of a webhook may have a password in it, or be one.
    fn is_about_a_secret(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.ends_with("].url"))
    }

    /// A fault in the text itself, where no key is in sight.
    pub(super) fn unnamed(span: Range<usize>, message: String) -> ConfigFault {
        ConfigFault { span, key: None, message }
    }
}

/// As much of a source line as is shown, and as much of that as may stand before the underlined part.
const SHOWN_CHARACTERS: usize = 120;
const SHOWN_BEFORE: usize = 60;

impl Complaint {
    /// Counts in bytes up to the line and in characters within it, so that content which is not text has
    /// places, too.
    fn about(content: &[u8], fault: ConfigFault) -> Complaint {
        let is_secret = fault.is_about_a_secret();
        let ConfigFault { span, message, .. } = fault;
        let (before, rest) = content.split_at(span.start.min(content.len()));
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line_length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let marked_length = span.len().min(line_length);
        let lead = displayed(&before[line_start..]);
        let marked = if is_secret { 1 } else { displayed(&rest[..marked_length]).chars().count() };
        let skipped = lead.chars().count().saturating_sub(SHOWN_BEFORE);
        let indent = lead.chars().count() - skipped;
        let shown = if is_secret { "…".to_owned() } else { displayed(&rest[..line_length]) };
        let line = without_passwords(&(lead + &shown));
        Complaint {
            line: before.split(|byte| *byte == b'\n').count(),
            column: skipped + indent + 1,
            message: without_passwords(&message),
            excerpt: line.chars().skip(skipped).take(SHOWN_CHARACTERS).collect(),
            indent,
            underlined: marked.clamp(1, SHOWN_CHARACTERS - indent),
        }
    }
}

/// A piece of a line, with nothing in it that a terminal obeys, so that what is shown is what is there and
/// the underline stands under it.
fn displayed(piece: &[u8]) -> String {
    let piece = String::from_utf8_lossy(piece);
    let visible = |c: char| match c {
        '\t' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    piece.trim_start_matches('\u{feff}').trim_end_matches('\r').chars().map(visible).collect()
}

/// A text with stars for the passwords of addresses in it, as many as they have characters, so that the underline stays
/// where it belongs. Whatever is wrong with a line, it may be the one with the journal's address.
fn without_passwords(text: &str) -> String {
    let mut pieces = text.split("://");
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(['"', '\'', ' ']).unwrap_or(piece.len());
        let (address, after) = piece.split_at(end);
        shown.push_str("://");
        shown.push_str(&without_password(address));
        shown.push_str(after);
    }
    shown
}

/// What stands behind an address' `://`: the password is between the user and the place, or a parameter.
fn without_password(address: &str) -> String {
    let stars = |text: &str| "*".repeat(text.chars().count());
    let account =
        address.rsplit_once('@').and_then(|(account, place)| Some((account.split_once(':')?, place)));
    let address = match account {
        Some(((user, password), place)) => format!("{user}:{}@{place}", stars(password)),
        None => address.to_owned(),
    };
    let parameters =
        address.split_inclusive(['?', '&']).map(|parameter| match parameter.strip_prefix("password=") {
            Some(password) => format!("password={}", stars(password)),
            None => parameter.to_owned(),
        });
    parameters.collect()
}

fn shown(file: &Path, complaints: &[Complaint], left_off: usize) -> String {
    let file = file.display();
    let mut all: Vec<String> = complaints.iter().map(|complaint| format!("{file}:{complaint}")).collect();
    if left_off > 0 {
        all.push(format!("{file}: and {left_off} more"));
    }
    all.join("\n\n")
}
