//! The simulator over real sockets: what it promises to those who test against it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod bench;
mod connections;
mod control;
mod faults;
mod idempotency;
mod lists;
mod refunds;
mod webhooks;
