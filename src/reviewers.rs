//! Reviewers: who is one, what driven ones are asked and how, and how their answers are read.

pub mod adapters;
pub mod answer;
pub mod answer_schema;
pub mod ask;
mod plain;
pub mod profiles;
pub mod prompt;
pub mod request;
