//! **What does happen.** The binary `counterfoil`: its stores, providers, work and HTTP.

pub mod simulator;
pub mod store;
