//! **What does happen.** The binary `counterfoil`: its stores, providers, work and HTTP.

pub mod cli;
pub mod config;
pub mod http;
pub mod provider;
pub mod simulator;
pub mod store;
pub mod work;
