//! How the reconciler is, and what is wrong around it.

use counterfoil_ledger::identity::AccountName;
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

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlarmKind {
    /// The provider doesn't accept our credentials (401): writes of the account are paused.
    Unauthorized,
    /// The provider, or something before it, turns us away (403).
    Forbidden,
    /// The account has been failing and is probed with a growing gap.
    AccountDown,
    /// The clock is behind the newest time in the ledger: resends wait.
    ClockBehind,
    /// Rows that the sweep can't read.
    RowsSetAside,
}

/// Something that must be looked into and isn't one operation's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    pub kind: AlarmKind,
    pub account: Option<AccountName>,
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
