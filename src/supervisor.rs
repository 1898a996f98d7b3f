//! Drives the loops: receive, decide (`domain`), record (`journal`), act, record.

pub mod due;
pub mod fact;
pub mod history;
pub mod marks;
pub mod standing;
