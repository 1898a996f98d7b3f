//! The wiring that commands and the terminal share: which GitHub, which pull requests, which journal, and how
//! the terminal starts.

pub mod connection;
pub mod diagnostics;
pub mod invocation;
pub mod launch;
pub mod runtime;
pub mod selection;
pub mod session;
