//! How commands print: standard output, text made safe for a terminal and for a post, threads as a table, threads
//! as JSON.

pub mod foreign_text;
pub mod sanitize;
pub mod standard;
pub(crate) mod thread_json;
pub(crate) mod thread_table;
