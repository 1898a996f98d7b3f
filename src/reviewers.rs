//! Reviewers: which accounts are known ones and what their posts say, and the protocol that driven ones speak.

pub mod answer;
pub mod answer_schema;
mod document;
pub mod profile;
pub mod profiles;
mod reading;
