//! The pure core: every decision that Cloture takes.
//!
//! Nothing in this folder reads a clock, a file, a socket or the environment, and nothing depends on the
//! iteration order of a hash map. Time, text and GitHub's answers come in as data, and effects go out as
//! data. The same inputs give the same decision. `tests/it/architecture.rs` checks the imports.

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
