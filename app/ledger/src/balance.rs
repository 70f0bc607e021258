//! What is left of a payment: unknown money is spent money (rule 11). And what may have left it at worst.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::decide::Policy;
use crate::entry::{Entered, Entry};
use crate::evidence::{EffectStatus, Walk};
use crate::identity::OperationId;
use crate::money::Currency;
use crate::operation::Operation;
use crate::state::State;
use crate::window::{KeyProtects, later};

/// An operation that holds money of a payment or of an order's line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub operation: OperationId,
    pub state: State,
    /// See [`crate::operation::Operation::holds_minor`].
    pub minor: i64,
}

/// More than is left was asked for. Nothing is recorded, and the holders are named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{asked_minor} minor units were asked for, and {left_minor} are left")]
pub struct Exceeds {
    pub asked_minor: i64,
    pub limit_minor: i64,
    /// Never below 0.
    pub left_minor: i64,
    /// Effects that no operation of ours claims.
    pub foreign_minor: i64,
    pub holders: Vec<Holder>,
}

/// Whether `asked_minor` more fits under `limit_minor`.
///
/// # Errors
/// [`Exceeds`] with who holds what.
pub fn reserve(
    limit_minor: i64,
    foreign_minor: i64,
    holders: Vec<Holder>,
    asked_minor: i64,
) -> Result<(), Exceeds> {
    let held = held_minor(&holders).saturating_add(foreign_minor);
    let left_minor = limit_minor.saturating_sub(held).max(0);
    if asked_minor <= left_minor {
        return Ok(());
    }
    let holders = holders.into_iter().filter(|holder| holder.minor > 0).collect();
    Err(Exceeds { asked_minor, limit_minor, left_minor, foreign_minor, holders })
}

/// Everything that is held, together.
pub fn held_minor(holders: &[Holder]) -> i64 {
    holders.iter().fold(0_i64, |sum, holder| sum.saturating_add(holder.minor))
}

/// An operation with its whole history, to be summed up.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    pub operation: &'a Operation,
    pub entries: &'a [Entered],
    pub policy: &'a Policy,
}

/// An effect on the payment that no operation claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclaimed {
    pub external_id: String,
    pub minor: i64,
    pub currency: String,
    pub status: EffectStatus,
}

/// What one item of a sum stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// For an operation, in its state.
    Operation { operation: OperationId, state: State },
    /// For one more execution that this send may have been: no key tied it to the first, and no look-up disproved it yet.
    Send { operation: OperationId, attempt: u32 },
    /// For an effect that nobody claims.
    Unclaimed { external_id: String },
    /// For an operation of another order on the same payment.
    Elsewhere { operation: OperationId, state: State },
}

/// One item of a sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub stands: Stands,
    pub minor: i64,
}

/// What became of a payment's money, in one currency. Every sum is the sum of its items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Exists at the provider.
    pub refunded: Vec<Item>,
    /// Allowed, on its way or held by the provider.
    pub in_flight: Vec<Item>,
    /// Sent, and nothing proves what happened.
    pub unknown: Vec<Item>,
    /// What other orders hold of the same payment.
    pub elsewhere: Vec<Item>,
    /// More executions than one that a send may have been.
    pub extra: Vec<Item>,
}

/// The sum of items.
pub fn sum_minor(items: &[Item]) -> i64 {
    items.iter().fold(0_i64, |sum, item| sum.saturating_add(item.minor))
}

