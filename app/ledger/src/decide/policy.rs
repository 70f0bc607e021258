//! What an account's configuration allows the machine, and the circumstances that a decision is taken in.

use std::time::Duration;

use jiff::Timestamp;

use crate::window::KeyProtects;

/// The rules of one provider account, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The whole exchange, from the mark.
    pub send_timeout: Duration,
    /// How long the provider promises to know the key. Zero when it has none.
    pub key_window: Duration,
    pub window_margin: Duration,
    pub key_protects: KeyProtects,
    /// Whether the provider can be asked what exists.
    pub offers_look_up: bool,
    /// How long after mark and send time-out the provider's list may still lack an effect.
    pub absence_lag: Duration,
    /// Complete empty walks that prove absence, at least 1.
    pub absence_count: u32,
    pub absence_gap: Duration,
    /// Sends after the first that may have arrived.
    pub max_resends: u32,
    /// Gaps between look-ups, the first from the attempt's end; the last repeats. Never empty.
    pub look_up_after: Vec<Duration>,
    /// Of unknown, before a person must act.
    pub escalate_after: Duration,
    /// Of pending, before it shows among what needs attention.
    pub pending_attention: Duration,
}

/// What is so around a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circumstances {
    /// The database's time.
    pub now: Timestamp,
    /// The newest time in the ledger: a clock well behind it isn't to be trusted with windows.
    pub newest_in_ledger: Timestamp,
    /// The account's writes are paused.
    pub account_paused: bool,
    /// The payment's captured amount was lowered below what is held.
    pub payment_blocked: bool,
    /// When the ledger was restored from a backup, until a person ends the doubt (rule 17): what was sent between the backup and
    /// then isn't written here.
    pub restored_at: Option<Timestamp>,
}

/// How far the clock may be behind the newest time in the ledger.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(10);

impl Circumstances {
    /// Whether the clock has visibly gone back.
    pub fn clock_is_behind(&self) -> bool {
        crate::window::later(self.now, CLOCK_TOLERANCE) < self.newest_in_ledger
    }
}
