//! Everything outside Cloture that it runs or calls: the author's agent, handoff targets, other programs, HTTP servers,
//! notifications, and the secrets these need.

pub mod authors;
pub mod http;
pub mod notify;
pub mod process;
pub(crate) mod secret;
pub mod targets;
