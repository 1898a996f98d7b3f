//! Errors in the configuration, with their lines of the file.

use super::check::Problem;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Why the configuration cannot be used. The text includes the lines of the file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: this configuration file, which {named_by} names, does not exist", file.display())]
    Missing { file: PathBuf, named_by: &'static str },
    #[error("{}: this is a folder, not a configuration file; name the file in it", file.display())]
    Folder { file: PathBuf },
    #[error("{}: Cloture cannot read the configuration: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: io::Error },
    /// `left_off` counts the complaints after the first hundred.
    #[error("{}", render(file, complaints, *left_off))]
    Invalid { file: PathBuf, complaints: Vec<Complaint>, left_off: usize },
}

const MOST_COMPLAINTS: usize = 100;

impl ConfigError {
    pub(super) fn invalid(file: &Path, content: &[u8], faults: Vec<ConfigFault>) -> ConfigError {
        let left_off = faults.len().saturating_sub(MOST_COMPLAINTS);
        let first = faults.into_iter().take(MOST_COMPLAINTS);
        let complaints = first.map(|fault| Complaint::of_fault(content, fault)).collect();
        ConfigError::Invalid { file: file.to_owned(), complaints, left_off }
    }
}

/// One problem in a file and its place. The text lacks the name of the file, which comes before it:
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
    /// The shown part of the line.
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

/// A problem at a range of bytes.
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

    /// Whether to hide the value: the address of a webhook may contain a secret.
    fn is_about_a_secret(&self) -> bool {
        self.key.as_ref().is_some_and(|key| key.ends_with("].url"))
    }

    /// A problem without a key.
    pub(super) fn unnamed(span: Range<usize>, message: String) -> ConfigFault {
        ConfigFault { span, key: None, message }
    }
}

/// Characters of a line that are shown, and of these, at most so many before the underlined part.
const SHOWN_CHARACTERS: usize = 120;
const SHOWN_BEFORE: usize = 60;

impl Complaint {
    /// Counts lines in bytes and columns in characters, so that it works for content that is not UTF-8.
    fn of_fault(content: &[u8], fault: ConfigFault) -> Complaint {
        let is_secret = fault.is_about_a_secret();
        let ConfigFault { span, message, .. } = fault;
        let (before, rest) = content.split_at(span.start.min(content.len()));
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line_length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let marked_length = span.len().min(line_length);
        let lead = printable(&before[line_start..]);
        let marked = if is_secret { 1 } else { printable(&rest[..marked_length]).chars().count() };
        let skipped = lead.chars().count().saturating_sub(SHOWN_BEFORE);
        let indent = lead.chars().count() - skipped;
        let shown = if is_secret { "…".to_owned() } else { printable(&rest[..line_length]) };
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

/// A piece of a line with control characters replaced, so that the underline has the right place.
fn printable(piece: &[u8]) -> String {
    let piece = String::from_utf8_lossy(piece);
    let visible = |c: char| match c {
        '\t' => ' ',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    piece.trim_start_matches('\u{feff}').trim_end_matches('\r').chars().map(visible).collect()
}

/// Replaces each character of a password in an address with a star, so that the underline keeps its place.
/// Any line can be the one with the journal's address.
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

/// The address after `://`. The password follows the user name, or is a parameter.
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

fn render(file: &Path, complaints: &[Complaint], left_off: usize) -> String {
    let file = file.display();
    let mut all: Vec<String> = complaints.iter().map(|complaint| format!("{file}:{complaint}")).collect();
    if left_off > 0 {
        all.push(format!("{file}: and {left_off} more problems"));
    }
    all.join("\n\n")
}