impl Totals {
    /// Sums up one currency; amounts of another are left out.
    pub fn of(currency: Currency, told: &[Told<'_>], others: &[Holder], unclaimed: &[Unclaimed]) -> Self {
        let mut totals = Self::default();
        for told in told.iter().filter(|told| told.operation.intent.money.currency() == currency) {
            totals.add_operation(*told);
        }
        for effect in unclaimed.iter().filter(|effect| effect.currency == currency.code()) {
            let item = Item {
                stands: Stands::Unclaimed { external_id: effect.external_id.clone() },
                minor: effect.minor,
            };
            match effect.status {
                EffectStatus::Live => totals.refunded.push(item),
                EffectStatus::Pending => totals.in_flight.push(item),
                EffectStatus::Failed => {}
            }
        }
        totals.elsewhere = others
            .iter()
            .filter(|holder| holder.minor > 0)
            .map(|holder| Item {
                stands: Stands::Elsewhere { operation: holder.operation.clone(), state: holder.state },
                minor: holder.minor,
            })
            .collect();
        totals
    }

    fn add_operation(&mut self, told: Told<'_>) {
        let operation = told.operation;
        let state = operation.facts.state;
        let held = operation.holds_minor();
        if held > 0 {
            let item =
                Item { stands: Stands::Operation { operation: operation.id.clone(), state }, minor: held };
            match state {
                // What failed or was withdrawn holds only what exists against its state.
                State::Confirmed | State::Failed | State::Cancelled => self.refunded.push(item),
                State::AwaitingApproval | State::Authorized | State::Submitted | State::Pending => {
                    self.in_flight.push(item)
                }
                State::Unknown | State::Escalated => self.unknown.push(item),
            }
        }
        self.extra.extend(unprotected_sends(told).into_iter().map(|attempt| Item {
            stands: Stands::Send { operation: operation.id.clone(), attempt },
            minor: operation.intent.money.minor(),
        }));
    }

    /// Everything that is held: it can't be refunded once more (rule 11).
    pub fn held_minor(&self) -> i64 {
        [&self.refunded, &self.in_flight, &self.unknown, &self.elsewhere]
            .into_iter()
            .fold(0_i64, |sum, items| sum.saturating_add(sum_minor(items)))
    }

    /// Everything that may have left or may still leave: what is held, and one more amount for each send that no key tied to
    /// the first one.
    pub fn worst_case_minor(&self) -> i64 {
        self.held_minor().saturating_add(sum_minor(&self.extra))
    }

    /// What may still be refunded, never below 0.
    pub fn left_minor(&self, captured_minor: i64) -> i64 {
        captured_minor.saturating_sub(self.held_minor()).max(0)
    }
}

/// Sends after the first that may have been executions of their own: not protected by the key, and not disproved by a complete
/// look-up that began after everything of theirs must show.
fn unprotected_sends(told: Told<'_>) -> Vec<u32> {
    let facts = &told.operation.facts;
    let shows_after = |deadline, lag: Duration| {
        told.entries.iter().any(|entered| match &entered.entry {
            Entry::LookedUp { look_up, .. } => {
                look_up.walk == Walk::Complete && look_up.started_at >= later(deadline, lag)
            }
            _ => false,
        })
    };
    facts
        .attempts
        .iter()
        .filter(|attempt| attempt.may_have_executed())
        .skip(1)
        .filter(|attempt| {
            let protected = told.policy.key_protects == KeyProtects::All
                && facts.window.is_some_and(|window| attempt.deadline() <= window.closes_at());
            !protected && !shows_after(attempt.deadline(), told.policy.absence_lag)
        })
        .map(|attempt| attempt.number)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(id: &str, state: State, minor: i64) -> Holder {
        Holder { operation: OperationId::stored(id), state, minor }
    }

    /// G1: the second of two 60s on a 100 is refused, and told who holds the money.
    #[test]
    fn unknown_money_is_spent_money() {
        let held = vec![holder("refund-1-a", State::Unknown, 6000), holder("refund-1-b", State::Failed, 0)];
        let refused = reserve(10_000, 0, held.clone(), 6000).unwrap_err();
        assert_eq!(refused.left_minor, 4000);
        assert_eq!(refused.holders, vec![holder("refund-1-a", State::Unknown, 6000)]);
        assert_eq!(reserve(10_000, 0, held.clone(), 4000), Ok(()));
        assert_eq!(reserve(10_000, 1, held, 4000).unwrap_err().left_minor, 3999);
    }

    #[test]
    fn sums_at_the_end_of_the_range_refuse_instead_of_wrapping() {
        let held = vec![
            holder("refund-1-a", State::Unknown, i64::MAX),
            holder("refund-1-b", State::Unknown, i64::MAX),
        ];
        assert_eq!(reserve(i64::MAX, i64::MAX, held, 1).unwrap_err().left_minor, 0);
    }
}
