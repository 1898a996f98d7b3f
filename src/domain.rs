//! The pure core: every decision Cloture takes, and nothing that could take one differently twice.
//!
//! Nothing below this folder reads a clock, a file, a socket or the environment, and nothing iterates in an
//! order that is not its own. Time, text and the forge's answers come in as data; what is to be done goes out
//! as data. `tests/it/architecture.rs` holds that.

pub mod actionable;
pub mod bounds;
pub mod cycle;
pub mod diff;
pub mod driven;
pub mod duplicates;
pub mod finding;
pub mod handoff;
pub mod machine;
pub mod observed;
pub mod place;
pub mod policy;
pub mod post;
pub mod re_review;
pub mod repeats;
pub mod review_loop;
pub mod similarity;
pub mod snapshot;
pub mod verdict;
pub mod vocabulary;
