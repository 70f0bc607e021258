//! The simulator's clock: the machine's, plus what `POST /simulator/clock` has added.
//!
//! The age of keys, the lag of lists and the effects that come late are all measured on it, so that a test moves the clock
//! instead of sleeping.

use jiff::{SignedDuration, Timestamp};

/// The machine's clock plus an advance that only grows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    advance: SignedDuration,
}

impl Clock {
    /// What the clock shows now.
    #[allow(clippy::disallowed_methods, reason = "a provider has a clock of its own, and this is it")]
    pub(super) fn now(self) -> Timestamp {
        later(Timestamp::now(), self.advance)
    }

    /// Moves the clock forward.
    pub(super) fn advance(&mut self, seconds: u32) {
        self.advance = self.advance.saturating_add(SignedDuration::from_secs(i64::from(seconds)));
    }
}

/// `from` plus `duration`; the end of time if that lies beyond it.
pub(super) fn later(from: Timestamp, duration: SignedDuration) -> Timestamp {
    from.checked_add(duration).unwrap_or(Timestamp::MAX)
}

/// Milliseconds as a duration; the longest one if there are too many.
pub(super) fn milliseconds(count: u64) -> SignedDuration {
    i64::try_from(count).map_or(SignedDuration::MAX, SignedDuration::from_millis)
}
