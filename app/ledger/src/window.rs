//! How long the provider promises to recognise the key, and for which outcomes.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Which earlier outcomes the key protects against being made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyProtects {
    /// Every result is kept and replayed, once execution began.
    All,
    /// Only a 2xx is kept; after anything else the same key executes again.
    Success,
    /// The provider has no idempotency keys.
    None,
}

/// The window of one operation's key. Its start is set at the mark of the first attempt that may have arrived and never moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyWindow {
    /// The mark that opened it.
    pub opened_at: Timestamp,
    /// The length promised when it was opened, in seconds. 0: no promise at all.
    pub length_s: u64,
}

impl KeyWindow {
    /// When the provider may forget the key.
    pub fn closes_at(&self) -> Timestamp {
        later(self.opened_at, Duration::from_secs(self.length_s))
    }

    /// The last moment at which a resend may be marked: the window's end less the margin.
    pub fn last_resend_at(&self, margin: Duration) -> Timestamp {
        earlier(self.closes_at(), margin)
    }
}

/// `at` plus `gap`, at the end of time at the latest.
pub fn later(at: Timestamp, gap: Duration) -> Timestamp {
    at.checked_add(gap).unwrap_or(Timestamp::MAX)
}

/// `at` less `gap`, at the beginning of time at the earliest.
pub fn earlier(at: Timestamp, gap: Duration) -> Timestamp {
    at.checked_sub(gap).unwrap_or(Timestamp::MIN)
}
