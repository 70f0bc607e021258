//! What the page of one order shows.

use counterfoil_ledger::balance::Holder;
use counterfoil_ledger::decide::Policy;
use counterfoil_ledger::money::Currency;
use counterfoil_ledger::operation::Operation;
use jiff::Timestamp;

use crate::{ChainedEntry, NextStep, PaymentEffect, Provider};

/// One line of the order, as the shop sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderLine {
    pub id: String,
    pub title: Option<String>,
    pub quantity: Option<u64>,
    pub minor: i64,
}

/// One operation of the order, with its history.
#[derive(Debug, Clone)]
pub struct OrderOperation {
    pub operation: Operation,
    pub entries: Vec<ChainedEntry>,
    pub step: NextStep,
    /// The limits in force.
    pub policy: Policy,
}

/// Everything about one order.
#[derive(Debug, Clone)]
pub struct OrderSheet {
    /// The shop's own number.
    pub order: String,
    pub customer: Option<String>,
    /// The provider's number for the payment. Orders may share one.
    pub payment: String,
    pub provider: Provider,
    pub currency: Currency,
    /// Of the payment, in minor units.
    pub captured_minor: i64,
    pub lines: Vec<OrderLine>,
    /// When the shop last sent the snapshot.
    pub snapshot_at: Timestamp,
    /// Less was captured than is held: nothing new is sent.
    pub blocked: bool,
    /// All operations of the order, revisions too, oldest first.
    pub operations: Vec<OrderOperation>,
    /// Operations of other orders that hold money of the same payment.
    pub others: Vec<Holder>,
    /// Every effect that was seen on the payment.
    pub effects: Vec<PaymentEffect>,
}
