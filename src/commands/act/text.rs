//! The source of a text to post: the command line, a file or standard input.

use crate::failure::Failure;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodySource {
    Given(String),
    File(PathBuf),
    StandardInput,
}

/// An empty text.
impl Default for BodySource {
    fn default() -> Self {
        BodySource::Given(String::new())
    }
}

/// Far more than GitHub accepts: a larger file is a mistake.
const LARGEST: u64 = 1024 * 1024;

impl BodySource {
    pub fn read(&self, standard_input: impl Read) -> Result<String, Failure> {
        match self {
            BodySource::Given(text) => Ok(text.clone()),
            BodySource::File(path) => {
                let file = File::open(path).map_err(|error| unreadable(path.display(), &error))?;
                read(file, path.display())
            }
            BodySource::StandardInput => read(standard_input, "standard input"),
        }
    }
}

fn read(source: impl Read, name: impl fmt::Display) -> Result<String, Failure> {
    let mut text = String::new();
    let size = source.take(LARGEST + 1).read_to_string(&mut text);
    match size {
        Ok(size) if size as u64 > LARGEST => {
            Err(Failure::usage(format_args!("the text in {name} is larger than 1 MiB; post a shorter one")))
        }
        Ok(_) => Ok(text),
        Err(error) => Err(unreadable(name, &error)),
    }
}

fn unreadable(name: impl fmt::Display, error: &io::Error) -> Failure {
    Failure::usage(format_args!("the text in {name} cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_verbatim_or_refused_with_its_source() {
        assert_eq!(BodySource::StandardInput.read("ü\n".as_bytes()).unwrap(), "ü\n");
        assert_eq!(BodySource::Given("-".to_owned()).read(io::empty()).unwrap(), "-");
        let refused = |text: BodySource, input: &[u8]| text.read(input).unwrap_err().to_string();
        assert!(refused(BodySource::StandardInput, b"\xff").contains("standard input cannot be read"));
        assert!(
            refused(BodySource::StandardInput, &vec![b'a'; 1024 * 1024 + 1]).contains("larger than 1 MiB")
        );
        assert!(
            refused(BodySource::File("no/such.md".into()), b"")
                .contains("the text in no/such.md cannot be read")
        );
    }
}
