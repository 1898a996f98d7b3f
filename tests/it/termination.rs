//! The proof (T8): a model checker walks the production functions through every state that they can reach,
//! with an adversarial reviewer, author, people and faults.
//!
//! - `thread`: one thread under every event, for every policy in the grid. T5.
//! - `pull_request`: cycles, retries, caps, pushes, lost answers, people and merges. C2, C4, H4 and the bound
//!   on calls.
//! - `review_loop`: polls, author rounds and people. L6.
//!
//! The number of states is asserted: fewer states than before mean that the checker misses something. Each
//! model is also shown to be able to fail.

mod pull_request;
mod review_loop;
mod thread;
