//! The offset that tests put on the database's time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

/// How far the ledger's time is moved against the database's. In production: not at all.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    offset_file: Option<PathBuf>,
    /// The last offset that was read whole: a file that is being rewritten moves nothing.
    offset_s: Arc<AtomicI64>,
}

impl Clock {
    /// The database's own time.
    pub fn true_time() -> Self {
        Self::default()
    }

    /// The database's time plus the whole seconds that stand in a file, read again each time.
    pub fn moved_by(file: PathBuf) -> Self {
        Self { offset_file: Some(file), offset_s: Arc::default() }
    }

    /// Seconds that are added now.
    pub fn offset_s(&self) -> i64 {
        let read = self.offset_file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        if let Some(offset_s) = read.and_then(|text| text.trim().parse().ok()) {
            self.offset_s.store(offset_s, Ordering::Relaxed);
        }
        self.offset_s.load(Ordering::Relaxed)
    }

    /// The ledger's time at this moment of the database's, in whole microseconds.
    pub(super) fn apply(&self, database_us: i64) -> Timestamp {
        let moved = SignedDuration::from_micros(database_us)
            .checked_add(SignedDuration::from_secs(self.offset_s()))
            .unwrap_or(SignedDuration::from_micros(database_us));
        from_us(i64::try_from(moved.as_micros()).unwrap_or(database_us))
    }
}

/// A stored time. What no calendar has stands at its end.
pub(super) fn from_us(us: i64) -> Timestamp {
    Timestamp::from_microsecond(us).unwrap_or(if us < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// A time as it is stored.
pub(super) fn to_us(at: Timestamp) -> i64 {
    at.as_microsecond()
}
