//! What can be wrong around the ledger's work: the same words in the store and on the desk.

use serde::{Deserialize, Serialize};

/// What an alarm is about. One is open at a time per kind and subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlarmKind {
    /// The provider turned our writes away with 401: writes of the account are paused.
    WritesUnauthorized,
    /// The provider turned our look-ups away with 401 or 403.
    ReadsUnauthorized,
    /// The provider can't be reached or answers nothing usable; it is probed with a growing gap.
    AccountDown,
    /// The clock is well behind the newest time in the ledger: resends wait.
    ClockBehind,
    /// A payment's captured amount was lowered below what is held: nothing is sent on it.
    CapturedBelowHeld,
    /// A row can't be read and is set aside.
    RowSetAside,
    /// The ledger was restored from a backup: nothing is sent for the first time without proof (rule 17).
    Restored,
}
