//! How the provider behaves as a rule, as opposed to a fault, which hits single requests.

use serde::{Deserialize, Serialize};

/// Which results are kept under their idempotency key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyMode {
    /// All that came from executing: refusals and 500s too, as Stripe v1 does.
    #[default]
    All,
    /// Successes only: after an error the same key executes anew.
    Success,
    /// Keys are ignored: every request is a new one.
    None,
}

/// How far reads can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LookupMode {
    /// Every list is complete and up to date.
    #[default]
    Complete,
    /// Refunds younger than `lag_ms` are left out of lists.
    Lagging,
    /// Only the first `cap` objects of a list can be reached. The page behind them is empty, and `has_more` stays true
    /// as long as there is more that can't be reached.
    Capped,
    /// The cursor is ignored: every page is the first one, and `has_more` is always true.
    Loop,
    /// Every read answers 503.
    Down,
    /// Every read answers 404: the provider has no look-up.
    None,
}

/// How the provider behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mode {
    /// What is kept under keys.
    pub keys: KeyMode,
    /// How far reads can be trusted.
    pub lookup: LookupMode,
    /// How old a refund must be to stand in a lagging list.
    pub lag_ms: u64,
    /// How many objects of a capped list can be reached.
    pub cap: usize,
}

impl Default for Mode {
    fn default() -> Self {
        Self { keys: KeyMode::All, lookup: LookupMode::Complete, lag_ms: 0, cap: 100 }
    }
}

/// A change of the mode; what is left out stays as it is.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeChange {
    /// See [`Mode::keys`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<KeyMode>,
    /// See [`Mode::lookup`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup: Option<LookupMode>,
    /// See [`Mode::lag_ms`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag_ms: Option<u64>,
    /// See [`Mode::cap`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<usize>,
}

impl Mode {
    /// The mode after `change`.
    ///
    /// # Errors
    /// A sentence, if a list is to lag by nothing.
    pub(super) fn changed(self, change: ModeChange) -> Result<Self, String> {
        let mode = Self {
            keys: change.keys.unwrap_or(self.keys),
            lookup: change.lookup.unwrap_or(self.lookup),
            lag_ms: change.lag_ms.unwrap_or(self.lag_ms),
            cap: change.cap.unwrap_or(self.cap),
        };
        if mode.lookup == LookupMode::Lagging && mode.lag_ms == 0 {
            return Err("lookup \"lagging\" needs lag_ms".to_owned());
        }
        Ok(mode)
    }
}
