//! Reviewers: the protocol that driven ones speak.

pub mod answer;
pub mod answer_schema;
