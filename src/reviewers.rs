//! Reviewers: recognising bots and reading their posts, and asking the reviewers that Cloture drives.
//!
//! Nothing here writes to GitHub or to the journal: the supervisor does.

pub mod adapters;
pub mod answer;
pub mod answer_schema;
pub mod ask;
mod document;
pub(crate) mod object;
pub mod pattern;
pub mod profile;
pub mod profiles;
pub mod prompt;
mod reading;
pub mod request;
