//! How commands print: text made safe for a terminal, threads as a table, threads as JSON.

pub mod sanitize;
pub(crate) mod thread_json;
pub(crate) mod thread_table;
