//! Programs and servers outside Cloture: the author's agent, handoff targets, other programs, HTTP servers
//! and notifications, with the files and secrets that they need. GitHub has its own room.

pub mod authors;
pub(crate) mod bounded_file;
pub mod http;
pub mod notify;
pub mod process;
pub mod secret;
pub mod targets;
