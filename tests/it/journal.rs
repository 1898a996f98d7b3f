//! The journal: an acknowledged record is never lost, keys and leases decide between instances, and a
//! damaged, newer or used file is never overwritten.
//!
//! Every test runs on SQLite. With the address of a PostgreSQL server in `CLOTURE_TEST_POSTGRES` it runs
//! there as well, in a schema of its own that it removes.

mod crash;
mod damage;
mod following;
mod leases;
mod records;
mod repositories;
mod server;
mod snapshots;
mod speed;
mod together;
