//! Checks `[journal]`, which says where the journal is.

use super::check::{Checks, Problem, is_one_line};
use super::{JournalConfig, TypedValue, typed};
use crate::journal::JournalAddress;

const ADDRESS: &str =
    "the address of a PostgreSQL database, such as \"postgres://cloture@db.example.com/cloture\"";

impl typed::TypedJournal {
    /// The messages do not show the address, because it may have a password.
    pub(super) fn validated(&self) -> Result<JournalConfig, Vec<Problem>> {
        let typed::TypedJournal { url } = self;
        let mut checks = Checks::of("journal");
        let server = match url {
            None => None,
            Some(TypedValue::Text(text)) if is_one_line(text) => match JournalAddress::server(text.trim()) {
                Ok(server) => Some(server),
                Err(error) => {
                    checks.refuse("url", ADDRESS, error.to_string());
                    None
                }
            },
            Some(_) => {
                checks.refuse("url", ADDRESS, "a value that is not one line of text");
                None
            }
        };
        checks.finish(JournalConfig { server })
    }
}
