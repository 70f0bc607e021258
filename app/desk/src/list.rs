//! What the list of operations shows, row by row.

use std::collections::BTreeMap;

use counterfoil_ledger::decide::Reason;
use counterfoil_ledger::identity::{AccountName, KindName, OperationId};
use counterfoil_ledger::money::{ExponentTable, Money};
use counterfoil_ledger::state::State;
use jiff::Timestamp;

/// One row. Everything in it comes from columns; no history is told for a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRow {
    pub id: OperationId,
    pub state: State,
    /// `failed` after it had been `confirmed`.
    pub bounced: bool,
    pub kind: KindName,
    /// The shop's own number.
    pub order: String,
    pub money: Money,
    pub exponents: ExponentTable,
    pub account: AccountName,
    pub external_id: Option<String>,
    /// Sends so far.
    pub attempts: u32,
    /// When the provider may forget the key; `None` while nothing can have arrived.
    pub window_closes_at: Option<Timestamp>,
    /// Why the machine does what it does next.
    pub reason: Reason,
    /// When it does; `None`: nothing by itself any more.
    pub due_at: Option<Timestamp>,
    pub updated_at: Timestamp,
    /// Incidents that were opened on it.
    pub incidents: u32,
    /// The sweep can't read it: the error, fit to be shown.
    pub set_aside: Option<String>,
}

/// One page of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationRows {
    pub rows: Vec<OperationRow>,
    /// The cursor of the next page; `None`: this is the last.
    pub next: Option<String>,
    pub counts: Counts,
    /// There is no operation at all in this ledger.
    pub ledger_is_empty: bool,
}

/// Exact counts, of what is open only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// See [`crate::ListView`].
    pub attention: u64,
    pub window_closing: u64,
    pub pending_too_long: u64,
    /// Per state that isn't final; a state that is missing counts 0.
    pub open: BTreeMap<State, u64>,
}

impl Counts {
    /// How many operations are in an open state.
    pub fn of(&self, state: State) -> u64 {
        self.open.get(&state).copied().unwrap_or(0)
    }
}

/// What the configuration offers to filter by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    pub kinds: Vec<KindName>,
    pub accounts: Vec<AccountName>,
}
