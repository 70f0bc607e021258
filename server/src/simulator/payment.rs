//! A payment: the payment intent and, once captured, its charge.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::refund::Status;

/// One payment. Everything is captured at once; authorisation alone isn't simulated.
#[derive(Clone, Debug)]
pub(super) struct Payment {
    /// `pi_…`
    pub(super) id: String,
    /// `ch_…`, once captured.
    pub(super) charge: Option<String>,
    /// Minor units.
    pub(super) amount: i64,
    /// Lower case, as on the wire.
    pub(super) currency: String,
    pub(super) created: Timestamp,
    pub(super) method: Option<String>,
    pub(super) description: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    /// The status that refunds of this payment start with.
    pub(super) refunds_start: Status,
    /// Positions of its refunds in the account's sequence.
    pub(super) refunds: Vec<usize>,
}

impl Payment {
    /// The payment intent as Stripe writes it.
    pub(super) fn intent(&self) -> Value {
        let captured = self.charge.is_some();
        let status = match (captured, &self.method) {
            (true, _) => "succeeded",
            (false, Some(_)) => "requires_confirmation",
            (false, None) => "requires_payment_method",
        };
        json!({
            "id": self.id,
            "object": "payment_intent",
            "amount": self.amount,
            "amount_capturable": 0,
            "amount_received": if captured { self.amount } else { 0 },
            "capture_method": "automatic",
            "client_secret": format!("{}_secret_simulated", self.id),
            "confirmation_method": "automatic",
            "created": self.created.as_second(),
            "currency": self.currency,
            "customer": null,
            "description": self.description,
            "latest_charge": self.charge,
            "livemode": false,
            "metadata": self.metadata,
            "payment_method": self.method,
            "payment_method_types": ["card"],
            "status": status,
        })
    }

    /// The charge as Stripe writes it; `refunded` is what has left again, in minor units.
    pub(super) fn charge(&self, refunded: i64) -> Value {
        json!({
            "id": self.charge,
            "object": "charge",
            "amount": self.amount,
            "amount_captured": self.amount,
            "amount_refunded": refunded,
            "captured": true,
            "created": self.created.as_second(),
            "currency": self.currency,
            "customer": null,
            "description": self.description,
            "disputed": false,
            "livemode": false,
            "metadata": self.metadata,
            "paid": true,
            "payment_intent": self.id,
            "payment_method": self.method,
            "refunded": refunded >= self.amount,
            "status": "succeeded",
        })
    }
}
