//! The one file of configuration, read and checked as a whole before anything starts.
//!
//! Here live the settings as the rest of the program reads them. How a value is read from TOML is in `section` and `value`,
//! which settings exist in `read`, and what they must be to each other in `check`. What the *stored* ledger demands of the
//! file (its namespace, its identity fields) is for the store to say.

mod check;
mod error;
mod read;
mod section;
mod value;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use counterfoil_ledger::decide::Policy;
use counterfoil_ledger::identity::{AccountName, KindName, Namespace};
use counterfoil_ledger::kind::Kind;
use jiff::tz::TimeZone;
use reqwest::Url;
use secrecy::SecretString;

pub use error::{ConfigError, ConfigErrors, Place};
pub use value::{DatabaseUrl, Schedule};

/// Everything that `counterfoil.toml` says. Its debug form shows no secret.
#[derive(Debug, Clone)]
pub struct Config {
    /// The ledger's own stable name, fixed at first start.
    pub namespace: Namespace,
    pub server: Server,
    pub accounts: BTreeMap<AccountName, Account>,
    pub kinds: BTreeMap<KindName, Kind>,
    pub daemon: Daemon,
}

/// Where the program listens and keeps its ledger.
#[derive(Debug, Clone)]
pub struct Server {
    pub listen: SocketAddr,
    pub database: DatabaseUrl,
    /// How the outside reaches the desk, for links in notices.
    pub public_url: Option<Url>,
    /// Of the desk's times and of the cron expressions.
    pub time_zone: TimeZone,
}

/// A provider that this version has an adapter for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    Stripe,
}

/// One account at a provider.
#[derive(Debug, Clone)]
pub struct Account {
    pub provider: ProviderKind,
    /// `https`, or `http` to this very machine; without a slash at its end.
    pub base_url: String,
    pub secret_key: SecretString,
    /// With which the provider signs its webhooks; without one, none is believed.
    pub webhook_secret: Option<SecretString>,
    pub connect_timeout: Duration,
    /// Requests per second to the account, reads and writes together.
    pub rate_limit_per_s: u32,
    pub policy: Policy,
}

/// The daemon's bell and its patience. What is due when stands in the table.
#[derive(Debug, Clone)]
pub struct Daemon {
    pub reconcile: Schedule,
    pub sweep_orphans: Schedule,
    /// How long a claimed row belongs to its worker.
    pub lease: Duration,
}

/// Reads the file and checks it as a whole. `COUNTERFOIL_LISTEN`, `COUNTERFOIL_DATABASE` and `COUNTERFOIL_DATABASE_FILE` win over
/// it. Paths of secrets are taken as they stand, from the working directory.
///
/// # Errors
/// Every error that can be found at once, each with its line.
pub fn load(path: &Path) -> Result<Config, ConfigErrors> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&name, &text, &|variable| std::env::var(variable).ok()),
        Err(error) => Err(ConfigErrors::unreadable(name, &error)),
    }
}

/// Checks the text of a file; `environment` answers for its variables.
///
/// # Errors
/// As [`load`].
pub fn parse(
    file_name: &str,
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Config, ConfigErrors> {
    let (config, errors) = read::read(text, environment);
    match config {
        Some(config) if errors.is_empty() => Ok(config),
        Some(_) | None => Err(ConfigErrors::new(file_name, errors)),
    }
}

#[cfg(test)]
mod tests;
