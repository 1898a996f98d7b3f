//! Consent: nothing is written unless a person agreed to exactly that (U3).

use crate::failure::{Failure, FailureKind};
use crate::output::sanitize;
use std::fmt;
use std::io::{self, BufRead, Write};

/// The consent for the writes of one command.
pub enum Consent<'a> {
    /// Only show what would be sent.
    Rehearsal,
    /// The user agreed beforehand, with `--yes`.
    Given,
    /// Ask the user, who sees these sentences.
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

/// The flags and the terminal, as far as they concern consent.
#[expect(clippy::struct_excessive_bools, reason = "independent switches, as the user typed them")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentFlags {
    pub dry_run: bool,
    pub yes: bool,
    pub read_only: bool,
    /// Whether there is a user to ask.
    pub is_terminal: bool,
}

impl ConsentFlags {
    /// Decides how to get consent, before anything is read or sent.
    pub fn consent(self, ask: &mut dyn FnMut(&[String]) -> io::Result<bool>) -> Result<Consent<'_>, Failure> {
        match self {
            ConsentFlags { dry_run: true, .. } => Ok(Consent::Rehearsal),
            ConsentFlags { read_only: true, .. } => Err(Failure::usage(
                "nothing is written with --read-only; leave it out to write, or pass --dry-run to see what \
                 would be sent",
            )),
            ConsentFlags { yes: true, .. } => Ok(Consent::Given),
            ConsentFlags { is_terminal: true, .. } => Ok(Consent::Ask(ask)),
            ConsentFlags { .. } => Err(Failure::usage(
                "nothing was written: standard input is no terminal, so Cloture cannot ask you; pass --yes \
                 to agree beforehand, or --dry-run to see what would be sent",
            )),
        }
    }
}

/// Shows the sentences and reads the answer. Anything but a clear yes is a no.
pub fn ask(sentences: &[String], mut input: impl BufRead, mut output: impl Write) -> io::Result<bool> {
    for sentence in sentences {
        writeln!(output, "{}", sanitize::line(sentence))?;
    }
    write!(output, "Do it? [y/N] ")?;
    output.flush()?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    if !answer.ends_with('\n') {
        // The input ended without a newline, so the next output would continue the question's line.
        writeln!(output)?;
    }
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// An error unless the answer is yes.
pub(super) fn get_consent(
    ask: &mut dyn FnMut(&[String]) -> io::Result<bool>,
    sentences: &[String],
) -> Result<(), Failure> {
    if ask(sentences).map_err(|error| Failure::usage(unreadable_answer(&error)))? {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Stopped, "you did not agree, so nothing was written"))
}

fn unreadable_answer(error: &io::Error) -> String {
    format!(
        "nothing was written, because your answer could not be read ({error}); pass --yes to agree beforehand"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
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
