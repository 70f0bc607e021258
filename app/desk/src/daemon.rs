//! How the reconciler is, and what is wrong around it.

use counterfoil_ledger::alarm::AlarmKind;
use jiff::Timestamp;

/// One run of the reconciler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub started_at: Timestamp,
    /// `None`: it is at work.
    pub ended_at: Option<Timestamp>,
    /// Rows that it took up.
    pub rows: u64,
}

/// Something that must be looked into and isn't one operation's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    pub kind: AlarmKind,
    /// What it is about: an account, `account/payment`, or nothing for the whole ledger.
    pub subject: Option<String>,
    pub since: Timestamp,
}

/// How the reconciler is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonSheet {
    /// `None`: it never ran on this ledger.
    pub last: Option<Run>,
    /// The cron expression, with seconds.
    pub schedule: String,
    /// When the bell rings next.
    pub next_at: Option<Timestamp>,
    pub alarms: Vec<Alarm>,
}
