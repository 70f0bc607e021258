//! Single values of the file: lengths of time, schedules, addresses, secrets.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::{Span, SpanRelativeTo};
use reqwest::Url;
use secrecy::SecretString;

/// The longest length of time that a setting may have.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);
/// The longest secret, in bytes.
const SECRET_BYTES_MAX: usize = 4096;

/// Where the ledger is kept. A PostgreSQL address may hold a password, so it shows itself to nobody.
#[derive(Debug, Clone)]
pub enum DatabaseUrl {
    /// An embedded database in this file.
    Sqlite(PathBuf),
    /// `postgres://…`
    Postgres(SecretString),
}

impl DatabaseUrl {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return match path {
                "" => Err("names no file; write it as sqlite:counterfoil.db"),
                ":memory:" => Err("must be a file: a ledger in memory forgets what it sent"),
                path if path.contains(['?', '#']) => Err("takes no options behind the file's name"),
                path => Ok(Self::Sqlite(PathBuf::from(path))),
            };
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return match Url::parse(text) {
                Ok(_) => Ok(Self::Postgres(SecretString::from(text))),
                // Without the text: it may hold a password.
                Err(_) => Err("is not an address of the form postgres://user@host/name"),
            };
        }
        Err("must be sqlite:FILE or postgres://…")
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(_) => f.write_str("postgres://…"),
        }
    }
}

/// A cron expression with seconds that fires, some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule(String);

impl Schedule {
    /// The expression as written: six fields, seconds first.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first time after `now` at which it fires, in UTC.
    pub fn next_after(&self, now: jiff::Timestamp) -> Option<jiff::Timestamp> {
        let now = DateTime::<Utc>::from_timestamp(now.as_second(), 0)?;
        let next = Self::cron(&self.0).ok()?.find_next_occurrence(&now, false).ok()?;
        jiff::Timestamp::from_second(next.timestamp()).ok()
    }

    /// The parser that tokio-cron-scheduler itself uses. A year is refused: what fires must not depend on when the file is read.
    fn cron(text: &str) -> Result<Cron, croner::errors::CronError> {
        CronParser::builder()
            .seconds(Seconds::Required)
            .year(Year::Disallowed)
            .dom_and_dow(true)
            .build()
            .parse(text)
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let cron = Self::cron(text)
            .map_err(|error| format!("is not a cron expression of six fields, seconds first: {error}"))?;
        cron.find_next_occurrence(&DateTime::<Utc>::UNIX_EPOCH, false)
            .map_err(|_| format!("never fires: no second matches {text:?}"))?;
        Ok(Self(text.to_owned()))
    }
}

/// `15m`, `72h`, `500ms`, `3d`: a day is 24 hours.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let form = || "must be a length of time like \"500ms\", \"15m\", \"72h\" or \"3d\"".to_owned();
    let span: Span = text.parse().map_err(|_| form())?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| form())?;
    let length = Duration::try_from(length).map_err(|_| "can't be negative".to_owned())?;
    if length > LONGEST { Err("can't be longer than 366 days".to_owned()) } else { Ok(length) }
}

/// The base URL of an account: `https`, or `http` to this very machine.
pub(super) fn base_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("is not a URL: {error}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("can't hold a user or a password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("can't hold a query or a fragment".to_owned());
    }
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let loopback = host == "localhost" || address.is_ok_and(|ip| ip.is_loopback());
    match url.scheme() {
        "https" => {}
        "http" if loopback => {}
        "http" => return Err("must be https; plain http only to this very machine".to_owned()),
        other => return Err(format!("must be https, not {other}")),
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// How the outside reaches the desk.
pub(super) fn public_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("is not a URL: {error}"))?;
    if matches!(url.scheme(), "http" | "https") { Ok(url) } else { Err("must be http or https".to_owned()) }
}

/// A secret as one word.
pub(super) fn secret(text: &str) -> Result<SecretString, String> {
    if text.is_empty() {
        return Err("is empty".to_owned());
    }
    if text.len() > SECRET_BYTES_MAX {
        return Err(format!("is longer than {SECRET_BYTES_MAX} bytes"));
    }
    // It travels in a header.
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("must be one line of printable ASCII without spaces".to_owned());
    }
    Ok(SecretString::from(text))
}

/// A secret from a file of its own; a line end behind it doesn't count.
pub(super) fn secret_file(path: &str) -> Result<SecretString, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("can't read {path}: {error}"))?;
    secret(text.trim_end_matches(['\r', '\n'])).map_err(|problem| format!("the secret in {path} {problem}"))
}
