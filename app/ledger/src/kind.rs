//! What a kind of operation means: its account, its identity fields, where its amount comes from.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::identity::{AccountName, KindName};
use crate::intent::EffectKind;
use crate::money::{Currency, Money};

/// Where the amount of an operation comes from. Never from a model's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AmountFrom {
    /// The order's line item: the rest of it, a quantity of it, or an amount within it.
    Order,
    /// The caller says it; the payment's captured amount bounds it.
    Caller,
}

/// One kind as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    pub name: KindName,
    pub account: AccountName,
    pub effect: EffectKind,
    /// Field names, fixed in number and order at first use.
    pub identity: Vec<String>,
    pub amount_from: AmountFrom,
    /// Above this, per currency in minor units, a person approves before the first send.
    pub approve_above: BTreeMap<Currency, i64>,
    /// How long an allowed operation may wait to be sent before a person is asked again.
    pub send_within: Duration,
}

/// The identity field that names the order.
pub const ORDER: &str = "order";
/// The identity field that names the line of an order.
pub const LINE_ITEM: &str = "line_item";

impl Kind {
    /// Whether `money`, together with `earlier` minor units of the same order in the last 30 days, needs a person first.
    pub fn needs_approval(&self, money: Money, earlier_minor: i64) -> bool {
        self.approve_above
            .get(&money.currency())
            .is_some_and(|limit| money.minor().saturating_add(earlier_minor) > *limit)
    }
}
