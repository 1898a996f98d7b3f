//! Checking `[journal]`: where what happened is kept.

use super::check::{Checks, Problem, is_one_line};
use super::{Journal, Value, typed};
use crate::journal::Address;

const ADDRESS: &str =
    "the address of a PostgreSQL database, such as \"postgres://cloture@db.example.com/cloture\"";

impl typed::Journal {
    /// What is wrong is said without the text itself, in which a password may be.
    pub(super) fn validated(&self) -> Result<Journal, Vec<Problem>> {
        let typed::Journal { url } = self;
        let mut checks = Checks::of("journal");
        let server = match url {
            None => None,
            Some(Value::Text(text)) if is_one_line(text) => match Address::server(text.trim()) {
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
        checks.finish(Journal { server })
    }
}
