//! The journal: what was acknowledged is there whatever happens, keys and leases decide between instances, and nothing
//! that is damaged, newer or in use is ever overwritten.
//!
//! Everything runs on SQLite, and once more on PostgreSQL where `CLOTURE_TEST_POSTGRES` has the address of a server that
//! schemas may be made on. Each test has a schema of its own there, and removes it.

mod crash;
mod damage;
mod following;
mod leases;
mod records;
mod server;
mod snapshots;
mod speed;
mod together;
