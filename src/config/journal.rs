//! Checking `[journal]`: where what happened is kept.

use super::check::{Checks, Problem, is_one_line};
use super::{JournalConfig, TypedValue, typed};
use crate::journal::JournalAddress;

const ADDRESS: &str =
    "the address of a PostgreSQL database, such as \"postgres://cloture@db.example.com/cloture\"";

impl typed::TypedJournal {
    /// What is wrong is said without the text itself, in which a password may be.
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
                checks.refuse("url", ADDRESS, "something else");
                None
            }
        };
        checks.finish(JournalConfig { server })
    }
}
