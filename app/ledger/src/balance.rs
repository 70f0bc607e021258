//! What is left of a payment: unknown money is spent money (rule 11).

use serde::{Deserialize, Serialize};

use crate::identity::OperationId;
use crate::state::State;

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
