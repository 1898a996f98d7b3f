//! Reviewers: who is one and what its posts say, what driven ones are asked and how, and how their answers are read.

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
