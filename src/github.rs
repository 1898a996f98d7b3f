//! GitHub, and the only place that knows its types.
//!
//! In reading order: [`host`] says where the API is and [`token`] who we are there; [`client`] sends one call
//! and turns every way it can go wrong into one of the few kinds in [`error`]; [`read`] reads a pull request to
//! its last page and [`diff`] what changed between two commits; [`poll`] watches many of them for few points; [`mod@write`] says what could be written, as data,
//! and [`writer`] writes it exactly once; [`discover`] finds out which pull requests are meant, and [`permission`] what
//! may be done there.
//!
//! What is absent: no other module deserialises GitHub's JSON, and nothing here repeats a call that may already
//! have changed something without looking first whether it did.

pub mod call;
pub mod client;
pub mod diff;
pub mod discover;
pub mod documents;
pub mod error;
pub mod evidence;
pub mod host;
pub mod identity;
pub mod limits;
pub mod permission;
pub mod poll;
pub mod process;
pub mod read;
pub mod token;
pub mod write;
pub mod writer;

mod convert;
mod wire;

pub use call::{ApiReply, Call, GraphqlError, Transport};
pub use client::{Client, CredentialSender, Credentials, Timeouts};
pub use discover::{PullRequestAddress, PullRequestRef};
pub use error::{Error, LimitKind, RequestSent, RetryAfter};
pub use host::Host;
pub use identity::Identity;
pub use limits::RateBudget;
pub use poll::Poller;
pub use read::Reader;
pub use token::{Token, TokenSource};
pub use write::Write;
pub use writer::{WriteOutcome, Writer};
