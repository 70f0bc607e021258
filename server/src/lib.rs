//! What does happen.

pub mod config;
