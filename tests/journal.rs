//! The journal: what was acknowledged is there whatever happens, keys and leases decide between instances, and nothing
//! that is damaged, newer or in use is ever overwritten.
//!
//! Everything runs on SQLite, and once more on PostgreSQL where `CLOTURE_TEST_POSTGRES` has the address of a server that
//! schemas may be made on. Each test has a schema of its own there, and removes it.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

#[path = "journal/places.rs"]
#[macro_use]
mod places;

#[path = "journal/crash.rs"]
mod crash;
#[path = "journal/damage.rs"]
mod damage;
#[path = "journal/following.rs"]
mod following;
#[path = "journal/leases.rs"]
mod leases;
#[path = "journal/records.rs"]
mod records;
#[path = "journal/server.rs"]
mod server;
#[path = "journal/snapshots.rs"]
mod snapshots;
#[path = "journal/speed.rs"]
mod speed;
#[path = "journal/together.rs"]
mod together;
