//! What does happen.

pub mod config;
pub mod provider;
