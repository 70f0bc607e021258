//! What every store must do, tried on each: the embedded one, PostgreSQL, and PostgreSQL behind pgbouncer in transaction mode.
//!
//! Each test is written against `dyn Store` and run by [`on_every_store!`]. What only one engine can go through is in `sqlite` and
//! `postgres`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the parts of a test program are modules of each other")]

mod bench;
mod build;
mod proxy;
#[allow(dead_code, reason = "shared with the whole-program tests; each uses its part")]
#[path = "../../../tests/src/postgres.rs"]
mod server;

mod append_only;
mod binding;
mod daemon;
mod effects;
mod leases;
mod listing;
mod orders;
mod postgres;
mod recording;
mod schema;
mod sqlite;
mod writing;
