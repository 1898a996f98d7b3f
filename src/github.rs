//! The GitHub client. No other module knows GitHub's types.
//!
//! In reading order: [`host`] has the addresses of an API and [`token`] finds the token; [`client`] sends one
//! call and reduces every failure to a kind in [`error`]; [`read`] reads one pull request and [`poll`]
//! watches many; [`diff`] compares two commits; [`mod@write`] describes a write as data and [`writer`]
//! carries it out exactly once; [`discover`] finds pull requests, and [`permission`] asks what the token may
//! do.
//!
//! What is absent: no other module parses GitHub's JSON, and no write whose answer was lost is sent again
//! before the writer has looked for its effect.

pub mod call;
pub mod client;
pub mod cost;
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
mod reactions;
mod wire;

pub use call::{ApiReply, Call, GraphqlError, Transport};
pub use client::{Client, CredentialSender, Credentials, Timeouts};
pub use cost::CallCost;
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
