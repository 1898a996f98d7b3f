//! The proof (T8): a model checker walks the production transition functions with an adversarial reviewer,
//! author, people and faults through every state they can reach.
//!
//! - `thread`: one thread under everything that can be done to it, for every policy in the grid. T5.
//! - `pull_request`: cycles, retries, caps, pushes, lost answers, people and merges. C2, C4, H4 and the bound
//!   on what is spent.
//! - `review_loop`: polls, author rounds and people. L6.
//!
//! The number of states is asserted, because a checker that sees fewer states than it did yesterday has
//! stopped looking somewhere. Each model is also shown to be able to fail.

mod pull_request;
mod review_loop;
mod thread;
