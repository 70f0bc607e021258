//! What is wrong with a configuration, and where.

use std::fmt;

/// Where a wrong value stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The file itself.
    File,
    /// A line of it, from 1.
    Line(usize),
    /// An environment variable.
    Environment,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigError {
    pub place: Place,
    /// The whole name of the setting: `accounts.stripe-main.key_window`. Empty: the text isn't TOML there.
    pub key: String,
    /// One sentence for the engineer who wrote the file. It never repeats a secret.
    pub problem: String,
}

/// All that is wrong, in the order of the file. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    file_name: String,
    errors: Vec<ConfigError>,
}

impl ConfigErrors {
    pub(super) fn new(file_name: &str, mut errors: Vec<ConfigError>) -> Self {
        errors.sort();
        errors.dedup();
        Self { file_name: file_name.to_owned(), errors }
    }

    pub(super) fn unreadable(file_name: String, error: &std::io::Error) -> Self {
        let problem = format!("can't be read: {error}");
        Self { file_name, errors: vec![ConfigError { place: Place::File, key: String::new(), problem }] }
    }

    /// Each error.
    pub fn errors(&self) -> &[ConfigError] {
        &self.errors
    }
}

impl fmt::Display for ConfigErrors {
    /// One line each: `counterfoil.toml:12: accounts.stripe-main.key_window: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            match error.place {
                Place::File => f.write_str(&self.file_name)?,
                Place::Line(line) => write!(f, "{}:{line}", self.file_name)?,
                Place::Environment => f.write_str("environment")?,
            }
            if !error.key.is_empty() {
                write!(f, ": {}", error.key)?;
            }
            write!(f, ": {}", error.problem)?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
