//! Whether it may be written: nothing is, unless somebody agreed to exactly that (U3).

use crate::failure::{Failure, FailureKind};
use crate::output::sanitize;
use std::fmt;
use std::io::{self, BufRead, Write};

/// How the caller stands to what is about to be written.
pub enum Consent<'a> {
    /// Only show what would be sent.
    Rehearsal,
    /// It was agreed to beforehand.
    Given,
    /// Shown these sentences, somebody says yes or no.
    Ask(&'a mut dyn FnMut(&[String]) -> io::Result<bool>),
}

impl fmt::Debug for Consent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Consent::Rehearsal => "Rehearsal",
            Consent::Given => "Given",
            Consent::Ask(_) => "Ask",
        })
    }
}

/// What the command line and the terminal say about consent.
#[expect(clippy::struct_excessive_bools, reason = "independent switches, as they were typed")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentFlags {
    pub dry_run: bool,
    pub yes: bool,
    pub read_only: bool,
    /// Whether there is somebody who could be asked.
    pub is_terminal: bool,
}

impl ConsentFlags {
    /// The consent there is or can be got, settled before anything is read or sent.
    pub fn consent(self, ask: &mut dyn FnMut(&[String]) -> io::Result<bool>) -> Result<Consent<'_>, Failure> {
        match self {
            ConsentFlags { dry_run: true, .. } => Ok(Consent::Rehearsal),
            ConsentFlags { read_only: true, .. } => Err(Failure::usage(
                "nothing is written under --read-only; leave it out to write, or pass --dry-run to see what would be",
            )),
            ConsentFlags { yes: true, .. } => Ok(Consent::Given),
            ConsentFlags { is_terminal: true, .. } => Ok(Consent::Ask(ask)),
            ConsentFlags { .. } => Err(Failure::usage(
                "nothing was written: nobody can be asked, because standard input is no terminal; pass --yes to agree \
                 beforehand, or --dry-run to see what would be sent",
            )),
        }
    }
}

/// Shows what will happen and reads the answer. Anything but a clear yes is a no.
pub fn ask(sentences: &[String], mut input: impl BufRead, mut output: impl Write) -> io::Result<bool> {
    for sentence in sentences {
        writeln!(output, "{}", sanitize::line(sentence))?;
    }
    write!(output, "Do it? [y/N] ")?;
    output.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    if !answer.ends_with('\n') {
        // The answer was no line, so what follows would stand beside the question.
        writeln!(output)?;
    }
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Goes on only after a yes.
pub(super) fn agreed(
    ask: &mut dyn FnMut(&[String]) -> io::Result<bool>,
    sentences: &[String],
) -> Result<(), Failure> {
    if ask(sentences).map_err(|error| Failure::usage(unheard(&error)))? {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Stopped, "it was not agreed to, so nothing was written"))
}

fn unheard(error: &io::Error) -> String {
    format!(
        "nothing was written, because the answer could not be read ({error}); pass --yes to agree beforehand"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        let answered = |text: &str| {
            let mut shown = Vec::new();
            let agreed = ask(&["Close \u{1b}[2Jit.".to_owned()], text.as_bytes(), &mut shown).unwrap();
            (agreed, String::from_utf8(shown).unwrap())
        };
        for yes in ["y\n", "Y\n", "yes\r\n", " YES \n"] {
            assert_eq!(answered(yes), (true, "Close [2Jit.\nDo it? [y/N] ".to_owned()), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "no\n", "yy\n", "ye", "sure\n"] {
            assert!(!answered(no).0, "{no:?}");
        }
    }

    #[test]
    fn a_rehearsal_is_always_allowed_and_read_only_beats_yes() {
        let mut ask = |_: &[String]| Ok(false);
        for read_only in [false, true] {
            for yes in [false, true] {
                for is_terminal in [false, true] {
                    let manner = ConsentFlags { dry_run: true, yes, read_only, is_terminal };
                    assert!(matches!(manner.consent(&mut ask), Ok(Consent::Rehearsal)));
                    let consent = ConsentFlags { dry_run: false, ..manner }.consent(&mut ask);
                    let fits = match consent {
                        Ok(Consent::Rehearsal) => false,
                        Ok(Consent::Given) => yes && !read_only,
                        Ok(Consent::Ask(_)) => is_terminal && !yes && !read_only,
                        Err(_) => read_only || !(yes || is_terminal),
                    };
                    assert!(fits, "{manner:?}");
                }
            }
        }
    }
}
