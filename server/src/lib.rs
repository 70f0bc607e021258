//! What does happen.

pub mod simulator;
