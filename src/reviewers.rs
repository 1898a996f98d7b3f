//! Reviewers: which accounts are known ones, and the protocol that driven ones speak.

pub mod answer;
pub mod answer_schema;
mod plain;
pub mod profiles;
