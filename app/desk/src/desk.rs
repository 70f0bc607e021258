//! The one door through which pages reach data.

use async_trait::async_trait;
use counterfoil_ledger::identity::OperationId;

use crate::{Choices, DaemonSheet, Filter, OperationRows, OperationSheet, OrderSheet};

/// Why something couldn't be shown.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// The store didn't answer. What happened is logged at the edge, never shown.
    #[error("the ledger could not be read")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The rows are there and can't be read back: the sweep set them aside. The text is ours and fit to be shown.
    #[error("{id} can't be read back: {why}")]
    SetAside { id: OperationId, why: String },
    /// The cursor in the URL isn't one of ours.
    #[error("the cursor isn't one that this list gave out")]
    Cursor,
}

/// What pages read. Every method is a read, in at most four statements.
#[async_trait]
pub trait Desk: Send + Sync {
    /// One page of operations in the order of `desk.md` ("Order, everywhere"): window open, closing soonest; window closed; age.
    /// `cursor` is the opaque text of an earlier [`OperationRows::next`]; `limit` is at least 1.
    async fn operations(
        &self,
        filter: &Filter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<OperationRows, DeskError>;

    /// Everything about one operation. `None`: there is none.
    async fn operation(&self, id: &OperationId) -> Result<Option<OperationSheet>, DeskError>;

    /// Everything about one order, by the shop's own number, byte for byte. `None`: there is none.
    async fn order(&self, order: &str) -> Result<Option<OrderSheet>, DeskError>;

    /// How the reconciler is, and what is wrong with accounts.
    async fn daemon(&self) -> Result<DaemonSheet, DeskError>;

    /// What the configuration offers to filter by.
    fn choices(&self) -> Choices;
}
